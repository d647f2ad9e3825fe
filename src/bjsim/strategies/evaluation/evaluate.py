"""The value of a chart next to that of the best chart, and the cost of each wrong cell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from bjsim.errors import InputError
from bjsim.strategies.charts.cells import WrongCell, chart_codes
from bjsim.strategies.charts.chart import Chart
from bjsim.strategies.evaluation.best import solve
from bjsim.strategies.exact.solver import Solver
from bjsim.strategies.solution import Solution
from bjsim.strategies.tabular import html_table
from bjsim.sums import add_up


@dataclass(frozen=True)
class Evaluation:
    """A chart compared with the best chart of its game, in a freshly shuffled shoe of its decks.

    Attributes:
        chart: The chart that is evaluated.
        solution: The solution of the game.
        value: Value of the chart, in initial bets per settled bet.
        best: Value of the best chart, in initial bets per settled bet.
        cells: The wrong cells, the most expensive first; see `Solution.costs`.
        codes: The chart's code for every (row, column) of the game, with the most specific rows.
    """

    chart: Chart
    solution: Solution = field(compare=False)
    value: float
    best: float
    cells: tuple[WrongCell, ...]
    codes: Mapping[tuple[str, str], str]

    def __repr__(self) -> str:
        wrong = f"{len(self.cells)} wrong cell{'s' * (len(self.cells) != 1)}"
        name, values = self.chart.name, f"value {self.value:+.6f}, best {self.best:+.6f}"
        return f"Evaluation({name!r}, {self.chart.rules}, {values}, {wrong})"

    def _repr_html_(self) -> str:
        rows = [[f"{c.row} v {c.column}", c.chart, c.best, f"{c.cost:.4%}"] for c in self.cells]
        return html_table(["cell", "chart", "best", "cost"], rows, repr(self))

    @property
    def best_chart(self) -> Chart:
        """The best chart."""
        return self.solution.chart

    @property
    def refusal(self) -> str:
        """Why everything is for an infinite shoe although the game has a finite one, as a message; else empty."""
        return self.solution.refusal

    @property
    def difference(self) -> float:
        """The value of the best chart less that of the chart."""
        return 0.0 if self.best == self.value else self.best - self.value

    @property
    def costs(self) -> float:
        """The sum of the costs of all wrong cells."""
        return add_up(cell.cost for cell in self.cells)

    @property
    def remainder(self) -> float:
        """The part of the difference that the costs do not explain: rounding, and limits of charts.

        A chart has a single cell for pairs of aces that may be split and those that may not. Where split aces play on
        and double, the best play of the two differs. A row such as `16x2` covers doubled
        hands of any number of cards, whose best plays differ where the rules have a Charlie.
        """
        return self.difference - self.costs

    @property
    def second_order(self) -> float:
        """The interaction of wrong cells: the difference less the costs of the cells alone."""
        return self.difference - add_up(cell.alone for cell in self.cells)


def evaluate_chart(chart: Chart) -> Evaluation:
    """Compare a chart with the best one of its game, in a freshly shuffled shoe of its decks.

    A shoe that has no exact value is replaced by the infinite one; `Evaluation.refusal` then gives the reason.
    """
    solution = solve(chart.rules)
    try:
        value = float(solution.value_of(chart))
    except InputError as error:
        solution = Solver(chart.rules, refusal=str(error))
        value = float(solution.value_of(chart))
    cells = tuple(solution.costs(chart))
    return Evaluation(chart, solution, value, float(solution.value), cells, chart_codes(chart))
