"""Counts as tables: the bucket, the current chart and insurance by the number of cards seen and the running count.

Everything that a counter does is a function of these two numbers, whatever the system divides by and how it rounds, so
that compiled code needs no division, and exact expectations are sums over the same table.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from bjsim.arrays import Array
from bjsim.sim.game.cards import RANKS, TEN
from bjsim.strategies.charts.chart import Chart
from bjsim.strategies.counting.departures import Departures
from bjsim.strategies.counting.system import ScaledCount

Play = tuple[Chart, bool]  # and whether insurance is taken
Ratio = tuple[Array, Array]  # counts as numerators and positive denominators, int64


class CountCells(NamedTuple):
    """One of the counts of a system, that of its bets or of its play, in a shoe of N cards.

    Attributes:
        lowest: The running count of the first column.
        bucket: The count rounded down and limited to the range of buckets, minus the lowest, (N + 1, n).
        play: The number of the play at this count, (N + 1, n).
        plays: Charts, and whether insurance is taken.
    """

    scaled: ScaledCount
    lowest: int
    bucket: Array
    play: Array
    plays: tuple[Play, ...]

    def rank_tags(self) -> Array:
        """Tags of the thirteen ranks, int64 (13,)."""
        return np.array([self.scaled.tags[min(rank, TEN)] for rank in range(len(RANKS))], np.int64)


def running_range(scaled: ScaledCount, decks: int) -> tuple[int, int]:
    sums = [tag * in_deck * decks for tag, in_deck in zip(scaled.tags, scaled.in_deck, strict=True)]
    return scaled.initial + sum(min(one, 0) for one in sums), scaled.initial + sum(max(one, 0) for one in sums)


def decision_counts(scaled: ScaledCount, decks: int) -> Ratio:
    """The count for decisions, rounded as the system says, by cards seen and running count."""
    deck = sum(scaled.in_deck)
    size = deck * decks
    low, high = running_range(scaled, decks)
    running, unseen = np.arange(low, high + 1)[None, :], size - np.arange(size + 1)[:, None]
    expected = scaled.in_deck[0] * scaled.side_aces * unseen
    if scaled.step == 0:
        return deck * running - expected, np.array(deck * scaled.scale)
    step = scaled.step
    steps = ((2 * unseen + step) // (2 * step), -(-unseen // step), unseen // step)[scaled.divisor_rounding]
    divisor = np.maximum(steps * step, scaled.least)
    top = deck * (running - scaled.pivot) - expected + scaled.imbalance * divisor
    bottom = scaled.scale * divisor
    floor, truncate = top // bottom, np.sign(top) * (abs(top) // bottom)
    nearest = np.sign(top) * ((2 * abs(top) + bottom) // (2 * bottom))
    if scaled.rounding < 3:
        return (floor, truncate, nearest)[scaled.rounding], np.array(1)
    return top, bottom


def whole_counts(counts: Ratio) -> Array:
    """Counts rounded down."""
    whole: Array = counts[0] // counts[1]
    return whole


def make_cells(scaled: ScaledCount, departures: Departures, decks: int, buckets: tuple[int, int]) -> CountCells:
    """Tabulate a count, its buckets and the play by it; the outer `buckets` include the counts beyond them."""
    counts = decision_counts(scaled, decks)
    limits = sorted({play.count for play in departures.plays})
    number, plays = _number_plays(departures, limits)
    return CountCells(
        scaled=scaled,
        lowest=running_range(scaled, decks)[0],
        bucket=np.clip(whole_counts(counts), *buckets) - buckets[0],
        play=number[_classes(counts, limits)],
        plays=tuple(plays),
    )


def _classes(counts: Ratio, limits: Sequence[Fraction]) -> Array:
    """Where counts are among the limits: 2 i between limits i - 1 and i, 2 i + 1 at limit i."""
    classes = np.zeros(np.broadcast_shapes(counts[0].shape, counts[1].shape), np.int64)
    for limit in limits:
        left, right = counts[0] * limit.denominator, counts[1] * limit.numerator
        classes += (left >= right).astype(np.int64) + (left > right)
    return classes


def _number_plays(departures: Departures, limits: Sequence[Fraction]) -> tuple[Array, list[Play]]:
    counts = [limits[0] - 1 if limits else Fraction(0)]
    for limit, after in zip(limits, [*limits[1:], *(one + 2 for one in limits[-1:])], strict=True):
        counts += [limit, (limit + after) / 2]
    plays = [(departures.chart_at(count), departures.insured_at(count)) for count in counts]
    different = list(dict.fromkeys(plays))
    return np.array([different.index(play) for play in plays]), different
