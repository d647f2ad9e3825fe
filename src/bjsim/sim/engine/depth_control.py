"""The depth control: first-order values of rounds at fixed depths of a shoe, which depend on its cards alone."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bjsim.sim.engine.counted_shoes import CountedShoes

Array = np.ndarray[Any, Any]


class DepthControl(NamedTuple):
    """The first-order values of rounds by bucket.

    Attributes:
        step: Cards between tested depths, from 0 up to the cut.
        slopes: Slopes of the value of a round in the composition of the shoe, by value, float64 (B, 10).
        values: The value at the slopes' origin, float64 (B,).
        full: Cards of a full shoe by value, float64 (10,).
    """

    step: int
    slopes: Array
    values: Array
    full: Array


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
