"""Plays the shoes of a counter."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from bjsim.sim.engine.array_cards import Segments
from bjsim.sim.engine.array_walker import NeedsMoreCards
from bjsim.sim.engine.count_lanes import CounterLanes
from bjsim.sim.engine.count_tally import CountTable
from bjsim.sim.engine.counted_shoes import CountedRounds, CountedShoes
from bjsim.sim.engine.counting_table import CountingTable, CountSums, UnitSums
from bjsim.sim.engine.depth_control import count_depths
from bjsim.sim.engine.kernels.layout import payoff_parts
from bjsim.sim.engine.luck_lanes import LuckLanes

Array = np.ndarray[Any, Any]

LANES = 1 << 12  # shoes side by side
AFTER_CUT = 40  # cards of each hand that nearly no round needs after the cut card
FURTHER = 2  # shoes into which the last round may run on


class CountedBatch(NamedTuple):
    """Shoes that were walked side by side.

    Attributes:
        shoes: Their number.
        rounds: Their rounds, in order.
        shoe: The shoe of each round, from 0, (n,).
        dealt: Cards dealt in all batches up to the end of each round, (n,).
        depths: The controls of each shoe, value and depths, (shoes, 2, B); None if not luck-adjusted.
    """

    shoes: int
    rounds: CountedRounds
    shoe: Array
    dealt: Array
    depths: Array | None


def play_shoes(table: CountingTable, key: tuple[int, int], shoes: int, traced: int = 0) -> tuple[CountSums, Array]:
    """Play whole shoes.

    Args:
        table: The table.
        key: The key of the random stream, which is read from its beginning.
        shoes: The number of shoes.
        traced: The number of first rounds to trace.

    Returns:
        The sums; and of the first rounds the bucket, payoff of the first spot in quanta, profit of insurance in half
        bets, cards dealt so far, and payoffs of further spots, (n, 3 + spots).

    Raises:
        EndlessSplitting: A round is too long.
    """
    sums, _, trace = _play(table, key, shoes, traced)
    return sums, trace


def play_units(table: CountingTable, key: tuple[int, int], shoes: int, unit: int) -> tuple[CountSums, UnitSums]:
    """Play whole shoes, the same as `play_shoes`, and keep the sums of a few shoes each.

    Args:
        table: The table.
        key: The key of the random stream, which is read from its beginning.
        shoes: The number of shoes.
        unit: The shoes of a unit, an even number. The last one has what is left.

    Returns:
        The sums, and those by unit.

    Raises:
        EndlessSplitting: A round is too long.
    """
    sums, now, _ = _play(table, key, shoes, 0)
    many = -(-shoes // unit)
    numbers, parts = np.zeros((many, 2), np.int64), np.zeros((many, 2, now.shape[1]))
    for half in (0, 1):
        number = np.arange(half, shoes, 2) // unit
        np.add.at(numbers[:, half], number, 1)
        np.add.at(parts[:, half], number, now[half::2])
    return sums, UnitSums(numbers, parts)


def _play(table: CountingTable, key: tuple[int, int], shoes: int, traced: int) -> tuple[CountSums, Array, Array]:
    """Returns: the sums, the quantities of every shoe, and the trace."""
    tally, traces = CountTable(table.unit, table.counter.spots), list[Array]()
    for batch in _walk_shoes(table, np.array([key], np.uint64), shoes):
        rounds = batch.rounds
        tally.add(rounds, batch.shoe, batch.shoes, batch.depths)
        if traced:
            units = payoff_parts(rounds.codes)[0]
            traces.append(np.column_stack([rounds.bucket, units[:, 0], rounds.won, batch.dealt, units[:, 1:]])[:traced])
            traced -= len(traces[-1])
    columns = 3 + int(table.counter.spots.max())
    return *tally.sums(), np.concatenate([np.zeros((0, columns), np.int64), *traces])


def _walk_shoes(table: CountingTable, keys: Array, shoes: int) -> Iterator[CountedBatch]:
    segments, seats = Segments(table.compiled, 0), len(table.rows.rows.start)
    first = begin = dealt = 0
    while shoes:
        count = min(shoes, LANES)
        stop = min(segments.size, (segments.cut + AFTER_CUT * seats + 3) // 4 * 4)
        try:
            walked = _walk(table, segments.cards(keys, first, count + FURTHER, stop), begin)
        except NeedsMoreCards:
            walked = _walk(table, segments.cards(keys, first, count + FURTHER, segments.size), begin)
        rounds, begins, ends, depths = walked
        played = begins < segments.cut  # the others ended within a round of an earlier shoe
        used = np.minimum(ends, segments.size)
        before = dealt + np.cumsum(used) - used
        number = np.cumsum(played) - 1
        yield CountedBatch(
            shoes=int(played.sum()),
            rounds=rounds,
            shoe=number[rounds.lane],
            dealt=before[rounds.lane] + rounds.end,
            depths=None if depths is None else depths[played],
        )
        shoes -= int(played.sum())
        first, begin, dealt = first + count, max(int(ends[-1]) - segments.size, 0), dealt + int(used.sum())


def _walk(table: CountingTable, cards: Array, begin: int) -> tuple[CountedRounds, Array, Array, Array | None]:
    """Walk all lanes but the last FURTHER ones.

    A lane is walked again as long as the one before has just been found to run on into it otherwise.

    Returns:
        The rounds in order; by lane the cards before its first round and those up to the end of the last; and the
        controls, see `CountedBatch`.
    """
    shoes, count = CountedShoes(table.compiled, table.counter, cards), cards.shape[1] - FURTHER
    begins, ends, again = np.zeros(count, np.int64), np.zeros(count, np.int64), np.arange(count)
    begins[0], parts = begin, list[CountedRounds]()
    while len(again):
        arguments = table.compiled, table.rows, table.counter, shoes, again, begins[again]
        lanes = LuckLanes(*arguments, table.luck) if table.luck else CounterLanes(*arguments)
        parts = [part.at(~np.isin(part.lane, again)) for part in parts] + [lanes.walk()]
        ends[again] = lanes.dealt
        found = np.append(begin, np.maximum(ends[:-1] - shoes.size, 0))
        again, begins = np.flatnonzero(found != begins), found
    rounds = CountedRounds(*(np.concatenate(fields) for fields in zip(*parts, strict=True)))
    depths = count_depths(shoes, table.control, count) if table.luck else None
    return rounds.at(np.lexsort((rounds.begin, rounds.lane))), begins, ends, depths
