"""The arguments of the kernels: named tuples of arrays, and the codes in them. This module does not import numba.

All classes and constants that kernels are compiled for are defined in this package or, as action codes, in
`sim/game/actions.py`. Their contents determine the stamp of numba's cache: if a field moves, the kernels must be
recompiled.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bjsim.sim.game.actions import CODES, ActionCode
from bjsim.sim.game.actions import ENDLESS as ENDLESS
from bjsim.sim.game.actions import RUNAWAY as RUNAWAY

Array = np.ndarray[Any, Any]

TIED = 1 << 32  # in a payoff code, one initial bet that is replayed
NO_LIMIT = np.iinfo(np.int64).max
STAND, HIT, DOUBLE, SPLIT, SURRENDER = CODES.values()  # 0 if the hand has no choice but to stand
ATTACK = int(ActionCode.ATTACK)  # for the empty hand of `CompiledRules.act`
INSURE = int(ActionCode.INSURE)  # in the last column of `CompiledRules.act`
CHOICE = 256  # times the number of a choice by the count plus one, and a bit for each code: see `merge_charts`
WIDE = 16  # length of arrays over ranks, padded with zeros to the width of a vector operation


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


def payoff_parts(code: Any) -> tuple[Any, Any]:
    """Split payoff codes into payoff quanta and the bets that they count; `split_payoff` in kernels."""
    tied = (code + TIED // 2) >> 32
    return code - (tied << 32), tied


class Numbers(NamedTuple):
    """Scalars of the compiled rules."""

    ending_outcome: int  # index of the outcome that ends a round before anyone acts, or -1
    most_hands: int  # of a seat, after splits of any pair; NO_LIMIT if there is no limit
    surrendered: int  # the result of surrender
    insured: int  # the result of an insurance bet
    original: int  # the result of the bet that a dealer's natural takes once a seat has split, if not all; or -1
    ace: int  # column of an ace if insurance is offered, or -1
    round_robin: int
    shoe_size: int  # cards; 0 for an infinite shoe
    cut: int  # cards dealt before the shoe is shuffled
    normal_tens: int
    width: int  # payoffs from -width to width units are counted in the dense table
    ties: int  # as are 0 to `ties` tied bets


class CompiledRules(NamedTuple):
    """Compiled rules: rules and charts as arrays, int64 unless noted.

    S is the number of hand states, D of dealer's states, R of results, C of columns, O of dealer's outcomes,
    E of columns with early surrender.

    Attributes:
        add: State after a card, (S, 13).
        doubled: How often a hand has doubled that then may have had a choice, (S,); else 0.
        act: Action code, (seats, 2, S, C + E + 1). The second index is 1 if the hand may be split. The E
            columns are for rounds that the dealer's natural has ended: only surrender counts there. The last
            column has INSURE for hands that take insurance when they were dealt. State 0, the empty hand, has
            ATTACK where bets are doubled before the deal.
        hand_limit: Hands that a seat may hold after splits into a hand's one-card hand, (S,); or NO_LIMIT.
        split_to: State of the one-card split hand of a pair, (S,); 0 for other hands.
        double_to: State of a hand that has doubled, before its card, (S,).
        covered, covers: State of a split hand, (S,), after one whose result has `covers`, bool (R, B).
        result: Result of the hand if it stands, (S,).
        pay: Payoff code at one and two bets, and at more if hands double again, (R, B, O).
        waits: What a finished hand waits for, (R, B); see `States.waits`.
        dealer_add, dealer_done: Dealer's state after a card, (D, 13); whether the dealer draws no more, (D,).
        dealer_out: Index of the dealer's outcome, (D,); 0 while the dealer still draws.
        column: Contribution to the column index by the number of the dealer's cards before a card (0 or 1)
            and the dealer's state after it, (2, D).
        ended_column: Column instead of each column if the dealer's natural has ended the round, -1 for none,
            (C,).
        deal: Order of the deal, (n,): 0 gives every seat a card, 1 the dealer.
        unshuffled: Ranks of the whole decks in order, uint8 (n,); empty for an infinite shoe.
        threshold, other: Thresholds and alternatives of the alias table of ranks, (16,) each.
    """

    add: Array
    doubled: Array
    act: Array
    hand_limit: Array
    split_to: Array
    double_to: Array
    covered: Array
    result: Array
    pay: Array
    waits: Array
    covers: Array
    dealer_add: Array
    dealer_done: Array
    dealer_out: Array
    column: Array
    ended_column: Array
    deal: Array
    numbers: Numbers
    unshuffled: Array
    threshold: Array
    other: Array


class ShoeArrays(NamedTuple):
    """The cards of one table, generated a few at a time; arrays are int64 (1,) unless noted.

    `unshuffled`, `threshold` and `other` are those of `CompiledRules`.

    Attributes:
        cards: Rank indices, uint8 (n,). Those from `read` up to `ready` are still to be dealt.
        key: Key of the random stream, uint64 (2,).
        chunk: Number of times that `cards` was filled, or of the shuffle.
        before: Number of cards dealt before the first of `cards`.
        size: Cards of a full shoe, 0 for an infinite one.
        normal_tens: Whether ten-valued cards have the probability 4/13.
    """

    cards: Array
    key: Array
    read: Array
    ready: Array
    chunk: Array
    before: Array
    size: int
    normal_tens: int
    unshuffled: Array
    threshold: Array
    other: Array


class Counts(NamedTuple):
    """Counts of payoffs; all arrays are int64.

    `dense` is the frequency of each payoff, by bets tied and units won, (seats, ties + 1, 2 width + 1);
    `overflow` has rows of (seat, payoff code) outside that window, (n, 2); `trace` the seats' payoff codes
    and the cards dealt so far of each of the first m rounds, (m, seats + 1).
    """

    dense: Array
    overflow: Array
    trace: Array
