"""The request of `bjsim count`: a counted game, its bets, and their figures."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from bjsim.errors import InputError
from bjsim.sim.game.rules import RULE_FIELDS, Rules
from bjsim.strategies.charts.chart import Chart
from bjsim.strategies.counting.count_difference import difference_error
from bjsim.strategies.counting.count_returns import CountReturns, best_ramp, kelly_ramp, ramp_gradients, ramp_returns
from bjsim.strategies.counting.count_run import CountRun
from bjsim.strategies.counting.departures import Departures, find_departures, names_sets
from bjsim.strategies.counting.figures import Figure, Terms, find_figures
from bjsim.strategies.counting.ramp import ONE_SPOT, Ramp, SpotSteps, spots_at
from bjsim.strategies.counting.simulate import simulate_count
from bjsim.strategies.counting.system import CountingSystem
from bjsim.strategies.counting.systems import find_system
from bjsim.strategies.counting.typical import decks_to_count
from bjsim.strategies.players.find import find_player

VARIED = ("system", "ramp", "indices")  # what `--vary` accepts besides the rules
DEFAULT_ROUNDS = 10**6


@dataclass(frozen=True)
class CountRequest:
    """A counted game as the options choose it.

    Attributes:
        rules: The game.
        system: The counting system.
        chart: Name or file of the chart, from which the index plays depart.
        indices: A set, a file or a text of index plays, `none`, or `generate`. The plays of a set are made at the
            counts of Hi-Lo, and with other tags at generated counts.
        ramp: The bets.
        optimal: Least and greatest bet of the optimal ramp, and its spots; it replaces `ramp`.
        chip: Bets of the optimal ramp are multiples of this.
        has_bankroll: Whether the optimal ramp is that of the bankroll; otherwise it has the highest SCORE.
        terms: Bankroll, rounds per hour, Kelly fraction and the length of a trip.
        rounds: Rounds to play.
        precision: Half the interval of the EV per round at which play stops, in units; 0 plays all rounds.
        seed: Random seed.
        workers: Number of processes.
        adjusted: Whether profits are luck-adjusted.
    """

    rules: Rules
    system: CountingSystem
    chart: str = "optimal"
    indices: str = "i18"
    ramp: Ramp = Ramp.spread(1, 12)
    optimal: tuple[float, float, int] | None = None
    chip: float = 0.0
    has_bankroll: bool = False
    terms: Terms = Terms()
    rounds: int = DEFAULT_ROUNDS
    precision: float = 0.0
    seed: int = 1
    workers: int = 1
    adjusted: bool = True

    def departures(self) -> Departures:
        """The chart with its index plays. Raises: InputError."""
        decks_to_count(self.rules)  # before anything that takes time, or that only fits some games
        chart = find_player(self.chart, self.rules)
        if not isinstance(chart, Chart):
            raise InputError(f"--chart {self.chart} is not a chart; a counter departs from a chart")
        if self.indices == "none":
            return Departures(chart, ())
        if self.indices == "generate":
            from bjsim.strategies.counting.indices import generate_departures

            return Departures(chart, generate_departures(self.rules, self.system, chart))
        plays = find_departures(self.indices)
        if names_sets(self.indices) and self.system.tags != find_system("hilo").tags:
            from bjsim.strategies.counting.indices import adapt_departures

            plays = adapt_departures(plays, self.rules, self.system, chart)
        if not names_sets(self.indices):
            return Departures(chart, plays)
        try:
            return Departures(chart, plays)
        except InputError as error:
            raise InputError(
                f"--indices {self.indices} does not fit this game: {error}; give --indices none or generate"
            ) from None

    @property
    def spots(self) -> SpotSteps:
        """The spots of the bets."""
        return ((Fraction(0), self.optimal[2]),) if self.optimal else self.ramp.spots

    def play(self, keep_units: bool = False) -> CountRun:
        """Play the game. keep_units: whether differences to other games will be asked for. Raises: InputError."""

        def enough(run: CountRun) -> bool:
            if not self.precision:
                return False
            half = evaluate_run(run, self).figures[0].half
            return half is not None and half <= self.precision

        return simulate_count(
            self.rules, self.system, self.departures(), self.rounds, self.seed, self.workers, enough=enough,
            spots=self.spots, adjusted=self.adjusted, span=(0, 0) if self.optimal else self.ramp.span,
            keep_units=keep_units,
        )  # fmt: skip


@dataclass(frozen=True)
class CountResult:
    """A counted game evaluated: the bets by count, on each spot, their figures, and a note on bets never made."""

    run: CountRun
    table: CountReturns
    bets: NDArray[np.float64]
    figures: list[Figure]
    note: str = ""


def evaluate_run(run: CountRun, request: CountRequest) -> CountResult:
    """Compute the figures of a run for the bets of a request. Raises: InputError."""
    table = run.returns
    if request.optimal:
        least, most, _ = request.optimal
        if request.has_bankroll:
            bets = kelly_ramp(table, request.terms.bankroll, request.terms.kelly, least, most, request.chip, run.spots)
        else:
            bets = best_ramp(table, least, most, request.chip, run.spots)
        if not bets.any():
            raise InputError(
                "--optimal: the best bet is 0 at every count; give a larger --bankroll, or a smaller --chip"
            )
    else:
        bets = np.array(request.ramp.units(table.counts))
        if not bets.any():
            raise InputError(
                f"--ramp {request.ramp} has no bet at the counts of the table, {run.labels[0]} to {run.labels[-1]}; "
                "bet at one of them"
            )
    _check_spots(run, request, bets)
    wagered = float(table.shares @ (bets * run.spots * run.wagered))
    figures = find_figures(ramp_returns(table, bets, run.spots), request.terms, wagered)
    return CountResult(run, table, bets, figures, "" if request.optimal else _unreached(run, request.ramp, bets))


def _unreached(run: CountRun, ramp: Ramp, bets: NDArray[np.float64]) -> str:
    """What to say if no row of the table has one of the ramp's bets."""
    missing = sorted({float(bet.units) for _, bet in ramp.steps} - set(bets.tolist()))
    if not missing:
        return ""
    units = ", ".join(f"{bet:g}" for bet in missing)
    return f"never bet: {units}; each row from {run.labels[0]} to {run.labels[-1]} has one bet for all its counts"


