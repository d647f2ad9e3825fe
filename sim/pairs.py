"""Two seats that were dealt the same cards: the difference of their returns, with intervals of its own.

Cards that are good for one are mostly good for the other, so the difference is known far better than either return.
Rounds of the two do not keep step for long (who draws one card more begins the next round one card later), so the
unit is a bundle of BUNDLE consecutive rounds, not a round: what one seat wins in a bundle, the other wins in the same
bundle or, seldom, in the next.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from bjsim.sim.intervals import LEAST, anytime, usual

Array = np.ndarray[Any, Any]

BUNDLE = 256  # rounds


@dataclass(frozen=True)
class PairTally:
    """Sums over bundles of two seats' profit y (in units) and settled bets b. `a + b` merges two, to the same bits.

    sums: of y, b of the one and y, b of the other. products (rows of an upper triangle): of each with each, from the
    first with itself on. All are whole numbers.
    """

    unit: Fraction = Fraction(1)
    bundles: int = 0
    sums: tuple[int, ...] = (0,) * 4
    products: tuple[int, ...] = (0,) * 10

    def __add__(self, other: PairTally) -> PairTally:
        if not self.bundles or not other.bundles:
            return self if self.bundles else other
        if self.unit != other.unit:
            raise ValueError(f"pairs count in units of {self.unit} and of {other.unit}")
        sums = tuple(one + more for one, more in zip(self.sums, other.sums, strict=True))
        products = tuple(one + more for one, more in zip(self.products, other.products, strict=True))
        return PairTally(self.unit, self.bundles + other.bundles, sums, products)

    @staticmethod
    def of(unit: Fraction, one: tuple[Array, Array], other: tuple[Array, Array]) -> PairTally:
        """The sums for two seats' rounds: each the units won and the initial bets tied, arrays of shape (rounds,)."""
        rounds = len(one[0])
        starts = np.arange(0, rounds, BUNDLE)
        parts = [one[0], 1 - one[1], other[0], 1 - other[1]]
        v = np.array([np.add.reduceat(part.astype(np.int64), starts) for part in parts])
        products = (v @ v.T)[np.triu_indices(4)]
        return PairTally(unit, len(starts), tuple(v.sum(axis=1).tolist()), tuple(products.tolist()))

    @property
    def settled(self) -> bool:
        """Whether both have settled bets."""
        return self.bundles > 0 and self.sums[1] > 0 and self.sums[3] > 0

    @property
    def mean(self) -> float:
        """How much more the one wins per settled bet than the other, in initial bets."""
        y, b, z, c = self.sums
        return float(self.unit * (Fraction(y, b) - Fraction(z, c)))

    @property
    def sd(self) -> float:
        """Standard deviation per bundle of what `mean` averages (delta method): its standard error is
        sd / sqrt(bundles)."""
        y, b, z, c = self.sums
        # y/b - z/c moves by this much for one more of each
        slopes = [Fraction(1, b), Fraction(-y, b * b), Fraction(-1, c), Fraction(z, c * c)]
        square = Fraction(0)
        for (i, j), product in zip(zip(*np.triu_indices(4), strict=True), self.products, strict=True):
            square += (1 if i == j else 2) * slopes[i] * slopes[j] * product
        return float(self.unit) * math.sqrt(max(float(square), 0.0) * self.bundles)

    @property
    def se(self) -> float:
        """Standard error of the mean."""
        return self.sd / math.sqrt(self.bundles)

    @property
    def ci95(self) -> tuple[float, float]:
        """The usual 95% interval; without bounds below LEAST bundles."""
        return usual(self.mean, self.sd, self.bundles)

    def anytime95(self, tuned: int) -> tuple[float, float]:
        """The anytime-valid 95% interval, narrowest about `tuned` rounds."""
        return anytime(self.mean, self.sd, self.bundles, max(tuned // BUNDLE, LEAST))

    def to_json(self) -> dict[str, object]:
        """Plain JSON values; `from_json` reads them back."""
        return {"unit": str(self.unit), "bundles": self.bundles, "sums": self.sums, "products": self.products}

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> PairTally:
        """The sums that `to_json` wrote."""
        return PairTally(Fraction(data["unit"]), int(data["bundles"]), tuple(data["sums"]), tuple(data["products"]))
