"""Labels of pasted charts: hands such as `5-8`, `Soft 18`, `A,7`, `18+` and `Pair 8,8`, dealer's cards, and codes."""

from __future__ import annotations

import re

from bjsim.sim.game.cards import RANKS, TEN
from bjsim.sim.game.hand import pair_code, soft_code

HARD, SOFT, PAIRS, SURRENDER = "hard", "soft", "pairs", "surrender"  # the sections of a chart
SECTION_WORDS = {
    HARD: r"\bHARD\b", SOFT: r"\bSOFT\b", PAIRS: r"\bPAIRS?\b|\bSPLITS?\b|\bSPLITTING\b", SURRENDER: r"\bSURRENDERS?\b"
}  # fmt: skip
LEAST = {HARD: 4, SOFT: 12, PAIRS: 2}  # the first and the last hand of a section: totals, or the points of a card
MOST = {HARD: 21, SOFT: 21, PAIRS: 11}
TITLE_WORDS = {
    *("HARD", "SOFT", "PAIR", "PAIRS", "SPLIT", "SPLITS", "SPLITTING", "SURRENDER", "SURRENDERS", "LATE", "TOTAL"),
    *("TOTALS", "HAND", "HANDS", "TABLE", "CHART", "STRATEGY", "PLAYER", "PLAYER'S", "YOUR", "YOU", "OF", "THE", "VS"),
    *("V", "DEALER", "DEALER'S", "CARD", "UPCARD", "UP", "SHOWS"),
}  # the words of a line that begins a section; "dealer stands on soft 17" is no such line
NOISE = r"\b(HARD|SOFT|PAIRS?|SPLITS?|OF|TOTALS?|HANDS?|PLAYER'?S?|YOUR|POINTS?)\b|\(.*?\)|[:.\"]"
UP, DOWN = r"(OR|AND|&) (MORE|HIGHER|UP|ABOVE|OVER|GREATER)", r"(OR|AND|&) (LESS|LOWER|DOWN|BELOW|UNDER|FEWER)"
CARD = r"(?:10|[2-9]|[TJQKXA]|TENS?|ACES?)"
CARDS = {"10": 10, "T": 10, "J": 10, "Q": 10, "K": 10, "X": 10, "TEN": 10, "TENS": 10, "A": 11, "ACE": 11, "ACES": 11}

# What charts write instead of the codes of bjsim; Y and N are resolved with the rules and the totals.
CODE_WORDS = {
    "S": "S STAND", "H": "H HIT", "P": "P SP SPL SPLIT", "Dh": "D DH DD D/H DOUBLE", "Ds": "DS D/S",
    "Ph": "PH P/H SP/H", "Pd": "PD P/D SP/D", "Ps": "PS P/S SP/S", "Rh": "R RH R/H U UH U/H SUR SUR/H SURRENDER",
    "Rs": "RS R/S US U/S SUR/S", "Rp": "RP R/P UP USP U/P U/SP SUR/P SUR/SP", "Y": "Y YES",
    "N": "N NO", "Y/N": "Y/N YN",
}  # fmt: skip
CODES_BY_WORD = {word: code for code, words in CODE_WORDS.items() for word in words.split()}

Hands = tuple[str, list[int]]  # a section, and its totals or the points of its pairs


def parse_code(text: str) -> str | None:
    """The code that a cell means, `Y`, `N` or `Y/N`, or None."""
    return CODES_BY_WORD.get(text.upper().strip("*†‡ "))


def parse_card(text: str) -> str | None:
    """The column of a dealer's card, or None."""
    first = re.split(r"[/,\s]", text.upper().strip("'\" "))[0]
    if first in ("FACE", "PICTURE"):
        return "T"
    first = {"11": "A", "1": "A"}.get(first, first)
    return _letter(_points(first)) if re.fullmatch(CARD, first) else None


def find_section(text: str) -> str | None:
    """The section that a title or a label names, or None."""
    found = [section for section, words in SECTION_WORDS.items() if re.search(words, text.upper())]
    return found[-1] if found else None


def find_title(text: str) -> str | None:
    """The section that a line without hands begins, or None if it is no title of a section."""
    words = set(re.findall(r"[A-Z'’]+", text.upper())) - set(RANKS)
    return find_section(text) if words <= TITLE_WORDS else None


