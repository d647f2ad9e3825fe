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

from bjsim.sim.stats.intervals import MIN_VALUES, anytime, fixed_sample, squared_residuals


@dataclass(frozen=True)
class LuckTally:
    """Sums over the shoes of one seat.

    `a + b` merges two tallies. The sums are floats, so only a fixed order of merging gives identical bits.

    Attributes:
        value: The value of the seat's chart in the infinite shoe, in initial bets per settled bet.
        rounds_in_shoe: The typical number of rounds in a shoe.
        shoes: The number of shoes.
        y, b, yy, yb, bb: Sums over the shoes of y, b and their products.
    """

    value: float = 0.0
    rounds_in_shoe: int = 1
    shoes: int = 0
    y: float = 0.0
    b: float = 0.0
    yy: float = 0.0
    yb: float = 0.0
    bb: float = 0.0

    def __add__(self, other: LuckTally) -> LuckTally:
        if not self.shoes or not other.shoes:
            return self if self.shoes else other
        if (self.value, self.rounds_in_shoe) != (other.value, other.rounds_in_shoe):
            raise ValueError(f"luck tallies of the values {self.value} and {other.value} do not add")
        sums = {name: getattr(self, name) + getattr(other, name) for name in ("shoes", "y", "b", "yy", "yb", "bb")}
        return LuckTally(self.value, self.rounds_in_shoe, **sums)

    @property
    def settled(self) -> bool:
        """Whether any bet was settled, so that there is a mean."""
        return self.b > 0

    @property
    def mean(self) -> float:
        """Luck-adjusted profit per settled bet, in initial bets."""
        return self.value + self.y / self.b

    @property
    def sd(self) -> float:
        """Standard deviation per shoe of the ratio in `mean` (delta method); `se` is sd / sqrt(shoes)."""
        ratio = self.y / self.b
        return math.sqrt(squared_residuals(ratio, self.yy, self.yb, self.bb) * self.shoes) / self.b

    @property
    def se(self) -> float:
        """Standard error of the mean."""
        return self.sd / math.sqrt(self.shoes)

    @property
    def ci95(self) -> tuple[float, float]:
        """The fixed-sample 95% interval."""
        return fixed_sample(self.mean, self.sd, self.shoes)

    def anytime_interval(self, optimal_n: int) -> tuple[float, float]:
        """The anytime-valid 95% interval of the mean, over shoes.

        Args:
            optimal_n: Rounds at which it is narrowest, about.

        Returns:
            Lower and upper bound, in initial bets; unbounded below 100 shoes.
        """
        return anytime(self.mean, self.sd, self.shoes, max(optimal_n // self.rounds_in_shoe, MIN_VALUES))

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
        return asdict(self)

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> LuckTally:
        """Restore a tally.

        Args:
            data: What `to_json` returned.

        Returns:
            The tally.
        """
        return LuckTally(**data)
