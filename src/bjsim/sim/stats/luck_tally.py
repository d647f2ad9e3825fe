"""Luck-adjusted returns: sums over shoes, with the mean and the intervals computed from them.

A seat's luck-adjusted profit in a shoe is its profit minus the luck in every draw and minus the drift of the shoe's
composition, both of mean 0 (`docs/explanation/luck.md`). Rounds of one shoe depend on each other, so the shoe is the
unit of observation: y is its adjusted profit above the value of the game, b its settled bets, and the return is
value + sum y / sum b.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from bjsim.sim.stats.estimate import MIN_VALUES, Estimate, RatioSums


@dataclass(frozen=True)
class LuckTally(Estimate):
    """Sums over the shoes of one seat. They are floats, so only a fixed order of merging gives identical bits."""

    value: float = 0.0  # the value of the seat's chart in the infinite shoe, in initial bets per settled bet
    rounds_in_shoe: int = 1  # the typical number of rounds in a shoe
    sums: RatioSums = RatioSums()  # sums over the shoes

    def __add__(self, other: LuckTally) -> LuckTally:
        if not self.shoes or not other.shoes:
            return self if self.shoes else other
        if (self.value, self.rounds_in_shoe) != (other.value, other.rounds_in_shoe):
            raise ValueError(f"luck tallies of the values {self.value} and {other.value} do not add")
        return LuckTally(self.value, self.rounds_in_shoe, self.sums + other.sums)

    @property
    def shoes(self) -> int:
        """The number of shoes."""
        return self.sums.n

    @property
    def size(self) -> int:
        """The number of shoes."""
        return self.sums.n

    @property
    def settled(self) -> bool:
        """Whether any bet was settled, so that there is a mean."""
        return self.sums.b > 0

    @property
    def mean(self) -> float:
        """Luck-adjusted profit per settled bet, in initial bets."""
        return self.value + self.sums.mean

    @property
    def sd(self) -> float:
        """Standard deviation per shoe of the ratio in `mean`."""
        return self.sums.sd

    def optimal_size(self, optimal_n: int) -> int:
        """The number of shoes in about so many rounds.

        Args:
            optimal_n: The rounds.

        Returns:
            The shoes, at least 100.
        """
        return max(optimal_n // self.rounds_in_shoe, MIN_VALUES)

    def variance_reduction(self, raw_se: float) -> float:
        """How many times as many hands would make the raw mean as precise.

        Args:
            raw_se: Standard error of the raw mean, in initial bets.

        Returns:
            Var(raw mean) / Var(adjusted mean); `inf` if the adjusted mean is exact.
        """
        return (raw_se / self.se) ** 2 if self.se else math.inf

    def to_json(self) -> dict[str, object]:
        """The tally for a checkpoint.

        Returns:
            JSON values, from which `from_json` restores the same bits.
        """
        sums = asdict(self.sums)
        return {"value": self.value, "rounds_in_shoe": self.rounds_in_shoe, "shoes": sums.pop("n"), **sums}

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> LuckTally:
        """Restore a tally.

        Args:
            data: What `to_json` returned.

        Returns:
            The tally.
        """
        sums = (data[name] for name in ("shoes", "y", "b", "yy", "yb", "bb"))
        return LuckTally(data["value"], data["rounds_in_shoe"], RatioSums(*sums))
