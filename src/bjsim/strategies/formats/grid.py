"""Finding the grid of a chart: rows under the dealer's cards, a list of decisions, or rows of codes alone.

What a file is nested in is gone (`lines`). What it lacks is guessed only where the chart is then near the best play
and every other guess is far from it, and refused otherwise. What is guessed or skipped is said in `Reading.notes`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from bjsim.sim.game.rules import Rules
from bjsim.strategies.charts.chart import ATTACK_ROW, INSURANCE_ROW
from bjsim.strategies.formats import words
from bjsim.strategies.formats.bare import NEAR, arrangements, spans
from bjsim.strategies.formats.cells import Builder, GridRow, Reading
from bjsim.strategies.formats.decisions import decision_rows, turned
from bjsim.strategies.formats.lines import TextLine, Token, join_fields, read_lines
from bjsim.strategies.formats.policy import complete_policy, is_policy
from bjsim.strategies.formats.refusals import not_understood, refuse_headers, shows_one_card, smallest
from bjsim.strategies.formats.words import COLUMNS, parse_code

SHOWN = 40  # characters of a skipped line in a note
TENS = 3  # columns that a header may have besides one for tens: jacks, queens and kings
LEGEND = r"\b(S|H|DD?|[DPRU][hs]?|SP|SUR)\b\W{0,3}(stand|stay|hit|double|split|surrender)"  # S = stand
KEY = r"(?:^|[,;|(:#])\W*([A-Za-z]{1,2}|\d)\s*(?:=+|is|means|:|->)\s*['\"]?([A-Za-z][A-Za-z/_ ]+)"  # T = double/stand
NAMED = r"\b([A-Za-z_]{3,})\s*=\s*['\"]?(\d|[A-Za-z]{1,2})\b"  # DOUBLE_STAND = 4


class TableLayout(NamedTuple):
    """How rows are laid out: the separator, the cards of each cell, the fields right of the cells, and the title."""

    separator: str
    columns: list[list[str]]
    after: int
    title: str


class Reader:
    """Reads the files of one chart. A file whose name says hard, soft or pairs has the hands of that section."""

    def __init__(self, files: Sequence[tuple[str, str]], rules: Rules) -> None:
        self.builder = Builder(files, rules)
        self.rules, self.columns = rules, self.builder.states.columns
        self.lines: list[TextLine] = []
        for (name, text), start in zip(files, self.builder.starts, strict=True):
            if len(files) > 1:
                stem = re.sub(r".*[/\\]|\.\w+$", "", name)
                title = words.find_section(re.sub(r"[^A-Za-z]+|(?<=[a-z])(?=[A-Z])", " ", stem)) or "file"
                self.lines.append(TextLine(start, f"# {title}", {}))
            for line in read_lines(text):
                fields = {mark: [t._replace(line=t.line + start) for t in row] for mark, row in line.fields.items()}
                self.lines.append(line._replace(number=line.number + start, fields=fields))
        self.section: str | None = None
        self.skipped: list[str] = []
        self.numbered = False  # whether every row begins with its number

    def read(self) -> Reading:
        if all(line.heading for line in self.lines):
            raise self.builder.error(Token(1, 1, ""), f"the chart is empty{smallest(self.builder)}")
        self._take_key()
        self._look_for_totals()
        headers = {at: header for at, line in enumerate(self.lines) if (header := self._header(line))}
        plain = {at: header for at, header in headers.items() if not self.lines[at].heading}
        if headers:
            return self._build([*self._rows(plain or headers)])
        rows = turned(self.lines, self.builder) or decision_rows(self.lines, self.builder, self.hands)
        if rows and self.columns != COLUMNS:
            raise shows_one_card(self.builder, rows[0].label)
        return self._build(rows or self._bare())

    def _build(self, rows: list[GridRow]) -> Reading:
        if not any(row.hands for row in rows):
            first = rows[0].label if rows else Token(1, 1, "")
            raise self.builder.error(first, f"no row has a hand and its codes{smallest(self.builder)}")
        for text in self.skipped:
            self.builder.note(f"skipped: {text if len(text) <= SHOWN else text[:SHOWN] + '…'}")
        return self.builder.build(rows)

    def _take_key(self) -> None:
        """Take from a key what the codes of this file mean, if it says more than usual: `T = double else stand`."""
        for line in self.lines:
            found = re.findall(KEY, line.text) if len(line.fields.get("|", ())) < 3 else []
            for name, meaning in [*found, *((code, name) for name, code in re.findall(NAMED, line.text))]:
                code, usual = parse_code(meaning.strip()), parse_code(name)
                if code and code != usual and not (usual and words.says_only_the_action(meaning)):
                    self.builder.key[name] = code

    def _look_for_totals(self) -> None:
        """Find out whether pairs are named by their totals: one of them is 12 or more, as no card is."""
        section = None
        for line in self.lines:
            section = words.find_title(line.text) or section
            label = re.match(r"(?i)\W*(pairs?|splits?)?\W*(?:of\W*)?(12|14|16|18|20)\b", line.text)
            if label and (label[1] or (line.section or section) == words.PAIRS):
                self.builder.by_total = True
                self.builder.note("the pairs are named by their totals: 16 means 8,8")

    def hands(self, label: str, section: str | None) -> list[str] | None:
        """The rows that a label names; none for a hand that is never asked, and None if it is no hand."""
        exact = label.upper().strip(" :")
        if exact in (INSURANCE_ROW.upper(), ATTACK_ROW.upper()):
            return []
        if exact in self.builder.exact and (section in (None, words.HARD) or re.search("[/:X]", exact)):
            return [self.builder.exact[exact]]
        if re.fullmatch(r"(HARD )?[0-3]", exact) and section in (None, words.HARD):
            return []
        if re.fullmatch(r"(SOFT )?1?1", exact) and (section == words.SOFT or "SOFT" in exact):
            return []  # an ace alone
        return words.parse_hands(label, section, self.builder.by_total)

    # --- rows under the dealer's cards

    def _header(self, line: TextLine) -> TableLayout | None:
        """The layout that a line with all of the dealer's cards gives, or None."""
        found = []
        for separator, fields in line.fields.items():
            cards = [self.builder.cards(token.text) or [] for token in fields]
            if len(fields) == 1 or not set(self.columns) <= {card for some in cards for card in some}:
                continue
            for size in (len(self.columns) + TENS, *range(len(self.columns), 1, -1)):
                for start in range(len(fields) - size, -1, -1):
                    some = cards[start : start + size]
                    rest = fields[:start] + fields[start + size :]
                    if size < len(self.columns) and any(parse_code(t.text) or re.search(r"\d", t.text) for t in rest):
                        continue  # 16 | 2-9 | hit is a decision
                    flat = [card for group in some for card in group]
                    once = [card for at, card in enumerate(flat) if card != "T" or at == 0 or flat[at - 1] != "T"]
                    if all(some) and sorted(once) == sorted(self.columns):
                        title = join_fields(fields[:start], line.text).text
                        found.append(TableLayout(separator, some, len(fields) - start - size, title))
        return max(found, key=lambda layout: len(layout.columns), default=None)

    def _rows(self, headers: dict[int, TableLayout]) -> Iterator[GridRow]:
        """The rows above or below the headers, which are given by their places among the lines."""
        first, layout = next(iter(headers.items()))
        starts = [self._fields(line, layout) for at, line in enumerate(self.lines) if at not in headers]
        numbers = [row[0].text for row in starts if len(row) > len(layout.columns) + 1]
        self.numbered = len(numbers) > 9 and numbers in ([str(n + k) for n in range(len(numbers))] for k in (0, 1))
        above: Token | None = None
        for at, line in enumerate(self.lines):
            if header := headers.get(at):
                self._refuse_side_by_side(line, header)
                layout = header
                self.section = words.find_title(header.title) or self.section
            elif line.heading:
                self.section = words.find_title(line.text) or self.section
            elif (worded := self.builder.words_of(line, self.section)) and worded.cells[0].text in ("P", "N"):
                self.builder.worded.append(worded)
            elif row := self._row(line, layout):
                above = above or (row.label if at < first else None)
                if above and at > first:
                    late = self.builder.line(Token(self.lines[first].number, 1, ""))
                    why = f"the dealer's cards come in line {late} only; put them above the first row"
                    raise self.builder.error(above, why)
                yield row
            elif title := words.find_title(line.text):
                self.section = title
            elif worded:
                self.builder.worded.append(worded)
            else:
                self.skipped.append(" ".join(line.text.split()))

    def _refuse_side_by_side(self, line: TextLine, header: TableLayout) -> None:
        title = {"": [Token(line.number, 1, word) for word in re.split(r"[\s|,;&]+", header.title)]}
        if self._header(TextLine(line.number, header.title, title)):
            second = Token(line.number, line.text.find(header.title) + len(header.title) + 1, "")
            raise self.builder.error(second, "two tables side by side; put the second one below the first")

    def _row(self, line: TextLine, layout: TableLayout) -> GridRow | None:
        size, error = len(layout.columns), self.builder.error
        fields = self._fields(line, layout)
        cells, before = fields[-size:], fields[: max(len(fields) - size, 1)]
        before = before[1:] if self.numbered and len(before) > 1 else before
        label = join_fields(before, line.text)
        if len(before) > 1 and (title := words.section_column(before[0].text)):
            self.section, label = title, join_fields(before[1:], line.text)
        section = line.section or self.section
        hands = self.hands(label.text, section)
        if hands is None and layout.after and not layout.title and len(fields) == size + 1:  # labels on the right
            label, cells = fields[-1], fields[:-1]
            hands = self.hands(label.text, section)
        if hands is not None and len(fields) > size:
            return GridRow(section, label, hands, cells, layout.columns)
        codes = sum(self.builder.code(token.text) is not None for token in fields)
        if codes < min(3, size) or (codes < size / 2 and not hands) or re.search(LEGEND, line.text, re.IGNORECASE):
            return None
        prose = len(re.findall(r"[A-Za-z]*[a-z][A-Za-z]+", line.text)) > 2 * codes
        if prose and not all(map(self.builder.is_cell, cells)):
            return None  # a sentence
        if hands is None and len(before) > 1 and self.hands(before[0].text, section):
            raise error(fields[size + 1], f"hand {before[0]} has more than {size} cells")
        if hands is None and len(fields) > size:
            raise self.builder.unknown_hand(label)
        raise error(label, f"{label} has {codes} cells, but there are {size} dealer's cards")

    def _fields(self, line: TextLine, layout: TableLayout) -> list[Token]:
        """The fields of a row: those of its label, and a cell for each column.

        A row that is not separated as its header was is tried with every separator.
        """
        size, is_cell = len(layout.columns), self.builder.is_cell
        best = line.fields.get(layout.separator) or next(iter(line.fields.values()), [])
        for separator in (layout.separator, *reversed(line.fields)):
            if separator not in line.fields:
                continue
            fields = [*line.fields[separator]]
            for _ in range(layout.after):
                if len(fields) > size + 1 and self.builder.code(fields[-1].text) is None:
                    fields.pop()
            while len(fields) > size + 1 and not fields[-1].text:
                if self.builder.code(fields[-size].text) and not all(map(is_cell, fields[-size - 1 : -1])):
                    break  # the last cell is empty
                fields.pop()
            best = fields if separator == layout.separator else best
            if separator in ("\t", ",", ";") and any(not field.text for field in fields):
                end = Token(line.number, len(line.text) + 1, "")  # an editor may have removed empty cells at the end
                fields = fields + [end] * min(size + 1 - len(fields), size - 1)
            if len(fields) > size and all(map(is_cell, fields[-size:])):
                return fields
        return best

    # --- rows of codes without the dealer's cards

    def _bare(self) -> list[GridRow]:
        """Rows of ten codes, with or without hands; the chart must be near the best play, in one order alone."""
        rows = [*self._bare_rows()]
        if is_policy(rows, self.lines):
            if self.columns != COLUMNS:
                raise shows_one_card(self.builder, rows[0].label)
            return complete_policy(rows, self.builder)
        refuse_headers(self.builder, self.lines)
        unlabelled = [row for row in rows if row.label is row.cells[0]]
        if len(rows) < 10 or self.columns != COLUMNS:
            raise not_understood(self.builder, self.lines, rows)
        if unlabelled and len(unlabelled) < len(rows):
            raise self.builder.unknown_hand(unlabelled[0].label)
        orders = ["23456789TA", "A23456789T"] if len(rows[0].cells) == 10 else ["23456789TTTTA", "A23456789TTTT"]
        ranked = sorted(
            found for order in orders for found in arrangements(rows, self.builder, order, bool(unlabelled))
        )
        if not ranked:
            raise not_understood(self.builder, self.lines, rows)
        share, order, names = ranked[0]
        rival = ranked[1][0] if len(ranked) > 1 else 1.0
        if share > NEAR or rival < 2 * share + 0.01:
            raise not_understood(
                self.builder,
                self.lines,
                rows,
                f"; as {' '.join(order)}, {share:.0%} of the cells are not the best play",
            )
        why = f"so {share:.1%} of the cells are not the best play, otherwise {rival:.0%} or more"
        hands = f", the hands {spans(names)}" if unlabelled else ""
        self.builder.note(f"guessed: the dealer's cards are {' '.join(order)}{hands}; {why}")
        columns = [[card] for card in order]
        return [row._replace(hands=group, columns=columns) for row, group in zip(rows, names, strict=True)]

    def _bare_rows(self) -> Iterator[GridRow]:
        """Rows without columns; the label of one without a label is its first cell."""
        for line in self.lines:
            title = words.find_title(line.text)
            for fields in [] if line.heading else line.fields.values():
                codes = [at for at, token in enumerate(fields) if self.builder.code(token.text)]
                if len(codes) in (10, 13) and codes[-1] - codes[0] == len(codes) - 1:
                    rest = [token for token in (*fields[: codes[0]], *fields[codes[-1] + 1 :]) if token.text]
                    if len(rest) > 1 and (kind := words.section_column(rest[0].text)):
                        self.section, rest = kind, rest[1:]
                    section, label = line.section or self.section, join_fields(rest, line.text)
                    hands = self.hands(label.text, section) if rest else []
                    if hands is None:
                        raise self.builder.unknown_hand(label)
                    yield GridRow(
                        section, label if rest else fields[codes[0]], hands, fields[codes[0] : codes[-1] + 1], []
                    )
                    break
            else:
                self.section = title or self.section
                if not title and not line.heading:
                    self._refuse_short_row(line)
                    self.skipped.append(" ".join(line.text.split()))

    def _refuse_short_row(self, line: TextLine) -> None:
        fields = line.fields.get("", [])
        codes = [token for token in fields if self.builder.code(token.text)]
        if len(codes) > 4 and fields[1:] == codes and self.hands(fields[0].text, self.section):
            what = f"{fields[0]} has {len(codes)} codes; a row has one for each of {' '.join(self.columns)}"
            raise self.builder.error(fields[0], what)