def parse_hands(label: str, section: str | None) -> list[str] | None:
    """The rows of a chart that a label names.

    Args:
        label: The label, such as `A,2-A,6`.
        section: The section of the chart in which it is, if any. A word in the label has precedence.

    Returns:
        Names of rows, such as `A2`; None if the label is not a hand.
    """
    text = re.sub("[–—−‑‒]", "-", label.upper()).replace("≤", "<=").replace("≥", ">=").replace("'S", "S")
    own = find_section(text)
    section = (own if own != SURRENDER else None) or section
    if section == SURRENDER:
        section = HARD
    text = re.sub(r"\s*([-/,+])\s*", r"\1", re.sub(NOISE, " ", re.sub(UP, "+", re.sub(DOWN, "<", text))))
    text = re.sub(r"\bTO\b", "-", text).strip(" ,|")
    text = re.sub(r"\s*-\s*", "-", text)
    hands = _parse(text, section)
    if hands is None:
        return None
    kind, values = hands
    return [_row(kind, value) for value in values]


def _parse(text: str, section: str | None) -> Hands | None:
    one = _hand(text, section)
    if one:
        return one[0], [one[1]]
    if match := re.fullmatch(r"(?:(>=|<=|<|>)\s*(.+)|(.+?)\s*(\+|<))", text):
        sign = match[1] or {"+": ">=", "<": "<="}[match[4]]
        return _open_range(_hand(match[2] or match[3], section), sign)
    if "-" in text:
        return _range(text, section)
    parts = re.split(r"[/&;]|\bAND\b", text)
    if len(parts) == 1:
        parts = re.findall(rf"{CARD},{CARD}", text) if re.fullmatch(rf"{CARD},{CARD}(,{CARD},{CARD})+", text) else []
    found = [_hand(part.strip(), section) for part in parts]
    kinds = {hand[0] for hand in found if hand}
    if not found or None in found or len(kinds) > 1:
        return None
    return kinds.pop(), [hand[1] for hand in found if hand]


def _hand(text: str, section: str | None) -> tuple[str, int] | None:
    """A single hand as its section and its total, or the points of the cards of a pair."""
    if section == PAIRS and (match := re.fullmatch(rf"({CARD})S?", text)):
        return PAIRS, _points(match[1])
    if match := re.fullmatch(rf"({CARD})[ ,/-]?({CARD})", text):
        one, other = _points(match[1]), _points(match[2])
        if one == other and text != "11":
            return PAIRS, one
        if 11 in (one, other):
            return SOFT, one + other
    if not re.fullmatch(r"\d\d?", text):
        return None
    value = int(text)
    if section == SOFT:
        return (SOFT, value) if LEAST[SOFT] <= value <= MOST[SOFT] else None
    return (HARD, value) if section != PAIRS and LEAST[HARD] <= value <= MOST[HARD] else None


def _open_range(hand: tuple[str, int] | None, sign: str) -> Hands | None:
    if hand is None:
        return None
    kind, value = hand
    value += {">": 1, "<": -1}.get(sign, 0)
    low, high = (value, MOST[kind]) if sign[0] == ">" else (LEAST[kind], value)
    return kind, list(range(low, high + 1))


def _range(text: str, section: str | None) -> Hands | None:
    for match in re.finditer("-", text):
        low = _hand(text[: match.start()], section)
        end = text[match.end() :]
        high = _hand(f"A{end}" if low and low[0] == SOFT and re.fullmatch("[2-9]", end) else end, section)  # A,2-5
        if low and high and low[0] == high[0]:
            first, last = sorted((low[1], high[1]))
            return low[0], list(range(first, last + 1))
    return None


def _points(card: str) -> int:
    return CARDS.get(card) or int(card)


def _letter(points: int) -> str:
    return RANKS[0] if points == 11 else RANKS[min(points - 1, TEN)]


def _row(kind: str, value: int) -> str:
    if kind == PAIRS:
        return pair_code(0 if value == 11 else value - 1)
    return str(value) if kind == HARD else "A10" if value == 21 else soft_code(value)
