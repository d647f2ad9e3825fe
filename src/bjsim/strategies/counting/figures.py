"""The figures of a counted game: profit, spread and risk, each with half its 95% interval, in numbers and in words."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from bjsim.errors import InputError
from bjsim.sim.stats.intervals import Z95
from bjsim.strategies.counting.count_returns import RampReturns
from bjsim.strategies.counting.risk import (
    ahead_probability,
    bank_for_ruin,
    certainty_equivalent,
    check_positive,
    desirability_index,
    n0,
    ruin_probability,
    score,
    trip_ruin_probability,
)

Metric = Callable[[float, float], float]
PROBABILITIES = ("ror", "trip_ror")  # figures whose intervals end at 0 and 1


@dataclass(frozen=True)
class Terms:
    """What the figures of a ramp also depend on; every number but `leave_minutes` is above 0.

    `bankroll` is in units, `unit` is money per unit, None if it is not known. With `ror`, the bank is sought that
    has this risk of ruin; with `money`, then the bank in money, the unit is sought instead. `kelly` is the
    Kelly fraction of the certainty equivalent. A shoe that is left costs `leave_minutes`.
    """

    bankroll: float = 1000.0
    rounds_per_hour: float = 100.0
    kelly: float = 1.0
    trip_hours: float = 4.0
    unit: float | None = None
    ror: float | None = None
    money: float | None = None
    leave_minutes: float = 5.0

    def __post_init__(self) -> None:
        given = {name: value for name, value in vars(self).items() if value is not None}
        check_positive(**given | ({"leave_minutes": 1.0} if self.leave_minutes == 0 else {}))

    @property
    def trip(self) -> float:
        """Rounds of a trip."""
        return self.rounds_per_hour * self.trip_hours

    def leaving(self, left_per_round: float) -> Terms:
        """These terms with the rounds that remain of an hour, if so many shoes are left per round."""
        hours = 1 / self.rounds_per_hour + left_per_round * self.leave_minutes / 60
        return replace(self, rounds_per_hour=1 / hours) if left_per_round else self

    def reached(self, ramp: RampReturns) -> Terms:
        """Return these terms with the bank, or the unit, that gives a winning ramp the risk of ruin `ror`."""
        if self.ror is None:
            return self
        bank = bank_for_ruin(ramp.ev, ramp.sd, self.ror)
        if math.isinf(bank):
            raise InputError(
                f"ror = {100 * self.ror:g}%: these bets lose {-ramp.ev:.6f} units per round, and any bankroll with them"
            )
        return replace(self, bankroll=bank, unit=self.unit if self.money is None else self.money / bank)


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
        ends: The least and the greatest value possible, where intervals end.
    """

    key: str
    name: str
    value: float
    half: float | None
    text: str
    gradient: NDArray[np.float64] | None = None
    form: tuple[float, int, str] = (1, 0, "")
    ends: tuple[float, float] = (-math.inf, math.inf)

    def __repr__(self) -> str:
        return f"Figure({self.key!r}, {self.text})"

    @property
    def ci95(self) -> tuple[float, float] | None:
        """Its 95% interval; None if it has none."""
        low, high = self.ends
        return None if self.half is None else (max(self.value - self.half, low), min(self.value + self.half, high))

    def minus(self, first: Figure, error: float) -> Figure:
        """This figure minus the same figure of another game.

        Args:
            first: The figure of the other game.
            error: The standard error of the difference.

        Returns:
            The difference, with its interval.
        """
        value, half = self.value - first.value, Z95 * error
        scale, digits, unit = self.form
        text = ("+" if value > 0 else "") + _text(value * scale, half * scale, digits, unit)
        if self.form != first.form:  # of units that are not the same money
            text = "–"
        return Figure(self.key, self.name, value, half, text, form=self.form)


