"""Means with their errors and intervals, and ratios of sums: one algebra for every return per settled bet."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from operator import add, attrgetter
from typing import Self

# --- Confidence intervals of a mean: for a fixed sample size, and for continuous monitoring.
#
# The fixed-sample 95% interval is valid at one sample size chosen in advance; with optional stopping its coverage is
# lower. The anytime-valid interval covers the mean at all sample sizes simultaneously with probability 95%. It is the
# asymptotic confidence sequence of Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas, "Time-uniform central limit theory
# and asymptotic confidence sequences" (2021), theorem 2.2, and is narrowest at `optimal_n`, which is chosen in advance.


ALPHA = 0.05
MIN_VALUES = (
    100  # values below which both intervals are unbounded: monitored from 2 on, the anytime one misses half the time
)
Z95 = 1.959963984540054  # 97.5% quantile of the normal distribution


def fixed_sample(mean: float, sd: float, n: int) -> tuple[float, float]:
    """The 95% interval of a mean of n independent values of standard deviation sd; unbounded for n below MIN_VALUES."""
    half_width = Z95 * sd / math.sqrt(n) if n >= MIN_VALUES else math.inf
    return mean - half_width, mean + half_width


def spread(alpha: float) -> float:
    """The variance of the prior, in variances of a value, with which an interval is narrowest at n values, times n."""
    return -2 * math.log(alpha) + math.log(-2 * math.log(alpha) + 1)


def anytime_factor(n: int, optimal_n: int, alpha: float = ALPHA) -> float:
    """Half-width of the anytime-valid interval at n values, in standard deviations; narrowest near n = optimal_n."""
    rho2 = spread(alpha) / optimal_n
    grown = n * rho2 + 1
    return math.sqrt(2 * grown / (n * n * rho2) * math.log(math.sqrt(grown) / alpha))


def anytime(mean: float, sd: float, n: int, optimal_n: int) -> tuple[float, float]:
    """The 95% interval of a mean that is valid at all n simultaneously; narrowest at `optimal_n` values.

    It is asymptotic, and therefore unbounded below MIN_VALUES values, where the estimated standard deviation
    means little. Fix `optimal_n` before the first value is seen.
    """
    half_width = sd * anytime_factor(n, optimal_n) if n >= MIN_VALUES else math.inf
    return mean - half_width, mean + half_width


class Estimate(ABC):
    """A mean with its error and its intervals."""

    @property
    @abstractmethod
    def size(self) -> int:
        """The number of independent observations."""

    @property
    @abstractmethod
    def mean(self) -> float:
        """The mean, in initial bets per settled bet."""

    @property
    @abstractmethod
    def sd(self) -> float:
        """Standard deviation per observation; `se` is sd / sqrt(size)."""

    def optimal_size(self, optimal_n: int) -> int:
        """The number of observations in about `optimal_n` rounds."""
        return optimal_n

    @property
    def se(self) -> float:
        """Standard error of the mean."""
        return self.sd / math.sqrt(self.size)

    @property
    def ci95(self) -> tuple[float, float]:
        """The fixed-sample 95% interval; unbounded below 100 observations."""
        return fixed_sample(self.mean, self.sd, self.size)

    def anytime_interval(self, optimal_n: int) -> tuple[float, float]:
        """The anytime-valid 95% interval, in initial bets; unbounded below 100 observations.

        `optimal_n` is about the number of rounds at which it is narrowest.
        """
        return anytime(self.mean, self.sd, self.size, self.optimal_size(optimal_n))


@dataclass(frozen=True)
class RatioSums(Estimate):
    """The ratio sum y / sum b with its error (delta method), from sums over n observations; `a + b` merges."""

    n: int = 0
    y: float = 0.0
    b: float = 0.0
    yy: float = 0.0
    yb: float = 0.0
    bb: float = 0.0

    @classmethod
    def one(cls, y: float, b: float) -> Self:
        return cls(1, y, b, y * y, y * b, b * b)

    def __add__(self, other: Self) -> Self:
        fields = attrgetter(*self.__match_args__)
        return type(self)(*map(add, fields(self), fields(other)))

    @property
    def size(self) -> int:
        return self.n

    @property
    def mean(self) -> float:
        return self.y / self.b

    @property
    def residuals(self) -> float:
        """The sum of (y - mean b)^2."""
        return max(0.0, self.yy - 2 * self.mean * self.yb + self.mean * self.mean * self.bb)

    @property
    def sd(self) -> float:
        return math.sqrt(self.residuals * self.n) / self.b
