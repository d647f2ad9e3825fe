"""The depth control: first-order values of rounds at fixed depths of a shoe, which depend on its cards alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from bjsim.sim.engine.counted_shoes import CountedShoes
from bjsim.sim.engine.kernels.count_layout import DepthControl

Array = np.ndarray[Any, Any]


def count_depths(shoes: CountedShoes, control: DepthControl, chosen: Array) -> Array:
    """The controls of n chosen shoes: value and number of the depths in each bucket, (n, 2, B)."""
    sums, lanes = np.zeros((len(chosen), 2, len(control.values))), np.arange(len(chosen))
    left, slopes = np.repeat(control.full[:, None], len(chosen), axis=1), np.ascontiguousarray(control.slopes.T)
    for n in range(0, shoes.cut, control.step):
        bucket, value = shoes.bucket[n, chosen], np.zeros(len(chosen))
        for slope, cards in zip(slopes, left, strict=True):  # in the order of the kernel
            value += slope.take(bucket) * cards
        sums[lanes, 0, bucket] += control.values[bucket] + value / (shoes.size - n)
        sums[lanes, 1, bucket] += 1
        for card in shoes.cards[n : n + control.step, chosen]:
            left[np.minimum(card, len(left) - 1), lanes] -= 1
    return sums
