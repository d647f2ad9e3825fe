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
    """The round tables of the charts at a table, one after another; see `RoundTable`.

    Attributes:
        entries: By row and card (or action), at row * STRIDE + card: the next row's place << BITS, and flags. LOGGED:
            something ends; ASKED: the next row asks for an action; WAITS: its seat draws no card; FREE: the seat
            decides something before its next card; OVER: the round is over, which LEAVES the table or not;
            INSURES: the next row asks whether to insure, which all seats decide before anyone plays.
        log: What an entry logs, 1 + e for end e, 1 + E + h for split hand h.
        question, answers: By row, 1 + the choice it asks for, or 0; the code of the action by choice and chart.
        ends, hands: Payoff code and dealer's outcome of ends, (E, 2); payoff code of split hands by outcome, (H, O).
        start: The place of each seat's first row.
    """

    entries: Array
    log: Array
    question: Array
    answers: Array
    ends: Array
    hands: Array
    start: Array


class DealOrder(NamedTuple):
    """Who gets the cards: `opening` card k with n hands, (S + 1, most), S for the dealer; `dealt` cards of the deal,
    `hole` the number of the hidden one or -1, by n. In round-robin games (`robin`) turns are decisions."""

    opening: Array
    dealt: Array
    hole: Array
    robin: bool


class Seats(NamedTuple):
    """Working memory of the kernel: by seat its row's place (-1: its round is over), the flags of its last entry, its
    payoff code, the payoff codes of its split hands by outcome, whether there are any, and a mark."""

    row: Array
    flags: Array
    code: Array
    split: Array
    splits: Array
    mark: Array


class Luck(NamedTuple):
    """Values of rows for the models of a table. A model has R + E places: rows, then ends. All values are whole numbers
    of 1 / SCALE initial bets; a value changes by the slopes times the shares of the ranks among the cards left.

    Attributes:
        ranks, places, frequent: Q, the ranks that are distinguished; places of a model; rows that have a form.
        model, chart: The model by bucket of the count, and the chart of each model.
        after, hand: The place after each card or action, (R, Q); 1 + the split hand that it logs, or 0.
        slow: Whether a row has no form: one of its cards may end a split hand, or it is rare.
        values, slopes: By place of all models: the payoff that is not logged yet, and its slopes.
        outcome: Likewise the state of the dealer's outcome, of which there are S.
        chances, tilts: Probabilities of the outcomes by state, (S, O), and their slopes.
        pay: Payoff of split hands by outcome, 0 for none, (1 + H, O).
        full: Cards of a full shoe by rank, (Q,).
        form, own: By frequent row of all models: (E - V) left (left - 1), the expectation after the next card less the
            value, is a quadratic form of the composition less the diagonal `own` times it. In NumPy `own` is the last
            column of `form`.
    """

    ranks: int
    places: int
    frequent: int
    model: Array
    chart: Array
    after: Array
    hand: Array
    slow: Array
    values: Array
    slopes: Array
    outcome: Array
    chances: Array
    tilts: Array
    pay: Array
    full: Array
    form: Array
    own: Array


class Track(NamedTuple):
    """Working memory of the kernel for luck: cards left by rank and in all; by seat what was expected of the round so
    far, the value of its end, the pay of its split hands by outcome, the rows that it would be in with other hole
    cards, and the luck, units and bets of this shoe; a vector over ranks; and sums over shoes, see `Played`."""

    counts: Array
    left: Array
    expected: Array
    end: Array
    logged: Array
    shadow: Array
    gone: Array
    units: Array
    bets: Array
    product: Array
    sums: Array


class Drift(NamedTuple):
    """How the composition of a finite shoe moves the value of rounds, by chart.

    Attributes:
        slopes, curvature: First-order slopes of a round, (T, Q), and half the second-order ones, (T, Q, Q).
        expected: The expectation of the drift summed over the first depths, by their number, (T, depths + 1).
        depths: How often in a shoe it is computed; `rounds_per_depth` rounds start between two depths, about.
        bet: The payoff quantum, as a share of an initial bet.
        value, chart: Value of a settled bet, and the chart, of each seat.
    """

    slopes: Array
    curvature: Array
    expected: Array
    depths: int
    rounds_per_depth: float
    bet: float
    value: Array
    chart: Array


class Counter(NamedTuple):
    """A counting system and what is done at each count. N is the number of cards of the shoe, B of buckets of the count
    for bets, C of cells: counts with the same play.

    Attributes:
        tags: Tags by rank as integers, (13,).
        initial: The running count of a full shoe.
        lowest, lowest_bet: The running count, and that for bets, of the first column of `cells` and of `buckets`.
        cells, buckets: The cell, and bucket, by number of cards seen and running count (for bets), (N + 1, n).
        side_aces, aces: What every unseen ace adds to the running count for bets; aces of a full shoe.
        chart: The chart of each cell.
        spots: Spots that the counter plays, by bucket, (B,).
        leave: The counter leaves the shoe before a round in this bucket or a lower one; -1: never.
        seat, other: The number of the other players, whose seats precede the counter's, and their chart.
        before_round: Whether decisions are made by the count before the round.
        times, half, bet: Counter quanta in a payoff quantum and in half a bet; a payoff quantum as a share of a bet.
    """

    tags: Array
    initial: int
    lowest: int
    cells: Array
    lowest_bet: int
    buckets: Array
    side_aces: int
    aces: int
    chart: Array
    spots: Array
    leave: int
    seat: int
    other: int
    before_round: bool
    times: int
    half: int
    bet: float


class DepthControl(NamedTuple):
    """The first-order values of rounds by bucket; depths are tested every `step` cards from 0 up to the cut.

    `slopes`, float64 (B, 10), are those of the value of a round in the composition of the shoe, by value;
    `values` (B,) the value at their origin; `full` the cards of a full shoe by value, float64 (10,).
    """

    step: int
    slopes: Array
    values: Array
    full: Array


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

    An entry, at row * Q + rank where Q ranks are distinguished, is the number of the next row; uint16 if possible.
    Where something ends, that row is one of its copies, whose numbers are the lowest: below `plain` for the end of a
    round without splits, below `over` for that of another round, below the number of labels for that of a split hand.
    `label` is the end, or the split hand, of a copy.
    `ends` and `hands` are as in `RoundTable`; rounds begin in row `start`. The kernel is compiled for the length of the
    tuple `ranks`, Q.
    """

    entries: Array
    start: int
    plain: int
    over: int
    label: Array
    ends: Array
    hands: Array
    ranks: tuple[int, ...]


class PlainShoes(NamedTuple):
    """Shoes of `size` cards, and their cut; `above` is as in `CompiledRules`.

    An infinite shoe is cut into parts of so many cards, which follow one another like shoes.
    """

    size: int
    cut: int
    finite: bool
    normal_tens: bool
    above: Array


class PlainWork(NamedTuple):
    """Working memory: cards by lane, uint8 (n, LANES), and the same flat; the log of a group of shoes, uint32.

    By lane, (LANES,): the keys of the block and of the shoe, uint64; the row, the rounds that are still to be played,
    and those that ended in this shoe, int64; and the payoff codes of split hands by outcome, int64 (LANES, O).
    """

    cards: Array
    flat: Array
    log: Array
    start: Array
    gamma: Array
    first: Array
    row: Array
    left: Array
    ended: Array
    split: Array
