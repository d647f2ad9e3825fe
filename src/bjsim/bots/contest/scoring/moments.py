"""Running means with confidence intervals: of chips per match and of chips per hand."""

from __future__ import annotations

import math
from dataclasses import dataclass

from bjsim.bots.contest.scoring.student_t import t_half
from bjsim.sim.stats.intervals import squared_residuals

MIN_BATCHES = 8  # batches needed for an interval: the totals of fewer matches need not be normal


@dataclass
class RunningMoments:
    """Count, sum and sum of squared deviations of a series (Welford 1962)."""

    n: int = 0
    total: float = 0.0
    spread: float = 0.0

    def add(self, value: float) -> None:
        """Add a value."""
        deviation = value - self.mean
        self.n += 1
        self.total += value
        self.spread += deviation * (value - self.mean) if self.n > 1 else 0.0

    @property
    def mean(self) -> float:
        """Mean of the values; 0 if there are none."""
        return self.total / self.n if self.n else 0.0

    @property
    def sd(self) -> float:
        """Sample standard deviation."""
        if self.n < 2:
            return 0.0
        return math.sqrt(max(0.0, self.spread) / (self.n - 1))

    @property
    def ci95(self) -> tuple[float, float] | None:
        """Student's 95% interval of the mean; None for fewer than MIN_BATCHES values."""
        if self.n < MIN_BATCHES:
            return None
        half = t_half(self.n - 1) * self.sd / math.sqrt(self.n)
        return self.mean - half, self.mean + half


@dataclass
class Ratio:
    """A mean per hand from totals per batch: sum y / sum k, with an interval from the spread of y - ratio * k."""

    n: int = 0
    y: float = 0.0
    k: float = 0.0
    yy: float = 0.0
    yk: float = 0.0
    kk: float = 0.0

    def add(self, y: float, k: int) -> None:
        """Add a batch of k hands with the total y."""
        self.n += 1
        self.y += y
        self.k += k
        self.yy += y * y
        self.yk += y * k
        self.kk += k * k

    @property
    def mean(self) -> float:
        """Mean per hand; 0 if there are none."""
        return self.y / self.k if self.k else 0.0

    @property
    def se(self) -> float:
        """Standard error of the mean."""
        spread = squared_residuals(self.mean, self.yy, self.yk, self.kk)
        return math.sqrt(spread * self.n / (self.n - 1)) / self.k if self.n > 1 and self.k else 0.0

    @property
    def ci95(self) -> tuple[float, float] | None:
        """Student's 95% interval of the mean; None for fewer than MIN_BATCHES batches."""
        if self.n < MIN_BATCHES:
            return None
        half = t_half(self.n - 1) * self.se
        return self.mean - half, self.mean + half
