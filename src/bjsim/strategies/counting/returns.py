"""The returns of a unit by count, the returns of a ramp that follow from them, and the best ramp.

With e = expected profit, s^2 = variance and c = covariance of two spots at a count, all of one unit, B = bank and
k = Kelly fraction, the best bet on each of m spots is k B e / (s^2 + (m - 1) c). Sources: Kelly (1956); Harris, optimal
bet ramps (bjmath.com).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bjsim.arguments import argument
from bjsim.arrays import Floats
from bjsim.errors import InputError
from bjsim.sim.game.rules import Rules
from bjsim.sim.stats.estimate import Z95
from bjsim.strategies.charts.chart import Chart
from bjsim.strategies.counting.ramp import (
    Bet,
    Ramp,
    ahead_probability,
    bank_for_ruin,
    certainty_equivalent,
    desirability_index,
    n0,
    ruin_probability,
    score,
    trip_ruin_probability,
)
from bjsim.strategies.counting.system import CountingSystem
from bjsim.strategies.counting.typical import decks_to_count, tag_moments, typical_shoe
from bjsim.strategies.shoe.solver import ShoeSolver

FINE = 400  # scales tried per pass by `best_ramp`
TIE = 1e-12  # of a SCORE; a smaller difference is rounding


@dataclass(frozen=True)
class CountReturns:
    """The returns of one unit on one spot, by the K counts before the round; `var` is of the profit of a round."""

    counts: Floats
    shares: Floats  # the share of rounds at each count; they add up to 1
    ev: Floats
    var: Floats
    cov: Floats | None = None  # covariance of the profits of two spots at each count; NaN where it is not known
    # covariance matrix of the estimates: of `shares`, `ev` and `var` one after the other, shape (3K, 3K), or of these
    # and `cov`, shape (4K, 4K)
    error: Floats | None = None

    def ev_half_widths(self) -> Floats:
        """Return half the 95% interval of `ev` at each count; the errors must be known."""
        assert self.error is not None
        size = len(self.counts)
        return np.asarray(Z95 * np.sqrt(np.diag(self.error)[size : 2 * size]))

    def spot_var(self, spots: ArrayLike) -> Floats:
        """Return the variance per spot and squared unit of a round on some spots: var + (spots - 1) cov.

        `spots` is for all counts or for each; NaN for several where their covariance is not known.
        """
        many = np.broadcast_to(np.asarray(spots, np.float64), self.var.shape)
        cov: ArrayLike = math.nan if self.cov is None else self.cov
        return np.asarray(self.var + (many - 1) * np.where(many > 1, cov, 0.0))


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

    @property
    def may_break_even(self) -> bool:
        """Whether the 95% interval of `ev` contains 0, so that figures of winning games (`WINNERS`) have none."""
        if self.error is None:
            return False
        return abs(self.ev) <= max(self.half_width(lambda ev, sd: ev), 1e-6 * self.sd)  # the step of the gradient

    def half_width(self, metric: Callable[[float, float], float]) -> float:
        """Return half the width of the 95% interval of `metric(ev, sd)`, by the delta method from `error`."""
        assert self.error is not None
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
    """Compute the returns of a ramp per round seen; `units` are per spot at each count, 0 where none are bet.

    There must be a bet at one of the counts.
    """
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
    """Return bets, spots, and the mean and mean square of the profit of a round, at each count."""
    bets = np.broadcast_to(np.asarray(units, np.float64), table.shares.shape)
    many = np.broadcast_to(np.asarray(spots, np.float64), table.shares.shape)
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
    return np.array([ev_gradient, var_gradient])[:, : len(table.error)]


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
    return limited(kelly * bank * table.ev / table.spot_var(spots), least, most, chip)


def best_ramp(table: CountReturns, least: float, most: float, chip: float = 0.0, spots: ArrayLike = 1) -> Floats:
    """Compute the ramp of highest SCORE between two bets, proportional to e / (var + (spots - 1) cov).

    The bets are per spot, by count. `least` is 0 if unfavourable counts are not played; bets are rounded to
    multiples of `chip`, or not if it is 0. Of equally good ramps, such as those from 0 that are not rounded, it is the
    highest. Some count must be favourable.
    """
    merit = table.ev / table.spot_var(spots)
    if merit.max() <= 0:
        raise InputError(f"{argument('optimal')}: no count of this game is favourable, so no ramp wins")
    low, high = math.log(most / merit.max() / 100), math.log(most / merit[merit > 0].min() * 2)
    found = limited(merit * math.exp(high), least, most, chip)
    for _ in range(3):
        scales = np.linspace(low, high, FINE)
        ramps = [limited(merit * math.exp(scale), least, most, chip) for scale in scales]
        scores = np.array([_score(table, ramp, spots) for ramp in ramps])
        at = int(np.flatnonzero(scores >= scores.max() - TIE * abs(scores.max()))[-1])
        if scores[at] >= (known := _score(table, found, spots)) - TIE * abs(known):
            found = ramps[at]
        low, high = scales[max(at - 1, 0)], scales[min(at + 1, FINE - 1)]
    return found


def _score(table: CountReturns, bets: Floats, spots: ArrayLike) -> float:
    if not bets.any():
        return -math.inf
    returns = ramp_returns(table, bets, spots)
    return desirability_index(returns.ev, returns.sd)


def limited(bets: Floats, least: float, most: float, chip: float) -> Floats:
    """Return bets within limits, rounded to multiples of `chip`, or not if it is 0. Raises: InputError."""
    within = np.clip(bets, least, most)
    if chip:
        low, high = math.ceil(least / chip - 1e-9), most / chip
        high = math.floor(high + 1e-9) if math.isfinite(high) else high
        if low > high:
            raise InputError(f"{argument('chip')}: no multiple of {chip:g} is between {least:g} and {most:g}")
        within = np.clip(np.floor(within / chip + 0.5), low, high) * chip
    return within


# --- The figures of a counted game: profit, spread and risk, each with half its 95% interval, in numbers and in words.


Metric = Callable[[float, float], float]
WINNERS = ("score", "n0", "n0_hours", "ror", "unit", "bankroll")  # constant or infinite for a game that loses
PROBABILITIES = ("ror", "trip_ror", "trip_ahead")  # figures whose intervals end at 0 and 1


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
        for name, value in (vars(self) | {"trip": self.trip}).items():  # 0 as a product of tiny numbers
            if value is not None and not value > 0 and (name, value) != ("leave_minutes", 0):
                raise InputError(f"{name} = {value} is not accepted; use a number above 0")

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
                f"{argument('ror')} {100 * self.ror:g}%: these bets lose {-ramp.ev:.6f} units per round, and any "
                "bankroll with them"
            )
        return replace(self, bankroll=bank, unit=self.unit if self.money is None else self.money / bank)


@dataclass(frozen=True)
class Figure:
    """A figure of a counted game.

    Attributes:
        key: Its name in JSON.
        name: Its name in words, with the unit.
        value: The figure, in units even where its text is in money; infinite for the N0 of a losing game.
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

    def data(self) -> dict[str, Any]:
        """The figure as data.

        Returns:
            The value by key; the interval has the name and `_ci95`.
        """
        return {self.key: self.value} | ({f"{self.key}_ci95": list(self.ci95)} if self.ci95 else {})

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
        if ramp.error is not None and math.isfinite(value) and not (key in WINNERS and ramp.may_break_even):
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


