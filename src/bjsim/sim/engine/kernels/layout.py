"""The arguments of the kernels: named tuples of arrays, and the codes in them. This module does not import numba.

All classes and constants that kernels are compiled for are defined in this package or, as action codes, in
`sim/game/actions.py`. Their contents determine the stamp of numba's cache: if a field moves, the kernels must be
recompiled.
"""

from typing import Any, NamedTuple

import numpy as np

from bjsim.arrays import Array
from bjsim.sim.game.actions import CODES, ActionCode
from bjsim.sim.game.actions import ENDLESS as ENDLESS
from bjsim.sim.game.actions import RUNAWAY as RUNAWAY

TIED = 1 << 32  # in a payoff code, one initial bet that is replayed
NO_LIMIT = np.iinfo(np.int64).max
STAND, HIT, DOUBLE, SPLIT = (CODES[letter] for letter in "SHDP")  # 0 if the hand has no choice but to stand
ATTACK = int(ActionCode.ATTACK)  # for the empty hand of `CompiledRules.act`
INSURE = int(ActionCode.INSURE)  # in the last column of `CompiledRules.act`
CHOICE = 256  # times the number of a choice by the count plus one, and a bit for each code: see `merge_charts`
WIDE = 16  # length of arrays over ranks, padded with zeros to the width of a vector operation


LEFT_TABLE = -1  # what a kernel returns if a round left the table


def payoff_parts(code: Any) -> tuple[Any, Any]:
    """Split payoff codes into payoff quanta and the bets that they count; `split_payoff` in kernels."""
    tied = (code + TIED // 2) >> 32
    return code - (tied << 32), tied


class Numbers(NamedTuple):
    """Scalars of the compiled rules."""

    ending_outcome: int  # index of the outcome that ends a round before anyone acts, or -1
    most_hands: int  # of a seat, after splits of any pair; NO_LIMIT if there is no limit
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
    """

    add: Array  # state after a card, (S, 13)
    doubled: Array  # how often a hand has doubled that then may have had a choice, (S,); else 0
    # Action code, (seats, 2, S, C + E + 1). The second index is 1 if the hand may be split. The E columns are for
    # rounds that the dealer's natural has ended: only surrender counts there. The last column has INSURE for hands that
    # take insurance when they were dealt. State 0, the empty hand, has ATTACK where bets are doubled before the deal.
    act: Array
    hand_limit: Array  # hands that a seat may hold after splits into a hand's one-card hand, (S,); or NO_LIMIT
    split_to: Array  # state of the one-card split hand of a pair, (S,); 0 for other hands
    double_to: Array  # state of a hand that has doubled, before its card, (S,)
    covered: Array  # state of a split hand, (S,), after one whose result has `covers`
    ended: Array  # result of the hand if an action ends it, by code, (1 + INSURE, S)
    pay: Array  # payoff code at one and two bets, and at more if hands double again, (R, B, O)
    own: Array  # half bets that the player put up for it, not the house, (R, B)
    waits: Array  # what a finished hand waits for, (R, B); see `States.waits`
    covers: Array  # bool (R, B), see `covered`
    dealer_add: Array  # dealer's state after a card, (D, 13)
    dealer_done: Array  # whether the dealer draws no more, (D,)
    dealer_out: Array  # index of the dealer's outcome, (D,); 0 while the dealer still draws
    # Contribution to the column index by the number of the dealer's cards before a card (0 or 1) and the dealer's state
    # after it, (2, D).
    column: Array
    ended_column: Array  # column instead of each if the dealer's natural has ended the round, -1 for none, (C,)
    deal: Array  # order of the deal, (n,): 0 gives every seat a card, 1 the dealer
    numbers: Numbers
    # Cards of a full shoe that are of higher rank than each but the last, (12,); in 2**32 parts of an infinite shoe.
    above: Array


class ShoeRules(NamedTuple):
    """What shoes are like; an infinite one is cut into parts, which follow one another like shoes."""

    size: int  # cards
    cut: int
    finite: bool
    normal_tens: bool
    words: int  # of the random stream that a shoe takes
    above: Array  # as in `CompiledRules`


class ShoeArrays(NamedTuple):
    """The shoes of one table, LANES of them side by side; arrays are int64 (1,) unless noted."""

    rules: ShoeRules
    cards: Array  # rank indices, uint8 (n LANES,): the first card of each lane, then the second ones
    key: Array  # key of the random stream, uint64 (2,)
    first: Array  # by lane, uint64 (LANES,): the keys of the first words of shoes
    gamma: Array
    number: Array  # of the shoe, from 0
    read: Array  # number of its cards that are dealt
    before: Array  # number of cards dealt from earlier shoes


class Counts(NamedTuple):
    """Counts of payoffs; all arrays are int64."""

    dense: Array  # the frequency of each payoff, by bets tied and units won, (seats, ties + 1, 2 width + 1)
    overflow: Array  # rows of (seat, payoff code) outside that window, (n, 2)
    trace: Array  # the payoff codes and the cards dealt so far of each of the first m rounds, (m, seats + 1)
