"""The lines of pasted charts as fields, whatever separates them: pipes, tabs, semicolons, commas, `&` or spaces."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from bjsim.strategies.formats import labels
from bjsim.strategies.formats.parser import Token

SEPARATORS = ("|", "\t", ";", ",", "&", "")  # "" for spaces
QUOTES = "'\"*`“”‘’"  # around fields; asterisks make words bold in Markdown
LONGEST_LINE = 1000  # characters that are read of a line; more are prose
TENS = 3  # columns that a header may have besides one for tens: jacks, queens and kings

# Frames of boxes become pipes and dashes, odd spaces and brackets become spaces, and invisible characters vanish.
_FRAMES = {code: "-" for code in range(0x2500, 0x2580)} | {ord(mark): "|" for mark in "│┃┆┇┊┋║╎╏"}
_BLANKS = dict.fromkeys((*b"[]{}", 0xA0, 0x2002, 0x2003, 0x2007, 0x2009, 0x202F, 0x3000), " ")
_PLAIN = _FRAMES | _BLANKS | dict.fromkeys((0xAD, 0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF))


class TableLayout(NamedTuple):
    """How the rows under a header are laid out.

    Attributes:
        separator: One of SEPARATORS.
        columns: The dealer's cards, in the order of the cells.
        after: The number of fields to the right of the cells.
        title: What stands to the left of the dealer's cards.
    """

    separator: str
    columns: list[str]
    after: int
    title: str


def plain_lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines that are not empty, with their numbers, without comments, frames and the ends of LaTeX rows.

    A comment that begins a line is kept without its `#`, since Markdown writes headings so. Of a line that is longer
    than LONGEST_LINE, only the beginning is kept.
    """
    for number, line in enumerate(re.split(r"\r\n|\n|\r", text.translate(_PLAIN)), 1):
        line = line[:LONGEST_LINE]
        heading = line.lstrip().startswith("#")
        line = line.replace("#", " ") if heading else line.split("#")[0]
        line = re.sub(r"^\s*[-*•]\s", lambda mark: " " * len(mark[0]), line)  # an item of a list
        line = re.sub(r"\\\\.*$|\$", " ", re.sub(r"\\([lg])eq?\b", lambda sign: "<=" if sign[1] == "l" else ">=", line))
        if line.strip(" \t|;,:-+=&"):
            yield number, f"# {line.strip()}" if heading else line


def split_fields(number: int, text: str, separator: str) -> list[Token]:
    """The fields of a line, without the empty ones that a frame of pipes makes at both ends.

    Where spaces separate, pipes do so too, and a last word of ten letters or more is one cell for each letter. A `!`
    ends a cell, as in what `bjsim check` prints.
    """
    if separator == ",":
        text = re.sub(r"^([^:=]*)[:=](?=\s)", r"\1,", text)  # 16: S, S, ...
    pattern = rf"[^{re.escape(separator)}]*" if separator else r"[^\s|!]+!?"
    fields = []
    for match in re.finditer(pattern, text):
        if not separator or match.start() == 0 or text[match.start() - 1] == separator:
            inner = match[0].strip().strip(QUOTES).strip()
            fields.append(Token(number, match.start() + 1 + max(match[0].find(inner), 0), inner))
    if separator == "|":
        fields = fields[1:] if text.lstrip().startswith("|") else fields
        fields = fields[:-1] if text.rstrip().endswith("|") else fields
    return fields if separator else [*fields[:-1], *_letters(fields[-1:])]


def _letters(last: Sequence[Token]) -> Iterator[Token]:
    for token in last:
        if re.fullmatch(r"[SHDPRYNU]{10,13}|[2-9TXA]{10,13}", token.text, re.IGNORECASE):
            yield from (Token(token.line, token.column + place, letter) for place, letter in enumerate(token.text))
        else:
            yield token


def join_fields(fields: Sequence[Token], text: str) -> Token:
    """Fields as one token, as they were written."""
    if not fields:
        return Token(1, 1, "")
    first, last = fields[0], fields[-1]
    return Token(
        first.line, first.column, text[first.column - 1 : last.column - 1 + len(last.text)].strip(QUOTES + " ")
    )


def find_header(text: str, columns: Sequence[str], parse_card: Callable[[str], str | None]) -> TableLayout | None:
    """Return the layout that a line with all of the dealer's cards gives, or None."""
    for separator in SEPARATORS:
        if separator not in text:
            continue
        fields = split_fields(1, text, separator)
        cards = [parse_card(token.text) for token in fields]
        if not set(columns) <= set(cards):
            continue
        for size in (len(columns) + TENS, len(columns)):
            for start in range(len(cards) - size, -1, -1):
                found = [card for card in cards[start : start + size] if card is not None]
                tens = [card for card in found if card in columns[:-1] and found.count(card) > 1]
                if len(found) == size and set(found) == set(columns) and set(tens) <= {"T"}:
                    title = join_fields(fields[:start], text).text
                    return TableLayout(separator, found, len(cards) - start - size, title)
    return None


def split_row(number: int, text: str, layout: TableLayout) -> list[Token]:
    """The fields of a row: those of its label, and a cell for each column.

    A row that is not separated as its header was is tried with every separator.
    """
    size = len(layout.columns)
    best = split_fields(number, text, layout.separator)
    for separator in (layout.separator, *reversed(SEPARATORS)):
        if separator not in text:
            continue
        fields = split_fields(number, text, separator)
        for _ in range(layout.after):
            if len(fields) > size + 1 and labels.parse_code(fields[-1].text) is None:
                fields.pop()
        while len(fields) > size + 1 and not fields[-1].text and labels.parse_code(fields[-size].text) is None:
            fields.pop()
        if separator == layout.separator:
            best = fields
        if separator in ("\t", ",", ";"):  # an editor may have removed empty cells at the end of a line
            end = Token(number, len(text) + 1, "")
            fields = fields + [end] * (min(size + 1 - len(fields), size - 1) if any(not f.text for f in fields) else 0)
        cells = fields[-size:]
        if len(fields) > size and all(labels.parse_code(token.text) or token.text in labels.BLANK for token in cells):
            return fields
    return best


def shows_one_card(text: str) -> bool:
    return any(find_header(line, tuple("23456789TA"), labels.parse_card) for _, line in plain_lines(text))


def is_transposed(text: str) -> bool:
    """Whether each of the dealer's cards begins a line of codes, so that rows and columns are the wrong way round."""
    found = set()
    for number, line in plain_lines(text):
        for separator in SEPARATORS:
            fields = split_fields(number, line, separator)
            if sum(labels.parse_code(token.text) is not None for token in fields[1:]) >= 3:
                found.add(labels.parse_card(fields[0].text))
    return found >= set("23456789TA")
