"""The validated parameters of a counted game, which the command line and `bjsim.count` build alike."""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import KW_ONLY, dataclass, field, fields, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from bjsim.arguments import MAX_HANDS, a_name, a_type, argument, names_wrong_types, naming
from bjsim.arrays import Floats
from bjsim.asked.kinds import check_fields
from bjsim.errors import InputError, NotSaved
from bjsim.sim.game.presets import RulesLike, load_rules
from bjsim.sim.game.rules import Rules
from bjsim.sim.running.checkpoint import check_checkpoints
from bjsim.sim.running.workers import usable_cores
from bjsim.strategies.charts.chart import Chart
from bjsim.strategies.counting.count_run import CountRun
from bjsim.strategies.counting.departures import Departures, find_departures, names_sets
from bjsim.strategies.counting.indices import adapt_departures, generate_departures
from bjsim.strategies.counting.ramp import ONE_SPOT, BetLimits, Ramp, SpotSteps, ruin_probability, spots_at
from bjsim.strategies.counting.returns import RampReturns, Terms, best_ramp, kelly_ramp, limited, ramp_returns
from bjsim.strategies.counting.simulate import count_blocks
from bjsim.strategies.counting.system import CountingSystem, find_system
from bjsim.strategies.counting.tables import CountingGame
from bjsim.strategies.counting.typical import decks_to_count
from bjsim.strategies.players.catalogue import find_player

DEFAULT_ROUNDS = 10**6
BETS = ("ramp", "optimal", "chip", "bankroll", "unit", "ror", "kelly", "rounds_per_hour", "trip", "leave_minutes")
UNVARIED = ("workers", "checkpoint", "resume", "span", "on_progress")
Limits = BetLimits | tuple[float, float] | tuple[float, float, int] | str


RARE = 1_000_000  # rounds; counts that have no row after these are too rare for one
OnProgress = Callable[[int, float], object]


