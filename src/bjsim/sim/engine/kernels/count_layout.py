"""What the kernel of a counter is given: named tuples of arrays, which the array walker shares."""

from __future__ import annotations

from typing import NamedTuple

from bjsim.sim.engine.kernels.layout import TIED, Array

# What is kept of every bucket in a shoe: rounds; means over the counter's spots of luck-adjusted profit, squared profit
# and luck-adjusted profit of insurance; two controls, value and number of the tested depths at which the count is in
# the bucket; and where several spots are played, the mean product of the profits of two spots.
ROUNDS, PROFIT, SQUARES, INSURANCE, VALUE, DEPTHS, PRODUCTS = range(7)
RAW, LEFT = 8, 7  # columns of `CountSums.raw`; that of the shoes that the counter left before a round
BET = TIED  # in a payoff code of a counter, for whom no bets tie, one initial bet that was settled
ENDLESS_ROUND = -1  # instead of a card or a position: the round cannot be played
FURTHER = 2  # shoes into which a round may run on
LOGGED, ASKED, SPLITS = 1, 2, 4  # in an entry: something ends; the next row asks for an action, or may end a split hand
FLAGS = 3  # their bits


class Counter(NamedTuple):
    """A counting system and what is done at each count.

    N is the number of cards of the shoe, B of buckets of the count for bets, C of cells: counts with the same
    play.

    Attributes:
        tags: Tags by rank as integers, int64 (13,).
        initial: The running count of a full shoe.
        lowest, lowest_bet: The running count, and that for bets, of the first column of `cells` and of
            `buckets`.
        cells, buckets: The cell, and bucket, by number of cards seen and running count (for bets), uint16 (N
            + 1, n).
        side_aces: What every unseen ace adds to the running count for bets.
        chart, insures: The chart, as an index into `CompiledRules.act`, and whether insurance is taken, int64
            (C,).
        insurable: Whether it can be taken in a round that begins at this count, as `cells`, bool (N + 1, n).
        full: Cards of a full shoe by value, float64 (10,).
        spots: Spots that the counter plays, by bucket, int64 (B,).
        leave: The counter leaves the shoe before a round in this bucket or a lower one; -1: never.
        seat, other: The number of the other players, whose seats precede the counter's, and their chart.
        before_round: Whether decisions are made by the count before the round.
        after: Cards that every seat gets after the hole card in the deal; -1 if none is hidden.
        ace: The column of an ace, or -1 if insurance is not offered or never taken.
    """

    tags: Array
    initial: int
    lowest: int
    cells: Array
    lowest_bet: int
    buckets: Array
    side_aces: int
    chart: Array
    insures: Array
    insurable: Array
    full: Array
    spots: Array
    leave: int
    seat: int
    other: int
    before_round: int
    after: int
    ace: int


class CountLuck(NamedTuple):
    """Values of the rows of a counter's round table, for T pairs of a chart and a composition: the models.

    A place is a row, or R + e for end e of a round; there are R + E of them. Q ranks are distinguished, and
    the dealer has O outcomes; see `Outcomes` for their states, of which there are S in all models. Values and
    slopes are whole numbers, in 1 / SCALE initial bets; see `row_values.py`.

    Attributes:
        model, chart: The model by bucket, (B,), and the chart of each model, (T,).
        after: The place after each card, or after the code of an action, (R, Q).
        hand, splits: 1 + the split hand that it ends, or 0, (R, Q); whether it ever ends one, bool (R,).
        values, slopes: Payoff that is not logged yet, (T, R + E), and its slopes, float32 (T, R + E, Q).
        outcome: The state of the dealer's outcome, (T, R + E).
        chances, tilts: Probabilities of the outcomes, (S, O), and their slopes, float32 (S, O, Q).
        pay: Payoff of split hands by outcome, 0 for none, (1 + H, O).
        full: Cards of a full shoe by rank, (Q,).
        start: The exact value of a round, and its slopes, (T, 1 + Q).
    """

    model: Array
    chart: Array
    after: Array
    hand: Array
    splits: Array
    values: Array
    slopes: Array
    outcome: Array
    chances: Array
    tilts: Array
    pay: Array
    full: Array
    start: Array


class DepthControl(NamedTuple):
    """The first-order values of rounds by bucket; depths are tested every `step` cards from 0 up to the cut.

    `slopes`, float64 (B, 10), are those of the value of a round in the composition of the shoe, by value;
    `values` (B,) the value at their origin; `full` the cards of a full shoe by value, float64 (10,).
    """

    step: int
    slopes: Array
    values: Array
    full: Array


