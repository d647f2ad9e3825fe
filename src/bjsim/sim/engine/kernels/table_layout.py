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


class Lanes(NamedTuple):
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


class TableSeats(NamedTuple):
    """The seats that walk a round table; `ends` and `hands` as in `LookupTable`.

    Attributes:
        table: The round tables of the different charts, one after another. OVER and ACTED are added to the
            entries that lead to the end of the round, and ACTED to those that lead to a row where the dealer
            draws.
        forced: Whether the seat decides nothing after a card before its next, by the card's entry, bool.
        start: An entry that leads to the first row of the chart of each seat, int64 (seats,).
        entry: Working memory: the last entry of each seat, int64 (seats,).
        split, splits: Likewise its split hands' payoff codes but the last, by outcome, (seats, O); whether
            there are any.
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
        paid, row_slopes: See `LuckTable`, float32 (rows, WIDE).
        own, slopes: See `LuckTable`, int16 (rows, WIDE) and (rows, Q, WIDE).
        outcome, outcome_after: See `LuckTable`, int64 (rows,) and (rows, Q); states of all charts one after
            another.
        chances, tilts: See `LuckTable`, float64 (states, O) and float32 (states, O, WIDE).
        hands, drift, curvature: By chart, float64 (T, 1 + H, O), (T, Q) and (T, Q, WIDE).
        value, chart: Value of a settled bet, and the chart, of each seat, (seats,).
        full, counts: Cards of a full shoe and, as working memory, cards left, by rank, int32 (WIDE,).
        product: Likewise a vector over ranks, float64 (WIDE,).
        left, chunk: Cards left, float64 (1,); the shoe whose sums are open, or -1, int64 (1,).
        logged, split: Payoff of this round's split hands by outcome, float64 (seats, O); whether any was logged.
        gone, drifted: Luck and drift in this shoe, float64 (seats,) and (T,).
        units, bets: Payoff in quanta and settled bets in this shoe, int64 (seats,).
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
    """The tables of the seats of a game, one after another; `forced`, `ends` and `hands` as in `RoundTable`.

    `entries` (n,) has that of a rank in the row at offset b at b + rank. The bits from `bits` up are the
    offset of the next row; those below are the log, see `RoundTable`. `start` is the offset of each seat's
    first row, (seats,); `waits` whether the seat draws no card in a row, by offset, bool (n,).
    """

    entries: Array
    bits: int
    start: Array
    waits: Array
    forced: Array
    ends: Array
    hands: Array
