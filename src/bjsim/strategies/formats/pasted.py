"""Charts as people paste them from books and pages: titles, sections, ranges, and the usual spellings.

A line is a header if it has the dealer's cards, and a row if it begins with hands and ends with a cell for each card.
Other lines are skipped, and may name the section that follows. `lines` splits them into fields, and `labels` parses the
fields. Whatever is guessed, filled in or skipped is reported in `Reading.notes`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from bjsim.sim.game.rules import Rules
from bjsim.sim.game.states import States
from bjsim.strategies.charts.chart import INSURANCE_ROW, Chart, chart_rows, format_ranges
from bjsim.strategies.charts.rows import PAIR, SOFT, Row, parse_row
from bjsim.strategies.formats import labels
from bjsim.strategies.formats.labels import BLANK
from bjsim.strategies.formats.lines import TableLayout, find_header, join_fields, plain_lines, split_row
from bjsim.strategies.formats.pair_words import PairWords, find_pair_words
from bjsim.strategies.formats.parser import ChartError, ParsedTable, Token, required_rows, splittable_rows

SHOWN = 40  # characters of a skipped line in a note
LEGEND = r"\b(S|H|DD?|[DPRU][hs]?|SP|SUR)\b\W{0,3}(stand|stay|hit|double|split|surrender)"  # S = stand


class NoHeaderError(ChartError):
    """No line has the dealer's cards, so this is not a chart in any known style."""


class Reading(NamedTuple):
    """A chart, and what was guessed, filled in or skipped in order to read it, as sentences."""

    chart: Chart
    notes: tuple[str, ...] = ()


class _Line(NamedTuple):
    section: str | None
    label: Token
    hands: list[str]
    cells: list[Token]
    columns: list[str]


@lru_cache(maxsize=4)
def _rows_of(rules: Rules) -> tuple[States, tuple[str, ...], tuple[str, ...], set[str]]:
    """The states of a game, and the rows of its charts: all, those that a chart must have, and those that split."""
    states = States(rules)
    return states, tuple(chart_rows(states)), required_rows(states), splittable_rows(states)


