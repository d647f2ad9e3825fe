"""Reading a lane's log: the payoffs of the rounds that were played by the round table."""

from __future__ import annotations

from typing import Any

import numpy as np

from bjsim.sim.engine.jit import compiled
from bjsim.sim.engine.kernels.payoff import count_payoff


@compiled(_nrt=False, forceinline=True)
def count_rounds(log: Any, first: Any, stop: Any, highest: Any, classes: Any) -> Any:
    """Count the rounds of log[first:stop] that come before the next split hand. Returns: their number."""
    i, stop = np.uint64(first), np.uint64(stop)
    while i < stop and log[i] <= highest:
        classes[i & np.uint64(3), log[i] >> 1] += 1
        i += np.uint64(1)
    return np.int64(i) - first


@compiled(_nrt=False)
def read_log(
    log: Any, logged: Any, over: Any, rounds: Any, lookup: Any, classes: Any, counts: Any, width: Any, trace: Any,
    overflow: Any,
) -> Any:  # fmt: skip
    """Count the rounds in a log, and move the bytes of an unfinished round to its front.

    Args:
        log: The log, uint8.
        logged: The number of bytes in the log.
        over: The number of rounds of the block that are over.
        rounds: The number of rounds of the block.
        lookup: The round table, see `LookupTable`.
        classes: Frequencies of the ends of rounds without splits, (4, E), in four parts: an increment must wait for the
            previous one to the same counter.
        counts: Output: the payoffs of rounds with splits are added to them, see `Counts`.
        width: The middle of its last axis.
        trace: Output: the payoff code of each round.
        overflow: The number of rows in `counts.overflow`.

    Returns:
        The number of bytes left in the log, the number of rounds that are over, and `overflow`.
    """
    ends, i = lookup.ends, 0
    while i < logged and over < rounds:
        if over >= len(trace):
            n = count_rounds(log, i, min(logged, i + rounds - over), 2 * len(ends), classes)
            over += n
            i += n
            if i == logged or over == rounds:
                break
        last = i
        while last < logged and log[last] > 2 * len(ends):
            last += 1
        if last == logged:
            break
        end = log[last] >> 1
        code = ends[end, 0]
        if last == i:
            classes[i & 3, end] += 1
        else:
            for k in range(i, last):
                code += lookup.hands[(log[k] >> 1) - len(ends), ends[end, 1]]
            overflow = count_payoff(counts, 0, code, width, overflow)
        if over < len(trace):
            trace[over] = code
        over += 1
        i = last + 1
    for k in range(i, logged):
        log[k - i] = log[k]
    return logged - i, over, overflow
