"""A bank under flat bets, by exact dynamic programming over the bank and the rounds left.

The profits of a round lie on a lattice, whose step is a fraction of the bet; so does the bank. Play stops when the bank
is below the floor (by default one bet) or reaches the goal. A round that begins is played to its end: a double or a
split may take more than the bank holds.

In a finite shoe, the rounds are taken as independent, each with the exact value and standard deviation of the first
round of a full shoe: the distribution of the infinite shoe is tilted until it has them. `approximation` says so.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from functools import partial
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bjsim.arguments import argument, exact_number, flag, names_wrong_types, parse_fraction, whole_number
from bjsim.arrays import Floats
from bjsim.errors import InputError
from bjsim.report.data import Described
from bjsim.report.parts import Axis, Curves, DataColumn, DataTable, Figures, Line, Notes, Panel, Report, Value, share
from bjsim.sim.game.events import game_text
from bjsim.sim.game.presets import RulesLike, load_rules
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.support import need
from bjsim.strategies.counting.ramp import ruin_probability, trip_ruin_probability
from bjsim.strategies.evaluation.compare import solve_exactly
from bjsim.strategies.exact.payoffs import round_payoffs
from bjsim.strategies.exact.solver import Solver

# --- The lattice on which the profits of a round and the bank lie, and what becomes of a bank on it.


MOST_STEPS = 100_000
NEGLIGIBLE = 1e-20  # probability at an edge of the lattice that is left out
NEWTON_STEPS, CLOSE = 50, 1e-11  # of `tilt`: at most, and the relative error of its moments


class Lattice(NamedTuple):
    """The profits of a round, in multiples of `unit`, an amount of money.

    `low` is the largest loss in units, and `chance` has the probability of a profit of -low, 1 - low, ... units.
    """

    unit: Fraction
    low: int
    chance: Floats


def to_units(name: str, value: Fraction, unit: Fraction) -> int:
    """An amount in units. Raises: InputError: It is not a multiple of the unit, or too large."""
    units = value / unit
    if units.denominator != 1:
        raise InputError(
            f"{argument(name)}: {float(value):g} is not a multiple of {float(unit):g}, the smallest step of the payoffs"
        )
    if units > MOST_STEPS:
        raise InputError(f"{argument(name)}: {float(value):g} is more than {MOST_STEPS} times the smallest payoff")
    return int(units)


def tilt(profits: Mapping[Fraction, float], mean: float, sd: float | None = None) -> dict[Fraction, float]:
    """Return profit -> probability by the distribution p(x) exp(t x + u x^2) / c of this mean and standard deviation.

    Without a standard deviation, u is 0. Raises: InputError: No such distribution was found.
    """
    p, powers = np.array([*profits.values()]), np.array([[float(x) ** n for x in profits] for n in (1, 2)])
    wanted = np.array([mean, 0.0 if sd is None else mean**2 + sd**2])[: 1 if sd is None else 2]
    powers = powers[: len(wanted)]
    t = np.zeros(len(wanted))
    for _ in range(NEWTON_STEPS):
        with np.errstate(over="ignore", invalid="ignore"):
            weights = p * np.exp(t @ powers)
            weights /= weights.sum()
            found = powers @ weights
        if not np.isfinite(found).all():
            break
        if np.abs(found - wanted).max() <= CLOSE * max(1.0, np.abs(wanted).max()):
            return dict(zip(profits, weights.tolist(), strict=True))
        spread = (powers * weights) @ powers.T - np.outer(found, found)  # singular if all squares are the same
        t += np.linalg.lstsq(spread, wanted - found, rcond=None)[0]
    moments = f"the mean {mean:g}" + ("" if sd is None else f" and the standard deviation {sd:g}")
    raise InputError(f"the profits of a round cannot have {moments}")


def make_lattice(profits: Mapping[Fraction, float], bet: Fraction) -> Lattice:
    if not (all(p >= -1e-12 for p in profits.values()) and abs(math.fsum(profits.values()) - 1) <= 1e-9):
        raise InputError("payoffs: the probabilities are not a distribution; they must not be negative and sum to 1")
    if not min(profits) < 0 < max(profits):
        raise InputError("payoffs: a round must be able to win and to lose")
    parts = math.lcm(*(profit.denominator for profit in profits))
    unit = Fraction(math.gcd(*(int(profit * parts) for profit in profits)), parts)
    low, high = int(-min(profits) / unit), int(max(profits) / unit)
    if low + high > 10_000:
        raise InputError("payoffs: the profits have no common step that is large enough")
    chance = np.zeros(low + high + 1)
    for profit, p in profits.items():
        chance[low + int(profit / unit)] += p
    return Lattice(unit * bet, low, chance / chance.sum())


def play_on(
    lattice: Lattice, start: int, floor: int, goal: int | None, rounds: int
) -> tuple[int, Floats, float, float, float]:
    """What becomes of a bank of `start` units within some rounds.

    Returns: the least bank that plays on after the rounds, the probabilities of banks from it on, those of ruin and of
    the goal within the rounds, and the expected rounds.
    """
    first, alive = start, np.ones(1)
    ruin = reached = expected = 0.0
    for _ in range(rounds):
        expected += float(alive.sum())
        alive, first = np.convolve(alive, lattice.chance), first - lattice.low
        if first < floor:
            ruin += float(alive[: floor - first].sum())
            alive, first = alive[floor - first :], floor
        if goal is not None and first + len(alive) > goal:
            reached += float(alive[max(goal - first, 0) :].sum())
            alive = alive[: max(goal - first, 0)]
        if not len(alive):
            break
        alive, cut = trim(alive)
        first += cut
    return first, alive, ruin, reached, expected


def trim(chances: Floats) -> tuple[Floats, int]:
    """The probabilities without negligible ends, and how many are left out before the first."""
    kept = np.flatnonzero(chances > NEGLIGIBLE)
    return (chances[kept[0] : kept[-1] + 1], int(kept[0])) if len(kept) else (chances[:1], 0)


def after(lattice: Lattice, rounds: int) -> dict[int, float]:
    """The distribution of the result after some rounds without a stop, in units."""
    result, first = np.ones(1), 0
    power, low = lattice.chance, -lattice.low
    while rounds:
        if rounds & 1:
            result, cut = trim(np.convolve(result, power))
            first += low + cut
        rounds >>= 1
        if rounds:
            power, cut = trim(np.convolve(power, power))
            low = 2 * low + cut
    return {first + place: p for place, p in enumerate(result.tolist()) if p > 0}


MOST_ROUNDS = 100_000
APPROXIMATION = "rounds count as independent, with the value and, where known, the standard deviation of a fresh shoe"
Amount = float | Fraction | str


@dataclass(frozen=True)
class Bonus:
    """The value of a wagering bonus to a player who plays all rounds.

    Attributes:
        value: Expected gain, bonus included.
        completed: Probability that all rounds are played: the bank is enough for a bet before each of them.
        formula: The bonus, unless it is taken, and the expected profit of all rounds: what it would be without ruin.
    """

    value: float
    completed: float
    formula: float


@dataclass(frozen=True, repr=False)
class BankResult(Described):
    """What becomes of a bank under flat bets. Amounts are in the currency of the bank.

    Attributes:
        ev: Expected profit of a round.
        sd: Standard deviation of a round; in an infinite shoe with bonuses by suits as they are paid, not by the mean
            over suits, as `Solution.sd_of` and finite shoes have it.
        ruin: Probability that the bank falls below the floor within the rounds, before it reaches the goal.
        goal: Probability that it reaches the goal within the rounds, before it falls below the floor; None
            without a goal.
        rounds: Expected rounds until play stops.
        ruin_formula: Probability of ruin within the rounds, without a goal, for a Brownian motion.
        ever_formula: Probability of ruin ever by exp(-2 e B / s^2); 1 for a losing game.
        results: Result -> probability after all rounds, if play never stops.
        rebate: The best stops under a rebate, if there is one.
        bonus: The value of a wagering bonus, if there is one.
        approximation: What is not exact in a finite shoe, in words; else empty.
        game: The game, in words.
    """

    ev: float
    sd: float
    ruin: float
    goal: float | None
    rounds: float
    ruin_formula: float
    ever_formula: float
    results: Mapping[float, float]
    rebate: Rebate | None = None
    bonus: Bonus | None = None
    approximation: str = ""
    game: str = ""

    def __repr__(self) -> str:
        return f"BankResult(ruin {self.ruin:.6f}, {self.rounds:,.2f} rounds expected)"

    def describe(self) -> Report:
        """Ruin, goal and result, and the value of a promotion."""
        chance = partial(share, digits=2) if self.approximation else share
        figures = [
            Value("", "profit of a round", self.ev, PROFIT),
            Value("", "its standard deviation", self.sd, "{:.7g}".format),
            Value("mean", "profit of all rounds, without a stop", self.mean, PROFIT),
            Value("deviation", "its standard deviation", self.deviation, "{:.6g}".format),
            Value("", "ruin within them", self.ruin, chance),
            Value("", "goal within them", self.goal, chance),
            Value("", "expected rounds", self.rounds, "{:.2f}".format),
            Value("", "ruin by Brownian motion, without a goal", self.ruin_formula, share),
            Value("", "ruin ever, exp(-2eB/s^2)", self.ever_formula, share),
        ]
        line = Line("probability", [*self.results], [*self.results.values()])
        parts = [
            Figures(figures),
            *self._promotions(),
            DataTable("results", RESULTS, [*self.results.items()]),
            Curves(
                [Panel("The result of all rounds, without a stop", [line])],
                Axis("result"),
                Axis("", partial(share, digits=2)),
            ),
        ]
        about = [f"approximate: {self.approximation}"] if self.approximation else []
        return Report("What becomes of a bank", [self.game, *about], parts, data=partial(asdict, self))

    def _promotions(self) -> list[Any]:
        parts: list[Any] = []
        if bonus := self.bonus:
            gains = [
                Value("", "gain", bonus.value, PROFIT),
                Value("", "all rounds are played with", bonus.completed, share),
                Value("", "gain without ruin", bonus.formula, PROFIT),
            ]
            parts.append(Figures(gains, "The bonus, which the bank begins with"))
        if best := self.rebate:
            upper = "never above" if best.stop_at is None else f"at {best.stop_at:,.12g} or more"
            stops = f"to stop below {best.stop_below:,.12g}, and {upper}, with all rounds left"
            gains = [
                Value("", "gain", best.value, PROFIT),
                Value("", "expected rounds", best.rounds, "{:.2f}".format),
                Value("", "gain per round, of a bet", best.per_round, share),
                Value("", "paid back in", best.paid, partial(share, digits=2)),
            ]
            parts += [Figures(gains, "The rebate"), Notes([f"it is best {stops if best.rounds else 'not to play'}"])]
        return parts

    @property
    def mean(self) -> float:
        """The mean of `results`."""
        return math.fsum(result * p for result, p in self.results.items())

    @property
    def deviation(self) -> float:
        """The standard deviation of `results`."""
        mean = self.mean
        return math.sqrt(math.fsum((result - mean) ** 2 * p for result, p in self.results.items()))


PROFIT = "{:+.6g}".format
RESULTS = (DataColumn("result", "", itemgetter(0)), DataColumn("probability", "", itemgetter(1)))


@names_wrong_types
def bank(
    rules: RulesLike,
    bankroll: Amount,
    rounds: float | str,
    *,
    bet: Amount = 1,
    goal: Amount | None = None,
    floor: Amount | None = None,
    rebate: Amount | None = None,
    rebate_from: Amount | None = None,
    bonus: Amount | None = None,
    sticky: bool = False,
    payoffs: Mapping[Fraction, float] | None = None,
) -> BankResult:
    """Compute what becomes of a bank under flat bets and the best chart.

    Args:
        rules: The game. In a finite shoe, the rounds are independent and have the exact value of a fresh shoe.
        bankroll: The bank at the beginning.
        rounds: The most rounds that are played, up to 100,000.
        bet: The bet of every round.
        goal: The bank at which play stops.
        floor: The bank below which no bet is made; by default one bet.
        rebate: Share of a loss that is paid back; the best stops are then found too.
        rebate_from: The least loss that is paid back in part; by default any.
        bonus: Added to the bank at the beginning; all rounds must be played: a bank that falls below the floor before
            then is lost.
        sticky: Take the bonus back from what is left after the rounds.
        payoffs: The distribution of a round instead of the game's: profit in bets -> probability.

    Returns:
        The probabilities, and the distribution of the result.

    Raises:
        InputError: An argument is not accepted, or an amount is not a multiple of the chips of a round.

    Examples:
        >>> found = bank("vegas-s17", 20, 100, payoffs={1: 0.5, -1: 0.5})
        >>> f"{found.ruin:.4f} {found.deviation:.1f}"
        '0.0460 10.0'
    """
    game = load_rules(rules)
    played = whole_number(argument("rounds"), rounds, 1, MOST_ROUNDS)
    amounts = _read_amounts(bankroll=bankroll, bet=bet, goal=goal, floor=floor, rebate_from=rebate_from, bonus=bonus)
    taken = flag("sticky", sticky)
    if bonus is None and taken:
        raise InputError(f"{argument('sticky')} needs {argument('bonus')}")
    if bonus is not None and (goal is not None or rebate is not None):
        others = f"{argument('goal')} and {argument('rebate')}"
        raise InputError(f"{argument('bonus')}: all rounds are played; leave out {others}")
    if rebate is None and rebate_from is not None:
        raise InputError(f"{argument('rebate_from')} needs {argument('rebate')}")
    part = None if rebate is None else exact_number(argument("rebate"), rebate, 1, "a share, such as 0.2")
    profits = best_payoffs(game) if payoffs is None else _read_payoffs(payoffs)
    lattice = make_lattice(profits, amounts["bet"])
    units = {name: to_units(name, value, lattice.unit) for name, value in amounts.items()}
    found = _find_result(lattice, units, played, part)
    if payoffs is None:
        found = replace(found, game=game_text(game), approximation="" if game.infinite else APPROXIMATION)
    return found if bonus is None else replace(found, bonus=_find_bonus(lattice, units, played, taken))


POSITIVE = ("bet", "bankroll")


def _read_amounts(**given: object) -> dict[str, Fraction]:
    """The amounts by name, without a goal if there is none. Raises: InputError: They do not go together."""
    given["floor"] = given["bet"] if given["floor"] is None else given["floor"]
    given["rebate_from"] = 0 if given["rebate_from"] is None else given["rebate_from"]
    amounts = {
        name: exact_number(
            argument(name), value, 10**12, f"an amount {'above' if name in POSITIVE else 'from'} 0, up to 1e12"
        )
        for name, value in given.items()
        if value is not None
    }
    for name in POSITIVE:
        if not amounts.get(name):
            raise InputError(f"{argument(name)}: use an amount above 0")
    if not amounts["floor"] <= amounts["bankroll"] < amounts.get("goal", math.inf):
        raise InputError(
            f"{argument('bankroll')}: {float(amounts['bankroll']):g} is not between {argument('floor')} and "
            f"{argument('goal')}; the floor is {float(amounts['floor']):g}"
        )
    return amounts


def _read_payoffs(payoffs: Mapping[Fraction, float]) -> dict[Fraction, float]:
    try:
        return {parse_fraction(profit): float(p) for profit, p in payoffs.items()}
    except (AttributeError, TypeError, ValueError, ArithmeticError):
        raise InputError("payoffs: give the probability of each profit, such as {1: 0.49, -1: 0.51}") from None


def _find_result(lattice: Lattice, units: Mapping[str, int], rounds: int, rebate: Fraction | None) -> BankResult:
    unit = float(lattice.unit)
    steps = np.arange(len(lattice.chance)) - lattice.low
    ev = float(steps @ lattice.chance)
    sd = math.sqrt(float(steps**2 @ lattice.chance) - ev**2)
    start = units["bankroll"] + units.get("bonus", 0)
    *_, ruined, reached, mean_rounds = play_on(lattice, start, units["floor"], units.get("goal"), rounds)
    least = start - units["floor"] + 1
    return BankResult(
        ev=ev * unit,
        sd=sd * unit,
        ruin=ruined,
        goal=reached if "goal" in units else None,
        rounds=mean_rounds,
        ruin_formula=trip_ruin_probability(ev, sd, least, rounds),
        ever_formula=ruin_probability(ev, sd, least),
        results={step * unit: p for step, p in after(lattice, rounds).items()},
        rebate=None if rebate is None else best_stops(lattice, units, rounds, rebate),
    )


def best_payoffs(rules: Rules) -> dict[Fraction, float]:
    """Return profit in bets -> probability for the best chart's rounds; its mean is exact for the game's shoe.

    So is its standard deviation where it is known.
    """
    need(rules, "bank")
    solution = solve_exactly(rules)
    profits = round_payoffs(solution if isinstance(solution, Solver) else Solver(rules), solution.chart)
    if solution.infinite:
        return profits
    sd = None
    with suppress(InputError):
        sd = solution.sd
    return tilt(profits, float(solution.value), sd)


def _find_bonus(lattice: Lattice, units: Mapping[str, int], rounds: int, sticky: bool) -> Bonus:
    start = units["bankroll"] + units["bonus"]
    first, alive, *_ = play_on(lattice, start, units["floor"], None, rounds - 1)
    alive, first = np.convolve(alive, lattice.chance), first - lattice.low  # after the last round, no bet is needed
    paid = np.arange(first, first + len(alive)) - units["bonus"] * sticky
    gain = float(alive @ paid.clip(0)) - units["bankroll"]
    steps = np.arange(len(lattice.chance)) - lattice.low
    formula = units["bonus"] * (not sticky) + rounds * float(steps @ lattice.chance)
    return Bonus(gain * float(lattice.unit), float(alive.sum()), formula * float(lattice.unit))


# --- The best stops under a rebate on losses: exact optimal stopping over the bank and the rounds left.


MOST_WORK = 500_000_000  # banks times rounds
TINY = 1e-12  # units; a gain that is not larger is no reason to play on


@dataclass(frozen=True)
class Rebate:
    """The best play under a rebate.

    Attributes:
        value: Expected gain from best play, rebate included; 0 if it is best not to play.
        rounds: Expected rounds.
        per_round: The gain in bets per round; 0 without one.
        stop_below: With all rounds left, play goes on down to this bank, and stops below it.
        stop_at: With all rounds left, play stops at this bank; None if it never does; the goal, if play stops only
            there.
        paid: Probability that the rebate is paid.
    """

    value: float
    rounds: float
    per_round: float
    stop_below: float
    stop_at: float | None
    paid: float


def best_stops(lattice: Lattice, amounts: Mapping[str, int], rounds: int, share: Fraction) -> Rebate:
    """Find the best stops, and their gain, under a rebate that pays back `share` of a loss.

    `amounts`, in units: the bankroll, the bet, the floor below which no bet is made, rebate_from, the least loss
    of which a share is paid back, and, if there is one, the goal at which play stops in any case.
    """
    start, floor, goal = amounts["bankroll"], amounts["floor"], amounts.get("goal")
    high = len(lattice.chance) - 1 - lattice.low
    most = start + rounds * high if goal is None else goal - 1
    room = 64 * max(high, lattice.low)
    while True:
        top = min(start + room, most)
        if (top - floor) * rounds > MOST_WORK:
            raise InputError(
                f"{argument('rounds')}: {rounds} are too many where stopping need not be best; give {argument('goal')}"
            )
        values, played, paid, plays = _solve(lattice, start, floor, top, rounds, share, amounts["rebate_from"])
        quits = np.flatnonzero(~plays[start - floor :])
        # beyond the top, play stops; so the top must be where it stops anyway, by more than one round's profit
        if top == most or (len(quits) and not plays[-high - lattice.low :].any()):
            break
        room *= 2
    unit, place = float(lattice.unit), start - floor
    below = place
    while below > 0 and plays[below - 1]:
        below -= 1
    at = start + int(quits[0]) if len(quits) else goal
    gain, expected = float(values[place]), float(played[place])
    return Rebate(
        value=gain * unit,
        rounds=expected,
        per_round=gain / amounts["bet"] / expected if expected else 0.0,
        stop_below=(floor + below) * unit,
        stop_at=None if at is None else at * unit,
        paid=float(paid[place]),
    )


def _solve(
    lattice: Lattice, start: int, floor: int, top: int, rounds: int, share: Fraction, least: int
) -> tuple[Floats, Floats, Floats, NDArray[np.bool_]]:
    """For banks from the floor to the top: value, rounds, chance of the rebate, and whether play goes on."""
    low, high = lattice.low, len(lattice.chance) - 1 - lattice.low
    results = np.arange(floor - low, top + high + 1) - start
    rebated = (results < 0) & (results <= -least)
    stop = np.where(rebated, (1 - float(share)) * results, results).astype(np.float64)
    inside = slice(low, len(results) - high)
    value, played, paid = stop.copy(), np.zeros(len(stop)), rebated.astype(np.float64)
    here = stop[inside], rebated[inside].astype(np.float64)
    kernel = lattice.chance[::-1]
    plays = np.zeros(len(here[0]), np.bool_)
    for _ in range(rounds):
        on = np.convolve(value, kernel, "valid")
        plays = on > here[0] + TINY
        more, back = np.convolve(played, kernel, "valid"), np.convolve(paid, kernel, "valid")
        value[inside] = np.where(plays, on, here[0])
        played[inside] = np.where(plays, 1 + more, 0)
        paid[inside] = np.where(plays, back, here[1])
    return value[inside], played[inside], paid[inside], plays
