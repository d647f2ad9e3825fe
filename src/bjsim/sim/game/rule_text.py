"""Parsers of rule values: each takes a field's text and returns its value.

Raises: ValueError, KeyError or ZeroDivisionError for text that the field does not accept.
"""

import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import field, fields
from fractions import Fraction
from functools import wraps
from html import escape
from typing import Any, TypeVar

from bjsim.arguments import parse_fraction
from bjsim.errors import InputError, shorten, suggest

EARLY_SURRENDER = {"none": "", "late": "", "early": "AT", "early-ten": "T", "early-ace": "A"}  # kinds; against what


def whole(low: int, high: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        number = int(text)
        if not low <= number <= high:
            raise ValueError
        return number

    return parse


def amount(low: int, high: int) -> Callable[[str], int]:
    """A parser of integers from `low` to `high`, which may be written as 1e6 or 1M."""

    def parse(text: str) -> int:
        number = parse_fraction(text.removesuffix("M")) * (10**6 if text.endswith("M") else 1)
        return whole(low, high)(str(number))

    return parse


def or_inf(parse: Callable[[str], int]) -> Callable[[str], float]:
    return lambda text: math.inf if text in ("inf", "infinite") else parse(text)


def share(accepts: Callable[[Fraction], bool]) -> Callable[[str], Fraction]:
    """A parser of fractions and percentages that satisfy `accepts`."""

    def parse(text: str) -> Fraction:
        number = parse_fraction(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
        if not accepts(number):
            raise ValueError
        return number

    return parse


def cut(text: str) -> Fraction:
    """Parse the share of a shoe that is dealt; `csm`, a shuffling machine, deals every round from a fresh shoe."""
    return share(lambda x: 0 <= x <= 1)("0" if text.lower() == "csm" else text)


def odds(text: str) -> Fraction:
    """Parse odds above 0 and up to 100, such as 3:2."""
    number = parse_fraction(text.replace(":", "/"))
    if not 0 < number <= 100 or number.denominator > 1000:
        raise ValueError
    return number


def parse_choice(*words: str) -> Callable[[str], str]:
    def parse(text: str) -> str:
        if text not in words:
            raise ValueError
        return text

    return parse


def parse_flag(text: str) -> bool:
    return {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}[text.lower()]


def surrender(text: str) -> str:
    """Parse the kind of surrender; a truth value means late surrender or none."""
    return text if text in EARLY_SURRENDER else ("none", "late")[parse_flag(text)]


def charlie(text: str) -> int | str:
    """Parse the number of cards that win at once, or none."""
    return text if text == "none" else whole(5, 7)(text)


def max_ace_hands(text: str) -> float | str:
    """Parse the limit of hands from splitting aces, or none."""
    return text if text == "none" else or_inf(whole(2, 16))(text)


def free_doubles(text: str) -> str:
    """Parse the hard totals that double free, such as 9-11, or none."""
    return text if text == "none" else double_on({"any": "", "never": ""}.get(text, text))


def ranks(text: str) -> str:
    """Parse different ranks, such as A2356789, or none; their order does not matter."""
    given = text.upper()
    if text != "none" and (not text or len(set(given)) < len(text) or set(given) - set("A23456789T")):
        raise ValueError
    return text if text == "none" else "".join(sorted(given, key="A23456789T".index))


def deal(text: str) -> str:
    """Parse the order of the deal, such as pdpd."""
    if set(text) - set("pd") or text.count("p") != 2 or text.count("d") not in (1, 2):
        raise ValueError
    return text


def double_on(text: str) -> str:
    """Parse the hands that may double, such as 9-11."""
    if text not in ("any", "never"):
        low, high = map(int, text.split("-"))
        if not 4 <= low <= high <= 20:
            raise ValueError
    return text


# --- Declarations of the fields of `Rules`, and how their values are written.


T = TypeVar("T")
WORDS: dict[str, dict[str, object]] = {  # what casinos and books write for rules
    "s17": {"hit_soft_17": False},
    "h17": {"hit_soft_17": True},
    "das": {"double_after_split": True},
    "ndas": {"double_after_split": False},
    "ls": {"surrender": "late"},
    "lsr": {"surrender": "late"},
    "es": {"surrender": "early"},
    "es10": {"surrender": "early-ten"},
    "rsa": {"resplit_aces": True},
    "nrsa": {"resplit_aces": False},
    "hsa": {"hit_split_aces": True},
    "enhc": {"deal": "pdp", "peek": False},
    "obo": {"no_hole_loses": "original", "peek": False},
    "bb+1": {"no_hole_loses": "busted-plus-one", "peek": False},
    "csm": {"cut": 0},
}
ALIASES = {"bj": "blackjack_pays", "pen": "cut", "penetration": "cut", "p": "ten_probability"}  # short names of fields

SIDE_BETS = re.compile(
    "21-3|perfect-pairs|lucky|royal-match|over-13|under-13|over-under|match-the-dealer|buster|side-bet"
)


class RulesError(InputError):
    """An inconsistent rule set, or an unknown field or value. The message names the field."""


def rule(default: Any, accepts: str, meaning: str, parse: Callable[[str], Any]) -> Any:
    """Declare a field with its metadata, which listings, TOML files and error messages all use."""
    return field(default=default, metadata={"accepts": accepts, "meaning": meaning, "parse": parse})


def flag(default: bool, meaning: str) -> Any:
    return rule(default, "true or false", meaning, parse_flag)


def choice(default: str, meaning: str, *values: str) -> Any:
    return rule(default, f"{', '.join(values[:-1])} or {values[-1]}", meaning, parse_choice(*values))


def plain(value: object) -> object:
    """Convert a field's value to a plain JSON value: a fraction or `inf` becomes text."""
    if isinstance(value, Fraction) or value == math.inf:
        return str(value)
    return value


def unknown_field(name: str, known: Iterable[str]) -> RulesError:
    """The error for a field that does not exist; it names the most similar one."""
    if refused := side_bet_error(name):
        return refused
    name = shorten(name)
    typed = name.lower()
    meant = [ALIASES[typed]] if typed in ALIASES else [*WORDS.get(typed, ())]
    hint = suggest(typed, (*known, *WORDS), "`bjsim rules --fields` lists all")
    return RulesError(f"no rule is called {name!r}; {f'did you mean {meant[0]}?' if meant else hint}")


def side_bet_error(name: str) -> RulesError | None:
    """The error for a side bet where rules are expected; None for other names."""
    if not SIDE_BETS.search(re.sub(r"[^a-z0-9]+", "-", name.lower())):
        return None
    return RulesError(f"{shorten(repr(name))} is a side bet, not a rule; `bjsim sidebet` lists those included")


def parse_word(text: str) -> dict[str, object] | None:
    """The rules that a word of the trade stands for: `h17`, `6:5` (a natural's pay), `75%` (the cut); None if none."""
    if text.endswith("%"):
        return {"cut": text}
    left, colon, right = text.partition(":")
    if colon and left.isdigit() and right.isdigit():
        return {"blackjack_pays": text}
    return WORDS.get(text.lower())


def expand_words(changes: Mapping[str, object], known: Collection[str]) -> dict[str, object]:
    """Replace words of the trade by their fields; the last of several values of a field counts.

    A word in `changes` has a truth value; false is the opposite of a word for a flag. RulesError: a name is
    unknown, or a value does not fit its word.
    """
    expanded: dict[str, object] = {}
    for name, value in changes.items():
        field = name.lower().replace("-", "_")
        field = ALIASES.get(field, field)
        if field == "name" or field in known:
            expanded[field] = value
            continue
        words = parse_word(name)
        if words is None:
            raise unknown_field(name, known)
        opposite = _opposite(words)
        try:
            meant = words if parse_flag(str(value).strip()) else opposite
        except KeyError:
            meant = None
        if meant is None:
            hint = "use true or false" if opposite else "use true"
            raise RulesError(f"{shorten(name)} = {shorten(value)} is not accepted; {hint}")
        expanded |= meant
    return expanded


def _opposite(fields: Mapping[str, object]) -> dict[str, object] | None:
    """The rules that a word excludes: no surrender, or the other value of a flag; None if there are several."""
    if "surrender" in fields:
        return {"surrender": "none"}
    flags: dict[str, object] = {name: not meant for name, meant in fields.items() if isinstance(meant, bool)}
    return flags if len(flags) == len(fields) == 1 else None


def name_unknown_fields(rules: type[T]) -> type[T]:
    """Let the constructor suggest a field for one that does not exist, and take words of the trade, as `replace`."""
    construct: Any = rules.__init__
    known = [each.name for each in fields(rules) if "parse" in each.metadata]  # type: ignore[arg-type]

    @wraps(construct)
    def init(self: T, *values: object, **named: object) -> None:
        construct(self, *values, **expand_words(named, known))

    setattr(rules, "__init__", init)  # noqa: B010
    return rules


def html_table(title: str, rows: Iterable[tuple[str, object, str]]) -> str:
    """A table of fields as HTML. rows: name, value and meaning of each."""
    cells = "".join(
        f"<tr><th>{name}</th><td>{escape(str(plain(value)))}</td><td>{escape(meaning)}</td></tr>"
        for name, value, meaning in rows
    )
    return f"<table><caption>{escape(title)}</caption><tbody>{cells}</tbody></table>"
