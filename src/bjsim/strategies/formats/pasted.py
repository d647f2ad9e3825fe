"""Charts as people paste them from books and pages: titles, sections, ranges, and the usual spellings.

A line is a header if it ends with the dealer's cards, and a row if it begins with hands and ends with a cell for each
card. Other lines are skipped, and may name the section that follows. Cells are separated by tabs, pipes, semicolons,
commas or blanks. Whatever is guessed, filled in or skipped is reported in `Reading.notes`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from bjsim.sim.game.rules import Rules
from bjsim.sim.game.states import States
from bjsim.strategies.charts.chart import INSURANCE_ROW, Chart, chart_rows
from bjsim.strategies.charts.rows import PAIR, SOFT, Row, parse_row
from bjsim.strategies.formats import labels
from bjsim.strategies.formats.parser import ChartError, ParsedTable, Token, required_rows, splittable_rows
from bjsim.strategies.formats.text import split_lines

SEPARATORS = "|\t;,"
BLANK = ("", "-", "–", "—")  # cells that mean "no" in tables of pairs and of surrenders
SHOWN = 40  # characters of a skipped line in a note


class NoHeaderError(ChartError):
    """No line has the dealer's cards, so this is not a chart in any known style."""


class Reading(NamedTuple):
    """A chart, and what was guessed, filled in or skipped in order to read it, as sentences."""

    chart: Chart
    notes: tuple[str, ...] = ()


class _Line(NamedTuple):
    """A row of a table: the section, the hands, and the cells in the order of `columns`."""

    section: str | None
    label: Token
    hands: list[str]
    cells: list[Token]
    columns: list[str]


