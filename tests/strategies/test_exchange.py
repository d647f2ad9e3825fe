"""Blackjack Switch: two bets whose second cards may be exchanged. The figures are those of two independent programs."""

from __future__ import annotations

import itertools
from dataclasses import replace
from fractions import Fraction

import pytest
from support.command import bjsim, refusal
from support.games import slow

from bjsim.sim.game.automaton import Finished
from bjsim.sim.game.hand_states import Result
from bjsim.sim.game.presets import named_rules
from bjsim.strategies.exact.exchange import ExchangeAutomaton, exchange_sd
from bjsim.strategies.exact.solver import Solver
from bjsim.strategies.shoe.exchange import exchange_values
from bjsim.strategies.shoe.solver import ShoeSolver

SWITCH = named_rules("blackjack-switch").replace(decks="inf")
PLAIN = SWITCH.replace(exchange="none")
OPTIONS = ["--rules", "blackjack-switch", "--decks", "inf"]


@pytest.mark.parametrize(("exchange", "percent"), [("21", -0.714599), ("natural", -0.310035)])
def test_the_value_of_a_bet(exchange: str, percent: float) -> None:
    solver = Solver(PLAIN.replace(exchange=exchange))
    assert 100 * solver.value == pytest.approx(percent, abs=5e-7)
    assert solver.value_of(solver.chart) == pytest.approx(solver.value, abs=1e-14)
    assert float(Solver(PLAIN.replace(exchange=exchange), Fraction).value) == pytest.approx(solver.value, abs=1e-14)


def test_the_value_over_every_four_cards_of_the_game_without_exchange() -> None:
    """Each hand valued alone by the plain game, exchanged where that is better: the sum over all deals."""
    plain = Solver(PLAIN)
    states, total = plain.states, 0.0
    for column in plain.columns.values():
        means = plain.best[column.label]
        ordinary = means.leaf(Finished(Result("stood", 21)))
        dealt = {(a, b): float(means.value(states.hand((a, b)))) for a in range(10) for b in range(10)}
        after = {cards: ordinary if sum(cards) == 9 and 0 in cards else value for cards, value in dealt.items()}
        p = [float(chance) for _, chance in states.ranks]
        for a, b, c, d in itertools.product(range(10), repeat=4):
            best = max(dealt[a, b] + dealt[c, d], after[a, d] + after[c, b])
            total += float(column.probability) * p[a] * p[b] * p[c] * p[d] * best / 2
    natural = 2 * (1 / 13) * (4 / 13)
    assert Solver(SWITCH).value == pytest.approx(total - natural * (1 - natural), abs=1e-13)
    assert Solver(SWITCH).value > plain.value + 0.06


@pytest.mark.parametrize(
    ("first", "second", "shown", "best"),
    [
        ("T5", "6T", "6", "X"),  # to 20 and 11
        ("TA", "AT", "6", "S"),  # two naturals
        ("TT", "AA", "6", "X"),  # two hands of 21, though no naturals
        ("T9", "T8", "6", "S"),  # no other hands
        ("88", "88", "6", "S"),  # the same cards
        ("95", "T2", "6", "X"),  # 14 and 12 become 11 and 15
    ],
)
def test_which_exchange_is_right(first: str, second: str, shown: str, best: str) -> None:
    values = exchange_values(SWITCH, first, second, shown)
    assert ("X" if values["X"] > values["S"] else "S") == best
    plain = Solver(PLAIN)
    assert values["S"] == pytest.approx(
        sum(plain.best[shown].value(plain.states.hand("A23456789T".index(c) for c in hand)) for hand in (first, second))
    )


@pytest.mark.parametrize(
    ("first", "second", "shown"), [("T5", "6T", "6"), slow("8T", "68", "T"), slow("A9", "2T", "5")]
)
def test_an_exchange_in_a_finite_shoe_is_for_the_cards_that_are_gone(first: str, second: str, shown: str) -> None:
    """Each hand by the solver of the shoe without the two cards of the other; A-T after an exchange is a 21."""
    game = SWITCH.replace(decks=2)
    plain, gone = game.replace(exchange="none"), "A23456789T".index

    def value(hand: str, other: str) -> float:
        left = [8] * 9 + [32]
        for card in other:
            left[gone(card)] -= 1
        return max(ShoeSolver(plain, left).hand_values(hand, shown, "cdp1").values())

    values = exchange_values(game, first, second, shown)
    assert values["S"] == pytest.approx(value(first, second) + value(second, first), abs=1e-12)
    one, two = first[0] + second[1], second[0] + first[1]
    if "A" not in one:
        assert values["X"] == pytest.approx(value(one, two) + value(two, one), abs=1e-12)
    else:
        natural = exchange_values(game.replace(exchange="natural"), first, second, shown)
        assert natural["X"] == pytest.approx(value(one, two) + value(two, one), abs=1e-12)
        assert values["X"] < natural["X"]
    far = exchange_values(SWITCH, first, second, shown)
    assert exchange_values(game.replace(decks=8), first, second, shown) == pytest.approx(far, abs=0.03)


