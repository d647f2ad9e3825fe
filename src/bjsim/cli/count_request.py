"""The request of `bjsim count`: a counted game, its bets, and their figures."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from bjsim.cli.options import BetLimits
from bjsim.cli.varied import parse_varied
from bjsim.errors import InputError
from bjsim.sim.game.rules import Rules
from bjsim.strategies.charts.chart import Chart
from bjsim.strategies.counting.count_difference import difference_error
from bjsim.strategies.counting.count_returns import (
    CountReturns,
    RampReturns,
    best_ramp,
    kelly_ramp,
    ramp_gradients,
    ramp_returns,
)
from bjsim.strategies.counting.count_run import CountRun
from bjsim.strategies.counting.departures import Departures, find_departures, names_sets
from bjsim.strategies.counting.figures import Figure, Terms, find_figures
from bjsim.strategies.counting.ramp import ONE_SPOT, Ramp, SpotSteps, spots_at
from bjsim.strategies.counting.risk import ruin_probability
from bjsim.strategies.counting.simulate import simulate_count
from bjsim.strategies.counting.system import CountingSystem
from bjsim.strategies.counting.systems import find_system
from bjsim.strategies.counting.typical import decks_to_count
from bjsim.strategies.players.find import find_player

VARIED = ("system", "ramp", "optimal", "indices", "leave")  # what `--vary` accepts besides the rules
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
        chip: Bets of the optimal ramp are multiples of this; 0: not rounded; None: of 1 unit, or of half a unit
            where the limits are not whole.
        has_bankroll: Whether the optimal ramp is that of the bankroll; otherwise it has the highest SCORE.
        terms: Bankroll, rounds per hour, Kelly fraction and the length of a trip.
        rounds: Rounds to play.
        precision: Half the interval of the EV per round at which play stops, in units; 0 plays all rounds.
        seed: Random seed.
        workers: Number of processes.
        adjusted: Whether profits are luck-adjusted.
        leave: The count at which the counter leaves for a fresh shoe; None: never.
        span: Counts that have a row of their own, besides those of the bets.
    """

    rules: Rules
    system: CountingSystem
    chart: str = "optimal"
    indices: str = "i18"
    ramp: Ramp = Ramp.spread(1, 12)
    optimal: tuple[float, float, int] | None = None
    chip: float | None = None
    has_bankroll: bool = False
    terms: Terms = Terms()
    rounds: int = DEFAULT_ROUNDS
    precision: float = 0.0
    seed: int = 1
    workers: int = 1
    adjusted: bool = True
    leave: int | None = None
    span: tuple[int, int] = (0, 0)

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
    def whole_span(self) -> tuple[int, int]:
        """The lowest and highest counts that have a row of their own."""
        own = (0, 0) if self.optimal else self.ramp.span
        return min(own[0], self.span[0]), max(own[1], self.span[1])

    def expected_rounds(self, run: CountRun) -> float:
        """About how many rounds will be played, by the result so far."""
        half = evaluate_run(run, self).figures[0].half if self.precision else None
        return min(self.rounds, run.rounds * (half / self.precision) ** 2) if half else self.rounds

    @property
    def spots(self) -> SpotSteps:
        """The spots of the bets."""
        return ((Fraction(0), self.optimal[2]),) if self.optimal else self.ramp.spots

    def play(self, keep_units: bool = False, on_block: Callable[[CountRun], object] = lambda run: None) -> CountRun:
        """Play the game. Raises: InputError.

        Args:
            keep_units: Whether differences to other games will be asked for.
            on_block: Called with the result so far after every block.
        """

        def enough(run: CountRun) -> bool:
            if not self.precision:
                return False
            half = evaluate_run(run, self).figures[0].half
            return half is not None and half <= self.precision

        return simulate_count(
            self.rules, self.system, self.departures(), self.rounds, self.seed, self.workers, enough=enough,
            spots=self.spots, adjusted=self.adjusted, span=self.whole_span, keep_units=keep_units, leave=self.leave,
            on_block=on_block,
        )  # fmt: skip


