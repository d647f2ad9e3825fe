"""The counting round by the round table: one player on one spot, alone at the table, without luck adjustment (numba).

Every lane plays a shoe of its own. Few rows ask for an action, so that the processor predicts this branch well. All
else that depends on the count is found afterwards, from the log of where rounds end.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bjsim.sim.engine.jit import compiled
from bjsim.sim.engine.kernels.counter import TEN, bet_bucket
from bjsim.sim.engine.kernels.counting import close_shoe, tally_round, trace_round
from bjsim.sim.engine.kernels.layout import ShoeArrays
from bjsim.sim.engine.kernels.shoe import AHEAD, begin_shuffle, shuffle
from bjsim.sim.engine.kernels.table_layout import ASKS, CHOICE_NUMBER

LANES = 4  # shoes played in parallel
ACE = 0  # its rank


@compiled(_nrt=False)
def provide(shoe: Any, counter: Any, lanes: Any, lane: Any, stop: Any) -> None:
    """Shuffle the first cards of a lane's shoe, up to `stop`, and count them."""
    ready = lanes.ready[lane]
    lane_shoe = ShoeArrays(
        lanes.cards[lane], shoe.key, shoe.read, lanes.ready[lane : lane + 1], lanes.chunk[lane : lane + 1],
        shoe.before, shoe.size, shoe.normal_tens, shoe.unshuffled, shoe.threshold, shoe.other,
    )  # fmt: skip
    shuffle(lane_shoe, stop)
    cards, counts = lanes.cards[lane], lanes.running[lane]
    running = counter.initial if ready == 0 else np.int64(counts[ready])
    counts[0] = counter.initial
    for n in range(ready, stop):
        running += counter.tags[cards[n]]
        counts[n + 1] = running


@compiled(_nrt=False)
def find_cell(counter: Any, lanes: Any, lane: Any, begin: Any, n: Any) -> Any:
    """The cell of the count by which a decision after n cards is made, in the round that begins after `begin` cards."""
    counts = lanes.running[lane]
    if counter.before_round:
        return counter.cells[begin, counts[begin] - counter.lowest]
    if lanes.hole < 0:
        return counter.cells[n, counts[n] - counter.lowest]
    hidden = counter.tags[lanes.cards[lane, begin + lanes.hole]]
    return counter.cells[n - 1, counts[n] - hidden - counter.lowest]


@compiled(_nrt=False)
def answer(lookup: Any, counter: Any, lanes: Any, lane: Any, n: Any, entry: Any, logged: Any) -> Any:
    """The entry of the action that is taken in a row that asks for it, after n cards."""
    log, last = lanes.log[lane], np.int64(logged) - 1
    while (log[last] & 255) > 2 * len(lookup.ends):
        last -= 1
    cell = find_cell(counter, lanes, lane, np.int64(log[last]) >> 8, np.int64(n))
    row = (np.int64(entry) - ASKS) >> 8
    return lookup.table[row + lookup.answers[lookup.table[row + CHOICE_NUMBER], counter.chart[cell]]]


@compiled(_nrt=False, forceinline=True)
def step(lookup: Any, counter: Any, lanes: Any, lane: Any, n: Any, row: Any, logged: Any) -> Any:
    """Give a lane the card at position n. Returns: the offset of the next row, and the length of the log."""
    entry = lookup.table[row + np.uint64(lanes.cards[lane, n])]
    if entry >= ASKS:
        entry = answer(lookup, counter, lanes, lane, n + np.uint64(1), entry, logged)
    wide = np.uint64(entry)
    lanes.log[lane, logged] = (n + np.uint64(1)) << np.uint64(8) | wide & np.uint64(255)
    return wide >> np.uint64(8), logged + (wide & np.uint64(1))


@compiled(_nrt=False)
def walk(lookup: Any, counter: Any, lanes: Any, cut: Any) -> None:
    """Play all lanes up to the cut card."""
    row0 = row1 = row2 = row3 = np.uint64(0)
    logged0 = logged1 = logged2 = logged3 = np.uint64(1)
    for n in range(np.uint64(cut)):
        row0, logged0 = step(lookup, counter, lanes, 0, n, row0, logged0)
        row1, logged1 = step(lookup, counter, lanes, 1, n, row1, logged1)
        row2, logged2 = step(lookup, counter, lanes, 2, n, row2, logged2)
        row3, logged3 = step(lookup, counter, lanes, 3, n, row3, logged3)
    lanes.row[0], lanes.row[1], lanes.row[2], lanes.row[3] = row0, row1, row2, row3
    lanes.logged[0], lanes.logged[1], lanes.logged[2], lanes.logged[3] = logged0, logged1, logged2, logged3


