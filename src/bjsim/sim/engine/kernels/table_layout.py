"""The arguments of the kernel that plays one chart alone; see `layout.py`."""

from __future__ import annotations

from typing import NamedTuple

from bjsim.sim.engine.kernels.layout import Array

LEAVES = 255  # the byte of an entry that leads out of the table
LEFT_TABLE = -1  # what a kernel returns if a round left the table


class LookupTable(NamedTuple):
    """The round table of the rounds of one seat; rounds begin in the row at 0.

    `table` has entries uint32 (rows * 13,): that of rank r in the row at offset b is at b + r. Its bits from
    8 up are the offset of the next row, and its low byte is logged: 0 if nothing ends, 1 + 2 e if a round
    ends with end e, 1 + 2 (E + h) if split hand h ends and others follow, and LEAVES if the round leaves the
    table, to the row at `left`. `ends` are payoff code (see `compiled_rules.py`) and dealer's outcome, int64
    (E, 2); `hands` the payoff code of a split hand by the dealer's outcome, int64 (H, O).
    """

    table: Array
    ends: Array
    hands: Array
    left: int


class Blocks(NamedTuple):
    """The blocks of the lanes: `rounds` of each, int64 (B,), and `keys` of random streams, uint64 (B, 2).

    `traces` is output: payoff codes of the first n rounds of each block, int64 (B, n).
    """

    rounds: Array
    keys: Array
    traces: Array


class LaneArrays(NamedTuple):
    """The state of the lanes that run the table in parallel; int64 arrays (LANES,) unless noted.

    `cards`, uint8 (LANES, n), `read`, `ready`, `chunk` and `before` are as in `ShoeArrays`. `row` is an offset.

    Attributes:
        log: How hands and rounds ended, uint8 (LANES, LOG); `logged` is its length, and `look` that at which
            it is read.
        limit: The shoe is checked after this card.
        block, over: Number of the block, and its rounds that are over.
        next_block, running: The next block that no lane has, (1,), and the number of lanes that have one, (1,).
        overflow: Number of rows in `Counts.overflow`, (1,).
    """

    cards: Array
    read: Array
    ready: Array
    chunk: Array
    before: Array
    log: Array
    row: Array
    logged: Array
    look: Array
    limit: Array
    block: Array
    over: Array
    next_block: Array
    running: Array
    overflow: Array
