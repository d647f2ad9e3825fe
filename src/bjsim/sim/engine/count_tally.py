"""What the rounds of a counter add up to: sums by the bucket of the count before the round, and over shoes."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from bjsim.sim.engine.counting_table import CountSums, count_quantum
from bjsim.sim.engine.kernels.count_layout import (
    DEPTHS,
    INSURANCE,
    PRODUCTS,
    PROFIT,
    RAW,
    ROUNDS,
    SQUARES,
    VALUE,
    CountedRounds,
)
from bjsim.sim.engine.kernels.layout import payoff_parts

Array = np.ndarray[Any, Any]


def quanta(unit: Fraction) -> tuple[int, int]:
    """The quanta of counts in a payoff quantum of `unit` initial bets, and in half a bet."""
    quantum = count_quantum(unit)
    return int(unit / quantum), int(Fraction(1, 2) / quantum)


class CountTable:
    """Sums over shoes; `unit` is the payoff quantum as a share of an initial bet, `spots` (B,) are by bucket.

    `raw` is as in `CountSums`; `now` has the quantities of each shoe, in groups of shoes, (n, D).
    """

    def __init__(self, unit: Fraction, spots: Array) -> None:
        self._bet, (self._times, self._half) = float(unit), quanta(unit)
        self._spots = spots
        self.raw = np.zeros((len(spots), RAW), np.int64)
        self.now: list[Array] = []

    def add(self, rounds: CountedRounds, shoe: Array, shoes: int, depths: Array | None) -> None:
        """Add rounds; `shoe` (n,) is that of each, from 0, `depths` (shoes, 2, B) value and number, or None."""
        bucket, won = rounds.bucket, rounds.won
        spots, insured = self._spots[bucket], won != 0
        units, bets = payoff_parts(rounds.codes)
        played = np.arange(units.shape[1]) < spots[:, None]
        profit = (units * self._times + (won * self._half)[:, None]) * played
        total, squares = profit.sum(axis=1), (profit * profit).sum(axis=1)
        stakes = bets.sum(axis=1) * 2 * self._half + spots * self._half * insured
        products = total * total - squares
        columns = (np.ones_like(total), total, squares, stakes, insured, won, products)
        for column, values in enumerate(columns):  # sums of whole numbers are exact
            self.raw[:, column] += np.bincount(bucket, values, len(self.raw)).astype(np.int64)
        adjusted = units.sum(axis=1) * self._bet - rounds.luck
        quantities = {
            ROUNDS: np.ones(len(total)),
            PROFIT: adjusted / spots + rounds.expected,
            SQUARES: squares / spots,
            INSURANCE: rounds.expected,
            PRODUCTS: products / np.maximum(spots * (spots - 1), 1),
        }
        buckets, several = len(self._spots), int(self._spots.max()) > 1
        now = np.zeros((shoes, PRODUCTS + several, buckets))
        for quantity, values in quantities.items():
            if quantity < now.shape[1]:
                sums = np.bincount(shoe * buckets + bucket, values, shoes * buckets)
                now[:, quantity] = sums.reshape(shoes, buckets)
        if depths is not None:
            now[:, [VALUE, DEPTHS]] = depths
        self.now.append(now)

    def sums(self) -> tuple[CountSums, Array]:
        """The sums, and the quantities of every shoe, (shoes, D)."""
        return add_up(self.raw, np.concatenate([part.reshape(len(part), -1) for part in self.now]))


def add_up(raw: Array, now: Array) -> tuple[CountSums, Array]:
    """Add up the quantities of shoes, (shoes, D), which are returned, too."""
    halves = [now[half::2] for half in (0, 1)]
    return CountSums(
        raw=raw,
        shoes=np.array([len(half) for half in halves]),
        sums=np.stack([half.sum(axis=0) for half in halves]),
        products=np.stack([np.tril(half.T @ half) for half in halves]),
    ), now
