"""Labels of pasted charts: hands such as `5-8`, `Soft 18`, `A,7`, `18+` and `Pair 8,8`, dealer's cards, and codes."""

from __future__ import annotations

import re

from bjsim.sim.game.cards import RANKS, TEN
from bjsim.sim.game.hand import pair_code, soft_code

HARD, SOFT, PAIRS, SURRENDER = "hard", "soft", "pairs", "surrender"  # the sections of a chart
SECTION_WORDS = {
    HARD: r"\bHARD\b",
    SOFT: r"\bSOFT\b",
    PAIRS: r"\bPAIRS?\b|\bSPLITS?\b|\bSPLITTING\b",
    SURRENDER: r"\bSURRENDERS?\b",
}
LEAST = {HARD: 4, SOFT: 12, PAIRS: 2}  # the first and the last hand of a section: totals, or the points of a card
MOST = {HARD: 21, SOFT: 21, PAIRS: 11}
TITLE_WORDS = {
    *("HARD", "SOFT", "PAIR", "PAIRS", "SPLIT", "SPLITS", "SPLITTING", "SURRENDER", "SURRENDERS", "LATE", "TOTAL"),
    *("TOTALS", "HAND", "HANDS", "TABLE", "CHART", "STRATEGY", "PLAYER", "PLAYER'S", "YOUR", "YOU", "OF", "THE", "VS"),
    *("V", "DEALER", "DEALER'S", "CARD", "CARDS", "UPCARD", "UP", "SHOWS", "AGAINST", "BASIC", "ACE", "ACES", "WITH"),
    *("AN", "DECISION", "DECISIONS", "FOR", "AND"),
}  # the words of a line that begins a section; "dealer stands on soft 17" is no such line
LEFT_OUT = r"\([^()]*\)|\b(?:EXCLUDING|EXCEPT|WITHOUT|BUT NO|NOT?|NON)\b.*"  # parts of titles: "hard hands (no pairs)"
NOISE = r"\b(HARD|SOFT|PAIRS?|SPLITS?|OF|TOTALS?|HANDS?|PLAYER'?S?|YOUR?|HAVE|POINTS?)\b|[():.\"]"
UP, DOWN = r"(OR|AND|&) (MORE|HIGHER|UP|ABOVE|OVER|GREATER)", r"(OR|AND|&) (LESS|LOWER|DOWN|BELOW|UNDER|FEWER)"
CARD = r"(?:10|[2-9]|[TJQKXFA]|TENS?|ACES?)"
CARDS = {
    "10": 10,
    "T": 10,
    "J": 10,
    "Q": 10,
    "K": 10,
    "X": 10,
    "F": 10,
    "TEN": 10,
    "TENS": 10,
    "A": 11,
    "ACE": 11,
    "ACES": 11,
}
NUMBERS = dict(TWO="2", THREE="3", FOUR="4", FIVE="5", SIX="6", SEVEN="7", EIGHT="8", NINE="9")  # "a pair of eights"
BLANK = ("", "-", "–", "—", ".")  # cells that mean "no" in tables of pairs and of surrenders

# What charts write instead of the codes of bjsim; Y and N are resolved with the rules and the totals.
ACTION_WORDS = {
    "S": "S ST STAND STAY STICK",
    "H": "H HIT",
    "P": "P SP SPL SPT SPLIT FS FP FREESPLIT",
    "D": "D DD DBL DBLE DOUBLE FD FREEDOUBLE",
    "R": "R U SU SR SUR SURR SURRENDER",
}
CODE_WORDS = {
    **ACTION_WORDS,
    "Dh": ACTION_WORDS["D"],
    "Rh": ACTION_WORDS["R"],
    "Y": "Y YES ✓ ✔",
    "N": "N NO ✗ ✘",
    "Y/N": "Y/N YN",
}
CODES_BY_WORD = {word: code for code, words in CODE_WORDS.items() if code not in "DR" for word in words.split()}
FALLBACKS = {"D": "HS", "P": "HDS", "R": "HSP"}
LONGEST_LABEL = 100  # characters; some expressions take time that grows with the square of a label's length
FOOTNOTES = "*†‡§!¹²³⁴⁵. "  # marks after a code; `!` is that of `bjsim check`


def _combinations() -> dict[str, str]:
    """The codes by two words for an action and its fallback, such as `UH` and `DOUBLEHIT`."""
    words = {action: texts.split() for action, texts in ACTION_WORDS.items()}
    return {
        first + second: action + other.lower()
        for action, others in FALLBACKS.items()
        for other in others
        for first in words[action]
        for second in words[other]
    }


CODES_BY_PAIR = _combinations()

Hands = tuple[str, list[int]]  # a section, and its totals or the points of its pairs


def parse_code(text: str) -> str | None:
    """The code that a cell means, `Y`, `N` or `Y/N`, or None."""
    word = re.sub(r"\bDOWN\b", "", text.upper()).strip(FOOTNOTES)
    word = re.sub(r"^FREE[ -]", "FREE", word)
    if word in CODES_BY_WORD:
        return CODES_BY_WORD[word]
    return CODES_BY_PAIR.get(re.sub(r"\b(IF ALLOWED|OR|ELSE|OTHERWISE)\b|[/,() -]", "", word))


def says_only_the_action(text: str) -> bool:
    """Whether a cell says double or surrender, but not what to do if that is not allowed."""
    word = re.sub(r"\bDOWN\b", "", text.upper()).strip(FOOTNOTES)
    return word in (*ACTION_WORDS["D"].split(), *ACTION_WORDS["R"].split())


