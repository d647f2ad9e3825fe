"""The differences of all pairs of bots, and which pairs the results separate.

A difference is between the luck-adjusted profits per match of two bots, over all batches that both have played. Two
intervals of it hold together: one is valid at all times, and one at the planned end only, where it is much narrower;
PLANNED is the latter's share of the error.

Two bots are separated when 0 is outside their interval. In at most 5% of contests are two equally good bots ever
separated, however many there are: the error is divided by the largest number of pairs that can still be of equally
good bots. That is at first the number of all pairs. Bots that are equally good as one another form sets without a
separated pair, so their number falls as pairs are separated. The first wrong separation would have to occur while the
divisor is at least the number of pairs of equally good bots, and then Bonferroni's inequality applies (Holm 1979, with
the logical restrictions of Shaffer 1986, bounded by counting common neighbours). Bots that have left still count: which
ones those are may follow from their results.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from bjsim.arrays import Bools, Floats, Ints
from bjsim.bots.contest.config import Contest
from bjsim.sim.stats.estimate import ALPHA, RatioSums
from bjsim.sim.stats.student import anytime_t_half, e_value, t_half

# --- Means of chips per match and per hand, with confidence intervals.


MIN_BATCHES = 8  # batches needed for an interval: the totals of fewer matches need not be normal


class Ratio(RatioSums):
    """Chips per hand, or per match, from totals per batch: y of b hands, or matches."""

    @property
    def mean(self) -> float:
        return self.y / self.b if self.b else 0.0

    @property
    def se(self) -> float:
        return math.sqrt(self.residuals * self.n / (self.n - 1)) / self.b if self.n > 1 and self.b else 0.0

    @property
    def student95(self) -> tuple[float, float] | None:
        """Student's 95% interval of the mean; None for fewer than MIN_BATCHES batches."""
        if self.n < MIN_BATCHES:
            return None
        half = t_half(self.n - 1) * self.se
        return self.mean - half, self.mean + half


PLANNED = 0.8
FOR_A_PAIR = 25  # matches of a contest of two bots
FREEDOM = 48  # of the intervals after as many matches
MOST_BATCHES = 1_000_000  # a difference that needs more to be seen is not foreseen


