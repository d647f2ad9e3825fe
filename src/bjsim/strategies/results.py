"""The results of an experiment: what each bot returned, and the differences between bots."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from math import sqrt
from typing import Any, NamedTuple

from bjsim.json_values import json_object
from bjsim.report.data import Described
from bjsim.report.parts import Axis, Curves, DataColumn, DataTable, Line, Panel, Report, interval, percent, short_count
from bjsim.report.scales import padded
from bjsim.sim.running.experiment import Point
from bjsim.sim.stats.estimate import MIN_VALUES
from bjsim.sim.stats.tally import Tally

CERTAIN = 1e-9  # initial bets: smaller differences are rounding errors
AGREES = 4.0  # standard errors: a correct result deviates further in 6 of 100,000 runs


class ExactReturn(NamedTuple):
    """The exact return of a player, in a freshly shuffled shoe of the game, in initial bets.

    `value` is the expected profit per settled bet, `sd` the standard deviation per round; None if not known.
    `reason` is why the value is not known, as a message; else empty.
    """

    value: float | None
    sd: float | None
    reason: str = ""


class CutCardEffect(NamedTuple):
    """The cut-card effect: the change of the return of a fresh shoe, in initial bets per settled bet.

    `mean` is the luck-adjusted mean less the exact value, and `ci95` its fixed-sample 95% interval.
    """

    mean: float
    ci95: tuple[float, float]


class AdjustedReturn(NamedTuple):
    """The luck-adjusted return of a bot, in initial bets per settled bet.

    `ci95` is the fixed-sample 95% interval, `anytime95` the anytime-valid one. `gain` is how many times as many
    hands would make the raw mean as precise; `inf` if the adjusted one is exact.
    """

    mean: float
    se: float
    ci95: tuple[float, float]
    anytime95: tuple[float, float]
    gain: float
    shoes: int

    def __str__(self) -> str:
        """The mean ± half its 95% interval, with as many digits as the interval supports."""
        half = (self.ci95[1] - self.ci95[0]) / 2
        if math.isinf(half):
            return f"{percent(self.mean)}, too few shoes"
        digits = min(max(4, 1 - math.floor(math.log10(max(half, 1e-12) * 100))), 9)
        return f"{percent(self.mean, digits)} ± {100 * half:.{digits}f}%"


@dataclass(frozen=True)
class BotResult(Described):
    """The result of one bot, with the exact value of its chart; in initial bets.

    Attributes:
        name: The name of the bot.
        tally: Counts of its payoffs.
        convergence: Mean and intervals after increasing numbers of rounds.
        optimal_n: The number of rounds where the anytime-valid interval is narrowest.
        exact: Exact value in a freshly shuffled shoe of the game; None if it is not known.
        exact_sd: Exact standard deviation per round in such a shoe; None if it is not known, and in finite shoes if
            nothing is judged by it.
        no_exact: Why the exact value is not known, as a message; else empty.
        fresh: Whether every round was dealt from a freshly shuffled shoe, or from an infinite one, so that `exact` is
            the expected return.
    """

    name: str
    tally: Tally
    convergence: Sequence[Point]
    optimal_n: int
    exact: float | None
    exact_sd: float | None
    no_exact: str = ""
    fresh: bool = True

    def __repr__(self) -> str:
        exact = "" if self.exact is None else f", exact {self.exact:+.6f}"
        return f"BotResult({self.name!r}, {self.tally.rounds:,} hands, mean {self.point.mean:+.6f}{exact})"

    @property
    def point(self) -> Point:
        """Mean and intervals at the end."""
        return Point.of(self.tally, self.optimal_n)

    @property
    def z(self) -> float | None:
        """Standard errors from the exact value to the mean; None if they differ by a cut card, or if one is unknown."""
        if self.exact is None or not self.fresh or not self.exact_sd or not math.isfinite(self.exact_sd):
            return None
        return (self.tally.mean - self.exact) / (self.exact_sd / sqrt(self.tally.rounds))

    @property
    def adjusted(self) -> AdjustedReturn | None:
        """The luck-adjusted return of the same rounds; None if it was not computed."""
        luck = self.tally.luck
        if not luck.settled:
            return None
        interval, gain = luck.anytime_interval(self.optimal_n), luck.variance_reduction(self.tally.se)
        return AdjustedReturn(luck.mean, luck.se, luck.ci95, interval, gain, luck.shoes)

    @property
    def cut_card_effect(self) -> CutCardEffect | None:
        """The effect of dealing several rounds from one shoe; None with fresh shoes, or if not measured."""
        luck = self.adjusted
        if luck is None or self.exact is None or self.fresh:
            return None
        low, high = luck.ci95
        return CutCardEffect(luck.mean - self.exact, (low - self.exact, high - self.exact))

    @property
    def certified(self) -> bool:
        """Whether the luck-adjusted return of every round equals the exact value."""
        luck = self.tally.luck
        if not luck.settled or self.exact is None or abs(luck.value - self.exact) > CERTAIN:
            return False
        return luck.sums.yy <= luck.shoes * CERTAIN**2  # squares: one deviating round in 1e10 shows

    @property
    def disagrees(self) -> bool:
        """Whether the return is implausibly far from the exact value, or from the luck-adjusted one with a cut card."""
        if self.exact is not None and (math.isinf(self.exact) or (self.fresh and self.certified)):
            return False
        if self.is_short:
            return False
        luck = self.adjusted
        if self.exact is None or not self.fresh:
            return luck is not None and not abs(self.tally.mean - luck.mean) <= AGREES * self.tally.se
        if luck:
            return not abs(luck.mean - self.exact) <= AGREES * luck.se
        known = self._known_sd
        se = self.tally.se if known is None else known / sqrt(self.tally.rounds)
        return not abs(self.tally.mean - self.exact) <= AGREES * se

    @property
    def _known_sd(self) -> float | None:
        return self.exact_sd if self.exact_sd is not None and math.isfinite(self.exact_sd) else None

    @property
    def is_short(self) -> bool:
        """Whether too little was played to estimate the standard error that the return is judged by."""
        compared = self.exact is not None and self.fresh
        if compared and self.adjusted:
            return self.adjusted.shoes < MIN_VALUES
        return self.tally.rounds < MIN_VALUES and not (compared and self._known_sd is not None)

    @property
    def verdict(self) -> str:
        """The comparison with the exact value as a message; with the luck-adjusted return if a cut card was used."""
        if self.exact is not None and math.isinf(self.exact):
            return f"the exact value is {self.exact}"
        if self.exact is None and not self.adjusted:
            return f"no exact value: {self.no_exact}"
        compared = self.exact is not None and self.fresh
        if not compared and not self.adjusted:
            return "not compared: several rounds share a shoe"
        if self.disagrees:
            return "disagrees"
        if compared and self.certified:
            return "every round agrees with the exact value"
        if self.is_short:
            return "too few hands to judge"
        return "agrees with the exact value" if compared else "consistent with the luck-adjusted return"

    def describe(self) -> Report:
        """The figures of the bot and the convergence of its return."""
        return Report(self.name, [], [DataTable("bots", COLUMNS, [self]), *convergence_parts([self])])

    def to_json(self) -> dict[str, Any]:
        """The result as `bjsim run --json` writes it.

        Returns:
            JSON values; returns are in initial bets, and an interval without bounds is `-inf`, `inf`.
        """
        return json_object({column.key: column.value(self) for column in COLUMNS if column.key})


COLUMNS = (
    DataColumn("name", "bot", lambda one: one.name, is_text=True),
    DataColumn("hands", "hands", lambda one: one.tally.rounds, "{:,}".format),
    DataColumn("mean", "return", lambda one: one.point.mean, percent),
    DataColumn("sd", "sd", lambda one: one.tally.sd, "{:.4f}".format),
    DataColumn("se", "± se", lambda one: one.tally.se, partial(percent, sign="")),
    DataColumn("ci95", "95% interval", lambda one: one.point.ci95, interval),
    DataColumn("anytime95", "anytime 95%", lambda one: one.point.anytime95, interval),
    DataColumn("luck_adjusted", "luck-adjusted", lambda one: one.adjusted),
    DataColumn("exact", "exact", lambda one: one.exact, percent),
    DataColumn("exact_sd", "", lambda one: one.exact_sd),
    DataColumn("cut_card_effect", "", lambda one: one.cut_card_effect),
    DataColumn("z", "z", lambda one: one.z, "{:+.2f}".format),
    DataColumn(
        "verdict", "verdict", lambda one: one.verdict, is_text=True, style=lambda one: one.disagrees * "red bold"
    ),
    DataColumn("payoffs", "", lambda one: one.tally.payoffs),
    DataColumn("ties_replayed", "", lambda one: one.tally.ties_replayed),
    DataColumn("convergence", "", lambda one: [point.to_json() for point in one.convergence]),
)


def shown_columns(results: Sequence[BotResult]) -> list[DataColumn]:
    """The columns, without headings where these results have nothing to show; z needs a fresh shoe in every round."""
    fresh = all(result.fresh for result in results)
    headings = {} if fresh else {"z": "", "exact": "exact, fresh shoe"}
    if not any(result.adjusted for result in results):
        headings["luck-adjusted"] = ""
    return [column._replace(heading=headings.get(column.heading, column.heading)) for column in COLUMNS]


# --- The convergence of returns, on scales that all bots share.

LEAST = 1e-8  # initial bets: a smaller interval is that of rounding errors
POINTS = (
    DataColumn("", "hands", lambda point: point.hands, "{:,}".format),
    DataColumn("", "return", lambda point: point.mean, percent),
    DataColumn("", "95% interval", lambda point: point.ci95, interval),
    DataColumn("", "anytime 95%", lambda point: point.anytime95, interval),
)
ADJUSTED_POINTS = (
    *POINTS,
    DataColumn(
        "", "luck-adjusted", lambda one: one.luck_adjusted and one.luck_adjusted.mean, partial(percent, digits=6)
    ),
    DataColumn(
        "", "its 95% interval", lambda one: one.luck_adjusted and one.luck_adjusted.ci95, partial(interval, digits=6)
    ),
)


def convergence_parts(results: Sequence[BotResult]) -> list[Curves]:
    """The convergence of returns with its numbers, if there is any."""
    shown = [result for result in results if result.convergence]
    if not shown:
        return []
    limits = _shared_limits(shown)
    small = _magnified(shown, limits)
    panels = [_panel(result, limits)._replace(below=below) for result, below in zip(shown, small, strict=True)]
    tables = [DataTable("", ADJUSTED_POINTS if one.adjusted else POINTS, one.convergence) for one in shown]
    y = Axis("return, % of the bet", lambda value: f"{100 * value:.6g}%")
    return [Curves(panels, Axis("hands", short_count, is_log=True), y, tables, _printed(shown))]


def _printed(results: Sequence[BotResult], lines: int = 8) -> DataTable:
    """Each mean and its anytime-valid interval at about `lines` points including the last."""
    points = [{point.hands: point for point in result.convergence} for result in results]
    hands = sorted(set().union(*points))
    rows = sorted(hands[-1 :: -max(1, len(hands) // lines)])
    columns = [DataColumn("", "hands", lambda count: count, "{:,}".format)]
    columns += [DataColumn("", result.name, at.get, _point) for result, at in zip(results, points, strict=True)]
    return DataTable("", columns, rows, "convergence (mean, anytime 95% interval)", turns=False)


def _point(point: Point) -> str:
    low, high = point.anytime95
    half = "too few hands" if math.isinf(high) else f"± {percent((high - low) / 2, 3, '')}"
    return f"{percent(point.mean, 3)}{',' * math.isinf(high)} {half}"


def _exact(result: BotResult) -> dict[str, float]:
    """The exact value by its name, if it can be drawn."""
    name = "exact value" if result.fresh else "exact value of a fresh shoe"
    return {} if result.exact is None or math.isinf(result.exact) else {name: result.exact}


def _panel(result: BotResult, limits: tuple[float, float]) -> Panel:
    lines = [_line("return", result.convergence, "raw")]
    if adjusted := [point.luck_adjusted for point in result.convergence if point.luck_adjusted]:
        lines.append(_line("luck-adjusted return", adjusted, "adjusted"))
    returned = f"{result.adjusted} luck-adjusted" if result.adjusted else percent(result.tally.mean)
    return Panel(f"{result.name}: {returned}", lines, _exact(result), limits)


def _line(name: str, points: Sequence[Point], colour: str) -> Line:
    bands = {"anytime 95%": [point.anytime95 for point in points], "95%": [point.ci95 for point in points]}
    return Line(name, [point.hands for point in points], [point.mean for point in points], bands, colour)


def _shared_limits(results: Sequence[BotResult]) -> tuple[float, float]:
    """Limits for all returns; the first intervals, which are much wider than the rest, are cut off."""
    bounds: list[float] = []
    for result in results:
        later = result.convergence[len(result.convergence) // 4 :]
        centre = next(iter(_exact(result).values()), result.convergence[-1].mean)
        ends = [end for point in later for end in (*point.anytime95, point.mean)]
        reach = max(abs(end - centre) for end in ends if math.isfinite(end))
        bounds += [centre - reach, centre + reach]
    return padded(bounds, 0.04)


def _magnified(results: Sequence[BotResult], limits: tuple[float, float]) -> list[Panel | None]:
    """Luck-adjusted returns alone with fixed-sample intervals, on scales of the same length; if all have them."""
    adjusted = [[point.luck_adjusted for point in one.convergence if point.luck_adjusted] for one in results]
    bounds = []
    for result, points in zip(results, adjusted, strict=True):
        ends = [end for point in points[len(points) // 4 :] for end in point.ci95 if math.isfinite(end)]
        if not ends:
            return [None] * len(results)
        ends += _exact(result).values()
        bounds.append((min(ends), max(ends)))
    reach = 0.55 * max(high - low for low, high in bounds)
    if reach <= LEAST:
        return [None] * len(results)
    factor = (limits[1] - limits[0]) / (2 * reach)
    title = f"luck-adjusted, 95% interval, magnified {float(f'{factor:.1g}'):,.0f} times"
    panels: list[Panel | None] = []
    for result, points, (low, high) in zip(results, adjusted, bounds, strict=True):
        line, middle = _line("luck-adjusted return", points, "adjusted"), (low + high) / 2
        line = line._replace(bands={"95%": line.bands["95%"]})
        panels.append(Panel(title, [line], _exact(result), (middle - reach, middle + reach)))
    return panels
