"""The lines of a chart file as fields, whatever they are nested in: text with any separator, HTML, or brackets.

What stands in brackets (JSON, JavaScript, Python, TOML, YAML, C, Java, SQL) becomes a line for every innermost list,
with the keys on the way to it in front, and a line for every value with a key of its own.
"""

import html
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from bjsim.errors import InputError
from bjsim.strategies.formats.words import BLANK, find_section, find_title, parse_cards, parse_code, parse_hands

SEPARATORS = ("|", "\t", ";", ",", "&", "")  # "" for spaces
QUOTES = "'\"*`“”‘’"  # around fields; asterisks make words bold in Markdown
LONGEST_LINE = 1000  # characters that are read of a line; more are prose
DEEPEST = 20  # brackets in brackets
IN_BRACKETS = 0.6  # of the words of a file, if its lines are nested

# Frames of boxes become pipes and dashes, odd spaces become spaces, and invisible characters vanish.
_FRAMES = {code: "-" for code in range(0x2500, 0x2580)} | {ord(mark): "|" for mark in "│┃┆┇┊┋║╎╏"}
_BLANKS = dict.fromkeys((0xA0, 0x2002, 0x2003, 0x2007, 0x2009, 0x202F, 0x3000), " ")
_PLAIN = _FRAMES | _BLANKS | dict.fromkeys((0xAD, 0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF))
_NESTED = re.compile(
    r"(?P<comment>//[^\n]*|/\*.*?\*/|(?<![\w'\"])(?:\#|-- )[^\n]*)|(?P<text>\"[^\"\n]*\"|'[^'\n]*'|`[^`\n]*`)"
    r"|(?P<open>[\[{(])|(?P<close>[\]})])|(?P<key>=>|[:=])|(?P<end>[,;])|(?P<line>\n)|(?P<word>[^\s\[\]{}(),;:='\"`]+)",
    re.DOTALL,
)
_STATE = re.compile(r"(?i)\W*(\w+)\W+(\w+)\W+([01]|true|false)\W*")  # the last is whether there is a usable ace
_BLOCKS = r"<tr\b|</tr|</?table|<h\d|<p\b|<caption|<div|<li"


class ChartError(InputError):
    """A chart file is not valid. The message has the file, line and column, and the accepted values."""


class Token(NamedTuple):
    """A word of a file and where it begins; lines and columns count from 1. An empty cell has an empty token."""

    line: int
    column: int
    text: str
    file: str = ""

    def __str__(self) -> str:
        return self.text if len(self.text) <= 20 else f"{self.text[:20]}…"


class TextLine(NamedTuple):
    """A line as text, its fields, and the section of the chart if it is known."""

    number: int
    text: str
    fields: list[Token]
    section: str | None = None

    @property
    def heading(self) -> bool:
        """Whether it is a comment, or a heading of Markdown."""
        return self.text.startswith("#")


def read_lines(text: str) -> list[TextLine]:
    """The lines that are not empty, with their numbers, without frames and the ends of LaTeX rows."""
    text = re.sub(r"\r\n|\r", "\n", text).translate(_PLAIN)
    text = re.sub(r"\bnp\.(?:\w+\(([^()]*)\)|(True|False)_)", lambda number: number[1] or number[2], text)
    if re.search(r"<t[rdh]\b", text, re.IGNORECASE):
        return list(_html_lines(text))
    nested = _Nested(re.sub(r"(?im)^\s*INSERT INTO .*?VALUES", lambda sql: " " * len(sql[0]), text))
    return nested.lines() if nested.share > IN_BRACKETS else list(_text_lines(text))


# --- text


def _text_lines(text: str) -> Iterator[TextLine]:
    """A comment that begins a line is kept with one `#`, since Markdown writes headings so."""
    for number, line in enumerate(text.translate(str.maketrans("[]{}", "    ")).split("\n"), 1):
        line = line[:LONGEST_LINE]
        heading = line.lstrip().startswith("#")
        line = line.replace("#", " ") if heading else line.split("#")[0]
        line = re.sub(r"^\s*[-*•]\s", lambda mark: " " * len(mark[0]), line)  # an item of a list
        line = re.sub(r"\\\\.*$|\$", " ", re.sub(r"\\([lg])eq?\b", lambda sign: "<=" if sign[1] == "l" else ">=", line))
        line = re.sub(r"/\*|\*/|//", lambda mark: ", ", line)
        if line.strip(" \t|;,:-+=&"):
            yield text_line(number, line, heading)


def text_line(number: int, line: str, heading: bool = False) -> TextLine:
    """A line with the fields of which most mean something, among those that the separators in it give."""
    ways = [split_fields(number, line, mark) for mark in SEPARATORS if mark in line]
    said = [sum(_says(token.text) for token in fields) / max(len(fields), 1) for fields in ways]
    best = max(range(len(ways)), key=lambda way: (said[way] >= 0.5) * (said[way], len(ways[way])))
    return TextLine(number, f"# {line.strip()}" if heading else line, ways[best])