def _text(value: float, half: float | None, digits: int, unit: str) -> str:
    if not math.isfinite(value):
        return "–"
    least = 0.5 * 10.0**-digits
    if unit == "%" and 0 < value < least and (half is None or half < least):
        return f"< {10.0**-digits:.{digits}f}{unit}"
    text = f"{value:,.{digits}f}{unit}"
    return text if half is None else f"{text} ± {half:,.{digits}f}{unit}"


# --- How often decisions are made at each count, under all conventions of a system.


DEPTHS = 24  # depths of the shoe over which counts are averaged: the middles of as many layers
WIDEST = 6  # standard deviations
MOST_DEALT = 0.95  # share of the shoe; of an empty one, nothing can be computed
NEARLY = 1e-9  # a quotient this close below a whole number is that number


@dataclass(frozen=True)
class CountSpread:
    """The distribution of the count, at M depths that are equally likely from the full shoe to the cut."""

    true: Floats  # true counts at the decision, not rounded, shape (M,)
    count: Floats  # the counts when the decision is made: rounded true counts, or running counts
    before: Floats  # the counts before the round, which decide the bets
    chance: Floats


def dealt_share(rules: Rules) -> float:
    """Return the share of the shoe over whose depths counts are averaged."""
    return min(float(rules.cut), MOST_DEALT)


def mean_unseen(cards: int, dealt: float) -> int:
    """Return the number of unseen cards at the mean depth of a shoe that is dealt to a share of its cards."""
    return round(cards * (1 - dealt / 2))


