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
    log: Any, logged: Any, over: Any, rounds: Any, lookup: Any, classes: Any, counts: Any, trace: Any, overflow: Any,
) -> Any:  # fmt: skip
    """Count the rounds in a log, uint8, and move the bytes of an unfinished round to its front.

    `classes`, (4, E), are frequencies of the ends of rounds without splits, in four parts: an increment must
    wait for the previous one to the same counter. Those with splits are added to `counts`. `trace` gets each
    round's payoff code. Return the bytes left in the log, and `over` and `overflow`, the rounds that are over and
    the rows in `counts.overflow`, after these rounds.
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
            overflow = count_payoff(counts, 0, code, overflow)
        if over < len(trace):
            trace[over] = code
        over += 1
        i = last + 1
    for k in range(i, logged):
        log[k - i] = log[k]
    return logged - i, over, overflow
