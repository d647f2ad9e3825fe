"""Tallies: integer counts of payoffs, which merge in any order to the same bits."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

from bjsim.arguments import parse_fraction
from bjsim.sim.stats.estimate import Estimate
from bjsim.sim.stats.luck_tally import LuckTally

Payoff = tuple[int, int]  # payoff quanta won, and initial bets tied and replayed


@dataclass(frozen=True)
class Tally(Estimate):
    """Counts of the payoffs of one seat. `a + b` merges two tallies; all statistics are computed from the counts.

    Where ties are replayed, a round's tied stake is not settled, so the mean is the ratio of profit to settled bets.

    Attributes:
        unit: The payoff quantum, as a share of an initial bet.
        counts: Number of rounds by payoff.
        luck: The luck-adjusted sums of the same rounds, where computed. They are floats, so tallies with luck merge to
            the same bits only in a fixed order.
    """

    unit: Fraction = Fraction(1)
    counts: Mapping[Payoff, int] = field(default_factory=dict)
    luck: LuckTally = LuckTally()

    def __repr__(self) -> str:
        return f"Tally({self.rounds:,} rounds" + (f", mean {self.mean:+.6f})" if self.settled else ")")

    def __add__(self, other: Tally) -> Tally:
        if other.counts and self.counts and other.unit != self.unit:
            raise ValueError(f"tallies count in units of {self.unit} and of {other.unit}")
        merged = dict(self.counts)
        for payoff, count in other.counts.items():
            merged[payoff] = merged.get(payoff, 0) + count
        return Tally(self.unit if self.counts else other.unit, merged, self.luck + other.luck)

    @staticmethod
    def of(unit: Fraction, payoffs: Iterable[Payoff]) -> Tally:
        """Count payoffs.

        Args:
            unit: The payoff quantum, as a share of an initial bet.
            payoffs: For each round, the payoff quanta won and the initial bets that were tied and are replayed.

        Returns:
            The tally.
        """
        counts: dict[Payoff, int] = {}
        for payoff in payoffs:
            counts[payoff] = counts.get(payoff, 0) + 1
        return Tally(unit, counts)

    @cached_property
    def rounds(self) -> int:
        """The number of rounds."""
        return sum(self.counts.values())

    @property
    def size(self) -> int:
        """The number of rounds."""
        return self.rounds

    def _sum(self, net_power: int, tied_power: int) -> int:
        return sum(count * net**net_power * tied**tied_power for (net, tied), count in self.counts.items())

    @property
    def settled(self) -> bool:
        """Whether any bet was settled, so that there is a mean: not all were tied and replayed."""
        return self.rounds > self.ties_replayed

    @cached_property
    def exact_mean(self) -> Fraction:
        """Profit per settled bet, in initial bets.

        Raises:
            ZeroDivisionError: No bet was settled.
        """
        return self.unit * Fraction(self._sum(1, 0), self.rounds - self._sum(0, 1))

    @property
    def mean(self) -> float:
        """Profit per settled bet, in initial bets."""
        return float(self.exact_mean)

    @cached_property
    def sd(self) -> float:
        """Standard deviation per round, in initial bets.

        Where ties are replayed, it is that of the ratio in `mean` (delta method).
        """
        mean, unit = self.exact_mean, self.unit
        settled = 1 - Fraction(self._sum(0, 1), self.rounds)
        squares = unit * unit * self._sum(2, 0) + 2 * unit * mean * self._sum(1, 1) + mean * mean * self._sum(0, 2)
        return math.sqrt(squares / self.rounds - mean * mean) / float(settled)

    @property
    def payoffs(self) -> dict[str, int]:
        """Number of rounds by profit in initial bets, as text, lowest profit first."""
        counts: dict[int, int] = {}
        for (net, _), count in sorted(self.counts.items()):
            counts[net] = counts.get(net, 0) + count
        return {str(float(net * self.unit)): count for net, count in counts.items()}

    @property
    def ties_replayed(self) -> int:
        """Initial bets that were tied and replayed."""
        return self._sum(0, 1)

    def to_json(self) -> dict[str, object]:
        """The tally for a checkpoint.

        Returns:
            JSON values, which `from_json` reads back.
        """
        counts = [[*payoff, count] for payoff, count in sorted(self.counts.items())]
        luck = {"luck": self.luck.to_json()} if self.luck.shoes else {}
        return {"unit": str(self.unit), "counts": counts, **luck}

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> Tally:
        """Restore a tally.

        Args:
            data: What `to_json` returned.

        Returns:
            The tally.

        Raises:
            ValueError: A count is negative.
        """
        counts = {(net, tied): count for net, tied, count in data["counts"]}
        if any(tied < 0 or count < 0 for (_, tied), count in counts.items()):
            raise ValueError("a count is negative")
        luck = LuckTally.from_json(data["luck"]) if "luck" in data else LuckTally()
        return Tally(parse_fraction(data["unit"]), counts, luck)
