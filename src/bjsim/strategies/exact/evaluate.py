"""What a chart is worth, what the best chart is worth, and what each wrong cell costs.

The cost of a cell is

    P(column) × Σ (expected visits under the chart) × (value of the best action − value of the chart's action)

over the hands that are looked up there, with best play afterwards in both values. These costs add up to the whole
difference exactly: follow the chart up to its n-th decision and play best from there on; with every further decision
left to the chart, the value falls by one such term (the performance difference lemma: Kakade and Langford, 2002,
lemma 6.1; it holds for the branching tree of split hands too, since their profits add). Where ties are replayed
profit is counted with a tied bet worth the value of the game, and costs are divided by the share of bets that the
chart settles, 1 − tied, which keeps the sum exact.

`alone` is what the cell costs when it is the only wrong one, in the best chart. Those do not add up: wrong cells lead
play to other wrong cells, or away from them. What is missing, the second-order terms, is `Judgement.second_order`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from bjsim.sim.game.states import HandState, States
from bjsim.strategies.charts.chart import Chart
from bjsim.strategies.charts.rows import row_order
from bjsim.strategies.exact.reach import Decision, Reach
from bjsim.strategies.exact.solver import ExpectedValue, Solver
from bjsim.strategies.exact.values import Column, Policy


@dataclass(frozen=True)
class WrongCell:
    """A cell that makes the chart play otherwise than the best chart does; costs in initial bets per round.

    row: the most particular row for the hand; `chart` is the code that the chart uses for it.
    cost: the cell's share of the whole difference. alone: what it costs as the only wrong cell of the best chart; nan
    where the best chart is worth infinitely much.
    """

    row: str
    column: str
    chart: str
    best: str
    cost: float
    alone: float


@dataclass(frozen=True)
class Evaluation:
    """A chart beside the best chart: values in initial bets per settled bet, and the wrong cells, dearest first.

    codes: what the chart does in every cell that the game has, the most particular rows included.
    infinite_because: why the best is infinite, in words; empty if it is not.
    """

    chart: Chart
    best_chart: Chart
    value: float
    best: float
    cells: tuple[WrongCell, ...]
    codes: Mapping[tuple[str, str], str]
    infinite_because: str

    @property
    def difference(self) -> float:
        """What the chart gives away in all."""
        return 0.0 if self.best == self.value else self.best - self.value

    @property
    def costs(self) -> float:
        """The sum of the costs."""
        return sum(cell.cost for cell in self.cells)

    @property
    def remainder(self) -> float:
        """The difference that the costs leave over: rounding, and what no chart can say.

        A chart has one cell for a pair of aces that may be split and one that may not; where split aces play on and
        double, the best play of the two differs.
        """
        return self.difference - self.costs

    @property
    def second_order(self) -> float:
        """The difference less the costs of the cells alone: what wrong cells do to one another."""
        return self.difference - sum(cell.alone for cell in self.cells)


def evaluate_chart(chart: Chart) -> Evaluation:
    """The chart against the best one of its game, in an infinite shoe."""
    return _Evaluator(chart).evaluation()


def cells_of(states: States) -> dict[str, list[Decision]]:
    """For every row, the decisions for which it is the most particular one, rows in order."""
    rows: dict[str, list[Decision]] = {}
    limited = states.rules.max_hands != math.inf
    for state in states.reachable():
        at_limit = [Decision(state, False)] if limited and "P" in states.legal(state) else []
        for decision in [Decision(state), *at_limit]:
            if legal := decision.legal(states):
                rows.setdefault(_row(states, state, legal), []).append(decision)
    return {row: rows[row] for row in sorted(rows, key=row_order)}


def _row(states: States, state: HandState, legal: str) -> str:
    return states.rows_of(state, "P" in legal)[0]


class _Evaluator:
    def __init__(self, chart: Chart) -> None:
        self.chart = chart
        self.solver = Solver(chart.rules)
        self.states = self.solver.states
        self.rows = cells_of(self.states)
        self._replay = chart.rules.ties == "replay"
        self.best_ev = self.solver.ev(self.solver.chart.letter)
        self.ev = self.solver.ev(chart.letter)

    def evaluation(self) -> Evaluation:
        codes = {(row, column): self._code(decisions[0], column)
                 for row, decisions in self.rows.items() for column in self.states.columns}  # fmt: skip
        cells = sorted(self._wrong_cells(codes), key=lambda cell: (-cell.cost, -cell.alone))
        value, best = float(self.ev.value), float(self.solver.infinite_shoe_value)
        return Evaluation(
            self.chart, self.solver.chart, value, best, tuple(cells), codes, self.solver.infinite_because
        )  # fmt: skip

    def _code(self, decision: Decision, column: str) -> str:
        return self.chart.code(self.states.rows_of(decision.state, "P" in decision.legal(self.states)), column)

    def _wrong_cells(self, codes: Mapping[tuple[str, str], str]) -> Iterator[WrongCell]:
        best = self.solver.chart.cells
        for label, column in self.solver.columns.items():
            costs = self._costs(column)
            before = self._column_ev(column, self.solver.chart.letter)
            for row, decisions in self.rows.items():
                if any(self._differ(decision, label) for decision in decisions):
                    cost, alone = costs.get(row, 0.0), self._alone(row, column, before)
                    yield WrongCell(row, label, codes[row, label], best[row, label], cost, alone)

    def _differ(self, decision: Decision, column: str) -> bool:
        legal = decision.legal(self.states)
        mine, best = (chart.letter(decision.state, column, legal) for chart in (self.chart, self.solver.chart))
        return mine != best

    def _costs(self, column: Column) -> dict[str, float]:
        """Cost of every row of a column."""
        means = self.solver.best[column.label]
        settled = float(1 - self.ev.tied) if self.ev.tied < 1 else math.nan  # no share of infinitely much
        costs: dict[str, float] = {}
        for decision, visits in Reach(self.states, column, self.chart.letter).visits().items():
            legal = decision.legal(self.states)
            best = means.value(decision.state, decision.may_split)
            taken = means.act(decision.state, self.chart.letter(decision.state, column.label, legal))
            if visits and best != taken:
                row = _row(self.states, decision.state, legal)
                cost = float(column.probability) * visits * float(best - taken) / settled
                costs[row] = costs.get(row, 0.0) + cost
        return costs

    def _column_ev(self, column: Column, letter: Policy) -> ExpectedValue:
        net = self.solver.column_total(column, 0.0, letter)
        return ExpectedValue(net, self.solver.column_total(column, 1.0, letter) - net if self._replay else 0.0)

    def _alone(self, row: str, column: Column, before: ExpectedValue) -> float:
        """What the best chart loses when the chart judged has its way in one cell."""

        def letter(state: HandState, label: str, legal: str) -> str:
            chart = self.chart if _row(self.states, state, legal) == row else self.solver.chart
            return chart.letter(state, label, legal)

        whole = self.best_ev
        if not math.isfinite(whole.value):
            return math.nan
        after = self._column_ev(column, letter)
        changed = ExpectedValue(whole.net + after.net - before.net, whole.tied + after.tied - before.tied)
        return float(whole.value - changed.value)
