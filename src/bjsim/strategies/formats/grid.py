"""Finding the grid of a chart: rows under the dealer's cards, a list of decisions, or rows of codes alone.

What a file is nested in is gone (`lines`). What it lacks is guessed only where the chart is then near the best play
and every other guess is far from it, and refused otherwise. What is guessed or skipped is said in `Reading.notes`.
"""

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from bjsim.sim.game.rules import Rules
from bjsim.strategies.charts.chart import ATTACK_ROW, INSURANCE_ROW
from bjsim.strategies.formats import words
from bjsim.strategies.formats.bare import NEAR, arrangements
from bjsim.strategies.formats.cells import Builder, GridRow, Reading
from bjsim.strategies.formats.decisions import Decisions, find_roles
from bjsim.strategies.formats.lines import TextLine, Token, join_fields, read_lines
from bjsim.strategies.formats.policy import complete_policy, is_policy
from bjsim.strategies.formats.refusals import not_understood, refuse_header, shows_one_card, smallest
from bjsim.strategies.formats.words import COLUMNS, parse_code

SHOWN = 40  # characters of a skipped line in a note
TENS = 3  # columns that a header may have besides one for tens: jacks, queens and kings
LEGEND = r"\b((S|H|DD?|[DPRU][hs]?|SP|SUR)\b\W{0,3}|\d ?= ?)(stand|stay|hit|double|split|surrender)"  # S = stand
KEY = r"(?:^|[;|(:#]|(?<!\d)(?<!\bA),)\W*([A-Za-z]{1,2}|\d)\s*(?:=+|is|means|:|->)\s*['\"]?([A-Za-z][A-Za-z/_ ]+)"
SAID = r"[\s:=,;|&(-]+(?=[A-Za-z])"  # between a pair and words, as in `8,8 always split`
NAMED = r"\b([A-Za-z_]{3,})\s*=\s*['\"]?(\d|[A-Za-z]{1,2})\b"  # DOUBLE_STAND = 4


class RowLayout(NamedTuple):
    """How rows are laid out: the cards of each cell, and the fields left of them and right of them in the header."""

    columns: list[list[str]]
    before: list[Token]
    after: int