@dataclass(frozen=True)
class CountResult:
    """A counted game evaluated: the bets by count, on each spot, their figures, their terms, and remarks."""

    run: CountRun
    table: CountReturns
    bets: NDArray[np.float64]
    figures: list[Figure]
    terms: Terms
    notes: tuple[str, ...] = ()


def evaluate_run(run: CountRun, request: CountRequest) -> CountResult:
    """Compute the figures of a run for the bets of a request. Raises: InputError."""
    table = run.returns
    if request.optimal:
        bets = _optimal(run, request, request.terms.kelly)
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
    ramp = ramp_returns(table, bets, run.spots)
    terms = request.terms.reached(ramp)
    notes = _riskier(run, request, ramp) if request.optimal else _unreached(run, request.ramp, bets)
    return CountResult(run, table, bets, find_figures(ramp, terms, wagered), terms, notes)


def _optimal(run: CountRun, request: CountRequest, kelly: float) -> NDArray[np.float64]:
    """The optimal ramp of a run."""
    assert request.optimal
    least, most, _ = request.optimal
    chip = request.chip
    if chip is None:
        chip = next((size for size in (1.0, 0.5) if least % size == 0 and most % size == 0), 0.0)
    if request.has_bankroll:
        return kelly_ramp(run.returns, request.terms.bankroll, kelly, least, most, chip, run.spots)
    return best_ramp(run.returns, least, most, chip, run.spots)


def _riskier(run: CountRun, request: CountRequest, ramp: RampReturns) -> tuple[str, ...]:
    """What to say if a Kelly fraction below 1 raises the risk of ruin, as lowest bets stay what they are."""
    terms = request.terms
    assert request.optimal
    if not request.has_bankroll or terms.kelly >= 1 or not request.optimal[0]:
        return ()
    full = ramp_returns(run.returns, _optimal(run, request, 1.0), run.spots)
    ruin, other = (ruin_probability(one.ev, one.sd, terms.bankroll) for one in (ramp, full))
    if ruin <= other:
        return ()
    return (
        f"with a Kelly fraction of {terms.kelly:g} the risk of ruin is {ruin:.2%}, and {other:.2%} with 1: bets become "
        f"smaller at good counts, while those of {request.optimal[0]:g} at bad counts stay; give a larger --bankroll, "
        "or a lowest bet of 0",
    )


def _unreached(run: CountRun, ramp: Ramp, bets: NDArray[np.float64]) -> tuple[str, ...]:
    """What to say if no row of the table has one of the ramp's bets."""
    missing = sorted({float(bet.units) for _, bet in ramp.steps} - set(bets.tolist()))
    if not missing:
        return ()
    units = ", ".join(f"{bet:g}" for bet in missing)
    return (f"never bet: {units}; each row from {run.labels[0]} to {run.labels[-1]} has one bet for all its counts",)


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
    requests = []
    for point in itertools.product(*parse_varied(varied, VARIED)):
        one = request
        for name, value in point:
            one = _with(one, name, value)
        requests.append((", ".join(f"{name}={value}" for name, value in point), one))
    span = min(one.whole_span[0] for _, one in requests), max(one.whole_span[1] for _, one in requests)
    return [(name, replace(one, span=span)) for name, one in requests]  # ramps on the same spots share a run


def parse_leave(text: str) -> int | None:
    """The count at which a counter leaves; None for never. Raises: InputError."""
    if text == "never":
        return None
    try:
        return int(text.replace("−", "-"))
    except ValueError:
        raise InputError(f"--leave {text} is not accepted; use a whole count such as -1, or never") from None


def _with(request: CountRequest, name: str, value: str) -> CountRequest:
    if name == "system":
        return replace(request, system=find_system(value))
    if name == "ramp":
        return replace(request, ramp=Ramp.parse(value))
    if name == "indices":
        return replace(request, indices=value)
    if name == "leave":
        return replace(request, leave=parse_leave(value))
    if name == "optimal":
        return replace(request, optimal=BetLimits().convert(value, None, None))
    if name == "insurance":
        raise InputError("--vary insurance: a counter takes insurance by its index play; vary indices")
    return replace(request, rules=request.rules.replace(**{name: value}))