class _Reader:
    def __init__(self, text: str, name: str, rules: Rules) -> None:
        self.name = name
        self.states, self.known, self.required, self.splittable = _rows_of(rules)
        self.lines = list(plain_lines(text))
        self.table = ParsedTable(name, [], [], len(text.splitlines()))
        self.cells: dict[str, dict[str, str]] = {}
        self.surrenders: dict[str, dict[str, str]] = {}
        self.places: dict[tuple[str, bool], Token] = {}
        self.notes: list[str] = []
        self.filled: dict[str, list[str]] = {}
        self.worded: list[PairWords] = []
        self.insurance = "S"
        self.section: str | None = None
        self.layout: TableLayout | None = None

    def read(self) -> Reading:
        for line in self._rows():
            self._take(line)
        self._take_words()
        self._fill(pairs=False)
        self._answer_pairs()
        self._add_surrenders()
        self._fill(pairs=True)
        if filled := [f"{format_ranges(self.known, rows)} {play}" for play, rows in self.filled.items()]:
            self.notes.append(f"filled in: {'; '.join(filled)}")
        rows = sorted(self.cells, key=self.known.index)
        cells = {(row, column): self.cells[row][column] for row in rows for column in self.states.columns}
        return Reading(Chart(self.name, self.states.rules, cells, self.name, self.insurance), tuple(self.notes))

    # --- lines

    def _rows(self) -> Iterator[_Line]:
        skipped = []
        for number, text in self.lines:
            if text.startswith("#"):  # a heading of Markdown, or a comment
                self.section = labels.find_title(text) or self.section
            elif header := find_header(text, self.states.columns, self._card):
                if find_header(header.title, self.states.columns, self._card):
                    second = Token(number, text.find(header.title) + len(header.title) + 1, "")
                    raise self.table.error(second, "two tables side by side; put the second one below the first")
                self.layout = header
                self.section = labels.find_title(header.title) or self.section
            elif (worded := find_pair_words(number, text, self.section)) and worded.code:
                self.worded.append(worded)
            elif line := self._row(number, text):
                yield line
            elif title := labels.find_title(text):
                self.section = title
            elif worded:
                self.worded.append(worded)
            else:
                skipped.append(" ".join(text.split()))
        if self.layout is None:
            raise self._no_header()
        self.notes += map(_skipped, skipped)

    def _no_header(self) -> NoHeaderError:
        cards = " ".join(self.states.columns)
        return NoHeaderError(f"{self.name}: no line before the hands has the dealer's cards {cards}")

    def _card(self, text: str) -> str | None:
        if self.states.rules.dealer_shows == "both":
            return text.upper() if text.upper() in self.states.columns else None
        return labels.parse_card(text)

    def _row(self, number: int, text: str) -> _Line | None:
        layout = self.layout or TableLayout("", [], 0, "")
        size = len(layout.columns)
        fields = split_row(number, text, layout)
        cells, before = fields[-size:] if size else [], fields[: max(len(fields) - size, 1)]
        label = join_fields(before, text)
        if size and label.text.upper().strip(": ") == INSURANCE_ROW.upper():
            self._take_insurance(layout, cells)
            return None
        if len(before) > 1 and (title := labels.section_column(before[0].text)):
            self.section, label = title, join_fields(before[1:], text)
        hands = self._hands(label.text)
        if hands is None and layout.after and not layout.title and len(fields) == size + 1:  # labels on the right
            label, cells = fields[-1], fields[:-1]
            hands = self._hands(label.text)
        if hands and size and len(fields) > size:
            return _Line(self.section, label, hands, cells, layout.columns)
        codes = sum(labels.parse_code(token.text) is not None for token in fields)
        if codes < 3 or (codes < size / 2 and not hands) or re.search(LEGEND, text, re.IGNORECASE):
            return None
        if not size:
            raise self._no_header()
        if hands is None and len(fields) > size:
            raise self.table.error(label, f"unknown hand {label}; this game has {' '.join(self.known)}")
        raise self.table.error(label, f"{label} has {codes} cells, but there are {size} dealer's cards")

    def _hands(self, label: str) -> list[str] | None:
        exact = label.upper().strip()
        if exact in self.known and (self.section in (None, labels.HARD) or parse_row(exact).counted):
            return [exact]
        return labels.parse_hands(label, self.section)

    # --- cells

    def _take_insurance(self, layout: TableLayout, cells: list[Token]) -> None:
        """Read the row for insurance; a game without it ignores the row."""
        for column, token in zip(layout.columns, cells, strict=False):
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
            taken: dict[str, str] = {}
            for column, token in zip(line.columns, line.cells, strict=True):
                code = self._code(line, row, token)
                if taken.setdefault(column, code) != code:
                    raise self.table.error(token, f"{row} has {code} and {taken[column]} against tens")
            (self.surrenders if surrender else self.cells)[row] = taken

    def _take_words(self) -> None:
        """Take what words say of pairs that have no row of codes; other words are remarks."""
        columns = [*self.states.columns]
        for worded in self.worded:
            if rows := [row for row in worded.hands if row in self.required and row not in self.cells]:
                cells = [worded.cell(self.table)] * len(columns)
                self._take(_Line(labels.PAIRS, worded.label, rows, cells, columns))
            else:
                self.notes.append(_skipped(f"{worded.label.text} {worded.words.text}"))

    def _code(self, line: _Line, row: str, token: Token) -> str:
        code = labels.parse_code(token.text)
        if code is None and token.text in BLANK and _says_yes_or_no(line):
            code = "N"
        if code is None or (code[0] in "YN" and line.section != labels.SURRENDER and row not in self.splittable):
            raise self.table.error(token, f"unknown code {token} for {row}; codes are S H D Dh Ds P Ph Pd Ps Rh Rs Rp")
        code = self._fallback(line, code, parse_row(row), token)
        if "P" in code.upper() and row not in self.splittable:
            raise self.table.error(token, f"{token} splits, but {row} cannot be split in this game")
        return code

    def _fallback(self, line: _Line, code: str, row: Row, token: Token) -> str:
        """The code of a bare D or R on a hand that does not hit otherwise, which charts leave to the reader."""
        if not labels.says_only_the_action(token.text) or line.section == labels.SURRENDER:
            return code
        if row.kind == PAIR:
            splits = any(labels.parse_code(cell.text) in ("P", "Y") for cell in line.cells)
            other, what = ("p", "is split") if code == "Rh" and splits else ("h", "hits")
        else:
            other, what = ("s", "stands") if row.points >= (18 if row.soft else 17) else ("h", "hits")
        if other == "h":
            return code
        note = f"guessed: {token} means {code[0]}{other} for {row.total}, which {what} if it cannot"
        self.notes += [note] * (note not in self.notes)
        return f"{code[0]}{other}"

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
                base = self.cells[row][column]
                if code == "Y" or code[0] == "R":
                    self.cells[row][column] = {"S": "Rs", "P": "Rp"}.get(base[0], "Rh")
                elif code not in ("N", base):
                    place = self.places[row, True]
                    raise self.table.error(place, f"{row} against {column} is {code} here, but {base} elsewhere")

    # --- what charts leave out

    def _fill(self, pairs: bool) -> None:
        missing = [row for row in self.required if row not in self.cells]
        given = [other for other in map(parse_row, self.cells) if other.plain]
        for row in missing:
            if (parse_row(row).kind == PAIR) is pairs and (cells := self._default(parse_row(row), given)):
                self.cells[row] = cells
        if pairs and (left := [row for row in missing if row not in self.cells]):
            error = self.table.error(Token(self.table.end + 1, 1, ""), f"hands missing: {' '.join(left)}")
            first = min((place.line for place in self.places.values()), default=0)
            error.position = first, 1 << 20  # a stricter reader's error is more helpful if that read more than a row
            raise error

    def _default(self, row: Row, given: list[Row]) -> dict[str, str] | None:
        """The cells of a row that printed charts leave out: low totals hit, high totals stand, pairs as their total."""
        totals = [other.points for other in given if other.kind == row.kind]
        name = next(name for name in self.known if parse_row(name) == row)
        if row.kind == PAIR and row.total in self.cells and row.rank != 0:
            play, cells = f"as {row.total}", dict(self.cells[row.total])
        elif row.kind not in (PAIR, SOFT) and totals and row.points < min(totals) <= 9:
            play, cells = "hit", dict.fromkeys(self.states.columns, "H")
        elif row.kind != PAIR and totals and row.points > max(totals) >= (18 if row.kind == SOFT else 17):
            play, cells = "stand", dict.fromkeys(self.states.columns, "S")
        else:
            return None
        self.filled.setdefault(play, []).append(name)
        return cells


def _skipped(text: str) -> str:
    return f"skipped: {text if len(text) <= SHOWN else text[:SHOWN] + '…'}"


def _says_yes_or_no(line: _Line) -> bool:
    """Whether the cells of a row only say whether to split or surrender, so that an empty one says no."""
    codes = {labels.parse_code(cell.text) or cell.text for cell in line.cells} - set(BLANK)
    return codes <= {"Y", "N", "Y/N"} | ({"Rh", "Rs", "Rp"} if line.section == labels.SURRENDER else {"P", "Ph"})


def read_pasted(text: str, name: str, rules: Rules) -> Reading:
    """Read a chart in any usual style, with notes on what was guessed, filled in or skipped."""
    return _Reader(text, name, rules).read()
