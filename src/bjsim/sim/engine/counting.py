"""Plays the shoes of a counter: by the kernel where that pays, else in arrays, with the same bits."""

from collections import deque
from collections.abc import Iterator
from itertools import chain

import numpy as np

from bjsim.arrays import Array
from bjsim.sim.engine.array_cards import Segments
from bjsim.sim.engine.counts import CountingTable, CountSums, UnitSums, add_rounds, add_up, empty_tally
from bjsim.sim.engine.kernels.arrays import DEPTHS, LEFT, SCALE, VALUE, CountTally, DepthControl
from bjsim.sim.engine.lanes import Rounds, Shoes, walk_streams
from bjsim.sim.engine.play import THRESHOLDS, have_kernels, is_ready

LANES = 1 << 13  # shoes side by side
LUCK_LANES = 1 << 11


def play_units(
    table: CountingTable, keys: Array, shoes: int, unit: int, kernel: bool = False
) -> list[tuple[CountSums, UnitSums]]:
    """Play whole shoes of several streams; return each stream's sums, and those by unit.

    The streams are played from their beginnings; `keys` are uint64 (n, 2). A unit has `unit` shoes, the last one what
    is left. `kernel` lets the kernel play them, see `pays`; it changes no bit of the result. EndlessSplitting: a round
    is too long.
    """
    if kernel:
        from bjsim.sim.engine.rounds import play_counter  # imports numba

        return [add_up(table, play_counter(table, key, shoes), unit) for key in keys]
    tallies = [empty_tally(table.count, shoes) for _ in keys]
    deque(walk_counter(table, keys, tallies), maxlen=0)
    return [add_up(table, tally, unit) for tally in tallies]


def walk_counter(table: CountingTable, keys: Array, tallies: list[CountTally]) -> Iterator[tuple[Rounds, Array]]:
    """Play the shoes of streams for which their tallies have room.

    Yields the rounds of a stream, in order, some at a time, and the cards dealt of it up to the end of each.
    """
    segments, luck, room = Segments(table.compiled, 0), table.layout.luck, np.array([len(one.now) for one in tallies])
    left, at_once = room.copy(), LUCK_LANES if luck else LANES

    def wanted() -> Array:  # as many of each stream, so that none exceeds its room
        return np.asarray(np.minimum(left, left[left > 0].min(initial=room.max(initial=0))))

    for walked in chain.from_iterable(walk_streams(segments, table.layout, keys, wanted, at_once)):
        stream, lane = walked.stream, walked.rounds.lane
        played = walked.begins < segments.cut  # the others ended within a round of an earlier shoe
        last = np.zeros_like(walked.used)
        last[lane] = walked.rounds.end  # rounds are in order
        tally, over, shoes = tallies[stream], room[stream] - left[stream], int(played.sum())
        tally.raw[0, LEFT] += int((played & (last < segments.cut)).sum())
        part = tally._replace(now=tally.now[over : over + shoes])
        add_rounds(part, table.count, walked.rounds, (np.cumsum(played) - 1)[lane])
        if luck:
            part.now[:, [VALUE, DEPTHS]] = count_depths(
                walked.shoes, table.control, walked.lane + np.flatnonzero(played)
            )
        yield walked.rounds, walked.dealt
        left[stream] -= shoes


def count_depths(shoes: Shoes, control: DepthControl, chosen: Array) -> Array:
    """First-order values of rounds at fixed depths of n chosen shoes, which depend on their cards alone.

    Returns: value and number of the depths in each bucket, (n, 2, B).
    """
    sums, lanes = np.zeros((len(chosen), 2, len(control.values))), np.arange(len(chosen))
    left = np.repeat(control.full[:, None], len(chosen), axis=1)
    for n in range(0, shoes.cut, control.step):
        bucket = shoes.bucket[n, chosen]
        value = np.einsum("mq,qm->m", control.slopes.take(bucket, axis=0), left)
        sums[lanes, 0, bucket] += control.values[bucket] + value / (SCALE * (shoes.size - n))
        sums[lanes, 1, bucket] += 1
        for card in shoes.cards[n : n + control.step, chosen]:
            left[np.minimum(card, len(left) - 1), lanes] -= 1
    return sums


def pays(table: CountingTable, rounds: float, known: bool = True) -> bool:
    """Whether so many rounds pay for loading the kernel, or for compiling it; it is then compiled, if it must be.

    If it is not `known` that there will be so many, it is not compiled.
    """
    kernel = "count adjusted" if table.layout.luck else "count"
    if known and rounds >= THRESHOLDS[kernel].compiling and have_kernels() and not is_ready(kernel, rounds):
        play_units(table, np.zeros((1, 2), np.uint64), 1, 2, kernel=True)
    return is_ready(kernel, rounds)
