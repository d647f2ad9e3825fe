"""The best chart of a game, and the exact return of a strategy: in the game's own shoe where that is finite.

A finite shoe that `ShoeSolver` refuses is replaced by the infinite one, with one warning in the log.
"""

from __future__ import annotations

import logging
from copy import copy
from functools import lru_cache

from bjsim.errors import InputError
from bjsim.sim.engine.compile_notice import announce_compile, on_compile
from bjsim.sim.game.rules import Rules
from bjsim.strategies.charts.chart import Chart
from bjsim.strategies.exact.solver import Solver
from bjsim.strategies.shoe.lookup import Strategy
from bjsim.strategies.shoe.solver import ShoeSolver

COMPILING = "compiling the solver of finite shoes (once after install, up to a minute) …"
logger = logging.getLogger(__name__)

KEPT = 8  # solvers, the least recently used leave first; one of splits to four hands holds about 30 MB


def shoe_solver(rules: Rules) -> ShoeSolver | None:
    """A solver of a game's finite shoe; None if the shoe is infinite, or if its best chart has no exact value."""
    return None if rules.infinite or refusal(rules) else _shoe_solver(_as_solved(rules))


def refusal(rules: Rules) -> str:
    """Why a finite shoe is not solved, as a message; empty if it is, or if the shoe is infinite."""
    return "" if rules.infinite else _refusal(_as_solved(rules))


def best_chart(rules: Rules) -> Chart:
    """The best chart of a game, decks included; that of the infinite shoe if `refusal` gives a reason."""
    chart = _best_chart(_as_solved(rules))
    return Chart(chart.name, rules, chart.cells, chart.source, chart.insurance)


def exact_value(rules: Rules, strategy: Strategy) -> float:
    """The expected profit of a strategy in a freshly shuffled shoe of the game.

    Args:
        rules: The game.
        strategy: A chart, or in a finite shoe a named strategy of `ShoeSolver`.

    Returns:
        Expected profit per settled bet, in initial bets.

    Raises:
        InputError: The value is not known; the message gives the reason.
    """
    return _exact_value(*_solved_strategy(rules, strategy))


def exact_sd(rules: Rules, strategy: Strategy) -> float | None:
    """The standard deviation of a round in a freshly shuffled shoe; with splits, it takes seconds in a finite one.

    Args:
        rules: The game.
        strategy: A chart, or in a finite shoe a named strategy of `ShoeSolver`.

    Returns:
        The standard deviation in initial bets; None if it is not known.
    """
    return _exact_sd(*_solved_strategy(rules, strategy))


def _as_solved(rules: Rules) -> Rules:
    """The rules without the fields that change neither the best chart nor the value of any."""
    return rules.replace(name="", cut=1, raises=False, seats=1, turns="in-turn", buy_in=10, chips=200, move_cap=100)


@lru_cache(maxsize=KEPT)
def _kept(rules: Rules) -> ShoeSolver:
    return ShoeSolver(rules)


def _shoe_solver(rules: Rules) -> ShoeSolver:
    return copy(_kept(rules))  # else the play of every chart that it is asked about, up to 25 MB, would be kept


@lru_cache(maxsize=256)
def _refusal(rules: Rules) -> str:
    try:
        with on_compile(lambda: announce_compile(COMPILING)):
            _kept(rules).value_of()
    except InputError as error:
        return str(error)
    return ""


@lru_cache(maxsize=256)
def _best_chart(rules: Rules) -> Chart:
    if solver := shoe_solver(rules):
        return solver.chart
    if reason := refusal(rules):
        logger.warning("the best chart is that of an infinite shoe, as the finite one is not solved: %s", reason)
    return Solver(rules).chart


def _solved_strategy(rules: Rules, strategy: Strategy) -> tuple[Rules, Strategy]:
    rules = _as_solved(rules)
    return rules, Chart(strategy.name, rules, strategy.cells) if isinstance(strategy, Chart) else strategy


@lru_cache(maxsize=256)
def _exact_value(rules: Rules, strategy: Strategy) -> float:
    if rules.infinite and isinstance(strategy, Chart):
        return float(Solver(rules).value_of(strategy))
    return _shoe_solver(rules).value_of(strategy)


@lru_cache(maxsize=256)
def _exact_sd(rules: Rules, strategy: Strategy) -> float | None:
    if rules.infinite and isinstance(strategy, Chart):
        return Solver(rules).sd_of(strategy)
    try:
        return _shoe_solver(rules).sd_of(strategy)
    except InputError:
        return None
