"""The luck of one card, in vector instructions that numba does not find by itself."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from bjsim.sim.engine.kernels.layout import WIDE


def _surprise(context: Any, ev: Any, own: Any, slopes: Any, counts: Any, left: Any, card: Any) -> Any:
    """How far the worth after the card is above the expected one; the card is still counted in the shoe.

    The worth after rank r is V_r + sum over q of g_r(q) c_q, with c the composition when r is gone. It is worked out
    for all ranks at once, in instructions for WIDE numbers, which numba does not find by itself.
    worth, own (WIDE,): V, and g_r(r). slopes (Q, WIDE), float32: g_r(q) at [q, r]. counts (WIDE,), left: of the shoe.
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
        finite = builder.fcmp_ordered(">", left, double(1))  # an infinite shoe counts as 1 card: its law never changes
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
