"""Paired comparison of two seats that were dealt the same cards: the difference of their returns, with intervals.

Cards that favour one seat mostly favour the other, so the difference is known more precisely than either return. The
seats' rounds do not stay aligned: a seat that draws one card more begins its next round one card later. A batch is
therefore defined by cards and not by rounds: it holds the rounds that begin in one shoe, or in the same CARDS cards of
an infinite one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from bjsim.arguments import parse_fraction
from bjsim.sim.stats.estimate import Estimate
from bjsim.sim.stats.intervals import MIN_VALUES

Array = np.ndarray[Any, Any]

CARDS = 512  # of an infinite shoe that make up a batch
ROUND = 5.5  # typical cards in a round of one seat; only `optimal_n` of the intervals depends on it


class Rounds(NamedTuple):
    """One seat's rounds, integers (rounds,): quanta won, initial bets tied, cards dealt up to the end."""

    net: Array
    tied: Array
    dealt: Array


def batches(dealt: Array, size: int, cut: int) -> Array:
    """Find the rounds, by index, that are the first to begin in a batch; `dealt` is as in `Rounds`.

    `size` is the cards of a shoe, 0 for an infinite one; it is shuffled before the next round after `cut`.
    """
    before = np.concatenate([[0], dealt[:-1]])
    if not size:
        return np.flatnonzero(np.diff(before // CARDS, prepend=-1))
    starts, shoe = [0], 0  # `shoe`: index of the shoe's first card
    while (number := int(np.searchsorted(before, shoe + cut))) < len(before):
        starts.append(number)
        position = int(before[number])
        while shoe + size < position:  # the shoe ran out during a round and was replaced by a fresh one
            shoe += size
        if position >= shoe + cut:
            shoe = position
    return np.array(starts)


@dataclass(frozen=True)
class PairedTally(Estimate):
    """Sums over batches of two seats' profits y, in payoff quanta, and settled bets b. `a + b` merges two tallies.

    Attributes:
        unit: The payoff quantum, as a share of an initial bet.
        cards: The approximate number of cards in a batch.
        batches: The number of batches.
        sums: Sums of (y, b) of the first seat and (y, b) of the second.
        products: Sums of the products of these four: the upper triangle, row by row. All are integers.
    """

    unit: Fraction = Fraction(1)
    cards: int = CARDS
    batches: int = 0
    sums: tuple[int, ...] = (0,) * 4
    products: tuple[int, ...] = (0,) * 10

    def __repr__(self) -> str:
        return f"PairedTally({self.batches:,} batches" + (f", mean {self.mean:+.6f})" if self.settled else ")")

    def __add__(self, other: PairedTally) -> PairedTally:
        if not self.batches or not other.batches:
            return self if self.batches else other
        if self.unit != other.unit:
            raise ValueError(f"paired tallies count in units of {self.unit} and of {other.unit}")
        sums = tuple(one + more for one, more in zip(self.sums, other.sums, strict=True))
        products = tuple(one + more for one, more in zip(self.products, other.products, strict=True))
        return PairedTally(self.unit, self.cards, self.batches + other.batches, sums, products)

    @staticmethod
    def of(unit: Fraction, one: Rounds, other: Rounds, size: int = 0, cut: int = 0) -> PairedTally:
        """Sum the rounds of two seats on the same cards.

        Where one seat has fewer batches, its last batch is paired with all remaining rounds of the other seat.

        Args:
            unit: The payoff quantum.
            one: Rounds of the first seat.
            other: Rounds of the second seat.
            size: Cards of a shoe, 0 for an infinite one.
            cut: Cards after which the shoe is shuffled before the next round.

        Returns:
            The tally.
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
    def size(self) -> int:
        """The number of batches."""
        return self.batches

    @property
    def settled(self) -> bool:
        """Whether both seats have settled bets."""
        return self.batches > 0 and self.sums[1] > 0 and self.sums[3] > 0

    @property
    def mean(self) -> float:
        """The first seat's profit per settled bet minus the second's, in initial bets."""
        y, b, z, c = self.sums
        return float(self.unit * (Fraction(y, b) - Fraction(z, c)))

    @property
    def sd(self) -> float:
        """Standard deviation per batch of the difference in `mean` (delta method)."""
        y, b, z, c = self.sums
        # partial derivatives of y/b - z/c
        slopes = [Fraction(1, b), Fraction(-y, b * b), Fraction(-1, c), Fraction(z, c * c)]
        square = Fraction(0)
        for (i, j), product in zip(zip(*np.triu_indices(4), strict=True), self.products, strict=True):
            square += (1 if i == j else 2) * slopes[i] * slopes[j] * product
        return float(self.unit) * math.sqrt(max(float(square), 0.0) * self.batches)

    def optimal_size(self, optimal_n: int) -> int:
        """The number of batches in about so many rounds.

        Args:
            optimal_n: The rounds.

        Returns:
            The batches, at least 100.
        """
        return max(round(optimal_n * ROUND / self.cards), MIN_VALUES)

    def to_json(self) -> dict[str, object]:
        """The tally for a checkpoint.

        Returns:
            JSON values, which `from_json` reads back.
        """
        return {
            "unit": str(self.unit),
            "cards": self.cards,
            "stretches": self.batches,
            "sums": self.sums,
            "products": self.products,
        }

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> PairedTally:
        """Restore a tally.

        Args:
            data: What `to_json` returned.

        Returns:
            The tally.
        """
        return PairedTally(
            parse_fraction(data["unit"]),
            int(data["cards"]),
            int(data["stretches"]),
            tuple(data["sums"]),
            tuple(data["products"]),
        )
