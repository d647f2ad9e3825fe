"""Every possible pair of unusual rules, solved in both shoes: one of 4,000 decks has the values of the infinite one.

The solvers share the states of a hand, but neither the flow of a round nor the weighing of cards.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from support.games import slow
from support.unusual import chosen_games, covering_array, tell

from bjsim.sim.game.rules import Rules
from bjsim.strategies.exact.solver import Solver
from bjsim.strategies.shoe.hands import Composition
from bjsim.strategies.shoe.solver import ShoeSolver

LARGE = Composition((16_000,) * 13)
CLOSE = 1e-5
MANY_HANDS = 8
ENDLESS = 2e-3  # what hands beyond those may add; most where both of the dealer's cards are seen
FEW_HANDS = 3  # the finite shoe takes long for more; and for more than two that double twice with both cards seen


def differences(rules: Rules) -> Iterator[float]:
    """What best play returns in the infinite shoe less what it does in a large one, in parts of what is accepted.

    Where the house pays for splits, best play of a finite shoe splits every pair again, and the best chart is compared.
    A game without a limit of hands is compared with one of many hands in the infinite shoe, and one of few in both.
    """
    if rules.max_hands == math.inf:
        endless = Solver(rules)
        limited = Solver(rules.replace(max_hands=MANY_HANDS))
        yield (float(endless.best_value) - float(limited.best_value)) / ENDLESS
    most = FEW_HANDS - (rules.dealer_shows == "both" and rules.max_doubles > 1)
    solver = Solver(rules.replace(max_hands=min(rules.max_hands, most)))
    shoe = ShoeSolver(solver.rules.replace(decks=8), LARGE)
    if rules.free_splits == "none":
        yield (float(solver.best_value) - shoe.value_of("cdp1")) / CLOSE
    else:
        yield (float(solver.value) - shoe.value_of(replace(solver.chart, rules=shoe.rules))) / CLOSE


def alike(rules: Rules) -> tuple[object, ...]:
    """What the finite shoe's table of the dealer's outcomes depends on, which games in a row share."""
    dealer = rules.dealer_shows, rules.dealer_stands_on, rules.hit_soft_17, rules.naturals, rules.dealer_22_pushes
    return (
        *dealer,
        rules.max_doubles,
        rules.surrender_after_double,
        rules.hit_split_aces,
        min(rules.max_hands, FEW_HANDS),
    )


@pytest.mark.parametrize("games", [chosen_games, slow(covering_array)])
def test_both_shoes_have_the_same_values(games: Callable[[], tuple[Rules, ...]]) -> None:
    some = sorted(games(), key=alike)
    different = {tell(rules): found for rules in some for found in differences(rules) if not abs(found) < 1}
    assert not different
    assert any(rules.max_hands == math.inf for rules in some)
