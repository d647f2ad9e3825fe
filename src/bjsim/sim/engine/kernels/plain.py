"""The kernel of a single seat that plays a chart without luck: blocks of rounds, LANES of them side by side.

Their cards are dealt as vectors. Then GROUP shoes are walked at a time: the next row depends only on the row and the
card, without a branch, so that the processor walks them in parallel; and every shoe draws the same number of cards up
to its cut, so that they all end together. What ends is logged, and read when the group has ended.
"""

from typing import Any

import numpy as np

from bjsim.sim.engine.jit import compiled, inner
from bjsim.sim.engine.kernels.deal import LANES
from bjsim.sim.engine.kernels.layout import payoff_parts
from bjsim.sim.engine.kernels.shoe import deal

GROUP = 8  # shoes that are walked at once: more would not fit in the processor's registers
AFTER_CUT = 9  # cards that nearly no round needs after the cut card: a multiple of PER_WORD
TAG = 27  # in the log, the number of the shoe in its group is above these bits, of which three more are free
ROW = np.uint64((1 << (TAG - 3)) - 1)


split_payoff = inner(inline="always")(payoff_parts)


@inner(inline="always")
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


@inner()
def walk_group(table: Any, cards: Any, log: Any, row: Any, lane: Any, stop: Any) -> Any:
    """Draw the first `stop` cards of a group of shoes. Returns: the length of the log."""
    entries, width, some = table.entries, np.uint64(len(table.ranks)), np.uint64(len(table.label))
    r0, r1, r2, r3 = np.uint64(row[lane]), np.uint64(row[lane + 1]), np.uint64(row[lane + 2]), np.uint64(row[lane + 3])
    r4, r5, r6, r7 = (
        np.uint64(row[lane + 4]), np.uint64(row[lane + 5]), np.uint64(row[lane + 6]), np.uint64(row[lane + 7]),
    )  # fmt: skip
    n = np.uint64(0)
    for k in range(np.uint64(lane), np.uint64(stop * LANES + lane), np.uint64(LANES)):
        r0 = np.uint64(entries[r0 * width + np.uint64(cards[k])])
        log[n] = r0
        n += np.uint64(r0 < some)
        r1 = np.uint64(entries[r1 * width + np.uint64(cards[k + np.uint64(1)])])
        log[n] = r1 | np.uint64(1 << TAG)
        n += np.uint64(r1 < some)
        r2 = np.uint64(entries[r2 * width + np.uint64(cards[k + np.uint64(2)])])
        log[n] = r2 | np.uint64(2 << TAG)
        n += np.uint64(r2 < some)
        r3 = np.uint64(entries[r3 * width + np.uint64(cards[k + np.uint64(3)])])
        log[n] = r3 | np.uint64(3 << TAG)
        n += np.uint64(r3 < some)
        r4 = np.uint64(entries[r4 * width + np.uint64(cards[k + np.uint64(4)])])
        log[n] = r4 | np.uint64(4 << TAG)
        n += np.uint64(r4 < some)
        r5 = np.uint64(entries[r5 * width + np.uint64(cards[k + np.uint64(5)])])
        log[n] = r5 | np.uint64(5 << TAG)
        n += np.uint64(r5 < some)
        r6 = np.uint64(entries[r6 * width + np.uint64(cards[k + np.uint64(6)])])
        log[n] = r6 | np.uint64(6 << TAG)
        n += np.uint64(r6 < some)
        r7 = np.uint64(entries[r7 * width + np.uint64(cards[k + np.uint64(7)])])
        log[n] = r7 | np.uint64(7 << TAG)
        n += np.uint64(r7 < some)
    row[lane], row[lane + 1], row[lane + 2], row[lane + 3] = r0, r1, r2, r3
    row[lane + 4], row[lane + 5], row[lane + 6], row[lane + 7] = r4, r5, r6, r7
    return np.int64(n)


@inner()
def finish_group(table: Any, cards: Any, log: Any, n: Any, row: Any, lane: Any, begin: Any, stop: Any) -> Any:
    """Draw cards `begin` .. `stop` of a group of shoes to the end of their rounds.

    Returns: the length of the log, `n` before, and whether all rounds are over.
    """
    width, some, over = np.uint64(len(table.ranks)), np.uint64(len(table.label)), np.uint64(table.over)
    for k in range(begin, stop + 1):
        going: Any = False
        for one in range(lane, lane + GROUP):
            going |= np.uint64(row[one]) >= over
        if not going:
            return n, True
        if k == stop:
            break
        for one in range(lane, lane + GROUP):  # without branches: which rounds are over cannot be predicted
            now = np.uint64(row[one])
            after = np.uint64(table.entries[now * width + np.uint64(cards[k * LANES + one])])
            log[n] = after | np.uint64((one - lane) << TAG)
            n += (after < some) & (now >= over)
            row[one] = after if now >= over else now
    return n, False


