"""Games compared: their values, how their best charts differ, and what their best charts return in their own shoes."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from bjsim.report.data import Described
from bjsim.report.parts import DataColumn, DataSeries, DataTable, Dots, Folded, Notes, Only, Report, Section, percent
from bjsim.sim.game.events import game_text
from bjsim.sim.game.states import States
from bjsim.strategies.charts.chart import format_ranges
from bjsim.strategies.evaluation.compare import Compared, solve
from bjsim.strategies.evaluation.valued_chart import ValuedChart, point_at_cells
from bjsim.strategies.results import BotResult

OPEN = 3  # games whose charts are all shown at first, but for that of the first
LISTED = 20  # changes listed for a game in the terminal; the JSON has all of them
Row = tuple[Compared, BotResult | None]


def _cells(row: Row) -> str:
    return "other columns" if row[0].changes is None else str(len(row[0].changes))


def _in_shoe(row: Row) -> dict[str, Any] | None:
    luck = row[1].adjusted if row[1] else None
    return luck and {"mean": luck.mean, "se": luck.se, "ci95": luck.ci95, "shoes": luck.shoes}


def _effect(result: BotResult | None) -> str | None:
    """A cut-card effect ± half its 95% interval; None if there is none."""
    effect = result.cut_card_effect if result else None
    return effect and f"{percent(effect.mean)} ± {percent((effect.ci95[1] - effect.ci95[0]) / 2, sign='')}"


VALUES = (
    DataColumn("name", "game", lambda row: row[0].rules.name, is_text=True),
    DataColumn("rules", "", lambda row: row[0].rules.to_dict()),
    DataColumn("value", "value", lambda row: row[0].value, partial(percent, digits=6)),
    DataColumn("difference", "difference", lambda row: row[0].difference, partial(percent, digits=6)),
    DataColumn("sd", "sd", lambda row: row[0].sd, "{:.5f}".format),
    DataColumn("", "cells changed", _cells),
    DataColumn("changes", "", lambda row: row[0].changes and [change._asdict() for change in row[0].changes]),
    DataColumn("only", "", lambda row: row[0].only),
    DataColumn("shoe", "", lambda row: "inf" if row[0].rules.infinite or row[0].refusal else int(row[0].rules.decks)),
    DataColumn("in_its_shoe", "", _in_shoe),
    DataColumn(
        "cut_card_effect", "", lambda row: row[1] and row[1].cut_card_effect and row[1].cut_card_effect._asdict()
    ),
)
PLAYED = (
    DataColumn("", "luck-adjusted", lambda row: row[1] and row[1].adjusted),
    DataColumn("", "cut-card effect", lambda row: _effect(row[1])),
)


@dataclass(frozen=True)
class Comparison(Described):
    """Games compared with the first of them.

    `played` has the result of each game's best chart in its own shoe, or None; they were dealt with `seed`.
    """

    games: Sequence[Compared]
    played: Sequence[BotResult | None]
    seed: int = 1

    def describe(self) -> Report:
        """The values of the games, and what changes in their best charts."""
        rules, rows = [one.rules for one in self.games], list(zip(self.games, self.played, strict=True))
        changes = [(one.rules.name, change_texts(one)) for one in self.games[1:] if one.changes]
        parts: list[Any] = [
            Only("page", lambda: [Section("Values")]),
            DataTable("games", [*VALUES, *(PLAYED if any(self.played) else ())], rows),
            Notes(self._refusals(), "warning"),
            Notes(self._remarks(), "dim"),
            *([Section("What changes in the best strategy")] if changes else []),
            Notes([f"{name}: {_listed(texts)}" for name, texts in changes]),
            Notes(
                [
                    f"{one.rules.name}: hands in only one of the two charts: {' '.join(one.only)}"
                    for one in self.games[1:]
                    if one.only
                ],
                "dim",
            ),
            Only("page", lambda: [self._dots(), *self._charts()]),
        ]
        return Report(f"{len(rules)} games compared", [game_text(each) for each in rules], parts, rules)

    def _refusals(self) -> list[str]:
        """Which figures are for an infinite shoe, and why."""
        return [
            f"{one.rules.name}: value, sd and cells are for an infinite shoe, since {one.refusal}"
            for one in self.games
            if one.refusal
        ]

    def _remarks(self) -> list[str]:
        """That values are of a fresh shoe, where a game does not have one in every round."""
        if all(one.rules.fresh for one in self.games):
            return []
        if any(self.played):
            return [
                f"values are exact, of a freshly shuffled shoe; luck-adjusted returns are dealt with seed {self.seed}"
            ]
        return ["values are exact, of a freshly shuffled shoe; add --until 0.01% for the effect of the cut cards"]

    def _dots(self) -> Dots:
        texts = []
        for number, (one, result) in enumerate(zip(self.games, self.played, strict=True)):
            effect = _effect(result)
            is_known = number and not math.isnan(one.difference)
            text = percent(one.value) + (f"  ({percent(one.difference)})" if is_known else "")
            texts.append(text + (f"\ncut-card effect {effect}" if effect else ""))
        name = "exact value" if all(one.rules.fresh for one in self.games) else "exact value of a fresh shoe"
        scale = partial(percent, digits=2)
        series = [DataSeries(name, [one.value for one in self.games], scale, texts=texts)]
        if any(self.played):
            adjusted = [result.adjusted if result else None for result in self.played]
            means = [one.mean if one else math.nan for one in adjusted]
            halves = [(one.ci95[1] - one.ci95[0]) / 2 if one else 0.0 for one in adjusted]
            returned = "luck-adjusted return in its shoe, 95% interval"
            series.append(DataSeries(returned, means, scale, halves, colour="adjusted"))
        details = [game_text(one.rules).partition(": ")[2] for one in self.games]
        return Dots([one.rules.name for one in self.games], series, "value of the best strategy, % of the bet", details)

    def _charts(self) -> list[Any]:
        first = self.games[0].rules.name
        about = (
            f"Framed: differs from {first}, whose code is before the arrow. Other small numbers are margins in percent "
            "of the bet."
        )
        folded = []
        for number, one in enumerate(self.games):
            changed = {(change.row, change.column): change.before for change in one.changes or ()} if number else {}
            chart = ValuedChart.of_best(solve(one.rules)).with_others(changed)
            cells = "" if not number else "; 1 cell changed" if len(changed) == 1 else f"; {len(changed)} cells changed"
            cells = "; other columns" if one.changes is None else cells
            part = chart.part(means=f"in {first}:", other_first=True)
            is_open = number > 0 and len(self.games) <= OPEN
            folded.append(Folded(f"{one.rules.name}: {percent(one.value, 6)}{cells}", is_open, [part]))
        return [Section("The best strategies"), Notes([about], "dim"), point_at_cells(), *folded]


def change_texts(one: Compared) -> list[str]:
    """The changes in words, with adjacent columns as ranges: `A7 v 2 S → Ds`, `22 v 2-7 H → P`."""
    columns: dict[tuple[str, str, str], list[str]] = {}
    for change in one.changes or ():
        columns.setdefault((change.row, change.before, change.after), []).append(change.column)
    order = States(one.rules).columns
    return [f"{row} v {format_ranges(order, v)} {before} → {after}" for (row, before, after), v in columns.items()]


def _listed(texts: Sequence[str]) -> str:
    return ", ".join(texts[:LISTED]) + (f", and {len(texts) - LISTED} more" if len(texts) > LISTED else "")
