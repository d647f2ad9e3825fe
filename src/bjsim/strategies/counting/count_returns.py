"""The returns of a unit by count, the returns of a ramp that follow from them, and the best ramp.

With e = expected profit, s^2 = variance and c = covariance of two spots at a count, all of one unit, B = bank and
k = Kelly fraction, the best bet on each of m spots is k B e / (s^2 + (m - 1) c). Sources: Kelly (1956); Harris, optimal
bet ramps (bjmath.com).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bjsim.arrays import Floats
from bjsim.errors import InputError
from bjsim.sim.stats.intervals import Z95
from bjsim.strategies.counting.risk import check_positive, desirability_index

FINE = 400  # scales tried per pass by `best_ramp`


@dataclass(frozen=True)
class CountReturns:
    """The returns of one unit on one spot, by the K counts before the round; `var` is of the profit of a round.

    Attributes:
        shares: The share of rounds at each count; they add up to 1.
        cov: Covariance of the profits of two spots at each count; NaN where it is not known.
        error: Covariance matrix of the estimates: of `ev`, shape (K, K), or of `shares`, `ev` and `var` one
            after the other, shape (3K, 3K), or of these and `cov`, shape (4K, 4K).
    """

    counts: Floats
    shares: Floats
    ev: Floats
    var: Floats
    cov: Floats | None = None
    error: Floats | None = None

    def __post_init__(self) -> None:
        size = len(self.counts)
        for name in ("counts", "shares", "ev", "var", "cov"):
            if (given := getattr(self, name)) is not None:
                values = np.asarray(given, np.float64)
                known = np.isfinite(values) | (np.isnan(values) if name == "cov" else False)
                if values.shape != (size,) or not known.all():
                    raise InputError(f"{name}: give {size} finite numbers, one for each count")
                object.__setattr__(self, name, values)
        if abs(self.shares.sum() - 1) > 1e-6 or (self.shares < 0).any():
            raise InputError("shares: they must be at least 0 and add up to 1")
        if (self.var <= 0).any():
            raise InputError("var: variances must be above 0")
        if self.error is not None:
            object.__setattr__(self, "error", np.asarray(self.error, np.float64))
            if self.error.shape not in [(parts * size, parts * size) for parts in (1, 3, 4)]:
                raise InputError(
                    f"error: give a matrix of shape {size, size}, {3 * size, 3 * size} or {4 * size, 4 * size}"
                )

    def ev_half_widths(self) -> Floats:
        """Return half the 95% interval of `ev` at each count; NaN if the errors are unknown."""
        size = len(self.counts)
        if self.error is None:
            return np.full(size, math.nan)
        variances = np.diag(self.error)
        halves: Floats = Z95 * np.sqrt(variances if len(variances) == size else variances[size : 2 * size])
        return halves

    def spot_var(self, spots: ArrayLike) -> Floats:
        """Return the variance per spot and squared unit of a round on some spots: var + (spots - 1) cov.

        `spots` is for all counts or for each; several are refused where their covariance is not known.
        """
        many = np.broadcast_to(np.asarray(spots, np.float64), self.var.shape)
        cov = np.full(self.var.shape, math.nan) if self.cov is None else self.cov
        if np.isnan(cov[many > 1]).any():
            raise InputError("spots: for more than one, the covariance of two spots (cov) is needed")
        return self.var + (many - 1) * np.where(many > 1, cov, 0.0)


@dataclass(frozen=True)
class RampReturns:
    """The returns of a ramp per round seen, in units.

    `bet` is the mean of the initial bets, all spots together; `played` the share of the rounds that have a bet;
    `error` the covariance matrix of the estimates of `ev` and of the variance, (2, 2), None if unknown.
    """

    ev: float
    sd: float
    bet: float
    played: float
    error: Floats | None = None

    def half_width(self, metric: Callable[[float, float], float]) -> float:
        """Return half the width of the 95% interval of `metric(ev, sd)`, by the delta method from `error`."""
        if self.error is None:
            raise InputError("no interval: the covariance matrix of the estimates (error) is needed")
        gradient = self.gradient(metric)
        return Z95 * math.sqrt(max(float(gradient @ self.error @ gradient), 0.0))

    def gradient(self, metric: Callable[[float, float], float]) -> Floats:
        """Return the derivatives of a function of ev and sd by `ev` and by the variance, shape (2,)."""
        var, gradient = self.sd**2, []
        for ev_step, var_step in ((1e-6 * self.sd, 0.0), (0.0, 1e-6 * var)):
            high = metric(self.ev + ev_step, math.sqrt(var + var_step))
            low = metric(self.ev - ev_step, math.sqrt(var - var_step))
            gradient.append((high - low) / (2 * (ev_step + var_step)))
        return np.array(gradient)


def ramp_returns(table: CountReturns, units: ArrayLike, spots: ArrayLike = 1) -> RampReturns:
    """Compute the returns of a ramp per round seen; `units` are per spot at each count, 0 where none are bet."""
    bets, many, mean, squares = _by_count(table, units, spots)
    ev = float(table.shares @ mean)
    variance = float(table.shares @ squares) - ev**2
    bet, played = float(table.shares @ (many * bets)), float(table.shares @ (bets > 0))
    error = None
    if table.error is not None:
        gradients = ramp_gradients(table, units, spots)
        error = gradients @ table.error @ gradients.T
    return RampReturns(ev, math.sqrt(variance), bet, played, error)


def _by_count(table: CountReturns, units: ArrayLike, spots: ArrayLike) -> tuple[Floats, Floats, Floats, Floats]:
    """Return bets, spots, and the mean and mean square of the profit of a round, at each count. Raises: InputError."""
    bets = np.broadcast_to(np.asarray(units, np.float64), table.shares.shape)
    many = np.broadcast_to(np.asarray(spots, np.float64), table.shares.shape)
    if not bets.any() or (bets < 0).any() or (many < 1).any():
        raise InputError("units: bets must be at least 0, with at least one above 0, on at least one spot")
    mean = many * bets * table.ev
    return bets, many, mean, many * bets**2 * table.spot_var(many) + mean**2


def ramp_gradients(table: CountReturns, units: ArrayLike, spots: ArrayLike = 1) -> Floats:
    """Compute the derivatives of the ev and of the variance of a ramp by the estimates of a table.

    There are two rows, with a column for each row of `table.error`; cov is taken as exact if that lacks it.
    """
    assert table.error is not None
    bets, many, mean, squares = _by_count(table, units, spots)
    ev = float(table.shares @ mean)
    of_ev, of_var = table.shares * many * bets, table.shares * many * bets**2
    ev_gradient = np.concatenate([mean, of_ev, np.zeros(2 * len(bets))])
    var_gradient = np.concatenate([squares - 2 * ev * mean, 2 * of_ev * (mean - ev), of_var, (many - 1) * of_var])
    gradients = np.array([ev_gradient, var_gradient])
    if len(table.error) == len(bets):
        gradients = gradients[:, len(bets) : 2 * len(bets)]
    return gradients[:, : len(table.error)]


def kelly_ramp(
    table: CountReturns,
    bank: float,
    kelly: float = 1.0,
    least: float = 0.0,
    most: float = math.inf,
    chip: float = 0.0,
    spots: ArrayLike = 1,
) -> Floats:
    """Compute the bets of a bank: k B e / (var + (spots - 1) cov) at each count, within limits.

    The bets are per spot, in the currency of `bank`. `least` is bet at unfavourable counts too, 0 if these are
    not played. Bets are rounded to the nearest multiple of `chip` inside the limits; 0: not rounded.
    """
    check_positive(bank=bank, kelly=kelly)
    return _limited(kelly * bank * table.ev / table.spot_var(spots), least, most, chip)


def best_ramp(table: CountReturns, least: float, most: float, chip: float = 0.0, spots: ArrayLike = 1) -> Floats:
    """Compute the ramp of highest SCORE between two bets, proportional to e / (var + (spots - 1) cov).

    The bets are per spot, by count. `least` is 0 if unfavourable counts are not played; bets are rounded to
    multiples of `chip`, or not if it is 0. Some count must be favourable.
    """
    check_positive(most=most)
    merit = table.ev / table.spot_var(spots)
    if merit.max() <= 0 or math.isinf(most):
        raise InputError("best_ramp: give a largest bet, and a table with a favourable count")
    low, high = math.log(most / merit.max() / 100), math.log(most / merit[merit > 0].min() * 2)
    found = _limited(merit * math.exp(high), least, most, chip)
    for _ in range(3):
        scales = np.linspace(low, high, FINE)
        ramps = [_limited(merit * math.exp(scale), least, most, chip) for scale in scales]
        scores = [_score(table, ramp, spots) for ramp in ramps]
        at = int(np.argmax(scores))
        if scores[at] >= _score(table, found, spots):
            found = ramps[at]
        low, high = scales[max(at - 1, 0)], scales[min(at + 1, FINE - 1)]
    return found


def _score(table: CountReturns, bets: Floats, spots: ArrayLike) -> float:
    if not bets.any():
        return -math.inf
    returns = ramp_returns(table, bets, spots)
    return desirability_index(returns.ev, returns.sd)


def _limited(bets: Floats, least: float, most: float, chip: float) -> Floats:
    if not (0 <= least <= most and 0 <= chip < math.inf and most > 0):
        raise InputError(f"limits: least {least}, most {most} and chip {chip} are not accepted; use 0 <= least <= most")
    limited = np.clip(bets, least, most)
    if chip:
        low, high = math.ceil(least / chip - 1e-9), most / chip
        high = math.floor(high + 1e-9) if math.isfinite(high) else high
        if low > high:
            raise InputError(f"chip: no multiple of {chip} is between {least} and {most}")
        limited = np.clip(np.floor(limited / chip + 0.5), low, high) * chip
    return limited
