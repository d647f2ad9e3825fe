"""Cards of many shoes side by side, in NumPy: the same as those of `sim/game/shoe.py`.

A stream is cut into segments, whose cards can be made without those before: the shuffles of whole decks, or so many
cards of an infinite shoe.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count as count_from
from typing import Any

import numpy as np

from bjsim.sim.engine.kernels.layout import CompiledRules
from bjsim.sim.game.random_stream import stream_words

Array = np.ndarray[Any, Any]

PER_WORD = 8  # cards of an infinite shoe with the normal probability of tens
_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)


class Segments:
    """The segments of streams; no round begins after `cut` cards of one.

    An infinite shoe's have the `size` that is passed, a multiple of eight.
    """

    def __init__(self, compiled: CompiledRules, size: int) -> None:
        self._compiled = compiled
        self.size = compiled.numbers.shoe_size or size
        self.cut = compiled.numbers.cut if compiled.numbers.shoe_size else size

    def cards(self, keys: Array, first: int | Array, count: int, stop: int) -> Array:
        """The first `stop` cards of segments (all of an infinite shoe), rank indices uint8 (stop, B * count).

        `keys` are uint64 (B, 2); `first` is the first segment of each stream, int64 (B,), or of all of them.
        """
        if self._compiled.numbers.shoe_size:
            return self._shuffled(keys, first, count, stop)
        if self._compiled.numbers.normal_tens:
            return self._normal(keys, first, count)
        return self._by_alias(keys, first, count)

    def read(self, keys: Array, segment: int, card: int) -> Iterator[int]:
        """The cards of one stream, uint64 (1, 2), from this card of a segment on."""
        for number in count_from(segment):
            yield from self.cards(keys, number, 1, self.size)[card:, 0].tolist()
            card = 0

    def _words(self, keys: Array, first: int | Array, count: int, each: int, word: int) -> Array:
        """Word `word` of segments of `each` words, (B * count,)."""
        segments = np.reshape(first, (-1, 1)) + np.arange(count)
        index = segments.astype(np.uint64) * np.uint64(each) + np.uint64(word)
        words: Array = stream_words(keys[:, :1], keys[:, 1:], index).ravel()
        return words

    def _normal(self, keys: Array, first: int | Array, count: int) -> Array:
        cards = np.empty((self.size, len(keys) * count), np.uint8)
        each, mask = self.size // PER_WORD, np.uint64((1 << 60) - 1)
        for word in range(each):
            share = self._words(keys, first, count, each, word) >> np.uint64(4)
            for digit in range(PER_WORD):
                share *= np.uint64(13)
                cards[word * PER_WORD + digit] = share >> np.uint64(60)
                share &= mask
        return cards

    def _by_alias(self, keys: Array, first: int | Array, count: int) -> Array:
        cards = np.empty((self.size, len(keys) * count), np.uint8)
        for word in range(self.size // 2):
            words = self._words(keys, first, count, self.size // 2, word)
            for half, bits in enumerate((words & _LOW, words >> _HALF)):
                slot = (bits & np.uint64(15)).astype(np.int64)
                below = (bits >> np.uint64(4)).astype(np.int64) < self._compiled.threshold[slot]
                cards[2 * word + half] = np.where(below, slot, self._compiled.other[slot])
        return cards

    def _shuffled(self, keys: Array, first: int | Array, count: int, stop: int) -> Array:
        size, lanes = self.size, len(keys) * count
        cards = np.repeat(self._compiled.unshuffled[:, None], lanes, axis=1)
        flat, lane, chosen = cards.ravel(), np.arange(lanes), np.empty(lanes, np.uint8)
        high, rest = np.empty((2, lanes), np.uint64)
        place = high.view(np.int64)
        for word in range((stop + 3) // 4):
            low = self._words(keys, first, count, size // 4, word)
            for i in range(4 * word, 4 * word + 4):
                left = np.uint64(size - i)
                np.bitwise_and(low, _LOW, out=rest)
                rest *= left
                rest >>= _HALF
                np.right_shift(low, _HALF, out=high)
                high *= left
                high += rest
                high >>= _HALF  # of the 128-bit product
                low *= left
                high *= np.uint64(lanes)
                place += lane
                undealt = flat[i * lanes :]
                undealt.take(place, out=chosen, mode="clip")
                undealt[place] = cards[i]
                cards[i] = chosen
        return cards[:stop]
