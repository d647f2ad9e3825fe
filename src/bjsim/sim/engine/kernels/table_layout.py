"""The arguments of the lookup table's kernels (`lookup_table.py`); see `layout.py`."""

from __future__ import annotations

from typing import NamedTuple

from bjsim.sim.engine.kernels.layout import Array

OVER, ACTED = 1 << 30, 1 << 31  # in an entry of `TableSeats`: the round is over; the seat draws no more cards
ASKS = 1 << 31  # in an entry of `CountLookup`: the next row asks for an action
CHOICE_NUMBER = 12  # the entry of such a row that is the number of the choice


class LookupNumbers(NamedTuple):
    """Scalars of a lookup table."""

    opening: int  # cards dealt in a round before anyone acts
    waiting: int  # offset of the row for rounds that have left the table
    skipped: int  # log entry of a card drawn in that row
    stop: int  # cards of a shoe after which rounds do not begin in the table


class LookupTable(NamedTuple):
    """The lookup table of the rounds of one seat.

    Attributes:
        table: Entries, uint32 (rows * 13,). The entry of rank r in the row at offset b is at b + r. Its bits from 8 up
            are the offset of the next row, and its low byte is logged: 0 if nothing ends, 1 + 2 e if a round ends with
            end e, 1 + 2 (E + h) if split hand h ends and others follow.
        kind: 1 for rows in which the dealer draws after the player, 2 for rows that ask for an action, (rows,).
        ends: Payoff code (see `compiled_rules.py`) and dealer's outcome of each end, int64 (E, 2).
        hands: Payoff code of a split hand by the dealer's outcome, int64 (H, O).
        numbers: Scalars.
    """

    table: Array
    kind: Array
    ends: Array
    hands: Array
    numbers: LookupNumbers


class CountLookup(NamedTuple):
    """The lookup table of the rounds of one seat whose chart depends on the count.

    Attributes:
        table: See `LookupTable`. ASKS is added to the entries that lead to a row that asks for an action. The first six
            entries of such a row are those of the action codes, and CHOICE_NUMBER is the number of the choice.
        ends: See `LookupTable`; the tied bets of a payoff code are the settled bets.
        hands: Likewise.
        answers: The action code by choice and chart, int64 (V, charts).
    """

    table: Array
    ends: Array
    hands: Array
    answers: Array


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
        look: Length of the log at which to read it.
        limit: Card after which to check the shoe.
        block: Number of the block.
        over: Rounds of the block that are over.
        next_block: The next block that no lane has, (1,).
        running: Number of lanes that have a block, (1,).
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


class TableSeats(NamedTuple):
    """The seats that walk a lookup table.

    Attributes:
        table: The lookup tables of the different charts, one after another. OVER and ACTED are added to the entries
            that lead to the end of the round, and ACTED to those that lead to a row in which the dealer draws.
        start: For each seat, an entry that leads to the first row of its chart, int64 (seats,).
        ends: See `LookupTable`.
        hands: See `LookupTable`.
        entry: Working memory: the last entry of each seat, int64 (seats,).
        split: Likewise the ends of its split hands but the last, int64 (seats, m).
        splits: Likewise their number, int64 (seats,).
        acting: Likewise the seats that draw cards in this round, int64 (seats + 1,).
    """

    table: Array
    start: Array
    ends: Array
    hands: Array
    entry: Array
    split: Array
    splits: Array
    acting: Array


class Logs(NamedTuple):
    """The bytes that the lookup table logs, by payoff vector: a hand's payoffs by the dealer's outcome.

    Attributes:
        vector: Number of the vector of a result at one and two bets, (R, 2); vector 0 is zeros.
        end: The end of a round without splits, (H, O).
        end_split: The end of a round with splits, by the vector of its last hand, (H, O).
        hand_over: The end of its other hands, (H,).
        splits_leave: Whether splits leave the table.
    """

    vector: Array
    end: Array
    end_split: Array
    hand_over: Array
    splits_leave: int


class Work(NamedTuple):
    """Working memory for writing the rows of a table.

    Attributes:
        words: Hash table of the undecided states, int64 (2**k,), initially zeros.
        row_of: The row of each state in it, int32 (2**k,).
        numbers: Hash table of the rows, int32 (2**k,), initially -1.
        path: The current path of undecided states, int64 (m,).
        places: Their slots in `words`, uint64 (m,).
        ranks: The next rank of each, int64 (m,).
        entries: Their rows so far, uint32 (m, 13).
    """

    words: Array
    row_of: Array
    numbers: Array
    path: Array
    places: Array
    ranks: Array
    entries: Array
