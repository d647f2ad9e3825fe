"""Making a chart from the tokens of a file, with errors that name line and column.

The three formats (text, CSV, policy) differ only in how a file is split into tokens, so this module checks the contents
of all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from bjsim.errors import InputError
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.states import States
from bjsim.strategies.charts.chart import ATTACK_ROW, CODES, INSURANCE_ROW, Chart, chart_rows
from bjsim.strategies.charts.rows import parse_row

SAME_COLUMN = {"10": "T", "1": "A", "11": "A", "ACE": "A"}
SAME_ROW = {"1010": "TT"}
SAME_CODE = {"D": "Dh", "R": "Rh"}


class ChartError(InputError):
    """A chart file is not valid. The message has the file, line and column, and the accepted values.

    `position` is line and column, if known; they count from 1.
    """

    position = (0, 0)


class Token(NamedTuple):
    """A word of a file and where it begins; lines and columns count from 1. An empty cell has an empty token."""

    line: int
    column: int
    text: str

    def __str__(self) -> str:
        return self.text if len(self.text) <= 20 else f"{self.text[:20]}…"


@dataclass(frozen=True)
class ParsedTable:
    """The tokens of a chart file of `end` lines: the dealer's cards in `header`, code and cells in `rows`."""

    name: str
    header: Sequence[Token]
    rows: Sequence[Sequence[Token]]
    end: int

    def error(self, token: Token, message: str) -> ChartError:
        error = ChartError(f"{self.name}, line {token.line}, column {token.column}: {message}")
        error.position = token.line, token.column
        return error


def required_rows(states: States) -> tuple[str, ...]:
    rows = [row for row in chart_rows(states) if parse_row(row).plain]
    dealt = {row for state in states.starts for row in states.rows_of(state)[:1]}
    played = {states.rows_of(state, may_split=False)[-1] for state in states.reachable() if states.legal(state)}
    return tuple(row for row in rows if row in dealt | played and row not in ("21", "A10"))


def splittable_rows(states: States) -> set[str]:
    return {states.rows_of(state)[0] for state in states.reachable() if "P" in states.legal(state)}


def chart_from(grid: ParsedTable, rules: Rules) -> Chart:
    """Make a chart from the tokens of a file; `ChartError` describes the first error."""
    states = States(rules)
    columns = _columns(grid, states)
    known, splittable = chart_rows(states), splittable_rows(states)
    cells: dict[tuple[str, str], str] = {}
    insurance, attack = "S", ""
    for hand, *codes in grid.rows:
        row = SAME_ROW.get(hand.text.upper(), hand.text.upper())
        if row == INSURANCE_ROW.upper() and rules.insurance:
            insurance = _insurance(grid, columns, hand, codes)
            continue
        if row == ATTACK_ROW.upper() and rules.attack:
            attack = "".join(_attacked(grid, column, token) for column, token in zip(columns, codes, strict=False))
            continue
        if row not in known:
            raise grid.error(hand, f"unknown hand {hand}; this game has {' '.join(known)}")
        if (row, columns[0]) in cells:
            raise grid.error(hand, f"duplicate row {hand}")
        for column, token in zip(columns, codes, strict=False):
            if not token.text:
                raise grid.error(token, f"hand {hand}: the cell against {column} is missing")
            cells[row, column] = _code(grid, token, row in splittable)
        if len(codes) < len(columns):
            last = (codes or [hand])[-1]
            after = Token(last.line, last.column + len(last.text), "")
            raise grid.error(after, f"hand {hand}: the cell against {columns[len(codes)]} is missing")
        if len(codes) > len(columns):
            raise grid.error(codes[len(columns)], f"hand {hand} has more than {len(columns)} cells")
    if missing := [row for row in required_rows(states) if (row, columns[0]) not in cells]:
        raise grid.error(Token(grid.end + 1, 1, ""), f"hands missing: {' '.join(missing)}")
    return Chart(grid.name, rules, cells, grid.name, insurance, attack)


def _attacked(grid: ParsedTable, column: str, token: Token) -> str:
    """The column of a cell of the row for the attack if its code is `A`."""
    if token.text.upper() not in ("", "-", "A", "S"):
        raise grid.error(token, f"unknown code {token} for the attack against {column}; use A or S")
    return column * (token.text.upper() == "A")


def _insurance(grid: ParsedTable, columns: Sequence[str], row: Token, codes: Sequence[Token]) -> str:
    """The code of the row for insurance against an ace; `S` or an empty cell against other cards."""
    taken = {}
    for column, token in zip(columns, codes, strict=False):
        taken[column] = token.text.upper()
        if taken[column] not in (("I", "S") if column == "A" else ("", "-", "S")):
            raise grid.error(
                token, f"unknown code {token} for insurance against {column}; use I or S against A, else S"
            )
    if "A" not in taken:
        raise grid.error(row, "insurance: the cell against A is missing")
    return taken["A"]


def _columns(grid: ParsedTable, states: States) -> list[str]:
    if not grid.header:
        raise grid.error(Token(1, 1, ""), "the chart is empty; its first line must have the dealer's cards")
    columns: list[str] = []
    for token in grid.header:
        label = token.text.upper()
        if states.rules.dealer_shows == "up":
            label = SAME_COLUMN.get(label, label)
        if label not in states.columns:
            problem = f"unknown dealer's card {token}" if token.text else "the dealer's card is missing"
            raise grid.error(token, f"{problem}; the first line has {' '.join(states.columns)}")
        if label in columns:
            raise grid.error(token, f"duplicate column {token}")
        columns.append(label)
    if missing := [column for column in states.columns if column not in columns]:
        after = Token(grid.header[-1].line, grid.header[-1].column + len(grid.header[-1].text), "")
        raise grid.error(after, f"the dealer's cards {' '.join(missing)} are missing")
    return columns


def _code(grid: ParsedTable, token: Token, splittable: bool) -> str:
    code = token.text[0].upper() + token.text[1:].lower()
    code = SAME_CODE.get(code, code)
    if code not in CODES:
        raise grid.error(token, f"unknown code {token}; codes are {' '.join(CODES)}")
    if "P" in code.upper() and not splittable:
        raise grid.error(token, f"{token} splits, but this hand cannot be split in this game")
    return code
