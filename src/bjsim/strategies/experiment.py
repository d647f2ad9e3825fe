"""An experiment from players: who sits where, and in which of the two rounds each table is played."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from math import hypot, sqrt
from typing import Any, NamedTuple

from bjsim.arguments import MOST_TABLES, whole_number
from bjsim.errors import InputError
from bjsim.json_values import json_object
from bjsim.sim.engine.luck_model import make_luck_model
from bjsim.sim.engine.plan import compile_plan
from bjsim.sim.game.actions import Player
from bjsim.sim.game.random_stream import MOST_SEED
from bjsim.sim.game.rules import Rules
from bjsim.sim.running.common_cards import CommonCards
from bjsim.sim.running.driver import Experiment, Point, Progress
from bjsim.sim.running.table import AdjustedTable, CompiledTable, ReadableTable, Table, TracedTable
from bjsim.sim.stats.luck_tally import LuckTally
from bjsim.sim.stats.paired import PairedTally
from bjsim.sim.stats.tally import Tally
from bjsim.strategies.charts.chart import Chart
from bjsim.strategies.exact.reach import splits_for_ever
from bjsim.strategies.exact.solver import Solver
from bjsim.strategies.exact.values import Policy

CERTAIN = 1e-9  # initial bets, for what is 0 but for rounding
SD = 1.1  # initial bets, about the standard deviation of a round in the games here
VARIANCE_REDUCTION = 20_000  # about how many times luck-adjusted returns are less variable, in shoes of several decks
ANYTIME = 3.03  # half the anytime-valid interval where it is narrowest, in standard errors
AGREES = 4.0  # standard errors: a right result strays further in 6 of 100,000 runs


def table_of(rules: Rules, seated: Sequence[Player], adjust_luck: bool = False) -> TracedTable:
    """The table for these players, which share its shoe: compiled where all of them are charts.

    adjust_luck: tell the luck from the play there.
    """
    charts = [player for player in seated if isinstance(player, Chart)]
    if len(charts) < len(seated):
        return ReadableTable(rules, list(seated))
    try:
        plan = compile_plan(rules, [chart.letter for chart in charts])
    except KeyError as error:  # a chart made in Python; those from files are checked when they are read
        raise InputError(str(error.args[0])) from None
    if adjust_luck:
        return AdjustedTable(plan, rules.unit, make_luck_model(rules, plan))
    return CompiledTable(plan, rules.unit)


def experiment_of(
    rules: Rules, players: Sequence[Player], hands: int, seed: int, tables: int = 1, adjust_luck: bool | None = None,
    common_cards: bool = False, precision: float = 0.0,
) -> Experiment:  # fmt: skip
    """What `bjsim run` plays: `hands` rounds for each player, shared out over `tables` tables per group.

    Players sit `rules.seats` to a table, in order. adjust_luck: tell luck from play; None does so in finite shoes, at
    tables where all players are charts. common_cards: each player sits alone, and all are dealt the same cards.
    precision: see `Experiment`; `hands` is then the most that is played.
    Raises: InputError for a number that is not accepted, for a chart whose rounds may never end, and for a player whose
    luck cannot be told.
    """
    hands, tables = whole_number("hands", hands), whole_number("tables", tables, 1, MOST_TABLES)
    seed = whole_number("seed", seed, 0, MOST_SEED)
    adjusted = not rules.infinite if adjust_luck is None else adjust_luck
    strangers = [player.name for player in players if not isinstance(player, Chart)]
    if adjust_luck and strangers:
        raise InputError(f"--adjust-luck needs charts, whose states have exact values; {strangers[0]} is none")
    for player in players:
        if isinstance(player, Chart) and (at := splits_for_ever(player)):
            raise InputError(f"{player.name} cannot be played: it splits {at[0]} against {at[1]} for ever")
    each = 1 if common_cards else rules.seats
    groups = [table_of(rules, players[first : first + each], adjusted) for first in range(0, len(players), each)]
    played: Sequence[Table] = [CommonCards.of(rules, groups)] if common_cards else groups
    target_n = expected_hands(precision, adjusted and not strangers) if precision else 0
    return Experiment(rules, played, hands, seed, tables, precision, target_n)


def expected_hands(precision: float, adjusted: bool) -> int:
    """About how many rounds make an anytime-valid interval plus or minus `precision` initial bets.

    The interval is tuned to it, for which a guess will do: four times too many or too few widens it by a tenth.
    """
    variance = SD * SD / (VARIANCE_REDUCTION if adjusted else 1)
    return max(round(ANYTIME * ANYTIME * variance / precision**2), 1)


@dataclass(frozen=True)
class BotResult:
    """What one bot's rounds came to, and the exact value of its chart; all in initial bets.

    exact and exact_sd: of the chart in the game played; None in a finite shoe, and for a player that is no chart.
    infinite_shoe: the chart's value in an infinite shoe, whatever shoe was played; None for a player that is no chart.
    """

    name: str
    tally: Tally
    convergence: Sequence[Point]
    optimal_n: int
    exact: float | None
    exact_sd: float | None
    infinite_shoe: float | None

    @property
    def point(self) -> Point:
        """Mean and intervals at the end."""
        return Point.of(self.tally, self.optimal_n)

    @property
    def z(self) -> float | None:
        """How many standard errors the mean lies above the exact value; None without one, or a finite spread."""
        if self.exact is None or not self.exact_sd or not math.isfinite(self.exact_sd):
            return None
        return (self.tally.mean - self.exact) / (self.exact_sd / sqrt(self.tally.rounds))

    @property
    def adjusted(self) -> LuckTally | None:
        """The same rounds without the luck, where that was computed."""
        return self.tally.luck if self.tally.luck.settled else None

    @property
    def certified(self) -> bool:
        """Whether no luck was left: every round, less its luck, came to the exact value of an infinite shoe."""
        luck = self.adjusted
        if luck is None or self.exact is None or abs(luck.value - self.exact) > CERTAIN:
            return False
        return luck.yy <= luck.shoes * CERTAIN**2  # of squares, so that one round in 1e10 cannot hide

    @property
    def verdict(self) -> str:
        """The comparison with the exact value, or in a finite shoe with the luck-adjusted return, in words."""
        if self.infinite_shoe is None:
            return "no exact value: not a chart"
        if self.exact is not None and math.isinf(self.exact):
            return f"the exact value is {self.exact}"
        if self.exact is None:
            if not self.adjusted:
                return "no exact value: a finite shoe"
            apart = abs(self.tally.mean - self.adjusted.mean)
            return "agrees with its luck-adjusted return" if apart <= AGREES * self.tally.se else "disagrees"
        if self.certified:
            return "every round agrees with the exact value"
        if self.adjusted:
            apart = abs(self.adjusted.mean - self.exact)
            return "agrees with the exact value" if apart <= AGREES * self.adjusted.se else "disagrees"
        if self.z is None:
            return "agrees with the exact value" if self.tally.mean == self.exact else "disagrees"
        return "agrees with the exact value" if abs(self.z) < AGREES else "disagrees"

    def to_json(self) -> dict[str, Any]:
        """The result as JSON values, as `bjsim run --json` writes them; an interval without bounds is `-inf`, `inf`."""
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
                "infinite_shoe": self.infinite_shoe,
                "z": self.z,
                "verdict": self.verdict,
                "luck_adjusted": self._adjusted_json(),
                "payoffs": tally.payoffs,
                "ties_replayed": tally.ties_replayed,
                "convergence": [point._asdict() for point in self.convergence],
            }
        )

    def _adjusted_json(self) -> dict[str, object] | None:
        luck = self.adjusted
        return (
            None
            if luck is None
            else {
                "mean": luck.mean,
                "se": luck.se,
                "ci95": luck.ci95,
                "anytime95": luck.anytime95(self.optimal_n),
                "gain": luck.variance_reduction(self.tally.se),
                "shoes": luck.shoes,
            }
        )


@dataclass(frozen=True)
class Difference:
    """How much more one bot wins than another on the same cards; in initial bets per settled bet."""

    one: BotResult
    other: BotResult
    pair: PairedTally

    @property
    def anytime95(self) -> tuple[float, float]:
        """The anytime-valid interval of the raw difference."""
        return self.pair.anytime95(self.one.optimal_n)

    @property
    def apart(self) -> float:
        """The standard error that the difference would have if the two had been dealt cards of their own."""
        return hypot(self.one.tally.se, self.other.tally.se)

    @property
    def adjusted(self) -> Point | None:
        """The luck-adjusted difference, where both have luck-adjusted returns; its standard error is at most the sum
        of theirs, whatever they have in common."""
        one, other = self.one.adjusted, self.other.adjusted
        if one is None or other is None:
            return None
        mean = one.mean - other.mean
        wide = (one.ci95[1] - one.mean) + (other.ci95[1] - other.mean)
        ever = sum(luck.anytime95(self.one.optimal_n)[1] - luck.mean for luck in (one, other))
        return Point(self.one.tally.rounds, mean, (mean - wide, mean + wide), (mean - ever, mean + ever))

    def to_json(self) -> dict[str, Any]:
        """The difference as JSON values, as `bjsim run --common-cards --json` writes them."""
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


def differences_of(results: Sequence[BotResult]) -> list[Difference]:
    """The differences between all pairs of bots that were dealt the same cards."""
    return [
        Difference(one, results[number + 1 + more], pair)
        for number, one in enumerate(results)
        for more, pair in enumerate(one.tally.pairs)
        if pair.settled
    ]


class ExactReturn(NamedTuple):
    """What a chart returns in the infinite shoe: its mean and standard deviation per round, in initial bets."""

    value: float
    sd: float


def exact_returns(rules: Rules, players: Sequence[Player]) -> list[ExactReturn | None]:
    """The exact return of each player in an infinite shoe; None for one that is no chart."""
    solver = Solver(rules)

    def of(letter: Policy) -> ExactReturn:
        ev = solver.ev(letter)
        return ExactReturn(float(ev.value), solver.sd(letter, ev))

    return [of(player.letter) if isinstance(player, Chart) else None for player in players]


def results_of(
    experiment: Experiment, players: Sequence[Player], progress: Progress,
    exact: Sequence[ExactReturn | None] | None = None,
) -> list[BotResult]:  # fmt: skip
    """The results of all players so far; those that have not settled a bet yet are left out (see `missing_results`).

    exact: what `exact_returns` says of them, if known.
    """
    rules = experiment.rules
    exact = exact_returns(rules, players) if exact is None else exact
    results = []
    for player, tally, points, known in zip(players, progress.tallies, progress.convergence, exact, strict=True):
        if tally.settled:
            exact_value, sd = known if known and rules.infinite else (None, None)
            value = known.value if known else None
            results.append(BotResult(player.name, tally, points, experiment.optimal_n, exact_value, sd, value))
    return results


def missing_results(players: Sequence[Player], progress: Progress, exact: Sequence[ExactReturn | None]) -> list[str]:
    """Why `results_of` has no result for a player, one line for each such player."""
    lines = []
    for player, tally, known in zip(players, progress.tallies, exact, strict=True):
        if not tally.rounds:
            lines.append(f"{player.name}: no round was played")
        elif not tally.settled:
            ev = f"; its exact value is {known.value}" if known and math.isinf(known.value) else ""
            lines.append(
                f"{player.name}: no return yet, as its {tally.rounds:,} rounds tied {tally.ties_replayed:,} bets, "
                f"which are dealt again{ev}"
            )
    return lines
