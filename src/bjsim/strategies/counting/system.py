"""Counting systems: tags, initial count, and how a running count becomes the count that decides.

    running count = initial count + sum of the tags of the cards seen
    true count = running count / decks unseen

An unbalanced system, whose tags add up to `imbalance` per deck, has the true count

    (running count - initial count - imbalance x decks seen) / decks unseen

which is 0 on average at every depth, like that of a balanced one. With a side count of aces, bets go by another count,
whose running count is

    running count + side_aces x (aces unseen - cards unseen / 13)

All counts are exact: tags are fractions, and `scaled` makes them integers for compiled code.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NamedTuple

from bjsim.errors import InputError, shorten, suggest
from bjsim.files import read_toml
from bjsim.sim.game.cards import DECKS, RANKS, TEN, parse_rank

# --- Tags of cards, and other numbers of a counting system, as text.


LARGEST_TAG = 100
NUMBER = re.compile(r"[+-]?\d{1,6}(\.\d{1,6}|/\d{1,6})?", re.ASCII)


def parse_tags(tags: object) -> tuple[Fraction, ...]:
    """Parse the tags of A, 2..9 and T: ten numbers, or a text of them. Raises: InputError: They are not accepted."""
    if isinstance(tags, str):
        tags = tags.split()
    accepted = f"{TEN + 1} numbers, for {' '.join(RANKS[: TEN + 1])}"
    if not isinstance(tags, list | tuple) or len(tags) != TEN + 1:
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


IN_DECK = {deck: (*ranks[:TEN], sum(ranks[TEN:])) for deck, ranks in DECKS.items()}  # cards of each value, A, 2..9, T
STEPS = {"exact": 0, "quarter": 1, "half": 2, "full": 4, "none": 0}  # quarters of a deck
ROUNDINGS = ("floor", "truncate", "round", "exact")
LARGEST_SCALE = 60  # a common denominator of the tags
CHOICES = {
    "deck": tuple(DECKS),
    "divisor": tuple(STEPS),
    "divisor_rounding": ("round", "up", "down"),
    "rounding": ROUNDINGS,
    "timing": ("decision", "round"),
}


class ScaledCount(NamedTuple):
    """The count of a system for decisions or for bets, in integers: all are multiplied by the system's `scale`."""

    system: CountingSystem
    tags: tuple[int, ...]  # by value, A, 2..9, T
    initial: int  # the running count of a full shoe
    side_aces: int  # what every unseen ace adds to the running count; 0 except in counts for bets with a side count


