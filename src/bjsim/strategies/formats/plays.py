"""Index plays as people write them: lines, lists and tables, with the hands, cards and actions of charts.

    16vT S>=0          10,10 vs 5 split +5          16vT 0
    13v2 H<-1          Insurance >= +3              | A,8 vs 6 | +1 | Stand | Double |

A count without an operator means that count or more, unless the heading of its column says below. A count without an
action is for the action that the play is known for, such as to stand on 16 against a ten; this is said in a note.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

from bjsim.errors import InputError
from bjsim.strategies.charts.rows import PAIR, SOFT, parse_row
from bjsim.strategies.formats import words
from bjsim.strategies.formats.lines import TextLine, Token, read_lines
from bjsim.strategies.formats.words import parse_card, parse_code, parse_hands

INSURANCE = "insurance"  # in place of a row
LARGEST_COUNT = 1000
FORM = "a hand, v, a card, S H D P or R, and a count, such as 16vT S>=0 or 10,10 vs 5 split +5; or insurance +3"
_NUMBER = r"(?<![\w./])[+\-−–]?\d{1,5}(?:\.\d{1,6}|/\d{1,6})?(?![\w./])"
_SIGNS = {
    ">=": r">=|=>|≥|\bAT OR ABOVE\b|\bOR (?:MORE|HIGHER|ABOVE)\b|\bAND (?:UP|ABOVE)\b",
    "<=": r"<=|=<|≤|\bAT OR BELOW\b|\bOR (?:LESS|LOWER|BELOW)\b",
    ">": r">|\bABOVE\b|\bOVER\b|\bMORE THAN\b",
    "<": r"<|\bBELOW\b|\bUNDER\b|\bLESS THAN\b",
}
_ROW = r"(?:[AT2-9JQK1][\dATJQK]*(?:[:/]\w+)?(?:X\d+)?)"  # a row of a chart as it is
_VERSUS = r"[\s\"']*(?:(?<![A-Z])|(?<=[TJQKA])|(?<=/FREE))(?:VS?\.?|VERSUS|AGAINST(?: AN?(?= \w))?)[\s\"']*"
_PLAY = re.compile(rf"\s*(?P<hand>{_ROW}|[^|<>=]+?){_VERSUS}(?P<card>\w+)(?P<rest>.*)", re.DOTALL)
_IGNORED = {*re.split(" ", "AT TC RC IF COUNT TRUE RUNNING WHEN INDEX THE I TAKE IT ON A ACE")}
PLAYED = r"[<>≤≥]|INSURANCE|\d\s*V|V\w*\W*[\dA]|AGAINST"  # what a line of prose has not
_COLUMNS = {
    "basic": r"BASIC",
    "above": r"ABOVE|DEVIAT|HIGHER|OR MORE|>",
    "below": r"BELOW|LOWER|OR LESS|<",
    "index": r"INDEX|COUNT|\bTC\b|\bRC\b",
    "card": r"DEALER|UP ?CARD",
    "action": r"ACTION|MOVE|DECISION|^DO$",
    "hand": r"HAND|PLAYER|TOTAL|YOU|PLAY|SITUATION",
}


class IndexPlay(NamedTuple):
    """An index play: `row` and `column` of a chart (or `insurance` and an empty text), and when an action is taken."""

    row: str
    column: str
    action: str
    operator: str
    at: Fraction


class _Heading(NamedTuple):
    """What the heading of a table says: the places of its columns, and how its counts compare."""

    places: dict[str, int]
    surrender: bool = False

    @property
    def operator(self) -> str:
        return "<" if "below" in self.places and "above" not in self.places else ">="

    def entry(self, fields: Sequence[Token]) -> str:
        """The fields of a row as one entry: the hand, the card, the action of the play and its count."""
        told = {role: fields[place].text for role, place in self.places.items() if place < len(fields)}
        hand = told.get("hand", "")
        card = f" v {told['card']}" if told.get("card") and not hand.upper().startswith("INSURANCE") else ""
        action = told.get("above") or told.get("below") or told.get("action", "")
        return f"{hand}{card} {action} {told.get('index', '')}"


def parse_plays(text: str) -> tuple[tuple[IndexPlay, ...], tuple[str, ...]]:
    """Parse index plays on lines, in tables, or separated by commas or semicolons.

    Args:
        text: The text; `#` starts a comment.

    Returns:
        The plays in order, and notes on what was guessed or skipped.

    Raises:
        InputError: An entry is not understood; the message names its line. Or there is text, and no play in it.
    """
    plays, notes, heading = [], [], _Heading({})
    for line in read_lines(text):
        fields = next((line.fields[mark] for mark in "|\t" if mark in line.fields), line.fields.get(",", []))
        places = _places(fields)
        if line.heading or not re.search(r"\d", line.text):
            surrender = words.find_title(line.text) == words.SURRENDER
            if surrender or places.keys() >= {"index"}:
                heading = _Heading(places, surrender)
            elif re.search(r"\w", line.text) and not line.heading:
                notes.append(f"skipped: {line.text.strip()[:40]}")
            continue
        tabular = {"index", "hand"} <= heading.places.keys() and len(fields) > max(heading.places.values())
        said = line.text.upper()
        if not tabular and not re.search(PLAYED, said) and re.match(r"\W*[A-Z]{3}", said):
            heading = _Heading(heading.places, words.find_section(said) == words.SURRENDER)
            notes.append(f"skipped: {line.text.strip()[:40]}")
            continue
        for entry in [heading.entry(fields)] if tabular else _entries(line):
            play, note = _parse(f"index plays, line {line.number}: {entry.strip()[:40]!r}", entry, heading)
            plays.append(play)
            notes += [note] * bool(note)
    if notes and not plays:
        raise InputError(f"index plays: none is found in {text.strip()[:40]!r}; write such as 16vT S>=0")
    return tuple(plays), tuple(notes)


def _places(fields: Sequence[Token]) -> dict[str, int]:
    places: dict[str, int] = {}
    for place, field in enumerate(fields):
        for role in [role for role, pattern in _COLUMNS.items() if re.search(pattern, field.text.upper())][:1]:
            places.setdefault(role, place)
    return places


def _entries(line: TextLine) -> Iterator[str]:
    """The plays of a line: a comma begins another one only after a play with its hand and its count."""
    entry = ""
    for part in re.split(r"([,;])", line.text.split("#")[0].strip(" |,;")):
        whole = re.search(_NUMBER, _PLAY.sub(r"\g<rest>", entry.upper()).replace("INSURANCE", " "))
        starts = _PLAY.match(part.upper()) or re.match(r"\W*(INSURANCE|[\dATJQK]{1,2}\W*$)", part.upper())
        if whole and starts and (_PLAY.match(entry.upper()) or "INSURANCE" in entry.upper()):
            yield entry.strip(" ,;")
            entry = ""
        entry += part
    if entry.strip(" ,;"):
        yield entry.strip(" ,;")


def _parse(where: str, entry: str, heading: _Heading) -> tuple[IndexPlay, str]:
    text = entry.upper().strip(" |,;")
    insured = re.fullmatch(r"INSURANCE\b(?P<rest>.*)", text, re.DOTALL)
    found = insured or _PLAY.fullmatch(text)
    if not found:
        raise InputError(f"{where} is not accepted; write {FORM}")
    rest = re.sub(r"(?<=[A-Z])(?=[<>≥≤=]|[+\-−–]?\d)", " ", re.sub(r"\bOTHERWISE\b.*", "", found["rest"]))
    rest = re.sub(r"(?<=\d)\+(?!\d)", " OR MORE", rest)
    operator, signs = heading.operator, 0
    for sign, pattern in _SIGNS.items():
        rest, times = re.subn(pattern, " ", rest)
        operator, signs = (sign if times else operator), signs + times
    counts = re.findall(_NUMBER, rest)
    said = [word for word in re.split(r"[\s|,;:\"'@()]+", re.sub(_NUMBER, " ", rest)) if word and word not in _IGNORED]
    if len(counts) != 1 or signs > 1:
        raise InputError(f"{where} needs one count; write {FORM}")
    try:
        count = Fraction(re.sub("[−–]", "-", counts[0]))
    except ZeroDivisionError:
        count = Fraction(LARGEST_COUNT + 1)
    if abs(count) > LARGEST_COUNT:
        raise InputError(f"{where}: the count must be from -{LARGEST_COUNT} to {LARGEST_COUNT}")
    if insured:
        if not set(said) <= {"YES", "VS"}:
            raise InputError(f"{where} is not accepted; write insurance I>=3")
        return IndexPlay(INSURANCE, "", "I", operator, count), ""
    row, card = _hand(found["hand"]), parse_card(found["card"]) or found["card"]
    codes = [parse_code(word) for word in said]
    if len(codes) > 1:
        raise InputError(f"{where} has more than one action; keep the one that the count is for")
    if not row or None in codes or codes == ["Y"] or codes == ["N"]:
        raise InputError(f"{where} is not accepted; write {FORM}")
    if codes == ["H"] and not signs and operator == ">=":
        raise InputError(f"{where}: write H<{count}, or the action that is taken at {count} or more")
    action = (codes[0] or "S")[0] if codes else "R" if heading.surrender else _usual(row)
    note = f"{row}v{card} {counts[0]} is read as {action}{operator}{count}"
    return IndexPlay(row, card, action, operator, count), "" if codes else note


def _hand(text: str) -> str | None:
    rows = parse_hands(text.strip(" \"'"))
    if rows and len(rows) == 1:
        return rows[0]
    name = re.sub(r"X(?=\d+$)", "x", text.strip()).replace("FREE", "free")
    return name if re.fullmatch(_ROW.replace("X", "x"), name) else None


def _usual(name: str) -> str:
    """The action that an index of a hand is usually for."""
    try:
        row = parse_row(name)
    except ValueError:
        return "S"
    return "P" if row.kind == PAIR else "D" if row.kind == SOFT or row.points < 12 else "S"
