"""A counter as arrays, and what is kept of the rounds at each count."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bjsim.sim.engine.kernels.layout import TIED

Array = np.ndarray[Any, Any]

# What is kept of every bucket in a shoe: rounds; means over the counter's spots of luck-adjusted profit, squared profit
# and luck-adjusted profit of insurance; two controls, value and number of the tested depths at which the count is in
# the bucket; and where several spots are played, the mean product of the profits of two spots.
ROUNDS, PROFIT, SQUARES, INSURANCE, VALUE, DEPTHS, PRODUCTS = range(7)
RAW = 7  # columns of `CountSums.raw`
BET = TIED  # in a payoff code of a counter, for whom no bets tie, one initial bet that was settled


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
        full: Cards of a full shoe by value, float64 (10,).
        spots: Spots that the counter plays, by bucket, int64 (B,).
        leave: Before a round in this bucket or a lower one, the counter leaves the shoe; -1: never.
        seat: The first of the counter's seats, which are the last ones: the number of other players.
        other: The chart of the other players.
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
