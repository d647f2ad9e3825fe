"""What the kernels are given: arrays with names, and the codes in them. It imports nothing heavy.

Classes and codes that kernels are compiled for stand in this package, because its contents make up the stamp of numba's
cache: a field that moves is a reason to compile again.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, Any]

TIED = 1 << 32  # in a payoff code, one initial bet that is dealt again
NO_LIMIT = np.iinfo(np.int64).max
LETTERS = " SHDPR"  # the actions by their code in `Plan.act`; 0 where the hand stands by itself
STAND, HIT, DOUBLE, SPLIT, SURRENDER = (LETTERS.index(letter) for letter in "SHDPR")
WIDE = 16  # places for ranks, filled up with zeros: as many as are multiplied at a time
NOTES = 256  # draws noted before their luck is counted, at the latest; the log has room for one draw more


class Numbers(NamedTuple):
    """Single numbers of a plan."""

    peek: int
    natural_outcome: int  # index of a dealer's natural, or -1
    max_hands: int
    surrendered: int  # the result of surrender
    round_robin: int
    decks: int  # 0 for an infinite shoe
    cut: int  # cards dealt before the shoe is shuffled
    normal_tens: int
    width: int  # payoffs are counted from -width to width units
    ties: int  # and for 0 to ties tied bets


class Plan(NamedTuple):
    """Arrays of the compiled round. S states of a hand, D of the dealer, R results, C columns, O dealer's outcomes.

    add (S, 13): state after a card. act (seats, 2, S, C): action code; the second index is 1 where another hand may be
    split off. half (S,): the one-card state of a split pair. result (S,): result of the hand if it stands.
    pay (R, 2, O): payoff at one and two bets. waits (R,): see `states.py`. dealer_add (D, 13); dealer_done (D,);
    dealer_out (D,): index of the outcome; 0 while the dealer still draws. column (2, D): column by the dealer's one or
    two shown cards. deal (n,): 0 gives every seat a card, 1 the dealer.
    threshold, other: alias table of the ranks.
    """

    add: Array
    act: Array
    half: Array
    result: Array
    pay: Array
    waits: Array
    dealer_add: Array
    dealer_done: Array
    dealer_out: Array
    column: Array
    deal: Array
    numbers: Numbers
    threshold: Array
    other: Array


class Shoe(NamedTuple):
    """The cards of one table, made a few at a time.

    cards (n,), uint8: rank indices, of which those from `read` up to `ready` are still to be dealt. key (2,), uint64:
    the random stream. chunk: number of the filling of `cards`, or of the shuffle. before: cards dealt before the first
    of `cards`. (`read`, `ready`, `chunk` and `before` are arrays (1,), int64.) size: cards of a full shoe, 0 for an
    infinite one. normal_tens, threshold, other: see `Plan`.
    """

    cards: Array
    key: Array
    read: Array
    ready: Array
    chunk: Array
    before: Array
    size: int
    normal_tens: int
    threshold: Array
    other: Array


class Seats(NamedTuple):
    """The hands at a table, as they are played; all int64.

    hand, half (seats,): states of the hand and of the split hands that are pending. pending, held (seats,): how many
    these are, and hands held in all. acting (seats,): whether the seat still plays. payoff (seats, O): what its
    finished hands pay, by the dealer's outcome.
    """

    hand: Array
    half: Array
    pending: Array
    held: Array
    acting: Array
    payoff: Array


class Counts(NamedTuple):
    """What rounds have paid; all int64.

    dense (seats, ties + 1, 2 width + 1): how often each payoff came, by stake tied and units won. overflow (n, 2): the
    payoffs that fall outside it, rows of (seat, code). trace (m, seats + 1): for the first m rounds each seat's payoff
    code and the number of cards dealt so far.
    """

    dense: Array
    overflow: Array
    trace: Array


class LuckModel(NamedTuple):
    """Arrays for the compiled round. T charts, X contexts (see `StateValues`), S states of a hand, D of the dealer,
    R results, Q ranks told apart, N nodes.

    worth (N, WIDE): V after each rank r. slopes (N, Q, WIDE), float32: then its slope g_r(q), at [q, r]; own (N, WIDE):
    g_r(r). (Rounding biases nothing: luck is what came less what was to be expected by the same numbers.)
    chart (seats,): which chart a seat plays. dealt, hit, double (T, X, S): node of a card dealt to the dealer before
    seats act, to a hand, to a doubled hand. split (T, X, S, m, w): of a card to a split half, the seat holding m + 2
    hands, w more halves waiting. dealer (T, D, R, 2): of the dealer's later cards, for a finished hand.
    context_add (X, 13). start (T, Q): slopes of a round's start. value (T,): of the game, per settled bet; what a bet
    dealt again is worth. full (Q,): counts of a full shoe, or the law of an infinite one.
    """

    ev: Array
    slopes: Array
    own: Array
    chart: Array
    dealt: Array
    hit: Array
    double: Array
    split: Array
    dealer: Array
    context_add: Array
    start: Array
    value: Array
    full: Array


# A draw whose luck is not counted yet: a card, drawn at a node, counts `times` times for a seat; `last`: and for no
# other hand.
DRAW = np.dtype([(name, np.int64) for name in ("seat", "node", "times", "card", "last")], align=True)

# Of a ledger. left: the number of cards left. started, most, later: rounds that have started in this shoe, that are to
# start in it, that come after this one. played: whether any was since the last shoe was closed. noted: draws to count.
STATE = np.dtype(
    [("left", np.float64), *((name, np.int64) for name in ("started", "most", "later", "played", "noted"))], align=True
)


class Ledger(NamedTuple):
    """What the compiled round notes about luck.

    counts (WIDE,): of the cards left, by rank. state (1,): see STATE. draws (n,): see DRAW.
    usual: rounds that usually start in a shoe; finite: whether it is one of whole decks; bet: share of an initial bet
    that payoffs count in.
    profit, bets (seats,): luck-adjusted profit above the value of the bets settled, and these bets, in this shoe.
    sums (seats, 6): over such shoes, their number n, sums y, b, yy, yb, bb of profit and bets.
    finished (seats, 2 R), kinds (seats, 2 R), different (seats,): finished hands of this round by result, doubled or
    not, and which of them there are.
    """

    counts: Array
    state: Array
    draws: Array
    usual: int
    finite: int
    bet: float
    profit: Array
    bets: Array
    sums: Array
    finished: Array
    kinds: Array
    different: Array
