"""Playing rounds with the kernels: allocates their arrays and reads their counts.

Import this module only where rounds are played: importing numba takes a third of a second.
"""

from collections.abc import Sequence

import numpy as np

from bjsim.arrays import Array
from bjsim.errors import EndlessSplitting
from bjsim.sim.engine.counts import CountingTable, Played, count_codes, empty_tally
from bjsim.sim.engine.jit import is_cached
from bjsim.sim.engine.kernels.arrays import (
    CountTally,
    Drift,
    Luck,
    PlainTable,
    PlainWork,
    SeatRows,
    Seats,
    Track,
    WalkedTable,
)
from bjsim.sim.engine.kernels.deal import INFINITE_PER_WORD, LANES, PER_WORD
from bjsim.sim.engine.kernels.layout import ENDLESS, NO_LIMIT, WIDE, CompiledRules, Counts, ShoeArrays, ShoeRules
from bjsim.sim.engine.kernels.luck import NOTED
from bjsim.sim.engine.kernels.plain import GROUP
from bjsim.sim.engine.kernels.plain import play_plain as plain_kernel
from bjsim.sim.engine.kernels.walk import STATE, walk, walk_plain
from bjsim.sim.engine.pack import padded
from bjsim.sim.engine.round_table import LeftTable

PART = 256  # cards of an infinite shoe that are dealt at a time


def shoe_rules(compiled: CompiledRules) -> ShoeRules:
    numbers = compiled.numbers
    if numbers.shoe_size:
        size, cut, each = numbers.shoe_size, numbers.cut, PER_WORD
    else:
        size, cut, each = PART, PART, INFINITE_PER_WORD if numbers.normal_tens else 2
    words = -(-size // each)
    return ShoeRules(size, cut, numbers.shoe_size > 0, bool(numbers.normal_tens), words, compiled.above)


def make_cards(rules: ShoeRules) -> Array:
    """Room for the cards of shoes side by side, the last words of which deal too many."""
    return np.zeros((rules.size + INFINITE_PER_WORD) * LANES, np.uint8)


def make_shoe(compiled: CompiledRules, key: Sequence[int] | Array) -> ShoeArrays:
    """Make the shoe of a table, before the first card of the random stream with this key."""
    rules = shoe_rules(compiled)
    return ShoeArrays(
        rules=rules,
        cards=make_cards(rules),
        key=np.array(key, np.uint64),
        first=np.zeros(LANES, np.uint64),
        gamma=np.full(LANES, key[1], np.uint64),
        number=np.array([-1], np.int64),
        read=np.array([rules.size], np.int64),
        before=np.array([-rules.size], np.int64),
    )


def make_counts(compiled: CompiledRules, rounds: int) -> Counts:
    """Make empty counts for `rounds` rounds, without a trace."""
    numbers, seats = compiled.numbers, len(compiled.act)
    return Counts(
        dense=np.zeros((seats, numbers.ties + 1, 2 * numbers.width + 1), np.int64),
        overflow=np.zeros((rounds * seats if numbers.most_hands == NO_LIMIT else 0, 2), np.int64),
        trace=np.zeros((0, seats + 1), np.int64),
    )


def make_work(rules: ShoeRules, outcomes: int) -> PlainWork:
    return PlainWork(
        cards=make_cards(rules),
        log=np.zeros(GROUP * rules.size + 1, np.uint32),
        start=np.zeros(LANES, np.uint64),
        gamma=np.zeros(LANES, np.uint64),
        first=np.zeros(LANES, np.uint64),
        row=np.zeros(LANES, np.int64),
        left=np.zeros(LANES, np.int64),
        ended=np.zeros(LANES, np.int64),
        split=np.zeros((LANES, outcomes), np.int64),
    )


def play_plain(
    compiled: CompiledRules, table: PlainTable, keys: Sequence[tuple[int, int]], rounds: Sequence[int]
) -> tuple[Array, Array]:
    """Play so many rounds of each block from the beginnings of their keys' streams.

    Returns: `counts` and `outside` of all together, see `Played`. LeftTable: a round left the table.
    """
    shoes, counts = shoe_rules(compiled), make_counts(compiled, sum(rounds))
    classes = np.zeros((4, table.plain + 1), np.int64)
    blocks = np.array(keys, np.uint64).reshape(-1, 2), np.array(rounds, np.int64)
    overflow = plain_kernel(table, shoes, *blocks, make_work(shoes, table.hands.shape[1]), counts, classes)
    frequency = np.bincount(
        table.label[: table.plain].astype(np.intp), classes[:, :-1].sum(axis=0), len(table.ends)
    ).astype(np.int64)
    if frequency[-1]:
        raise LeftTable
    others = count_codes(counts.dense[0], table.ends[:, 0], frequency)
    outside = np.concatenate([counts.overflow[:overflow], np.stack([np.zeros_like(others), others], axis=1)])
    return counts.dense, outside


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
    counts, outside = make_counts(compiled, max([*rounds, 0])), [np.zeros((0, 2), np.int64)]
    traces, shoes, drifted = list[Array](), list[Array](), np.zeros(0)
    if drift:
        drift = drift._replace(curvature=padded(drift.curvature))
        drifted = np.zeros(len(drift.slopes))
    for key, number in zip(keys, rounds, strict=True):
        track = make_track(layout.moves, luck) if luck else None
        shoe = make_shoe(compiled, key)
        counts = counts._replace(trace=np.zeros((number * traced, len(seats.row) + 1), np.int64))
        now = np.zeros(STATE, np.int64)
        if luck or layout.deal.robin:
            new = walk(
                shoe, layout.moves, layout.deal, seats, number, counts, luck, track, drift, drifted, None, None, None,
                now,
            )  # fmt: skip
        else:
            new = walk_plain(shoe, layout.moves, layout.deal, seats, number, counts, now)
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
    control = table.control._replace(slopes=padded(table.control.slopes.astype(np.int16)))
    left = walk(
        make_shoe(compiled, key), layout.moves, layout.deal, seats, NO_LIMIT, None, layout.luck, track, None,
        padded(np.zeros(WIDE, np.int16)), layout.counter, control, tally, np.zeros(STATE, np.int64),
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
        counts=padded(np.zeros(WIDE, np.int16)),
        left=np.zeros(1),
        expected=np.zeros(seats),
        end=np.zeros(seats),
        logged=np.zeros((seats, moves.hands.shape[1])),
        shadow=np.zeros((seats, luck.ranks), np.int64),
        noted=np.zeros((seats, NOTED), np.int64),
        unread=np.zeros(seats, np.int64),
        gone=np.zeros(seats),
        units=np.zeros(seats, np.int64),
        bets=np.zeros(seats, np.int64),
        product=padded(np.zeros(WIDE)),
        sums=np.zeros((seats, 6)),
    )


NONES = {"walk in turns": 6, "adjusted": 3, "count": 4, "count adjusted": 2}  # of the arguments of `walk` are None


def is_compiled(kernel: str) -> bool:
    """Whether a kernel's code is in memory or on disk: "plain", "walk", or what `walk` is compiled for, see `NONES`."""
    if kernel in NONES:
        return is_cached(walk, NONES[kernel])
    return is_cached(plain_kernel if kernel == "plain" else walk_plain)
