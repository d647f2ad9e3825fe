"""Cards of many shoes that advance on their own: a buffer for each, and all of them are refilled together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bjsim.arrays import Array
from bjsim.sim.engine.array_cards import Segments
from bjsim.sim.engine.kernels.layout import CompiledRules
from bjsim.sim.game.random_stream import stream_key

SEGMENT = 64  # cards of a segment of an infinite shoe
AHEAD = 64  # draws until buffers may have to be refilled
LEAST = 128  # cards of half a buffer
TOGETHER = 8192  # segments made together, at least


class CardBuffers:
    """The shoes of `number` tables.

    Half a buffer has whole segments. A shoe that runs out during a round goes on with the next segment.
    """

    def __init__(self, rules: CompiledRules, number: int) -> None:
        self._segments = Segments(rules, SEGMENT)
        size = self._segments.size
        self._count = max(-(-LEAST // size), -(-TOGETHER // number))
        self._half = self._count * size
        self._cards = np.zeros((number, 2 * self._half), np.uint8)
        self._flat = self._cards.ravel()
        self._base = 2 * self._half * np.arange(number)
        self._next = self._base.copy()
        self._whole_decks = rules.numbers.shoe_size > 0

    def open(self, seeds: Sequence[int]) -> None:
        """Open a new shoe at every table, for the cards of `Stream(seed)`."""
        self._keys = np.array([stream_key(seed, 0, 0) for seed in seeds], np.uint64)
        self._segment = np.full(len(seeds), -self._count)
        self._next = self._base + 2 * self._half
        self._refill()

    def begin_rounds(self, at: Array) -> None:
        """Shuffle the shoes of these tables that have reached the cut."""
        if self._whole_decks:
            size = self._segments.size
            read = (self._next[at] - self._base[at]) % size
            cut = read >= self._segments.cut
            self._next[at[cut]] += size - read[cut]
            self._refill()

    def deal(self, at: Array, count: int) -> Array:
        """Draw cards at each of these tables: rank indices, uint8 (count, n)."""
        if self._left < count:
            self._refill()
        self._left -= count
        place = self._next.take(at)
        self._next[at] = place + count
        return self._flat.take(place + np.arange(count)[:, None])

    def draw(self, at: Array) -> Array:
        """Draw a card at each of these tables: rank indices, uint8 (n,)."""
        if not self._left:
            self._refill()
        self._left -= 1
        place = self._next.take(at)
        self._next[at] = place + 1
        return self._flat.take(place)

    def _refill(self) -> None:
        """Make sure that AHEAD cards can be drawn at every table."""
        while (read := self._next - self._base).max() > 2 * self._half - AHEAD:
            at = np.flatnonzero(read >= self._half)
            self._cards[at, : self._half] = self._cards[at, self._half :]
            self._segment[at] += self._count
            new = self._segments.cards(self._keys[at], self._segment[at], self._count, self._segments.size)
            lanes = new.reshape(-1, len(at), self._count).transpose(1, 2, 0)
            self._cards[at, self._half :] = lanes.reshape(len(at), -1)
            self._next[at] -= self._half
        self._left = AHEAD
