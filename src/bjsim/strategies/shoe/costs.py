"""The cost of each wrong cell of a chart in a finite shoe.

    cost of a cell = sum over its nodes of  visits(node) x [value(node) - value of the chart's action]

with visits under the chart and values under the best chart. The costs add up to the whole difference exactly
(the performance difference lemma, [Kakade]). A single cost may be negative, because a chart's cells are coupled: after
earlier errors, an action other than the best chart's may suit the remaining hands better. `alone` is the cost of a cell
if it is the only wrong one in the best chart; it is never negative.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bjsim.strategies.charts.chart import Chart
from bjsim.strategies.shoe.analysis import Analysis
from bjsim.strategies.shoe.charts import ColumnCharts
from bjsim.strategies.shoe.solver import ShoeSolver


@dataclass(frozen=True)
class WrongCell:
    """A cell in which a chart plays differently from the best chart.

    Attributes:
        row: The most specific row for the hand.
        column: What the dealer shows.
        chart: The code that the chart uses there.
        best: The code of the best chart.
        cost: The cell's share of the whole difference, in initial bets: per round from `cell_costs`, per settled bet in
            an `Evaluation`.
        alone: Its cost as the only wrong cell of the best chart, in the same unit; NaN if the value of the best chart
            is infinite.
    """

    row: str
    column: str
    chart: str
    best: str
    cost: float
    alone: float


def cell_costs(solver: ShoeSolver, chart: Chart) -> list[WrongCell]:
    """Return the cells of a chart that differ from the best chart, by descending cost.

    The costs add up to `solver.value - solver.value_of(chart)`. If ties are replayed, a tied bet has the value of
    the best chart instead, and the sum is that difference times the share of bets that the chart settles.

    Args:
        solver: The solver of the game and the shoe.
        chart: The chart to evaluate.

    Returns:
        The differing cells, with costs in initial bets per round.
    """
    found = []
    for charts in solver.column_charts():
        found += _column_costs(charts, chart)
    return sorted(found, key=lambda cell: -cell.cost)


def _column_costs(charts: ColumnCharts, chart: Chart) -> list[WrongCell]:
    kinds, options = charts.kinds, charts.options
    letters = charts.chart_letters(chart)
    acts = letters[charts.analysis.shoe.kind]
    plays = charts.best_plays
    under_chart = charts.by_action(plays, charts.all_visits(charts.plays(acts)))
    under_best = charts.by_action(plays, charts.all_visits(plays))
    costs = []
    for row, option in charts.chosen.items():
        members, best = options.kinds[option], options.acts[option]
        own = letters[members]
        if (own != best).any():
            code = chart.code((row, *charts.analysis.shoe.game.states.rows_of(kinds[members[0]].state)), charts.column)
            cost = float(np.sum(under_chart[members, best] - under_chart[members, own]))
            alone = float(np.sum(under_best[members, best] - under_best[members, own]))
            costs.append(WrongCell(row, charts.column, code, charts.best_codes[row], cost, alone))
    return costs


def settled_share(solver: ShoeSolver, chart: Chart) -> float:
    """Return the share of bets that a chart settles, where tied bets are replayed."""
    nets = []
    for tie_value in (0.0, 1.0):
        analysis = Analysis(solver.shoe, tie_value)
        net = sum(solver.shoe.chance[start] * value for start, value in analysis.ended())
        for charts in solver.column_charts():
            column = ColumnCharts(analysis, charts.column)
            net += column.value(column.plays(column.chart_acts(chart)))
        nets.append(net)
    return float(1 - (nets[1] - nets[0]))
