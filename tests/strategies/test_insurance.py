"""Insurance: exact values, even money, who takes it, files and the environment."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from support.table import Scripted

from bjsim.sim.game.actions import INSURANCE, View
from bjsim.sim.game.events import InsuranceSettled, Insured
from bjsim.sim.game.hand_states import DEALER_NATURAL, INSURED, NATURAL
from bjsim.sim.game.presets import named_rules
from bjsim.sim.game.round import Round
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.shoe import ScriptedShoe
from bjsim.sim.game.states import States
from bjsim.strategies.charts.chart import Chart
from bjsim.strategies.evaluation.compare import evaluate_chart
from bjsim.strategies.exact.solver import Solver
from bjsim.strategies.formats.files import format_csv, format_text, read_with_notes
from bjsim.strategies.formats.lines import ChartError
from bjsim.strategies.shoe.players import CardPlayer, Perfect
from bjsim.strategies.shoe.solver import ShoeSolver

F = Fraction
OFFERED = named_rules("vegas-s17").replace(insurance=True)
INFINITE = OFFERED.replace(decks="inf")
NO_HOLE_CARD = {"deal": "pdp", "peek": False}
TENS = {"A": 4, "5": 6, "6": 6, "9": 4, "T": 14}  # enough tens for insurance, with some hands


def insured(chart: Chart) -> Chart:
    return replace(chart, insurance="I")


# --- values


@pytest.mark.parametrize("fields", [{}, NO_HOLE_CARD, {"surrender": "early"}, {"ties": "lose"}])
def test_in_the_infinite_shoe_it_costs_a_thirteenth_of_the_bet(fields: dict[str, object]) -> None:
    solver = Solver(INFINITE.replace(**fields), Fraction)
    never, always = (solver.ev(chart.policy).net for chart in (solver.chart, insured(solver.chart)))
    assert always - never == F(1, 13) * F(1, 2) * F(-1, 13)
    assert never == solver.value == Solver(INFINITE.replace(**fields, insurance=False), Fraction).value


@pytest.mark.parametrize(("decks", "cost"), [(1, F(-3, 51)), (6, F(-23, 311)), (8, F(-31, 415))])
def test_off_the_top_it_costs(decks: int, cost: Fraction) -> None:
    solver = ShoeSolver(OFFERED.replace(decks=decks))
    assert solver.chart.insurance == "S"
    taken = solver.value_of(insured(solver.chart)) - solver.value_of(solver.chart)
    assert taken == pytest.approx(float(F(1, 13) * F(1, 2) * cost), abs=1e-15)
    assert solver.value_of("cdz-") == ShoeSolver(OFFERED.replace(decks=decks, insurance=False)).value_of("cdz-")


@pytest.mark.parametrize(("tens", "takes"), [("1/4", "S"), ("1/3", "S"), ("17/50", "I"), ("2/5", "I")])
def test_the_best_chart_takes_it_above_a_third_of_tens(tens: str, takes: str) -> None:
    solver = Solver(INFINITE.replace(ten_probability=tens), Fraction)
    without = Solver(INFINITE.replace(ten_probability=tens, insurance=False), Fraction).value
    p = F(tens)
    assert solver.chart.insurance == takes
    assert solver.value - without == (1 - p) / 9 * max((3 * p - 1) / 2, F(0))
    assert solver.ev(solver.chart.policy).value == solver.value


@pytest.mark.slow
def test_a_depleted_shoe_and_the_cards_of_the_hand() -> None:
    """Of 33 cards under an ace 14 are tens; a hand of two tens leaves 12 of 31, one with none 14 of 31."""
    rules = OFFERED.replace(decks=1)
    solver, plain = ShoeSolver(rules, TENS), ShoeSolver(rules.replace(insurance=False), TENS)
    assert solver.chart.insurance == "I"
    assert solver.value - plain.value == pytest.approx(4 / 34 * (3 * 14 / 33 - 1) / 2, abs=1e-14)
    few = TENS | {"T": 11}  # 11 of 30: taken, but not with two tens, which leave 9 of 28
    solver, plain = ShoeSolver(rules, few), ShoeSolver(rules.replace(insurance=False), few)
    gains = [solver.value_of(name) - plain.value_of(name) for name in ("td", "cdz-")]
    two_tens = 4 / 31 * (11 / 30 * 10 / 29) * (3 * 9 / 28 - 1) / 2
    assert gains[1] - gains[0] == pytest.approx(-two_tens, abs=1e-14)
    assert solver.value_of(solver.chart) == pytest.approx(solver.value, abs=1e-15)
    assert abs(sum(n * solver.removal()[card] for card, n in few.items())) < 1e-12


def test_even_money_is_the_same_as_insuring_a_natural() -> None:
    states = States(INFINITE)
    for outcome in states.dealer_outcomes:
        assert states.settle(NATURAL, 1, outcome)[0] + states.settle(INSURED, 1, outcome)[0] == 1
    assert states.settle(NATURAL, 1, DEALER_NATURAL)[0] == 0


# --- the readable round


@pytest.mark.parametrize(
    ("fields", "cards", "answers", "net", "bet"),
    [
        ({}, "A A T T", "I", "1", "1"),  # even money against a natural
        ({}, "A A T 9", "I", "1", "-1/2"),  # and against none
        ({}, "A A T T", "S", "0", ""),
        ({}, "T A 9 T", "I", "0", "1"),
        ({}, "T A 9 9", "I, S", "-3/2", "-1/2"),
        (NO_HOLE_CARD, "A A T T", "I", "1", "1"),  # the dealer draws, although nothing else waits
        (NO_HOLE_CARD, "5 A 6 T T", "I, D", "-1", "1"),  # a doubled bet is lost, and insurance wins one
        ({"surrender": "early"}, "T A 6 T", "I, R", "1/2", "1"),  # insurance is asked for first
        ({}, "T T 9 A", "", "-1", ""),  # not offered against a ten
    ],
)
def test_rounds(fields: dict[str, object], cards: str, answers: str, net: str, bet: str) -> None:
    player = Scripted(answers)
    result = Round(OFFERED.replace(**fields), ScriptedShoe(cards), 1).play([player])
    assert str(result.net[0]) == net
    assert [str(event.net) for event in result.events if isinstance(event, InsuranceSettled)] == [bet] * bool(bet)
    assert [event.seat for event in result.events if isinstance(event, Insured)] == [0] * bool(bet)
    if answers:
        assert player.views[0].legal == INSURANCE and len(player.views[0].hand) == 2


def test_every_seat_is_asked_before_anything_else() -> None:
    seats = [Scripted("S"), Scripted("I, S"), Scripted("S, H")]
    result = Round(OFFERED.replace(seats=3), ScriptedShoe("A T 5 A T 9 6 8 T"), len(seats)).play(seats)
    assert [[view.legal == INSURANCE for view in seat.views] for seat in seats] == [
        [True],
        [True, False],
        [True, False],
    ]
    assert [str(net) for net in result.net] == ["3/2", "-1/2", "1"]


# --- players


def view(rules: Rules, hand: str, others: str = "") -> View:
    return View(rules, 0, hand, "A", "A#" + hand + others, 10, 190, INSURANCE)


def test_players_that_count_the_cards_they_see() -> None:
    """Of 49 unseen cards 16 are tens; with 4, 5, 6 and 7 gone too, 16 of 45."""
    rules = OFFERED.replace(decks=1)
    assert Perfect(rules).decide(view(rules, "98")).letter == "S"
    assert Perfect(rules).decide(view(rules, "98", "4567")).letter == "I"
    assert CardPlayer(rules).decide(view(rules, "98")).letter == "S"
    assert insured(ShoeSolver(rules).chart).decide(view(rules, "98")).letter == "I"


# --- files and the environment


@pytest.mark.parametrize("write", [format_text, format_csv])
def test_files_have_a_row(write) -> None:
    chart = insured(Solver(INFINITE).chart)
    assert read_with_notes(write(chart), "mine", INFINITE).chart.insurance == "I"
    text = write(replace(chart, insurance="S"))
    assert read_with_notes(text, "mine", INFINITE).chart.insurance == "S"
    without = "".join(row for row in text.splitlines(keepends=True) if "insurance" not in row)
    assert read_with_notes(without, "mine", INFINITE).chart.insurance == "S"
    assert "insurance" not in write(replace(chart, rules=INFINITE.replace(insurance=False)))


def test_errors_of_the_row() -> None:
    text = format_text(Solver(INFINITE).chart)
    *rows, last = text.splitlines()
    assert last.split() == ["insurance", *"SSSSSSSSSS"]
    with pytest.raises(ChartError, match="for insurance against A; use I or S"):
        read_with_notes("\n".join([*rows, "insurance S S S S S S S S S H"]), "mine", INFINITE)
    for cells, taken in (("I S S S S S S S S S", "S"), ("I I I I I I I I I I", "I")):  # the cell against the ace counts
        assert read_with_notes("\n".join([*rows, f"insurance {cells}"]), "mine", INFINITE).chart.insurance == taken


def test_a_printed_chart_with_the_row() -> None:
    rows = format_text(Solver(INFINITE).chart).replace("insurance", "Insurance:").splitlines()
    assert read_with_notes("\n".join(["Hard totals", *rows]), "mine", INFINITE).chart.insurance == "S"
    taken = "\n".join(["Hard totals", *rows[:-1], "Insurance: " + "N " * 9 + "Y"])
    assert read_with_notes(taken, "mine", INFINITE).chart.insurance == "I"


@pytest.mark.parametrize("decks", ["inf", 6])
def test_the_cost_of_taking_it_is_a_wrong_cell(decks: object) -> None:
    rules = OFFERED.replace(decks=decks)
    best = Solver(rules).chart if rules.infinite else ShoeSolver(rules).chart
    cell = evaluate_chart(insured(best)).cells
    assert [(one.row, one.column, one.chart, one.best) for one in cell] == [("insurance", "A", "I", "S")]
    assert cell[0].cost == pytest.approx(1 / 26 * (1 / 13 if rules.infinite else 23 / 311), abs=1e-15)
    assert evaluate_chart(best).cells == ()


def test_the_environment_has_an_action() -> None:
    gymnasium = pytest.importorskip("gymnasium")
    env = gymnasium.make("bjsim.strategies.learning.gym_env:bjsim/VegasS17-v0", rules=INFINITE).unwrapped
    assert env.action_space.n == 6
    rewards = []
    for seed in range(400):
        observation, info = env.reset(seed=seed)
        if info["view"].legal != INSURANCE:
            continue
        assert info["action_mask"].tolist() == [1, 0, 0, 0, 0, 1] and observation[7] == 0
        assert env.observation_space.contains(np.array(observation))
        _, reward, ended, _, info = env.step(5)
        while not ended:
            assert info["action_mask"][5] == 0
            _, reward, ended, _, info = env.step(0)
        rewards.append(reward)
    assert {-1.5, 0.0, 0.5} <= set(rewards)
