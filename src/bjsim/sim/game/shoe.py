"""Shoes, the sources of cards: infinite (with replacement), whole decks (without), or scripted.

The compiled round (`engine/kernels/shoe.py`) draws the same cards from the same random stream; a test compares them.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Protocol

import numpy as np

from bjsim.arguments import names_wrong_types
from bjsim.errors import InputError
from bjsim.files import read_text
from bjsim.sim.game.cards import NORMAL_TENS, RANKS
from bjsim.sim.game.random_stream import Stream
from bjsim.sim.game.rules import Rules

SLOTS = 16  # of the alias table: the power of two above the number of ranks
AT_ONCE = 16  # shuffles whose words are generated together
_LOW = (1 << 64) - 1


class ShoeError(InputError):
    """A scripted shoe has an invalid character, or runs out of cards during a round."""


class Shoe(Protocol):
    """Yields rank indices, one card at a time."""

    def begin_round(self) -> bool:
        """Prepare for a round. Returns: whether the shoe was shuffled."""
        ...

    def replenish(self) -> bool:
        """Shuffle a shoe that has run out during a round. Returns: whether it was shuffled."""
        ...

    def draw(self) -> int:
        """Draw a card. Returns: its rank index."""
        ...


def alias_table(probabilities: tuple[Fraction, ...]) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Build Walker's alias table for draws of ranks from 32 random bits: (threshold, other), int64 (SLOTS,).

    The low 4 bits of a draw select its slot. The draw is the slot's own rank if the other 28 bits are below
    the threshold, else the rank `other`.
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


class Unshuffled:
    """A shoe without shuffles that could be noticed."""

    def begin_round(self) -> bool:
        return False

    def replenish(self) -> bool:
        return False


class CardStream(Unshuffled):
    """An endless row of cards."""

    def __init__(self, cards: Iterator[int]) -> None:
        self._cards = cards

    def draw(self) -> int:
        return next(self._cards)


class InfiniteShoe(CardStream):
    """Draws with replacement: every card has the probabilities of a full shoe.

    With the normal probability of tens, a word of the stream without its lowest four bits is a fraction of 2**60, and
    its first eight digits in base 13 are cards. Each has the probability 1/13 to within 13**8 / 2**60, less than 1e-9.
    With another probability of tens, each 32-bit half of a word gives one card by an alias table.
    """

    def __init__(self, rules: Rules, stream: Stream) -> None:
        super().__init__(self._normal(stream) if rules.ten_probability == NORMAL_TENS else self._any(rules, stream))

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


class DeckShoe:
    """Whole decks without replacement, shuffled before a round once the cut has been reached.

    Shuffle k of n cards uses words k n / 4, k n / 4 + 1, ... of the stream, each for four cards. The Fisher-Yates step
    for position i multiplies the word by the n - i cards left: the high 64 bits of the product are the offset from i of
    the card that moves to i, and the low 64 bits are the word of the next step (Brackett-Rozinsky and Lemire, "Batched
    ranged random integer generation", 2024). A shoe that runs out during a round is replaced by a fresh one of as many
    decks, as in [CardShark].
    """

    def __init__(self, rules: Rules, stream: Stream) -> None:
        self.size = rules.shoe_size
        self.cut = rules.cut_cards
        self._deck = [rank for rank, count in enumerate(rules.shoe_counts) for _ in range(count)]
        self._words = self._read_words(stream)
        self._shuffle()

    def _read_words(self, stream: Stream) -> Iterator[list[int]]:
        """Yield the words of each shuffle; those of several shuffles are generated together."""
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

    def replenish(self) -> bool:
        if self.dealt < self.size:
            return False
        self._shuffle()
        return True

    def draw(self) -> int:
        if self.dealt == self.size:
            self._shuffle()
        card = self._cards[self.dealt]
        self.dealt += 1
        return card


@names_wrong_types
class ScriptedShoe(Unshuffled):
    """Deals the cards of a text in order: A 2-9 T J Q K; whitespace is skipped, and `#` starts a comment.

    Args:
        text: The cards.
        name: The shoe's name in errors.

    Attributes:
        cards: The rank indices of all cards: 0 for an ace, 1 for a two, ... 12 for a king.
        dealt: The number of cards dealt.

    Raises:
        InputError: The text has an invalid character. The message has its line and column.
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
                    raise ShoeError(
                        f"{name}, line {number}, column {column}: {letter!r} is not a card; cards are {RANKS}"
                    )
                self.cards.append(RANKS.index(letter.upper()))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> ScriptedShoe:
        """Read a script from a file.

        Args:
            path: The file.

        Returns:
            The shoe.

        Raises:
            InputError: The file cannot be read, or has an invalid character.
        """
        try:
            return cls(read_text(path), os.fspath(path))
        except OSError as error:
            raise ShoeError(f"cannot read the scripted shoe {path}: {error.strerror}") from None

    @property
    def left(self) -> int:
        """The number of cards not dealt yet."""
        return len(self.cards) - self.dealt

    def draw(self) -> int:
        """Draw the next card.

        Returns:
            Its rank index, from 0 for an ace to 12 for a king.

        Raises:
            InputError: No card is left.
        """
        if not self.left:
            raise ShoeError(f"{self.name} runs out of cards during a round, after {self.dealt} cards")
        self.dealt += 1
        return self.cards[self.dealt - 1]


def open_shoe(rules: Rules, stream: Stream) -> Shoe:
    return InfiniteShoe(rules, stream) if rules.infinite else DeckShoe(rules, stream)
