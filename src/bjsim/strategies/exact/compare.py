"""Rule sets beside each other: how the value of the game and the best chart change; what one rule is worth."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from bjsim.sim.game.rules import Rules
from bjsim.strategies.charts.chart import Chart
from bjsim.strategies.charts.rows import parse_row, row_order
from bjsim.strategies.exact.solver import Solver


class Change(NamedTuple):
    """A cell that the best charts of two games fill differently.

    Where only one of them has the row, the other plays its hands as it plays their total: `15/4` as 15, `88` as 16.
    """

    row: str
    column: str
    before: str
    after: str


@dataclass(frozen=True)
class Compared:
    """A game beside the first one: values in initial bets per settled bet, best play, infinite shoe.

    sd: per round. difference: from the first game; None where the two differ in their shoe alone, which an infinite
    shoe does not tell. changes: cells in which its best chart differs from the first game's; None there too, and where
    the dealer shows something else, so that columns mean something else. only: rows of totals that only one of the two
    charts has.
    """

    rules: Rules
    value: float
    difference: float | None
    sd: float
    changes: tuple[Change, ...] | None
    only: tuple[str, ...]


def compare(games: Sequence[Rules]) -> list[Compared]:
    """Every game beside the first."""
    solvers = [Solver(rules) for rules in games]
    return [_beside(solvers[0], solver) for solver in solvers]


def differ_in_shoe_alone(games: Sequence[Rules]) -> bool:
    """Whether some of these games have the same rules but for their shoe: its decks, and where it is cut."""
    return len({rules.replace(decks=math.inf, cut=1) for rules in games}) < len(set(games))


def _beside(first: Solver, other: Solver) -> Compared:
    value, base = float(other.infinite_shoe_value), float(first.infinite_shoe_value)
    one, two = ({row for row, _ in solver.chart.cells} for solver in (first, other))
    rows = sorted(one | two, key=row_order)
    totals = {parse_row(row).total for row in one} & {parse_row(row).total for row in two}
    told_apart = not differ_in_shoe_alone([first.rules, other.rules])
    comparable = told_apart and first.states.columns == other.states.columns
    return Compared(
        other.rules,
        value,
        (0.0 if value == base else value - base) if told_apart else None,
        other.sd(other.chart.letter),
        tuple(_changes(first, other, rows)) if comparable else None,
        tuple(row for row in rows if parse_row(row).total not in totals),
    )


def _changes(first: Solver, other: Solver, rows: Sequence[str]) -> Iterator[Change]:
    for row in rows:
        for column in other.states.columns:
            before, after = (_code(solver.chart, row, column) for solver in (first, other))
            if before and after and before != after:
                yield Change(row, column, before, after)


def _code(chart: Chart, name: str, column: str) -> str | None:
    """What the chart does with the hands of a row, which it may know only by their total; None if not even so."""
    code = chart.cells.get((name, column))
    if code:
        return code
    row = parse_row(name)
    code = chart.cells.get((row.total, column))
    if code is None or row.fresh:
        return code
    return "H" if code == "P" else code[-1].upper()  # what a third card leaves of it
