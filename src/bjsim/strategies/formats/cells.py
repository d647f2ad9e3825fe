"""From labelled rows of codes to a chart: what the codes mean, what charts leave out, and what contradicts itself."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from bjsim.sim.game.rules import Rules
from bjsim.strategies.charts.chart import (
    ATTACK_ROW,
    CODES,
    INSURANCE_ROW,
    PAIR,
    SOFT,
    Chart,
    actions_of,
    format_ranges,
    parse_row,
    rows_of,
)
from bjsim.strategies.charts.chart import Row as ChartRow
from bjsim.strategies.formats import words
from bjsim.strategies.formats.lines import ChartError, Token
from bjsim.strategies.formats.words import BLANK, COLUMNS, parse_cards, parse_code


class Reading(NamedTuple):
    """A chart, and what was guessed, filled in or skipped in order to read it, as sentences."""

    chart: Chart
    notes: tuple[str, ...] = ()


class GridRow(NamedTuple):
    """A row of the grid: its section, its label, the rows of the chart that it names, and a cell for each column."""

    section: str | None
    label: Token
    hands: list[str]
    cells: list[Token]
    columns: list[list[str]] | None = None  # where they are not those of the game, one by one


class Builder:
    """Makes a chart of the rows that files of these names have; `end` is the end of the last one."""

    def __init__(self, files: Sequence[str], rules: Rules, end: Token) -> None:
        self.rules = rules  # those of the cached states are equal, but may have another name
        self.states, by_name, self.required, self.splittable = rows_of(rules)
        self.exact, self.known = by_name, tuple(by_name.values())
        self.columns = self.states.columns
        self.each = [[column] for column in self.columns]
        self.files, self.end = files, end
        self.key: dict[str, str] = {}  # what a key in the file says that its codes mean
        self.by_total = False  # whether pairs are named by their totals
        self.learned = False  # whether it is a policy over states, where hands that cannot bust are no decision
        self.cells: dict[str, dict[str, str]] = {}
        self.surrenders: dict[str, dict[str, str]] = {}
        self.places: dict[tuple[str, bool], Token] = {}
        self.notes: list[str] = []
        self.skipped: dict[str, Token] = {}  # the hands that begin a line that is not understood
        self.filled: dict[str, list[str]] = {}
        self.insurance, self.attack = "S", ""

    def error(self, token: Token, message: str) -> ChartError:
        return ChartError(f"{token.file or self.files[0]}, line {token.line}, column {token.column}: {message}")

    def note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)

    def cards(self, text: str) -> list[str] | None:
        """The columns that a field names."""
        if self.columns == COLUMNS:
            return parse_cards(text)
        found = [text.upper()] if text.upper() in self.columns else words.parse_hands(text) or []
        return found if found and set(found) <= set(self.columns) else None

    def unknown_hand(self, label: Token) -> ChartError:
        return self.error(label, f"unknown hand {label}; this game has {' '.join(self.known)}")

    def code(self, text: str) -> str | None:
        return self.key.get(text) or parse_code(text)

    def is_cell(self, token: Token) -> bool:
        return token.text in BLANK or self.code(token.text) is not None

    def build(self, rows: Sequence[GridRow]) -> Reading:
        for row in rows:
            self._take(row)
        self._fill(pairs=False)
        self._answer_pairs()
        self._add_surrenders()
        self._fill(pairs=True)
        if filled := [f"{format_ranges(self.known, names)} {play}" for play, names in self.filled.items()]:
            self.notes.append(f"filled in: {'; '.join(filled)}")
        order = sorted(self.cells, key=self.known.index)
        cells = {(row, column): self.cells[row][column] for row in order for column in self.columns}
        name = ", ".join(self.files)
        chart = Chart(name, self.rules, cells, name, self.insurance, self.attack)
        return Reading(chart, tuple(self.notes))

    # --- cells

    def _take_offer(self, row: GridRow) -> bool:
        """Read the row for insurance or the attack, if it is one; a game without it ignores the row."""
        insured = row.label.text.upper().strip(" :") == INSURANCE_ROW.upper()
        if not insured and row.label.text.upper().strip(" :") != ATTACK_ROW.upper():
            return False
        what, letter = ("insurance", "I") if insured else ("the attack", "A")
        for columns, token in zip(row.columns or self.each, row.cells, strict=True):
            yes = token.text.upper() in (letter, "Y", "YES")
            if not yes and token.text.upper() not in (*BLANK, "S", "N", "NO"):
                raise self.error(token, f"unknown code {token} for {what} against {columns[0]}; use {letter} or S")
            if yes and insured and self.rules.insurance and "A" in columns:
                self.insurance = "I"
            elif yes and not insured and self.rules.attack:
                self.attack += "".join(columns)
        return True

    def _take(self, row: GridRow) -> None:
        if self._take_offer(row):
            return
        surrender = row.section == words.SURRENDER
        names = [name for name in row.hands if name in self.known]
        if not names and not any(parse_row(name).points == 21 for name in row.hands):
            self.note(f"line {row.label.line}: {row.label} is not a hand of this game")
        for name in names:
            if before := self.places.get((name, surrender)):
                raise self.error(row.label, f"duplicate row {name}, which is also in line {before.line}")
            self.places[name, surrender] = row.label
            taken: dict[str, str] = {}
            for columns, token in zip(row.columns or self.each, row.cells, strict=True):
                code = self._code(row, name, token, columns[0])
                for column in columns:
                    if taken.setdefault(column, code) != code:
                        raise self.error(token, f"{name} has {taken[column]} and {code} against tens")
            (self.surrenders if surrender else self.cells)[name] = taken

    def _code(self, row: GridRow, name: str, token: Token, column: str) -> str:
        code = self.code(token.text)
        if code is None and token.text in BLANK and self._says_yes_or_no(row):
            code = "N"
        if code is None and not token.text:
            raise self.error(token, f"hand {name}: the cell against {column} is missing")
        if code is None or (code[0] in "YN" and row.section != words.SURRENDER and name not in self.splittable):
            own = re.fullmatch(r"[A-Za-z]{1,2}|\d", token.text) and code is None
            key = f"; or add a line that says what {token} means, such as {token} = stand" if own else ""
            raise self.error(token, f"unknown code {token} for {name}; codes are {' '.join(CODES)}{key}")
        if token.text in self.key:
            self.note(f"{token.text} means {code}, as the file says")
        code = self._fallback(row, code, parse_row(name), token)
        if "P" in code.upper() and name not in self.splittable:
            raise self.error(token, f"{token} splits, but {name} cannot be split in this game")
        return code

    def _fallback(self, row: GridRow, code: str, hand: ChartRow, token: Token) -> str:
        """The code of a bare D or R on a hand that does not hit otherwise, which charts leave to the reader."""
        if not words.says_only_the_action(token.text) or row.section == words.SURRENDER or token.text in self.key:
            return code
        if hand.kind == PAIR:
            splits = any(self.code(cell.text) in ("P", "Y") for cell in row.cells)
            other, what = ("p", "is split") if code == "Rh" and splits else ("h", "hits")
        else:
            other, what = ("s", "stands") if hand.points >= (18 if hand.soft else 17) else ("h", "hits")
        if other != "h":
            self.note(f"guessed: {token} means {code[0]}{other} for {hand.total}, which {what} if it cannot")
        return f"{code[0]}{other}"

    def _says_yes_or_no(self, row: GridRow) -> bool:
        """Whether the cells of a row only say whether to split or surrender, so that an empty one says no."""
        codes = {self.code(cell.text) or cell.text for cell in row.cells} - set(BLANK)
        return codes <= {"Y", "N", "Y/N"} | ({"Rh", "Rs", "Rp"} if row.section == words.SURRENDER else {"P", "Ph"})

    def _answer_pairs(self) -> None:
        """Replace Y, N and Y/N in rows of pairs: a pair that is not split is played as its total."""
        double = self.rules.double_after_split
        for row, cells in self.cells.items():
            total = parse_row(row).total
            for column, code in cells.items():
                if code == "Y" or (code == "Y/N" and double):
                    cells[column] = "P"
                elif code[0] in "YN":
                    if total not in self.cells and row != "AA":
                        raise self.error(self.places[row, False], f"{row} is not split, but {total} is missing")
                    cells[column] = "H" if row == "AA" else self.cells[total][column]

    def _add_surrenders(self) -> None:
        for row, cells in self.surrenders.items():
            place = self.places[row, True]
            if row not in self.cells:
                raise self.error(place, f"{row} surrenders, but has no other row")
            for column, code in cells.items():
                base = self.cells[row][column]
                if code == "Y" or code[0] == "R":
                    other = actions_of(base, self.rules)
                    kept = "Rp" if other[0] == "P" else "Rs" if other[-1] == "S" else "Rh"
                    self.cells[row][column] = base if base[0] == "R" else kept
                elif code != base and (code != "N" or base[0] == "R"):
                    raise self.error(place, f"{row} against {column} is {code} here, but {base} elsewhere")

    # --- what charts leave out

    def _fill(self, pairs: bool) -> None:
        missing = [row for row in self.required if row not in self.cells]
        given = [other for other in map(parse_row, self.cells) if other.plain]
        for row in missing:
            if (parse_row(row).kind == PAIR) is pairs and (cells := self._default(parse_row(row), given)):
                self.cells[row] = cells
        if pairs and (left := [row for row in missing if row not in self.cells]):
            odd = next((f" ({note})" for note in self.notes if note.endswith("is not a hand of this game")), "")
            part = len(left) > 5 and len(self.files) == len({parse_row(row).kind for row, _ in self.places}) == 1
            more = "; if other files have them, name all files of the chart" * part
            raise self.error(self.end, f"hands missing: {' '.join(left)}{odd}{more}")

    def _default(self, row: ChartRow, given: Sequence[ChartRow]) -> dict[str, str] | None:
        """The cells of a row that printed charts leave out: low totals hit, high totals stand, pairs as their total."""
        totals = [other.points for other in given if other.kind == row.kind]
        name = next(name for name in self.known if parse_row(name) == row)
        if row.kind == PAIR and name in self.skipped:
            raise self.error(self.skipped[name], f"{name} has words, but no codes; write one for each dealer's card")
        if row.kind == PAIR and row.total in self.cells and row.rank != 0:
            play, cells = f"as {row.total}", dict(self.cells[row.total])
        elif row.kind not in (PAIR, SOFT) and totals and row.points < min(totals) <= (12 if self.learned else 9):
            play, cells = f"hit{' where no line has them' * self.learned}", dict.fromkeys(self.columns, "H")
        elif row.kind != PAIR and totals and row.points > max(totals) >= (18 if row.kind == SOFT else 17):
            play, cells = "stand", dict.fromkeys(self.columns, "S")
        else:
            return None
        self.filled.setdefault(play, []).append(name)
        return cells
