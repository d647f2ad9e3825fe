"""How many split hands a round table has room for, and the probabilities of cards by which that is decided."""

from __future__ import annotations

from typing import Any

import numpy as np

from bjsim.sim.engine.kernels.layout import NO_LIMIT, SPLIT, CompiledRules
from bjsim.sim.engine.payoff_vectors import may_take

Array = np.ndarray[Any, Any]

MOST_PENDING = 200  # within the table


def hands_within(compiled: CompiledRules, act: Array, unlikely: float) -> tuple[Array, Array]:
    """By split hand, the numbers of hands, and of pending hands, above which a round leaves the table."""
    again = np.logical_or.reduce(may_take(act[1], SPLIT), axis=1)[compiled.add] @ rank_probabilities(compiled)
    rare = unlikely / np.maximum(again, unlikely) ** 2  # of rounds with this split
    endless = compiled.hand_limit == NO_LIMIT
    n = np.arange(2, np.where(endless, 2, compiled.hand_limit).max() + 1)
    trees = np.cumprod(np.append([1.0], 2 * (2 * n[:-1] - 1) / (n[:-1] + 1)))  # Catalan numbers
    ends = trees * np.power.outer(again, n - 2) * np.power.outer(1 - again, n)  # probability of n hands in all
    most = 2 + (1 - np.cumsum(ends, axis=1) > rare[:, None]).sum(axis=1)
    hands = np.where(endless, NO_LIMIT, np.minimum(most, compiled.hand_limit))
    pending = np.full(len(again), MOST_PENDING)
    falls = (again > 0) & (again < 0.5)  # the number pending is a random walk
    pending[falls] = np.ceil(np.log(rare[falls]) / np.log(again[falls] / (1 - again[falls]))).clip(1, MOST_PENDING)
    return hands, np.minimum(pending, hands - 1)


def rank_probabilities(compiled: CompiledRules) -> Array:
    """Probabilities of the 13 ranks in a full shoe."""
    if compiled.numbers.shoe_size:
        return np.bincount(compiled.unshuffled, minlength=13) / compiled.numbers.shoe_size
    if compiled.numbers.normal_tens:
        return np.full(13, 1 / 13)
    kept = compiled.threshold / (1 << 28)
    return (np.bincount(np.arange(16), kept, 16) + np.bincount(compiled.other, 1 - kept, 16))[:13] / 16