def find_figures(ramp: RampReturns, terms: Terms, wagered: float | None = None) -> list[Figure]:
    """Compute the figures of a ramp, in the order of printing.

    `wagered` is the mean of all money bet in a round, doubles and splits included, in units; None if unknown.
    """
    hour, bank, root = terms.rounds_per_hour, terms.bankroll, math.sqrt(terms.rounds_per_hour)
    per_unit, currency = terms.unit or 1.0, "units" if terms.unit is None else "$"

    def figure(key: str, name: str, metric: Metric, digits: int, scale: float = 1, unit: str = "") -> Figure:
        value = metric(ramp.ev, ramp.sd)
        half = gradient = None
        if ramp.error is not None and math.isfinite(value):
            half, gradient = ramp.half_width(metric), ramp.gradient(metric)
        text = _text(value * scale, half and half * scale, digits, unit)
        ends = (0.0, 1.0) if key in PROBABILITIES else (-math.inf, math.inf)
        return Figure(key, name, value, half, text, gradient, (scale, digits, unit), ends)

    digits = 4 if terms.unit is None else 2
    figures = [
        figure("ev_per_round", "EV per round, units", lambda ev, sd: ev, 6),
        figure("sd_per_round", "standard deviation per round, units", lambda ev, sd: sd, 4),
        figure("ev_per_hour", f"EV per hour, {currency}", lambda ev, sd: ev * hour, digits, per_unit),
        figure("sd_per_hour", f"standard deviation per hour, {currency}", lambda ev, sd: sd * root, 2, per_unit),
        Figure("bet", "mean initial bet per round, units", ramp.bet, None, f"{ramp.bet:.4f}"),
        Figure("played", "rounds with a bet", ramp.played, None, f"{100 * ramp.played:.2f}%"),
        figure("iba", "EV per initial bet (IBA)", lambda ev, sd: ev / ramp.bet, 4, 100, "%"),
        figure("di", "DI", desirability_index, 3),
        figure("score", "SCORE", score, 3),
        figure("n0", "N0, rounds", n0, 0),
        figure("n0_hours", "N0, hours (then 84% are ahead)", lambda ev, sd: n0(ev, sd) / hour, 1),
        figure(
            "trip_ahead", f"ahead after {terms.trip_hours:g} hours",
            lambda ev, sd: ahead_probability(ev, sd, terms.trip), 2, 100, "%",
        ),
        figure("ror", "risk of ruin", lambda ev, sd: ruin_probability(ev, sd, bank), 4, 100, "%"),
        figure(
            "trip_ror", f"risk of ruin in {terms.trip_hours:g} hours",
            lambda ev, sd: trip_ruin_probability(ev, sd, bank, terms.trip), 4, 100, "%",
        ),
        figure(
            "ce_per_hour", f"certainty equivalent per hour, {currency}",
            lambda ev, sd: hour * certainty_equivalent(ev, sd, bank, terms.kelly), digits, per_unit,
        ),
    ]  # fmt: skip
    if wagered is not None:
        figures.insert(7, figure("tba", "EV per total bet (TBA)", lambda ev, sd: ev / wagered, 4, 100, "%"))
    if goal := terms.ror:
        text = f"for a risk of ruin of {100 * goal:g}%, "
        if terms.money is not None:
            money = terms.money
            figures.append(figure("unit", f"unit {text}$", lambda ev, sd: money / bank_for_ruin(ev, sd, goal), 2))
        else:
            needed = partial(bank_for_ruin, ruin=goal)
            figures.append(figure("bankroll", f"bankroll {text}{currency}", needed, 0, per_unit))
    return figures


def figures_json(figures: Sequence[Figure]) -> dict[str, object]:
    """Figures by key; the interval of a figure has its name and `_ci95`."""
    found: dict[str, object] = {}
    for figure in figures:
        found[figure.key] = figure.value
        if figure.ci95 is not None:
            found[f"{figure.key}_ci95"] = list(figure.ci95)
    return found


def _text(value: float, half: float | None, digits: int, unit: str) -> str:
    if not math.isfinite(value):
        return "–"
    least = 0.5 * 10.0**-digits
    if unit == "%" and 0 < value < least and (half is None or half < least):
        return f"< {10.0**-digits:.{digits}f}{unit}"
    text = f"{value:,.{digits}f}{unit}"
    return text if half is None else f"{text} ± {half:,.{digits}f}{unit}"
