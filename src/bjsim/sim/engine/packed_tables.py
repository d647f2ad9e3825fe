"""Round tables packed for the compiled walkers; see `kernels/table_layout.py`."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bjsim.sim.engine.kernels.count_layout import BET
from bjsim.sim.engine.kernels.layout import CHOICE, WIDE, CompiledRules
from bjsim.sim.engine.kernels.table_layout import (
    ACTED,
    LEAVES,
    OVER,
    LookupTable,
    RowLuck,
    TableSeats,
)
from bjsim.sim.engine.luck_tables import Luck, LuckTable
from bjsim.sim.engine.round_table import LEFT, RoundTable
from bjsim.sim.game.cards import RANKS

Array = np.ndarray[Any, Any]

LOG_BITS = 8
MOST_LOGGED = 126  # different ends of hands and rounds
MOST_OFFSETS = 1 << 22  # of rows, below the bits OVER and ACTED
MIN_CARDS = 16  # cards of a shoe below which lanes gain nothing
LINE = 64  # bytes in a line of the cache


def pack_table(compiled: CompiledRules, table: RoundTable) -> LookupTable | None:
    """Pack the table of a single seat, or return None if lanes cannot walk it."""
    numbers = compiled.numbers
    if table.log.max() > MOST_LOGGED or table.log.size > MOST_OFFSETS or 0 < numbers.shoe_size < MIN_CARDS:
        return None
    if numbers.shoe_size and numbers.cut < MIN_CARDS:
        return None
    return LookupTable(_entries(table), table.ends, table.hands, LEFT * len(RANKS))


def _entries(table: RoundTable) -> Array:
    """The next row's offset and a byte: 0 if nothing is logged, else 1 + 2 n for number n."""
    byte = np.where(table.after == LEFT, LEAVES, np.maximum(2 * table.log - 1, 0))
    entries: Array = (table.after * len(RANKS) << LOG_BITS | byte).astype(np.uint32)
    return entries.ravel()


def pack_seats(tables: Sequence[RoundTable], chart: Array) -> TableSeats | None:
    """Pack the tables of several seats, or return None if they do not fit."""
    begins = np.cumsum([0, *(table.log.size for table in tables)])
    if begins[-1] > MOST_OFFSETS or max(int(table.log.max()) for table in tables) > MOST_LOGGED:
        return None
    entries = []
    for begin, table in zip(begins.tolist(), tables, strict=False):
        ends = ((table.log > 0) & (table.log <= len(table.ends))).ravel()
        over = np.where(ends | (table.after == LEFT).ravel(), OVER | ACTED, 0) | np.where(
            (table.kind == 1)[table.after].ravel(), ACTED, 0
        )
        entries.append(_entries(table).astype(np.int64) + (begin << LOG_BITS) | over)
    seats = len(chart)
    return TableSeats(
        table=np.concatenate(entries).astype(np.uint32),
        forced=np.concatenate([table.forced.ravel() for table in tables]),
        start=begins[chart] << LOG_BITS,
        ends=tables[0].ends,
        hands=tables[0].hands,
        entry=np.zeros(seats, np.int64),
        split=np.zeros((seats, tables[0].hands.shape[1]), np.int64),
        splits=np.zeros(seats, np.int64),
        acting=np.zeros(seats + 1, np.int64),
    )


def count_bets(compiled: CompiledRules) -> CompiledRules:
    """Add to the payoffs of a hand the number of its bets, see BET. No bets may tie."""
    return compiled._replace(pay=compiled.pay + BET * 2 ** np.arange(compiled.pay.shape[1])[:, None])


def merge_charts(act: Array) -> tuple[Array, Array]:
    """Merge charts, the first axis of `act` (see `CompiledRules.act`), with a choice wherever they differ.

    Such a cell of it, (1, 2, S, C + E + 1), is CHOICE times the choice's number plus one, plus 1 << code for
    each of the charts' codes. Return also the codes by choice and chart, int64 (V, charts).
    """
    cells = act.reshape(len(act), -1)
    differs = (cells != cells[0]).any(axis=0)
    answers, number = np.unique(cells[:, differs].T, axis=0, return_inverse=True)
    merged = cells[0].copy()
    merged[differs] = (CHOICE * (1 + np.arange(len(answers))) + np.bitwise_or.reduce(1 << answers, axis=1))[number]
    return merged.reshape(1, *act.shape[1:]), answers


def pack_luck(luck: Luck) -> RowLuck:
    """Pack luck tables; the rows are those of `pack_seats`."""
    tables, seats = luck.tables, len(luck.chart)
    states = np.cumsum([0, *(len(table.chances) for table in tables[:-1])]).tolist()
    outcomes = tables[0].hands.shape[1]

    def join(find: Callable[[LuckTable], Array], kind: type) -> Array:
        return np.concatenate([find(table) for table in tables]).astype(kind)

    return RowLuck(
        paid=padded(join(lambda table: table.paid, np.float32)),
        own=padded(join(lambda table: table.own, np.int16)),
        slopes=padded(join(lambda table: table.slopes, np.int16)),
        outcome=np.concatenate([t.outcome + begin for t, begin in zip(tables, states, strict=True)]),
        outcome_after=np.concatenate([t.outcome_after + begin for t, begin in zip(tables, states, strict=True)]),
        chances=join(lambda table: table.chances, np.float64),
        tilts=padded(join(lambda table: table.tilts, np.float32)),
        row_slopes=padded(join(lambda table: table.row_slopes, np.float32)),
        hands=np.stack([table.hands for table in tables]),
        drift=np.stack([table.drift for table in tables]).astype(np.float64),
        curvature=padded(np.stack([table.curvature for table in tables])),
        expected=luck.expected,
        value=np.array([tables[chart].value for chart in luck.chart.tolist()]),
        chart=luck.chart,
        full=padded(luck.full.astype(np.int32)),
        depths=luck.depths,
        rounds_per_depth=luck.rounds_per_depth,
        bet=luck.bet,
        **_working_memory(luck.full, seats, len(tables), outcomes),
    )


def fresh_luck(packed: RowLuck) -> RowLuck:
    """The same with working memory of its own, for one block: threads may play blocks at the same time."""
    seats, outcomes = packed.logged.shape
    return packed._replace(**_working_memory(packed.full, seats, len(packed.drift), outcomes))


def _working_memory(full: Array, seats: int, charts: int, outcomes: int) -> dict[str, Any]:
    return {
        "counts": padded(full.astype(np.int32)),
        "product": padded(np.zeros(WIDE)),
        "left": np.full(1, float(full.sum())),
        "chunk": np.full(1, -1, np.int64),
        "logged": np.zeros((seats, outcomes)),
        "split": np.zeros(seats, np.int64),
        "gone": np.zeros(seats),
        "drifted": np.zeros(charts),
        "units": np.zeros(seats, np.int64),
        "bets": np.zeros(seats, np.int64),
        "sums": np.zeros((seats, 6)),
    }


def padded(ranks: Array) -> Array:
    """Pad the last axis, which is over ranks, with zeros to the length WIDE, at an address that suits the processor."""
    shape = (*ranks.shape[:-1], WIDE)
    size = math.prod(shape) * ranks.itemsize
    memory = np.zeros(size + LINE, np.uint8)
    begin = -memory.ctypes.data % LINE  # a vector in two lines of the cache would take two loads
    result: Array = memory[begin : begin + size].view(ranks.dtype).reshape(shape)
    result[..., : ranks.shape[-1]] = ranks
    return result