def count_spread(
    system: CountingSystem,
    decks: int,
    dealt: float,
    cards: float = 0,
    tags: float = 0,
    tag_variance: float = 0,
    drawn: int = 0,
) -> CountSpread:
    """Return the distribution of the count when a decision is made, normal at each depth.

    The system's timing says whether the cards of the round count: `cards` is the mean number of those seen at
    the decision, `tags` the mean sum of their tags, `tag_variance` its variance apart from the `drawn` cards.
    These may be any of the unseen ones. Where many of these are low, so are they, and the count varies as that of
    a shoe with this many cards less. `dealt` is the share of the shoe before the cut card.
    """
    deck, scale = system.deck_size, system.scale
    size = deck * decks
    pivot, imbalance = float(system.pivot(decks)), float(system.imbalance)
    mean, variance = tag_moments(system, system.in_deck)
    columns: list[Floats] = []
    layers = (np.arange(DEPTHS) + 0.5) / DEPTHS
    for unseen in np.unique((size * (1 - dealt * layers)).astype(int)).tolist():
        left, other = max(round(unseen - cards), 1), max(unseen - drawn, 1)
        sd = math.sqrt(other * variance * (size - other) / (size - 1) + tag_variance)
        centre = pivot - unseen * mean + tags
        low, high = math.floor((centre - WIDEST * sd) * scale), math.ceil((centre + WIDEST * sd) * scale)
        running = np.arange(low, high + 1) / scale
        chance = np.exp(-(((running - centre) / max(sd, 0.1)) ** 2) / 2)
        earlier = running - tags
        before = _counts(system, earlier, earlier - pivot, unseen)
        true, count = (earlier - pivot) * deck / unseen + imbalance, before
        if system.timing == "decision":
            true, count = (running - pivot) * deck / left + imbalance, _counts(system, running, running - pivot, left)
        columns.append(np.array([true, count, before, chance / chance.sum()]))
    true, count, before, chance = np.concatenate(columns, axis=1)
    return CountSpread(true, count, before, chance / chance.sum())


def _counts(system: CountingSystem, running: Floats, over_pivot: Floats, unseen: int) -> Floats:
    """Return the counts for decisions; those that are not rounded, in steps of 0.1."""
    if not system.uses_true_count:
        return running
    quotient = over_pivot * system.deck_size / system.divisor_cards(unseen) + float(system.imbalance)
    rounded = {
        "floor": np.floor(quotient + NEARLY),
        "truncate": np.trunc(quotient + np.copysign(NEARLY, quotient)),
        "round": np.copysign(np.floor(np.abs(quotient) + 0.5 + NEARLY), quotient),
        "exact": np.floor(10 * quotient + NEARLY) / 10,
    }
    return np.asarray(rounded[system.rounding] + 0.0)  # without negative zeros


# --- The returns of a chart by count, computed instead of played: how often counts occur, and what a unit earns there.
#
# The EV at a count is the exact value of the chart in the expected composition of the unseen cards, at the mean depth;
# the variance likewise. Counts are as likely as `count_spread` says: all depths to the cut equally, and normal at each.
# What is neglected is what index generation neglects (`indices`), and that fewer rounds begin at some depths.


COUNTS = np.arange(-14.0, 15.0, 3.5)  # the chart is evaluated at these true counts, for tags of variance 1
EDGE = 7.0  # of those for the variance, which is nearly linear and takes seconds


def chart_returns(rules: Rules, system: CountingSystem, chart: Chart) -> CountReturns:
    """Compute the returns of a chart by the count before the round, without index plays and insurance.

    They are of one unit on one spot. The shoe must be finite, and one that can be solved.
    """
    decks, dealt = decks_to_count(rules), dealt_share(rules)
    rules, system = rules.replace(insurance=False, seats=1), system.replace(deck=rules.deck)

    def at(count: float) -> ShoeSolver:
        return ShoeSolver(rules, typical_shoe(system, decks, mean_unseen(rules.shoe_size, dealt), count))

    scale = math.sqrt(tag_moments(system, system.in_deck)[1])
    evs = [at(count).value_of(chart) for count in (COUNTS * scale).tolist()]
    low, high = (at(count).sd_of(chart) ** 2 for count in (-EDGE * scale, EDGE * scale))
    spread = count_spread(system, decks, dealt)
    true = np.clip(spread.true / scale, COUNTS[0], COUNTS[-1])
    ev, var = np.interp(true, COUNTS, evs), (low + high) / 2 + (high - low) * true / (2 * EDGE)
    counts, where = np.unique(spread.before, return_inverse=True)
    shares = np.bincount(where, spread.chance).astype(np.float64)
    means, squares = (np.bincount(where, spread.chance * part) / shares for part in (ev, var + ev**2))
    return CountReturns(counts, shares, means, squares - means**2)


def highest_score(table: CountReturns, least: float, most: float) -> Ramp:
    """Return the ramp of highest SCORE between two bets, see `best_ramp`; some count must be favourable."""
    bets = best_ramp(table, least, most)
    changes = np.flatnonzero(np.diff(bets, prepend=-1.0))
    return Ramp(tuple((Fraction(table.counts[at]), Bet(Fraction(bets[at]))) for at in changes.tolist()))
