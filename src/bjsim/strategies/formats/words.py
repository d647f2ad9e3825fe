"""What the words of charts mean: hands (`5-8`, `Soft 18`, `A,7`, `18+`, `pair of 8s`), dealer's cards, codes, titles.

Charts, index plays and the questions of the command line are all read with these functions.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import product

from bjsim.sim.game.cards import RANKS, TEN
from bjsim.sim.game.hand import pair_code, soft_code

COLUMNS = tuple("23456789TA")
HARD, SOFT, PAIRS, SURRENDER = "hard", "soft", "pairs", "surrender"  # the sections of a chart
SECTION_WORDS = {
    HARD: r"\bHARD\b",
    SOFT: r"\bSOFT\b",
    PAIRS: r"\bPAIRS?\b|\bSPLITS?\b|\bSPLITTING\b",
    SURRENDER: r"\bSURRENDERS?\b",
}
LEAST = {HARD: 4, SOFT: 12, PAIRS: 2}  # the first and the last hand of a section: totals, or the points of a card
MOST = {HARD: 21, SOFT: 21, PAIRS: 11}
_TITLES = (
    "HARD SOFT PAIR PAIRS SPLIT SPLITS SPLITTING SURRENDER SURRENDERS LATE TOTAL TOTALS HAND HANDS TABLE CHART ACES "
    "ACE STRATEGY PLAYER PLAYER'S YOUR YOU OF THE VS V DEALER DEALER'S CARD CARDS UPCARD UP SHOWS AGAINST BASIC WITH "
    "AN DECISION DECISIONS FOR AND CSV TXT MD"
)
TITLE_WORDS = {
    *_TITLES.split()
}  # the words of a line that begins a section; "dealer stands on soft 17" is no such line
LEFT_OUT = r"\([^()]*\)|\b(?:EXCLUDING|EXCEPT|WITHOUT|BUT NO|NOT?|NON)\b.*"  # parts of titles: "hard hands (no pairs)"
NOISE = r"\b(HARD|SOFT|PAIRS?|SPLITS?|OF|TOTALS?|HANDS?|PLAYER'?S?|YOUR?|HAVE|POINTS?)\b|[():.\"]"
UP, DOWN = r"(OR|AND|&) (MORE|HIGHER|UP|ABOVE|OVER|GREATER)", r"(OR|AND|&) (LESS|LOWER|DOWN|BELOW|UNDER|FEWER)"
CARD = r"(?:10|[2-9]|[TJQKXFA]|TEN|ACE|JACK|QUEEN|KING)"
_TENS = "10 T J Q K X F TEN TENS JACK QUEEN KING FACE FACES PICTURE PICTURES"
CARDS = {**dict.fromkeys(_TENS.split(), 10), "A": 11, "ACE": 11, "ACES": 11}
NUMBERS = dict(TWO="2", THREE="3", FOUR="4", FIVE="5", SIX="6", SEVEN="7", EIGHT="8", NINE="9")  # "a pair of eights"
LETTER = r"\b([HS](?=\d)|P(?=[2-9TA]\b|10\b))"  # H16, S18, P8
GLUED = r"\b(HARD|SOFT|PAIR|SPLIT)(?=\d|[ATJQK]\b)"  # hard13, split8
BLANK = ("", "-", "–", "—", ".")  # cells that mean "no" in tables of pairs and of surrenders

# What charts write instead of the codes of bjsim; Y and N are resolved with the rules and the totals.
ACTION_WORDS = {
    "S": "S ST STAND STAY STICK STANDS",
    "H": "H HIT HITS",
    "P": "P SP SPL SPT SPLIT FS FP FREESPLIT",
    "D": "D DD DBL DBLE DOUB DOUBLE FD FREEDOUBLE",
    "R": "R U SU SR SUR SURR SURRENDER",
}
YES_NO = {"Y": "Y YES TRUE ✓ ✔", "N": "N NO FALSE ✗ ✘ NOSPLIT DONSPLIT", "Y/N": "Y/N YN"}
FALLBACKS = {"D": "HS", "P": "HDS", "R": "HSP"}
CODES_BY_WORD = {
    word: {"D": "Dh", "R": "Rh"}.get(code, code)
    for code, words in (ACTION_WORDS | YES_NO).items()
    for word in words.split()
}
CODES_BY_PAIR = {
    first + second: action + other.lower()  # such as UH and DOUBLEHIT
    for action, others in FALLBACKS.items()
    for other in others
    for first, second in product(ACTION_WORDS[action].split(), ACTION_WORDS[other].split())
}
BETWEEN = r"\b(IF (ALLOWED|POSSIBLE)|OR|ELSE|OTHERWISE)\b|[/,()'’ -]"  # what stands between the words of a code
LONGEST_LABEL = 100  # characters; some expressions take time that grows with the square of a label's length
FOOTNOTES = "*†‡§!¹²³⁴⁵. "  # marks after a code; `!` is that of `bjsim check`


@lru_cache(maxsize=1 << 12)
def parse_code(text: str) -> str | None:
    """The code that a cell means, `Y`, `N` or `Y/N`, or None."""
    if len(text) > LONGEST_LABEL:
        return None
    word = _one_word(text)
    return CODES_BY_WORD.get(word) or CODES_BY_PAIR.get(re.sub(BETWEEN, "", word))


def _one_word(text: str) -> str:
    spaced = re.sub(r"_|(?<=[a-z])(?=[A-Z])", " ", text).upper().strip(FOOTNOTES)  # DoubleOrHit, double_or_hit
    return re.sub(r" ?\bDOWN\b|(?<=^FREE)[ -]|(?<=^NO) (?=SPLIT)|(?<=^DON)['’ ]?T (?=SPLIT)", "", spaced)


def says_only_the_action(text: str) -> bool:
    """Whether a cell says double or surrender, but not what to do if that is not allowed."""
    return _one_word(text) in (*ACTION_WORDS["D"].split(), *ACTION_WORDS["R"].split())


def parse_card(text: str) -> str | None:
    """The column of one dealer's card, or None; `10/J/Q/K` and `A/11` are one card."""
    cards = parse_cards(text)
    return cards[0] if cards and len(cards) == 1 else None


