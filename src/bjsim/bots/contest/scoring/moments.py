"""Running means with confidence intervals: of chips per match and of chips per hand."""

from __future__ import annotations

import math
from dataclasses import dataclass

from bjsim.bots.contest.scoring.student_t import t_half
from bjsim.sim.stats.estimate import RatioSums

MIN_BATCHES = 8  # batches needed for an interval: the totals of fewer matches need not be normal


@dataclass
class RunningMoments:
    """Count, sum and sum of squared deviations of a series (Welford 1962)."""

    n: int = 0
    total: float = 0.0
    spread: float = 0.0

    def add(self, value: float) -> None:
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
    def student95(self) -> tuple[float, float] | None:
        """Student's 95% interval of the mean; None for fewer than MIN_BATCHES values."""
        if self.n < MIN_BATCHES:
            return None
        half = t_half(self.n - 1) * self.sd / math.sqrt(self.n)
        return self.mean - half, self.mean + half


class Ratio(RatioSums):
    """Chips per hand from totals per batch: y of b hands."""

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
