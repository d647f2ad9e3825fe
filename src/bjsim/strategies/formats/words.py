"""What the words of charts mean: hands (`5-8`, `Soft 18`, `A,7`, `18+`, `pair of 8s`), dealer's cards, codes, titles.

Charts, index plays and the questions of the command line are all read with these functions.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import product

from bjsim.sim.game.cards import RANKS, TEN, pair_code, soft_code

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
_TITLES = (  # the words of a line that begins a section; "dealer stands on soft 17" is no such line
    "HARD SOFT PAIR PAIRS SPLIT SPLITS SPLITTING SURRENDER SURRENDERS LATE TOTAL TOTALS HAND HANDS TABLE CHART ACES "
    "ACE STRATEGY PLAYER PLAYER'S YOUR YOU OF THE VS V DEALER DEALER'S CARD CARDS UPCARD UP SHOWS AGAINST BASIC WITH "
    "A AN DECISION DECISIONS FOR AND CSV TXT MD"
)
TITLE_WORDS = {*_TITLES.split()}
LEFT_OUT = r"\([^()]*\)|\bTABLE \d+|\b(?:EXCLUDING|EXCEPT|WITHOUT|BUT NO|NOT?|NON)\b.*"  # hard hands (no pairs)
NOISE = r"\b(HARD|SOFT|PAIRS?|SPLITS?|OF|TOTALS?|HANDS?|PLAYER'?S?|YOUR?|HAVE|POINTS?)\b|[():.\"]"
UP, DOWN = r"(OR|AND|&) (MORE|HIGHER|UP|ABOVE|OVER|GREATER)", r"(OR|AND|&) (LESS|LOWER|DOWN|BELOW|UNDER|FEWER)"
NUMBERS = dict(TWO="2", THREE="3", FOUR="4", FIVE="5", SIX="6", SEVEN="7", EIGHT="8", NINE="9")  # "a pair of eights"
CARDS = {
    **{word: int(digit) for name, digit in NUMBERS.items() for word in (name, digit)},
    **dict.fromkeys(("10", "T", "J", "Q", "K", "X", "F", "TEN", "JACK", "QUEEN", "KING", "FACE", "PICTURE"), 10),
    **dict.fromkeys(("A", "ACE"), 11),
}
CARD = r"(?:10|[2-9]|[TJQKXFA]|TEN|ACE|JACK|QUEEN|KING)"
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
Hand = tuple[str, int]  # a section, and a total or the points of a pair's card
LONGEST_LABEL = 100  # characters; some expressions take time that grows with the square of a label's length
FOOTNOTES = "*†‡§!¹²³⁴⁵. "  # marks after a code; `!` is that of `bjsim check`


@lru_cache(maxsize=1 << 12)
def parse_code(text: str) -> str | None:
    """The code that a cell means, `Y`, `N` or `Y/N`, or None."""
    word = _one_word(text)
    return CODES_BY_WORD.get(word) or CODES_BY_PAIR.get(re.sub(BETWEEN, "", word))


def _one_word(text: str) -> str:
    word = spaced(text).upper().strip(FOOTNOTES)  # DoubleOrHit, double_or_hit
    return re.sub(r" ?DOWN\b|(?<=^FREE)[ -]|(?<=^NO) (?=SPLIT)|(?<=^DON)['’ ]?T (?=SPLIT)", "", word)


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
    if len(set(parts)) < len(parts):
        return None  # 8,8 is a hand
    return [*dict.fromkeys(map(_letter, found))]


def _card_points(text: str) -> int | None:
    text = {"1": "A", "11": "A"}.get(text, text)
    return CARDS.get(text) or CARDS.get(re.sub(r"(E?S|\+)$", "", text))  # 10s, 10+, Sixes


def _dashes(text: str) -> str:
    return re.sub("[–—−‑‒~]|\\.\\.+|…", "-", text).replace("_", " ")


def spaced(text: str) -> str:
    """The words of a name, such as hard_totals and softHands."""
    return re.sub(r"_|(?<=[a-z])(?=[A-Z])", " ", text)


def find_columns(names: Sequence[str], roles: Mapping[str, str]) -> dict[str, int]:
    """The places of the roles that the names of columns say, of a pattern for each role."""
    places: dict[str, int] = {}
    for place, name in enumerate(names):
        role = next((role for role, words in roles.items() if re.search(words, spaced(name).lower())), "")
        if role:
            places.setdefault(role, place)
    return places


def find_section(text: str) -> str | None:
    """The section that a title or a label names, or None."""
    found = [section for section, words in SECTION_WORDS.items() if re.search(words, spaced(text).upper())]
    return found[-1] if found else None


@lru_cache(maxsize=1 << 12)
def find_title(text: str) -> str | None:
    """The section that a line without hands begins, or None if it is no title of a section."""
    text = re.sub(LEFT_OUT, " ", spaced(text).upper().replace("’", "'"))
    words = set(re.findall(r"[A-Z']+|\d+", text))
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
    if len(label) > LONGEST_LABEL or re.search(r"(?i).\bsplit\b", label):
        return None  # `8,8 split split` is a row
    text = _dashes(re.sub(GLUED, r"\1 ", label.upper())).replace("≤", "<=").replace("≥", ">=")
    text = re.sub(r"^\s*-(?=\d)", "<=", re.sub(r"^\s*(\d\d?)\s*-$", r"<=\1", re.sub("['’]S", "S", text)))  # ~8, 8-
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
        plain = {"2": "A", "22": "A", **{str(2 * points): str(points) for points in range(2, 11)}}.get(plain, "?")
    hands = _parse(plain, HARD if section == SURRENDER else section)
    return [_row(*hand) for hand in dict.fromkeys(hands)] if hands else None


def _plain(text: str) -> str:
    """A label without words, such as `>=17` for `Hard 17 or more`."""
    text = re.sub(r"\b(" + "|".join(NUMBERS) + r")(?=(E?S)?\b)", lambda match: NUMBERS[match[1]], text)
    text = text.strip(" ,|;\t&")
    text = re.sub(rf"(.+?)(\+| {UP})$", r">=\1", re.sub(rf"(.+?) {DOWN}$", r"<=\1", text))
    text = re.sub(r"\b(TO|THRU|THROUGH)\b", "-", re.sub(LETTER, "", re.sub(r"\bUP TO\b", "<=", text)))
    return re.sub(r"\s*([-/,+&<>=])\s*", r"\1", re.sub(NOISE, " ", text)).strip(" ,|;\t&")


def _parse(text: str, section: str | None) -> list[Hand] | None:
    if one := _hand(text, section):
        return [one]
    if match := re.fullmatch(r"([<>]=?)(.+)", text):
        if not (one := _hand(match[2], section)):
            return None
        kind, value = one
        value += {">": 1, "<": -1}.get(match[1], 0)
        low, high = (value, MOST[kind]) if text[0] == ">" else (LEAST[kind], value)
        return [(kind, each) for each in range(low, high + 1)]
    for match in re.finditer("-", text):
        first, end = _hand(text[: match.start()], section), text[match.end() :]
        beside = first and first[0] == SOFT and not text[0].isdigit() and re.fullmatch("[2-9T]|10", end)  # A,2-5
        last = _hand(f"A,{end}" if beside else end, section)
        if first and last and first[0] == last[0]:
            low, high = sorted((first[1], last[1]))
            return [(first[0], each) for each in range(low, high + 1)]
    parts = re.split(r"[/&;]|\b(?:AND|OR)\b", text)
    parts = text.split(",") if len(parts) == 1 else parts
    found = [hand for part in parts if (hand := _hand(part.strip(), section))]
    kinds = {kind for kind, _ in found}
    if len(found) < len(parts) or len(kinds) > 1 or (len({*found}) < len(found) and {*found} != {(PAIRS, 10)}):
        return None  # A,A,7 are three cards; but 10/J/Q/K
    if "," in text and kinds == {HARD} and re.search(r"\b\d\b", text):
        return None  # 8,7 are two cards, and 13,14 are two totals
    return found


def _hand(text: str, section: str | None) -> Hand | None:
    text = {"1111": "AA", "BJ": "AT", "BLACKJACK": "AT"}.get(text, text)
    if match := re.fullmatch(rf"({CARD})(E?S)?", text):
        if section == PAIRS or match[2]:
            return PAIRS, CARDS[match[1]]
        if section == SOFT:  # the card next to the ace
            return SOFT, 11 + CARDS[match[1]] - 10 * (match[1] in ("A", "ACE"))
    if match := re.fullmatch(rf"({CARD})([ :,/+&-]?)({CARD})", text):
        one, other = CARDS[match[1]], CARDS[match[3]]
        if one == other and text != "11":
            return PAIRS, one
        if 11 in (one, other) and not (section == PAIRS and match[2] == "-"):
            return SOFT, one + other
    kind = section or HARD
    if not re.fullmatch(r"\d\d?", text) or (kind == PAIRS and text not in ("1", "11")):
        return None
    value = 11 if kind == PAIRS else int(text)
    return (kind, value) if LEAST[kind] <= value <= MOST[kind] else None


def _letter(points: int) -> str:
    return RANKS[0] if points == 11 else RANKS[min(points - 1, TEN)]


def _row(kind: str, value: int) -> str:
    if kind == PAIRS:
        return pair_code(0 if value == 11 else value - 1)
    return str(value) if kind == HARD else "A10" if value == 21 else soft_code(value)