def find_differences(first: CountResult, other: CountResult) -> list[Figure]:
    """The figures of a game less those of the first one, where both have intervals."""

    def slopes(result: CountResult, gradient: NDArray[np.float64]) -> NDArray[np.float64]:
        return gradient @ ramp_gradients(result.table, result.bets, result.run.spots)

    return [
        two.minus(one, difference_error(first.run, slopes(first, one.gradient), other.run, slopes(other, two.gradient)))
        for one, two in zip(first.figures, other.figures, strict=True)
        if one.gradient is not None and two.gradient is not None
    ]


def _check_spots(run: CountRun, request: CountRequest, bets: NDArray[np.float64]) -> None:
    """Raises: InputError: The request has spots, and a stored run was played on others."""
    asked = np.array([spots_at(request.spots, count) for count in run.counts])
    if request.spots != ONE_SPOT and (asked != run.spots)[bets > 0].any():
        played = ", ".join(f"{spots} from a count of {count}" for count, spots in run.game.spots)
        raise InputError(f"the stored run has other spots than these bets: {played}; leave out x, or play again")


def vary(request: CountRequest, varied: Sequence[str]) -> list[tuple[str, CountRequest]]:
    """A request for each combination of the values of `--vary`, with its name. Raises: InputError."""
    axes: list[list[tuple[str, str]]] = []
    for text in varied:
        name, equals, values = text.partition("=")
        name = name.strip()
        if not equals or name not in (*VARIED, *RULE_FIELDS):
            raise InputError(f"--vary {text} is not accepted; vary {', '.join(VARIED)} or a rule, such as cut=70%,80%")
        if any(name == axis[0][0] for axis in axes):
            raise InputError(f"--vary {name} is given twice; give all its values at once, as in --vary {name}=V1,V2")
        separator = ";" if ";" in values else ","
        axes.append([(name, value.strip()) for value in values.split(separator)])
    requests = []
    for point in itertools.product(*axes):
        one = request
        for name, value in point:
            one = _with(one, name, value)
        requests.append((", ".join(f"{name}={value}" for name, value in point), one))
    return requests


def _with(request: CountRequest, name: str, value: str) -> CountRequest:
    if name == "system":
        return replace(request, system=find_system(value))
    if name == "ramp":
        return replace(request, ramp=Ramp.parse(value))
    if name == "indices":
        return replace(request, indices=value)
    return replace(request, rules=request.rules.replace(**{name: value}))
