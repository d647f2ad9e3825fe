"""Confidence intervals of a mean: the usual one, and one that stays right when it is watched.

The usual 95% interval is right at one moment fixed beforehand. Whoever watches it and stops at will is wrong more
often. The anytime-valid interval holds at all moments together with 95%: the asymptotic confidence sequence of
Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas, "Time-uniform central limit theory and asymptotic confidence
sequences" (2021), theorem 2.2; it is `tuned` to be narrowest at a number of rounds named beforehand.
"""

from __future__ import annotations

import math

ALPHA = 0.05
LEAST = 100  # values, below which both intervals say nothing: watched from 2 on, the anytime one misses in half of runs
Z95 = 1.959963984540054  # 97.5% quantile of the normal law


def fixed_sample(mean: float, sd: float, n: int) -> tuple[float, float]:
    """95% interval of a mean of n independent values with this standard deviation; without bounds below LEAST."""
    half = Z95 * sd / math.sqrt(n) if n >= LEAST else math.inf
    return mean - half, mean + half


def anytime_factor(n: int, optimal_n: int, alpha: float = ALPHA) -> float:
    """Half-width of the anytime-valid interval at n values, in standard deviations; narrowest about n = `tuned`."""
    rho2 = (-2 * math.log(alpha) + math.log(-2 * math.log(alpha) + 1)) / optimal_n
    grown = n * rho2 + 1
    return math.sqrt(2 * grown / (n * n * rho2) * math.log(math.sqrt(grown) / alpha))


def anytime(mean: float, sd: float, n: int, optimal_n: int) -> tuple[float, float]:
    """95% interval of a mean that holds at every n together; `tuned` must be fixed before the first value is seen.

    It is asymptotic: it has no bounds below LEAST values, where a standard deviation means little.
    """
    half = sd * anytime_factor(n, optimal_n) if n >= LEAST else math.inf
    return mean - half, mean + half
