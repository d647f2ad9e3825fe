"""The dynamic programming against second derivations: brute force over cards, and every round played out."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import pytest
from support.brute import Brute, every_round, split_leaves

from bjsim.sim.game.cards import RANKS
from bjsim.sim.game.hand_states import HandState
from bjsim.sim.game.presets import named_rules
from bjsim.sim.game.rules import Rules
from bjsim.strategies.charts.chart import Chart, make_chart
from bjsim.strategies.exact.solver import Solver
from bjsim.strategies.exact.values import Moments


def hand(solver: Solver, one: int, other: int) -> HandState:
    """The state of two cards given by their points."""
    return solver.states.add(solver.states.add(HandState(), one - 1), other - 1)


@pytest.mark.parametrize(
    ("p", "peek", "soft_17"),
    [
        (Fraction(4, 13), False, False),
        (Fraction(4, 13), True, True),
        (Fraction(5, 100), False, True),
        (Fraction(2, 10), True, False),
        (Fraction(45, 100), True, True),
        (Fraction(9, 10), False, False),
    ],
)
def test_stand_hit_and_double_of_every_two_cards(p: Fraction, peek: bool, soft_17: bool) -> None:
    """Also, the chart takes the best of them, and they give the value of the game without splits."""
    solver = Solver(Rules(ten_probability=p, peek=peek, hit_soft_17=soft_17, split_by="never"))
    value = float(solver.dealers_play.peeked_natural()) * -1 * (1 - 2 * float(p) * (1 - float(p)) / 9)
    for up, column in enumerate("A23456789T", 1):
        brute, means = Brute(p, up, peek, soft_17), solver.best[column]
        value += means.column.probability * brute.value()
        for one in range(1, 11):
            for other in range(one, 11):
                if {one, other} == {1, 10}:
                    assert means.value(hand(solver, one, other)) == pytest.approx(brute.natural(), abs=1e-13)
                    continue
                state, cards = hand(solver, one, other), (one, other)
                ev = {"S": brute.stand(cards), "H": brute.hit(cards), "D": brute.double(cards)}
                assert {letter: means.act(state, letter) for letter in "SHD"} == pytest.approx(ev, abs=1e-12)
                letter = solver.chart.policy(state, column, "SHD")
                assert ev[letter] == pytest.approx(max(ev.values()), abs=1e-12)
    assert solver.value == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize("column", ["2", "6", "T", "A"])
def test_stand_hit_and_double_as_fractions(column: str) -> None:
    solver = Solver(named_rules("vegas-s17").replace(decks="inf"), Fraction)
    brute = Brute(Fraction(4, 13), "A23456789T".index(column) + 1, peek=True, number=Fraction)
    for one in range(1, 11):
        for other in range(one, 11):
            if {one, other} != {1, 10}:
                state, means = hand(solver, one, other), solver.best[column]
                assert means.act(state, "S") == brute.stand((one, other))
                assert means.act(state, "H") == brute.hit((one, other))
                assert means.act(state, "D") == brute.double((one, other))


@pytest.mark.parametrize("limit", [2, 3, 4])
@pytest.mark.parametrize("resplit_aces", [False, True])
def test_splits_up_to_a_limit_by_listing_every_way_they_can_go(limit: int, resplit_aces: bool) -> None:
    """In exact fractions. A split hand has the value of the best of hit, stand and double; an ace gets one card."""
    rules = named_rules("vegas-s17").replace(decks="inf", max_hands=limit, resplit_aces=resplit_aces)
    solver = Solver(rules, Fraction)
    for column in ("5", "T"):
        brute = Brute(Fraction(4, 13), "A23456789T".index(column) + 1, peek=True, number=Fraction)
        for card in range(1, 11):

            def played(other: int, card: int = card, brute: Brute = brute) -> Fraction:
                cards = tuple(sorted((card, other)))
                if card == 1 or cards == (1, 10):
                    return brute.stand(cards)
                return brute.first(cards)

            p = brute.card_probabilities[card]
            others = sum(q * played(other) for other, q in brute.card_probabilities.items() if other != card) / (1 - p)
            most = limit if card > 1 or resplit_aces else 2
            split = sum(q * (pairs * played(card) + rest * others) for q, pairs, rest in split_leaves(p, most))
            assert solver.best[column].act(hand(solver, card, card), "P") == split, (column, card)


def test_endless_splits_are_the_limit_of_many() -> None:
    """The value increases with the limit and converges to that without a limit."""
    rules = named_rules("vegas-s17").replace(decks="inf", ten_probability="2/5", resplit_aces=True)
    values = [Solver(rules.replace(max_hands=limit)).value for limit in (2, 4, 8, 16, "inf")]
    assert values == sorted(values)
    gaps = [values[-1] - value for value in values[:-1]]
    assert gaps == sorted(gaps, reverse=True)
    assert 0 < gaps[-1] < gaps[0] / 4
    normal = named_rules("vegas-s17").replace(decks="inf")
    assert Solver(normal.replace(max_hands=16)).value == pytest.approx(
        Solver(normal.replace(max_hands="inf")).value, abs=1e-9
    )


@pytest.mark.parametrize(("column", "card"), [("5", 10), ("6", 8), ("T", 8), ("6", 2), ("7", 3)])
@pytest.mark.parametrize("p", [Fraction(4, 13), Fraction(9, 20)])
def test_an_endless_split_hand_is_the_fixed_point_of_its_equation(column: str, card: int, p: Fraction) -> None:
    """h = others + p(pair) 2 h, iterated from 0 two thousand times."""
    solver = Solver(Rules(max_hands="inf", ten_probability=p, split_tens_blackjack=True, naturals="both"))  # type: ignore[arg-type]
    brute = Brute(p, "A23456789T".index(column) + 1)
    half, again = 0.0, brute.card_probabilities[card]
    others = sum(
        q * brute.first(tuple(sorted((card, other)))) for other, q in brute.card_probabilities.items() if other != card
    )
    for _ in range(2000):
        half = others + again * 2 * half
    assert solver.best[column].act(hand(solver, card, card), "P") == pytest.approx(2 * half, abs=1e-11)


# --- every round that can follow some first cards, played in the readable round


def simple(doubles: str, hits: str = "") -> Callable[[Rules], Chart]:
    """A chart that splits every pair, doubles and hits some totals, and stands otherwise, so that rounds are short."""

    def chart(rules: Rules) -> Chart:
        def code(row: str, column: str) -> str:
            if row == "AA" or (len(row) == 2 and row[0] == row[1] and row != "11"):
                return "P"
            return "Dh" if row in doubles.split() else "H" if row in hits.split() else "S"

        return make_chart("simple", rules, code)

    return chart


CASES = {
    "easy, 8-8 against 16": ({"max_hands": 2}, "easy", "T6", "88", simple("11")),
    "easy, 8-8 against 18, three hands": ({"max_hands": 3}, "easy", "T8", "88", simple("")),
    "easy, 8-8 against 15": ({"max_hands": 2}, "easy", "T5", "88", simple("")),
    "easy, aces against 15": ({}, "easy", "T5", "AA", simple("")),
    "easy, aces that are hit after the split": (
        {"max_hands": 2, "hit_split_aces": True},
        "easy",
        "T8",
        "AA",
        simple("", "A3 AA"),
    ),
    "easy, tens that become naturals": ({"max_hands": 2, "split_tens_blackjack": True}, "easy", "T6", "TJ", simple("")),
    "easy, ties replayed": ({"max_hands": 2, "ties": "replay"}, "easy", "T6", "99", simple("11")),
    "easy, ties lost, no double after a split": (
        {"max_hands": 2, "ties": "lose", "double_after_split": False},
        "easy",
        "T6",
        "33",
        simple("11", "11"),
    ),
    "easy, bonuses": ({"max_hands": 2, "bonuses": "win"}, "easy", "T8", "77", simple("", "14 9")),
    "easy, bonuses at once": ({"max_hands": 2, "bonuses": "at-once"}, "easy", "T8", "77", simple("", "14 15")),
    "easy, few tens": ({"max_hands": 2, "ten_probability": "1/50"}, "easy", "T6", "22", simple("11")),
}
SLOW_CASES = {
    "easy, aces against soft 17": ({}, "easy", "A6", "AA", simple("")),
    "easy, aces split again": ({"max_hands": 4, "resplit_aces": True}, "easy", "T8", "AA", simple("")),
    "european, aces against a nine": ({}, "european", "9", "AA", simple("")),
    "easy, 8-8 against 16, three hands": ({"max_hands": 3}, "easy", "T6", "88", simple("11")),
    "easy, four hands": ({"max_hands": 4}, "easy", "T8", "88", simple("")),
    "vegas, against a ten": ({"max_hands": 2}, "vegas-s17", "T", "99", simple("11")),
    "blackjack-p, against a ten": ({"max_hands": 2}, "blackjack-p", "T", "TT", simple("")),
}  # fmt: skip


@pytest.mark.parametrize("case", [*CASES, *(pytest.param(case, marks=pytest.mark.slow) for case in SLOW_CASES)])
def test_mean_and_mean_square_are_those_of_every_round_played_out(case: str) -> None:
    """The exact mean, tied stake and second moment of a split, which no other test reaches: the hands of a split share
    one dealer. Every sequence of cards that the readable round can ask for is dealt, with its probability."""
    changes, preset, dealer, player, chart_of_rules = (CASES | SLOW_CASES)[case]
    rules = named_rules(preset).replace(decks="inf", **changes)  # type: ignore[arg-type]
    solver = Solver(rules)
    chart = chart_of_rules(rules)
    column = solver.columns[solver.states.column(dealer)]
    order = {"p": iter(player), "d": iter(dealer)}
    first = [RANKS.index(card) for letter in rules.deal if (card := next(order[letter], None))]
    rounds = list(every_round(rules, first, solver.states.ranks, chart))
    mass = math.fsum(p for p, _, _ in rounds)
    state = HandState()
    for card in player:
        state = solver.states.add(state, min(RANKS.index(card), 9))

    def moment(of: Callable[[float, float], float]) -> float:
        return math.fsum(p * of(net, tied) for p, net, tied in rounds) / mass

    assert len(rounds) > 900
    assert mass == pytest.approx(
        1 if not rules.peek or len(dealer) == 2 else 1 - float(rules.card_probabilities[0]), abs=1e-12
    )
    for tie_value in (0.0, 1.0, -0.04):
        mean = moment(lambda net, tied, v=tie_value: net + v * tied)  # type: ignore[misc]
        square = moment(lambda net, tied, v=tie_value: (net + v * tied) ** 2)  # type: ignore[misc]
        assert solver.means(column, tie_value, chart.policy).value(state) == pytest.approx(mean, abs=1e-12)
        evs = Moments(solver.states, column, chart.policy, tie_value).value(state)
        probabilities = list(column.probabilities.values())
        assert evs @ probabilities == pytest.approx([mean, square], abs=1e-12)


def test_a_chart_that_hits_doubles_and_surrenders_played_out() -> None:
    """Whole hands against an eight, with every kind of decision."""
    rules = named_rules("atlantic-city").replace(decks="inf", split_by="never", dealer_shows="both", insurance=False)
    solver = Solver(rules)
    codes = {"11": "Dh", "16": "Rs", "12": "H", "A6": "H", "A5": "Ds", "15": "Rh", "13": "H"}
    chart = make_chart("every kind", rules, lambda row, column: codes.get(row, "S"))
    for cards in ("92", "T6", "A6", "A5", "75"):
        first = [RANKS.index(card) for card in (cards[0], "8", cards[1], "6")]
        rounds = list(every_round(rules, first, solver.states.ranks, chart))
        mean = math.fsum(p * net for p, net, _ in rounds)
        state = hand(solver, *(min(RANKS.index(card) + 1, 10) for card in cards))
        assert solver.means(solver.columns["14"], 0.0, chart.policy).value(state) == pytest.approx(mean, abs=1e-12)
