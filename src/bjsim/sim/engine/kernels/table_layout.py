"""What the kernels of the table of rounds are given (`fold.py`): as `layout.py`, for the same reasons."""

from __future__ import annotations

from typing import NamedTuple

from bjsim.sim.engine.kernels.layout import Array


class FoldNumbers(NamedTuple):
    """Single numbers of a fold."""

    opening: int  # cards dealt in a round before anybody acts
    waiting: int  # where the row begins in which a round that leaves waits
    skipped: int  # in the log, a card that came while it waited
    stop: int  # cards of a shoe after which no round begins that is walked


class Fold(NamedTuple):
    """A table of rounds.

    table (rows * 13,), uint32: the card of rank r in the row that begins at b has its entry at b + r. The bits of the
    entry from 8 up say where the following row begins; the low byte goes to the log. It is 0 where nothing ends,
    1 + 2 e where a round ends, 1 + 2 (E + h) where a split hand does that others follow.
    ends (E, 2), int64: payoff code (see `plan.py`) and the dealer's outcome. hands (H, O), int64: payoff code of a
    split hand by the dealer's outcome.
    """

    table: Array
    ends: Array
    hands: Array
    numbers: FoldNumbers


class Blocks(NamedTuple):
    """The blocks that lanes play: rounds (B,), int64; keys (B, 2), uint64; traces (B, n): payoff codes of the first n
    rounds of each."""

    rounds: Array
    keys: Array
    traces: Array


class Lanes(NamedTuple):
    """Where each of the lanes is that run the table side by side; arrays (LANES,), int64, where nothing else is said.

    cards (LANES, n), uint8, read, ready, chunk, before: see `Shoe`. log (LANES, LOG), uint8: how hands, rounds ended.
    row: where its row begins. logged, look, limit: the length of its log, the length at which to read it, and the card
    after which to look at its shoe. block, over: its block, and how many rounds of it are over. next_block, running
    (1,): the next block that nobody plays, and how many lanes have one.
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


class Logs(NamedTuple):
    """What the table of rounds logs, a byte each, by a row of payoffs: what a hand pays by the dealer's outcome.

    vector (R, 2): the row for a result at one and two bets; row 0 is nothing. end (H, O): a round without splits ends.
    end_split (H, O): one with splits does, by the hand that ends it; hand_over (H,): its other hands.
    splits_leave: whether splits lead out of the table.
    """

    vector: Array
    end: Array
    end_split: Array
    hand_over: Array
    splits_leave: int


class Work(NamedTuple):
    """Room for writing the rows of a table.

    words (2**k,), int64, zeros, and row_of, as long: the hash table of what is undecided. numbers (2**k,), int32, -1:
    that of the rows. path, places, ranks (m,), entries (m, 13): the undecided that lead to one another, their places
    in `words`, the next rank of each, and their rows so far.
    """

    words: Array
    row_of: Array
    numbers: Array
    path: Array
    places: Array
    ranks: Array
    entries: Array
