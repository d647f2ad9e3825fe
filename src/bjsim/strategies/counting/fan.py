"""The bankroll over time: its distribution with the same bets, for players who stop when it is lost."""

from __future__ import annotations

import math
from typing import NamedTuple

from bjsim.strategies.counting.risk import bank_quantile, n0, ruin_probability, trip_ruin_probability

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
