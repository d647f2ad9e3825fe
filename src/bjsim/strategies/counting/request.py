"""The validated parameters of a counted game, which the command line and `bjsim.count` build alike."""

from __future__ import annotations

import itertools
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from numbers import Real
from typing import Any

from bjsim.arguments import MAX_HANDS, MAX_WORKERS, a_name, a_type, argument, naming, share, whole_number
from bjsim.errors import InputError
from bjsim.sim.game.presets import load_rules
from bjsim.sim.game.random_stream import MAX_SEED
from bjsim.sim.game.rules import Rules
from bjsim.sim.running.workers import usable_cores
from bjsim.strategies.charts.chart import Chart
from bjsim.strategies.counting.departures import Departures, find_departures, names_sets
from bjsim.strategies.counting.figures import Terms
from bjsim.strategies.counting.ramp import BetLimits, Ramp, SpotSteps
from bjsim.strategies.counting.system import CountingSystem
from bjsim.strategies.counting.systems import find_system
from bjsim.strategies.counting.typical import decks_to_count
from bjsim.strategies.players.find import find_player

DEFAULT_ROUNDS = 10**6
BETS = ("ramp", "optimal", "chip", "bankroll", "unit", "ror", "kelly", "rounds_per_hour", "trip", "leave_minutes")
Limits = BetLimits | tuple[float, float] | tuple[float, float, int] | str


@dataclass(frozen=True)
class CountRequest:
    """A counted game, its bets and the length of play, checked when made; the fields are those of `bjsim.count`.

    Attributes:
        limits: Least and greatest bet of the optimal ramp, and its spots; None where `ramp` is bet.
        precision: Play stops once half the interval of the EV per round is this small; 0 plays all rounds.
        leaves: The counter leaves at this count; None: never.
        span: Counts that have a row of their own, besides those of the bets.
    """

    rules: Rules | str | os.PathLike[str]
    system: CountingSystem | str | os.PathLike[str] = "hilo"
    ramp: Ramp | str = "1-12"
    indices: str | os.PathLike[str] = "i18"
    chart: Chart | str | os.PathLike[str] = "optimal"
    optimal: Limits | None = None
    chip: float | None = None
    leave: int | str | None = None
    rounds: float | None = None
    until: float | None = None
    seed: int = 1
    workers: int | None = None
    adjust_luck: bool = True
    bankroll: float | None = None
    unit: float | None = None
    ror: float | None = None
    kelly: float = 1.0
    rounds_per_hour: float = 100.0
    trip: float = 4.0
    leave_minutes: float = 5.0
    span: tuple[int, int] = (0, 0)
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
        for name in BETS[2:]:
            number = getattr(self, name)
            if number is not None and (isinstance(number, bool) or not isinstance(number, Real)):
                raise InputError(f"{argument(name)}: {a_type(number)} is not accepted; use a number")
        bets, unit = self._bets_in_units()
        rounds = (DEFAULT_ROUNDS if self.until is None else MAX_HANDS) if self.rounds is None else self.rounds
        game = self.rules if isinstance(self.rules, Rules) else load_rules(self.rules)
        self._set(
            game=game, counting=counting.replace(deck=game.deck), bets=bets, limits=limits,
            terms=self._terms(unit), leaves=_count_to_leave(self.leave),
            most_rounds=whole_number(argument("rounds"), rounds, 1, MAX_HANDS),
            precision=0.0 if self.until is None else share("until", self.until),
            seed=whole_number(argument("seed"), self.seed, 0, MAX_SEED),
            workers=whole_number(argument("workers"), self.workers or usable_cores(), 1, MAX_WORKERS),
        )  # fmt: skip

    def _set(self, **values: object) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def _bets_in_units(self) -> tuple[Ramp, float | None]:
        """The ramp, and the money per unit; with bets in money and no `unit`, that is the lowest of them."""
        with naming("ramp"):
            if isinstance(self.ramp, Ramp):
                return self.ramp, self.unit
            ramp = Ramp.parse(str(self.ramp).replace("$", ""))
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

    def departures(self) -> Departures:
        decks_to_count(self.game)  # before anything that takes time, or that only fits some games
        chart = self.chart if isinstance(self.chart, Chart) else find_player(a_name("chart", self.chart), self.game)
        if not isinstance(chart, Chart):
            raise InputError(f"{argument('chart', self.chart)} is not a chart; a counter departs from a chart")
        indices = a_name("indices", self.indices)
        if indices == "none":
            return Departures(chart, ())
        if indices == "generate":
            from bjsim.strategies.counting.indices import generate_departures

            return Departures(chart, generate_departures(self.game, self.counting, chart))
        with naming("indices"):
            plays = find_departures(indices)
        hilo = find_system("hilo")
        if names_sets(indices) and (self.counting.tags, self.counting.deck) != (hilo.tags, hilo.deck):
            from bjsim.strategies.counting.indices import adapt_departures

            plays = adapt_departures(plays, self.game, self.counting, chart)
        if not names_sets(indices):
            return Departures(chart, plays)
        try:
            return Departures(chart, plays)
        except InputError as error:
            asked, none = argument("indices", indices), argument("indices", "none")
            raise InputError(f"{asked} does not fit this game: {error}; give {none} or generate") from None

    def changed(self, **changes: object) -> CountRequest:
        """This request with other values of its fields or of its rules. Raises: InputError."""
        names = {one.name for one in fields(self) if one.init}
        rules = {name: value for name, value in changes.items() if name not in names}
        own: dict[str, Any] = {name: value for name, value in changes.items() if name in names}
        if rules:
            own["rules"] = self.game.replace(**rules)
        if "ramp" in own:
            own.setdefault("optimal", None)
        return replace(self, **own)

    def varied(self, axes: Sequence[Sequence[tuple[str, object]]]) -> list[tuple[str, CountRequest]]:
        """Return named requests with the same rows, one per combination of a (name, value) of each axis."""
        requests = [
            (", ".join(f"{name}={value}" for name, value in point), self.changed(**dict(point)))
            for point in itertools.product(*axes)
        ]
        span = min(one.whole_span[0] for _, one in requests), max(one.whole_span[1] for _, one in requests)
        return [(name, replace(one, span=span)) for name, one in requests]


def listed_axes(values: Mapping[str, object]) -> list[list[tuple[str, object]]]:
    """The axes of `CountRequest.varied` from lists of values by name. Raises: InputError."""
    axes: list[list[tuple[str, object]]] = []
    for name, listed in values.items():
        if isinstance(listed, str) or not isinstance(listed, Sequence) or not listed:
            raise InputError(f"{name}: {a_type(listed)} is not accepted; give a list of values")
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
