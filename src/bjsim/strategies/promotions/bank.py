"""A bank under flat bets, by exact dynamic programming over the bank and the rounds left.

The profits of a round lie on a lattice, whose step is a fraction of the bet; so does the bank. Play stops when the bank
is below the floor (by default one bet) or reaches the goal. A round that begins is played to its end: a double or a
split may take more than the bank holds.

In a finite shoe, the rounds are taken as independent, each with the exact value of the first round of a full shoe: the
distribution of the infinite shoe is tilted, p(x) exp(t x), until its mean is that value.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from bjsim.arguments import argument, exact_number, whole_number
from bjsim.errors import InputError
from bjsim.sim.game.presets import load_rules
from bjsim.sim.game.rules import Rules
from bjsim.strategies.counting.risk import ruin_probability, trip_ruin_probability
from bjsim.strategies.evaluation.best import solve
from bjsim.strategies.exact.payoffs import round_payoffs
from bjsim.strategies.exact.solver import Solver
from bjsim.strategies.promotions.rebate import Lattice, Rebate, best_stops

Floats = NDArray[np.float64]
MOST_ROUNDS, MOST_STEPS = 100_000, 100_000
NEGLIGIBLE = 1e-20  # probability at an edge of the lattice that is left out


@dataclass(frozen=True)
class BankResult:
    """What becomes of a bank under flat bets. Amounts are in the currency of the bank.

    Attributes:
        ev: Expected profit of a round.
        sd: Standard deviation of a round.
        ruin: Probability that the bank falls below the floor within the rounds, before it reaches the goal.
        goal: Probability that it reaches the goal within the rounds, before it falls below the floor; 0 without a goal.
        rounds: Expected rounds until play stops.
        ruin_formula: Probability of ruin within the rounds, without a goal, for a Brownian motion.
        ever_formula: Probability of ruin ever by exp(-2 e B / s^2); 1 for a losing game.
        results: Result -> probability after all rounds, if play never stops.
        rebate: The best stops under a rebate, if there is one.
    """

    ev: float
    sd: float
    ruin: float
    goal: float
    rounds: float
    ruin_formula: float
    ever_formula: float
    results: Mapping[float, float]
    rebate: Rebate | None = None

    @property
    def mean(self) -> float:
        """The mean of `results`."""
        return math.fsum(result * p for result, p in self.results.items())

    @property
    def deviation(self) -> float:
        """The standard deviation of `results`."""
        mean = self.mean
        return math.sqrt(math.fsum((result - mean) ** 2 * p for result, p in self.results.items()))


def bank(
    rules: Rules | str | os.PathLike[str],
    bankroll: object,
    rounds: object,
    *,
    bet: object = 1,
    goal: object = None,
    floor: object = None,
    rebate: object = None,
    rebate_from: object = None,
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
        rebate: Share of the loss that is paid back, such as 0.2; the best stops are then found too.
        rebate_from: The least loss that is paid back in part; by default any.
        payoffs: The distribution of a round instead of the game's: profit in bets -> probability.

    Returns:
        The probabilities, and the distribution of the result.

    Raises:
        InputError: An argument is not accepted, or an amount is not a multiple of the chips of a round.

    Examples:
        >>> found = bank("vegas-s17", 20, 100, payoffs={1: 0.5, -1: 0.5})
        >>> f"{found.ruin:.4f} {found.deviation:.1f}"
        '0.0569 10.0'
    """
    game = rules if isinstance(rules, Rules) else load_rules(rules)
    played = whole_number(argument("rounds"), rounds, 1, MOST_ROUNDS)
    amounts = _read_amounts(bankroll=bankroll, bet=bet, goal=goal, floor=floor, rebate_from=rebate_from)
    if rebate is None and rebate_from is not None:
        raise InputError(f"{argument('rebate_from')} needs {argument('rebate')}")
    part = None if rebate is None else exact_number(argument("rebate"), rebate, 1, "a share, such as 0.2")
    lattice = make_lattice(_read_payoffs(payoffs) if payoffs else best_payoffs(game), amounts["bet"])
    return _find_result(lattice, amounts, played, part)