@lru_cache(maxsize=1 << 12)
def parse_cards(text: str) -> list[str] | None:
    """The columns of one or more of the dealer's cards, such as `2-6`, `10/J/Q/K` and `2-4, 7-10, A`, or None."""
    if len(text) > LONGEST_LABEL:
        return None
    text = _dashes(re.sub(r"\(.*\)", "", text.upper()).strip("'\"*` "))
    text = re.sub(r"^(DEALER'?S?|UP ?CARD|VS?\.?|D|UP) *(?=\d|[ATJQK]\b)", "", text)
    text = re.sub(r"\s*-\s*", "-", re.sub(r"\b(TO|THRU|THROUGH)\b", "-", re.sub(r"\b(AND|OR)\b", ",", text)))
    parts = re.split(r"[/,;&\s]+", text)
    found: list[int] = []
    for part in parts:
        ends = [_card_points(end) for end in re.sub(r"^([2-9])\+$", r"\1-A", part).split("-")]  # 7+
        if None in ends or len(ends) > 2:
            return None
        first, last = ends[0] or 0, ends[-1] or 0
        if first == 11 and last < 11:
            first = 1
        if first > last:
            return None
        found += [points if points > 1 else 11 for points in range(first, last + 1)]
    if len({part for part in parts if part not in ("1", "11")}) < len(parts) - ("11" in parts) - ("1" in parts):
        return None  # 8,8 is a hand
    return [*dict.fromkeys(map(_letter, found))]


def _card_points(text: str) -> int | None:
    text = text if text in CARDS else re.sub(r"(?<=.)(E?S|\+)$", "", text)  # 10s, 10+, Sixes
    text = {"1": "11", **NUMBERS}.get(text, text)
    return CARDS.get(text) or (int(text) if re.fullmatch(r"[2-9]|1[01]", text) else None)


def _dashes(text: str) -> str:
    return re.sub("[–—−‑‒~]|\\.\\.+|…", "-", text).replace("_", " ")


def find_section(text: str) -> str | None:
    """The section that a title or a label names, or None."""
    found = [section for section, words in SECTION_WORDS.items() if re.search(words, text.upper())]
    return found[-1] if found else None


@lru_cache(maxsize=1 << 12)
def find_title(text: str) -> str | None:
    """The section that a line without hands begins, or None if it is no title of a section."""
    text = re.sub(r"_|(?<=[a-z])(?=[A-Z])", " ", text)  # hard_totals, softHands
    text = re.sub(LEFT_OUT, " ", text.upper().replace("’", "'"))
    words = set(re.findall(r"[A-Z']+|\d+", text)) - set(RANKS)
    return find_section(text) if words <= TITLE_WORDS else None


def section_column(text: str) -> str | None:
    """The section that a field left of the label names, if it is not part of the label, as `Soft A` of `Soft A,7`."""
    return None if re.search(r"\d|\b[TJQKA]\b", text) else find_title(text)


@lru_cache(maxsize=1 << 12)
def parse_hands(label: str, section: str | None = None, by_total: bool = False) -> list[str] | None:
    """The rows of a chart, such as `A2`, that a label such as `A,2-A,6` names; None if it is no hand.

    Args:
        label: What stands beside the cells.
        section: The section of the chart in which it is, if any; a word in the label has precedence.
        by_total: Whether a number in a section of pairs is the total of the pair.
    """
    if len(label) > LONGEST_LABEL:
        return None
    text = _dashes(re.sub(GLUED, r"\1 ", label.upper())).replace("≤", "<=").replace("≥", ">=")
    text = re.sub(r"^\s*-(?=\d)|^(?=\d\d?\s*-$)", "<=", re.sub("['’]S", "S", text))  # ~8 and 8-
    outside = _rows(re.sub(r"\(.*?\)", " ", text), section, by_total)
    inside = _rows(found[1], None, False) if (found := re.search(r"\((.*?)\)", text)) else None
    if inside and not any(row.isdigit() and len(set(row)) > 1 for row in inside):  # 18 (A,7), 16 (8,8)
        return inside
    return outside or _rows(text, section, by_total)


