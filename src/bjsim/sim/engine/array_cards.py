"""Cards of many shoes side by side, in arrays: the same as those of `sim/game/shoe.py`.

A stream is cut into segments, whose cards can be made without those before: finite shoes, or so many cards of an
infinite one.
"""

from collections.abc import Iterator
from itertools import count as count_from

import numpy as np

from bjsim.arrays import Array
from bjsim.sim.engine.kernels.layout import CompiledRules
from bjsim.sim.game.shoe import BITS, PER_WORD, stream_words

AT_ONCE = 8  # cards of an infinite shoe with the normal probability of tens
_LOW = 0xFFFFFFFF


class Segments:
    """The segments of streams; no round begins after `cut` cards of one.

    An infinite shoe's have the `size` that is passed, a multiple of eight.
    """

    def __init__(self, compiled: CompiledRules, size: int) -> None:
        self._compiled = compiled
        self.size = compiled.numbers.shoe_size or size
        self.cut = compiled.numbers.cut if compiled.numbers.shoe_size else size

    def cards(self, keys: Array, first: int | Array, count: int) -> Array:
        """The cards of segments, rank indices uint8 (size, B * count).

        `keys` are uint64 (B, 2); `first` is the first segment of each stream, int64 (B,), or of all of them.
        """
        if self._compiled.numbers.shoe_size:
            return self._finite(keys, first, count)
        if self._compiled.numbers.normal_tens:
            return self._normal(keys, first, count)
        return self._by_limits(keys, first, count)

    def read(self, keys: Array, segment: int, card: int) -> Iterator[int]:
        """The cards of one stream, uint64 (1, 2), from this card of a segment on."""
        for number in count_from(segment):
            yield from self.cards(keys, number, 1)[card:, 0].tolist()
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
        for word, share in enumerate(self._words(keys, first, count, self.size // AT_ONCE)):
            share >>= 4
            for card in range(word * AT_ONCE, (word + 1) * AT_ONCE):
                share *= ranks
                cards[card, :] = share >> bits
                share &= mask
        return cards

    def _by_limits(self, keys: Array, first: int | Array, count: int) -> Array:
        cards = np.empty((self.size, keys.shape[0] * count), np.uint8)
        for word, words in enumerate(self._words(keys, first, count, self.size // 2)):
            for half, bits in enumerate((words & _LOW, words >> 32)):
                cards[2 * word + half, :] = (self._compiled.above[:, None] > bits.astype(np.int64)).sum(axis=0)
        return cards

    def _finite(self, keys: Array, first: int | Array, count: int) -> Array:
        """A card is a random index below the number of cards left, see `kernels/deal.py`."""
        lanes = keys.shape[0] * count
        above = np.repeat(self._compiled.above.astype(np.int16)[:, None], lanes, axis=1)
        cards, bits, mask = np.empty((self.size, lanes), np.uint8), np.uint64(BITS), np.uint64((1 << BITS) - 1)
        words = self._words(keys, first, count, -(-self.size // PER_WORD))
        for card in range(self.size):
            if card % PER_WORD == 0:
                share = next(words)
                share >>= 64 - BITS
            share *= np.uint64(self.size - card)
            higher = above > (share >> bits).astype(np.int16)
            above -= higher
            cards[card] = higher.view(np.uint8).sum(axis=0, dtype=np.uint8)
            share &= mask
        return cards