def _read_amounts(**given: object) -> dict[str, Fraction]:
    """The amounts by name, without a goal if there is none. Raises: InputError: They do not go together."""
    given["floor"] = given["bet"] if given["floor"] is None else given["floor"]
    given["rebate_from"] = 0 if given["rebate_from"] is None else given["rebate_from"]
    use = "an amount from 0 to 1e12"
    amounts = {
        name: exact_number(argument(name), value, 10**12, use) for name, value in given.items() if value is not None
    }
    for name in ("bet", "bankroll"):
        if not amounts[name]:
            raise InputError(f"{argument(name)}: use an amount above 0")
    if not amounts["floor"] <= amounts["bankroll"] < amounts.get("goal", math.inf):
        raise InputError(
            f"{argument('bankroll')}: {float(amounts['bankroll']):g} is not between {argument('floor')} and "
            f"{argument('goal')}; the floor is {float(amounts['floor']):g}"
        )
    return amounts


def _read_payoffs(payoffs: Mapping[Fraction, float]) -> dict[Fraction, float]:
    try:
        return {Fraction(profit): float(p) for profit, p in payoffs.items()}
    except (TypeError, ValueError, OverflowError):
        raise InputError("payoffs: give the probability of each profit, such as {1: 0.49, -1: 0.51}") from None


def _find_result(lattice: Lattice, amounts: Mapping[str, Fraction], rounds: int, rebate: Fraction | None) -> BankResult:
    unit, units = float(lattice.unit), {name: to_units(name, value, lattice.unit) for name, value in amounts.items()}
    steps = np.arange(len(lattice.chance)) - lattice.low
    ev = float(steps @ lattice.chance)
    sd = math.sqrt(float(steps**2 @ lattice.chance) - ev**2)
    ruined, reached, mean_rounds = stopped(lattice, units["bankroll"], units["floor"], units.get("goal"), rounds)
    least = units["bankroll"] - units["floor"] + 1
    return BankResult(
        ev=ev * unit,
        sd=sd * unit,
        ruin=ruined,
        goal=reached,
        rounds=mean_rounds,
        ruin_formula=trip_ruin_probability(ev, sd, least, rounds),
        ever_formula=ruin_probability(ev, sd, least),
        results={step * unit: p for step, p in after(lattice, rounds).items()},
        rebate=None if rebate is None else best_stops(lattice, units, rounds, rebate),
    )


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


def best_payoffs(rules: Rules) -> dict[Fraction, float]:
    """The profits of a round of the best chart, with the exact value of the game's own shoe.

    Args:
        rules: The game.

    Returns:
        Profit in bets -> probability.
    """
    solution = solve(rules)
    profits = round_payoffs(Solver(rules), solution.chart)
    return profits if solution.infinite else tilt(profits, float(solution.value))


def tilt(profits: Mapping[Fraction, float], mean: float) -> dict[Fraction, float]:
    """The distribution p(x) exp(t x) / c that has a mean.

    Args:
        profits: Profit -> probability.
        mean: The mean that is wanted.

    Returns:
        Profit -> probability.
    """
    x, p = np.array([*map(float, profits)]), np.array([*profits.values()])
    t = 0.0
    for _ in range(50):
        weights = p * np.exp(t * x)
        weights /= weights.sum()
        found = float(x @ weights)
        t += (mean - found) / float(x**2 @ weights - found**2)
    return dict(zip(profits, weights.tolist(), strict=True))


def make_lattice(profits: Mapping[Fraction, float], bet: Fraction) -> Lattice:
    """The lattice of the profits of a round. Raises: InputError: They are no distribution."""
    if any(p < -1e-12 for p in profits.values()) or abs(math.fsum(profits.values()) - 1) > 1e-9:
        raise InputError("payoffs: the probabilities are not a distribution; they must not be negative and sum to 1")
    if not min(profits) < 0 < max(profits):
        raise InputError("payoffs: a round must be able to win and to lose")
    unit = Fraction(
        math.gcd(
            *(each.numerator * (math.lcm(*(x.denominator for x in profits)) // each.denominator) for each in profits)
        ),
        math.lcm(*(each.denominator for each in profits)),
    )
    low, high = int(-min(profits) / unit), int(max(profits) / unit)
    if low + high > 10_000:
        raise InputError("payoffs: the profits have no common step that is large enough")
    chance = np.zeros(low + high + 1)
    for profit, p in profits.items():
        chance[low + int(profit / unit)] += p
    return Lattice(unit * bet, low, chance / chance.sum())


def stopped(lattice: Lattice, start: int, floor: int, goal: int | None, rounds: int) -> tuple[float, float, float]:
    """The probabilities of ruin and of the goal within the rounds, and the expected rounds."""
    first, alive = start, np.ones(1)  # probabilities of banks from `first` on
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
    return ruin, reached, expected


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
