"""Spanish 21, Super Fun 21 and Pontoon against every way of dealing a tiny shoe of cards with suits, in fractions."""

from __future__ import annotations

import math
from collections import Counter

import pytest
from support.engines import differences
from support.games import random_chart, slow
from support.suited_shoe import Policy, SuitedShoe

from bjsim.sim.engine.compiled_rules import compile_rules, number_hands
from bjsim.sim.game.cards import parse_rank
from bjsim.sim.game.presets import named_rules
from bjsim.sim.game.rules import Rules
from bjsim.strategies.charts.chart import Chart
from bjsim.strategies.shoe.players import CardPlayer
from bjsim.strategies.shoe.solver import ShoeSolver

ROUNDING = 1e-12
SEVENS = "7s 7s 7s 7h 7h 7h 7d 7d 7d 7c 7c 7c"  # of three decks
GAMES = {
    "suited sevens": (named_rules("spanish-21").replace(decks=3, max_hands=2), f"{SEVENS} T- T- T- T-"),
    "six, seven, eight": (
        named_rules("spanish-21").replace(decks=1, split_by="never"), "6s 6h 6d 6c 7s 7h 7d 7c 8s 8h 8d 8c T-"
    ),
    "doubled three times": (
        named_rules("spanish-21").replace(decks=1, max_doubles=3, max_hands=2), "2- 2- 3- 3- 5- 5- T- T- T- T- T- T-"
    ),
    "surrender at any time": (named_rules("super-fun-21").replace(max_hands=2), "A- A- 3- 3- 4- 6- T- T- T- T- T- T-"),
    "doubled to six cards": (
        named_rules("super-fun-21").replace(surrender_after_double=False, split_by="never"),
        "A- A- 2- 2- 3- 3- 5- 6- T- T- T- T-",
    ),
    "super fun, again": (
        named_rules("super-fun-21").replace(max_doubles=2, split_by="never"), "2- 2- 2- 3- 3- 4- 4- T- T- T- T- T- T-"
    ),
    "pontoon": (named_rules("pontoon").replace(decks=1), "A- A- 4- 4- 5- 6- T- T- T- T- T- T-"),
    "pontoon with surrender": (
        named_rules("pontoon").replace(decks=1, surrender="late", surrender_after_double=True),
        "A- A- A- 3- 8- 8- T- T- T- T- T- T- T-",
    ),
}  # fmt: skip
# Brute force knows no insurance.
GAMES = {name: (rules.replace(insurance=False), cards) for name, (rules, cards) in GAMES.items()}


def follow(chart: Chart) -> Policy:
    def policy(hand: str, shown: str, split: bool, doubled: int, legal: str) -> str:
        return chart.policy(
            chart.states.hand(map(parse_rank, hand), split, doubled=doubled), chart.states.column(shown), legal
        )

    return policy


@pytest.mark.parametrize("name", GAMES)
def test_a_suited_shoe_has_its_brute_force_value(name: str) -> None:
    rules, cards = GAMES[name]
    solver, tiny = ShoeSolver(rules, Counter(card[0] for card in cards.split())), SuitedShoe(rules, cards)
    charts = solver.chart, random_chart(rules, 7, 4), random_chart(rules, 8, 5)
    for chart in charts:
        assert solver.value_of(chart) == pytest.approx(float(tiny.value(follow(chart))), abs=ROUNDING)
    if rules.bonuses != "spanish" or "7s" not in cards:  # a mean payment has no spread
        for chart in charts:
            mean, square = (tiny.value(follow(chart), power) for power in (1, 2))
            assert solver.sd_of(chart) == pytest.approx(math.sqrt(square - mean**2), abs=ROUNDING)


def test_suits_matter_to_the_brute_force_value() -> None:
    rules, cards = GAMES["six, seven, eight"]
    chart = ShoeSolver(rules, Counter(card[0] for card in cards.split())).chart
    plain = SuitedShoe(rules, cards.replace("h", "s").replace("d", "c"))
    assert plain.value(follow(chart)) > SuitedShoe(rules, cards).value(follow(chart))


def test_best_play_by_cards_is_at_least_as_good_as_the_best_chart() -> None:
    for rules, cards in GAMES.values():
        solver = ShoeSolver(rules, Counter(card[0] for card in cards.split()))
        assert solver.value_of("cdp") >= solver.value_of("cdz-") - 1e-12
        assert solver.value_of("cdz-") >= solver.value - 1e-12


@pytest.mark.slow
def test_rules_of_doubled_hands_help_the_player() -> None:
    plain: Rules = named_rules("spanish-21").replace(surrender_after_double=False)
    values = [
        ShoeSolver(plain.replace(**changes)).value
        for changes in ({}, {"surrender_after_double": True}, {"max_doubles": 2}, {"max_doubles": 3})
    ]
    assert values == sorted(values)


@pytest.mark.parametrize("name", [slow("spanish-21"), "super-fun-21", "pontoon"])
def test_play_by_cards_is_the_same_in_both_rounds(name: str) -> None:
    """Hands that have doubled are looked up by their cards, too."""
    rules = named_rules(name)
    player = CardPlayer(rules)
    assert len(number_hands(player.states)[0]) < 10_000  # hands that have doubled draw no more cards than they may
    compiled = compile_rules(rules, [player.policy], player.states)
    assert differences(rules, [player], (7, 8, 9), 100, compiled) == []