class CountedRounds(NamedTuple):
    """Rounds of lanes, (n,) each but `codes` (n, spots).

    Attributes:
        begin, end: Cards of the lane before the round and up to its end, those of the next lane included.
        bucket: The bucket of the count before it.
        won: Profit of insurance on each spot, in half bets.
        codes: Payoff codes of the counter's spots, 0 for those not played.
        luck: Luck of the cards of all spots, in initial bets.
        expected: Profit of insurance on each spot, or its expectation, in initial bets.
    """

    lane: Array
    begin: Array
    end: Array
    bucket: Array
    won: Array
    codes: Array
    luck: Array
    expected: Array

    def at(self, chosen: Array | slice) -> CountedRounds:
        return CountedRounds(*(field[chosen] for field in self))


class CountDeck(NamedTuple):
    """This shoe of a counter and those that its last round may run on into, the FURTHER next ones of a stream.

    Attributes:
        key: Of the random stream, uint64 (2,).
        unshuffled: See `CompiledRules`.
        tags, initial: See `Counter`.
        size: Cards of a shoe.
        cards, running: Working memory: ranks, uint8 (1 + FURTHER, size), and the running count after so many cards,
            int32 (1 + FURTHER, size + 1).
        ready, number: Likewise the cards of each that are shuffled, and its number in the stream, int64 (1 + FURTHER,).
    """

    key: Array
    unshuffled: Array
    tags: Array
    initial: int
    size: int
    cards: Array
    running: Array
    ready: Array
    number: Array


class CountMoves(NamedTuple):
    """A counter's round table, packed; R rows.

    Attributes:
        entries: The offset of the next row, shifted by FLAGS, and these, by offset and rank, uint32 (13 R,).
        log: What they log, uint16 (13 R,); see `SeatRows`, also for `ends` and `hands`.
        question, answers: 1 + the choice of a row that asks, else 0, int32 (R,); and codes, see `CountRows`.
        dead: The offset of the row of a shadow whose round would be over.
    """

    entries: Array
    log: Array
    question: Array
    answers: Array
    ends: Array
    hands: Array
    dead: int


class PackedLuck(NamedTuple):
    """A `CountLuck`, packed: a place is one of T (R + E), a state one of S O. Without luck, the arrays are dummies.

    Attributes:
        ranks, places: Q, and R + E.
        frequent: The first rows, which are the most frequent ones, F.
        model, chart, pay, full: See `CountLuck`.
        after, hand: See `CountLuck`, int32 (R, Q).
        values, outcome: See `CountLuck`, by place, float64 and int32.
        slopes: See `CountLuck`, by place, int16 (places, WIDE), padded with zeros.
        paid, own, steep: By model and frequent row, what `weigh_cards` takes: float32 and int16 (T F, WIDE), and int16
            (T F, Q, WIDE).
        chances, tilts: See `CountLuck`, by state, float64 and int16 (S O, WIDE).
        counts, left: Working memory: cards left by rank, int32 (WIDE,), and their number, float64 (1,).
        logged: Likewise the pay of split hands by outcome, float64 (O,).
    """

    ranks: int
    places: int
    frequent: int
    model: Array
    chart: Array
    pay: Array
    full: Array
    after: Array
    hand: Array
    values: Array
    outcome: Array
    slopes: Array
    paid: Array
    own: Array
    steep: Array
    chances: Array
    tilts: Array
    counts: Array
    left: Array
    logged: Array


class CountWalk(NamedTuple):
    """What the kernel of a counter who plays alone is given.

    Attributes:
        adjusted: Whether luck is counted, and depths.
        cut: Cards of a shoe after which no round begins.
        hole, open: Cards dealt before the hole card, -1 if none is hidden, and before the open card.
        dealt: Cards of the deal.
        needed: Cards left that nearly no round needs before the dealer's second card.
        quanta: Count quanta in a payoff quantum and in half a bet, and a payoff quantum as a share of a bet.
        bucket: Working memory: the bucket of the count for bets after so many cards, uint16 (cut,).
        unseen, shadow: Likewise cards left by value, float64 (10,), and the shadows' rows, int64 (Q,).
        split: Likewise the payoff codes of split hands by outcome, int64 (O,).
    """

    deck: CountDeck
    rows: CountMoves
    luck: PackedLuck
    counter: Counter
    control: DepthControl
    adjusted: bool
    cut: int
    hole: int
    open: int
    dealt: int
    needed: int
    quanta: tuple[int, int, float]
    bucket: Array
    unseen: Array
    shadow: Array
    split: Array
