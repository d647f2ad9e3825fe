"""What is kept of the rounds of a counter at each count."""

from __future__ import annotations

from typing import Any

import numpy as np

from bjsim.sim.engine.kernels.layout import TIED

Array = np.ndarray[Any, Any]

# What is kept of every bucket in a shoe: rounds; means over the counter's spots of luck-adjusted profit, squared profit
# and luck-adjusted profit of insurance; two controls, value and number of the tested depths at which the count is in
# the bucket; and where several spots are played, the mean product of the profits of two spots.
ROUNDS, PROFIT, SQUARES, INSURANCE, VALUE, DEPTHS, PRODUCTS = range(7)
RAW = 7  # columns of `CountSums.raw`
BET = TIED  # in a payoff code of a counter, for whom no bets tie, one initial bet that was settled
