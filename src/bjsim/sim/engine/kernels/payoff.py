"""Payoff codes in kernels."""

from __future__ import annotations

from typing import Any

from bjsim.sim.engine.jit import compiled
from bjsim.sim.engine.kernels.layout import payoff_parts

split_payoff = compiled(_nrt=False, forceinline=True)(payoff_parts)


@compiled(_nrt=False, forceinline=True)
def count_payoff(counts: Any, seat: Any, code: Any, overflow: Any) -> Any:
    """Count a seat's payoff. Returns: the number of rows in `counts.overflow`."""
    units, tied = split_payoff(code)
    column = units + counts.dense.shape[2] // 2
    if 0 <= column < counts.dense.shape[2] and tied < counts.dense.shape[1]:
        counts.dense[seat, tied, column] += 1
    else:
        counts.overflow[overflow, 0] = seat
        counts.overflow[overflow, 1] = code
        overflow += 1
    return overflow