class _Reader:
    def __init__(self, text: str, name: str, rules: Rules) -> None:
        self.name = name
        self.states = States(rules)
        self.lines = split_lines(text)
        self.table = ParsedTable(name, [], [], len(self.lines))
        self.known = chart_rows(self.states)
        self.splittable = splittable_rows(self.states)
        self.cells: dict[str, dict[str, str]] = {}
        self.surrenders: dict[str, dict[str, str]] = {}
        self.places: dict[tuple[str, bool], Token] = {}
        self.notes: list[str] = []
        self.insurance = "S"

    def read(self) -> Reading:
        for line in self._rows():
            self._take(line)
        self._answer_pairs()
        self._add_surrenders()
        self._fill()
        rows = sorted(self.cells, key=self.known.index)
        cells = {(row, column): self.cells[row][column] for row in rows for column in self.states.columns}
        return Reading(Chart(self.name, self.states.rules, cells, self.name, self.insurance), tuple(self.notes))

    # --- lines

    def _rows(self) -> Iterator[_Line]:
        columns: list[str] = []
        section, separator, skipped = None, "", []
        for number, text in enumerate(self.lines, 1):
            if not text.strip(" \t|;,:-+="):
                continue
            if header := self._header(text):
                separator, columns = header
                section = labels.find_title(text) or section
                continue
            line = self._row(number, text, section, separator, columns)
            if line is None:
                title = labels.find_title(text)
                section = title or section
                skipped += [] if title else [text.strip()]
            else:
                yield line
        if not columns:
            raise self._no_header()
        for text in skipped:
            self.notes.append(f"skipped: {text if len(text) <= SHOWN else text[:SHOWN] + '…'}")

    def _no_header(self) -> NoHeaderError:
        cards = " ".join(self.states.columns)
        return NoHeaderError(f"{self.name}: no line before the hands has the dealer's cards {cards}")

    def _header(self, text: str) -> tuple[str, list[str]] | None:
        """The separator and the columns of a line that ends with the dealer's cards."""
        size = len(self.states.columns)
        for separator in (*SEPARATORS, ""):
            columns = [self._card(token.text) for token in _fields(1, text, separator)[-size:]]
            if len(columns) == size and set(columns) == set(self.states.columns):
                return separator, [str(column) for column in columns]
        return None

    def _card(self, text: str) -> str | None:
        if self.states.rules.dealer_shows == "both":
            return text.upper() if text.upper() in self.states.columns else None
        return labels.parse_card(text)

    def _row(self, number: int, text: str, section: str | None, separator: str, columns: list[str]) -> _Line | None:
        fields = _fields(number, text, separator)
        size = len(columns)
        codes = sum(labels.parse_code(token.text) is not None for token in fields)
        label = _join(fields[: max(len(fields) - size, 1)], text)
        if size and label.text.upper().strip(": ") == INSURANCE_ROW.upper():
            self._take_insurance(dict(zip(columns, fields[-size:], strict=False)))
            return None
        hands = self._hands(label.text, section)
        if hands and size and len(fields) > size:
            return _Line(section, label, hands, fields[-size:], columns)
        if codes < 3 or (codes < size / 2 and not hands):
            return None
        if not size:
            raise self._no_header()
        if hands is None and len(fields) > size:
            raise self.table.error(label, f"unknown hand {label}; this game has {' '.join(self.known)}")
        raise self.table.error(label, f"{label} has {codes} cells, but there are {size} dealer's cards")

    def _hands(self, label: str, section: str | None) -> list[str] | None:
        exact = label.upper().strip()
        if exact in self.known and (section in (None, labels.HARD) or parse_row(exact).counted):
            return [exact]
        return labels.parse_hands(label, section)

    # --- cells

    def _take_insurance(self, cells: dict[str, Token]) -> None:
        """Read the row for insurance; a game without it ignores the row."""
        for column, token in cells.items():
            says = token.text.upper()
            if says not in (*BLANK, "S", "N", "NO", *(("I", "Y", "YES") if column == "A" else ())):
                raise self.table.error(token, f"unknown code {token} for insurance against {column}; use I or S")
            if self.states.rules.insurance and column == "A":
                self.insurance = "I" if says in ("I", "Y", "YES") else "S"

    def _take(self, line: _Line) -> None:
        surrender = line.section == labels.SURRENDER
        rows = [row for row in line.hands if row in self.known]
        if not rows and not any(parse_row(row).points == 21 for row in line.hands):
            self.notes.append(f"line {line.label.line}: {line.label} is not a hand of this game")
        for row in rows:
            if before := self.places.get((row, surrender)):
                raise self.table.error(line.label, f"duplicate row {row}, which is also in line {before.line}")
            self.places[row, surrender] = line.label
            codes = [self._code(line, row, token) for token in line.cells]
            taken = dict(zip(line.columns, codes, strict=True))
            (self.surrenders if surrender else self.cells)[row] = taken

    def _code(self, line: _Line, row: str, token: Token) -> str:
        code = labels.parse_code(token.text)
        if code is None and token.text in BLANK and _says_yes_or_no(line):
            code = "N"
        if code is None or (code[0] in "YN" and line.section != labels.SURRENDER and row not in self.splittable):
            raise self.table.error(token, f"unknown code {token} for {row}; codes are S H D Dh Ds P Ph Pd Ps Rh Rs Rp")
        code = self._fallback(code, parse_row(row), token)
        if "P" in code.upper() and row not in self.splittable:
            raise self.table.error(token, f"{token} splits, but {row} cannot be split in this game")
        return code

    def _fallback(self, code: str, row: Row, token: Token) -> str:
        """The code of a bare D or R on a hand that stands rather than hits, which charts leave to the reader."""
        stands = row.points >= (18 if row.soft else 17) and row.kind != PAIR
        if not stands or token.text.upper() not in ("D", "DD", "DOUBLE", "R", "U", "SUR", "SURRENDER"):
            return code
        note = f"guessed: {token} means {code[0]}s for {row.total}, which stands if it cannot"
        self.notes += [note] * (note not in self.notes)
        return f"{code[0]}s"

    def _answer_pairs(self) -> None:
        """Replace Y, N and Y/N in rows of pairs: a pair that is not split is played as its total."""
        double = self.states.rules.double_after_split
        for row, cells in self.cells.items():
            total = parse_row(row).total
            for column, code in cells.items():
                if code == "Y" or (code == "Y/N" and double):
                    cells[column] = "P"
                elif code[0] in "YN":
                    if total not in self.cells and row != "AA":
                        raise self.table.error(self.places[row, False], f"{row} is not split, but {total} is missing")
                    cells[column] = "H" if row == "AA" else self.cells[total][column]

    def _add_surrenders(self) -> None:
        for row, cells in self.surrenders.items():
            if row not in self.cells:
                raise self.table.error(self.places[row, True], f"{row} surrenders, but has no other row")
            for column, code in cells.items():
                if code == "Y" or code[0] == "R":
                    base = self.cells[row][column]
                    self.cells[row][column] = {"S": "Rs", "P": "Rp"}.get(base[0], "Rh")

    # --- what charts leave out

    def _fill(self) -> None:
        missing = [row for row in required_rows(self.states) if row not in self.cells]
        for row in missing:
            if cells := self._default(parse_row(row)):
                self.cells[row] = cells
        if left := [row for row in missing if row not in self.cells]:
            error = self.table.error(Token(self.table.end + 1, 1, ""), f"hands missing: {' '.join(left)}")
            error.position = 0, 0  # any other error is more helpful
            raise error

    def _default(self, row: Row) -> dict[str, str] | None:
        """The cells of a row that printed charts leave out: low totals hit, high totals stand, pairs as their total."""
        columns = self.states.columns
        given = [other for other in map(parse_row, self.cells) if not other.counted]
        totals = [other.points for other in given if other.kind == row.kind]
        name = self._name(row)
        if row.kind == PAIR:
            if row.total not in self.cells or row.rank == 0:
                return None
            self.notes.append(f"filled in: {name} is played as {row.total}")
            return dict(self.cells[row.total])
        if not totals:
            return None
        if row.kind != SOFT and row.points < min(totals) <= 9:
            self.notes.append(f"filled in: {name} hits")
            return dict.fromkeys(columns, "H")
        if row.points > max(totals) >= (18 if row.kind == SOFT else 17):
            self.notes.append(f"filled in: {name} stands")
            return dict.fromkeys(columns, "S")
        return None

    def _name(self, row: Row) -> str:
        return next(name for name in self.known if parse_row(name) == row)


