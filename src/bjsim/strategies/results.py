"""The results of an experiment: what each bot returned, and the differences between bots."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from math import hypot, sqrt
from typing import Any, NamedTuple

from bjsim.json_values import json_object
from bjsim.sim.running.experiment import Point
from bjsim.sim.stats.paired import PairedTally
from bjsim.sim.stats.tally import Tally
from bjsim.strategies.tabular import html_table

CERTAIN = 1e-9  # initial bets: smaller differences are rounding errors
AGREES = 4.0  # standard errors: a correct result deviates further in 6 of 100,000 runs


class ExactReturn(NamedTuple):
    """The exact return of a player, in a freshly shuffled shoe of the game.

    Attributes:
        value: Expected profit per settled bet, in initial bets; None if it is not known.
        sd: Standard deviation per round, in initial bets; None if it is not known.
        reason: Why the value is not known, as a message; else empty.
    """

    value: float | None
    sd: float | None
    reason: str = ""


class CutCardEffect(NamedTuple):
    """The cut-card effect: the change of the return of a fresh shoe, in initial bets per settled bet.

    Attributes:
        mean: The luck-adjusted mean less the exact value.
        ci95: Its fixed-sample 95% interval.
    """

    mean: float
    ci95: tuple[float, float]


class AdjustedReturn(NamedTuple):
    """The luck-adjusted return of a bot, in initial bets per settled bet.

    Attributes:
        mean: The mean.
        se: Its standard error.
        ci95: Its fixed-sample 95% interval.
        anytime95: Its anytime-valid 95% interval.
        gain: How many times as many hands would make the raw mean as precise; `inf` if the adjusted one is exact.
        shoes: The number of shoes.
    """

    mean: float
    se: float
    ci95: tuple[float, float]
    anytime95: tuple[float, float]
    gain: float
    shoes: int


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
    def verdict(self) -> str:
        """The comparison with the exact value as a message; with the luck-adjusted return if a cut card was used."""
        if self.exact is not None and math.isinf(self.exact):
            return f"the exact value is {self.exact}"
        if self.exact is None and not self.adjusted:
            return f"no exact value: {self.no_exact}"
        if self.exact is None or not self.fresh:
            if not self.adjusted:
                return "not compared: several rounds share a shoe"
            deviation = abs(self.tally.mean - self.adjusted.mean)
            return "consistent with the luck-adjusted return" if deviation <= AGREES * self.tally.se else "disagrees"
        if self.certified:
            return "every round agrees with the exact value"
        if self.adjusted:
            deviation, se = abs(self.adjusted.mean - self.exact), self.adjusted.se
        else:
            deviation, sd = abs(self.tally.mean - self.exact), self.exact_sd
            se = self.tally.se if sd is None or math.isinf(sd) else sd / sqrt(self.tally.rounds)
        return "agrees with the exact value" if deviation <= AGREES * se else "disagrees"

    def to_json(self) -> dict[str, Any]:
        """The result as `bjsim run --json` writes it.

        Returns:
            JSON values; returns are in initial bets, and an interval without bounds is `-inf`, `inf`.
        """
        tally, point = self.tally, self.point
        return json_object(
            {
                "name": self.name,
                "hands": tally.rounds,
                "mean": point.mean,
                "sd": tally.sd,
                "se": tally.se,
                "ci95": point.ci95,
                "anytime95": point.anytime95,
                "exact": self.exact,
                "exact_sd": self.exact_sd,
                "cut_card_effect": self.cut_card_effect and self.cut_card_effect._asdict(),
                "z": self.z,
                "verdict": self.verdict,
                "luck_adjusted": self.adjusted and self.adjusted._asdict(),
                "payoffs": tally.payoffs,
                "ties_replayed": tally.ties_replayed,
                "convergence": [point.to_json() for point in self.convergence],
            }
        )


@dataclass(frozen=True)
class Difference:
    """The difference between two bots that were dealt the same cards, in initial bets per settled bet.

    Attributes:
        one: The first bot.
        other: The bot that is subtracted.
        pair: Sums over the rounds of both.
    """

    one: BotResult
    other: BotResult
    pair: PairedTally

    def __repr__(self) -> str:
        low, high = self.adjusted.ci95 if self.adjusted else self.pair.ci95
        mean = self.adjusted.mean if self.adjusted else self.pair.mean
        return f"Difference({self.one.name!r} - {self.other.name!r}, mean {mean:+.6f}, 95% {low:+.6f} to {high:+.6f})"

    @property
    def anytime95(self) -> tuple[float, float]:
        """The anytime-valid interval of the raw difference."""
        return self.pair.anytime_interval(self.one.optimal_n)

    @property
    def apart(self) -> float:
        """The standard error that the difference would have if the two bots had been dealt different cards."""
        return hypot(self.one.tally.se, self.other.tally.se)

    @property
    def adjusted(self) -> Point | None:
        """The luck-adjusted difference; None unless both bots have luck-adjusted returns.

        Its intervals have the sum of the two widths, which is valid for any correlation of the returns.
        """
        one, other = self.one.adjusted, self.other.adjusted
        if one is None or other is None:
            return None
        mean = one.mean - other.mean
        fixed = (one.ci95[1] - one.mean) + (other.ci95[1] - other.mean)
        anytime = sum(luck.anytime95[1] - luck.mean for luck in (one, other))
        return Point(self.one.tally.rounds, mean, (mean - fixed, mean + fixed), (mean - anytime, mean + anytime))

    def to_json(self) -> dict[str, Any]:
        """The difference as `bjsim run --common-cards --json` writes it.

        Returns:
            JSON values, in initial bets per settled bet.
        """
        adjusted = self.adjusted
        return json_object(
            {
                "bots": [self.one.name, self.other.name],
                "mean": self.pair.mean,
                "se": self.pair.se,
                "ci95": self.pair.ci95,
                "anytime95": self.anytime95,
                "se_apart": self.apart,
                "luck_adjusted": adjusted
                and {"mean": adjusted.mean, "ci95": adjusted.ci95, "anytime95": adjusted.anytime95},
            }
        )


def make_differences(results: Sequence[BotResult]) -> list[Difference]:
    """The differences between all pairs of bots that were dealt the same cards, in the order of `results`."""
    return [
        Difference(one, results[index + 1 + offset], pair)
        for index, one in enumerate(results)
        for offset, pair in enumerate(one.tally.pairs)
        if pair.settled
    ]


def results_html(results: Sequence[BotResult], caption: str = "") -> str:
    """The results as an HTML table; means and intervals in percent of the initial bet."""
    header = ["bot", "hands", "mean", "95% interval", "anytime-valid", "exact", "verdict"]
    rows = []
    for result in results:
        point, exact = result.point, "–" if result.exact is None else f"{result.exact:+.4%}"
        intervals = [f"{low:+.4%} … {high:+.4%}" for low, high in (point.ci95, point.anytime95)]
        rows.append([result.name, f"{point.hands:,}", f"{point.mean:+.4%}", *intervals, exact, result.verdict])
    return html_table(header, rows, caption)
