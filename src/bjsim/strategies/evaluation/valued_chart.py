"""A chart whose cells have the value of every action, as pictures and pages show it."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from bjsim.report.parts import (
    Beside,
    Chances,
    ChartGrid,
    DataColumn,
    DataTable,
    Figures,
    Notes,
    Report,
    Section,
    Value,
    percent,
)
from bjsim.sim.game.actions import NAMES
from bjsim.sim.game.dealer import ACE, course
from bjsim.sim.game.hand_states import DEALER_22, DEALER_NATURAL
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.support import gives_up_to_natural
from bjsim.strategies.charts.chart import ACTIONS, HARD, PAIR, Chart, parse_row, row_order
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
        return ValuedChart.of_codes(solution, {key: cells[key] for key in values if key in cells}, {}, values)

    @staticmethod
    def of_chart(chart: Chart) -> ValuedChart:
        """A chart alone, without values."""
        cells, columns = {key: ValuedCell(code, {}) for key, code in chart.cells.items()}, chart.states.columns
        return ValuedChart(chart.rules, columns, _sections(chart.cells, columns, set()), cells, {})

    @staticmethod
    def of_codes(
        solution: Solution,
        codes: Mapping[tuple[str, str], str],
        wrong: Mapping[tuple[str, str], tuple[str, float]],
        values: Mapping[tuple[str, str], Mapping[str, float]] | None = None,
    ) -> ValuedChart:
        """A chart by its codes; for each `wrong` cell there are the code of the best chart, and what it costs.

        `values` are `solution.cell_values()`, if they are known.
        """
        values = solution.cell_values() if values is None else values
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

    def part(self, **how: Any) -> ChartGrid:
        """The chart as a part of a report; `how` is as for that part."""
        codes = {code for cell in self.cells.values() for code in (cell.code, cell.other) if code}
        across = "dealer's card" if self.rules.dealer_shows == "up" else "dealer's cards"
        return ChartGrid(self.columns, self.sections, self.cells, usual_legend(codes), self.row_notes(), across, **how)

    def row_notes(self) -> list[str]:
        """A note on the rows for counted cards and for bets of the house, if any are shown."""
        rows = [row for rows in self.sections.values() for row in rows]
        notes = []
        if free := next((row for row in rows if row.endswith("/free")), ""):
            notes.append(f"{free} is {free.removesuffix('/free')} with a bet of the house")
        if slash := next((row for row in rows if "/" in row and not row.endswith("/free")), ""):
            total, _, cards = slash.partition("/")
            notes.append(f"{slash} is {total} in {cards} cards")
        if colon := next((row for row in rows if ":" in row), ""):
            total, _, cards = colon.partition(":")
            notes.append(f"{colon} is {total} of {' and '.join(cards[:2])}")
        return [f"{'; '.join(notes)}. Other rows are for all other hands of their total."] if notes else []

    def details(self, count: int = 12) -> Beside:
        """The closest decisions next to the dealer's final scores, of which a bust is the last."""
        closest = [Section("The closest decisions"), DataTable("closest", CLOSEST, self.closest(count))]
        scores = sorted({score for column in self.dealer.values() for score in column}, key=lambda score: score or 99)
        rows = {
            OUTCOMES.get(score, str(score)): [float(chances.get(score, 0)) for chances in self.dealer.values()]
            for score in scores
        }
        title = f"The dealer's final score, in percent{given(self.rules, scores)}"
        return Beside([closest, [Section(title), Chances(list(self.dealer), rows)]])


OUTCOMES = {0: "bust", DEALER_NATURAL: "natural", DEALER_22: "22, push"}
GIVEN = "given no dealer's natural"


def given(rules: Rules, outcomes: Collection[int]) -> str:
    """What is said of the dealer's outcomes if those of a natural that has ended the round are not among them."""
    left_out = rules.dealer_shows == "up" and rules.naturals == "both" and DEALER_NATURAL not in outcomes
    return f", {GIVEN}" * left_out


def _choice(one: tuple[str, str, ValuedCell], place: int) -> str:
    letter, ev = sorted(one[2].ev.items(), key=lambda item: -item[1])[place]
    return f"{NAMES[letter]} {ev:+.6f}"


CLOSEST = (
    DataColumn("", "hand v dealer", lambda one: f"{one[0]} v {one[1]}", is_text=True),
    DataColumn("", "best", lambda one: _choice(one, 0)),
    DataColumn("", "second", lambda one: _choice(one, 1)),
    DataColumn("", "margin", lambda one: percent(one[2].margin, sign="")),
)


MARGIN = "The small number is the margin in % of the bet: how much better the best action is than the second best."


def describe_best(
    solution: Solution, game: str, value: Number | None = None, followed: str = "", is_card: bool = False
) -> Report:
    """The best strategy of a game in a line, and its value; that of best play `followed` by more than a chart too.

    A `card` is the chart alone.
    """
    rules, chart = solution.rules, ValuedChart.of_best(solution)
    of_bet = partial(percent, digits=6, unit="% of the bet")
    figures = [Value("", "value of the chart", float(solution.value), of_bet)]
    if value is not None:
        figures.append(Value("", f"value of {followed}", float(value), of_bet))
    parts = [
        Figures(figures),
        Section("The best strategy"),
        Notes([] if is_card else [MARGIN], "dim"),
        point_at_cells(solution),
        chart.part(numbers="none" if is_card else "margins"),
    ]
    return Report(best_title(rules), game_lines(solution, game), parts, [rules])


def best_title(rules: Rules) -> str:
    return f"The best strategy in {rules.name}"


def game_lines(solution: Solution, game: str) -> list[str]:
    """The game, and where its values are not what one expects, why."""
    instead = f"All values are for an infinite shoe, since {solution.refusal}." if solution.refusal else ""
    return [game, *filter(None, [instead, solution.infinite_because])]


def usual_legend(codes: set[str]) -> dict[str, str]:
    """The meaning of codes, by letter of the action."""
    texts = {letter: f"{letter} {NAMES[letter]}" for letter in "SHDPR"}
    texts |= {"D": "double, else hit (Dh) or stand (Ds)", "R": "surrender, else hit (Rh) or stand (Rs)"}
    if "Rp" in codes:
        texts["R"] = "surrender, else hit (Rh), stand (Rs) or split (Rp)"
    if codes & {"Ph", "Pd", "Ps"}:
        texts["P"] = "P split; if a split hand may not double, hit (Ph), double (Pd) or stand (Ps)"
    letters = {code[0] for code in codes}
    return {letter: text for letter, text in texts.items() if letter in letters}


def point_at_cells(solution: Solution | None = None) -> Notes:
    """How a reader of a page sees the values of cells, and what they are of, if all are of one solution."""
    text = "Point at a cell, or move there with the arrow keys, for the value of every action in initial bets"
    if solution is not None:
        text += f", followed by {'best play' if solution.infinite else 'the best chart'}"
        against = course(solution.rules, ACE)
        if against.looks or (against.takes == "original" and not solution.infinite):
            text += ", given that the dealer has no natural"
            if gives_up_to_natural(solution.rules):
                text += "; what a surrender saves from one is added to its value"
    return Notes([f"{text}."], "screen")


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
