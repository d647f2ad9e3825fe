"""The value of a chart next to that of the best chart, and the cost of each wrong cell.

The cost of a cell is

    P(column) × Σ (expected visits under the chart) × (value of the best action − value of the chart's action)

summed over the hands that are looked up in the cell, with best play afterwards in both values. The costs add up to the
whole difference exactly: follow the chart up to its n-th decision and the best play from there on; each further
decision left to the chart lowers the value by one such term (the performance difference lemma, [Kakade]; it also holds
for the branching tree of split hands, since their profits add). Where ties are replayed, a tied bet counts with the
value of the game, and costs are divided by the share of bets that the chart settles, 1 − tied, which keeps the sum
exact.

`alone` is the cost of a cell if it is the only wrong one in the best chart. These do not add up, because wrong cells
lead play to other wrong cells, or away from them. The rest, the second-order terms, is `Evaluation.second_order`.

This is the evaluation in an infinite shoe. In a finite one the hands of a cell differ by their cards, and
`bjsim.strategies.shoe.costs` computes the same with the best chart in place of the best play.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from bjsim.errors import InputError
from bjsim.sim.game.automaton import Decision
from bjsim.sim.game.hand_states import HandState
from bjsim.sim.game.states import States
from bjsim.strategies.charts.chart import INSURANCE_ROW, Chart
from bjsim.strategies.charts.rows import row_order
from bjsim.strategies.evaluation.best import best_chart, refusal, shoe_solver
from bjsim.strategies.exact.reach import count_decisions
from bjsim.strategies.exact.solver import Solver
from bjsim.strategies.exact.values import Column, ExpectedValue, Policy
from bjsim.strategies.shoe.costs import WrongCell, cell_costs, settled_share
from bjsim.strategies.shoe.solver import ShoeSolver
from bjsim.strategies.tabular import html_table


@dataclass(frozen=True)
class Evaluation:
    """A chart compared with the best chart of its game, in a freshly shuffled shoe of its decks.

    Attributes:
        chart: The chart that is evaluated.
        best_chart: The best chart.
        value: Value of the chart, in initial bets per settled bet.
        best: Value of the best chart, in initial bets per settled bet.
        cells: The wrong cells, the most expensive first, with costs in initial bets per settled bet.
        codes: The chart's code for every (row, column) of the game, with the most specific rows.
        infinite_because: Why the value of the best chart is infinite, as a message; empty if it is finite.
        refusal: Why everything is for an infinite shoe although the game has a finite one, as a message; else empty.
    """

    chart: Chart
    best_chart: Chart
    value: float
    best: float
    cells: tuple[WrongCell, ...]
    codes: Mapping[tuple[str, str], str]
    infinite_because: str = ""
    refusal: str = ""

    def __repr__(self) -> str:
        wrong = f"{len(self.cells)} wrong cell{'s' * (len(self.cells) != 1)}"
        name, values = self.chart.name, f"value {self.value:+.6f}, best {self.best:+.6f}"
        return f"Evaluation({name!r}, {self.chart.rules}, {values}, {wrong})"

    def _repr_html_(self) -> str:
        rows = [[f"{c.row} v {c.column}", c.chart, c.best, f"{c.cost:.4%}"] for c in self.cells]
        return html_table(["cell", "chart", "best", "cost"], rows, repr(self))

    @property
    def in_infinite_shoe(self) -> bool:
        """Whether everything is for an infinite shoe."""
        return self.chart.rules.infinite or bool(self.refusal)

    @property
    def difference(self) -> float:
        """The value of the best chart less that of the chart."""
        return 0.0 if self.best == self.value else self.best - self.value

    @property
    def costs(self) -> float:
        """The sum of the costs of all wrong cells."""
        return sum(cell.cost for cell in self.cells)

    @property
    def remainder(self) -> float:
        """The part of the difference that the costs do not explain: rounding, and limits of charts.

        A chart has a single cell for pairs of aces that may be split and those that may not. Where split aces play on
        and double, the best play of the two differs.
        """
        return self.difference - self.costs

    @property
    def second_order(self) -> float:
        """The interaction of wrong cells: the difference less the costs of the cells alone."""
        return self.difference - sum(cell.alone for cell in self.cells)


def evaluate_chart(chart: Chart) -> Evaluation:
    """Compare a chart with the best one of its game, in a freshly shuffled shoe of its decks.

    A shoe that has no exact value is replaced by the infinite one; `Evaluation.refusal` then gives the reason.
    """
    solver = shoe_solver(chart.rules)
    if solver is None:
        return _Evaluator(chart).evaluation(refusal(chart.rules))
    try:
        value = solver.value_of(chart)
    except InputError as error:
        return _Evaluator(chart).evaluation(str(error))
    return _evaluate_in_shoe(solver, chart, value)


def _insurance(chart: Chart, best: Chart, value_of: Callable[[Chart], float]) -> list[WrongCell]:
    """The row for insurance as a wrong cell, if the chart takes it differently; its profit adds to all else."""
    if chart.insurance == best.insurance or not chart.rules.insurance:
        return []
    cost = value_of(replace(chart, insurance=best.insurance)) - value_of(chart)
    return [WrongCell(INSURANCE_ROW, "A", chart.insurance, best.insurance, cost, cost)]


def _evaluate_in_shoe(solver: ShoeSolver, chart: Chart, value: float) -> Evaluation:
    states = States(chart.rules)
    codes = {
        (row, column): chart.code(states.rows_of(decisions[0].state, "P" in decisions[0].legal(states)), column)
        for row, decisions in make_cells(states).items() for column in states.columns
    }  # fmt: skip
    cells = cell_costs(solver, chart)
    wrong = _insurance(chart, solver.chart, solver.value_of)
    if chart.rules.ties == "replay":
        cells = _per_settled_bet(solver, chart, cells)
    best = solver.value if cells or wrong else value
    return Evaluation(chart, best_chart(chart.rules), value, best, (*wrong, *cells), codes)


def _per_settled_bet(solver: ShoeSolver, chart: Chart, cells: list[WrongCell]) -> list[WrongCell]:
    """Convert costs per round: bets that tie are replayed, and each cell changes how many do."""
    settled, best = settled_share(solver, chart), solver.value
    converted = []
    for cell in cells:
        one = Chart("one wrong cell", solver.rules, {**solver.chart.cells, (cell.row, cell.column): cell.chart})
        converted.append(replace(cell, cost=cell.cost / settled, alone=best - solver.value_of(one)))
    return converted


def make_cells(states: States) -> dict[str, list[Decision]]:
    """For every row, in order, the decisions for which it is the most specific row."""
    rows: dict[str, list[Decision]] = {}
    for state in states.reachable():
        limited = states.rules.hand_limit(aces=state.rank == 0) != math.inf
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
        self.rows = make_cells(self.states)
        self._replay = chart.rules.ties == "replay"
        self.best_ev = self.solver.ev(self.solver.chart.policy)
        self.ev = self.solver.ev(chart.policy)

    def evaluation(self, refusal: str) -> Evaluation:
        codes = {(row, column): self._code(decisions[0], column)
                 for row, decisions in self.rows.items() for column in self.states.columns}  # fmt: skip
        cells = sorted(self._wrong_cells(codes), key=lambda cell: (-cell.cost, -cell.alone))
        cells += _insurance(self.chart, self.solver.chart, lambda chart: float(self.solver.ev(chart.policy).value))
        value, best = float(self.ev.value), float(self.solver.infinite_shoe_value)
        return Evaluation(
            self.chart, self.solver.chart, value, best, tuple(cells), codes, self.solver.infinite_because, refusal
        )  # fmt: skip

    def _code(self, decision: Decision, column: str) -> str:
        return self.chart.code(self.states.rows_of(decision.state, "P" in decision.legal(self.states)), column)

    def _wrong_cells(self, codes: Mapping[tuple[str, str], str]) -> Iterator[WrongCell]:
        best = self.solver.chart.cells
        for label, column in self.solver.columns.items():
            costs = self._costs(column)
            before = self._column_ev(column, self.solver.chart.policy)
            for row, decisions in self.rows.items():
                if any(self._differ(decision, label) for decision in decisions):
                    cost, alone = costs.get(row, 0.0), self._alone(row, column, before)
                    yield WrongCell(row, label, codes[row, label], best[row, label], cost, alone)

    def _differ(self, decision: Decision, column: str) -> bool:
        legal = decision.legal(self.states)
        action, best = (chart.policy(decision.state, column, legal) for chart in (self.chart, self.solver.chart))
        return action != best

    def _costs(self, column: Column) -> dict[str, float]:
        """The cost of every row of a column, in initial bets per settled bet; rows without a cost are left out."""
        means = self.solver.best[column.label]
        settled = float(1 - self.ev.tied) if self.ev.tied < 1 else math.nan  # an infinite value has no shares
        costs: dict[str, float] = {}
        for decision, visits in count_decisions(self.states, column, self.chart.policy).items():
            legal = decision.legal(self.states)
            best = means.value(decision.state, decision.may_split)
            taken = means.act(decision.state, self.chart.policy(decision.state, column.label, legal))
            if visits and best != taken:
                row = _row(self.states, decision.state, legal)
                cost = float(column.probability) * visits * float(best - taken) / settled
                costs[row] = costs.get(row, 0.0) + cost
        return costs

    def _column_ev(self, column: Column, policy: Policy) -> ExpectedValue:
        net = self.solver.column_total(column, 0.0, policy)
        return ExpectedValue(net, self.solver.column_total(column, 1.0, policy) - net if self._replay else 0.0)

    def _alone(self, row: str, column: Column, before: ExpectedValue) -> float:
        """The loss of the best chart if it plays one cell as the evaluated chart does."""

        def policy(state: HandState, label: str, legal: str) -> str:
            chart = self.chart if _row(self.states, state, legal) == row else self.solver.chart
            return chart.policy(state, label, legal)

        whole = self.best_ev
        if not math.isfinite(whole.value):
            return math.nan
        after = self._column_ev(column, policy)
        changed = ExpectedValue(whole.net + after.net - before.net, whole.tied + after.tied - before.tied)
        return float(whole.value - changed.value)
