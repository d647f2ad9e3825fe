"""Pearson's chi-square test, so that the tests do not need scipy."""

from __future__ import annotations

import math
from collections.abc import Sequence


def chi_square_p(observed: Sequence[int], probabilities: Sequence[float]) -> float:
    """The p-value of counts under these probabilities.

    Cells of probability 0 must be empty; they do not add a degree of freedom.
    """
    total = sum(observed)
    cells = [(count, float(p) * total) for count, p in zip(observed, probabilities, strict=True) if p]
    if sum(count for count, _ in cells) != total:
        return 0.0
    statistic = sum((count - expected) ** 2 / expected for count, expected in cells)
    return upper_gamma((len(cells) - 1) / 2, statistic / 2)


def upper_gamma(a: float, x: float) -> float:
    """The regularised incomplete gamma function Q(a, x). Source: Numerical Recipes, section 6.2."""
    if x <= 0:
        return 1.0
    scale = math.exp(a * math.log(x) - x - math.lgamma(a))
    if x < a + 1:
        term = total = 1 / a
        n = a
        while abs(term) > 1e-15 * total:
            n += 1
            term *= x / n
            total += term
        return 1 - scale * total
    fraction = 0.0  # the continued fraction, from far out inwards
    for n in range(2000, 0, -1):
        fraction = n * (n - a) / (x + 2 * n + 1 - a - fraction)
    return scale / (x + 1 - a - fraction)
