"""Plays the shoes of a counter."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from bjsim.sim.engine.array_cards import Segments
from bjsim.sim.engine.array_walker import NeedsMoreCards
from bjsim.sim.engine.count_lanes import CounterLanes, plays_alone
from bjsim.sim.engine.count_tally import CountTable, add_up
from bjsim.sim.engine.counted_shoes import CountedShoes
from bjsim.sim.engine.counting_table import WORTH_COMPILING, WORTH_LOADING, CountingTable, CountSums, UnitSums
from bjsim.sim.engine.depth_control import count_depths
from bjsim.sim.engine.kernels.count_layout import FURTHER, LEFT, CountedRounds
from bjsim.sim.engine.kernels.layout import payoff_parts
from bjsim.sim.engine.luck_lanes import LuckLanes

Array = np.ndarray[Any, Any]

LANES = 1 << 13  # shoes side by side
AFTER_CUT = 40  # cards of each hand that nearly no round needs after the cut card


class CountedBatch(NamedTuple):
    """Shoes that were walked side by side, and their rounds, in order.

    `shoe` is that of each round, from 0, (n,); `dealt` the cards dealt in all batches up to the end of each,
    (n,); `depths` the controls of each shoe, value and depths, (shoes, 2, B), None if not luck-adjusted. The
    counter has `left` so many of the shoes before their end.
    """

    shoes: int
    left: int
    rounds: CountedRounds
    shoe: Array
    dealt: Array
    depths: Array | None


def play_shoes(table: CountingTable, key: tuple[int, int], shoes: int, traced: int = 0) -> tuple[CountSums, Array]:
    """Play whole shoes from the beginning of the key's random stream; return the sums and a trace.

    The trace, (n, 3 + spots), has of the first `traced` rounds the bucket, payoff of the first spot in
    quanta, profit of insurance in half bets, cards dealt so far, and payoffs of further spots.
    EndlessSplitting: a round is too long.
    """
    ((sums, _, trace),) = _play(table, np.array([key], np.uint64), shoes, traced)
    return sums, trace


def play_units(
    table: CountingTable, keys: Array, shoes: int, unit: int, kernel: bool = False
) -> list[tuple[CountSums, UnitSums]]:
    """Play whole shoes of several streams as `play_shoes` does; return each stream's sums, and those by unit.

    The streams are played side by side, from their beginnings; `keys` are uint64 (n, 2). A unit has `unit`
    shoes, an even number, the last one what is left. `kernel` lets the kernel play them if it can, see
    `pays`; it changes no bit of the result. EndlessSplitting: a round is too long.
    """
    played = []
    for sums, now, _ in _play(table, keys, shoes, 0, kernel):
        units = UnitSums(sums.shoes[None], sums.sums[None])
        if unit < shoes:
            halves = [[now[i : i + unit][half::2] for half in (0, 1)] for i in range(0, shoes, unit)]
            numbers = np.array([[len(half) for half in part] for part in halves])
            units = UnitSums(numbers, np.array([[half.sum(axis=0) for half in part] for part in halves]))
        played.append((sums, units))
    return played


def _play(
    table: CountingTable, keys: Array, shoes: int, traced: int, kernel: bool = False
) -> list[tuple[CountSums, Array, Array]]:
    """Returns: for each stream the sums, the quantities of every shoe, and the trace."""
    nothing = np.zeros((0, 3 + int(table.counter.spots.max())), np.int64)
    if kernel and plays_alone(table.counter, len(table.rows.rows.start)):
        from bjsim.sim.engine.count_walker import play_stream  # imports numba

        played = (play_stream(table, key, shoes) for key in keys)
        return [(*add_up(raw, now.reshape(shoes, -1)), nothing) for raw, now in played]
    tallies, traces = [CountTable(table.unit, table.counter.spots) for _ in keys], [[nothing] for _ in keys]
    for stream, batch in _walk_shoes(table, keys, shoes):
        rounds = batch.rounds
        tallies[stream].add(rounds, batch.shoe, batch.shoes, batch.depths)
        tallies[stream].raw[0, LEFT] += batch.left
        if traced:
            units = payoff_parts(rounds.codes)[0]
            trace = np.column_stack([rounds.bucket, units[:, 0], rounds.won, batch.dealt, units[:, 1:]])
            traces[stream].append(trace)
    return [(*tally.sums(), np.concatenate(parts)[:traced]) for tally, parts in zip(tallies, traces, strict=True)]


def _walk_shoes(table: CountingTable, keys: Array, shoes: int) -> Iterator[tuple[int, CountedBatch]]:
    """Walk so many shoes of each stream. Returns: batches in order, with the numbers of their streams."""
    segments, seats = Segments(table.compiled, 0), len(table.rows.rows.start)
    stop = min(segments.size, (segments.cut + AFTER_CUT * seats + 3) // 4 * 4)
    first, begin, dealt = np.zeros((3, len(keys)), np.int64)
    rest = np.full(len(keys), shoes)
    while (at := np.flatnonzero(rest)).size:
        count = min(int(rest[at].min()), max(LANES // len(at), 1))
        try:
            cards = segments.cards(keys[at], first[at], count + FURTHER, stop)
            walked = _walk(table, cards, begin[at])
        except NeedsMoreCards:
            cards = segments.cards(keys[at], first[at], count + FURTHER, segments.size)
            walked = _walk(table, cards, begin[at])
        rounds, begins, ends, depths = walked
        cuts = np.searchsorted(rounds.lane, np.arange(len(at) + 1) * (count + FURTHER))
        for number, stream in enumerate(at.tolist()):
            own = rounds.at(slice(cuts[number], cuts[number + 1]))
            lane = own.lane - number * (count + FURTHER)
            played = begins[number] < segments.cut  # the others ended within a round of an earlier shoe
            used = np.minimum(ends[number], segments.size)
            before = dealt[stream] + np.cumsum(used) - used
            last = np.zeros_like(used)
            last[lane] = own.end  # rounds are in order
            yield (
                stream,
                CountedBatch(
                    shoes=int(played.sum()),
                    left=int((played & (last < segments.cut)).sum()),
                    rounds=own,
                    shoe=(np.cumsum(played) - 1)[lane],
                    dealt=before[lane] + own.end,
                    depths=None if depths is None else depths[number][played],
                ),
            )
            rest[stream] -= played.sum()
            begin[stream] = max(ends[number, -1] - segments.size, 0)
            dealt[stream] += used.sum()
        first[at] += count


def _walk(table: CountingTable, cards: Array, begin: Array) -> tuple[CountedRounds, Array, Array, Array | None]:
    """Walk all lanes of each stream but its last FURTHER ones, from card `begin` (n,) of its first lane on.

    A lane is walked again as long as the one before has just been found to run on into it otherwise. `cards`
    (p, lanes) has as many lanes of each stream. Return the rounds in order; by stream and lane the cards
    before its first round and those up to the end of the last; and the controls, see `CountedBatch`.
    """
    shoes, walked = CountedShoes(table.compiled, table.counter, cards), np.arange(cards.shape[1])
    walked = walked.reshape(len(begin), -1)[:, :-FURTHER]
    again, begins, ends = walked.ravel(), *np.zeros((2, cards.shape[1]), np.int64)
    begins[walked[:, 0]], parts = begin, list[CountedRounds]()
    while len(again):
        arguments = table.compiled, table.rows, table.counter, shoes, again, begins[again]
        lanes = LuckLanes(*arguments, table.luck) if table.luck else CounterLanes(*arguments)
        played, ends[again] = lanes.walk(), lanes.dealt
        parts = [part.at(~np.isin(part.lane, again)) for part in parts] + [played]
        found = np.maximum(np.roll(ends, 1) - shoes.size, 0)
        found[walked[:, 0]] = begin
        again, begins = walked[found[walked] != begins[walked]], found
    rounds = CountedRounds(*(np.concatenate(fields) for fields in zip(*parts, strict=True)))
    depths = count_depths(shoes, table.control, walked.ravel()) if table.luck else None
    rounds = rounds.at(np.lexsort((rounds.begin, rounds.lane)))
    depths = None if depths is None else depths.reshape(*walked.shape, *depths.shape[1:])
    return rounds, begins[walked], ends[walked], depths


def pays(table: CountingTable, rounds: float) -> bool:
    """Whether so many rounds pay for loading the kernel, or for compiling it."""
    if rounds < WORTH_LOADING or not plays_alone(table.counter, len(table.rows.rows.start)):
        return False
    try:
        from bjsim.sim.engine.jit import is_cached
        from bjsim.sim.engine.kernels.count_table import play_counter
    except ImportError:  # numba is missing
        return False
    if rounds >= WORTH_COMPILING and not is_cached(play_counter):
        play_units(table, np.zeros((1, 2), np.uint64), 1, 2, kernel=True)
    return is_cached(play_counter)
