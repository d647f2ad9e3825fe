"""The figures of a counted game: profit, spread and risk, each with half its 95% interval, in numbers and in words."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bjsim.strategies.counting.count_returns import Z95, RampReturns
from bjsim.strategies.counting.risk import (
    certainty_equivalent,
    check_positive,
    desirability_index,
    n0,
    ruin_probability,
    score,
    trip_ruin_probability,
)

Metric = Callable[[float, float], float]


@dataclass(frozen=True)
class Terms:
    """What the figures of a ramp also depend on.

    Attributes:
        bankroll: The bank, in units.
        rounds_per_hour: Rounds seen in an hour.
        kelly: Kelly fraction of the certainty equivalent.
        trip_hours: Length of a trip.

    Raises:
        InputError: A number is not above 0.
    """

    bankroll: float = 1000.0
    rounds_per_hour: float = 100.0
    kelly: float = 1.0
    trip_hours: float = 4.0

    def __post_init__(self) -> None:
        check_positive(**vars(self))

    @property
    def trip(self) -> float:
        """Rounds of a trip."""
        return self.rounds_per_hour * self.trip_hours


@dataclass(frozen=True)
class Figure:
    """A figure of a counted game.

    Attributes:
        key: Its name in JSON.
        name: Its name in words, with the unit.
        value: The figure; infinite for the N0 of a losing game.
        half: Half its 95% interval; None if it has none.
        text: Both as text.
        gradient: Its derivatives by the EV and the variance of the ramp, shape (2,); None if it has no interval.
        form: How the text is made: a factor, digits after the point, and a unit.
    """

    key: str
    name: str
    value: float
    half: float | None
    text: str
    gradient: NDArray[np.float64] | None = None
    form: tuple[float, int, str] = (1, 0, "")

    def minus(self, first: Figure, error: float) -> Figure:
        """Return this figure minus the same figure of another game, given the standard error of the difference."""
        value, half = self.value - first.value, Z95 * error
        scale, digits, unit = self.form
        text = ("+" if value > 0 else "") + _text(value * scale, half * scale, digits, unit)
        return Figure(self.key, self.name, value, half, text, form=self.form)


def find_figures(ramp: RampReturns, terms: Terms, wagered: float | None = None) -> list[Figure]:
    """Compute the figures of a ramp.

    Args:
        ramp: The returns of the ramp.
        terms: Bankroll, rounds per hour, Kelly fraction and the length of a trip.
        wagered: Mean of all money bet in a round, doubles and splits included, in units; None if unknown.

    Returns:
        The figures, in the order in which they are printed.
    """
    hour, bank, root = terms.rounds_per_hour, terms.bankroll, math.sqrt(terms.rounds_per_hour)

    def figure(key: str, name: str, metric: Metric, digits: int, scale: float = 1, unit: str = "") -> Figure:
        value = metric(ramp.ev, ramp.sd)
        half = gradient = None
        if ramp.error is not None and math.isfinite(value):
            half, gradient = ramp.half_width(metric), ramp.gradient(metric)
        text = _text(value * scale, half and half * scale, digits, unit)
        return Figure(key, name, value, half, text, gradient, (scale, digits, unit))

    figures = [
        figure("ev_per_round", "EV per round, units", lambda ev, sd: ev, 6),
        figure("sd_per_round", "standard deviation per round, units", lambda ev, sd: sd, 4),
        figure("ev_per_hour", "EV per hour, units", lambda ev, sd: ev * hour, 4),
        figure("sd_per_hour", "standard deviation per hour, units", lambda ev, sd: sd * root, 2),
        Figure("bet", "mean initial bet per round, units", ramp.bet, None, f"{ramp.bet:.4f}"),
        Figure("played", "rounds with a bet", ramp.played, None, f"{100 * ramp.played:.2f}%"),
        figure("iba", "EV per initial bet (IBA)", lambda ev, sd: ev / ramp.bet, 4, 100, "%"),
        figure("di", "DI", desirability_index, 3),
        figure("score", "SCORE", score, 3),
        figure("n0", "N0, rounds", n0, 0),
        figure("ror", "risk of ruin", lambda ev, sd: ruin_probability(ev, sd, bank), 4, 100, "%"),
        figure(
            "trip_ror", f"risk of ruin in {terms.trip_hours:g} hours",
            lambda ev, sd: trip_ruin_probability(ev, sd, bank, terms.trip), 4, 100, "%",
        ),
        figure(
            "ce_per_hour", "certainty equivalent per hour, units",
            lambda ev, sd: hour * certainty_equivalent(ev, sd, bank, terms.kelly), 4,
        ),
    ]  # fmt: skip
    if wagered is not None:
        figures.insert(7, figure("tba", "EV per total bet (TBA)", lambda ev, sd: ev / wagered, 4, 100, "%"))
    return figures


def _text(value: float, half: float | None, digits: int, unit: str) -> str:
    if not math.isfinite(value):
        return "–"
    text = f"{value:,.{digits}f}{unit}"
    return text if half is None else f"{text} ± {half:,.{digits}f}{unit}"
