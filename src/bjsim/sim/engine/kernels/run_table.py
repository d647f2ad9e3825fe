"""Walking the round table (`round_table.py`) over the cards, in four interleaved lanes.

A lane's next row depends only on its row and its next card, without a branch, so that the processor executes the lanes
in parallel. Everything that needs a branch is done by `attend`, every STRIDE cards.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bjsim.sim.engine.jit import compiled
from bjsim.sim.engine.kernels.layout import LEFT_TABLE, ShoeArrays, payoff_parts
from bjsim.sim.engine.kernels.shoe import KEPT, begin_shuffle, more, refill, shuffle

LANES = 4  # blocks played in parallel; more would not fit in the processor's registers
STRIDE = 16  # cards that every lane draws between checks
LOG = 4096  # bytes in a lane's log


@compiled(_nrt=False, forceinline=True)
def count_rounds(log: Any, first: Any, stop: Any, highest: Any, classes: Any) -> Any:
    """Count the rounds of log[first:stop] that come before the next split hand. Returns: their number."""
    i, stop = np.uint64(first), np.uint64(stop)
    while i < stop and log[i] <= highest:
        classes[i & np.uint64(3), log[i] >> 1] += 1
        i += np.uint64(1)
    return np.int64(i) - first


@compiled(_nrt=False)
def read_log(
    log: Any, logged: Any, over: Any, rounds: Any, lookup: Any, classes: Any, counts: Any, trace: Any, overflow: Any,
) -> Any:  # fmt: skip
    """Count the rounds in a log, uint8, and move the bytes of an unfinished round to its front.

    `classes`, (4, E), are frequencies of the ends of rounds without splits, in four parts: an increment must
    wait for the previous one to the same counter. Those with splits are added to `counts`. `trace` gets each
    round's payoff code. Return the bytes left in the log, and `over` and `overflow`, the rounds that are over and
    the rows in `counts.overflow`, after these rounds.
    """
    ends, i = lookup.ends, 0
    while i < logged and over < rounds:
        if over >= len(trace):
            n = count_rounds(log, i, min(logged, i + rounds - over), 2 * len(ends), classes)
            over += n
            i += n
            if i == logged or over == rounds:
                break
        last = i
        while last < logged and log[last] > 2 * len(ends):
            last += 1
        if last == logged:
            break
        end = log[last] >> 1
        code = ends[end, 0]
        if last == i:
            classes[i & 3, end] += 1
        else:
            for k in range(i, last):
                code += lookup.hands[(log[k] >> 1) - len(ends), ends[end, 1]]
            overflow = count_payoff(counts, 0, code, overflow)
        if over < len(trace):
            trace[over] = code
        over += 1
        i = last + 1
    for k in range(i, logged):
        log[k - i] = log[k]
    return logged - i, over, overflow


split_payoff = compiled(_nrt=False, forceinline=True)(payoff_parts)


@compiled(_nrt=False, forceinline=True)
def count_payoff(counts: Any, seat: Any, code: Any, overflow: Any) -> Any:
    """Count a seat's payoff. Returns: the number of rows in `counts.overflow`."""
    units, tied = split_payoff(code)
    column = units + counts.dense.shape[2] // 2
    if 0 <= column < counts.dense.shape[2] and tied < counts.dense.shape[1]:
        counts.dense[seat, tied, column] += 1
    else:
        counts.overflow[overflow, 0] = seat
        counts.overflow[overflow, 1] = code
        overflow += 1
    return overflow


@compiled(inline="always")
def step(table: Any, cards: Any, position: Any, log: Any, row: Any, logged: Any) -> Any:
    """Give a lane its next card. Returns: the offset of the next row, and the length of the log."""
    entry = np.uint64(table[row + np.uint64(cards[position])])
    log[logged] = entry
    return entry >> np.uint64(8), logged + (entry & np.uint64(1))


@compiled(_nrt=False, forceinline=True)
def make_lane_shoe(compiled: Any, blocks: Any, lanes: Any, lane: Any) -> Any:
    return ShoeArrays(
        lanes.cards[lane], blocks.keys[lanes.block[lane]], lanes.read[lane : lane + 1], lanes.ready[lane : lane + 1],
        lanes.chunk[lane : lane + 1], lanes.before[lane : lane + 1], compiled.numbers.shoe_size,
        compiled.numbers.normal_tens, compiled.unshuffled, compiled.threshold, compiled.other,
    )  # fmt: skip


