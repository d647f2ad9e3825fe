"""Spanish 21, Super Fun 21 and Pontoon against every way of dealing a tiny shoe, in fractions."""

from __future__ import annotations

import math
from collections import Counter

import pytest
from support.engines import differences
from support.games import random_chart, slow
from support.tiny_shoe import TinyShoe, follow

from bjsim.sim.engine.compiled_rules import compile_rules, number_hands
from bjsim.sim.game.presets import named_rules
from bjsim.sim.game.rules import Rules
from bjsim.strategies.shoe.players import CardPlayer
from bjsim.strategies.shoe.solver import ShoeSolver

ROUNDING = 1e-12
SPANISH, SUPER_FUN, PONTOON = (
    named_rules(name).replace(insurance=False) for name in ("spanish-21", "super-fun-21", "pontoon")
)
GAMES = {
    "suited sevens": (SPANISH.replace(decks=3, max_hands=2), "777777777777TTTT"),
    "six, seven, eight": (SPANISH.replace(decks=1, split_by="never"), "666677778888T"),
    "doubled three times": (SPANISH.replace(decks=1, max_doubles=3, max_hands=2), "223355TTTTTT"),
    "surrender at any time": (SUPER_FUN.replace(max_hands=2), "AA3346TTTTTT"),
    "doubled to six cards": (SUPER_FUN.replace(surrender_after_double=False, split_by="never"), "AA223356TTTT"),
    "super fun, again": (SUPER_FUN.replace(max_doubles=2, split_by="never"), "2223344TTTTTT"),
    "pontoon": (PONTOON.replace(decks=1), "AA4456TTTTTT"),
    "pontoon with surrender": (
        PONTOON.replace(decks=1, surrender="late", surrender_after_double=True), "AAA388TTTTTTT"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", GAMES)
def test_a_suited_shoe_has_its_brute_force_value(name: str) -> None:
    rules, cards = GAMES[name]
    solver, tiny = ShoeSolver(rules, Counter(cards)), TinyShoe(rules, cards)
    charts = solver.chart, random_chart(rules, 7, 4), random_chart(rules, 8, 5)
    for chart in charts:
        assert solver.value_of(chart) == pytest.approx(float(tiny.value(follow(chart))), abs=ROUNDING)
    if rules.bonuses != "spanish" or "7" not in cards:  # a mean payment has no spread
        for chart in charts:
            mean, square = (tiny.value(follow(chart), power) for power in (1, 2))
            assert solver.sd_of(chart) == pytest.approx(math.sqrt(square - mean**2), abs=ROUNDING)


def test_best_play_by_cards_is_at_least_as_good_as_the_best_chart() -> None:
    for rules, cards in GAMES.values():
        solver = ShoeSolver(rules, Counter(cards))
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
