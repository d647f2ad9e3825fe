"""What walkers tell of the blocks that they played."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bjsim.sim.engine.kernels.layout import payoff_parts

Array = np.ndarray[Any, Any]


class Played(NamedTuple):
    """The payoffs of blocks.

    `counts`, int64 (seats, ties + 1, 2 width + 1), is the frequency of each payoff by bets tied and units
    won; `outside` has rows of (seat, payoff code) outside that window, int64 (n, 2). `traces` are each
    block's payoff codes by seat and cards dealt so far, int64 (rounds, seats + 1), none if not traced;
    `shoes` each block's sums over shoes of n, y, b, yy, yb and bb, float64 (seats, 6), none without luck.
    Rounds of one shoe depend on each other, so the shoe is the unit of observation. Its y is its payoff less
    the value of its settled bets, less luck and drift; its b is the number of these bets.
    """

    counts: Array
    outside: Array
    traces: list[Array]
    shoes: list[Array]


def count_codes(dense: Array, codes: Array, times: Array | None = None) -> Array:
    """Count payoff codes (n,), each `times` often, in `dense`; return those outside its window, repeated."""
    units, tied = payoff_parts(codes)
    width = dense.shape[1]
    column = units + width // 2
    fits = (column >= 0) & (column < width) & (tied < len(dense))
    weights = None if times is None else times[fits]
    place = tied[fits] * width + column[fits]
    dense += np.bincount(place, weights, dense.size).astype(np.int64).reshape(dense.shape)
    outside: Array = codes[~fits] if times is None else np.repeat(codes[~fits], times[~fits])
    return outside
