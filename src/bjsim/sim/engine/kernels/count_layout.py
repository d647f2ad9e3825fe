"""The arguments of the counting round: named tuples of arrays. This module does not import numba."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bjsim.sim.engine.kernels.layout import TIED

Array = np.ndarray[Any, Any]

# What is kept of every bucket in a shoe: rounds; means over the counter's spots of luck-adjusted profit, squared profit
# and luck-adjusted profit of insurance; two controls, value and number of the tested depths at which the count is in
# the bucket; and where several spots are played, the mean product of the profits of two spots.
ROUNDS, PROFIT, SQUARES, INSURANCE, VALUE, DEPTHS, PRODUCTS = range(7)
RAW = 7  # columns of `CountTally.raw`
BET = TIED  # in a payoff code of the counting round, in which no bets tie, one initial bet that was settled

# The state of a counter. running: the running count of the cards seen. seen: their number. read: cards of the shoe
# that were looked at. chunk: the shuffle in which. hole: position of the hole card until it is shown, or -1.
# cell: the cell of the count before the round.
COUNT = np.dtype([(name, np.int64) for name in ("running", "seen", "read", "chunk", "hole", "cell")], align=True)


class Counter(NamedTuple):
    """A counting system and what is done at each count.

    N is the number of cards of the shoe, B of buckets of the count for bets, C of cells: counts with the same play.

    Attributes:
        tags: Tags by rank as integers, int64 (13,).
        initial: The running count of a full shoe.
        lowest: The running count of the first column of `cells`.
        cells: The cell by the number of cards seen and the running count, uint16 (N + 1, n).
        lowest_bet: The running count for bets of the first column of `buckets`.
        buckets: The bucket by the number of cards seen and the running count for bets, uint16 (N + 1, n).
        side_aces: What every unseen ace adds to the running count for bets.
        chart: The current chart, as an index into `CompiledRules.act`, int64 (C,).
        insures: Whether insurance is taken, int64 (C,).
        insurable: Whether insurance can be taken in a round that begins at this count, as `cells`, bool (N + 1, n).
        model: The luck model's chart by bucket, int64 (B,).
        model_chart: The chart that each of these is for, as an index into `CompiledRules.act`, int64 (T,).
        resplits: Whether the luck model's chart splits a pair against any of the dealer's cards, (T, S). Its values of
            split hands are then those of splitting that pair again, against every card.
        row: The row of `actions` for each hand, or 0, int64 (S,).
        actions: Values of the actions of hands that charts play differently, by the luck model's chart, row, context
            and code, float64 (T, rows, X, 6).
        splits: Values of a split for a seat that holds h + 1 hands of which w more are pending, (T, rows, X, h, w).
        context: The luck context of the dealer's open card, by column, int64 (columns,).
        ends: Whether a context is a dealer's natural that ends the round, int64 (X,).
        unseen: Cards not seen by value, working memory, float64 (10,).
        full: The same of a full shoe, (10,).
        spots: Spots that the counter plays, by bucket, int64 (B,).
        leave: Before a round in this bucket or a lower one, the counter leaves the shoe; -1: never.
        seat: The first of the counter's seats, which are the last ones: the number of other players.
        other: The chart of the other players.
        before_round: Whether decisions are made by the count before the round.
        after: Cards that every seat gets after the hole card in the deal; -1 if none is hidden.
        ace: The column of an ace, or -1 if insurance is not offered or never taken.
        state: See COUNT, (1,).
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
    model: Array
    model_chart: Array
    resplits: Array
    row: Array
    actions: Array
    splits: Array
    context: Array
    ends: Array
    unseen: Array
    full: Array
    spots: Array
    leave: int
    seat: int
    other: int
    before_round: int
    after: int
    ace: int
    state: Array


class DepthControl(NamedTuple):
    """The first-order values of rounds by bucket, for the depth control.

    Attributes:
        step: Cards between tested depths, from 0 up to the cut.
        slopes: Slopes of the value of a round in the composition of the shoe, by value, float64 (B, 10).
        values: The value at the slopes' origin, float64 (B,).
        full: Cards of a full shoe by value, float64 (10,).
        left: The cards left, working memory, (10,).
    """

    step: int
    slopes: Array
    values: Array
    full: Array
    left: Array


class CountTally(NamedTuple):
    """What the counting round adds up. D is 7 B, or 6 B if there is never more than one spot.

    Attributes:
        quantum: The share of an initial bet in whole numbers of which profits are counted, insurance included.
        times: Quanta in a payoff unit.
        bet: A payoff unit, as a share of an initial bet.
        raw: Integers by bucket: rounds; sums over the spots of profit, squared profit and stakes, in quanta; insurance
            bets and half bets won by them, of one spot; and the products of the profits of all ordered pairs of spots,
            int64 (B, RAW).
        now: The quantities of this shoe, float64 (D,).
        used: Indices of those that are not 0, int64 (D,).
        shoes: Shoes in each half of the sample, int64 (2,).
        sums: Sums of the quantities over the shoes of each half, float64 (2, D).
        products: Sums of their products, lower triangle, float64 (2, D, D).
        paid: Payoff codes of the counter's spots in this round, BET included, int64 (spots,).
        rounds: Rounds so far, int64 (1,).
        trace: For the first rounds: bucket, payoff code of the first spot, insurance profit in half bets, cards dealt
            so far, and the payoff codes of further spots, (m, 3 + spots).
    """

    quantum: float
    times: int
    bet: float
    raw: Array
    now: Array
    used: Array
    shoes: Array
    sums: Array
    products: Array
    paid: Array
    rounds: Array
    trace: Array


class CountLanes(NamedTuple):
    """The lanes that play shoes by the round table in parallel; working memory but for the positions.

    Attributes:
        open: Position of the dealer's open card in a round.
        hole: Position of the hole card, or -1 if none is hidden.
        cards: Rank indices of each lane's shoe, uint8 (LANES, N).
        ready: Number of these that are shuffled, int64 (LANES,).
        chunk: Number of the shuffle, int64 (LANES,).
        running: The running count after every card, if all are seen, int64 (LANES, N + 1).
        row: Offset of the row, int64 (LANES,).
        log: How hands and rounds end: the number of cards before, shifted by 8, and the logged byte, uint32 (LANES, n).
            The first entry is the end of the round before the shoe.
        logged: Length of the log, int64 (LANES,).
    """

    open: int
    hole: int
    cards: Array
    ready: Array
    chunk: Array
    running: Array
    row: Array
    log: Array
    logged: Array
