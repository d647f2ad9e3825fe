"""Comparing rule sets: how the value of the game and the best chart change with the rules."""

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
    """A cell in which the best charts of two games differ.

    A chart without the row plays its hands by their total: `15/4` as 15, `88` as 16.

    Attributes:
        row: The row of the cell.
        column: What the dealer shows.
        before: The code in the first game.
        after: The code in the other game.
    """

    row: str
    column: str
    before: str
    after: str


@dataclass(frozen=True)
class Compared:
    """A game compared with the first one: best play in an infinite shoe.

    Attributes:
        rules: The game.
        value: Its value, in initial bets per settled bet.
        difference: Its value less that of the first game; None if the two differ only in their shoe, since the values
            are those of an infinite shoe.
        sd: Standard deviation per round, in initial bets.
        changes: The cells in which the best charts differ; None if `difference` is None, or if the dealer shows
            different cards in the two games, so that the columns cannot be compared.
        only: Rows for totals that only one of the two charts has.
    """

    rules: Rules
    value: float
    difference: float | None
    sd: float
    changes: tuple[Change, ...] | None
    only: tuple[str, ...]


def compare(games: Sequence[Rules]) -> list[Compared]:
    """Compare every game with the first, which is included in the result."""
    solvers = [Solver(rules) for rules in games]
    return [_compared(solvers[0], solver) for solver in solvers]


def differ_in_shoe_alone(games: Sequence[Rules]) -> bool:
    """Whether some of these games differ only in their shoe: its number of decks, and its cut."""
    return len({rules.replace(decks=math.inf, cut=1) for rules in games}) < len(set(games))


def _compared(first: Solver, other: Solver) -> Compared:
    value, base = float(other.infinite_shoe_value), float(first.infinite_shoe_value)
    first_rows, other_rows = ({row for row, _ in solver.chart.cells} for solver in (first, other))
    rows = sorted(first_rows | other_rows, key=row_order)
    totals = {parse_row(row).total for row in first_rows} & {parse_row(row).total for row in other_rows}
    has_difference = not differ_in_shoe_alone([first.rules, other.rules])
    comparable = has_difference and first.states.columns == other.states.columns
    return Compared(
        other.rules,
        value,
        (0.0 if value == base else value - base) if has_difference else None,
        other.sd(other.chart.policy),
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
    """The chart's code for the hands of a row, by their total if it lacks the row; None if it has neither."""
    code = chart.cells.get((name, column))
    if code:
        return code
    row = parse_row(name)
    code = chart.cells.get((row.total, column))
    if code is None or row.fresh:
        return code
    return (
        "H" if code == "P" else code[-1].upper()
    )  # the fallback of the code, since hands of three cards cannot double or surrender