def parse_dealt(text: str) -> str | None:
    """The letters of a hand's cards: `T6` for `10,6`, `88` for `pair of 8s`; None if it is no cards, as 16 is none."""
    letters = re.sub(r"\b([TA])(EN|CE)\b", r"\1", text.upper().replace("10", "T"))
    if re.fullmatch("[A2-9TJQK]+", plain := re.sub(r"[\s,/+&-]", "", letters)):
        return plain
    rows = parse_hands(text)
    cards = rows[0].replace("10", "T") if rows and len(rows) == 1 else ""
    return cards if re.fullmatch(r"A.|([2-9T])\1", cards) else None


def _rows(text: str, section: str | None, by_total: bool) -> list[str] | None:
    own = find_section(text)
    if letter := re.match(r"\s*" + LETTER, text):  # H16, S18, P8
        own = {"H": HARD, "S": SOFT, "P": PAIRS}[letter[1]]
    section = (own if own != SURRENDER else None) or section
    plain = _plain(text)
    if section == PAIRS and by_total and plain.isdigit():
        points = int(plain)
        plain = "A" if points in (2, 22) else str(points // 2) if points in range(4, 21, 2) else "?"
    hands = _parse(plain, HARD if section == SURRENDER else section)
    return hands and [_row(hands[0], value) for value in dict.fromkeys(hands[1])]


def _plain(text: str) -> str:
    """A label without words, such as `17+` for `Hard 17 or more`."""
    text = re.sub(r"\b(" + "|".join(NUMBERS) + r")(?=(E?S)?\b)", lambda match: NUMBERS[match[1]], text)
    text = re.sub(r"\bUP TO\b", "<=", re.sub(UP, "+", re.sub(DOWN, "<", text)))
    text = re.sub(r"\b(TO|THRU|THROUGH)\b", "-", re.sub(LETTER, "", text))
    return re.sub(r"\s*([-/,+&])\s*", r"\1", re.sub(NOISE, " ", text)).strip(" ,|;\t&=" + "-" * ("<" in text))


def _parse(text: str, section: str | None) -> tuple[str, list[int]] | None:
    if one := _hand(text, section):
        return one[0], [one[1]]
    if match := re.fullmatch(r"(?:(>=|<=|<|>)\s*(.+)|(.+?)\s*(\+|<))", text):
        sign = match[1] or {"+": ">=", "<": "<="}[match[4]]
        return _open_range(_hand(match[2] or match[3], section), sign)
    if "-" in text and (hands := _range(text, section)):
        return hands
    parts = re.split(r"[/&;]|\b(?:AND|OR)\b", text)
    if len(parts) == 1:
        of_cards = re.fullmatch(rf"{CARD},{CARD}(,{CARD},{CARD})+", text)  # A,2,A,3
        of_pairs = re.fullmatch(r"[2-9TA]{2}( [2-9TA]{2})+", text)  # AA 88
        parts = re.findall(rf"{CARD},{CARD}", text) if of_cards else text.split(" " if of_pairs else ",")
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
    if text == "1111":
        return PAIRS, 11
    if match := re.fullmatch(rf"({CARD})(E?S)?", text):
        if section == PAIRS or match[2]:
            return PAIRS, _points(match[1])
        if section == SOFT:  # the card next to the ace
            return SOFT, 11 + _points(match[1]) - 10 * (match[1] in ("A", "ACE"))
    if match := re.fullmatch(rf"({CARD})([ :,/+&-]?)({CARD})", text):
        one, other = _points(match[1]), _points(match[3])
        if one == other and text != "11":
            return PAIRS, one
        if 11 in (one, other) and not (section == PAIRS and match[2] == "-"):
            return SOFT, one + other
    if not re.fullmatch(r"\d\d?", text):
        return None
    value, kind = int(text), section or HARD
    if kind == PAIRS:
        return (PAIRS, 11) if value in (1, 11) else None
    return (kind, value) if LEAST[kind] <= value <= MOST[kind] else None


def _open_range(hand: tuple[str, int] | None, sign: str) -> tuple[str, list[int]] | None:
    if hand is None:
        return None
    kind, value = hand
    value += {">": 1, "<": -1}.get(sign, 0)
    low, high = (value, MOST[kind]) if sign[0] == ">" else (LEAST[kind], value)
    return kind, list(range(low, high + 1))


def _range(text: str, section: str | None) -> tuple[str, list[int]] | None:
    for match in re.finditer("-", text):
        low = _hand(text[: match.start()], section)
        end = text[match.end() :]
        beside = low and low[0] == SOFT and not text[0].isdigit() and re.fullmatch("[2-9T]|10", end)  # A,2-5
        high = _hand(f"A,{end}" if beside else end, section)
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
