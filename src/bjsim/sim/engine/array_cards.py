"""Cards of many shoes side by side, in arrays: the same as those of `sim/game/shoe.py`.

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
Word = np.uint64

PER_WORD = 8  # cards of an infinite shoe with the normal probability of tens
_LOW = 0xFFFFFFFF


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

    def _words(self, keys: Array, first: int | Array, count: int, each: int) -> Iterator[Array]:
        """The words of segments that have `each` of them, one after another, (B * count,)."""
        segments = np.reshape(first, (-1, 1)) + np.arange(count)
        index = segments.astype(np.uint64) * each
        for _ in range(each):
            yield stream_words(keys[:, :1], keys[:, 1:], index).ravel()
            index += 1

    def _normal(self, keys: Array, first: int | Array, count: int) -> Array:
        cards = np.empty((self.size, keys.shape[0] * count), np.uint8)
        ranks, bits, mask = map(np.uint64, (13, 60, (1 << 60) - 1))
        for word, share in enumerate(self._words(keys, first, count, self.size // PER_WORD)):
            share >>= 4
            for card in range(word * PER_WORD, (word + 1) * PER_WORD):
                share *= ranks
                cards[card, :] = share >> bits
                share &= mask
        return cards

    def _by_alias(self, keys: Array, first: int | Array, count: int) -> Array:
        threshold, other = self._compiled.threshold, self._compiled.other
        cards = np.empty((self.size, keys.shape[0] * count), np.uint8)
        for word, words in enumerate(self._words(keys, first, count, self.size // 2)):
            for half, bits in enumerate((words & _LOW, words >> 32)):
                slot = (bits & 15).astype(np.int64)
                below = (bits >> 4).astype(np.int64) < threshold[slot]
                cards[2 * word + half, :] = np.where(below, slot, other[slot])
        return cards

    def _shuffled(self, keys: Array, first: int | Array, count: int, stop: int) -> Array:
        size, lanes = self.size, keys.shape[0] * count
        flat, lane = np.repeat(self._compiled.unshuffled, lanes), np.arange(lanes, dtype=np.uint64)
        constants = np.uint64(lanes), np.uint64(_LOW), np.uint64(32)  # NumPy takes longer over Python's
        for word, low in zip(range((stop + 3) // 4), self._words(keys, first, count, size // 4), strict=False):
            for i in range(4 * word, 4 * word + 4):
                undealt = flat[i * lanes :]
                place = _find_places(low, np.uint64(size - i), lane, *constants).view(np.int64)
                chosen = undealt.take(place, mode="clip")  # quicker than a checked one
                undealt[place] = undealt[:lanes]
                undealt[:lanes] = chosen
        return flat.reshape(size, lanes)[:stop, :]


def _find_places(low: Array, left: Word, lane: Array, lanes: Word, low_half: Word, half: Word) -> Array:
    """The places of a random card of each lane, of `left` cards by rows of `lanes`; `low` becomes the next word."""
    rest = low & low_half
    rest *= left
    rest >>= half
    high: Array = low >> half
    high *= left
    high += rest
    high >>= half  # of the 128-bit product
    low *= left
    high *= lanes
    high += lane
    return high
