"""Ratios of sums over shoes, with control variates of known expectation.

Rounds of one shoe depend on each other, so the shoe is the unit of observation. It has a vector u of quantities; an
estimate is a ratio of two linear forms, sum of a.u over sum of k.u, and a control is a linear form c.u of known
expectation. The controls' coefficients are estimated by least squares in one half of the shoes and used in the other,
so that they cause no bias. All estimates use the same controls, hence they are linear: the estimate of a sum of
numerators is the sum of their estimates.
"""

from typing import NamedTuple

import numpy as np

from bjsim.arrays import Array

CONSTANT = 1e-9  # share of its squared mean up to which the variance of a control counts as 0
PER_CONTROL = 8  # shoes of a half for each control; with fewer, controls cost more than they gain


class ShoeSums(NamedTuple):
    """Sums over the shoes of each half of a sample, (2,), of D quantities, (2, D), and products, (2, D, D)."""

    shoes: Array
    sums: Array
    products: Array


class Ratios(NamedTuple):
    """Estimates: ratios (n,) with covariance (n, n).

    A shoe of each half adds forms @ u + constants to their errors; `forms` (2, n, D), `constants` (2, n).
    """

    values: Array
    covariance: Array
    forms: Array
    constants: Array


def controlled_ratios(sums: ShoeSums, tops: Array, bottom: Array, controls: Array, means: Array) -> Ratios:
    """Estimate ratios, with covariances by the delta method, from forms of sums over shoes.

    `tops` are the forms of the numerators, (n, D); `bottom` that of the denominator, (D,); `controls` (m, D)
    are left out if there are few shoes, and `means` (m,) are their exact expectations per shoe.
    """
    if sums.shoes.min() < PER_CONTROL * len(controls):
        controls, means = controls[:0], means[:0]
    below = float((sums.sums @ bottom).sum())
    above = tops @ sums.sums.sum(axis=0)
    residuals = tops - np.outer(above / below, bottom)
    betas = [_coefficients(sums, 1 - half, residuals, controls, means) for half in (0, 1)]  # each from the other half
    for half, beta in enumerate(betas):
        above = above - beta @ (controls @ sums.sums[half] - sums.shoes[half] * means)
    values = above / below
    covariance = np.zeros((len(tops), len(tops)))
    errors = [(tops - np.outer(values, bottom) - beta @ controls, beta @ means) for beta in betas]
    for half, (forms, constants) in enumerate(errors):
        cross = np.outer(forms @ sums.sums[half], constants)
        covariance += forms @ sums.products[half] @ forms.T + cross + cross.T
        covariance += sums.shoes[half] * np.outer(constants, constants)
    whole = np.array([forms for forms, _ in errors]), np.array([constants for _, constants in errors])
    return Ratios(values, covariance / below**2, whole[0] / below, whole[1] / below)


def _coefficients(sums: ShoeSums, half: int, forms: Array, controls: Array, means: Array) -> Array:
    """Least-squares coefficients of the controls for each of the forms, in one half of the shoes, (n, m)."""
    shoes, total, products = sums.shoes[half], sums.sums[half], sums.products[half]
    excess = controls @ total - shoes * means  # of the sums over their expectation
    square = controls @ products @ controls.T - np.outer(controls @ total, means) - np.outer(means, excess)
    cross = controls @ products @ forms.T - np.outer(means, forms @ total)
    cross -= np.outer(excess, forms @ total) / max(shoes, 1)
    varies = np.diagonal(square) > CONSTANT * shoes * means**2
    scale = np.sqrt(np.diagonal(square)[varies])
    coefficients = np.zeros(cross.shape)
    square, cross = square[np.ix_(varies, varies)] / np.outer(scale, scale), cross[varies] / scale[:, None]
    coefficients[varies] = np.linalg.lstsq(square, cross, rcond=CONSTANT)[0] / scale[:, None]
    return coefficients.T
