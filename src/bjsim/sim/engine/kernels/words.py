"""Random words as `sim/game/random_stream.py` defines them, and the 128-bit product of two words."""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from bjsim.sim.engine.jit import compiled


def _high_and_low(context: Any, one: Any, other: Any) -> Any:
    """The high and low 64 bits of the product of two 64-bit words."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        wide = ir.IntType(128)
        product = builder.mul(*(builder.zext(argument, wide) for argument in arguments))
        halves = [builder.trunc(half, ir.IntType(64)) for half in (builder.lshr(product, wide(64)), product)]
        return context.make_tuple(builder, signature.return_type, halves)

    pair: Any = types.UniTuple(types.uint64, 2)  # type: ignore[no-untyped-call]
    return pair(types.uint64, types.uint64), code


high_and_low: Any = intrinsic(_high_and_low)


@compiled(inline="always")
def word(start: Any, gamma: Any, i: Any) -> Any:
    z = start + np.uint64(i) * gamma
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@compiled(inline="always")
def half_word(start: Any, gamma: Any, i: Any) -> Any:
    """Half i (32 bits) of the stream, the low half of a word before its high half."""
    return (word(start, gamma, i >> 1) >> np.uint64(32 * (i & 1))) & np.uint64(0xFFFFFFFF)