def parse_card(text: str) -> str | None:
    """The column of a dealer's card, or None."""
    first = re.split(r"[/,\s(–-]", text.upper().strip("'\" "))[0]
    if first in ("FACE", "FACES", "PICTURE"):
        return "T"
    first = {"11": "A", "1": "A", **NUMBERS}.get(first, first)
    return _letter(_points(first)) if re.fullmatch(CARD, first) else None


def find_section(text: str) -> str | None:
    """The section that a title or a label names, or None."""
    found = [section for section, words in SECTION_WORDS.items() if re.search(words, text.upper())]
    return found[-1] if found else None


def find_title(text: str) -> str | None:
    """The section that a line without hands begins, or None if it is no title of a section."""
    text = re.sub(LEFT_OUT, " ", text.upper().replace("’", "'"))
    words = set(re.findall(r"[A-Z']+|\d+", text)) - set(RANKS)
    return find_section(text) if words <= TITLE_WORDS else None


def section_column(text: str) -> str | None:
    """The section that a field left of the label names, if it is not part of the label, as `Soft A` of `Soft A,7`."""
    return None if re.search(r"\d|\b[TJQKA]\b", text) else find_title(text)


def parse_hands(label: str, section: str | None) -> list[str] | None:
    """Return the rows of a chart, such as `A2`, that a label such as `A,2-A,6` names; None if it is no hand.

    `section` is the section of the chart in which it is, if any. A word in the label has precedence.
    """
    if len(label) > LONGEST_LABEL:
        return None
    text = re.sub("[–—−‑‒~]|\\.\\.+|…", "-", label.upper()).replace("≤", "<=").replace("≥", ">=")
    text = re.sub("['’]S", "S", text)
    outside = _rows(re.sub(r"\(.*?\)", " ", text), section)
    inside = _rows(found[1], None) if (found := re.search(r"\((.*?)\)", text)) else None
    if inside and not any(row.isdigit() and len(set(row)) > 1 for row in inside):  # 18 (A,7), 16 (8,8)
        return inside
    return outside or _rows(text, section)


def _rows(text: str, section: str | None) -> list[str] | None:
    own = find_section(text)
    if letter := re.match(r"\s*([HS](?=\d)|P(?=[2-9TA]\b|10\b))", text):  # H16, S18, P8
        own = {"H": HARD, "S": SOFT, "P": PAIRS}[letter[1]]
    section = (own if own != SURRENDER else None) or section
    hands = _parse(_plain(text), HARD if section == SURRENDER else section)
    return hands and [_row(hands[0], value) for value in dict.fromkeys(hands[1])]


def _plain(text: str) -> str:
    """A label without words, such as `17+` for `Hard 17 or more`."""
    text = re.sub(r"\b(" + "|".join(NUMBERS) + r")(?=(E?S)?\b)", lambda match: NUMBERS[match[1]], text)
    text = re.sub(r"\bUP TO\b", "<=", re.sub(UP, "+", re.sub(DOWN, "<", text)))
    text = re.sub(r"\b(TO|THRU|THROUGH)\b", "-", re.sub(r"\b([HS](?=\d)|P(?=[2-9TA]\b|10\b))", "", text))
    return re.sub(r"\s*([-/,+&])\s*", r"\1", re.sub(NOISE, " ", text)).strip(" ,|;\t&=")


def _parse(text: str, section: str | None) -> Hands | None:
    one = _hand(text, section)
    if one:
        return one[0], [one[1]]
    if match := re.fullmatch(r"(?:(>=|<=|<|>)\s*(.+)|(.+?)\s*(\+|<))", text):
        sign = match[1] or {"+": ">=", "<": "<="}[match[4]]
        return _open_range(_hand(match[2] or match[3], section), sign)
    if "-" in text and (hands := _range(text, section)):
        return hands
    parts = re.split(r"[/&;]|\b(?:AND|OR)\b", text)
    if len(parts) == 1:
        of_cards = re.fullmatch(rf"{CARD},{CARD}(,{CARD},{CARD})+", text)  # A,2,A,3
        parts = re.findall(rf"{CARD},{CARD}", text) if of_cards else text.split(",")
    found = [_hand(part.strip(), section) for part in parts]
    kinds = {hand[0] for hand in found if hand}
    if not found or None in found or len(kinds) > 1:
        return None
    if "," in text and kinds == {HARD} and re.search(r"\b\d\b", text):
        return None  # 8,7 are two cards, and 13,14 are two totals
    return kinds.pop(), [hand[1] for hand in found if hand]


def _hand(text: str, section: str | None) -> tuple[str, int] | None:
    if text in ("BLACKJACK", "BJ"):
        return SOFT, 21
    if match := re.fullmatch(rf"({CARD})(E?S)?", text):
        if section == PAIRS or match[2] or text in ("TENS", "ACES"):
            return PAIRS, _points(match[1])
        if section == SOFT:  # the card next to the ace
            return SOFT, 11 + _points(match[1]) - 10 * (match[1] in ("A", "ACE"))
    if match := re.fullmatch(rf"({CARD})([ ,/+&-]?)({CARD})", text):
        one, other = _points(match[1]), _points(match[3])
        if one == other and text != "11":
            return PAIRS, one
        if 11 in (one, other) and not (section == PAIRS and match[2] == "-"):
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
