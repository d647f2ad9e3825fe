"""Cells of charts: the decisions looked up in each, and what it costs if they differ from the best chart."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from bjsim.sim.game.automaton import Decision
from bjsim.sim.game.states import States
from bjsim.strategies.charts.chart import Chart
from bjsim.strategies.charts.rows import row_order


@dataclass(frozen=True)
class WrongCell:
    """A cell that a chart plays differently from the best chart.

    `row` is the most specific one for the hand. `cost` is the cell's share of the whole difference, in initial
    bets per settled bet; `alone` is its cost as the only wrong cell of the best chart, in the same unit, NaN if
    the value of the best chart is infinite.
    """

    row: str
    column: str
    chart: str
    best: str
    cost: float
    alone: float


class CellChoice(NamedTuple):
    """A decision of a chart next to that of the best chart; `rows` are for the hand, most specific first.

    `loss` is the expected visits per round under the chart, times the value of the best action less its own.
    """

    rows: tuple[str, ...]
    differs: bool
    loss: float


def sum_losses(choices: Iterable[CellChoice], settled: float = 1.0) -> dict[str, float]:
    """The sum of the losses of each row, per settled bet."""
    sums: dict[str, float] = {}
    for choice in choices:
        row = choice.rows[0]
        sums[row] = sums.get(row, 0.0) + (choice.loss / settled if choice.loss else 0.0)
    return sums


def make_cells(states: States) -> dict[str, list[Decision]]:
    """For every row of a chart, in order, the decisions for which it is the most specific row."""
    rows: dict[str, list[Decision]] = {}
    for state in states.reachable():
        limited = "P" in states.legal(state) and states.rules.hand_limit(aces=state.rank == 0) < float("inf")
        for decision in [Decision(state), Decision(state, False)][: 1 + limited]:
            if legal := decision.legal(states):
                rows.setdefault(states.rows_of(state, "P" in legal)[0], []).append(decision)
    return {row: rows[row] for row in sorted(rows, key=row_order)}


def chart_codes(chart: Chart) -> dict[tuple[str, str], str]:
    """A chart's code for every (row, column) of its game, with the most specific rows."""
    states = chart.states
    return {
        (row, column): chart.code(states.rows_of(first.state, "P" in first.legal(states)), column)
        for row, (first, *_) in make_cells(states).items()
        for column in states.columns
    }
