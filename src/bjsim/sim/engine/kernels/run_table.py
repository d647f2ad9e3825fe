"""Running the lookup table (`lookup_table.py`) over the cards, in four interleaved lanes.

A lane's next row depends only on its row and its next card, without a branch, so that the processor executes the lanes
in parallel. Everything that needs a branch is done by `attend`, every STRIDE cards.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bjsim.sim.engine.jit import compiled
from bjsim.sim.engine.kernels.layout import Counts, ShoeArrays
from bjsim.sim.engine.kernels.play import RAN_AWAY, play
from bjsim.sim.engine.kernels.read_log import read_log
from bjsim.sim.engine.kernels.shoe import KEPT, begin_shuffle, more, refill, shuffle

LANES = 4  # blocks played in parallel; more would not fit in the processor's registers
STRIDE = 16  # cards that every lane draws between checks
LOG = 4096  # bytes in a lane's log


@compiled(inline="always")
def step(table: Any, cards: Any, position: Any, log: Any, row: Any, logged: Any) -> Any:
    """Give a lane its next card. Returns: the offset of the next row, and the length of the log."""
    entry = np.uint64(table[row + np.uint64(cards[position])])
    log[logged] = entry
    return entry >> np.uint64(8), logged + (entry & np.uint64(1))


@compiled(_nrt=False, forceinline=True)
def make_lane_shoe(compiled: Any, blocks: Any, lanes: Any, lane: Any) -> Any:
    """The shoe of a lane."""
    return ShoeArrays(
        lanes.cards[lane], blocks.keys[lanes.block[lane]], lanes.read[lane : lane + 1], lanes.ready[lane : lane + 1],
        lanes.chunk[lane : lane + 1], lanes.before[lane : lane + 1], compiled.numbers.shoe_size,
        compiled.numbers.normal_tens, compiled.unshuffled, compiled.threshold, compiled.other,
    )  # fmt: skip


@compiled(_nrt=False, forceinline=True)
def finish_shoe(lookup: Any, shoe: Any, lanes: Any, lane: Any) -> None:
    """Draw the last cards of a lane's shoe one by one, at most STRIDE of them, to the end of its last round."""
    stop = lookup.numbers.stop
    for _ in range(STRIDE):
        if shoe.read[0] == shoe.ready[0]:
            more(shoe)
        row, logged = np.uint64(lanes.row[lane]), np.uint64(lanes.logged[lane])
        row, logged = step(lookup.table, shoe.cards, shoe.read[0], lanes.log[lane], row, logged)
        lanes.row[lane], lanes.logged[lane] = row, logged
        shoe.read[0] += 1
        if (row == 0 and shoe.read[0] >= stop) or row == lookup.numbers.waiting:
            break


