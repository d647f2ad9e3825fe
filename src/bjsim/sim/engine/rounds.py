"""Playing rounds with the kernels: allocates their arrays and reads their counts.

Import this module only where rounds are played: importing numba takes a third of a second.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bjsim.errors import EndlessSplitting
from bjsim.sim.engine.counts import CountingTable, Played, count_codes, empty_tally
from bjsim.sim.engine.jit import is_cached
from bjsim.sim.engine.kernels.arrays import CountTally, Drift, Luck, SeatRows, Seats, Track, WalkedTable
from bjsim.sim.engine.kernels.layout import (
    ENDLESS,
    LEFT_TABLE,
    NO_LIMIT,
    WIDE,
    Blocks,
    CompiledRules,
    Counts,
    LaneArrays,
    LookupTable,
    ShoeArrays,
)
from bjsim.sim.engine.kernels.run_table import LANES, LOG, run_table
from bjsim.sim.engine.kernels.shoe import BUFFER, KEPT
from bjsim.sim.engine.kernels.walk import STATE, walk
from bjsim.sim.engine.pack import padded
from bjsim.sim.engine.round_table import LeftTable

Array = np.ndarray[Any, Any]


def make_shoe(compiled: CompiledRules, key: Sequence[int] | Array) -> ShoeArrays:
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


def make_lanes(compiled: CompiledRules) -> LaneArrays:
    """Make the lanes, at the beginning of the first blocks; there must be a block for each lane."""
    size = compiled.numbers.shoe_size
    first = 0 if size else KEPT
    return LaneArrays(
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
    layout: WalkedTable,
    keys: Sequence[tuple[int, int]],
    rounds: Sequence[int],
    drift: Drift | None = None,
    traced: bool = False,
) -> Played:
    """Play blocks from the beginnings of their keys' streams; with `drift`, count luck. LeftTable: a round left."""
    luck, seats = layout.luck, make_seats(layout.moves)
    counts, outside = make_counts(compiled, max([*rounds, 0]), 0), [np.zeros((0, 2), np.int64)]
    traces, shoes, drifted = list[Array](), list[Array](), np.zeros(0)
    if drift:
        drift = drift._replace(curvature=padded(drift.curvature))
        drifted = np.zeros(len(drift.slopes))
    for key, number in zip(keys, rounds, strict=True):
        track = make_track(layout.moves, luck) if luck else None
        shoe, cut = make_shoe(compiled, key), compiled.numbers.cut
        counts = counts._replace(trace=np.zeros((number * traced, len(seats.row) + 1), np.int64))
        plain, general = (None, True) if luck or layout.deal.robin else (True, None)
        new = walk(
            shoe, cut, layout.moves, layout.deal, seats, number, counts, luck, track, drift,
            drifted if general else None, None, None, None, np.zeros(STATE, np.int64), plain, general,
        )  # fmt: skip
        if new < 0:
            raise LeftTable
        outside.append(counts.overflow[:new].copy())
        traces.append(counts.trace)
        shoes += [track.sums] if track else []
    return Played(counts.dense, np.concatenate(outside), traces if traced else [], shoes)


def play_counter(table: CountingTable, key: Array, shoes: int) -> CountTally:
    """Play so many shoes from the beginning of the random stream of a key, uint64 (2,)."""
    layout, compiled = table.packed, table.compiled
    tally, seats = empty_tally(table.count, shoes), make_seats(layout.moves)
    track = make_track(layout.moves, layout.luck) if layout.luck else None
    left = walk(
        make_shoe(compiled, key), compiled.numbers.cut, layout.moves, layout.deal, seats, NO_LIMIT, None, layout.luck,
        track, None, np.zeros(len(table.control.full)), layout.counter, table.control, tally,
        np.zeros(STATE, np.int64), None, True,
    )  # fmt: skip
    if left < 0:
        raise EndlessSplitting(ENDLESS)
    return tally


def make_seats(moves: SeatRows) -> Seats:
    seats, outcomes = len(moves.start), moves.hands.shape[1]
    row, flags, code, splits, mark = np.zeros((5, seats), np.int64)
    return Seats(row, flags, code, np.zeros((seats, outcomes), np.int64), splits, mark)


def make_track(moves: SeatRows, luck: Luck) -> Track:
    seats = len(moves.start)
    return Track(
        counts=padded(luck.full.astype(np.int32)),
        left=np.array([luck.full.sum()]),
        expected=np.zeros(seats),
        end=np.zeros(seats),
        logged=np.zeros((seats, moves.hands.shape[1])),
        shadow=np.zeros((seats, luck.ranks), np.int64),
        gone=np.zeros(seats),
        units=np.zeros(seats, np.int64),
        bets=np.zeros(seats, np.int64),
        product=padded(np.zeros(WIDE)),
        sums=np.zeros((seats, 6)),
    )


NONES = {"walk": 8, "walk in turns": 7, "adjusted": 4, "count": 5, "count adjusted": 3}  # its arguments that are None


def is_ready(kernel: str) -> bool:
    """Whether a kernel's code is in memory or on disk: `run_table`, or what `walk` is compiled for, see `NONES`."""
    return is_cached(run_table) if kernel == "run_table" else is_cached(walk, NONES[kernel])
