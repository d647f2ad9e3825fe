"""A chart as it is written: words with their places in a file; and what makes a chart of them, or a clear complaint.

The three formats (text, CSV, policy) differ in how they are cut into words and in nothing else, so all that can be
wrong with a chart is found here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from bjsim.errors import InputError
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.states import States
from bjsim.strategies.charts.chart import CODES, Chart, chart_rows
from bjsim.strategies.charts.rows import parse_row

SAME_COLUMN = {"10": "T", "1": "A", "11": "A", "ACE": "A"}
SAME_ROW = {"1010": "TT"}
SAME_CODE = {"D": "Dh", "R": "Rh"}


class ChartError(InputError):
    """A chart that cannot be read. The message gives file, line, column, and what would be accepted."""


class Token(NamedTuple):
    """A word of a file and where it begins; lines and columns count from 1. An empty cell is an empty word."""

    line: int
    place: int
    text: str

    def __str__(self) -> str:
        return self.text if len(self.text) <= 20 else f"{self.text[:20]}…"


@dataclass(frozen=True)
class ParsedTable:
    """The words of a chart file.

    header: the dealer's cards. rows: a hand and its cells each. end: the number of lines in the file.
    """

    name: str
    header: Sequence[Token]
    rows: Sequence[Sequence[Token]]
    end: int

    def error(self, word: Token, message: str) -> ChartError:
        """What to raise about `word`."""
        return ChartError(f"{self.name}, line {word.line}, column {word.place}: {message}")


def required_rows(states: States) -> tuple[str, ...]:
    """The rows that every chart of this game must have."""
    rows = [row for row in chart_rows(states) if not parse_row(row).counted]
    dealt = {row for state in states.starts for row in states.rows_of(state)[:1]}
    played = {states.rows_of(state, may_split=False)[-1] for state in states.reachable() if states.legal(state)}
    return tuple(row for row in rows if row in dealt | played and row not in ("21", "A10"))


def splittable_rows(states: States) -> set[str]:
    """The rows of pairs that may be split."""
    return {states.rows_of(state)[0] for state in states.reachable() if "P" in states.legal(state)}


def chart_from(grid: ParsedTable, rules: Rules) -> Chart:
    """The chart that the words make, for a game with these rules. Raises: ChartError for the first that is wrong."""
    states = States(rules)
    columns = _columns(grid, states)
    known, splittable = chart_rows(states), splittable_rows(states)
    cells: dict[tuple[str, str], str] = {}
    for hand, *words in grid.rows:
        row = SAME_ROW.get(hand.text.upper(), hand.text.upper())
        if row not in known:
            raise grid.error(hand, f"{hand} is no hand of this game; hands are {' '.join(known)}")
        if (row, columns[0]) in cells:
            raise grid.error(hand, f"the hand {hand} stands twice")
        for column, word in zip(columns, words, strict=False):
            if not word.text:
                raise grid.error(word, f"hand {hand}: the cell against {column} is missing")
            cells[row, column] = _code(grid, word, row in splittable)
        if len(words) < len(columns):
            last = (words or [hand])[-1]
            after = Token(last.line, last.place + len(last.text), "")
            raise grid.error(after, f"hand {hand}: the cell against {columns[len(words)]} is missing")
        if len(words) > len(columns):
            raise grid.error(words[len(columns)], f"hand {hand} has more than {len(columns)} cells")
    if missing := [row for row in required_rows(states) if (row, columns[0]) not in cells]:
        raise grid.error(Token(grid.end + 1, 1, ""), f"hands missing: {' '.join(missing)}")
    return Chart(grid.name, rules, cells, source=grid.name)


def _columns(grid: ParsedTable, states: States) -> list[str]:
    if not grid.header:
        raise grid.error(Token(1, 1, ""), "the chart is empty; its first line names the dealer's cards")
    columns: list[str] = []
    for word in grid.header:
        label = word.text.upper()
        if states.rules.dealer_shows == "up":
            label = SAME_COLUMN.get(label, label)
        if label not in states.columns:
            said = str(word) or "nothing"
            raise grid.error(word, f"{said} is no dealer's card here; they are {' '.join(states.columns)}")
        if label in columns:
            raise grid.error(word, f"the dealer's card {word} stands twice")
        columns.append(label)
    if missing := [column for column in states.columns if column not in columns]:
        after = Token(grid.header[-1].line, grid.header[-1].place + len(grid.header[-1].text), "")
        raise grid.error(after, f"the dealer's cards {' '.join(missing)} are missing")
    return columns


def _code(grid: ParsedTable, word: Token, splittable: bool) -> str:
    code = word.text[0].upper() + word.text[1:].lower()
    code = SAME_CODE.get(code, code)
    if code not in CODES:
        raise grid.error(word, f"{word} is no strategy code; codes are {' '.join(CODES)}")
    if "P" in code.upper() and not splittable:
        raise grid.error(word, f"{word} splits, but this hand is no pair that may be split in this game")
    return code
