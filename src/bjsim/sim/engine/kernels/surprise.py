"""The luck of one card, in vector instructions that numba does not generate by itself."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from bjsim.sim.engine.kernels.layout import WIDE


def _surprise(context: Any, ev: Any, own: Any, slopes: Any, counts: Any, left: Any, card: Any) -> Any:
    """The value after a card minus its expectation before; the card is still counted in the shoe.

    The value after rank r is V_r + sum over q of g_r(q) c_q, where c is the composition of the shoe without r. It is
    computed for all ranks at once, with vectors of WIDE numbers.

    Args:
        ev: V_r, float64 (WIDE,).
        own: g_r(r), float64 (WIDE,).
        slopes: g_r(q) at [q, r], float32 (Q, WIDE).
        counts: Cards left by rank, float64 (WIDE,).
        left: Cards left.
        card: Rank index of the card.
    """

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        double, whole = ir.DoubleType(), ir.IntType(32)
        wide, narrow = ir.VectorType(double, WIDE), ir.VectorType(ir.FloatType(), WIDE)
        quick = ("reassoc", "contract")  # in any order of summation
        ev, own, slopes, counts = (
            context.make_array(kind)(context, builder, array)
            for kind, array in zip(signature.args[:4], arguments[:4], strict=True)
        )
        left, card = arguments[4:]

        def load(address: Any, kind: Any = wide) -> Any:
            return builder.load(builder.bitcast(address, kind.as_pointer()), align=4)

        def repeat(number: Any) -> Any:
            one = builder.insert_element(wide(ir.Undefined), number, whole(0))
            return builder.shuffle_vector(one, one, ir.VectorType(whole, WIDE)([0] * WIDE))

        total = cgutils.alloca_once_value(builder, builder.fneg(load(own.data)))  # type: ignore[no-untyped-call]
        with cgutils.for_range(builder, builder.extract_value(slopes.shape, 0)) as loop:
            row = builder.gep(slopes.data, [builder.mul(loop.index, loop.index.type(WIDE))])
            count = repeat(builder.load(builder.gep(counts.data, [loop.index])))
            product = builder.fmul(builder.fpext(load(row, narrow), wide), count, quick)
            builder.store(builder.fadd(builder.load(total), product, quick), total)
        finite = builder.fcmp_ordered(
            ">", left, double(1)
        )  # an infinite shoe counts as 1 card, as its probabilities never change
        share = builder.select(finite, builder.fdiv(double(1), builder.fsub(left, double(1))), double(0))
        after = builder.fadd(load(ev.data), builder.fmul(builder.load(total), repeat(share), quick), quick)
        add_up = cgutils.get_or_insert_function(  # type: ignore[no-untyped-call]
            builder.module, ir.FunctionType(double, [double, wide]), f"llvm.vector.reduce.fadd.v{WIDE}f64"
        )
        weighted = builder.fmul(after, load(counts.data), quick)
        expected = builder.fdiv(builder.call(add_up, [double(0), weighted], fastmath=quick), left)
        return builder.fsub(builder.extract_element(after, card), expected)

    return types.float64(ev, own, slopes, counts, left, card), code


surprise: Any = intrinsic(_surprise)
