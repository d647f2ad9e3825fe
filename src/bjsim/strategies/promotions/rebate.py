"""The best stops under a rebate on losses: exact optimal stopping over the bank and the rounds left."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from bjsim.arguments import argument
from bjsim.arrays import Floats
from bjsim.errors import InputError
from bjsim.strategies.promotions.lattice import Lattice

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
