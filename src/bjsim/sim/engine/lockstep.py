"""Many tables in lockstep: each takes one card at a time, by the rows of the round table."""

from __future__ import annotations

from typing import Any

import numpy as np

from bjsim.sim.engine.kernels.layout import CompiledRules
from bjsim.sim.engine.kernels.table_layout import SeatRows
from bjsim.sim.engine.round_table import LEFT, RoundTable
from bjsim.sim.game.cards import RANKS

Array = np.ndarray[Any, Any]


def seat_rows(tables: list[RoundTable], chart: Array) -> SeatRows:
    """Put the tables of charts, whose ends and hands are equal, together; `chart` (seats,) is each seat's."""
    begins = len(RANKS) * np.cumsum([0, *(len(table.kind) for table in tables)])
    most = max(len(tables[0].ends), *(int(table.log.max()) for table in tables))
    bits = 8 if most < 1 << 8 else 16
    kind = np.int32 if begins[-1] < 1 << (31 - bits) else np.int64
    entries = [
        (begin + len(RANKS) * table.after.astype(kind)) << bits | table.log.astype(kind)
        for begin, table in zip(begins.tolist(), tables, strict=False)
    ]
    return SeatRows(
        entries=np.concatenate(entries, dtype=kind).ravel(),
        bits=bits,
        start=begins[chart].astype(kind),
        waits=np.concatenate([np.repeat(table.kind == 1, len(RANKS)) for table in tables]),
        forced=np.concatenate([table.forced.ravel() for table in tables]),
        ends=tables[0].ends,
        hands=tables[0].hands,
    )


class Lockstep:
    """Lanes in lockstep: each draws one card at a time. `round_robin`: turns are decisions.

    `opening` is who gets the cards of the deal: a seat, or the number of seats for the dealer.
    """

    def __init__(self, rows: SeatRows, opening: Array, round_robin: bool, count: int) -> None:
        self.rows = rows
        self.seats = len(rows.start)
        self.opening = opening
        self.round_robin = round_robin
        self.mask = (1 << rows.bits) - 1
        self.row = np.repeat(rows.start[:, None], count, axis=1)
        self.done = np.zeros((self.seats, count), np.bool_)
        self.who = np.full(count, opening[0])
        self.drawn = np.zeros(count, np.int64)

    @property
    def takes(self) -> Array:
        """Whether the next card is one of a seat's round, bool (seats, lanes)."""
        takes: Array = ((self.who == np.arange(self.seats)[:, None]) | (self.who == self.seats)) & ~self.done
        return takes

    def keep(self, kept: Array) -> None:
        self.row, self.done = self.row[:, kept], self.done[:, kept]
        self.who, self.drawn = self.who[kept], self.drawn[kept]

    def restart(self, at: Array) -> None:
        self.row[:, at], self.done[:, at] = self.rows.start[:, None], False
        self.who[at], self.drawn[at] = self.opening[0], 0

    def left(self) -> Array:
        """Whether rounds have left the table, (lanes,)."""
        return np.asarray((self.row == self.rows.start[:, None] + LEFT * len(RANKS)).any(axis=0))

    def step(self, cards: Array) -> tuple[Array, Array]:
        """Give every lane a card. Returns: what is logged, (seats, lanes), and whether the round is over, (lanes,)."""
        place = self.row + cards
        entry = self.rows.entries.take(place)
        if self.seats == 1:
            self.row = entry >> self.rows.bits
            return entry & self.mask, self.row[0] == 0
        takes = self.takes
        log = np.where(takes, entry & self.mask, 0)
        self.row = np.where(takes, entry >> self.rows.bits, self.row)
        self.done |= (log > 0) & (log <= len(self.rows.ends))
        self.drawn += 1
        over = self.done.all(axis=0) & (self.drawn >= len(self.opening))
        self.row = np.where(over, self.rows.start[:, None], self.row)
        self.done &= ~over
        self.drawn *= ~over
        self._find_next(self.rows.forced.take(place))
        return log, over

    def _find_next(self, forced: Array, at: Any = slice(None)) -> None:
        """Find who gets the next cards of lanes: in the deal, a seat that acts, or else the dealer."""
        who, drawn = self.who[at], self.drawn[at]
        acts = ~self.done[:, at] & ~self.rows.waits.take(self.row[:, at])
        turn = np.arange(self.seats)[:, None]
        if self.round_robin:  # the seats after the last come first, unless it has decided nothing since
            began = drawn > len(self.opening)
            stays = np.take_along_axis(forced & acts, who.clip(max=self.seats - 1)[None], axis=0)
            turn = np.where(began, (turn - who - ~stays[0]) % self.seats, turn)
        first = np.where(acts, turn, self.seats).argmin(axis=0)
        acting = np.where(acts.any(axis=0), first, self.seats)
        dealt = drawn < len(self.opening)
        self.who[at] = np.where(dealt, self.opening[np.minimum(drawn, len(self.opening) - 1)], acting)


def opening(compiled: CompiledRules) -> Array:
    """Who gets the cards of the deal: seats, and their number for the dealer."""
    seats = len(compiled.act)
    return np.concatenate([[seats] if to_dealer else np.arange(seats) for to_dealer in compiled.deal])