class Differences:
    """The lead of every bot over every other, in chips per match.

    `results` has the luck-adjusted profit per match of each batch of each bot. Bots are compared batch by batch
    only if `same_cards`, bool (bots, bots), says that they are dealt the same shoes in the same batches; otherwise
    the two series are independent. The intervals are narrowest at `optimal_n` batches; `planned` is 0 if there is no
    planned end. The verdicts hold for all bots that have played a batch together.

    By pair there are the `batches` that both have played, the `mean` lead of the row's bot, the ends of its interval,
    `low` and `high`, at the error of the verdicts, and whether the two are `separated`.
    """

    def __init__(
        self,
        results: Sequence[Sequence[float]],
        same_cards: Bools,
        planned: int,
        optimal_n: int,
    ) -> None:
        lengths = np.array([len(one) for one in results], np.int64)
        self._results, self._same_cards, self._lengths = results, same_cards, lengths
        self._planned, self._optimal_n = planned, optimal_n
        self.batches = np.minimum.outer(lengths, lengths)
        self.mean = np.zeros(self.batches.shape)
        variance = np.zeros(self.batches.shape)  # of the difference of a batch
        self._anytime: list[tuple[int, Bools]] = []
        for n in np.unique(self.batches[self.batches > 0]).tolist():
            where = self.batches == n
            mean, paired, _, _ = self._moments(n)
            self.mean[where], variance[where] = mean[where], paired[where]
            if n >= MIN_BATCHES:
                self._anytime.append((n, where))
        self._sd, self._at_end = np.sqrt(variance), self._moments_at_end()
        compared = (self.batches > 0) & ~np.eye(len(results), dtype=bool)
        pairs = float(compared.sum() / 2)
        while True:
            self.alpha = ALPHA / max(1.0, pairs)  # the error probability of each interval
            self.low, self.high = self._intervals(self.alpha)
            self.separated = (self.low > 0) | (self.high < 0)
            left = most_equal_pairs(compared & ~self.separated)
            if left >= pairs:
                break
            pairs = left

    def rank_ranges(self, bots: Sequence[int]) -> list[tuple[int, int]]:
        """The best (1 plus the bots separated from it and ahead) and the worst rank of each bot among these.

        All ranges hold together, at every look, with the error of the verdicts: a wrong one takes a pair that was
        put in the wrong order.
        """
        ahead = self.low[np.ix_(bots, bots)] > 0
        best, worst = 1 + ahead.sum(axis=0), len(bots) - ahead.sum(axis=1)
        return list(zip(best.tolist(), worst.tolist(), strict=True))

    def e_value(self, one: int, other: int) -> float:
        """The evidence that two bots are not equally good; see `e_value`. 1 from too few batches."""
        n, mean = int(self.batches[one, other]), float(self.mean[one, other])
        if n < MIN_BATCHES:
            return 1.0
        return e_value(n, mean, (n - 1) * float(self._sd[one, other]) ** 2, self._optimal_n)

    def _moments(self, n: int) -> tuple[Floats, Floats, Floats, Floats]:
        """Mean and variance of the difference by batch, the variance of independent series, and its freedom.

        Each is (bots, bots), from the first n batches; only entries of bots that have played as many are meaningful.
        """
        values = np.zeros((len(self._results), n))
        for bot in np.flatnonzero(self._lengths >= n).tolist():
            values[bot] = self._results[bot][:n]
        mean = values.mean(axis=1)
        centred = values - mean[:, None]
        products = centred @ centred.T / max(1, n - 1)
        own = products.diagonal()
        apart = own[:, None] + own
        paired = np.maximum(apart - 2 * products, 0.0)
        squares = own[:, None] ** 2 + own**2
        freedom = np.divide((n - 1) * apart**2, squares, out=np.full_like(squares, n - 1.0), where=squares > 0)
        return mean[:, None] - mean, paired, apart, freedom

    def _moments_at_end(self) -> tuple[Bools, Floats, Floats, Ints] | None:
        """Who has played all planned batches, with mean, error and freedom then; None if there are too few."""
        n = self._planned
        if n < MIN_BATCHES or not (where := self.batches >= n).any():
            return None
        mean, paired, apart, freedom = self._moments(n)
        step = 1 + n // 20  # quantiles take long to compute; rounded down, the freedom gives wider intervals
        known = np.where(self._same_cards, n - 1, np.maximum(n - 1, freedom.astype(int) // step * step))
        return where, mean, np.sqrt(np.where(self._same_cards, paired, apart) / n), np.where(where, known, n - 1)

    def _intervals(self, alpha: float) -> tuple[Floats, Floats]:
        """The ends of all intervals at an error probability; infinite where there are too few batches."""
        high = np.full(self.mean.shape, np.inf)
        anytime = alpha * (1 - PLANNED) if self._planned else alpha
        for n, where in self._anytime:
            if math.isfinite(width := anytime_t_half(n, n - 1.0, self._optimal_n, anytime)):
                np.multiply(self._sd, width, out=high, where=where)
        low = self.mean - high
        high += self.mean
        if self._at_end is None:
            return low, high
        where, mean, error, freedom = self._at_end
        quantiles = np.zeros(freedom.max() + 1)
        for known in np.flatnonzero(np.bincount(freedom.ravel())).tolist():
            quantiles[known] = t_half(known, PLANNED * alpha)
        top = quantiles[freedom]
        top *= error
        bottom = np.maximum(low, mean - top)
        np.minimum(high, np.add(mean, top, out=top), out=top)
        where = where & (bottom <= top)
        np.copyto(low, bottom, where=where)
        np.copyto(high, top, where=where)
        return low, high

    def batches_to_separate(self, one: int, other: int) -> int | None:
        """The total batches that would separate two bots at this rate; None if unknown or above MOST_BATCHES."""
        lead, sd = abs(float(self.mean[one, other])), float(self._sd[one, other])
        share = 1 - PLANNED if self._planned else 1.0
        played, planned = int(self.batches[one, other]), self._planned

        def seen(n: int) -> bool:
            return anytime_t_half(n, n - 1.0, self._optimal_n, share * self.alpha) * sd < lead

        if played < MIN_BATCHES or not lead:
            return None
        low = high = played
        while not seen(high):
            low, high = high, 2 * high
            if high > MOST_BATCHES:
                break
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if seen(middle) else (middle, high)
        if played < planned < high and t_half(planned - 1, PLANNED * self.alpha) * sd < lead * math.sqrt(planned):
            return planned
        return high if high <= MOST_BATCHES else None


def with_matches(contest: Contest, bots: int) -> Contest:
    """A contest with a number of matches: unless it was given, one that follows from the number of bots.

    The more bots, the smaller the error of each verdict and the wider its interval; once the pairs that differ most are
    separated, about as many pairs as bots remain. The number grows with the square of that width, so that a difference
    of a given size is seen whatever the number of bots.
    """
    if contest.matches:
        return contest
    widths = [t_half(FREEDOM, ALPHA / pairs) for pairs in (max(1, bots - 1), 1)]
    return replace(contest, matches=round(FOR_A_PAIR * (widths[0] / widths[1]) ** 2))


def most_equal_pairs(together: Bools) -> float:
    """Bound the pairs of equally good bots, if only the pairs in `together`, bool (bots, bots), can be.

    A bot that is as good as c others shares c - 1 of them with each.
    """
    edges = together.astype(np.float32)  # in which whole numbers of bots are exact
    shared = np.where(together, edges @ edges, -1).astype(np.int32)
    return float((-np.sort(-shared, axis=1) >= np.arange(len(shared))).sum() / 2)
