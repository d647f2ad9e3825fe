"""A table at which one player counts cards, and the sums over its rounds. This module does not import numba."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from bjsim.sim.engine.kernels.count_layout import Counter, DepthControl
from bjsim.sim.engine.kernels.layout import CompiledRules, LuckModel
from bjsim.sim.engine.kernels.table_layout import CountLookup

Array = np.ndarray[Any, Any]


class CountingTable(NamedTuple):
    """A table at which one player counts. Read-only; see the classes of the fields.

    Attributes:
        compiled: The compiled rules, with a row of `act` for each chart.
        lookup: The round table of its rounds; None if they are played by the compiled rules.
        unit: The payoff quantum, as a share of an initial bet.
        luck_model: The luck model.
        counter: The counting system and what is done at each count.
        control: The values of the depth control.
        adjusted: Whether profits are luck-adjusted and depth-controlled. The cards are the same either way.
    """

    compiled: CompiledRules
    lookup: CountLookup | None
    unit: Fraction
    luck_model: LuckModel
    counter: Counter
    control: DepthControl
    adjusted: bool


class CountSums(NamedTuple):
    """The sums over shoes; see the fields of these names in `CountTally`."""

    raw: Array
    shoes: Array
    sums: Array
    products: Array

    def plus(self, other: CountSums) -> CountSums:
        """Add sums. They are floats, so that only a fixed order gives identical bits."""
        return CountSums(*(one + two for one, two in zip(self, other, strict=True)))


class UnitSums(NamedTuple):
    """The sums of a block by unit: a few shoes, of each half of the sample as many.

    Attributes:
        shoes: Shoes of each half, (U, 2).
        sums: Sums of the quantities over them, (U, 2, D).
    """

    shoes: Array
    sums: Array

    def plus(self, other: UnitSums) -> UnitSums:
        """Add the sums of another block, unit by unit."""
        return UnitSums(self.shoes + other.shoes, self.sums + other.sums)


def count_quantum(unit: Fraction) -> Fraction:
    """The largest share of an initial bet in whole numbers of which payoffs and insurance can be counted."""
    return Fraction(1, math.lcm(unit.denominator, 2))