@compiled(_nrt=False, forceinline=True)
def finish_shoe(lookup: Any, shoe: Any, cut: Any, lanes: Any, lane: Any) -> None:
    """Draw the last cards of a lane's shoe one by one, at most STRIDE of them, to the end of its last round."""
    for _ in range(STRIDE):
        if shoe.read[0] == shoe.ready[0]:
            more(shoe)
        row, logged = np.uint64(lanes.row[lane]), np.uint64(lanes.logged[lane])
        row, logged = step(lookup.table, shoe.cards, shoe.read[0], lanes.log[lane], row, logged)
        lanes.row[lane], lanes.logged[lane] = row, logged
        shoe.read[0] += 1
        if (row == 0 and shoe.read[0] >= cut) or row == lookup.left:
            break


@compiled(_nrt=False, forceinline=True)
def provide(lookup: Any, shoe: Any, cut: Any, lanes: Any, lane: Any) -> None:
    if shoe.size == 0:
        refill(shoe, np.int64(0))
        lanes.limit[lane] = shoe.ready[0] - STRIDE
        return
    if shoe.ready[0] < cut:
        shuffle(shoe, min((cut + 3) // 4 * 4, shoe.size))
    elif lanes.row[lane] != 0 or shoe.read[0] < cut:
        finish_shoe(lookup, shoe, cut, lanes, lane)
    else:
        begin_shuffle(shoe)
    lanes.limit[lane] = min(shoe.ready[0], cut) - STRIDE


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
def attend(lookup: Any, compiled: Any, blocks: Any, lanes: Any, lane: Any, counts: Any, classes: Any) -> Any:
    """Serve a lane until it can draw STRIDE cards. Returns: whether all its rounds have stayed in the table."""
    if lanes.block[lane] == len(blocks.rounds):
        lanes.read[lane] = lanes.row[lane] = lanes.logged[lane] = 0
    while lanes.block[lane] < len(blocks.rounds):
        block, shoe = lanes.block[lane], make_lane_shoe(compiled, blocks, lanes, lane)
        if lanes.row[lane] == lookup.left:
            return False
        if lanes.read[lane] > lanes.limit[lane]:
            provide(lookup, shoe, compiled.numbers.cut, lanes, lane)
        elif lanes.logged[lane] < lanes.look[lane]:
            break
        if lanes.logged[lane] < lanes.look[lane]:
            continue
        rounds, trace = blocks.rounds[block], blocks.traces[block]
        lanes.logged[lane], lanes.over[lane], overflow = read_log(
            lanes.log[lane], lanes.logged[lane], lanes.over[lane], rounds, lookup, classes, counts, trace,
            lanes.overflow[0],
        )  # fmt: skip
        lanes.overflow[0] = overflow
        if lanes.logged[lane] > LOG - 4 * STRIDE:  # a round of thousands of hands
            return False
        if lanes.over[lane] == rounds:
            take_next_block(compiled, blocks, lanes, lane)
            continue
        room = LOG - 2 * STRIDE - lanes.logged[lane]
        lanes.look[lane] = lanes.logged[lane] + min(room, rounds - lanes.over[lane])
    return True


@compiled(nogil=True, _nrt=False)
def run_table(lookup: Any, compiled: Any, blocks: Any, lanes: Any, counts: Any, classes: Any) -> Any:
    """Play all blocks by the round table; return the rows in `counts.overflow`, or LEFT_TABLE.

    The arguments are `LookupTable`, `CompiledRules`, `Blocks`, `LaneArrays`, `Counts`, and `classes` of `read_log`.
    """
    table, cards, log = lookup.table, lanes.cards, lanes.log
    row, logged, read = lanes.row, lanes.logged, lanes.read
    while True:
        for lane in range(LANES):
            if row[lane] == lookup.left or read[lane] > lanes.limit[lane] or logged[lane] >= lanes.look[lane]:
                stayed = attend(lookup, compiled, blocks, lanes, lane, counts, classes)
                if not stayed:
                    return np.int64(LEFT_TABLE)
        if lanes.running[0] == 0:
            return np.int64(lanes.overflow[0])
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