class Reader:
    """Reads the files of one chart. A file whose name says hard, soft or pairs has the hands of that section."""

    def __init__(self, files: Sequence[tuple[str, str]], rules: Rules) -> None:
        self.lines: list[TextLine] = []
        for name, text in files:
            title = words.find_section(re.sub(r".*[/\\]|\.\w+$|\d", " ", name))
            self.lines += [TextLine(0, f"# {title}", [])] * (title is not None and len(files) > 1)
            for line in read_lines(text):
                self.lines.append(line._replace(fields=[token._replace(file=name) for token in line.fields]))
        name, text = files[-1]
        end = Token(len(re.split(r"\r\n|\r|\n", text.rstrip())) + 1, 1, "", name)
        self.builder = Builder([name for name, _ in files], rules, end)
        self.columns = self.builder.states.columns
        self.section: str | None = None
        self.headers: dict[int, RowLayout] = {}
        self.above: Token | None = None  # the first row above all headers

    def read(self) -> Reading:
        if all(line.heading for line in self.lines):
            raise self.builder.error(Token(1, 1, ""), f"the chart is empty{smallest(self.builder)}")
        self._take_key()
        self._look_for_totals()
        headers = {at: header for at, line in enumerate(self.lines) if (header := self._header(line))}
        self.headers = {at: header for at, header in headers.items() if not self.lines[at].heading} or headers
        if self.headers:
            rows = self._walk(self._take)
        elif roles := find_roles(self.lines, self.builder):
            decisions = Decisions(self.builder, self.hands, roles, self.lines)
            self._walk(lambda _, line: decisions.take(line, self.section))
            rows = decisions.rows()
            if self.columns != COLUMNS:
                raise shows_one_card(self.builder, rows[0].label)
        else:
            rows = self._bare()
        if not any(row.hands for row in rows):
            first = rows[0].label if rows else Token(1, 1, "")
            raise self.builder.error(first, f"no row has a hand and its codes{smallest(self.builder)}")
        return self.builder.build(rows)

    def _walk(self, take: Callable[[int, TextLine], list[GridRow] | None]) -> list[GridRow]:
        """The rows that are taken from the lines; what is neither taken nor a title is skipped, with a note."""
        rows: list[GridRow] = []
        for at, line in enumerate(self.lines):
            taken = None if line.heading and at not in self.headers else take(at, line)
            if taken is not None:
                rows += taken
            elif title := words.find_title(line.text):
                self.section = title
            elif not line.heading:
                for gap in re.finditer(SAID, line.text[: 2 * words.LONGEST_LABEL]):
                    label = line.text[: gap.start()].strip(" |\t\"'")
                    self.builder.skipped |= dict.fromkeys(self.hands(label, self.section) or (), line.fields[0])
                text = " ".join(line.text.split())
                self.builder.note(f"skipped: {text if len(text) <= SHOWN else text[:SHOWN] + '…'}")
        return rows

    def _take_key(self) -> None:
        """Take from a key what the codes of this file mean, if it says more than usual: `T = double else stand`."""
        for line in self.lines:
            found = re.findall(KEY, line.text) if line.text.count("|") < 2 else []
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

    def _header(self, line: TextLine) -> RowLayout | None:
        """The layout that a line with all of the dealer's cards gives, or None."""
        fields = line.fields
        cards = [self.builder.cards(token.text) or [] for token in fields]
        if len(fields) == 1 or not set(self.columns) <= {card for some in cards for card in some}:
            return None
        for size in (len(self.columns) + TENS, *range(len(self.columns), 1, -1)):
            for start in range(len(fields) - size, -1, -1):
                some, rest = cards[start : start + size], fields[:start] + fields[start + size :]
                if size < len(self.columns) and any(parse_code(t.text) or re.search(r"\d", t.text) for t in rest):
                    continue  # 16 | 2-9 | hit is a decision
                flat = [card for group in some for card in group]
                once = [card for at, card in enumerate(flat) if card != "T" or at == 0 or flat[at - 1] != "T"]
                if all(some) and sorted(once) == sorted(self.columns):
                    return RowLayout(some, fields[:start], len(fields) - start - size)
        return None

    def _take(self, at: int, line: TextLine) -> list[GridRow] | None:
        first = min(self.headers)
        if header := self.headers.get(at):
            if self._header(line._replace(fields=header.before)):
                second = line.fields[len(header.before)]
                raise self.builder.error(second, "two tables side by side; put the second one below the first")
            self.section = words.find_title(join_fields(header.before, line.text).text) or self.section
            return []
        layout = self.headers[max((place for place in self.headers if place < at), default=first)]
        row = self._row(line, layout)
        if row and at < first:
            self.above = self.above or row.label
        elif row and self.above:
            why = f"the dealer's cards come in line {self.lines[first].number} only; put them above the first row"
            raise self.builder.error(self.above, why)
        return [row] if row else None

    def _row(self, line: TextLine, layout: RowLayout) -> GridRow | None:
        size, error = len(layout.columns), self.builder.error
        fields = self._fields(line, layout)
        cells, before = fields[-size:], fields[: max(len(fields) - size, 1)]
        label = join_fields(before, line.text)
        if len(before) > 1 and (title := words.section_column(before[0].text)):
            self.section, label = title, join_fields(before[1:], line.text)
        section = line.section or self.section
        hands = self.hands(label.text, section)
        if hands is None and layout.after and not layout.before and len(fields) == size + 1:  # labels on the right
            label, cells = fields[-1], fields[:-1]
            hands = self.hands(label.text, section)
        codes = sum(self.builder.code(token.text) is not None for token in fields)
        prose = len(re.findall(r"[A-Za-z]*[a-z][A-Za-z]+", line.text)) > 2 * codes + 1  # more than `attack`
        if prose and len(line.fields) == len(line.text.split()) and not all(map(self.builder.is_cell, cells)):
            return None  # a sentence
        if hands is not None and len(fields) > size:
            return GridRow(section, label, hands, cells, layout.columns)
        legend = re.search(LEGEND, line.text, re.IGNORECASE) is not None
        told = codes < size or "=" in line.text or self.builder.code(fields[0].text)  # and no row of a bad label
        if codes < min(3, size) or (codes < size / 2 and not hands) or (legend and told):
            return None
        if hands is None and len(before) > 1 and self.hands(before[0].text, section):
            raise error(fields[size + 1], f"hand {before[0]} has more than {size} cells")
        if hands is None and len(fields) > size:
            raise self.builder.unknown_hand(label)
        raise error(label, f"{label} has {codes} cells, but there are {size} dealer's cards")

    def _fields(self, line: TextLine, layout: RowLayout) -> list[Token]:
        """The fields of a row: those of its label, and a cell for each column."""
        size, fields = len(layout.columns), [*line.fields]
        while len(fields) > size + 1 and not fields[-1].text:
            if self.builder.code(fields[-size].text) and not all(map(self.builder.is_cell, fields[-size - 1 : -1])):
                break  # the last cell is empty
            fields.pop()
        if "|" not in line.text and any(not field.text for field in fields):
            end = fields[-1]._replace(column=len(line.text) + 1, text="")  # an editor may have removed empty cells
            fields += [end] * min(size + 1 - len(fields), size - 1)
        return fields

    # --- rows of codes without the dealer's cards

    def _bare(self) -> list[GridRow]:
        """Rows of ten codes, with or without hands; the chart must be near the best play, in one order alone."""
        rows = self._walk(self._codes)
        if is_policy(rows, self.lines):
            if self.columns != COLUMNS:
                raise shows_one_card(self.builder, rows[0].label)
            return complete_policy(rows, self.builder)
        refuse_header(self.builder, self.lines)
        unlabelled = [row for row in rows if row.label is row.cells[0]]
        if len(rows) < 10 or self.columns != COLUMNS:
            raise not_understood(self.builder, self.lines, rows)
        if unlabelled and len(unlabelled) < len(rows):
            raise self.builder.unknown_hand(unlabelled[0].label)
        tens = "T" * (len(rows[0].cells) - 9)
        orders = [f"23456789{tens}A", f"A23456789{tens}"]
        ranked = sorted(way for order in orders for way in arrangements(rows, self.builder, order, bool(unlabelled)))
        (share, order, names), (rival, _, _) = [*ranked, *[(1.0, orders[0], [])] * 2][:2]
        if share > NEAR or rival < 2 * share + 0.01:
            why = f"; as {' '.join(order)}, {share:.0%} of the cells are not the best play" if ranked else ""
            raise not_understood(self.builder, self.lines, rows, why)
        why = f"so {share:.1%} of the cells are not the best play, otherwise {rival:.0%} or more"
        hands = f", the hands {' '.join(name for group in names for name in group)}" if unlabelled else ""
        self.builder.note(f"guessed: the dealer's cards are {' '.join(order)}{hands}; {why}")
        columns = [[card] for card in order]
        return [row._replace(hands=group, columns=columns) for row, group in zip(rows, names, strict=True)]

    def _codes(self, _: int, line: TextLine) -> list[GridRow] | None:
        """A row without columns; the label of one without a label is its first cell."""
        fields, code = line.fields, self.builder.code
        at = [place for place, token in enumerate(fields) if code(token.text)]
        if len(at) not in (10, 13) or at[-1] - at[0] != len(at) - 1:
            if 4 < len(at) < 13 and at == [*range(1, len(fields))] and self.hands(fields[0].text, self.section):
                what = f"{fields[0]} has {len(at)} codes; a row has one for each of {' '.join(self.columns)}"
                raise self.builder.error(fields[0], what)
            return None
        rest = [token for token in (*fields[: at[0]], *fields[at[-1] + 1 :]) if token.text]
        if len(rest) > 1 and (kind := words.section_column(rest[0].text)):
            self.section, rest = kind, rest[1:]
        section, label = line.section or self.section, join_fields(rest, line.text) if rest else fields[at[0]]
        hands = self.hands(label.text, section) if rest else []
        if hands is None:
            raise self.builder.unknown_hand(label)
        return [GridRow(section, label, hands, fields[at[0] : at[-1] + 1])]
