"""Confidence intervals of a mean: for a fixed sample size, and for continuous monitoring.

The fixed-sample 95% interval is valid at one sample size chosen in advance; with optional stopping its coverage is
lower. The anytime-valid interval covers the mean at all sample sizes simultaneously with probability 95%. It is the
asymptotic confidence sequence of Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas, "Time-uniform central limit theory
and asymptotic confidence sequences" (2021), theorem 2.2, and is narrowest at `optimal_n`, which is chosen in advance.
"""

from __future__ import annotations

import math

ALPHA = 0.05
MIN_VALUES = (
    100  # values below which both intervals are unbounded: monitored from 2 on, the anytime one misses half the time
)
Z95 = 1.959963984540054  # 97.5% quantile of the normal distribution


def fixed_sample(mean: float, sd: float, n: int) -> tuple[float, float]:
    """The 95% interval of a mean of n independent values of standard deviation sd; unbounded for n below MIN_VALUES."""
    half_width = Z95 * sd / math.sqrt(n) if n >= MIN_VALUES else math.inf
    return mean - half_width, mean + half_width


def anytime_factor(n: int, optimal_n: int, alpha: float = ALPHA) -> float:
    """Half-width of the anytime-valid interval at n values, in standard deviations; narrowest near n = optimal_n."""
    rho2 = (-2 * math.log(alpha) + math.log(-2 * math.log(alpha) + 1)) / optimal_n
    grown = n * rho2 + 1
    return math.sqrt(2 * grown / (n * n * rho2) * math.log(math.sqrt(grown) / alpha))


def anytime(mean: float, sd: float, n: int, optimal_n: int) -> tuple[float, float]:
    """The 95% interval of a mean that is valid at all n simultaneously; narrowest at `optimal_n` values.

    It is asymptotic, and therefore unbounded below MIN_VALUES values, where the estimated standard deviation
    means little. Fix `optimal_n` before the first value is seen.
    """
    half_width = sd * anytime_factor(n, optimal_n) if n >= MIN_VALUES else math.inf
    return mean - half_width, mean + half_width