@dataclass(frozen=True)
class CountingSystem:
    """A counting system. Numbers may be given as text, such as "1/2"; `tags` also as one text of ten numbers."""

    name: str
    tags: tuple[Fraction, ...]  # the tags of A, 2..9, T; fractions are allowed
    initial: Fraction = Fraction(0)  # the part of the initial count that does not depend on the number of decks
    initial_per_deck: Fraction = Fraction(0)  # the part of the initial count for each deck
    # decks unseen are counted to the card (`exact`), or in multiples of a `full`, `half` or `quarter` deck; `none`:
    # decisions are made by the running count
    divisor: str = "exact"
    # how the unseen decks are rounded to such a multiple: `round` (halves up), `up` or `down`
    divisor_rounding: str = "round"
    least_divisor: Fraction = Fraction(1, 2)  # the least divisor in decks, a whole number of cards
    # of the quotient: `floor`, `truncate` (toward 0), `round` (to the nearest, halves away from 0) or `exact`
    rounding: str = "floor"
    # playing decisions and insurance are made by the count at that moment (`decision`) or before the round (`round`).
    # Bets are always made by the count before the round.
    timing: str = "decision"
    # the weight of an ace in a side count of aces, which changes the count for bets alone (`bet_count`); 0: none is
    # kept
    side_aces: Fraction = Fraction(0)
    deck: str = "standard"  # the deck whose cards are counted, as in the rules. The deck of a game takes precedence.
    title: str = ""
    source: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "tags", parse_tags(self.tags))
        for name in ("initial", "initial_per_deck", "least_divisor", "side_aces"):
            object.__setattr__(self, name, parse_number(name, getattr(self, name)))
        for name in ("name", "title", "source"):
            value = getattr(self, name)
            if not isinstance(value, str) or not value.isprintable():
                raise InputError(f"{name} = {shorten(repr(value))} is not accepted; use one line of text")
        for name, choices in CHOICES.items():
            if getattr(self, name) not in choices:
                raise InputError(f"{name} = {getattr(self, name)!r} is not accepted; use {', '.join(choices)}")
        if not 0 < self.least_divisor <= 8 or (self.deck_size * self.least_divisor).denominator > 1:
            raise InputError(f"least_divisor = {self.least_divisor} is not accepted; use decks up to 8, such as 1/2")
        if not 0 <= self.side_aces <= LARGEST_TAG or len(set(self.bet_tags)) == 1:
            raise InputError(
                f"side_aces = {self.side_aces} is not accepted; use the weight of an ace for bets, such as 1; 0 is none"
            )
        if self.scale > LARGEST_SCALE:
            raise InputError(f"tags: their common denominator is {self.scale}; use one of at most {LARGEST_SCALE}")

    def replace(self, **values: Any) -> CountingSystem:
        known = [field.name for field in fields(self)]
        for name in values:
            if name not in known:
                hint = suggest(name, known, f"use {', '.join(known)}")
                raise InputError(f"a counting system has no field {name!r}; {hint}")
        return replace(self, **values)

    @property
    def in_deck(self) -> tuple[int, ...]:
        """Cards of each value, A, 2..9 and T, in a deck."""
        return IN_DECK[self.deck]

    @property
    def deck_size(self) -> int:
        """Cards of a deck."""
        return sum(self.in_deck)

    @cached_property
    def scale(self) -> int:
        """The common denominator of the tags, of the initial count and of `side_aces`."""
        numbers = (*self.tags, self.initial, self.initial_per_deck, self.side_aces)
        return math.lcm(*(number.denominator for number in numbers))

    @property
    def bet_tags(self) -> tuple[Fraction, ...]:
        """The tags that bets follow, of A, 2..9, T: those of all decisions, with `side_aces` less for the ace."""
        return (self.tags[0] - self.side_aces, *self.tags[1:])

    @property
    def full_title(self) -> str:
        """Its title, or else its name, and whether it has a side count of aces."""
        return (self.title or self.name) + (" with a side count of aces" if self.side_aces else "")

    @cached_property
    def imbalance(self) -> Fraction:
        """Sum of the tags of a deck; 0 for a balanced system."""
        return sum((tag * count for tag, count in zip(self.tags, self.in_deck, strict=True)), Fraction(0))

    @property
    def uses_true_count(self) -> bool:
        """Whether decisions are made by the true count, not the running count."""
        return self.divisor != "none"

    @property
    def has_whole_counts(self) -> bool:
        """Whether the counts that bets follow are whole numbers."""
        return self.rounding != "exact" if self.uses_true_count else self.scale == 1 and not self.side_aces

    def initial_count(self, decks: int) -> Fraction:
        """Return the running count of a full shoe."""
        return self.initial + self.initial_per_deck * decks

    def pivot(self, decks: int) -> Fraction:
        """Return the running count when all cards of the shoe are seen."""
        return self.initial_count(decks) + self.imbalance * decks

    def scaled(self, decks: int, for_bets: bool = False) -> ScaledCount:
        """Return the count for decisions in integers, for compiled code; or that for bets, which may count aces."""
        tags, weight = (self.bet_tags, self.side_aces) if for_bets else (self.tags, Fraction(0))
        initial = self.initial_count(decks) + weight * self.in_deck[0] * decks
        whole = tuple(int(self.scale * tag) for tag in tags)
        return ScaledCount(self, whole, int(self.scale * initial), int(self.scale * weight))

    # --- counts

    def running_count(self, seen: str | Sequence[int], decks: int) -> Fraction:
        """Compute the running count; `seen` are letters such as `"T65"`, or ten counts for A, 2..9, T."""
        counts = card_counts(seen)
        return self.initial_count(decks) + sum(tag * count for tag, count in zip(self.tags, counts, strict=True))

    def divisor_cards(self, unseen: int) -> int:
        step = STEPS[self.divisor] * self.deck_size // 4 or 1
        if self.divisor_rounding == "round":
            steps = (2 * unseen + step) // (2 * step)
        else:
            steps = unseen // step if self.divisor_rounding == "down" else -(-unseen // step)
        return max(steps * step, int(self.deck_size * self.least_divisor))

    def true_count(self, running: Fraction | int, unseen: int, decks: int) -> Fraction:
        """Compute the true count, rounded as the system says; hidden and burned cards are `unseen`."""
        quotient = (running - self.pivot(decks)) * self.deck_size / self.divisor_cards(unseen) + self.imbalance
        return round_count(Fraction(quotient), self.rounding)

    def count(self, running: Fraction | int, unseen: int, decks: int) -> Fraction:
        """Compute the count for decisions: the true count, or the running count (`divisor = none`).

        The arguments are those of `true_count`.
        """
        return self.true_count(running, unseen, decks) if self.uses_true_count else Fraction(running)

    def bet_count(self, running: Fraction | int, aces: int, unseen: int, decks: int) -> Fraction:
        """Compute the count for bets; each unseen ace beyond the expected ones adds `side_aces` to `running`."""
        extra = aces - Fraction(unseen * self.in_deck[0], self.deck_size)
        return self.count(running + self.side_aces * extra, unseen, decks)


