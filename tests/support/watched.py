"""The luck of every single draw, beside that which the walker sums up by the telescope."""

from __future__ import annotations

from collections import defaultdict
from typing import Any, NoReturn

import numpy as np

from bjsim.arrays import Array
from bjsim.sim.engine.kernels.arrays import SCALE, STRIDE, WalkedTable
from bjsim.sim.engine.lanes import Lanes, Rounds, Shoes


def never(lane: int, card: int) -> NoReturn:
    raise AssertionError("a round left the table")


class Watched(Lanes):
    """Lanes from the first card on that keep the luck of each kind of draw: number, sum and sum of squares.

    The luck of a draw is the value of a round after the card less its expectation before, from `_expect` and `_value`
    alone; `rounds` notes by round, in the order in which they end, the sum of its draws' luck and the telescope's.
    """

    def __init__(self, layout: WalkedTable, shoes: Shoes, lanes: int) -> None:
        self.kinds: dict[str, Array] = defaultdict(lambda: np.zeros(3))
        self.direct, self.open = np.zeros(lanes * len(layout.moves.start)), False
        self.sums: list[Array] = []
        super().__init__(layout, shoes, np.arange(lanes), np.zeros(lanes, np.int64), never, None)
        self.by_seat.append("direct")

    def _note(self, kind: str, i: Array, luck: Array) -> None:
        self.direct[i] += luck
        luck = luck[luck != 0] / SCALE
        self.kinds[kind] += [len(luck), luck.sum(), (luck**2).sum()]

    def _weigh(self, i: Any, lane: Any, rank: Array) -> None:
        """Keep what is expected before the card."""
        first = self.count.seat if self.count else 0
        self.at = np.flatnonzero((self.rows >= 0) & (np.arange(len(self.rows)) >= first * self.n))
        self.at = self.at[self.rest[self.at % self.n] > 1]
        takes = np.isin(self.at, np.arange(self.n) if self.alone else i)
        expected = self._value(self.at)
        mine = self.at[takes]
        expected[takes] = self._expect(mine, mine % self.n)
        self.before, self.kind, self.open = expected, self._kinds(takes), True
        super()._weigh(i, lane, rank)

    def _kinds(self, takes: Array) -> Array:
        """The kind of the next draw."""
        assert self.luck is not None
        row = self.rows[self.at] // STRIDE
        kind = np.where(row == self.moves.start[0] // STRIDE, "first card", "later card").astype("<U20")
        kind[self.luck.hand[row].any(axis=1)] = "may end a split hand"
        kind[self.splits[self.at]] = "after a split hand"
        kind[~takes] = "others' card"
        return kind

    def _follow(self, i: Any, place: Array) -> Array:
        """Note the luck of the card."""
        over = super()._follow(i, place)
        if self.open:
            self.open = False
            luck = self._value(self.at) - self.before
            for kind in np.unique(self.kind):
                mine = self.kind == kind
                self._note(str(kind), self.at[mine], luck[mine])
        return over

    def _judge(self, i: Array, at: Array, chart: Array) -> None:
        before = self.expected[i].copy()
        super()._judge(i, at, chart)
        self._note("hole card", i, before - self.expected[i])

    def _finish(self, at: Array) -> None:
        first = self.count.seat if self.count else 0
        played = np.arange(self.seats)[:, None] < self.hands[at]
        i = np.arange(self.seats)[:, None] * self.n + at
        i = i[first:][played[first:]]
        self.sums.append(np.stack([self.direct[i], self.end[i] - self.expected[i]]) / SCALE)
        self.direct[np.arange(self.seats)[:, None] * self.n + at] = 0
        super()._finish(at)

    def check(self) -> dict[str, float]:
        """Walk; check that the telescope is the sum of the draws. Returns: the mean luck of each in standard errors."""
        rounds: Rounds = self.walk()
        direct, telescope = np.concatenate(self.sums, axis=1)
        assert len(direct) >= len(rounds.lane) and abs(direct).max() > 0.5
        assert abs(direct - telescope).max() < 1e-9
        return {kind: float(total / np.sqrt(squares)) for kind, (_, total, squares) in self.kinds.items()}