@names_wrong_types
@dataclass(frozen=True)
class CountRequest:
    """A counted game, its bets and the length of play, checked when made.

    Args:
        rules: The game, with a finite shoe.
        system: The counting system: its name, a TOML file, or a `CountingSystem`.
        ramp: Units to bet: a spread such as `1-12` (the default), or units by count such as `0:0 1:1 2:4x2`; `x2` is on
            two spots, a bet of 0 watches (back-counting), and bets with a dollar sign, such as `$10-$120`, are money.
        indices: Index plays: `i18`, `fab4`, `i18+fab4`, `none`, `generate`, a file, or text such as `16vT S>=0`.
        chart: Chart for all other decisions.
        optimal: Instead of `ramp`, bet what is best for the bankroll, or of highest SCORE if none is given, between
            these units, such as `1-12`. `(1, 12)` is the same.
        chip: Bets of `optimal` are multiples of this; 0: not rounded. None is 1, or 0.5 if a limit is not whole.
        leave: Leave the shoe before a round at this count, rounded down, or a lower one, for a fresh shoe.
        rounds: Rounds to play, in whole blocks of shoes, a million by default; with `until`, the most.
        until: Play until the EV per round is known to plus or minus this share of a unit (95%).
        seed: The same seed gives the same result, bit for bit.
        workers: Number of processes. None is one for each core.
        adjust_luck: Remove the luck of the cards from the returns; without, the same precision needs thousands of times
            as many rounds.
        bankroll: The bankroll in units, or in money if `unit` or `ror` is given; 1,000 units by default.
        unit: Money per unit; profits per hour are then in money.
        ror: Find the bankroll whose risk of ruin is this share; with `bankroll`, find the unit.
        kelly: Kelly fraction.
        rounds_per_hour: Rounds seen in an hour.
        trip: Hours of a trip, for its risks.
        leave_minutes: Minutes that leaving a shoe for a fresh one costs.
        checkpoint: A new file to save progress in, for `resume`. `CountResult.load` reads it too.
        resume: A checkpoint of this game to go on from. What `CountResult.save` wrote is one.
        span: The lowest and the highest count that have a row of their own, besides those of the bets.
        on_progress: Called periodically with the rounds played, and about how many there will be.

    Attributes:
        game: The rules that `rules` names.
        counting: The counting system.
        bets: The ramp, in units.
        limits: Least and greatest bet of the optimal ramp, and its spots; None where `ramp` is bet.
        terms: The bankroll and what else the figures depend on.
        most_rounds: The most rounds.
        precision: Play stops once half the interval of the EV per round is this small; 0 plays all rounds.
        leaves: The counter leaves at this count; None: never.

    Raises:
        InputError: If an argument is not accepted; the message names it.
    """

    rules: RulesLike
    system: CountingSystem | str | os.PathLike[str] = "hilo"
    ramp: Ramp | str | None = None
    indices: str | os.PathLike[str] = "i18"
    _: KW_ONLY
    chart: Chart | str | os.PathLike[str] = "optimal"
    optimal: Limits | None = None
    chip: float | None = None
    leave: int | str | None = None
    rounds: float | None = None
    until: float | None = None
    seed: int = 1
    workers: int | None = 1
    adjust_luck: bool = True
    bankroll: float | None = None
    unit: float | None = None
    ror: float | None = None
    kelly: float = 1.0
    rounds_per_hour: float = 100.0
    trip: float = 4.0
    leave_minutes: float = 5.0
    checkpoint: str | os.PathLike[str] | None = None
    resume: str | os.PathLike[str] | None = None
    span: tuple[int, int] = (0, 0)
    on_progress: OnProgress = field(default=lambda rounds, expected: None, repr=False, compare=False)
    game: Rules = field(init=False, repr=False, compare=False)
    counting: CountingSystem = field(init=False, repr=False, compare=False)
    bets: Ramp = field(init=False, repr=False, compare=False)
    limits: BetLimits | None = field(init=False, repr=False, compare=False)
    terms: Terms = field(init=False, repr=False, compare=False)
    most_rounds: int = field(init=False, repr=False, compare=False)
    precision: float = field(init=False, repr=False, compare=False)
    leaves: int | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        with naming("system"):
            counting = (
                self.system if isinstance(self.system, CountingSystem) else find_system(a_name("system", self.system))
            )
        with naming("optimal"):
            limits = None if self.optimal is None else BetLimits.of(self.optimal)
        check_fields(self)
        if None not in (self.ramp, limits):
            raise InputError(f"{argument('optimal')} and {argument('ramp')} cannot be combined; leave out one of them")
        if self.chip is not None and limits is None:
            money = ", or chips in money: '$5'" if argument("chip") == "--chip" else ""
            raise InputError(
                f"{argument('chip')} rounds the bets of {argument('optimal')}; give that too, such as 1-12{money}"
            )
        if limits and self.chip:
            limited(np.zeros(1), limits.least, limits.most, self.chip)  # which may refuse them
        if not callable(self.on_progress):
            raise InputError(f"on_progress: {a_type(self.on_progress)} is not accepted; use a function")
        bets, unit = self._bets_in_units()
        within = next((count for count in bets.counts if count.denominator > 1), None)
        if limits is None and within is not None and not counting.has_whole_counts:
            raise InputError(
                f"{argument('ramp')}: a step at {within} is not accepted with {counting.full_title}, whose counts are "
                "not whole: bets follow them rounded down; use steps at whole counts"
            )
        rounds = self.rounds or (DEFAULT_ROUNDS if self.until is None else MAX_HANDS)
        game = load_rules(self.rules)
        found = {
            "game": game, "counting": counting.replace(deck=game.deck), "bets": bets, "limits": limits,
            "terms": self._terms(unit), "leaves": _count_to_leave(self.leave),
            "most_rounds": rounds, "precision": self.until or 0.0, "workers": self.workers or usable_cores(),
        }  # fmt: skip
        for name, value in found.items():
            object.__setattr__(self, name, value)

    def _bets_in_units(self) -> tuple[Ramp, float | None]:
        """The ramp, and the money per unit; with bets in money and no `unit`, that is the lowest of them."""
        with naming("ramp"):
            if isinstance(self.ramp, Ramp):
                return self.ramp, self.unit
            ramp = Ramp.parse("1-12" if self.ramp is None else str(self.ramp).replace("$", ""))
        if "$" not in str(self.ramp):
            return ramp, self.unit
        if self.ror is not None and self.bankroll is not None:
            raise InputError(
                f"{argument('ror')} finds the unit of {argument('bankroll')}; write {argument('ramp')} in units, "
                "such as 1-12"
            )
        lowest = min(bet.units for _, bet in ramp.steps if bet.units)
        return ramp.divided(Fraction(str(self.unit)) if self.unit else lowest), self.unit or float(lowest)

    def _terms(self, unit: float | None) -> Terms:
        if None not in (self.ror, self.unit, self.bankroll):
            raise InputError(
                f"{argument('ror')} finds the bankroll or the unit; leave out one of them, or {argument('ror')}: the "
                "risk of ruin of both is always among the figures"
            )
        sought = self.bankroll is None or self.ror is not None
        bankroll = 1000.0 if sought or self.bankroll is None else self.bankroll / (unit or 1)
        money = None if self.ror is None else self.bankroll
        return Terms(bankroll, self.rounds_per_hour, self.kelly, self.trip, unit, self.ror, money, self.leave_minutes)

    @property
    def has_bankroll(self) -> bool:
        """Whether the optimal ramp is that of the bankroll; otherwise it has the highest SCORE."""
        return self.bankroll is not None and self.ror is None

    @property
    def spots(self) -> SpotSteps:
        """The spots that are bet on, by count."""
        return ((Fraction(0), self.limits.spots),) if self.limits else self.bets.spots

    @property
    def whole_span(self) -> tuple[int, int]:
        """The lowest and highest counts that have a row of their own."""
        own = (0, 0) if self.limits else self.bets.span
        return min(own[0], self.span[0]), max(own[1], self.span[1])

    @property
    def cards(self) -> object:
        """What rounds with these spots depend on: requests with equal cards can share a run."""
        if self.precision:
            return self
        defaults: dict[str, Any] = {one.name: one.default for one in fields(self) if one.name in BETS}
        return replace(self, **defaults), self.spots

    @cached_property
    def counting_game(self) -> CountingGame:
        """The game with its index plays; to generate these takes seconds. Raises: InputError."""
        return CountingGame(
            self.game, self.counting, self.departures(), None, self.spots, self.adjust_luck, self.whole_span,
            self.leaves,
        )  # fmt: skip

    def departures(self) -> Departures:
        """The index plays.

        Returns:
            The chart with its departures.

        Raises:
            InputError: If the game, the chart or the index plays are not accepted.
        """
        decks_to_count(self.game)  # before anything that takes time, or that only fits some games
        chart = self.chart if isinstance(self.chart, Chart) else find_player(a_name("chart", self.chart), self.game)
        if not isinstance(chart, Chart):
            raise InputError(f"{argument('chart', self.chart)} is not a chart; a counter departs from a chart")
        chart = replace(chart, rules=self.game)
        indices = a_name("indices", self.indices)
        if indices.strip().lower() == "none":
            return Departures(chart, ())
        asked, none = argument("indices", indices), argument("indices", "none")
        if names_sets(indices) and self.game.dealer_shows == "both":
            raise InputError(f"{asked} does not fit this game, which shows both cards; give {none} or generate")
        if indices.strip().lower() == "generate":
            return Departures(chart, generate_departures(self.game, self.counting, chart))
        with naming("indices"):
            plays = find_departures(indices)
        if not names_sets(indices):
            return Departures(chart, plays)
        hilo, own = find_system("hilo"), self.counting
        if not own.uses_true_count or (own.tags, own.deck) != (hilo.tags, hilo.deck):
            plays = adapt_departures(plays, self.game, own, chart)
        try:
            return Departures(chart, plays)
        except InputError as error:
            raise InputError(f"{asked} does not fit this game: {error}; give {none} or generate") from None

    def changed(self, **changes: object) -> CountRequest:
        """This request with other values.

        Args:
            **changes: Fields of the request, or rules.

        Returns:
            The request.

        Raises:
            InputError: If a value is not accepted.
        """
        names = {one.name for one in fields(self) if one.init}
        rules = {name: value for name, value in changes.items() if name not in names}
        own: dict[str, Any] = {name: value for name, value in changes.items() if name in names}
        if rules:
            own["rules"] = load_rules(own.get("rules", self.game)).replace(**rules)
        if own.get("ramp") is not None or own.get("optimal", "") is None:
            own = {"optimal": None, "chip": None} | own
        elif own.get("optimal") is not None:
            own["ramp"] = None
        return replace(self, **own)

    def varied(self, axes: Sequence[Sequence[tuple[str, object]]]) -> list[tuple[str, CountRequest]]:
        """Requests with the same rows, one per combination of values.

        Args:
            axes: For each axis its (name, value) pairs.

        Returns:
            The requests with their names.
        """
        points = list(itertools.product(*axes))
        names = [", ".join(f"{name}={value}" for name, value in point) for point in points]
        requests = [self.changed(checkpoint=None, resume=None, **dict(point)) for point in points]
        span = min(one.whole_span[0] for one in requests), max(one.whole_span[1] for one in requests)
        return [(name, replace(one, span=span)) for name, one in zip(names, requests, strict=True)]


