"""Student's t: the half-width of a 95% interval, without a statistics library (they take a second to import)."""

from __future__ import annotations

import math
from functools import lru_cache

from bjsim.sim.intervals import ALPHA


def t_tail(t: float, freedom: int) -> float:
    """P(|T| > t). Source: Abramowitz and Stegun 26.7.3 and 26.7.4, finite sums for whole degrees of freedom."""
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
    """The t that |T| exceeds with probability `alpha`, at this many degrees of freedom (1 or more)."""
    if freedom > 2000:
        z = 1.959963984540054 if alpha == ALPHA else t_half(2000, alpha)
        return z + (z**3 + z) / (4 * freedom)
    low, high = 0.0, 1e3
    for _ in range(60):
        middle = (low + high) / 2
        if t_tail(middle, freedom) > alpha:
            low = middle
        else:
            high = middle
    return high