def round_count(count: Fraction, rounding: str) -> Fraction:
    """Round a count: `floor`, `truncate`, `round` (halves away from 0) or `exact`."""
    if rounding == "exact":
        return count
    away = math.floor(abs(count) + Fraction(1, 2))
    whole = {"floor": math.floor(count), "truncate": math.trunc(count), "round": away if count >= 0 else -away}
    return Fraction(whole[rounding])


def card_counts(cards: str | Sequence[int]) -> tuple[int, ...]:
    """Return ten counts, for A, 2..9 and T. cards: letters, or the counts. Raises: InputError."""
    if isinstance(cards, str):
        try:
            values = [min(parse_rank(card), TEN) for card in cards]
        except ValueError as error:
            raise InputError(str(error)) from None
        return tuple(values.count(value) for value in range(TEN + 1))
    if len(cards) != TEN + 1:
        raise InputError(f"cards: give {TEN + 1} counts, for A, 2..9 and T, not {len(cards)}")
    return tuple(cards)


# --- The built-in counting systems (`systems.toml`), and systems from TOML files.


@cache
def built_in_systems() -> Mapping[str, CountingSystem]:
    systems: dict[str, CountingSystem] = {}
    for name, values in read_toml(Path(__file__).with_name("systems.toml")).items():
        base = systems.get(values.pop("system", ""))
        systems[name] = base.replace(name=name, **values) if base else CountingSystem(name, **values)
    return systems


def find_system(name: str | os.PathLike[str]) -> CountingSystem:
    """Find a counting system by the name of a built-in one, or load it from a file that ends in .toml."""
    if Path(name).suffix == ".toml":
        return load_system(name)
    systems = built_in_systems()
    text = os.fspath(name)
    if text.lower() in systems:
        return systems[text.lower()]
    hint = suggest(text, systems, f"systems are {', '.join(systems)}.")
    raise InputError(f"no counting system is called {text!r}; {hint} A file of one must end in .toml")


def load_system(path: str | os.PathLike[str]) -> CountingSystem:
    """Load a counting system from a TOML file with values by field; without a name, it has that of the file.

    With `system = "NAME"`, missing fields have the values of that system.
    """
    try:
        values = read_toml(Path(path))
        stem = Path(path).stem
        if "system" in values:
            base = values.pop("system")
            if not isinstance(base, str) or base.lower().endswith(".toml"):  # files are not followed further
                raise InputError(f"system = {base!r} is not accepted; use {', '.join(built_in_systems())}")
            return find_system(base).replace(**{"name": stem, **values})
        if "tags" not in values:
            raise InputError('tags are missing; give ten numbers, for A, 2..9 and T, or system = "hilo"')
        return CountingSystem(stem, values.pop("tags")).replace(**values)
    except OSError as error:
        raise InputError(f"cannot read the counting system {os.fspath(path)}: {error.strerror}") from None
    except InputError as error:
        raise InputError(f"{os.fspath(path)}: {error}") from None
    except ValueError as error:
        raise InputError(f"{os.fspath(path)} {error}") from None
