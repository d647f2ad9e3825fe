"""The results of an experiment: what each bot returned, and the differences between bots."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any, NamedTuple

from bjsim.json_values import json_object
from bjsim.sim.running.experiment import Point
from bjsim.sim.stats.tally import Tally
from bjsim.strategies.tabular import html_table, interval, percent

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
class BotResult:
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

    def _repr_html_(self) -> str:
        return results_html([self])

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
        luck = self.adjusted
        if self.exact is None or not self.fresh:
            return luck is not None and not abs(self.tally.mean - luck.mean) <= AGREES * self.tally.se
        if luck:
            return not abs(luck.mean - self.exact) <= AGREES * luck.se
        unknown = self.exact_sd is None or math.isinf(self.exact_sd)
        se = self.tally.se if unknown else (self.exact_sd or 0.0) / sqrt(self.tally.rounds)
        return not abs(self.tally.mean - self.exact) <= AGREES * se

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
        return "agrees with the exact value" if compared else "consistent with the luck-adjusted return"

    def to_json(self) -> dict[str, Any]:
        """The result as `bjsim run --json` writes it.

        Returns:
            JSON values; returns are in initial bets, and an interval without bounds is `-inf`, `inf`.
        """
        data = {column.key: column.value(self) for column in COLUMNS}
        data |= {key: data[key] and data[key]._asdict() for key in NESTED}
        data |= {"payoffs": self.tally.payoffs, "ties_replayed": self.tally.ties_replayed}
        return json_object(data | {"convergence": [point.to_json() for point in self.convergence]})


class ResultColumn(NamedTuple):
    """A column of results: its key in JSON and data frames, and its heading in tables, empty if it is in none."""

    key: str
    heading: str
    value: Callable[[BotResult], Any]
    format: Callable[[Any], str] = str

    def text(self, result: BotResult) -> str:
        """The value of a result as text; a dash if it is not known."""
        value = self.value(result)
        return "–" if value is None else self.format(value)


COLUMNS = (
    ResultColumn("name", "bot", lambda one: one.name),
    ResultColumn("hands", "hands", lambda one: one.tally.rounds, "{:,}".format),
    ResultColumn("mean", "return", lambda one: one.point.mean, percent),
    ResultColumn("sd", "sd", lambda one: one.tally.sd, "{:.4f}".format),
    ResultColumn("se", "± se", lambda one: one.tally.se, lambda se: f"{100 * se:.4f}%"),
    ResultColumn("ci95", "95% interval", lambda one: one.point.ci95, interval),
    ResultColumn("anytime95", "anytime 95%", lambda one: one.point.anytime95, interval),
    ResultColumn("exact", "exact", lambda one: one.exact, percent),
    ResultColumn("exact_sd", "", lambda one: one.exact_sd),
    ResultColumn("cut_card_effect", "", lambda one: one.cut_card_effect),
    ResultColumn("z", "z", lambda one: one.z, "{:+.2f}".format),
    ResultColumn("verdict", "verdict", lambda one: one.verdict),
    ResultColumn("luck_adjusted", "luck-adjusted", lambda one: one.adjusted, str),
)
NESTED = ("cut_card_effect", "luck_adjusted")  # objects in JSON, which a data frame has no column for
IN_NOTEBOOKS = ("name", "hands", "mean", "ci95", "anytime95", "exact", "verdict")


def results_html(results: Sequence[BotResult], caption: str = "") -> str:
    """The results as an HTML table; means and intervals in percent of the initial bet."""
    columns = [column for column in COLUMNS if column.key in IN_NOTEBOOKS]
    rows = [[column.text(result) for column in columns] for result in results]
    return html_table([column.heading for column in columns], rows, caption)