@lru_cache(maxsize=1 << 12)
def _says(text: str) -> bool:
    means = any(parse(text) for parse in (parse_code, parse_cards, parse_hands))
    return text in BLANK or (means and re.search(r"[|\t;]|,$", text) is None)


def split_fields(number: int, text: str, separator: str) -> list[Token]:
    """The fields of a line, without the empty ones that a frame of pipes makes at both ends.

    Where spaces separate, pipes do so too, and a last word of ten letters or more is one cell for each letter. A `!`
    ends a cell, as in what `bjsim check` prints. What is in quotes has no separators.
    """
    if separator == ",":
        text = re.sub(r"^([^:=]*)[:=](?=\s)", r"\1,", text)  # 16: S, S, ...
    pattern = rf"[^{re.escape(separator)}]*" if separator else r"[^\s|!]+!?"
    if separator and text.count('"') % 2 == 0:
        pattern = rf'(?:\s*"[^"]*"\s*(?={re.escape(separator)}|$)|{pattern})'
    fields = []
    for match in re.finditer(pattern, text):
        if not separator or match.start() == 0 or text[match.start() - 1] == separator:
            inner = match[0].strip().strip(QUOTES).strip()
            fields.append(Token(number, match.start() + 1 + max(match[0].find(inner), 0), inner))
    if separator == "|":
        fields = fields[1:] if text.lstrip().startswith("|") else fields
        fields = fields[:-1] if text.rstrip().endswith("|") else fields
    return fields if separator else _lettered(fields)


def _lettered(fields: list[Token]) -> list[Token]:
    """Fields with a last word of ten letters or more as one field for each letter."""
    if not fields or not re.fullmatch(r"(?i)[SHDPRYNU]{10,13}|[2-9TXA]{10,13}", fields[-1].text):
        return fields
    *before, (line, column, text, _) = fields
    return [*before, *(Token(line, column + place, letter) for place, letter in enumerate(text))]


def join_fields(fields: Sequence[Token], text: str) -> Token:
    """Fields as one token, as they were written."""
    if not fields:
        return Token(1, 1, "")
    first, last = fields[0], fields[-1]
    written = text[first.column - 1 : last.column - 1 + len(last.text)].strip(QUOTES + " ")
    if not written.startswith(first.text) or not written.endswith(last.text):  # cells of HTML and of brackets
        written = ",".join(field.text for field in fields if field.text)
    return first._replace(text=written)


def _place(text: str, offset: int, word: str) -> Token:
    return Token(text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset), word)


# --- HTML


def _html_lines(text: str) -> Iterator[TextLine]:
    """Rows of tables are lines of cells, of which one that spans columns counts as often; other text is by lines."""
    text = re.sub(r"(?is)<!--.*?-->|<(style|script)\b.*?</\1>", lambda gone: re.sub(r"[^\n]", " ", gone[0]), text)
    for part in re.finditer(rf"(?is)(?:{_BLOCKS}|\A).*?(?={_BLOCKS}|\Z)", text):
        cells = []
        for cell in re.finditer(r"(?is)<t[dh]\b([^>]*)>(.*?)(?=<t[dh]\b|</t[dhr]|\Z)", part[0]):
            span = re.search(r"(?i)colspan\W*(\d{1,2})", cell[1])
            cells += [_place(text, part.start() + cell.start(2), _said(cell[2]))] * (int(span[1]) if span else 1)
        named = {token.text for token in cells} - {""}
        if len(named) > 1:
            yield TextLine(cells[0].line, " | ".join(token.text for token in cells), _lettered(cells))
        elif words := (" ".join(named) or _said(part[0]))[:LONGEST_LINE]:
            yield text_line(_place(text, part.end(), "").line, words)


def _said(text: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]*>?", " ", text)).split()).strip(QUOTES)


# --- brackets

Entry = tuple[list[Token], list["Token | list[Entry]"]]  # its key, and its values: words and brackets


