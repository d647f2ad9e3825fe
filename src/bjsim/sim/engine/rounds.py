"""Playing rounds with the kernels: allocates their arrays and reads their counts.

Import this module only where rounds are played: importing numba takes a third of a second.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bjsim.sim.engine.array_play import count_codes
from bjsim.sim.engine.kernels.adjusted_table import run_adjusted
from bjsim.sim.engine.kernels.layout import NO_LIMIT, CompiledRules, Counts, ShoeArrays
from bjsim.sim.engine.kernels.run_table import LANES, LOG, run_table
from bjsim.sim.engine.kernels.seats_table import run_seats
from bjsim.sim.engine.kernels.shoe import BUFFER, KEPT
from bjsim.sim.engine.kernels.table_layout import LEFT_TABLE, Blocks, Lanes, LookupTable, RowLuck, TableSeats
from bjsim.sim.engine.lockstep import opening
from bjsim.sim.engine.packed_tables import fresh_luck
from bjsim.sim.engine.round_table import LeftTable

Array = np.ndarray[Any, Any]


def make_shoe(compiled: CompiledRules, key: tuple[int, int]) -> ShoeArrays:
    """Make the shoe of a table, before the first card of the random stream with this key."""
    size = compiled.numbers.shoe_size
    return ShoeArrays(
        cards=np.zeros(size or KEPT + BUFFER, np.uint8),
        key=np.array(key, np.uint64),
        read=np.array([size], np.int64),
        ready=np.array([size], np.int64),
        chunk=np.array([-1], np.int64),
        before=np.array([-size], np.int64),
        size=size,
        normal_tens=compiled.numbers.normal_tens,
        unshuffled=compiled.unshuffled,
        threshold=compiled.threshold,
        other=compiled.other,
    )


def make_counts(compiled: CompiledRules, rounds: int, traced: int) -> Counts:
    """Make empty counts for `rounds` rounds, with a trace of the first `traced`."""
    numbers, seats = compiled.numbers, len(compiled.act)
    return Counts(
        dense=np.zeros((seats, numbers.ties + 1, 2 * numbers.width + 1), np.int64),
        overflow=np.zeros((rounds * seats if numbers.most_hands == NO_LIMIT else 0, 2), np.int64),
        trace=np.zeros((traced, seats + 1), np.int64),
    )


def make_lanes(compiled: CompiledRules) -> Lanes:
    """Make the lanes, at the beginning of the first blocks; there must be a block for each lane."""
    size = compiled.numbers.shoe_size
    first = 0 if size else KEPT
    return Lanes(
        cards=np.zeros((LANES, size or KEPT + BUFFER), np.uint8),
        read=np.full(LANES, first, np.int64),
        ready=np.full(LANES, first, np.int64),
        chunk=np.full(LANES, 0 if size else -1, np.int64),
        before=np.zeros(LANES, np.int64),
        log=np.zeros((LANES, LOG), np.uint8),
        row=np.zeros(LANES, np.int64),
        logged=np.zeros(LANES, np.int64),
        look=np.zeros(LANES, np.int64),
        limit=np.full(LANES, -1, np.int64),
        block=np.arange(LANES, dtype=np.int64),
        over=np.zeros(LANES, np.int64),
        next_block=np.array([LANES], np.int64),
        running=np.array([LANES], np.int64),
        overflow=np.zeros(1, np.int64),
    )


def play_lanes(
    compiled: CompiledRules,
    lookup: LookupTable,
    keys: Sequence[tuple[int, int]],
    rounds: Sequence[int],
    traced: bool = False,
) -> tuple[Array, Array, list[Array]]:
    """Play blocks of one seat from the beginnings of their keys' streams; return (counts, outside, traces).

    `counts` and `outside` are of all blocks together, see `Played`; `traces` is an array of payoff codes for
    each block if `traced`, else empty. LeftTable: a round left the table.
    """
    padding = [0] * max(LANES - len(keys), 0)  # empty blocks for lanes that have no other
    traces = np.zeros((len(keys) + len(padding), max([*rounds, 0]) if traced else 0), np.int64)
    all_keys = np.array([*keys, *[(0, 0) for _ in padding]], np.uint64)
    blocks = Blocks(np.array([*rounds, *padding], np.int64), all_keys, traces)
    counts = make_counts(compiled, sum(rounds), 1)
    classes = np.zeros((4, len(lookup.ends)), np.int64)
    overflow = run_table(lookup, compiled, blocks, make_lanes(compiled), counts, classes)
    if overflow == LEFT_TABLE:
        raise LeftTable
    others = count_codes(counts.dense[0], lookup.ends[:, 0], classes.sum(axis=0))
    outside = np.concatenate([counts.overflow[:overflow], np.stack([np.zeros_like(others), others], axis=1)])
    pairs = zip(traces, rounds, strict=False)
    return counts.dense, outside, [trace[:n] for trace, n in pairs] if traced else []


def play_seats(
    compiled: CompiledRules,
    seats: TableSeats,
    keys: Sequence[tuple[int, int]],
    rounds: Sequence[int],
    traced: int = 0,
    luck: RowLuck | None = None,
) -> tuple[Array, Array, Array, list[Array]]:
    """Play blocks of several seats from the beginnings of their keys' streams.

    Return (counts, outside, trace, shoes) of all blocks together, as in `Played`, but with one trace: the
    first `traced` rounds of the last block. `seats` are not changed. LeftTable: a round left the table.
    """
    counts, overflow = make_counts(compiled, sum(rounds), traced), 0
    working = ("entry", "split", "splits", "acting")
    seats = seats._replace(**{name: np.zeros_like(getattr(seats, name)) for name in working})
    classes = np.zeros((len(seats.entry), len(seats.ends)), np.int64)
    shoes: list[Array] = []
    for key, number in zip(keys, rounds, strict=True):
        arguments = compiled, make_shoe(compiled, key), number, seats, counts, classes, np.int64(overflow)
        if luck is None:
            overflow = run_seats(*arguments)
        else:
            block = fresh_luck(luck)
            overflow = run_adjusted(*arguments, opening(compiled), block)
            shoes.append(block.sums)
        if overflow == LEFT_TABLE:
            raise LeftTable
    outside = [counts.overflow[:overflow]]
    for seat, frequencies in enumerate(classes):
        others = count_codes(counts.dense[seat], seats.ends[:, 0], frequencies)
        outside.append(np.stack([np.full_like(others, seat), others], axis=1))
    return counts.dense, np.concatenate(outside), counts.trace, shoes
