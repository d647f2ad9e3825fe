"""The lattice on which the profits of a round and the bank lie, and what becomes of a bank on it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from bjsim.arguments import argument
from bjsim.arrays import Floats
from bjsim.errors import InputError

MOST_STEPS = 100_000
NEGLIGIBLE = 1e-20  # probability at an edge of the lattice that is left out


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

    Without a standard deviation, u is 0.
    """
    p, powers = np.array([*profits.values()]), np.array([[float(x) ** n for x in profits] for n in (1, 2)])
    wanted = np.array([mean, 0.0 if sd is None else mean**2 + sd**2])[: 1 if sd is None else 2]
    powers = powers[: len(wanted)]
    t = np.zeros(len(wanted))
    for _ in range(50):
        weights = p * np.exp(t @ powers)
        weights /= weights.sum()
        found = powers @ weights
        t += np.linalg.solve((powers * weights) @ powers.T - np.outer(found, found), wanted - found)
    return dict(zip(profits, weights.tolist(), strict=True))


def make_lattice(profits: Mapping[Fraction, float], bet: Fraction) -> Lattice:
    if not (all(p >= -1e-12 for p in profits.values()) and abs(math.fsum(profits.values()) - 1) <= 1e-9):
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
    return play_on(lattice, start, floor, goal, rounds)[2:]


def play_on(
    lattice: Lattice, start: int, floor: int, goal: int | None, rounds: int
) -> tuple[int, Floats, float, float, float]:
    """The least bank that plays on after the rounds, the probabilities of banks from it on, and those of `stopped`."""
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
