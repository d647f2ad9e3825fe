"""Two seats that were dealt the same cards: the difference of their returns, with intervals of its own.

Cards that are good for one are mostly good for the other, so the difference is known better than either return. But
rounds do not keep step: who draws one card more begins the next round one card later, and has seen the same cards after
another number of rounds. So the unit is a stretch of cards, not of rounds: the rounds that begin in one shoe, or in the
same CARDS cards of an infinite one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from bjsim.sim.stats.intervals import LEAST, anytime, fixed_sample

Array = np.ndarray[Any, Any]

CARDS = 512  # of an infinite shoe
ROUND = 5.5  # cards, about those of a round of one seat; only the tuning of intervals depends on it


class Rounds(NamedTuple):
    """One seat's rounds, arrays of shape (rounds,): units won, initial bets tied, cards dealt up to their end."""

    net: Array
    tied: Array
    dealt: Array


def batches(dealt: Array, size: int, cut: int) -> Array:
    """Numbers of the rounds that are the first to begin in a stretch of cards.

    dealt: as in `Rounds`. size: cards of a shoe, 0 for an infinite one; cut: of which so many are dealt before a round.
    """
    before = np.concatenate([[0], dealt[:-1]])
    if not size:
        return np.flatnonzero(np.diff(before // CARDS, prepend=-1))
    starts, shoe = [0], 0  # where the shoe's first card is
    while (number := int(np.searchsorted(before, shoe + cut))) < len(before):
        starts.append(number)
        here = int(before[number])
        while shoe + size < here:  # it ran out in the middle of a round, and a fresh one followed
            shoe += size
        if here >= shoe + cut:
            shoe = here
    return np.array(starts)


@dataclass(frozen=True)
class PairedTally:
    """Sums over stretches of cards, of two seats' profit y (in units) and settled bets b. `a + b` merges two.

    cards: about how many are in a stretch. sums: of y, b of the one and y, b of the other. products (rows of an upper
    triangle): of each with each, from the first with itself on. All are whole numbers.
    """

    unit: Fraction = Fraction(1)
    cards: int = CARDS
    batches: int = 0
    sums: tuple[int, ...] = (0,) * 4
    products: tuple[int, ...] = (0,) * 10

    def __add__(self, other: PairedTally) -> PairedTally:
        if not self.batches or not other.batches:
            return self if self.batches else other
        if self.unit != other.unit:
            raise ValueError(f"pairs count in units of {self.unit} and of {other.unit}")
        sums = tuple(one + more for one, more in zip(self.sums, other.sums, strict=True))
        products = tuple(one + more for one, more in zip(self.products, other.products, strict=True))
        return PairedTally(self.unit, self.cards, self.batches + other.batches, sums, products)

    @staticmethod
    def of(unit: Fraction, one: Rounds, other: Rounds, size: int = 0, cut: int = 0) -> PairedTally:
        """The sums for two seats' rounds on the same cards; size and cut of the shoe as in `stretches`.

        Where one has its rounds in fewer stretches, the last takes what is left of the other's.
        """
        starts = [batches(rounds.dealt, size, cut) for rounds in (one, other)]
        both = min(map(len, starts))
        sums = [
            np.add.reduceat(part.astype(np.int64), first[:both])
            for rounds, first in zip((one, other), starts, strict=True)
            for part in (rounds.net, 1 - rounds.tied)
        ]
        v = np.array(sums)
        products = (v @ v.T)[np.triu_indices(4)]
        return PairedTally(unit, cut or CARDS, both, tuple(v.sum(axis=1).tolist()), tuple(products.tolist()))

    @property
    def settled(self) -> bool:
        """Whether both have settled bets."""
        return self.batches > 0 and self.sums[1] > 0 and self.sums[3] > 0

    @property
    def mean(self) -> float:
        """How much more the one wins per settled bet than the other, in initial bets."""
        y, b, z, c = self.sums
        return float(self.unit * (Fraction(y, b) - Fraction(z, c)))

    @property
    def sd(self) -> float:
        """Standard deviation per stretch of what `mean` averages (delta method): its standard error is
        sd / sqrt(stretches)."""
        y, b, z, c = self.sums
        # y/b - z/c moves by this much for one more of each
        slopes = [Fraction(1, b), Fraction(-y, b * b), Fraction(-1, c), Fraction(z, c * c)]
        square = Fraction(0)
        for (i, j), product in zip(zip(*np.triu_indices(4), strict=True), self.products, strict=True):
            square += (1 if i == j else 2) * slopes[i] * slopes[j] * product
        return float(self.unit) * math.sqrt(max(float(square), 0.0) * self.batches)

    @property
    def se(self) -> float:
        """Standard error of the mean."""
        return self.sd / math.sqrt(self.batches)

    @property
    def ci95(self) -> tuple[float, float]:
        """The usual 95% interval; without bounds below LEAST stretches."""
        return fixed_sample(self.mean, self.sd, self.batches)

    def anytime95(self, optimal_n: int) -> tuple[float, float]:
        """The anytime-valid 95% interval, narrowest about `tuned` rounds."""
        return anytime(self.mean, self.sd, self.batches, max(round(optimal_n * ROUND / self.cards), LEAST))

    def to_json(self) -> dict[str, object]:
        """Plain JSON values; `from_json` reads them back."""
        return {
            "unit": str(self.unit),
            "cards": self.cards,
            "stretches": self.batches,
            "sums": self.sums,
            "products": self.products,
        }

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> PairedTally:
        """The sums that `to_json` wrote."""
        return PairedTally(
            Fraction(data["unit"]),
            int(data["cards"]),
            int(data["stretches"]),
            tuple(data["sums"]),
            tuple(data["products"]),
        )
