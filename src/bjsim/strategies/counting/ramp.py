"""Bet ramps: the units and spots that are bet at each count before the round."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil, floor
from typing import NamedTuple

from bjsim.errors import InputError

MAX_SPOTS = 7  # of a table
MAX_UNITS = 1_000_000
MAX_COUNT = 1000
ACCEPTED = "a spread such as 1-12, or counts with units such as 0:1 1:2 2:4x2 (x2: on two spots; 0 units: no bet)"
SpotSteps = tuple[tuple[Fraction, int], ...]
ONE_SPOT: SpotSteps = ((Fraction(0), 1),)
_NUMBER = r"\d{1,7}(?:\.\d{1,6}|/\d{1,6})?"
_SPOTS = r"(?:[xX*](\d{1,2}))?"
_FLAT = re.compile(rf"({_NUMBER}){_SPOTS}")
_SPREAD = re.compile(rf"({_NUMBER})\s*(?:-|–|to)\s*({_NUMBER}){_SPOTS}")
_ENTRY = re.compile(rf"([+\-−]?{_NUMBER}):({_NUMBER}){_SPOTS}")


class Bet(NamedTuple):
    """What is bet before a round: units on each spot, 0 if the round is only watched (back-counting)."""

    units: Fraction
    spots: int = 1


class BetLimits(NamedTuple):
    """The least and the greatest bet of an optimal ramp, in units, and its spots."""

    least: float
    most: float
    spots: int = 1

    @classmethod
    def of(cls, limits: object) -> BetLimits:
        """Check limits, or parse a text such as 1-12, or 1-12x2 on two spots. Raises: InputError."""
        try:
            if isinstance(limits, tuple):
                found = cls(*limits)
            else:
                least, most, spots = _SPREAD.fullmatch(str(limits).strip()).groups()  # type: ignore[union-attr]
                found = cls(float(Fraction(least)), float(Fraction(most)), int(spots or 1))
            accepted = (
                0 <= found.least <= found.most and 0 < found.most < 1e9 and found.spots in range(1, MAX_SPOTS + 1)
            )
        except (AttributeError, TypeError, ValueError, ZeroDivisionError):
            accepted = False
        if not accepted:
            raise InputError(
                f"{limits} is not accepted; give the least and the greatest bet in units, such as 1-12 or 0-8, "
                "or 1-12x2 on two spots"
            )
        return found

    def __str__(self) -> str:
        return f"{self.least:g}-{self.most:g}" + (f"x{self.spots}" if self.spots > 1 else "")


@dataclass(frozen=True)
class Ramp:
    """The bet for each count; counts ascend in `steps`, and at least one step has a bet.

    Between two steps, and above the last, the step below holds; below the first, the first.
    """

    steps: tuple[tuple[Fraction, Bet], ...]

    def __post_init__(self) -> None:
        steps = sorted((Fraction(count), Bet(Fraction(bet[0]), *bet[1:])) for count, bet in self.steps)
        for (count, bet), (after, _) in zip(steps, [*steps[1:], (None, None)], strict=True):
            if count == after:
                raise InputError(f"ramp: the count {count} is given twice")
            if abs(count) > MAX_COUNT:
                raise InputError(f"ramp: the count {count} is not accepted; use -{MAX_COUNT} to {MAX_COUNT}")
            if not 0 <= bet.units <= MAX_UNITS:
                raise InputError(f"ramp: {bet.units} units are not accepted; use 0 to {MAX_UNITS}")
            if not 1 <= bet.spots <= MAX_SPOTS:
                raise InputError(f"ramp: {bet.spots} spots are not accepted; use 1 to {MAX_SPOTS}")
        if not any(bet.units for _, bet in steps):
            raise InputError(f"ramp: no count has a bet; use {ACCEPTED}")
        object.__setattr__(self, "steps", tuple(steps))

    @classmethod
    def parse(cls, text: str) -> Ramp:
        """Parse a ramp; the error quotes the part of the text that is wrong.

        It is a spread such as `1-12` (see `spread`) or `1-12x2`; counts with units such as `0:1 1:2 2:4x2`,
        separated by spaces or commas; or a number of units for every count.
        """
        words = text.replace(",", " ").split()
        try:
            if match := _SPREAD.fullmatch(text.strip()):
                return cls.spread(Fraction(match[1]), Fraction(match[2]), int(match[3] or 1))
            if len(words) == 1 and (match := _FLAT.fullmatch(words[0])):
                return cls(((Fraction(0), Bet(Fraction(match[1]), int(match[2] or 1))),))
            if not words:
                raise InputError(f"ramp: it is empty; use {ACCEPTED}")
            return cls(tuple(_parse_step(word) for word in words))
        except ZeroDivisionError:
            raise InputError(f"ramp: {text[:40]!r} divides by 0; use {ACCEPTED}") from None

    @classmethod
    def spread(cls, least: Fraction | int, most: Fraction | int, spots: int = 1) -> Ramp:
        """Make the usual ramp of a spread: `least` up to a count of +1, then 2, 4, 6, .. times it, to `most`.

        1 to 12 is 1:1 2:2 3:4 4:6 5:8 6:10 7:12. `least` may not be 0.
        """
        if not 0 < least <= most or most > 1000 * least:
            raise InputError(
                f"ramp: a spread of {least}-{most} is not accepted; use a least and a most bet, as in 1-12"
            )
        steps = [(Fraction(1), Bet(Fraction(least), spots))]
        while steps[-1][1].units < most:
            count = steps[-1][0] + 1
            steps.append((count, Bet(Fraction(min(2 * (count - 1) * least, most)), spots)))
        return cls(tuple(steps))

    def __str__(self) -> str:
        return " ".join(
            f"{count}:{bet.units}" + (f"x{bet.spots}" if bet.spots > 1 else "") for count, bet in self.steps
        )

    def divided(self, unit: Fraction) -> Ramp:
        """Return the ramp in units, if its bets are in money, given the money value of a unit."""
        return Ramp(tuple((count, Bet(bet.units / unit, bet.spots)) for count, bet in self.steps))

    @cached_property
    def counts(self) -> list[Fraction]:
        return [count for count, _ in self.steps]

    @property
    def span(self) -> tuple[int, int]:
        """The lowest and highest whole counts of interest: beyond them the bet stays as it is there."""
        return floor(self.counts[0]) - 1, ceil(self.counts[-1])

    @property
    def spots(self) -> SpotSteps:
        """The spots played, from each count on that changes their number; from 0 on, if none does."""
        steps = [(count, bet.spots) for count, bet in self.steps]
        if len({spots for _, spots in steps}) == 1:
            return ((Fraction(0), steps[0][1]),)
        return tuple(step for step, before in zip(steps, [(None, 0), *steps], strict=False) if step[1] != before[1])

    def units(self, counts: Iterable[float]) -> list[float]:
        """Return the units bet on each spot at each of these counts."""
        starts, units = [float(start) for start in self.counts], [float(bet.units) for _, bet in self.steps]
        return [units[step_at(starts, count)] for count in counts]


def step_at(starts: Sequence[float], count: float) -> int:
    """The step at a count, below the first step the first. As floats: a count of .3 is less than the fraction 3/10."""
    return max(bisect_right(starts, count) - 1, 0)


def spots_at(steps: SpotSteps, count: float) -> int:
    """The number of spots played at a count."""
    return steps[step_at([float(start) for start, _ in steps], count)][1]


def _parse_step(word: str) -> tuple[Fraction, Bet]:
    match = _ENTRY.fullmatch(word)
    if match is None:
        raise InputError(f"ramp: {word[:40]!r} is not accepted; use {ACCEPTED}")
    return Fraction(match[1].replace("−", "-")), Bet(Fraction(match[2]), int(match[3] or 1))


# --- Risk and merit of a counted game: formulas in the mean and standard deviation of a round.
#
# With e = expected profit per round, s = standard deviation per round, B = bank and n = rounds, all in one currency:
#
#     DI = 1000 e / s        SCORE = DI^2        N0 = s^2 / e^2        full Kelly bank = s^2 / e
#     risk of ruin = exp(-2 e B / s^2)
#     bank for a risk of ruin r = -ln r s^2 / (2 e)
#     ahead after n rounds = Phi(e sqrt n / s)
#     ruin within n rounds = Phi((-B - e n) / (s sqrt n)) + exp(-2 e B / s^2) Phi((-B + e n) / (s sqrt n))
#     bank below x or lost after n rounds = Phi((x - B - e n) / (s sqrt n))
#                                           + exp(-2 e B / s^2) Phi((e n - x - B) / (s sqrt n))
#     certainty equivalent = e - s^2 / (2 k B), with the Kelly fraction k
#
# Ruin is that of a Brownian motion with drift, which neglects the overshoot of the last bet.
#
# Source: Schlesinger, Blackjack Attack, chapters 8 to 10.


def desirability_index(ev: float, sd: float) -> float:
    """Return DI, 1000 times profit per standard deviation of a round."""
    return 1000 * ev / sd


def score(ev: float, sd: float) -> float:
    """Return SCORE: profit in 100 rounds for a bank of 10,000 at a risk of ruin of 13.5%; 0 for a losing game."""
    return desirability_index(max(ev, 0.0), sd) ** 2


def n0(ev: float, sd: float) -> float:
    """Return N0, the rounds until expected profit is one standard deviation; infinite for a losing game."""
    return (sd / ev) ** 2 if ev > 0 else math.inf


def certainty_equivalent(ev: float, sd: float, bank: float, kelly: float = 1.0) -> float:
    """Return the certain profit per round that is as good for a Kelly bettor; `kelly` is 1 for full Kelly."""
    return ev - sd**2 / (2 * kelly * bank)


def ruin_probability(ev: float, sd: float, bank: float) -> float:
    """Return the probability of ever losing the bank with the same bets; 1 for a losing game."""
    return math.exp(-2 * ev * bank / sd**2) if ev > 0 else 1.0


def bank_for_ruin(ev: float, sd: float, ruin: float) -> float:
    """Return the bank that these bets ever lose with a probability of `ruin`; infinite for a losing game."""
    return -math.log(ruin) * sd**2 / (2 * ev) if ev > 0 else math.inf


def ahead_probability(ev: float, sd: float, rounds: float) -> float:
    """Return the probability of being ahead after a number of rounds, however low the bank was: 84% after N0."""
    return math.exp(_log_normal(ev * math.sqrt(rounds) / sd))


def bank_quantile(ev: float, sd: float, bank: float, rounds: float, share: float) -> float:
    """Return the bank below which a `share` of the players are after `rounds`; who lost the bank has 0."""
    spread, mean = sd * math.sqrt(rounds), bank + ev * rounds

    def below(x: float) -> float:
        lost = -2 * ev * bank / sd**2 + _log_normal((ev * rounds - x - bank) / spread)
        return math.exp(_log_normal((x - mean) / spread)) + math.exp(min(lost, 0.0))

    low, high = 0.0, max(mean, 0.0) + 10 * spread
    if below(low) >= share:
        return 0.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if below(middle) < share else (low, middle)
    return (low + high) / 2


def trip_ruin_probability(ev: float, sd: float, bank: float, rounds: float) -> float:
    """Return the probability of losing the bank within a number of rounds; `ev` and `sd` are per round."""
    spread = sd * math.sqrt(rounds)
    reflected = -2 * ev * bank / sd**2 + _log_normal((-bank + ev * rounds) / spread)
    return min(math.exp(_log_normal((-bank - ev * rounds) / spread)) + math.exp(min(reflected, 0.0)), 1.0)


def _log_normal(x: float) -> float:
    """Return the logarithm of the normal distribution function; by its asymptotic series far below 0."""
    if x > -30:
        return math.log(0.5 * math.erfc(-x / math.sqrt(2)))
    series = 1 - 1 / x**2 + 3 / x**4 - 15 / x**6
    return -0.5 * x * x - math.log(-x * math.sqrt(2 * math.pi)) + math.log(series)


# --- The bankroll over time: its distribution with the same bets, for players who stop when it is lost.


SHARES = (0.05, 0.5, 0.95)
POINTS = 120
USUAL = 1000.0  # hours shown of a game that loses
REACH = 1.25  # times N0, else


class BankrollFan(NamedTuple):
    """The bankroll after some hours; 5%, 50% and 95% of the players are below its `quantiles`, in units.

    `lost` is the share who have lost the bankroll, `ruin` the share who ever lose it; 84% would be ahead
    after `n0_hours`, infinite for a losing game.
    """

    hours: list[float]
    quantiles: list[list[float]]
    lost: list[float]
    ruin: float
    n0_hours: float


def bankroll_fan(ev: float, sd: float, bank: float, rounds_per_hour: float) -> BankrollFan:
    """Compute the distribution of a bankroll over time, by the formulas of `risk`.

    `ev` and `sd` are per round. The fan is from 0 to 1,000 hours, or to about 1.25 times N0 if that is more.
    """
    hours_n0 = n0(ev, sd) / rounds_per_hour
    longest = max(USUAL, REACH * hours_n0) if math.isfinite(hours_n0) else USUAL
    size = 10.0 ** math.floor(math.log10(longest))
    longest = math.ceil(longest / size * 4) / 4 * size
    hours = [longest * (n / POINTS) ** 1.5 for n in range(1, POINTS + 1)]  # more of them where the fan opens
    after = [rounds_per_hour * hour for hour in hours]
    quantiles = [[bank, *(bank_quantile(ev, sd, bank, rounds, share) for rounds in after)] for share in SHARES]
    lost = [0.0, *(trip_ruin_probability(ev, sd, bank, rounds) for rounds in after)]
    return BankrollFan([0.0, *hours], quantiles, lost, ruin_probability(ev, sd, bank), hours_n0)
