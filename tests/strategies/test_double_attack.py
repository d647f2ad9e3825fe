"""Double Attack: the bet may be doubled once the dealer's card is open, before the seat's own cards."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from support.table import play_script

from bjsim.errors import InputError
from bjsim.sim.game.actions import ATTACK, Action, View
from bjsim.sim.game.presets import named_rules
from bjsim.strategies.counting.count import count
from bjsim.strategies.evaluation.coach import Coach
from bjsim.strategies.exact.payoffs import round_payoffs
from bjsim.strategies.exact.solver import Solver
from bjsim.strategies.formats.files import format_text, read_chart
from bjsim.strategies.shoe.solver import ShoeSolver
from bjsim.strategies.solution import Solution

GAME = named_rules("double-attack")
INFINITE = GAME.replace(decks="inf")


def test_the_published_value_and_attacks() -> None:
    """-.62%, attacks against 2 to 8, in 58.3% of the rounds."""
    solver = ShoeSolver(GAME)
    assert 100 * solver.value == pytest.approx(-0.62, abs=0.005)
    assert solver.chart.attack == "2345678"
    assert sum(solver.attack_values()[card][0] for card in solver.chart.attack) == pytest.approx(7 / 12)
    assert 100 * (ShoeSolver(GAME.replace(max_hands=4)).value) == pytest.approx(-0.531, abs=0.001)


def test_an_attack_doubles_all_that_a_round_wins() -> None:
    """So the value is that of the same game without it, and the positive upcards once more."""
    plain = Solver(INFINITE.replace(attack=False), Fraction)
    attacks = Solver(INFINITE, Fraction)
    more = [chance * value for chance, value in attacks.attack_values().values()]
    assert sum(map(float, more)) == pytest.approx(float(plain.value), abs=1e-14)
    assert float(attacks.value) == pytest.approx(
        float(plain.value) + sum(m for m in map(float, more) if m > 0), abs=1e-14
    )


@pytest.mark.parametrize("attack", ["", "2345678", "T2A", "23456789TA"])
def test_every_figure_of_a_chart_knows_its_attacks(attack: str) -> None:
    solver = Solver(INFINITE)
    chart = replace(solver.chart, attack=attack, cells={**solver.chart.cells, ("16", "T"): "S"})
    payoffs = round_payoffs(solver, chart)
    value = solver.value_of(chart)
    assert sum(float(net) * p for net, p in payoffs.items()) == pytest.approx(value, abs=1e-13)
    square = sum(float(net) ** 2 * p for net, p in payoffs.items())
    assert solver.sd_of(chart) == pytest.approx((square - value**2) ** 0.5, abs=1e-12)
    assert sum(cell.cost for cell in solver.costs(chart)) == pytest.approx(solver.value - value, abs=1e-13)


def test_the_costs_in_eight_decks_add_up_to_the_difference() -> None:
    solver = ShoeSolver(GAME)
    chart = replace(solver.chart, attack="29T", cells={**solver.chart.cells, ("16", "T"): "S", ("12", "6"): "H"})
    assert sum(cell.cost for cell in solver.costs(chart)) == pytest.approx(
        solver.value - solver.value_of(chart), abs=1e-12
    )


@pytest.mark.parametrize(
    ("cards", "answers", "net"),
    [
        ("6 K 9 9 K", "A, S", 4 / 2),  # the dealer busts: both bets win
        ("6 K 9 9 K", "S, S", 1),
        ("6 5 6 9 K K", "A, D", 4),  # a double of the attacked bet
        ("9 K 7 9", "A, R", -1),  # half of two bets
        ("K K 9 A", "A", -2),  # a natural takes both
        ("6 A K 9", "A", 2),  # naturals pay 1:1
    ],
)
def test_what_a_round_pays(cards: str, answers: str, net: float) -> None:
    result, (player,) = play_script(GAME, cards, [answers])
    assert result.net == (Fraction(net),)
    assert (player.views[0].hand, player.views[0].legal, player.views[0].visible) == ("", ATTACK, cards[0])


@pytest.mark.parametrize("decks", ["inf", 8])
def test_the_coach_values_an_attack(decks: object) -> None:
    coach = Coach(GAME.replace(decks=decks))
    for card, best in (("6", "A"), ("9", "S")):
        judged = coach.judge(View(GAME, 0, "", card, card, 10, 190, ATTACK), Action("A"))
        assert judged is not None
        assert judged.best == judged.chart == best
        assert judged.values["A"] == 2 * judged.values["S"]


def test_charts_are_written_and_read_with_their_attacks() -> None:
    chart = replace(Solver(INFINITE).chart, attack="258")
    text = format_text(chart)
    assert text.splitlines()[-1].split() == ["attack", *"ASSASSASSS"]
    assert read_chart(text, "chart", INFINITE).attack == "258"
    with pytest.raises(InputError, match="unknown code D for the attack against 2; use A or S"):
        read_chart(text.replace("attack  A", "attack  D"), "chart", INFINITE)


def test_a_counter_refuses_a_bet_before_the_deal() -> None:
    with pytest.raises(InputError, match="attack = true: a counter is not asked between the dealer's card and its own"):
        count(named_rules("vegas-s17").replace(deal="dppd", attack=True), rounds=100)


@pytest.mark.parametrize("solution", [Solver(INFINITE), ShoeSolver(GAME.replace(decks=1))], ids=["inf", "1"])
def test_the_parts_of_a_round_have_its_attacks(solution: Solution) -> None:
    assert solution.chart.attack
    parts = [*solution.round_parts()]
    assert sum(part.chance for part in parts) == pytest.approx(1, abs=1e-12)
    assert sum(part.profit for part in parts) == pytest.approx(float(solution.value), abs=1e-12)


def test_an_attack_on_a_card_that_the_shoe_lacks_costs_nothing() -> None:
    game = GAME.replace(decks=1)
    solver = ShoeSolver(game, dict.fromkeys("A3456789JQK", 4))
    chart = replace(solver.chart, attack="2" + solver.chart.attack)
    assert solver.costs(chart) == [] and solver.value_of(chart) == pytest.approx(solver.value, abs=1e-14)
