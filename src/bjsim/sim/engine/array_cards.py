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

Array = Any  # of the namespace

PER_WORD = 8  # cards of an infinite shoe with the normal probability of tens
_LOW = 0xFFFFFFFF


def pick(array: Array, place: Array) -> Array:
    """The values at places, (n,); NumPy is quicker if it does not check them."""
    return array.take(place, mode="clip") if isinstance(array, np.ndarray) else array[place]


def put(array: Array, place: Array, values: Array) -> None:
    """Assign to places, (n,), which the array API standard has no function for."""
    array[place] = values


class Segments:
    """The segments of streams; no round begins after `cut` cards of one.

    An infinite shoe's have the `size` that is passed, a multiple of eight. `xp` is the namespace of the arrays: NumPy,
    or one of the array API standard with `put`.
    """

    def __init__(self, compiled: CompiledRules, size: int, xp: Any = np) -> None:
        self._compiled = compiled
        self.xp = xp
        self._astype = getattr(xp, "astype", np.ndarray.astype)  # NumPy has it since 2.1
        self._like_numpy = hasattr(xp, "ndarray")
        self._number = np.uint64 if self._like_numpy else int  # NumPy takes longer over Python's
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
        xp = self.xp
        segments = xp.reshape(xp.asarray(first), (-1, 1)) + xp.arange(count)
        index = self._astype(segments, xp.uint64) * each
        for _ in range(each):
            yield xp.reshape(stream_words(keys[:, :1], keys[:, 1:], index), (-1,))
            index += 1

    def _normal(self, keys: Array, first: int | Array, count: int) -> Array:
        cards = self.xp.empty((self.size, keys.shape[0] * count), dtype=self.xp.uint8)
        ranks, bits, mask = map(self._number, (13, 60, (1 << 60) - 1))
        for word, share in enumerate(self._words(keys, first, count, self.size // PER_WORD)):
            share >>= 4
            for card in range(word * PER_WORD, (word + 1) * PER_WORD):
                share *= ranks
                cards[card, :] = self._astype(share >> bits, self.xp.uint8)
                share &= mask
        return cards

    def _by_alias(self, keys: Array, first: int | Array, count: int) -> Array:
        xp = self.xp
        threshold, other = xp.asarray(self._compiled.threshold), xp.asarray(self._compiled.other)
        cards = xp.empty((self.size, keys.shape[0] * count), dtype=xp.uint8)
        for word, words in enumerate(self._words(keys, first, count, self.size // 2)):
            for half, bits in enumerate((words & _LOW, words >> 32)):
                slot = self._astype(bits & 15, xp.int64)
                below = self._astype(bits >> 4, xp.int64) < xp.take(threshold, slot)
                cards[2 * word + half, :] = self._astype(xp.where(below, slot, xp.take(other, slot)), xp.uint8)
        return cards

    def _shuffled(self, keys: Array, first: int | Array, count: int, stop: int) -> Array:
        xp, size, lanes = self.xp, self.size, keys.shape[0] * count
        flat, lane = xp.repeat(xp.asarray(self._compiled.unshuffled), lanes), xp.arange(lanes, dtype=xp.uint64)
        find_places = getattr(xp, "fuse", lambda function: function)(_find_places)  # CuPy makes one kernel of it
        constants = lane, self._number(lanes), self._number(_LOW), self._number(32)
        for word, low in zip(range((stop + 3) // 4), self._words(keys, first, count, size // 4), strict=False):
            for i in range(4 * word, 4 * word + 4):
                undealt, place = flat[i * lanes :], find_places(low, self._number(size - i), *constants)
                place = place.view(np.int64) if self._like_numpy else xp.astype(place, xp.int64)
                chosen = pick(undealt, place)
                put(undealt, place, undealt[:lanes])
                undealt[:lanes] = chosen
        return xp.reshape(flat, (size, lanes))[:stop, :]


def _find_places(low: Array, left: Any, lane: Array, lanes: Any, low_half: Any, half: Any) -> Array:
    """The places of a random card of each lane, of `left` cards by rows of `lanes`; `low` becomes the next word."""
    rest = low & low_half
    rest *= left
    rest >>= half
    high = low >> half
    high *= left
    high += rest
    high >>= half  # of the 128-bit product
    low *= left
    high *= lanes
    high += lane
    return high