@inner()
def drop_rounds(table: Any, work: Any, stop: Any, lane: Any) -> Any:
    """Drop from the log of a group what is logged after the last round of a block. Returns: the length of the log."""
    kept = 0
    work.ended[lane : lane + GROUP] = 0
    for i in range(stop):
        one = lane + np.int64(work.log[i] >> np.uint64(TAG))
        if work.ended[one] < work.left[one]:
            work.log[kept] = work.log[i]
            kept += 1
            work.ended[one] += np.uint64(work.log[i]) & ROW < np.uint64(table.over)
    return kept


@inner()
def read_log(table: Any, work: Any, stop: Any, lane: Any, counts: Any, classes: Any, overflow: Any) -> Any:
    """Count the rounds of the log of a group.

    `classes`, (4, plain + 1), are frequencies of the ends of rounds without splits, in four parts: an increment must
    wait for the previous one to the same counter. What belongs to rounds with splits stays in the log, and is read
    after the others; there are no branches, as when there is such a round cannot be predicted.

    Returns: the number of rows in `counts.overflow`.
    """
    log, plain, over, rare = work.log, np.uint64(table.plain), np.uint64(table.over), np.uint64(0)
    for first in range(0, stop, 255):
        by_shoe = np.uint64(0)  # eight counters of a byte each
        for i in range(np.uint64(first), np.uint64(min(first + 255, stop))):
            entry = np.uint64(log[i])
            row = entry & ROW
            by_shoe += np.uint64(row < over) << (entry >> np.uint64(TAG - 3))
            classes[i & np.uint64(3), min(row, plain)] += 1
            log[rare] = entry
            rare += np.uint64(row >= plain)
        for shoe in range(GROUP):
            work.left[lane + shoe] -= np.int64(by_shoe >> np.uint64(8 * shoe) & np.uint64(255))
    for i in range(rare):
        row, shoe = np.uint64(log[i]) & ROW, lane + np.int64(log[i] >> np.uint64(TAG))
        label = table.label[row]
        if row >= over:
            for outcome in range(work.split.shape[1]):
                work.split[shoe, outcome] += table.hands[label, outcome]
        else:
            code = table.ends[label, 0] + work.split[shoe, table.ends[label, 1]]
            overflow = count_payoff(counts, 0, code, overflow)
            work.split[shoe] = 0
    return overflow


@inner(inline="always")
def begin_blocks(table: Any, keys: Any, rounds: Any, work: Any, block: Any) -> None:
    """Give LANES blocks to the lanes, from `block` on; if there are not so many, the others play no rounds."""
    for lane in range(LANES):
        at = min(block + lane, len(keys) - 1)
        work.start[lane], work.gamma[lane], work.row[lane] = keys[at, 0], keys[at, 1], table.start
        work.left[lane] = rounds[at] if block + lane < len(keys) else 0
        work.split[lane] = 0


@inner(inline="always")
def play_shoe(table: Any, shoes: Any, work: Any, number: Any, counts: Any, classes: Any, overflow: Any) -> Any:
    """Play shoe `number` of all lanes. A round that outlasts its shoe goes on in the next.

    Returns: the number of rows in `counts.overflow`, and whether rounds are still to be played.
    """
    ready, log, row, going = min(shoes.cut + AFTER_CUT, shoes.size), work.log, work.row, False
    for lane in range(LANES):
        work.first[lane] = work.start[lane] + np.uint64(number * shoes.words) * work.gamma[lane]
    deal(shoes, table.ranks, work.cards, work.first, work.gamma, ready)
    for lane in range(0, LANES, GROUP):
        least, most = work.left[lane], work.left[lane]
        for one in range(lane + 1, lane + GROUP):
            least, most = min(least, work.left[one]), max(most, work.left[one])
        if most == 0:
            continue
        n = walk_group(table, work.cards, log, row, lane, shoes.cut)
        n, over = finish_group(table, work.cards, log, n, row, lane, shoes.cut, ready)
        if not over and ready < shoes.size:
            deal(shoes, table.ranks, work.cards, work.first, work.gamma, shoes.size)  # the same cards, to the last
            n, over = finish_group(table, work.cards, log, n, row, lane, ready, shoes.size)
        if least < n:
            n = drop_rounds(table, work, n, lane)
        overflow = read_log(table, work, n, lane, counts, classes, overflow)
        for one in range(lane, lane + GROUP):
            going |= work.left[one] > 0
    return overflow, going


@compiled(nogil=True, _nrt=False)
def play_plain(table: Any, shoes: Any, keys: Any, rounds: Any, work: Any, counts: Any, classes: Any) -> Any:
    """Play so many `rounds`, (B,), of each block from the beginnings of their keys' streams, uint64 (B, 2).

    The other arguments are `PlainTable`, `ShoeRules`, `PlainWork`, `Counts`, and `classes` of `read_log`. Returns: the
    rows in `counts.overflow`.
    """
    overflow = np.int64(0)
    for block in range(0, len(keys), LANES):
        begin_blocks(table, keys, rounds, work, block)
        number, going = np.int64(0), True
        while going:
            overflow, going = play_shoe(table, shoes, work, number, counts, classes, overflow)
            number += 1
    return overflow
