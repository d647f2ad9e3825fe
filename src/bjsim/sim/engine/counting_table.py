"""A table at which one player counts cards, and the sums over its rounds."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from bjsim.sim.engine.count_rows import CountRows
from bjsim.sim.engine.kernels.count_layout import Counter, CountLuck, DepthControl
from bjsim.sim.engine.kernels.layout import CompiledRules

Array = np.ndarray[Any, Any]

WORTH_LOADING = 500_000  # rounds that arrays play about as quickly as the kernel is loaded from the cache
WORTH_COMPILING = 5_000_000  # rounds that arrays play about as quickly as it is compiled


class CountingTable(NamedTuple):
    """A table at which one player counts. Read-only; see the classes of the fields.

    `compiled` has a row of `act` for each chart; `unit` is the payoff quantum, as a share of an initial bet.
    Profits are not luck-adjusted and depth-controlled if `luck` is None.
    """

    compiled: CompiledRules
    rows: CountRows
    unit: Fraction
    counter: Counter
    control: DepthControl
    luck: CountLuck | None


class CountSums(NamedTuple):
    """The sums over shoes. D is 7 B, or 6 B if there is never more than one spot.

    Attributes:
        raw: Integers by bucket: rounds; sums over the spots of profit, squared profit and stakes, in quanta
            (see `count_quantum`); insurance bets and half bets won by them, of one spot; the products of the
            profits of all ordered pairs of spots; and shoes that the counter left, int64 (B, RAW).
        shoes: Shoes in each half of the sample, to which they belong by turns, int64 (2,).
        sums: Sums of the quantities in `kernels/count_layout.py` over the shoes of each half, float64 (2, D).
        products: Sums of their products, lower triangle, float64 (2, D, D).
    """

    raw: Array
    shoes: Array
    sums: Array
    products: Array

    def plus(self, other: CountSums) -> CountSums:
        """Add sums. They are floats, so that only a fixed order gives identical bits."""
        return CountSums(*(one + two for one, two in zip(self, other, strict=True)))


class UnitSums(NamedTuple):
    """The sums of a block by unit, a few shoes: `shoes` of each half, (U, 2), and their `sums`, (U, 2, D)."""

    shoes: Array
    sums: Array

    def plus(self, other: UnitSums) -> UnitSums:
        """Add the sums of another block, unit by unit."""
        return UnitSums(self.shoes + other.shoes, self.sums + other.sums)


def count_quantum(unit: Fraction) -> Fraction:
    """The largest share of an initial bet in whole numbers of which payoffs and insurance can be counted."""
    return Fraction(1, math.lcm(unit.denominator, 2))