def listed_axes(values: Mapping[str, object]) -> list[list[tuple[str, object]]]:
    """The axes of `CountRequest.varied` from lists of values by name. Raises: InputError."""
    axes: list[list[tuple[str, object]]] = []
    for name, listed in values.items():
        if isinstance(listed, str) or not isinstance(listed, Sequence) or not listed:
            raise InputError(f"{name}: {a_type(listed)} is not accepted; give a list of values")
        if name in UNVARIED:
            raise InputError(f"{name}: it does not vary a game; leave it out")
        axes.append([(name, value) for value in listed])
    return axes


def _count_to_leave(leave: int | str | None) -> int | None:
    if leave is None or leave == "never":
        return None
    try:
        return int(str(leave).replace("−", "-"))
    except ValueError:
        raise InputError(
            f"{argument('leave', leave)} is not accepted; use a whole count such as -1, or never"
        ) from None


# --- The bets of a request in the rows of a run, and what there is to remark about them.


def place_bets(run: CountRun, request: CountRequest) -> Floats:
    if request.limits:
        bets = _optimal(run, request, request.terms.kelly)
        if not bets.any():
            raise InputError(
                f"{argument('optimal')}: the best bet is 0 at every count; give a larger {argument('bankroll')}, or a "
                f"smaller {argument('chip')}"
            )
    else:
        bets = np.array(request.bets.units(run.returns.counts))
        if not bets.any():
            raise InputError(
                f"{argument('ramp', str(request.bets))} has no bet at the counts of the table, {run.labels[0]} to "
                f"{run.labels[-1]}; bet at one of them"
            )
    asked = np.array([spots_at(request.spots, count) for count in run.counts])
    if request.spots != ONE_SPOT and (asked != run.spots)[bets > 0].any():
        played = ", ".join(f"{spots} from a count of {count}" for count, spots in run.game.spots)
        raise InputError(f"the stored run has other spots than these bets: {played}; leave out x, or play again")
    return bets


