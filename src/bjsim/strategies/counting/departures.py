"""Index plays: departures from a chart by the count, in a text format to be typed.

    16vT S>=0        stand 16 against a ten at a count of 0 or more, otherwise hit
    13v2 H<-1        hit 13 against a 2 below -1, otherwise play as the chart says
    TTv5 P>=5; 14vT R>=3; 9v2 D>=1     split, surrender, double
    insurance I>=3   # a comment

An index play says when an action is taken. Otherwise that action is not taken: where the chart has it, S and H change
places, a double or surrender becomes what the chart's code has instead (`Dh`: H), and a pair is played as its total.
Where the action is not legal, such as a double on three cards, the rest of the cell decides. S and H leave a surrender
in place, since `16vT S>=0` is meant for hands that may not surrender; to stop surrendering, write R with a count.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import ceil, floor

from bjsim.errors import InputError, suggest
from bjsim.files import read_text
from bjsim.strategies.charts.chart import PAIR, SOFT, Chart, parse_row
from bjsim.strategies.formats.plays import INSURANCE, Departure, parse_plays

FILES = (".txt", ".md", ".csv", ".tsv", ".html")  # names of files of index plays end so
SUMS = {"T": "10", "A": "11"}
LONGEST = 1 << 20  # characters of a set of index plays
Cell = tuple[str, str]  # row and column of a chart


@dataclass(frozen=True)
class Departures:
    """A chart with index plays: another chart for every count.

    It is refused if the chart lacks a hand or card, an action is given twice, or a cell cannot combine actions.
    """

    base: Chart
    plays: tuple[Departure, ...] = ()

    def __post_init__(self) -> None:
        plays = tuple(self.plays)
        if self.base.rules.dealer_shows == "both":  # their sum, not a card, is 10 or 11
            plays = tuple(replace(play, column=SUMS.get(play.column, play.column)) for play in plays)
        object.__setattr__(self, "plays", plays)
        seen = set()
        rows = {row for row, _ in self.base.cells}
        for play in self.plays:
            key = play.row, play.column, play.action
            if key in seen:
                raise InputError(f"{play}: there are two conditions for this action; keep one")
            seen.add(key)
            if play.row == INSURANCE:
                continue
            if play.row not in rows:
                raise InputError(f"{play}: unknown hand {play.row}; this game has {' '.join(self.base.table)}")
            if (play.row, play.column) not in self.base.cells:
                columns = " ".join(self.base.states.columns)
                raise InputError(f"{play}: unknown dealer's card {play.column}; this game has {columns}")
            if play.action == "P" and parse_row(play.row).kind != PAIR:
                raise InputError(f"{play}: only pairs split, such as 88 or TT")
        for count in range(self.span[0], self.span[1] + 1):
            self.chart_at(count)

    @classmethod
    def parse(cls, text: str, base: Chart) -> Departures:
        """Make a chart with index plays: text or a file of them, or names of sets; see `find_departures`."""
        return cls(base, find_departures(text))

    @cached_property
    def span(self) -> tuple[int, int]:
        """The lowest and highest counts of interest: beyond them the chart stays as it is there."""
        counts = [play.count for play in self.plays]
        return (floor(min(counts)) - 1, ceil(max(counts)) + 1) if counts else (0, 0)

    def chart_at(self, count: Fraction | int) -> Chart:
        count = min(max(count, self.span[0]), self.span[1])  # where play is the same
        key = frozenset(play for play in self.plays if play.holds(count))
        if key not in self._charts:
            cells = dict(self.base.cells)
            for cell, plays in sorted(self._by_cell.items(), key=lambda one: parse_row(one[0][0]).kind == PAIR):
                cells[cell] = _depart(self.base, cell, plays, count, cells)
            self._charts[key] = self.base if cells == self.base.cells else replace(self.base, cells=cells)
        return self._charts[key]

    def insured_at(self, count: Fraction | int) -> bool:
        """Whether insurance is taken where it is offered: by its index play; without one, as the chart says."""
        plays = [play for play in self.plays if play.row == INSURANCE]
        taken = any(play.holds(count) for play in plays) if plays else self.base.insurance == "I"
        return taken and self.base.rules.insurance

    @cached_property
    def _charts(self) -> dict[frozenset[Departure], Chart]:
        return {}

    @cached_property
    def _by_cell(self) -> dict[tuple[str, str], list[Departure]]:
        cells: dict[tuple[str, str], list[Departure]] = {}
        for play in self.plays:
            if play.row != INSURANCE:
                cells.setdefault((play.row, play.column), []).append(play)
        return cells


def _depart(base: Chart, cell: Cell, plays: Iterable[Departure], count: Fraction | int, now: Mapping[Cell, str]) -> str:
    """The code of a cell; a pair that is not split is played as its total is `now`."""
    code = base.cells[cell]
    surrenders, code = code[0] == "R", _without_surrender(code)
    decisions = {play.action: play.holds(count) for play in plays}
    for action, other in ("SH", "HS"):
        if decisions.get(action):
            code = action
        elif action in decisions and code == action:
            code = other
    if "D" in decisions:
        bottom = {"Ds": "S", "Dh": "H"}.get(code, code)
        if decisions["D"] and bottom not in ("S", "H"):
            raise InputError(f"{cell[0]}v{cell[1]}: a cell cannot both split and double; keep one of them")
        code = f"D{bottom.lower()}" if decisions["D"] else bottom
    if "P" in decisions:
        if decisions["P"]:
            code = "P"
        elif code[0] == "P":
            row = parse_row(cell[0])
            code = (
                "H"
                if row.kind == SOFT or row.soft
                else now.get((row.total, cell[1])) or base.code((row.total,), cell[1])
            )
            surrenders, code = surrenders or code[0] == "R", _without_surrender(code)
    if not decisions.get("R", surrenders):
        return code
    if code[0] == "D":
        raise InputError(f"{cell[0]}v{cell[1]}: a cell cannot both double and surrender; keep one of them")
    return "Rp" if code[0] == "P" else "R" + code[-1].lower()


def _without_surrender(code: str) -> str:
    return {"Rh": "H", "Rs": "S", "Rp": "P"}.get(code, code)


# --- text


def parse_departures(text: str) -> tuple[Departure, ...]:
    """Parse index plays, on lines, in tables, or separated by commas or semicolons; `#` starts a comment.

    What was guessed or skipped is logged.
    """
    if len(text) > LONGEST:
        raise InputError(f"index plays: the text is longer than {LONGEST} characters")
    plays, notes = parse_plays(text)
    for note in notes:
        logging.getLogger(__name__).warning("index plays: %s", note)
    return plays


def format_departures(plays: Iterable[Departure]) -> str:
    """The index plays, one per line; `parse_departures` reads it."""
    return "".join(f"{play}\n" for play in plays)


# --- named sets

NAMED_SETS = {
    "none": "",
    "i18": (
        "insurance I>=3, 16vT S>=0, 15vT S>=4, TTv5 P>=5, TTv6 P>=4, 10vT D>=4, 12v3 S>=2, 12v2 S>=3, 11vA D>=1, "
        "9v2 D>=1, 10vA D>=4, 9v7 D>=3, 16v9 S>=5, 13v2 S>=-1, 12v4 S>=0, 12v5 S>=-2, 12v6 S>=-1, 13v3 S>=-2"
    ),
    "fab4": "14vT R>=3, 15vT R>=0, 15v9 R>=2, 15vA R>=1",
}
"""Schlesinger's Illustrious 18 and Fab 4: Hi-Lo true counts for four to eight decks, dealer stands on soft 17."""


