"""What the walkers of a round table are given: named tuples of arrays, the same for numba and for NumPy."""

from typing import NamedTuple

from bjsim.arrays import Array
from bjsim.sim.engine.kernels.layout import TIED

STRIDE = 16  # places of a row: one for each card, or for each action where the row asks
LOGGED, ASKED, WAITS, FREE, LEAVES, INSURES, OVER = 1, 2, 4, 8, 16, 32, 64  # flags of an entry
BITS, FLAGS = 7, 127
SCALE = 1 << 10  # luck is counted in whole multiples of 1 / SCALE initial bets
STEP = 4  # cards from one computation of the drift to the next
FURTHER = 2  # shoes into which a round may run on
HALF_BET = TIED  # in a payoff code of a counter, for whom no bets tie, half an initial bet that was staked

# What is kept of every bucket in a shoe: rounds; means over the counter's spots of luck-adjusted profit and of squared
# profit; the mean product of the profits of two spots; and two controls, value and number of the tested depths at which
# the count is in the bucket.
ROUNDS, PROFIT, SQUARES, PRODUCTS, VALUE, DEPTHS = range(6)
QUANTITIES = 6
STAKES, PAIRS, LEFT, RAW = 3, 4, 5, 6  # further columns of `CountSums.raw`, and their number


class SeatRows(NamedTuple):
    """The round tables of the charts at a table, one after another; see `RoundTable`."""

    # By row and card (or action), at row * STRIDE + card: the next row's place << BITS, and flags. LOGGED: something
    # ends; ASKED: the next row asks for an action; WAITS: its seat draws no card; FREE: the seat decides something
    # before its next card; OVER: the round is over, which LEAVES the table or not; INSURES: the next row asks whether
    # to insure, which all seats decide before anyone plays.
    entries: Array
    log: Array  # what an entry logs, 1 + e for end e, 1 + E + h for split hand h
    question: Array  # 1 + the choice that a row asks for, or 0
    answers: Array  # the code of the action by choice and chart
    ends: Array  # payoff code and dealer's outcome of ends, (E, 2)
    hands: Array  # payoff code of split hands by outcome, (H, O)
    start: Array  # the place of each seat's first row


class DealOrder(NamedTuple):
    """Who gets the cards, by the number n of hands."""

    opening: Array  # who gets each card of the deal, S for the dealer, (S + 1, most)
    dealt: Array  # cards of the deal
    hole: Array  # the number of the hidden one, or -1
    robin: bool  # whether the game is round-robin, and turns are decisions


class Seats(NamedTuple):
    """Working memory of the kernel by seat."""

    row: Array  # its place; -1: the round is over
    flags: Array  # of the last entry
    code: Array  # payoff code
    split: Array  # the payoff codes of split hands by outcome
    splits: Array  # whether there are any
    mark: Array  # a mark of the kernel


class Luck(NamedTuple):
    """Values of rows for the models of a table. A model has R + E places: rows, then ends. All values are whole numbers
    of 1 / SCALE initial bets; a value changes by the slopes times the shares of the ranks among the cards left."""

    ranks: int  # Q, the ranks that are distinguished
    places: int  # of a model
    frequent: int  # rows that have a form
    model: Array  # by bucket of the count
    chart: Array  # of each model
    after: Array  # the place after each card or action, (R, Q)
    hand: Array  # 1 + the split hand that it logs, or 0
    slow: Array  # 0, or 1 if a row's form is not enough once split hands have been logged, or more if it has none
    values: Array  # by place of all models: the payoff that is not logged yet
    slopes: Array  # of these values, by rank
    outcome: Array  # likewise the state of the dealer's outcome, of which there are S
    chances: Array  # probabilities of the outcomes by state, (S, O)
    tilts: Array  # their slopes
    pay: Array  # payoff of split hands by outcome, 0 for none, (1 + H, O)
    full: Array  # cards of a full shoe by rank, (Q,)
    # By frequent row of all models: (E - V) left (left - 1), the expectation after the next card less the value, is the
    # sum of the form over all pairs of cards left. In NumPy it is a matrix of the pairs of ranks i <= j, whose last
    # column repeats the diagonal; in kernels a row of these pairs, in the order of j and then of i.
    form: Array


