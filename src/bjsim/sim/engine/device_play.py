"""Playing blocks of one seat in any array namespace, such as CuPy's on a GPU: the payoffs of `array_play.py`.

The lanes are those of `array_walker.py`, but all of them take every step, those that are done too: no array changes its
size. Nothing but `put` goes beyond the array API standard.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from bjsim.sim.engine.array_cards import Array, Segments
from bjsim.sim.engine.array_play import AFTER_CUT, CARDS, Key, LogTally, Played
from bjsim.sim.engine.kernels.layout import CompiledRules
from bjsim.sim.engine.kernels.table_layout import SeatRows

SEGMENT = 512  # cards of a segment of an infinite shoe
SPREAD = 4  # times the root of the rounds, far more than by chance


def to_host(array: Array) -> Any:
    return array.get() if hasattr(array, "get") else np.asarray(array)


class DevicePlayer:
    """Plays jobs of one game in the namespace `xp`."""

    def __init__(self, xp: Any, compiled: CompiledRules, rows: SeatRows, size: int = SEGMENT) -> None:
        self.xp, self.compiled, self.rows = xp, compiled, rows
        self.segments = Segments(compiled, size, xp)
        self.entries = xp.asarray(rows.entries)
        self.cards_in_round = CARDS  # about

    def lanes(self, rounds: int) -> int:
        """The lanes of a block of this many rounds, of which the last is only run into."""
        cards = self.cards_in_round * (rounds + SPREAD * math.sqrt(rounds))
        return math.ceil(cards / self.segments.cut) + 1

    def cells(self, rounds: int) -> int:
        """The cards that are dealt for a block of this many rounds."""
        return self.lanes(rounds) * (self.segments.cut + AFTER_CUT)

    def play(self, jobs: Sequence[tuple[Sequence[Key], Sequence[int]]]) -> list[Played | None]:
        """Play jobs side by side, each of blocks as for `play_blocks`.

        Returns: What each job played; None if one of its rounds leaves the table, or takes too many cards.
        """
        keys = np.array([key for keys, _ in jobs for key in keys], np.uint64)
        rounds = np.array([number for _, numbers in jobs for number in numbers])
        for _ in range(2):  # the first walk may find that a round takes more cards
            logs, sure, self.cards_in_round = DeviceWalk(self, keys, self.lanes(int(rounds.max()))).read(rounds)
            if sure.all():
                break
        first = [*accumulate((len(keys) for keys, _ in jobs), initial=0)]
        return [self._count(logs[a:b]) if sure[a:b].all() else None for a, b in pairwise(first)]

    def _count(self, logged: Sequence[Array]) -> Played:
        """The payoffs of whole rounds: that of its end, and those of its split hands by the outcome there."""
        xp, tally = self.xp, LogTally(self.compiled, self.rows)
        ends, outcomes, hands = (xp.asarray(column) for column in (*self.rows.ends.T, self.rows.hands.ravel()))
        log = xp.astype(xp.concat(logged), xp.int64) - 1
        over = log < ends.shape[0]
        last = xp.nonzero(over)[0]
        end = xp.take(log, last)
        if last.shape[0] < log.shape[0]:
            owner = xp.cumulative_sum(xp.astype(over, xp.int64)) - xp.astype(over, xp.int64)
            hand = (log - ends.shape[0]) * self.rows.hands.shape[1] + xp.take(xp.take(outcomes, end), owner)
            split = xp.where(over, 0, xp.take(hands, xp.where(over, 0, hand)))
            paid = xp.take(xp.cumulative_sum(split), last)
            codes = xp.take(ends, end) + xp.diff(paid, prepend=xp.zeros(1, dtype=xp.int64))
        else:
            codes = xp.take(ends, end)
        tally.add_codes(0, *map(to_host, xp.unique_counts(codes)))
        return Played(tally.counts, np.concatenate(tally.outside), [], [])


class DeviceWalk:
    """`each` lanes of each stream, of `keys` (B, 2), walked to their ends."""

    def __init__(self, player: DevicePlayer, keys: Any, each: int) -> None:
        xp = self.xp = player.xp
        self.rows, self.entries = player.rows, player.entries
        self.size, self.cut = player.segments.size, player.segments.cut
        lanes = len(keys) * each
        stop = min(self.size, (self.cut + AFTER_CUT + 3) // 4 * 4)
        self.cards = player.segments.cards(xp.asarray(keys), 0, each, stop)
        self.log = xp.zeros((self.cut + AFTER_CUT, lanes), dtype=xp.uint8 if self.rows.bits == 8 else xp.uint16)
        self.begins, self.dealt = xp.zeros(lanes, dtype=xp.int32), xp.full(lanes, self.cut, dtype=xp.int32)
        self.stuck = xp.zeros(lanes, dtype=xp.bool)  # whose rounds do not end here
        row = xp.zeros(lanes, dtype=self.entries.dtype)
        for p in range(self.cut):
            row, self.log[p, :] = self._step(row, p)
        self._finish(row, row != 0, self.begins, self.begins, self.cut)
        inner = xp.arange(lanes) % each > 0
        while True:
            begins = xp.roll(self.dealt, 1) - self.size
            begins = xp.where(inner & (begins > 0), begins, 0)
            again, before, self.begins = begins != self.begins, self.begins, begins
            if not xp.any(again):
                break
            idle = again & (begins >= self.cut)
            self.dealt = xp.where(idle, begins, self.dealt)
            self._finish(xp.zeros_like(row), again & ~idle, before, self.dealt, 0)

    def _step(self, row: Array, p: int) -> tuple[Array, Array]:
        """Rows after card p of the lanes, which may be one of the next lane, and what it logs."""
        card = self.cards[p, :] if p < self.cards.shape[0] else self.xp.roll(self.cards[p - self.size, :], -1)
        entry = self.xp.take(self.entries, row + card)
        return entry >> self.rows.bits, self.xp.astype(entry & (1 << self.rows.bits) - 1, self.log.dtype)

    def _finish(self, row: Array, going: Array, begins: Array, dealt: Array, p: int) -> None:
        """Walk lanes on from card p, to their ends or until they merge with their last walks, `begins` to `dealt`."""
        xp = self.xp
        while p % 4 or xp.any(going):  # which waits for the device
            if p == self.log.shape[0] or self.cards.shape[0] <= p < self.size:
                self.stuck |= going
                break
            active = going & (p >= self.begins)
            after, log = self._step(row, p)
            old, over = self.log[p, :], active & (after == 0)
            merged = over & (p >= begins) & (p < dealt) & (old > 0) & (old <= len(self.rows.ends))
            self.log[p, :] = xp.where(active, log, old)
            row = xp.where(active, after, 0)
            p += 1
            ends = over & (p >= self.cut)
            self.dealt = xp.where(ends, p, self.dealt)
            going = going & ~(merged | ends)

    def read(self, rounds: Any) -> tuple[list[Array], Any, float]:
        """Read the logs of the first `rounds` rounds, int64 (B,), of each stream.

        Returns: What each stream logs, (n,); whether that is all of its rounds, bool (B,); the cards of a round.
        """
        xp, streams = self.xp, (len(rounds), -1)
        for p in [*range(int(xp.max(self.begins))), *range(self.cut, self.log.shape[0])]:
            valid = (p >= self.begins) & (p < self.dealt)
            self.log[p, :] = xp.where(valid, self.log[p, :], xp.zeros_like(self.log[p, :]))
        over = (self.log > 0) & (self.log <= len(self.rows.ends))
        played = to_host(xp.sum(xp.astype(over, xp.int32), axis=0)).reshape(streams)
        log = xp.reshape(xp.permute_dims(self.log, (1, 0)), (-1,))
        log = log[log > 0]
        ends = xp.concat([xp.asarray([-1]), xp.nonzero(log <= len(self.rows.ends))[0]])
        before = np.cumsum(played.sum(axis=1)) - played.sum(axis=1)
        sure = (played[:, :-1].sum(axis=1) >= rounds) & ~to_host(self.stuck).reshape(streams).any(axis=1)
        stop = np.where(sure, before + rounds, before)
        begin, stop = (to_host(xp.take(ends, xp.asarray(at))) + 1 for at in (before, stop))
        cards = to_host(self.dealt).sum() - to_host(self.begins).sum()
        logs = [log[a:b] for a, b in zip(begin.tolist(), stop.tolist(), strict=True)]
        return logs, sure, float(cards) / max(int(played.sum()), 1)
