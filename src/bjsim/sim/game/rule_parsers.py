"""Parsers of rule values: each takes a field's text and returns its value.

Raises: ValueError, KeyError or ZeroDivisionError for text that the field does not accept.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from bjsim.arguments import parse_fraction

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


def flag(text: str) -> bool:
    return {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}[text.lower()]


def surrender(text: str) -> str:
    """Parse the kind of surrender; a truth value means late surrender or none."""
    return text if text in EARLY_SURRENDER else ("none", "late")[flag(text)]


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