@pytest.mark.parametrize("cards", [("A5", "6T", "6"), ("T5", "6A", "6")])
def test_an_exchanged_ace_and_ten_are_21_where_split_ones_are_a_natural(cards: tuple[str, str, str]) -> None:
    game = SWITCH.replace(decks=8, blackjack_pays="3/2")
    natural = game.replace(split_tens_blackjack=True, split_aces_blackjack=True)
    assert exchange_values(natural, *cards)["X"] == pytest.approx(exchange_values(game, *cards)["X"])


def test_an_exchanged_ace_and_ten_are_21_where_nothing_is_split() -> None:
    """They were counted as a bust; without pairs the games are the same."""
    game = SWITCH.replace(decks=8, charlie=6)
    expected = exchange_values(game, "A5", "6T", "6")
    assert exchange_values(game.replace(split_by="never"), "A5", "6T", "6") == pytest.approx(expected, abs=1e-12)
    assert expected["X"] > 0.5


def test_the_costs_of_cells_add_up() -> None:
    """With the hands that the best exchange makes."""
    solver = Solver(SWITCH)
    chart = replace(solver.chart, cells={**solver.chart.cells, ("16", "T"): "S", ("12", "6"): "H", ("11", "T"): "H"})
    assert sum(cell.cost for cell in solver.costs(chart)) == pytest.approx(
        solver.value - solver.value_of(chart), abs=1e-13
    )


def test_the_deviation_without_a_reason_to_exchange_is_that_of_two_hands() -> None:
    """Two hands against one dealer: between one hand's deviation over the square root of two, and one hand's."""
    assert Solver(PLAIN).sd / 2**0.5 < Solver(SWITCH).sd < Solver(PLAIN).sd


def test_the_deviation_has_what_insurance_of_both_bets_wins() -> None:
    """0.8181 in a simulation of 12,000 rounds; without insurance 0.8332, exactly."""
    game = SWITCH.replace(ten_probability="1/2", split_by="never", insurance=True)
    assert Solver(game).sd == pytest.approx(0.819184, abs=5e-7)


def test_the_deviation_of_endless_splits_is_infinite() -> None:
    game = ExchangeAutomaton(SWITCH.replace(ten_probability="3/5", max_hands="inf"))
    assert exchange_sd(game, lambda state, column, legal: "P" if "P" in legal else "S") == float("inf")


def test_the_command_says_which_exchange_is_right() -> None:
    out = bjsim("solve", *OPTIONS, "--hand", "T,5 / 6,T v 6").out.splitlines()
    assert out[0].split()[:3] == ["best", "action", "exchange"]
    shoe = bjsim("solve", *OPTIONS[:2], "--decks", "6", "--hand", "T,5 / 6,T v 6").out.splitlines()
    assert shoe[0].split()[:3] == ["best", "action", "exchange"] and shoe != out
    wrong = refusal("solve", *OPTIONS, "--hand", "T,5 / 6 v 6")
    assert wrong == "T5 / 6 v 6 is not accepted; give two hands of two cards, and one card"
    assert bjsim("solve", "value", *OPTIONS).out.startswith("-0.00714598")


def test_a_ten_and_a_jack_are_a_pair_only_by_value() -> None:
    """Split tens that may be naturals of 8:1 would be best."""
    game = SWITCH.replace(decks=6, blackjack_pays=8, split_tens_blackjack=True)
    kept = {by: exchange_values(game.replace(split_by=by), "TJ", "92", "6")["S"] for by in ("value", "rank")}
    never = game.replace(split_by="never", split_tens_blackjack=False)
    assert kept["rank"] == pytest.approx(exchange_values(never, "TJ", "92", "6")["S"], abs=1e-12)
    assert kept["value"] > kept["rank"] + 0.1
