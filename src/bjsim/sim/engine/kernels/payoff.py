"""Payoff codes in kernels; `layout.payoff_parts` is the same in Python."""

from __future__ import annotations

from typing import Any

from bjsim.sim.engine.jit import compiled
from bjsim.sim.engine.kernels.layout import TIED


@compiled(_nrt=False, forceinline=True)
def split_payoff(code: Any) -> Any:
    """Split a payoff code into payoff quanta and the initial bets that it counts: tied ones, or all (see `BET`)."""
    bets = (code + TIED // 2) >> 32
    return code - (bets << 32), bets
