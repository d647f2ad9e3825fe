"""Reads a lane's log: what the rounds paid that were run through the table."""

from __future__ import annotations

from typing import Any

from bjsim.sim.engine.jit import compiled
from bjsim.sim.engine.kernels.layout import TIED


@compiled(_nrt=False)
def read_log(
    log: Any, logged: Any, over: Any, rounds: Any, fold: Any, classes: Any, dense: Any, width: Any, trace: Any
) -> Any:
    """Count rounds until `rounds` of them are over; what is logged of a round not over goes to the front.

    logged: bytes in the log. fold: see `Fold`. classes (4, E): how often each class of ends came to rounds without
    splits, in four parts as a counter waits for itself. dense (ties + 1, 2 width + 1): rounds with splits, by payoff.
    trace: the payoff code of each round. Returns: the bytes left in the log, and the rounds that are over.
    """
    ends, i = fold.ends, 0
    while i < logged and over < rounds:
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
                code += fold.hands[(log[k] >> 1) - len(ends), ends[end, 1]]
            tied = (code + TIED // 2) >> 32
            dense[tied, code - (tied << 32) + width] += 1
        if over < len(trace):
            trace[over] = code
        over += 1
        i = last + 1
    for k in range(i, logged):
        log[k - i] = log[k]
    return logged - i, over