@compiled(_nrt=False, forceinline=True)
def provide(lookup: Any, shoe: Any, cut: Any, lanes: Any, lane: Any) -> Any:
    """Generate cards for a lane. Returns: whether the shoe may be too short for the lane's next round."""
    stop, too_short = lookup.numbers.stop, False
    if shoe.size == 0:
        refill(shoe, lookup.numbers.opening)
    elif shoe.ready[0] < stop:
        shuffle(shoe, (stop + 3) // 4 * 4)
    elif lanes.row[lane] != 0 or shoe.read[0] < stop:
        finish_shoe(lookup, shoe, lanes, lane)
    elif shoe.read[0] >= cut:
        begin_shuffle(shoe)
    else:
        too_short = True
    lanes.limit[lane] = min(shoe.ready[0], stop) - STRIDE
    return too_short


@compiled(_nrt=False, forceinline=True)
def back_to_first_card(lookup: Any, lanes: Any, lane: Any) -> None:
    """Move a lane back to the first card of a round that has left the table."""
    log = lanes.log[lane]
    while lanes.logged[lane] and log[lanes.logged[lane] - 1] == lookup.numbers.skipped:
        lanes.logged[lane] -= 1
        lanes.read[lane] -= 1
    lanes.read[lane] -= lookup.numbers.opening


@compiled(_nrt=False, forceinline=True)
def take_next_block(compiled: Any, blocks: Any, lanes: Any, lane: Any) -> None:
    """Give the next block to a lane whose block is over; if there is none, the lane idles."""
    block, infinite = lanes.next_block[0], compiled.numbers.shoe_size == 0
    lanes.next_block[0] = min(block + 1, len(blocks.rounds))
    lanes.read[lane] = lanes.ready[lane] = KEPT if infinite else 0
    lanes.chunk[lane] = -1 if infinite else 0
    lanes.row[lane] = lanes.logged[lane] = lanes.over[lane] = 0
    lanes.look[lane], lanes.limit[lane], lanes.block[lane] = 0, -1, block
    if block == len(blocks.rounds):
        lanes.running[0] -= 1


@compiled(_nrt=False, forceinline=True)
def attend(
    lookup: Any, compiled: Any, blocks: Any, lanes: Any, lane: Any, seats: Any, counts: Any, classes: Any, overflow: Any
) -> Any:
    """Serve a lane until it can draw STRIDE cards. Returns: the number of rows in `counts.overflow`, or RAN_AWAY."""
    if lanes.block[lane] == len(blocks.rounds):
        lanes.read[lane] = lanes.row[lane] = lanes.logged[lane] = 0
    while lanes.block[lane] < len(blocks.rounds):
        block, shoe = lanes.block[lane], make_lane_shoe(compiled, blocks, lanes, lane)
        by_play = lanes.row[lane] == lookup.numbers.waiting
        if by_play:
            back_to_first_card(lookup, lanes, lane)
        elif lanes.read[lane] > lanes.limit[lane]:
            by_play = provide(lookup, shoe, compiled.numbers.cut, lanes, lane)
        elif lanes.logged[lane] < lanes.look[lane]:
            break
        if not by_play and lanes.logged[lane] < lanes.look[lane]:
            continue
        rounds, trace = blocks.rounds[block], blocks.traces[block]
        lanes.logged[lane], lanes.over[lane] = read_log(
            lanes.log[lane], lanes.logged[lane], lanes.over[lane], rounds, lookup, classes, counts.dense[0],
            compiled.numbers.width, trace,
        )  # fmt: skip
        if lanes.over[lane] == rounds:
            take_next_block(compiled, blocks, lanes, lane)
            continue
        if by_play:
            one = Counts(counts.dense, counts.overflow[overflow:], counts.trace)
            new = play(compiled, shoe, np.int64(1), seats, one, None, None)
            if new == RAN_AWAY:
                return RAN_AWAY
            overflow += new
            if lanes.over[lane] < len(trace):
                trace[lanes.over[lane]] = counts.trace[0, 0]
            lanes.over[lane] += 1
            lanes.row[lane] = 0
            lanes.limit[lane] = min(lanes.ready[lane], lookup.numbers.stop) - STRIDE
        lanes.look[lane] = lanes.logged[lane] + min(LOG - 2 * STRIDE, rounds - lanes.over[lane])
    return overflow


@compiled(nogil=True, _nrt=False)
def run_table(lookup: Any, compiled: Any, blocks: Any, lanes: Any, seats: Any, counts: Any, classes: Any) -> Any:
    """Play all blocks by the lookup table.

    A round that leaves the table, or that the shoe may be too short for, is played by `play` from its first card.

    Args:
        lookup: The lookup table, see `LookupTable`.
        compiled: The compiled rules, see `CompiledRules`.
        blocks: The blocks, see `Blocks`.
        lanes: The lanes, see `Lanes`.
        seats: The hands of `play`, see `Seats`.
        counts: The counts to add to, see `Counts`; `trace` (1, 2) has room for a round of `play`.
        classes: See `read_log`.

    Returns:
        The number of rows in `counts.overflow`, or RAN_AWAY if a seat exceeded the limit on hands.
    """
    table, cards, log, overflow = lookup.table, lanes.cards, lanes.log, np.int64(0)
    row, logged, read = lanes.row, lanes.logged, lanes.read
    while True:
        for lane in range(LANES):
            if (
                row[lane] == lookup.numbers.waiting
                or read[lane] > lanes.limit[lane]
                or logged[lane] >= lanes.look[lane]
            ):
                overflow = attend(lookup, compiled, blocks, lanes, lane, seats, counts, classes, overflow)
                if overflow == RAN_AWAY:
                    return RAN_AWAY
        if lanes.running[0] == 0:
            return overflow
        row0, logged0, read0 = np.uint64(row[0]), np.uint64(logged[0]), np.uint64(read[0])
        row1, logged1, read1 = np.uint64(row[1]), np.uint64(logged[1]), np.uint64(read[1])
        row2, logged2, read2 = np.uint64(row[2]), np.uint64(logged[2]), np.uint64(read[2])
        row3, logged3, read3 = np.uint64(row[3]), np.uint64(logged[3]), np.uint64(read[3])
        for k in range(np.uint64(STRIDE)):
            row0, logged0 = step(table, cards[0], read0 + k, log[0], row0, logged0)
            row1, logged1 = step(table, cards[1], read1 + k, log[1], row1, logged1)
            row2, logged2 = step(table, cards[2], read2 + k, log[2], row2, logged2)
            row3, logged3 = step(table, cards[3], read3 + k, log[3], row3, logged3)
        row[0], logged[0] = row0, logged0
        row[1], logged[1] = row1, logged1
        row[2], logged[2] = row2, logged2
        row[3], logged[3] = row3, logged3
        for lane in range(LANES):
            read[lane] += STRIDE