class Track(NamedTuple):
    """Working memory of the kernel for luck."""

    counts: Array  # cards left by rank, int16 (WIDE,)
    left: Array  # and in all
    expected: Array  # by seat: what was expected of the round so far
    end: Array  # the value of its end
    logged: Array  # the pay of its split hands by outcome
    shadow: Array  # the rows that it would be in with other hole cards, (S, Q)
    noted: Array  # cards that its shadows do not follow yet, (S, NOTED)
    unread: Array  # and their number, (S,)
    gone: Array  # the luck, units and bets of this shoe
    units: Array
    bets: Array
    product: Array  # a vector over ranks
    sums: Array  # over shoes, see `Played`


class Drift(NamedTuple):
    """How the composition of a finite shoe moves the value of rounds, by chart."""

    slopes: Array  # first-order slopes of a round, (T, Q)
    curvature: Array  # half the second-order ones, (T, Q, Q)
    expected: Array  # the expectation of the drift summed over the first depths, by their number, (T, depths + 1)
    depths: int  # how often in a shoe it is computed
    rounds_per_depth: float  # that start between two depths, about
    bet: float  # the payoff quantum, as a share of an initial bet
    value: Array  # of a settled bet, by seat
    chart: Array  # of each seat


class Counter(NamedTuple):
    """A counting system and what is done at each count. N is the number of cards of the shoe, B of buckets of the count
    for bets, C of cells: counts with the same play."""

    tags: Array  # by rank as integers, (13,)
    initial: int  # the running count of a full shoe
    lowest: int  # the running count of the first column of `cells`
    cells: Array  # the cell by number of cards seen and running count, (N + 1, n)
    lowest_bet: int  # the running count for bets of the first column of `buckets`
    buckets: Array  # the bucket by number of cards seen and running count for bets, (N + 1, n)
    side_aces: int  # what every unseen ace adds to the running count for bets
    aces: int  # of a full shoe
    chart: Array  # of each cell
    spots: Array  # that the counter plays, by bucket, (B,)
    leave: int  # the counter leaves the shoe before a round in this bucket or a lower one; -1: never
    seat: int  # the number of the other players, whose seats precede the counter's
    other: int  # their chart
    before_round: bool  # whether decisions are made by the count before the round
    bet: float  # a payoff quantum as a share of a bet


class DepthControl(NamedTuple):
    """The first-order values of rounds by bucket; depths are tested every `step` cards from 0 up to the cut."""

    step: int
    # of the value of a round in the composition of the shoe, by value, whole numbers of 1 / SCALE initial bets, (B, 10)
    slopes: Array
    values: Array  # the value at their origin, in initial bets, (B,)
    full: Array  # the cards of a full shoe by value, float64 (10,)


class CountTally(NamedTuple):
    """What the kernel counts of a counter's rounds: see `CountSums.raw`, and by shoe, quantity and bucket."""

    raw: Array
    now: Array


class WalkedTable(NamedTuple):
    """A table as a walker sees it: without luck `luck` is None, without a counter `counter`."""

    moves: SeatRows
    deal: DealOrder
    luck: Luck | None = None
    counter: Counter | None = None


class PlainTable(NamedTuple):
    """The round table of a single seat for the kernel of plain rounds.

    Where something ends, the next row is one of its copies, whose numbers are the lowest: below `plain` for the end of
    a round without splits, below `over` for that of another round, below the number of labels for that of a split hand.
    """

    entries: Array  # the next row, at row * Q + rank where Q ranks are distinguished; uint16 if possible
    start: int  # the row in which rounds begin
    plain: int
    over: int
    label: Array  # the end, or the split hand, of a copy
    ends: Array  # as in `RoundTable`, like `hands`
    hands: Array
    ranks: tuple[int, ...]  # for whose length, Q, the kernel is compiled


class PlainWork(NamedTuple):
    """Working memory."""

    cards: Array  # as in `ShoeArrays`
    log: Array  # of a group of shoes, uint32
    start: Array  # by lane, uint64 (LANES,), as the next two: the key of the block
    gamma: Array
    first: Array  # the key of the shoe
    row: Array  # by lane, int64 (LANES,), as the next two
    left: Array  # the rounds that are still to be played
    ended: Array  # those that ended in this shoe
    split: Array  # the payoff codes of split hands by outcome, int64 (LANES, O)
