"""The array walker: many shoes side by side walk the round table in NumPy, without a compiler.

A stream of cards is cut into segments, and every segment is a lane. All lanes begin as if a round began at their first
card. Where the last round of a lane runs on into the next, that one begins later, and is walked again from there up to
the first card where both walks end a round: from then on they are the same. So any stream can be cut anywhere.
A lane stops before a round that leaves the table, and is walked on once that round has been played otherwise.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from bjsim.sim.engine.array_cards import Segments
from bjsim.sim.engine.kernels.layout import CompiledRules
from bjsim.sim.engine.kernels.table_layout import SeatRows
from bjsim.sim.engine.lockstep import Lockstep, opening

Array = np.ndarray[Any, Any]

GROWTH = 64  # cards that the log grows by


class NeedsMoreCards(Exception):
    """A round needs more cards of its shoe than were shuffled."""


class Replayed(NamedTuple):
    """A round that was played otherwise, as it left the table: its lane, its first card there, its cards."""

    lane: int
    first: int
    cards: int


class Walk:
    """Lanes walked from their first card, or from later ones where rounds of the lanes before run on.

    A round that runs on reads `cards`, uint8 (p, lanes), of the next lane; NeedsMoreCards: it needs more of a
    segment. `first` is the first card of the first round of each stream's first lane; -1 for other lanes.

    Attributes:
        begins: The first card of the first round of each lane, (lanes,).
        log: What each card logs, (seats, p, lanes); see `RoundTable.log`. A replayed round's last card logs
            the last end.
        over: Whether it ends a round, bool (p, lanes). Rounds that end after the last p do so there.
        dealt: Cards of each lane up to the end of its last round, those of later lanes included, (lanes,).
        left: Whether the next round of a lane leaves the table, or is longer than a segment, bool (lanes,).
        replayed: The rounds behind which lanes were walked on.
    """

    def __init__(self, rows: SeatRows, compiled: CompiledRules, segments: Segments, cards: Array, first: Array) -> None:
        self.rows, self.cards = rows, cards
        self.size, self.cut = segments.size, segments.cut
        self.new_lanes = partial(Lockstep, rows, opening(compiled), bool(compiled.numbers.round_robin))
        lanes, most = cards.shape[1], min(len(cards), self.cut) + GROWTH
        self.log = np.zeros((len(rows.start), most, lanes), np.uint8 if rows.bits == 8 else np.uint16)
        self.over = np.zeros((most, lanes), np.bool_)
        self.dealt = np.full(lanes, self.cut)
        self.left = np.zeros(lanes, np.bool_)
        self.replayed: list[Replayed] = []
        self._first, self.begins = first, np.zeros(lanes, np.int64)
        self._walk_all()
        self._connect()

    def resume(self, at: Array, cards: Array) -> None:
        """Walk lanes on, behind rounds of this many cards that left the table. Raises: NeedsMoreCards."""
        first, end = self.dealt[at], self.dealt[at] + cards
        self.replayed += map(Replayed, at.tolist(), first.tolist(), cards.tolist())
        last = np.minimum(end, len(self.over)) - 1
        self.log[:, last, at], self.over[last, at] = len(self.rows.ends), True
        self.dealt[at], self.left[at] = end, False
        at, end = at[end < self.cut], end[end < self.cut]
        self._finish(self.new_lanes(len(at)), at, end, merge=False)
        self._connect()

    def _connect(self) -> None:
        """Begin each lane where the last round of the lane before ends."""
        while True:
            begins = np.where(self._first < 0, np.roll(np.maximum(self.dealt - self.size, 0), 1), self._first)
            later = np.flatnonzero(begins != self.begins)
            if not len(later):
                break
            self.begins = begins
            self._walk_again(later)

    def _walk_all(self) -> None:
        lanes = self.new_lanes(self.cards.shape[1])
        for p in range(self.cut):
            self.log[:, p], self.over[p] = lanes.step(self.cards[p])
        at = np.flatnonzero(~self.over[self.cut - 1])
        lanes.keep(at)
        self._finish(lanes, at, np.full(len(at), self.cut), merge=False)

    def _walk_again(self, at: Array) -> None:
        """Walk lanes from the cards where their rounds really begin."""
        begins = self.begins[at]
        before, n = np.nonzero(np.arange(min(int(begins.max()), len(self.over)))[:, None] < begins)
        self.log[:, before, at[n]] = 0
        self.over[before, at[n]] = False
        idle = begins >= self.cut
        self._end(at[idle], begins[idle])
        at, begins = at[~idle], begins[~idle]
        self._finish(self.new_lanes(len(at)), at, begins, merge=True)

    def _finish(self, lanes: Lockstep, at: Array, p: Array, merge: bool) -> None:
        """Walk lanes from card p on, to the end of their last rounds, or until they merge with their last walk."""
        while len(at):
            left = lanes.left() | (p >= self.size + min(self.size, len(self.cards)))
            if left.any():
                self._leave(at[left], p[left])
                lanes.keep(~left)
                at, p = at[~left], p[~left]
                continue
            self._grow(int(p.max()))
            log, over = lanes.step(self.cards_at(p, at))
            merged = over & self.over[p, at] if merge else np.zeros_like(over)
            self.log[:, p, at], self.over[p, at] = log, over
            p = p + 1
            ends = over & ~merged & (p >= self.cut)
            if ends.any():
                self._end(at[ends], p[ends])
            goes_on = ~(merged | ends)
            lanes.keep(goes_on)
            at, p = at[goes_on], p[goes_on]

    def _leave(self, at: Array, p: Array) -> None:
        """End lanes before the rounds that card p belongs to, and forget what was logged from there on."""
        for lane, last in zip(at.tolist(), p.tolist(), strict=True):
            ended = np.flatnonzero(self.over[:last, lane])
            begin = int(ended[-1]) + 1 if len(ended) else int(self.begins[lane])
            self.log[:, begin:, lane], self.over[begin:, lane] = 0, False
            self.dealt[lane], self.left[lane] = begin, True

    def _end(self, at: Array, p: Array) -> None:
        """End the last rounds of lanes after p cards, and forget what their last walks logged later."""
        longer = p < self.dealt[at]
        self.dealt[at], self.left[at] = p, False
        if longer.any():
            late, n = np.nonzero(np.arange(len(self.over))[:, None] >= p[longer])
            self.log[:, late, at[longer][n]] = 0
            self.over[late, at[longer][n]] = False

    def _grow(self, p: int) -> None:
        if p >= len(self.over):
            self.log = np.pad(self.log, ((0, 0), (0, GROWTH), (0, 0)))
            self.over = np.pad(self.over, ((0, GROWTH), (0, 0)))

    def cards_at(self, p: Array, lane: Array) -> Array:
        """The cards of lanes at positions, which may be those of the next lane, (n,)."""
        later = p >= self.size
        if ((p >= len(self.cards)) & ~later).any():
            raise NeedsMoreCards
        cards: Array = self.cards[p - later * self.size, np.minimum(lane + later, self.cards.shape[1] - 1)]
        return cards
