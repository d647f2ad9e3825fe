"""Index plays as people write them: lines, lists and tables, with the hands, cards and actions of charts.

    16vT S>=0          10,10 vs 5 split +5          16vT 0
    13v2 H<-1          Insurance >= +3              | A,8 vs 6 | +1 | Stand | Double |

A count without an operator means that count or more, unless the heading of its column says below. A count without an
action is for the action that the play is known for, such as to stand on 16 against a ten; this is said in a note.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import ge, gt, le, lt

from bjsim.errors import InputError
from bjsim.strategies.charts.chart import PAIR, SOFT, parse_row
from bjsim.strategies.formats import words
from bjsim.strategies.formats.lines import TextLine, read_lines, split_fields
from bjsim.strategies.formats.words import parse_card, parse_code, parse_hands

INSURANCE = "insurance"  # in place of a row
OPERATORS = {">=": ge, "<": lt, "<=": le, ">": gt}
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
_PLAY = re.compile(rf"\s*(?:(?P<hand>{_ROW}|[^|<>=]+?){_VERSUS}(?P<card>\w+)|INSURANCE\b)(?P<rest>.*)", re.DOTALL)
_IGNORED = {*re.split(" ", "AT TC RC IF COUNT TRUE RUNNING WHEN INDEX THE I TAKE IT IS ON A ACE")}
_PLAYED = r"[<>≤≥]|INSURANCE|\d\s*V|V\w*\W*[\dA]|AGAINST"  # what a line of prose has not
_COLUMNS = {
    "basic": r"basic",
    "above": r"above|deviat|higher|or more|>",
    "below": r"below|lower|or less|<",
    "index": r"index|count|\btc\b|\brc\b",
    "card": r"dealer|up ?card",
    "action": r"action|move|decision|^do$",
    "hand": r"hand|player|total|you|play|situation",
}


@dataclass(frozen=True)
class Departure:
    """One index play: an action that is taken if and only if the count fulfils a condition."""

    row: str  # the hand, as the row of a chart; or `insurance`
    column: str  # the dealer's card, as the column of a chart; empty for insurance
    action: str  # S, H, D, P or R; I for insurance
    operator: str  # >=, >, < or <=; `count` is the index that it compares with
    count: Fraction

    def __str__(self) -> str:
        where = INSURANCE if self.row == INSURANCE else f"{self.row}v{self.column}"
        return f"{where} {self.action}{self.operator}{self.count}"

    def holds(self, count: Fraction | int) -> bool:
        return bool(OPERATORS[self.operator](count, self.count))


def parse_plays(text: str) -> tuple[tuple[Departure, ...], tuple[str, ...]]:
    """Parse index plays on lines, in tables, or separated by commas or semicolons.

    Args:
        text: The text; `#` starts a comment.

    Returns:
        The plays in order, and notes on what was guessed or skipped.

    Raises:
        InputError: An entry is not understood; the message names its line. Or there is text, and no play in it.
    """
    plays: list[Departure] = []
    notes: list[str] = []
    places: dict[str, int] = {}  # of the columns of a table
    section = None
    for line in read_lines(text):
        mark = next((mark for mark in "|\t," if mark in line.text), "|")
        fields, said = [token.text for token in split_fields(line.number, line.text, mark)], line.text.upper()
        tabular = places.keys() >= {"index", "hand"} and len(fields) > max(places.values())
        prose = re.match(r"\W*[A-Z]{3}", said) and not tabular and not re.search(_PLAYED, said)
        if line.heading or prose or not re.search(r"\d", said):
            named = words.find_columns(fields, _COLUMNS)
            section = words.find_section(re.sub(words.LEFT_OUT, "", said)) if re.search(r"\w", said) else section
            if "index" in named:
                places = named
            elif re.search(r"\w", said) and not line.heading:
                notes.append(f"skipped: {line.text.strip()[:40]}")
            continue
        for entry in [_entry(fields, places)] if tabular else _entries(line):
            where = f"index plays, line {line.number}: {entry.strip()[:40]!r}"
            operator = "<" if "below" in places and "above" not in places else ">="
            play, guessed = _parse(where, entry, operator, section == words.SURRENDER)
            plays.append(play)
            notes += [guessed] * bool(guessed)
    if notes and not plays:
        raise InputError(f"index plays: none is found in {text.strip()[:40]!r}; write such as 16vT S>=0")
    return tuple(plays), tuple(notes)


def _entry(fields: Sequence[str], places: Mapping[str, int]) -> str:
    """The fields of a row as one entry: the hand, the card, the action of the play and its count."""
    hand, card, index = (fields[places[role]] if role in places else "" for role in ("hand", "card", "index"))
    action = next((fields[places[role]] for role in ("above", "below", "action") if role in places), "")
    return f"{hand} {f'v {card}' * (bool(card) and not hand.upper().startswith('INSURANCE'))} {action} {index}"


def _entries(line: TextLine) -> Iterator[str]:
    """The plays of a line: a comma begins another one only after a play with its hand and its count."""
    entry = ""
    for part in re.split(r"([,;])", line.text.split("#")[0].strip(" |,;")):
        found = _PLAY.match(entry.upper())
        starts = _PLAY.match(part.upper()) or re.match(r"\W*[\dATJQK]{1,2}\W*$", part.upper())
        if found and starts and re.search(_NUMBER, found["rest"]):
            yield entry.strip(" ,;")
            entry = ""
        entry += part
    if entry.strip(" ,;"):
        yield entry.strip(" ,;")


def _parse(where: str, entry: str, operator: str, surrenders: bool) -> tuple[Departure, str]:
    found = _PLAY.fullmatch(entry.upper().strip(" |,;"))
    if not found:
        raise InputError(f"{where} is not accepted; write {FORM}")
    rest = re.sub(r"(?<=[A-Z])(?=[<>≥≤=]|[+\-−–]?\d)", " ", re.sub(r"\bOTHERWISE\b.*", "", found["rest"]))
    rest, signs = re.sub(r"(?<=\d)\+(?!\d)", " OR MORE", rest), 0
    for sign, pattern in _SIGNS.items():
        rest, times = re.subn(pattern, " ", rest)
        operator, signs = (sign if times else operator), signs + times
    counts = re.findall(_NUMBER, rest)
    if len(counts) != 1 or signs > 1:
        raise InputError(f"{where} needs one count; write {FORM}")
    if re.search("/0*$", counts[0]) or abs(count := Fraction(re.sub("[−–]", "-", counts[0]))) > LARGEST_COUNT:
        raise InputError(f"{where}: the count must be from -{LARGEST_COUNT} to {LARGEST_COUNT}")
    said = {*re.split(r"[\s|,;:\"'@()]+", re.sub(_NUMBER, " ", rest))} - _IGNORED - {""}
    if not found["hand"]:
        if said - {"YES", "VS"}:
            raise InputError(f"{where} is not accepted; write insurance I>=3")
        return Departure(INSURANCE, "", "I", operator, count), ""
    if len(said) > 1:
        raise InputError(f"{where} has more than one action; keep the one that the count is for")
    row, code = _row(found["hand"]), parse_code(said.pop()) if said else ""
    if not row or code in (None, "Y", "N"):
        raise InputError(f"{where} is not accepted; write {FORM}")
    if code == "H" and not signs and operator == ">=":
        raise InputError(f"{where}: write H<{count}, or the action that is taken at {count} or more")
    card = parse_card(found["card"]) or found["card"]
    action = code[0] if code else "R" if surrenders else _usual(row)
    note = "" if code else f"{row}v{card} {counts[0]} is read as {action}{operator}{count}"
    return Departure(row, card, action, operator, count), note


def _row(text: str) -> str | None:
    rows = parse_hands(text.strip(" \"'"))
    if rows and len(rows) == 1:
        return rows[0]
    return text.strip().replace("X", "x").replace("FREE", "free") if re.fullmatch(_ROW, text.strip()) else None


def _usual(name: str) -> str:
    """The action that an index of a hand is usually for."""
    try:
        row = parse_row(name)
    except ValueError:
        return "S"
    return "P" if row.kind == PAIR else "D" if row.kind == SOFT or row.points < 12 else "S"
