"""The arguments of the kernels that walk round tables (`packed_tables.py`); see `layout.py`."""

from __future__ import annotations

from typing import NamedTuple

from bjsim.sim.engine.kernels.layout import Array

OVER, ACTED = 1 << 30, 1 << 31  # in an entry of `TableSeats`: the round is over; the seat draws no more cards
LEAVES = 255  # the byte of an entry that leads out of the table
LEFT_TABLE = -1  # what a kernel returns if a round left the table
ROW = 13  # entries of a row
SCALE = 1 << 10  # luck is counted in whole multiples of 1 / SCALE initial bets
STEP = 4  # cards from one computation of the drift to the next


class LookupTable(NamedTuple):
    """The round table of the rounds of one seat.

    Attributes:
        table: Entries, uint32 (rows * 13,). The entry of rank r in the row at offset b is at b + r. Its bits from 8 up
            are the offset of the next row, and its low byte is logged: 0 if nothing ends, 1 + 2 e if a round ends with
            end e, 1 + 2 (E + h) if split hand h ends and others follow, and LEAVES if the round leaves the table.
        ends: Payoff code (see `compiled_rules.py`) and dealer's outcome of each end, int64 (E, 2).
        hands: Payoff code of a split hand by the dealer's outcome, int64 (H, O).
        left: Offset of the row of rounds that have left the table; rounds begin in the row at 0.
    """

    table: Array
    ends: Array
    hands: Array
    left: int


class Blocks(NamedTuple):
    """The blocks that the lanes play.

    Attributes:
        rounds: Number of rounds of each block, int64 (B,).
        keys: Keys of their random streams, uint64 (B, 2).
        traces: Output: payoff codes of the first n rounds of each block, int64 (B, n).
    """

    rounds: Array
    keys: Array
    traces: Array


class Lanes(NamedTuple):
    """The state of the lanes that run the table in parallel; int64 arrays (LANES,) unless noted.

    Attributes:
        cards: See `ShoeArrays`, uint8 (LANES, n); likewise `read`, `ready`, `chunk` and `before`.
        log: How hands and rounds ended, uint8 (LANES, LOG).
        row: Offset of the row.
        logged: Length of the log.
        look: The log is read when it has this length.
        limit: The shoe is checked after this card.
        block: Number of the block.
        over: Rounds of the block that are over.
        next_block: The next block that no lane has, (1,).
        running: Number of lanes that have a block, (1,).
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


class TableSeats(NamedTuple):
    """The seats that walk a round table.

    Attributes:
        table: The round tables of the different charts, one after another. OVER and ACTED are added to the entries
            that lead to the end of the round, and ACTED to those that lead to a row where the dealer draws.
        forced: Whether the seat decides nothing after a card before its next, by the card's entry, bool.
        start: For each seat, an entry that leads to the first row of its chart, int64 (seats,).
        ends: See `LookupTable`.
        hands: See `LookupTable`.
        entry: Working memory: the last entry of each seat, int64 (seats,).
        split: Likewise the payoff codes of its split hands but the last, by the dealer's outcome, int64 (seats, O).
        splits: Likewise whether there are any, int64 (seats,).
        acting: Likewise the seats that draw cards in this round, int64 (seats + 1,).
    """

    table: Array
    forced: Array
    start: Array
    ends: Array
    hands: Array
    entry: Array
    split: Array
    splits: Array
    acting: Array


class RowLuck(NamedTuple):
    """Luck by the rows of a table, see `Luck` and `LuckTable`; the rows of all charts one after another.

    Q ranks are distinguished, O outcomes, T charts. Values are whole numbers, in 1 / SCALE initial bets.

    Attributes:
        paid: See `LuckTable`, float32 (rows, WIDE).
        own: See `LuckTable`, int16 (rows, WIDE).
        slopes: See `LuckTable`, int16 (rows, Q, WIDE).
        outcome: See `LuckTable`, int64 (rows,); states of all charts one after another.
        outcome_after: See `LuckTable`, int64 (rows, Q).
        chances: See `LuckTable`, float64 (states, O).
        tilts: See `LuckTable`, float32 (states, O, WIDE).
        row_slopes: See `LuckTable`, float32 (rows, WIDE).
        hands: By chart, float64 (T, 1 + H, O).
        drift: By chart, float64 (T, Q).
        curvature: By chart, float64 (T, Q, WIDE).
        expected: See `Luck`.
        value: Value of a settled bet, (seats,).
        chart: The chart of each seat, (seats,).
        full: Cards of a full shoe by rank, int32 (WIDE,).
        depths: See `Luck`; likewise `rounds_per_depth` and `bet`.
        counts: Working memory: cards left by rank, int32 (WIDE,).
        product: Likewise a vector over ranks, float64 (WIDE,).
        left: Cards left, float64 (1,).
        chunk: The shoe whose sums are open, or -1, int64 (1,).
        logged: Payoff of this round's split hands by outcome, float64 (seats, O).
        split: Whether any was logged, int64 (seats,).
        gone: Luck in this shoe, float64 (seats,).
        drifted: Drift of this shoe, float64 (T,).
        units: Payoff in quanta in this shoe, int64 (seats,).
        bets: Settled bets in this shoe, int64 (seats,).
        sums: Sums over shoes, see `ShoeLuck`, float64 (seats, 6).
    """

    paid: Array
    own: Array
    slopes: Array
    outcome: Array
    outcome_after: Array
    chances: Array
    tilts: Array
    row_slopes: Array
    hands: Array
    drift: Array
    curvature: Array
    expected: Array
    value: Array
    chart: Array
    full: Array
    depths: int
    rounds_per_depth: float
    bet: float
    counts: Array
    product: Array
    left: Array
    chunk: Array
    logged: Array
    split: Array
    gone: Array
    drifted: Array
    units: Array
    bets: Array
    sums: Array


class SeatRows(NamedTuple):
    """The tables of the seats of a game, one after another.

    Attributes:
        entries: Entries of all tables, (n,): that of a rank in the row at offset b is at b + rank. The bits from `bits`
            up are the offset of the next row; those below are the log, see `RoundTable`.
        bits: The number of bits of the log.
        start: Offset of the first row of each seat, (seats,).
        waits: Whether the seat draws no card in a row, by offset, bool (n,).
        forced: `RoundTable.forced`, (n,).
        ends: See `RoundTable`.
        hands: See `RoundTable`.
    """

    entries: Array
    bits: int
    start: Array
    waits: Array
    forced: Array
    ends: Array
    hands: Array