class _Nested:
    """The brackets of a file, and the share of its words that are inside."""

    def __init__(self, text: str) -> None:
        self.found: list[TextLine] = []
        self.comments: dict[int, Token] = {}
        self.names: list[str] = []  # of the fields of the last record
        words, inside = 0, 0
        frames: list[list[Entry]] = [[([], [])]]  # of open brackets; the last entry of each is not complete
        for match in _NESTED.finditer(text):
            kind, token = match.lastgroup, _place(text, match.start(), match[0].strip("\"'` \t"))
            key, values = frames[-1][-1]
            if kind == "comment":
                token = token._replace(text=match[0].strip("/*#- \n"))
                self.comments[token.line] = token
                self.found.append(text_line(token.line, token.text[:LONGEST_LINE], heading=True))
            elif kind == "open" and len(frames) <= DEEPEST:
                frames.append([([], [])])
            elif kind == "close" and len(frames) > 1:
                self._close(frames)
            elif kind == "key":
                named = [value for value in values if isinstance(value, Token)] or _words(values)  # x[][2] =; (16, T):
                key += [part for word in named for part in _state(word)]
                values.clear()
            elif kind in ("text", "word"):
                name = token.text.rpartition(".")[2] if re.fullmatch(r"[A-Za-z_]+(\.[A-Za-z_]+)+", token.text) else ""
                values.append(token._replace(text=name or token.text))
                words, inside = words + 1, inside + (len(frames) > 1)
            elif (kind == "end" and (len(frames) > 1 or match[0] == ";")) or (kind == "line" and len(frames) == 1):
                assigned = kind == "line" and not values and re.search(r"=\s*\Z", text[: match.start()])
                frames[-1] += [([], [])] * (not assigned)
        while len(frames) > 1:  # brackets that are never closed
            self._close(frames)
        self.entries = frames[0]
        self.share = inside / words if words > 20 else 0.0

    def _close(self, frames: list[list[Entry]]) -> None:
        closed = [entry for entry in frames.pop() if any(entry)]
        frames[-1][-1][1].append(closed)

    def lines(self) -> list[TextLine]:
        for key, values in self.entries:
            brackets = [value for value in values if isinstance(value, list)]
            if brackets and isinstance(values[-1], Token) and all(map(_is_flat, brackets)) and not key:
                self._add(_words(values), [])  # (16, 10), S
            elif len(key) > 1 and all(map(_means, key)) and len(values) == 1 and not brackets:
                self._add([*key, *_words(values)], [])  # (16, 10): S
            elif brackets and not (all(map(_is_flat, brackets)) and len(_words(brackets)) == 1):
                self._walk([(key, values)], [])
            elif title := find_title(" ".join(token.text for token in [*key, *_words(values)])):  # hard: or [hard]
                self.found.append(text_line((key or _words(values))[0].line, title, heading=True))
        return sorted(self.found, key=lambda line: line.number)

    def _walk(self, entries: list[Entry], path: list[Token]) -> None:
        keys = [key for key, _ in entries if key]
        told = [word for _, values in entries if all(map(_is_word, values)) for word in _words(values)]
        means = any(_means(word) for key in keys for word in key)
        if len(told) == sum(len(_words(values)) for _, values in entries) and not keys:  # a list
            self._add([*path, *told], path)
        elif len(keys) == len(entries) and len(told) == len(entries) and not means:  # a record
            names = [key[-1].text for key in keys]
            if names != self.names:
                self._add([key[-1] for key in keys], path)
            self.names = names
            self._add([*path, *told], path)
        else:
            beside = [] if means else [word for word in told if _means(word)]
            for key, values in entries:
                here = [*path, *(word for word in key if _means(word)), *beside]
                for value in values:
                    if isinstance(value, list):
                        self._walk(value, here)
                    elif key and means:
                        self._add([*here, value], here)

    def _add(self, fields: list[Token], path: list[Token]) -> None:
        """Add a line; the keys that say hard, soft or pairs are its section, and a comment may be its label."""
        titles = [word for word in path if find_section(word.text) and not parse_hands(word.text)]
        section = find_section(titles[-1].text) if titles else None
        fields = [word for word in fields if word not in titles]
        if fields and (comment := self.comments.get(fields[-1].line)) and parse_code(_lettered(fields)[0].text):
            fields = [comment, *fields] if parse_hands(comment.text, section) else fields
        if fields:
            text = " | ".join(word.text for word in fields)
            self.found.append(TextLine(fields[-1].line, text, _lettered(fields), section))


def _words(values: Sequence[Token | list[Entry]]) -> list[Token]:
    """The words of values, and of the brackets in them, without keys."""
    found: list[Token] = []
    for value in values:
        found += [value] if isinstance(value, Token) else [word for _, inner in value for word in _words(inner)]
    return found


def _is_word(value: Token | list[Entry]) -> bool:
    return isinstance(value, Token)


def _is_flat(value: list[Entry]) -> bool:
    return all(not key and all(map(_is_word, values)) for key, values in value)


def _state(word: Token) -> list[Token]:
    """The words of a key that is a state in one text, such as "(16, 10, False)"."""
    state = _STATE.fullmatch(word.text)
    return [word._replace(text=part) for part in state.groups()] if state else [word]


def _means(word: Token) -> bool:
    """Whether a key says something about hands, dealer's cards, sections or aces; names of variables may not."""
    flag = word.text.upper() in ("0", "FALSE", "TRUE")
    return flag or any(parse(word.text) for parse in (find_section, parse_hands, parse_cards))
