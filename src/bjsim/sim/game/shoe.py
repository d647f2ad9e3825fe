"""Shoes: where cards come from. Infinite (with replacement), whole decks (without), or a script.

The compiled round (`engine/kernels/shoe.py`) draws the very same cards from the same stream; a test holds the two together.
"""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from bjsim.errors import InputError
from bjsim.sim.game.cards import RANKS
from bjsim.sim.game.random_stream import Stream
from bjsim.sim.game.rules import NORMAL_TENS, Rules

SLOTS = 16  # of the alias table: the next power of two above the number of ranks
AT_ONCE = 16  # shuffles whose words are made together
_LOW = (1 << 64) - 1


class ShoeError(InputError):
    """A scripted shoe with a foreign character, or one that runs dry in the middle of a round."""


class Shoe(Protocol):
    """Yields rank indices, one card at a time."""

    def begin_round(self) -> bool:
        """Called before every deal; returns whether the shoe was shuffled for it."""
        ...

    def draw(self) -> int:
        """The rank index of the next card."""
        ...


def alias_table(probabilities: tuple[Fraction, ...]) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Walker's alias table of a law of ranks, for draws from 32 random bits.

    Returns: (threshold, other), each of shape (SLOTS,), int64. A draw takes its slot from the low 4 bits; it is the
    slot's own rank if the other 28 bits are below the threshold, else rank `other`.
    """
    share = [p * SLOTS for p in (*probabilities, *[Fraction(0)] * (SLOTS - len(probabilities)))]
    threshold = np.full(SLOTS, 1 << 28, dtype=np.int64)
    other = np.arange(SLOTS, dtype=np.int64)
    small = [i for i, s in enumerate(share) if s < 1]
    large = [i for i, s in enumerate(share) if s > 1]
    while small and large:
        i, j = small.pop(), large[-1]
        threshold[i], other[i] = round(share[i] * (1 << 28)), j
        share[j] -= 1 - share[i]
        if share[j] <= 1:
            large.pop()
            if share[j] < 1:
                small.append(j)
    return threshold, other


class InfiniteShoe:
    """Draws with replacement: every card has the law of a full shoe.

    With normal tens a word of the stream, without its lowest four bits, is a fraction of 2**60, and the first eight of
    its digits to the base 13 are cards: the chance of each is 1/13 to a part in a thousand million (13**8 / 2**60).
    With another ten-probability each 32-bit half of a word gives one card through an alias table.
    """

    def __init__(self, rules: Rules, stream: Stream) -> None:
        self._cards = self._normal(stream) if rules.ten_probability == NORMAL_TENS else self._any(rules, stream)

    @staticmethod
    def _normal(stream: Stream) -> Iterator[int]:
        first, count = 0, 256
        while True:
            for word in stream.words(first, count).tolist():
                share = word >> 4
                for _ in range(8):
                    rank, share = divmod(share * len(RANKS), 1 << 60)
                    yield rank
            first += count

    @staticmethod
    def _any(rules: Rules, stream: Stream) -> Iterator[int]:
        threshold, other = (array.tolist() for array in alias_table(rules.card_probabilities))
        first, count = 0, 512
        while True:
            for half in stream.halves(first, count):
                slot = half & (SLOTS - 1)
                yield slot if half >> 4 < threshold[slot] else other[slot]
            first += count

    def begin_round(self) -> bool:
        return False

    def draw(self) -> int:
        return next(self._cards)


class DeckShoe:
    """Whole decks without replacement, shuffled when the cut is reached before a round.

    Shuffle number k takes its randomness from words k n / 4, k n / 4 + 1, ... of the stream (n cards), each for four
    cards. The Fisher-Yates step for position i multiplies the word by the n - i cards left: the high 64 bits of the
    product say how far behind i the card lies that comes to i, the low 64 bits are the word of the next step
    (Brackett-Rozinsky and Lemire, "Batched ranged random integer generation", 2024). A shoe that runs out in the
    middle of a round is followed by a fresh one of as many decks (seed 003).
    """

    def __init__(self, rules: Rules, stream: Stream) -> None:
        self.size = int(rules.decks) * 52
        self.cut = math.ceil(rules.cut * self.size)
        self._deck = [rank for rank in range(len(RANKS)) for _ in range(self.size // len(RANKS))]
        self._words = self._words_of(stream)
        self._shuffle()

    def _words_of(self, stream: Stream) -> Iterator[list[int]]:
        """The words of each shuffle; those of several are made at once."""
        each = self.size // 4
        for first in itertools.count(0, AT_ONCE * each):
            words = stream.words(first, AT_ONCE * each).tolist()
            for start in range(0, len(words), each):
                yield words[start : start + each]

    def _shuffle(self) -> None:
        self.dealt = 0
        self._cards = cards = self._deck.copy()
        i, left = 0, self.size
        for word in next(self._words):
            for _ in range(4):
                product = word * left
                j = i + (product >> 64)
                word = product & _LOW
                cards[i], cards[j] = cards[j], cards[i]
                i += 1
                left -= 1

    def begin_round(self) -> bool:
        if self.dealt < self.cut:
            return False
        self._shuffle()
        return True

    def draw(self) -> int:
        if self.dealt == self.size:
            self._shuffle()
        card = self._cards[self.dealt]
        self.dealt += 1
        return card


class ScriptedShoe:
    """Deals the cards of a text in the order they are written: A 2-9 T J Q K, blanks skipped, `#` starts a comment.

    Raises: ShoeError with line and column of a foreign character, and when the cards run out.
    """

    def __init__(self, text: str, name: str = "the scripted shoe") -> None:
        self.name = name
        self.cards: list[int] = []
        self.dealt = 0
        for number, line in enumerate(text.splitlines(), 1):
            for column, letter in enumerate(line.split("#")[0], 1):
                if letter.isspace():
                    continue
                if letter.upper() not in RANKS:
                    raise ShoeError(f"{name}, line {number}, column {column}: {letter!r} is no card; cards are {RANKS}")
                self.cards.append(RANKS.index(letter.upper()))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> ScriptedShoe:
        """The script in the file `path`. Raises: ShoeError."""
        try:
            return cls(Path(path).read_text(encoding="utf-8"), os.fspath(path))
        except (OSError, UnicodeDecodeError) as error:
            raise ShoeError(f"cannot read the scripted shoe {path}: {error}") from None

    @property
    def left(self) -> int:
        """Cards not dealt yet."""
        return len(self.cards) - self.dealt

    def begin_round(self) -> bool:
        return False

    def draw(self) -> int:
        if not self.left:
            raise ShoeError(f"{self.name} runs dry in the middle of a round, after its {self.dealt} cards")
        self.dealt += 1
        return self.cards[self.dealt - 1]


def open_shoe(rules: Rules, stream: Stream) -> Shoe:
    """The shoe that the rules ask for, dealing from `stream`."""
    return InfiniteShoe(rules, stream) if rules.infinite else DeckShoe(rules, stream)