def remarks(run: CountRun, request: CountRequest, bets: Floats, ramp: RampReturns) -> tuple[str, ...]:
    """What a caller should know about the bets; empty if nothing is unusual."""
    notes = _riskier(run, request, ramp) if request.limits else _unreached(run, request.bets, bets)
    unsure = ("the interval of the EV contains 0, so SCORE, N0 and risk of ruin have none",)
    return (*_left(run, request), *notes, *(unsure if ramp.may_break_even else ()))


def _left(run: CountRun, request: CountRequest) -> tuple[str, ...]:
    """What leaving shoes costs in time, as a remark; none if no shoe is left."""
    if not run.left_per_round:
        return ()
    share, terms = run.left_per_round * run.rounds_per_shoe, request.terms
    left = terms.leaving(run.left_per_round).rounds_per_hour
    return (
        f"{share:.1%} of the shoes are left, at {terms.leave_minutes:g} minutes each ({argument('leave_minutes')}): "
        f"{left:.1f} rounds an hour in place of {terms.rounds_per_hour:g}; SCORE is of 100 rounds",
    )


def _optimal(run: CountRun, request: CountRequest, kelly: float) -> Floats:
    assert request.limits
    least, most, _ = request.limits
    chip = request.chip
    if chip is None:
        chip = next((size for size in (1.0, 0.5) if least % size == 0 and most % size == 0), 0.0)
    if request.has_bankroll:
        return kelly_ramp(run.returns, request.terms.bankroll, kelly, least, most, chip, run.spots)
    return best_ramp(run.returns, least, most, chip, run.spots)