def _says_yes_or_no(line: _Line) -> bool:
    """Whether the cells of a row only say whether to split or surrender, so that an empty one says no."""
    codes = {labels.parse_code(cell.text) or cell.text for cell in line.cells} - set(BLANK)
    return codes <= {"Y", "N", "Y/N"} | ({"Rh", "Rs", "Rp"} if line.section == labels.SURRENDER else {"P", "Ph"})


def _fields(number: int, text: str, separator: str) -> list[Token]:
    """The fields of a line, without the empty ones that a frame of pipes makes at both ends."""
    pattern = rf"[^{re.escape(separator)}]*" if separator else r"\S+"
    fields = []
    for match in re.finditer(pattern, text):
        if not separator or match.start() == 0 or text[match.start() - 1] == separator:
            inner = match[0].strip().strip("'\"*").strip()
            fields.append(Token(number, match.start() + 1 + max(match[0].find(inner), 0), inner))
    if separator == "|":
        fields = fields[1:] if text.lstrip().startswith("|") else fields
        fields = fields[:-1] if text.rstrip().endswith("|") else fields
    return fields


def _join(fields: list[Token], text: str) -> Token:
    """Fields as one token, as they were written."""
    first, last = fields[0], fields[-1]
    return Token(first.line, first.column, text[first.column - 1 : last.column - 1 + len(last.text)].strip("'\"* "))


def read_pasted(text: str, name: str, rules: Rules) -> Reading:
    """Read a chart in any usual style.

    Args:
        text: The content of the file.
        name: The name of the file, for messages.
        rules: The game that the chart is for.

    Returns:
        The chart, and notes on what was guessed, filled in or skipped.

    Raises:
        ChartError: A line cannot be read, or hands are missing.
    """
    return _Reader(text, name, rules).read()
