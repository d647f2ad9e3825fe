"""Every possible pair of unusual rules, solved in both shoes: one of 4,000 decks has the values of the infinite one.

The solvers share the states of a hand, but neither the flow of a round nor the weighing of cards.
"""

from __future__ import annotations

import math
from dataclasses import replace

from support.unusual import covering_array, tell

from bjsim.sim.game.rules import Rules
from bjsim.strategies.exact.solver import Solver
from bjsim.strategies.shoe.composition import Composition
from bjsim.strategies.shoe.solver import ShoeSolver

LARGE = Composition((16_000,) * 13)
CLOSE = 1e-4  # of a game's values in both shoes; hands beyond the fourth of an endless split change them by up to 5e-5
MOST_HANDS = 4


def difference(rules: Rules) -> float:
    """What best play returns in the infinite shoe less what it does in a large one.

    Where the house pays for splits, best play of a finite shoe splits every pair again, and the best chart is compared.
    """
    solver = Solver(rules)
    shoe = ShoeSolver(rules.replace(decks=8, max_hands=min(rules.max_hands, MOST_HANDS)), LARGE)
    if rules.free_splits == "none":
        return float(solver.best_value) - shoe.value_of("cdp1")
    return float(solver.value) - shoe.value_of(replace(solver.chart, rules=shoe.rules))


def test_both_shoes_have_the_same_values() -> None:
    games = covering_array()
    different = {tell(rules): found for rules in games if not abs(found := difference(rules)) < CLOSE}
    assert not different
    assert any(rules.max_hands == math.inf for rules in games)