def _riskier(run: CountRun, request: CountRequest, ramp: RampReturns) -> tuple[str, ...]:
    """Remarks if a Kelly fraction below 1 raises the risk of ruin, because lowest bets stay what they are."""
    terms = request.terms
    assert request.limits
    if not request.has_bankroll or terms.kelly >= 1 or not request.limits.least:
        return ()
    full = ramp_returns(run.returns, _optimal(run, request, 1.0), run.spots)
    ruin, other = (ruin_probability(one.ev, one.sd, terms.bankroll) for one in (ramp, full))
    if ruin <= other:
        return ()
    return (
        f"with a Kelly fraction of {terms.kelly:g} the risk of ruin is {ruin:.2%}, and {other:.2%} with 1: bets become "
        f"smaller at good counts, while those of {request.limits.least:g} at bad counts stay; give a larger "
        f"{argument('bankroll')}, or a lowest bet of 0",
    )


def _unreached(run: CountRun, ramp: Ramp, bets: Floats) -> tuple[str, ...]:
    """Remarks if no row of the table has one of the ramp's bets."""
    missing = sorted({float(bet.units) for _, bet in ramp.steps} - set(bets.tolist()))
    if not missing:
        return ()
    units = ", ".join(f"{bet:g}" for bet in missing)
    return (f"never bet: {units}; each row from {run.labels[0]} to {run.labels[-1]} has one bet for all its counts",)


# --- Plays a requested game, to the precision that is asked for.


def play_request(request: CountRequest, keep_units: bool = False, on_progress: OnProgress | None = None) -> CountRun:
    """Play a request to its end; `keep_units` if differences to other games will be asked for.

    `on_progress`, in place of the request's, is called after every block with the rounds so far and about how many
    there will be. An interrupt or a full disk leaves what is known so far, unless it is for differences.
    """
    check_checkpoints(request.checkpoint, request.resume)
    on_progress = on_progress or request.on_progress

    def expected(run: CountRun) -> float:
        times = (_half(run, request) / request.precision) ** 2 if request.precision else 0.0
        return min(request.most_rounds, run.rounds * times) if times else request.most_rounds

    run = None
    try:
        with closing(counted_blocks(request, keep_units)) as blocks:
            for run in blocks:
                on_progress(run.rounds, expected(run))
    except (KeyboardInterrupt, NotSaved) as error:
        if run is None or keep_units:
            raise
        return replace(run, stopped=True, failure=str(error))
    assert run is not None
    return run


def counted_blocks(request: CountRequest, keep_units: bool = False) -> Generator[CountRun, None, None]:
    enough = (lambda run: _half(run, request) <= request.precision) if request.precision else None
    length = request.most_rounds, request.seed, request.workers, enough
    kept = request.checkpoint or request.resume
    return count_blocks(request.counting_game, *length, keep_units, kept, request.resume is not None)


def _half(run: CountRun, request: CountRequest) -> float:
    """Half the interval of the EV per round; infinite while the counts that have a bet are too rare for a row."""
    try:
        bets = place_bets(run, request)
    except InputError:
        if run.rounds >= RARE:
            raise
        return math.inf
    ramp = ramp_returns(run.returns, bets, run.spots)
    return ramp.half_width(lambda ev, sd: ev)


def play_apart(request: CountRequest, label: str) -> CountRun:
    """Play one of several games that will be compared. Raises: InputError."""
    return play_request(request, keep_units=True)
