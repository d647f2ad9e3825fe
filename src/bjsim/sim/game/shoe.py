"""Shoes, the sources of cards: infinite (with replacement), whole decks (without), or scripted.

The walkers (`engine/array_cards.py`, `engine/kernels/deal.py`) deal the same cards from the same random stream; a test
compares them.
"""

from __future__ import annotations

import itertools
import os
import secrets
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any, Protocol

import numpy as np

from bjsim.arguments import SEED_BITS, names_wrong_types
from bjsim.errors import InputError
from bjsim.files import read_text
from bjsim.sim.game.cards import NORMAL_TENS, RANKS
from bjsim.sim.game.rules import Rules

# --- Random streams: 64-bit words that depend only on (seed, table, block).
#
# Word i of a stream is mix(start + i gamma). Any word can be computed without the words before it, so results do not
# depend on workers, order or restarts. This is the splittable generator of Steele, Lea and Flood, "Fast splittable
# pseudorandom number generators" (OOPSLA 2014). The start and gamma of a table come from numpy's SeedSequence, whose
# output is guaranteed not to change between versions. The compiled round computes the same words from these two
# numbers.


Words = np.ndarray[Any, np.dtype[np.uint64]]
_MASK = (1 << 64) - 1
_GOLDEN = 0x9E3779B97F4A7C15
GUESSABLE = 1 << 40  # seeds below this can be found by trying all of them


def random_seed() -> int:
    """Return an unpredictable seed: 128 bits of the operating system's randomness."""
    return secrets.randbits(SEED_BITS)


def mix(z: int) -> int:
    """The finalizer of the generator (Stafford's variant 13), over 64-bit integers."""
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
    return z ^ (z >> 31)


def _odd_gamma(z: int) -> int:
    z = mix(z) | 1
    # a gamma with few bit transitions would give neighbouring counters similar low bits
    return z ^ 0xAAAAAAAAAAAAAAAA if (z ^ (z >> 1)).bit_count() < 24 else z


@lru_cache(maxsize=1024)
def _table_key(seed: int, table: int) -> tuple[int, int]:
    start, gamma = np.random.SeedSequence(seed, spawn_key=(table,)).generate_state(2, np.uint64)
    return int(start), int(gamma)


def stream_key(seed: int, table: int, block: int) -> tuple[int, int]:
    """Compute (start, gamma) of the random stream of a block; all arguments are nonnegative integers."""
    start, gamma = _table_key(seed, table)
    first = (start + (2 * block + 1) * _GOLDEN) & _MASK
    second = (gamma + (2 * block + 2) * _GOLDEN) & _MASK
    return mix(first), _odd_gamma(second)


def stream_words(start: Any, gamma: Any, index: Any) -> Any:
    """Words of streams with these keys, by arrays of uint64."""
    z = start + index * gamma
    z ^= z >> 30
    z *= 0xBF58476D1CE4E5B9
    z ^= z >> 27
    z *= 0x94D049BB133111EB
    z ^= z >> 31
    return z


class Stream:
    """The random stream of a block."""

    def __init__(self, seed: int, table: int = 0, block: int = 0) -> None:
        self.start, self.gamma = stream_key(seed, table, block)

    def words(self, first: int, count: int) -> Words:
        """Words `first` .. `first + count - 1`, uint64 (count,)."""
        with np.errstate(over="ignore"):
            words: Words = stream_words(
                np.uint64(self.start), np.uint64(self.gamma), np.arange(first, first + count, dtype=np.uint64)
            )
        return words

    def halves(self, first: int, count: int) -> list[int]:
        """The 32-bit halves `first` .. `first + count - 1`, the low half of a word before its high half."""
        words = self.words(first // 2, count // 2 + 2)
        halves = np.stack([words & np.uint64(0xFFFFFFFF), words >> np.uint64(32)], axis=1).ravel()
        return [int(half) for half in halves[first % 2 : first % 2 + count]]


PER_WORD, BITS = 3, 55  # cards of a finite shoe for which a random word is enough, and its bits that are used
AT_ONCE = 16  # shoes whose words are generated together


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


def rank_limits(probabilities: Sequence[Fraction]) -> list[int]:
    """The limits by which 32 random bits are a card of an infinite shoe: its rank is the number of those above it.

    Limit j is the probability of ranks above j, in 2**32 parts.
    """
    above = [sum(probabilities[rank + 1 :], Fraction(0)) for rank in range(len(probabilities) - 1)]
    return [min(round(share * (1 << 32)), (1 << 32) - 1) for share in above]


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
    With another probability of tens, each 32-bit half of a word gives one card by `rank_limits`.
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
        ascending = rank_limits(rules.card_probabilities)[::-1]
        first, count = 0, 512
        while True:
            for half in stream.halves(first, count):
                yield len(ascending) - bisect_right(ascending, half)
            first += count


class DeckShoe:
    """Whole decks without replacement; a fresh shoe follows before a round once the cut has been reached.

    A shoe is not shuffled: every card is a random one of those that are left, which is the same. Shoe k of n cards uses
    words k w, k w + 1, ... of the stream, w = ceil(n / 3), each for three cards: its highest 55 bits, a fraction of
    2**55, times the number of cards left is the index of a card, and the rest of the product is the next fraction
    (Brackett-Rozinsky and Lemire, "Batched ranged random integer generation", 2024). So any three cards have their
    probability to within n**3 / 2**55, which is 2e-9 in eight decks. A shoe that runs out during a round is replaced by
    a fresh one of as many decks, as in [CardShark].
    """

    def __init__(self, rules: Rules, stream: Stream) -> None:
        self.size = rules.shoe_size
        self.cut = rules.cut_cards
        self._deck = [rank for rank, count in reversed(list(enumerate(rules.shoe_counts))) for _ in range(count)]
        self._words = self._read_words(stream)
        self._fill()

    def _read_words(self, stream: Stream) -> Iterator[list[int]]:
        """Yield the words of each shoe; those of several shoes are generated together."""
        each = -(-self.size // PER_WORD)
        for first in itertools.count(0, AT_ONCE * each):
            words = stream.words(first, AT_ONCE * each).tolist()
            for start in range(0, len(words), each):
                yield words[start : start + each]

    def _fill(self) -> None:
        self.dealt = 0
        self._left, self._now = self._deck.copy(), next(self._words)

    def begin_round(self) -> bool:
        if self.dealt < self.cut:
            return False
        self._fill()
        return True

    def replenish(self) -> bool:
        if self.dealt < self.size:
            return False
        self._fill()
        return True

    def draw(self) -> int:
        if self.dealt == self.size:
            self._fill()
        if self.dealt % PER_WORD == 0:
            self._share = self._now[self.dealt // PER_WORD] >> (64 - BITS)
        index, self._share = divmod(self._share * len(self._left), 1 << BITS)
        self.dealt += 1
        return self._left.pop(index)


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
