"""Tags of cards, and other numbers of a counting system, as text."""

from __future__ import annotations

import re
from fractions import Fraction

from bjsim.errors import InputError
from bjsim.sim.game.cards import RANKS, TEN

LARGEST_TAG = 100
NUMBER = re.compile(r"[+-]?\d{1,6}(\.\d{1,6}|/\d{1,6})?", re.ASCII)


def parse_tags(tags: object, by_rank: bool = False) -> tuple[Fraction, ...]:
    """Parse the tags of A, 2..9 and T: ten numbers, or a text of them. Raises: InputError: They are not accepted.

    If `by_rank`, thirteen are accepted too, with those of J, Q and K.
    """
    if isinstance(tags, str):
        tags = tags.split()
    accepted = f"{TEN + 1} numbers, for {' '.join(RANKS[: TEN + 1])}{', or 13 with J, Q and K' * by_rank}"
    if not isinstance(tags, list | tuple) or len(tags) not in (TEN + 1, *[len(RANKS)] * by_rank):
        raise InputError(f"tags: give {accepted}, such as -1 1 1 1 1 1 0 0 0 -1")
    numbers = tuple(parse_number("tags", tag) for tag in tags)
    if max(map(abs, numbers)) > LARGEST_TAG or len(set(numbers)) == 1:
        raise InputError(f"tags: give {accepted}, from -{LARGEST_TAG} to {LARGEST_TAG} and not all equal")
    return numbers


def parse_number(name: str, value: object) -> Fraction:
    """Parse a number exactly; a float means its shortest decimal form. Raises: InputError: It names the value."""
    try:
        if isinstance(value, bool) or not NUMBER.fullmatch(str(value)):
            raise ValueError
        number = Fraction(str(value))
    except (ValueError, ZeroDivisionError):
        raise InputError(f"{name}: {str(value)[:40]!r} is not accepted; use a number such as -1, 0.5 or 1/2") from None
    return number
