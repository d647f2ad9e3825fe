"""Student's t distribution without a statistics library, which would take a second to import; and tests of means.

Intervals and evidence for the mean of normal values whose standard deviation is not known, for few values too.
"""

import math
from functools import lru_cache
from statistics import NormalDist

from bjsim.sim.stats.estimate import ALPHA, spread


def t_tail(t: float, freedom: int) -> float:
    """P(|T| > t) with `freedom` degrees of freedom.

    Source: Abramowitz and Stegun 26.7.3 and 26.7.4, finite sums for integer degrees of freedom.
    """
    angle = math.atan2(t, math.sqrt(freedom))
    cos2 = math.cos(angle) ** 2
    odd = freedom % 2
    term = math.cos(angle) if odd else 1.0
    total = 0.0 if freedom == 1 else term
    for j in range(3 if odd else 2, freedom - 1, 2):
        term *= cos2 * (j - 1) / j
        total += term
    inside = math.sin(angle) * total
    return 1 - (2 / math.pi * (angle + inside) if odd else inside)


@lru_cache(maxsize=4096)
def t_half(freedom: int, alpha: float = ALPHA) -> float:
    """The quantile t with P(|T| > t) = alpha, for 7 or more degrees of freedom."""
    if freedom > 2000:
        z = -NormalDist().inv_cdf(alpha / 2)
        return z + (z**3 + z) / (4 * freedom)
    low, high = 0.0, 1e3
    for _ in range(60):
        middle = (low + high) / 2
        if t_tail(middle, freedom) > alpha:
            low = middle
        else:
            high = middle
    return high


def anytime_t_half(n: int, squares: float, optimal_n: int, alpha: float = ALPHA) -> float:
    """Half-width of a confidence interval of a normal mean for all n at once with probability 1 - alpha.

    The interval is the set of means m that the scale-invariant mixture test does not reject. With a normal prior
    of variance 1 / c^2 for (mean - m) / sd, k = c^2 / (n + c^2) and d^2 = n (mean - m)^2, the ratio k^(1/2)
    ((squares + d^2) / (squares + k d^2))^(n/2) is a martingale that starts at 1, and Ville's inequality applies.
    The standard deviation need not be known, so the interval is valid for small n too; it is infinite while n is
    too small. `squares` is the sum of squared deviations from the mean; `optimal_n`, the n where the interval is
    about narrowest, must be fixed beforehand.

    Source: Wang and Ramdas, "Anytime-valid t-tests and confidence sequences for Gaussian means with unknown
    variance" (2023).
    """
    k = _shrinkage(n, optimal_n, alpha)
    ratio = (alpha * math.sqrt(k)) ** (-2 / n)
    if ratio * k >= 1:
        return math.inf
    return math.sqrt(squares * (ratio - 1) / (1 - ratio * k) / n)


def e_value(n: int, mean: float, squares: float, optimal_n: int) -> float:
    """The evidence against a normal mean of 0: its expectation is at most 1 if the mean is 0, at every n.

    It is the martingale of `anytime_t_half` for m = 0; arguments are as there. Those of independent samples may be
    multiplied. One of 20 or more ever occurs with a probability of at most 5% if the mean is 0. It is infinite if
    all values are equal and not 0, and 1 if all are 0.
    """
    k, d2 = _shrinkage(n, optimal_n, ALPHA), n * mean**2
    if squares <= 0:
        return math.inf if d2 else 1.0
    exponent = (math.log(k) + n * (math.log1p(d2 / squares) - math.log1p(k * d2 / squares))) / 2
    return math.exp(min(exponent, 700.0))


def _shrinkage(n: int, optimal_n: int, alpha: float) -> float:
    """The factor k by which the prior of a mean shrinks the squared distance; see `anytime_t_half`."""
    c2 = optimal_n / spread(alpha)
    return c2 / (n + c2)
