"""The solution of a game: in its own shoe, or in the infinite one if a finite shoe has no exact value."""

from __future__ import annotations

import logging
from dataclasses import replace
from functools import lru_cache

from bjsim.errors import InputError
from bjsim.sim.game.rules import Rules
from bjsim.strategies.charts.chart import Chart
from bjsim.strategies.exact.solver import Solver
from bjsim.strategies.shoe.solver import ShoeSolver
from bjsim.strategies.solution import Solution

logger = logging.getLogger(__name__)

KEPT = 8  # solutions, the least recently used leave first; one of splits to four hands holds about 30 MB


def solve(rules: Rules) -> Solution:
    """The solution of a game, decks included; in an infinite shoe if `Solution.refusal` gives a reason."""
    refusal = _refusal(_as_solved(rules))
    return Solver(rules, refusal=refusal) if refusal else in_its_shoe(rules)


def solve_exactly(rules: Rules) -> Solution:
    """The solution of a game in its own shoe. Raises: InputError: It has none."""
    solution = solve(rules)
    if solution.refusal:
        raise InputError(solution.refusal)
    return solution


def in_its_shoe(rules: Rules) -> Solution:
    """Return the solution in the game's own shoe, even if its best chart has no exact value there."""
    # of a copy, else the play of every chart that it is asked about, up to 25 MB, would be kept
    return _kept(_as_solved(rules)).with_rules(rules)


def best_chart(rules: Rules) -> Chart:
    """The best chart of a game, decks included; that of the infinite shoe, with one warning, if there is no other."""
    return replace(_best_chart(_as_solved(rules)), rules=rules)


def _as_solved(rules: Rules) -> Rules:
    """The rules without the fields that change neither the best chart nor the value of any."""
    return rules.replace(name="", cut=1, raises=False, seats=1, turns="in-turn", buy_in=10, chips=200, move_cap=100)


@lru_cache(maxsize=KEPT)
def _kept(rules: Rules) -> Solution:
    return Solver(rules) if rules.infinite else ShoeSolver(rules)


@lru_cache(maxsize=256)
def _refusal(rules: Rules) -> str:
    try:
        _ = _kept(rules).chart, _kept(rules).value
    except InputError as error:
        return str(error)
    return ""


@lru_cache(maxsize=256)
def _best_chart(rules: Rules) -> Chart:
    solution = solve(rules)
    if solution.refusal:
        logger.warning(
            "the best chart is that of an infinite shoe, as the finite one is not solved: %s", solution.refusal
        )
    return solution.chart