@compiled(_nrt=False)
def finish(shoe: Any, lookup: Any, counter: Any, lanes: Any, lane: Any, cut: Any) -> Any:
    """Play a lane's last round to its end. Returns: whether the shoe has enough cards for it."""
    n, row, logged = np.uint64(cut), np.uint64(lanes.row[lane]), np.uint64(lanes.logged[lane])
    while row and n < shoe.size:
        if n == lanes.ready[lane]:
            provide(shoe, counter, lanes, lane, min(np.int64(n) + AHEAD, shoe.size))
        row, logged = step(lookup, counter, lanes, lane, n, row, logged)
        n += np.uint64(1)
    lanes.logged[lane] = logged
    return row == 0


@compiled(_nrt=False)
def tally_lane(compiled: Any, shoe: Any, lookup: Any, counter: Any, lanes: Any, lane: Any, tally: Any) -> None:
    """Tally the rounds in the log of a lane."""
    log, cards, counts, highest = lanes.log[lane], lanes.cards[lane], lanes.running[lane], 2 * len(lookup.ends)
    opening, begin, i, aces = len(compiled.deal), np.int64(0), np.int64(1), counter.full[0]
    while i < lanes.logged[lane]:
        last = i
        while (log[last] & 255) > highest:
            last += 1
        end, n = np.int64(log[last] & 255) >> 1, np.int64(log[last]) >> 8
        code, outcome = lookup.ends[end, 0], lookup.ends[end, 1]
        for k in range(i, last):
            code += lookup.hands[((log[k] & 255) >> 1) - len(lookup.ends), outcome]
        bucket = bet_bucket(counter, begin, np.int64(counts[begin]), aces)
        won = np.int64(0)
        if counter.ace >= 0 and cards[begin + lanes.open] == ACE:
            cell = find_cell(counter, lanes, lane, begin, begin + opening)
            if counter.insures[cell]:
                won = np.int64(2 if cards[begin + lanes.hole] >= TEN else -1)
        tally.paid[0] = code
        tally_round(counter, None, tally, bucket, won, 0.5 * won)
        shoe.read[0] = n
        trace_round(shoe, counter, tally, bucket, won)
        if counter.side_aces:
            for k in range(begin, n):
                aces -= cards[k] == ACE
        begin, i = n, last + 1


@compiled(nogil=True, _nrt=False)
def count_by_table(compiled: Any, shoe: Any, shoes: Any, lookup: Any, counter: Any, lanes: Any, tally: Any) -> Any:
    """Play whole shoes, each from its first card, the same as `play_counting`.

    Args:
        compiled: The compiled rules, see `CompiledRules`.
        shoe: The cards, see `ShoeArrays`; all of the last shoe that are before the cut card have been dealt.
        shoes: The number of shoes.
        lookup: See `CountLookup`.
        counter: See `Counter`.
        lanes: See `CountLanes`.
        tally: The sums to add to, see `CountTally`.

    Returns:
        The number of shoes; fewer than asked for if the next one has too few cards for its last round.
    """
    cut, played = compiled.numbers.cut, 0
    while played < shoes:
        for lane in range(LANES):
            lanes.chunk[lane], lanes.ready[lane] = shoe.chunk[0] + 1 + lane, 0
            provide(shoe, counter, lanes, lane, min((cut + 3) // 4 * 4, shoe.size))
        walk(lookup, counter, lanes, cut)
        for lane in range(min(LANES, shoes - played)):
            if not finish(shoe, lookup, counter, lanes, lane, cut):
                return played
            begin_shuffle(shoe)
            tally_lane(compiled, shoe, lookup, counter, lanes, lane, tally)
            shoe.ready[0] = shoe.read[0]
            close_shoe(tally)
            played += 1
    return played
