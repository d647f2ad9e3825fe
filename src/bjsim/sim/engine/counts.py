"""What rounds add up to: payoffs, and for a counter sums by the count before the round, and over shoes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from bjsim.arrays import Array
from bjsim.sim.engine.kernels.arrays import (
    PAIRS,
    PRODUCTS,
    PROFIT,
    QUANTITIES,
    RAW,
    ROUNDS,
    SQUARES,
    STAKES,
    VALUE,
    Counter,
    CountTally,
    DepthControl,
    WalkedTable,
)
from bjsim.sim.engine.kernels.layout import CompiledRules, payoff_parts
from bjsim.sim.engine.lanes import Rounds
from bjsim.sim.engine.pack import for_kernel


class Played(NamedTuple):
    """The payoffs of blocks.

    Rounds of one shoe depend on each other, so the shoe is the unit of observation. Its y is its payoff less the value
    of its settled bets, less luck and drift; its b is the number of these bets.
    """

    counts: Array  # the frequency of each payoff by bets tied and units won, int64 (seats, ties + 1, 2 width + 1)
    outside: Array  # rows of (seat, payoff code) outside that window, int64 (n, 2)
    # each block's payoff codes by seat and cards dealt so far, int64 (rounds, seats + 1), none if not traced
    traces: list[Array]
    shoes: list[Array]  # each block's sums over shoes of n, y, b, yy, yb and bb, float64 (seats, 6), none without luck


def count_codes(dense: Array, codes: Array, times: Array | None = None) -> Array:
    """Count payoff codes (n,), each `times` often, in `dense`; return those outside its window, repeated."""
    units, tied = payoff_parts(codes)
    width = dense.shape[1]
    column = units + width // 2
    fits = (column >= 0) & (column < width) & (tied < len(dense))
    weights = None if times is None else times[fits]
    place = (tied[fits] * width + column[fits]).astype(np.intp)
    dense += np.bincount(place, weights, dense.size).astype(np.int64).reshape(dense.shape)
    return codes[~fits] if times is None else np.repeat(codes[~fits], times[~fits].astype(np.intp))


class CountSums(NamedTuple):
    """Sums over shoes, after the controls. D is 3 B with one spot, and 4 B with more."""

    # integers by bucket: rounds; sums over the spots of profit and squared profit, in units of `Rules.unit`, and of
    # stakes, in half bets; the products of the profits of all ordered pairs of spots; and shoes that the counter left,
    # int64 (B, RAW)
    raw: Array
    shoes: Array  # their number, int64 ()
    sums: Array  # sums of the first quantities in `kernels/arrays.py`, float64 (D,)
    products: Array  # sums of their products, float64 (D, D)

    def plus(self, other: CountSums) -> CountSums:
        """Add sums. They are floats, so that only a fixed order gives identical bits."""
        return CountSums(*(one + two for one, two in zip(self, other, strict=True)))


class UnitSums(NamedTuple):
    """The sums of a block by unit, a few shoes: `shoes`, (U,), and their `sums`, (U, D)."""

    shoes: Array
    sums: Array

    def plus(self, other: UnitSums) -> UnitSums:
        """Add the sums of another block, unit by unit."""
        return UnitSums(self.shoes + other.shoes, self.sums + other.sums)


class KnownControls(NamedTuple):
    """How the controls of a shoe, value and depths, lower the errors of its rounds, by bucket.

    A control is the excess of a shoe's depths over their expectation, times a factor. Factors are fixed before the shoe
    is dealt, so the means remain unbiased.
    """

    expected: Array  # exact expectations of value and depths, (2, B)
    rounds: Array  # for each depth in a bucket, (B,)
    moments: Array  # the mean square of a round, and the mean product of two spots', by bucket, (2, B)

    def apply(self, now: Array) -> None:
        """Subtract the controls from the quantities of shoes, (n, QUANTITIES, B), in place."""
        value, depths = np.moveaxis((now[:, VALUE:] - self.expected) * self.rounds, 1, 0)
        one, two = self.moments
        for quantity, control in enumerate((depths, value, depths * one, depths * two)):
            now[:, quantity] -= control


@dataclass(frozen=True, eq=False)
class CountingTable:
    """A table at which one player counts.

    `compiled` has a row of `act` for each chart. Profits are not luck-adjusted if `layout` has no luck, and not
    depth-controlled if `known` is None.
    """

    compiled: CompiledRules
    layout: WalkedTable
    control: DepthControl
    known: KnownControls | None = None

    @property
    def count(self) -> Counter:
        assert self.layout.counter is not None
        return self.layout.counter

    @cached_property
    def packed(self) -> WalkedTable:
        """The same for the kernel."""
        packed = for_kernel(self.layout)
        assert packed is not None
        return packed


def empty_tally(count: Counter, shoes: int) -> CountTally:
    buckets = len(count.spots)
    return CountTally(np.zeros((buckets, RAW), np.int64), np.zeros((shoes, QUANTITIES, buckets)))


def add_rounds(tally: CountTally, count: Counter, rounds: Rounds, shoe: Array) -> None:
    """Add rounds in their order; `shoe` (n,) is that of each."""
    bucket, spots, buckets = rounds.bucket.astype(np.intp), count.spots[rounds.bucket], len(count.spots)
    units, stakes = payoff_parts(rounds.codes[:, count.seat :])
    total, squares = units.sum(axis=1), (units * units).sum(axis=1)
    pairs = total * total - squares
    columns = {ROUNDS: np.ones_like(total), PROFIT: total, SQUARES: squares}
    for column, values in (columns | {STAKES: stakes.sum(axis=1), PAIRS: pairs}).items():
        tally.raw[:, column] += np.bincount(bucket, values, buckets).astype(np.int64)  # whole numbers are exact
    luck = np.zeros(len(units))
    for of_spot in rounds.luck.T[count.seat :]:  # in the order of the kernel
        luck = luck + of_spot
    quantities = {
        ROUNDS: np.ones(len(total)),
        PROFIT: (total * count.bet - luck) / spots,
        SQUARES: squares / spots,
        PRODUCTS: pairs / np.maximum(spots * (spots - 1), 1),
    }
    shoes = len(tally.now)
    for quantity, values in quantities.items():
        sums = np.bincount(shoe.astype(np.intp) * buckets + bucket, values, shoes * buckets)
        tally.now[:, quantity] += sums.reshape(shoes, buckets)


def add_up(table: CountingTable, tally: CountTally, unit: int) -> tuple[CountSums, UnitSums]:
    """Add up the quantities of shoes, less their controls; units have `unit` shoes, the last one what is left."""
    if table.known:
        table.known.apply(tally.now)
    now = tally.now[:, : PRODUCTS + (int(table.count.spots.max()) > 1)].reshape(len(tally.now), -1)
    starts = np.arange(0, len(now), unit)
    units = UnitSums(np.diff(starts, append=len(now)), np.add.reduceat(now, starts))
    return CountSums(tally.raw, np.array(len(now)), now.sum(axis=0), now.T @ now), units