def find_departures(text: str | os.PathLike[str]) -> tuple[Departure, ...]:
    """Find index plays by names of sets joined by `+`, such as `i18+fab4`, in a file or in the text."""
    words = os.fspath(text).strip()
    if names_file(words):
        try:
            return parse_departures(read_text(text, LONGEST))
        except OSError as error:
            raise InputError(f"cannot read the index plays {words}: {error.strerror}") from None
    names = [name.strip() for name in words.lower().split("+")]
    if names_sets(words):
        return parse_departures("\n".join(NAMED_SETS[name] for name in dict.fromkeys(names)))
    if not re.search(r"[<>≤≥\s]|\dv", words) and words:
        hint = suggest(names[0], NAMED_SETS, f"sets are {', '.join(NAMED_SETS)}, joined by +.")
        raise InputError(f"no set of index plays is called {words[:40]!r}; {hint} A file ends in {', '.join(FILES)}")
    return parse_departures(words)


def names_file(text: str | os.PathLike[str]) -> bool:
    return os.fspath(text).strip().lower().endswith(FILES)


def names_sets(text: str | os.PathLike[str]) -> bool:
    """Whether a text names sets of index plays, whose counts are those of Hi-Lo."""
    return all(name.strip() in NAMED_SETS for name in os.fspath(text).lower().split("+"))


# --- Index plays cell by cell: which ones a game allows, and what they make of the cells of a chart.


def playable(departures: Departures) -> int:
    """Count the index plays that a game allows at all; the Fab 4 need surrender, and insurance must be offered."""
    states, rules = departures.base.states, departures.base.rules
    legal = {(INSURANCE, "I")} if rules.insurance else set()
    legal |= {
        (row, action) for state in states.reachable() for row in states.rows_of(state) for action in states.legal(state)
    }
    return sum((play.row, play.action) in legal for play in departures.plays)


def departed_cells(chart: Chart, plays: Sequence[Departure]) -> dict[tuple[str, str], list[tuple[str, str]]]:
    """Return what index plays, insurance among them or not, make of the cells of a chart.

    Each cell that changes, by row and column, has the other codes in the order of the plays, each with the
    counts at which it is played, such as `>= 4` or `< 0`.
    """
    found: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for play in plays:
        cell = play.row, play.column
        if play.row == INSURANCE:
            continue
        total = parse_row(play.row).total  # as which a pair is played that is not split
        others = (each for each in plays if (each.row, each.column) == (total, play.column) and each.row != play.row)
        alone = Departures(chart, (play, *others))
        from_here = ((play.count, ">="), (play.count - 1, "<")), ((play.count + 1, ">"), (play.count, "<="))
        for count, sign in from_here[play.operator in (">", "<=")]:
            code = alone.chart_at(count).cells[cell]
            if code != chart.cells[cell]:
                found.setdefault(cell, []).append((code, f"{sign} {play.count}"))
    return found
