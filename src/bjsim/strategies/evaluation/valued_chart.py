"""A chart whose cells have the value of every action, as pictures and pages show it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from bjsim.sim.game.rules import Rules
from bjsim.strategies.charts.chart import ACTIONS, HARD, PAIR, parse_row, row_order
from bjsim.strategies.evaluation.compare import Evaluation
from bjsim.strategies.exact.values import Number
from bjsim.strategies.solution import Solution


@dataclass(frozen=True)
class ValuedCell:
    """A cell of a chart.

    `ev` is the value of each legal action followed by best play, in initial bets, by letter. `other` is the code
    of the chart compared with, where that differs, else empty; `cost` is what that costs, NaN if not known.
    """

    code: str
    ev: Mapping[str, float]
    other: str = ""
    cost: float = math.nan

    @property
    def margin(self) -> float:
        """The value of the best action less that of the second; NaN if there are not two, or if both are infinite."""
        best = sorted(self.ev.values(), reverse=True)
        return best[0] - best[1] if len(best) > 1 and math.isfinite(best[1]) else math.nan


@dataclass(frozen=True)
class ValuedChart:
    """A chart with the value of every action, in `cells` by row and column.

    `columns` are what the dealer may show; `sections` are hard totals, soft hands and pairs, with their rows in
    order. `dealer` has the probabilities of the dealer's final score by what it shows: 0 for a bust, 22 for a
    special natural, 23 for a 22 that pushes.
    """

    rules: Rules
    columns: tuple[str, ...]
    sections: Mapping[str, tuple[str, ...]]
    cells: Mapping[tuple[str, str], ValuedCell]
    dealer: Mapping[str, Mapping[int, Number]]

    @staticmethod
    def of_best(solution: Solution) -> ValuedChart:
        values, cells = solution.cell_values(), solution.chart.cells
        return _make(solution, values, {key: cells[key] for key in values if key in cells}, {})

    @staticmethod
    def of_evaluated(evaluation: Evaluation) -> ValuedChart:
        wrong = {(cell.row, cell.column): (cell.best, cell.cost) for cell in evaluation.cells}
        return _make(evaluation.solution, evaluation.solution.cell_values(), evaluation.codes, wrong)

    def with_others(self, others: Mapping[tuple[str, str], str]) -> ValuedChart:
        """The chart compared with another one, whose code is given for each cell that differs."""
        rows = {row for row, _ in others}
        cells = {key: replace(cell, other=others.get(key, "")) for key, cell in self.cells.items()}
        codes = {key: cell.code for key, cell in cells.items()}
        return replace(self, cells=cells, sections=_sections(codes, self.columns, rows))

    def closest(self, count: int) -> list[tuple[str, str, ValuedCell]]:
        """The decisions with the smallest margins: row, column and cell."""
        shown = [(row, column) for rows in self.sections.values() for row in rows for column in self.columns]
        known = [key for key in shown if key in self.cells and not math.isnan(self.cells[key].margin)]
        return [(*key, self.cells[key]) for key in sorted(known, key=lambda key: self.cells[key].margin)[:count]]


def _make(
    solution: Solution,
    values: Mapping[tuple[str, str], Mapping[str, float]],
    codes: Mapping[tuple[str, str], str],
    wrong: Mapping[tuple[str, str], tuple[str, float]],
) -> ValuedChart:
    known = {column for _, column in values}
    columns = tuple(column for column in solution.chart.states.columns if column in known)
    cells = {
        key: ValuedCell(code, values.get(key, {}), *wrong.get(key, ()))
        for key, code in codes.items()
        if key[1] in known
    }
    sections = _sections(codes, columns, {row for row, _ in wrong})
    dealer = {shown: solution.dealer(shown) for shown in solution.shown}
    return ValuedChart(solution.rules, columns, sections, cells, dealer)


def _sections(
    codes: Mapping[tuple[str, str], str], columns: Iterable[str], kept: set[str]
) -> dict[str, tuple[str, ...]]:
    """The rows to show by kind: those in `kept`, and all that do more than repeat a row for hands of any cards."""
    columns = list(columns)
    rows = sorted({row for row, _ in codes}, key=row_order)
    shown = [row for row in rows if row in kept or _adds(codes, columns, row)]
    pairs = any(parse_row(row).kind == PAIR for row in shown if row != "AA")
    sections: dict[str, list[str]] = {"hard": [], "soft": [], "pairs": []}
    for row in shown:
        kind = parse_row(row).kind
        sections["hard" if kind == HARD else "pairs" if kind == PAIR and (pairs or row != "AA") else "soft"].append(row)
    return {kind: tuple(rows) for kind, rows in sections.items() if rows}


def _adds(codes: Mapping[tuple[str, str], str], columns: Iterable[str], row: str) -> bool:
    """Whether a row is for hands of any cards, or differs from that row; a total that always stands is left out."""
    parsed = parse_row(row)
    if parsed.points == 21 or parsed.stake > 1:
        return any(codes.get((row, column), "S") != "S" for column in columns)
    if not parsed.counted:
        return True
    for column in columns:
        code, usual = codes.get((row, column)), codes.get((parsed.total, column))
        if code and (usual is None or code not in (usual, ACTIONS[usual][-1])):
            return True
    return False
