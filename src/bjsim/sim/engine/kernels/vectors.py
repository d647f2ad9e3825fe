"""Vector instructions that numba does not generate by itself."""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from bjsim.sim.engine.kernels.deal import I16, I32, repeat
from bjsim.sim.engine.kernels.layout import WIDE


def _quadratic(context: Any, form: Any, own: Any, counts: Any) -> Any:
    """c'Fc - own.c, a sum over ordered pairs of different cards; all sums are whole numbers.

    `form`, int16 (Q, WIDE), `own`, its diagonal, int16 (WIDE,), and the composition `counts`, int32 (WIDE,).
    """

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        double, small = ir.DoubleType(), ir.VectorType(I16, WIDE)
        wide, whole = ir.VectorType(double, WIDE), ir.VectorType(I32, WIDE)
        quick = ("reassoc", "contract")  # whole numbers are exact in any order of summation
        form, own, counts = (
            context.make_array(kind)(context, builder, array)
            for kind, array in zip(signature.args, arguments, strict=True)
        )

        def load(address: Any, kind: Any) -> Any:
            return builder.load(builder.bitcast(address, kind.as_pointer()), align=2)

        zero = builder.sub(whole([0] * WIDE), builder.sext(load(own.data, small), whole))
        total = cgutils.alloca_once_value(builder, zero)  # type: ignore[no-untyped-call]
        with cgutils.for_range(builder, builder.extract_value(form.shape, 0)) as loop:
            row = builder.gep(form.data, [builder.mul(loop.index, loop.index.type(WIDE))])
            count = repeat(builder, builder.load(builder.gep(counts.data, [loop.index])), WIDE).value
            product = builder.mul(builder.sext(load(row, small), whole), count)
            builder.store(builder.add(builder.load(total), product), total)
        weights = builder.sitofp(load(counts.data, whole), wide)
        add_up = cgutils.get_or_insert_function(  # type: ignore[no-untyped-call]
            builder.module, ir.FunctionType(double, [double, wide]), f"llvm.vector.reduce.fadd.v{WIDE}f64"
        )
        weighted = builder.fmul(builder.sitofp(builder.load(total), wide), weights, quick)
        return builder.call(add_up, [double(0), weighted], fastmath=quick)

    return types.float64(form, own, counts), code


quadratic: Any = intrinsic(_quadratic)


def _dot(context: Any, rows: Any, row: Any, counts: Any) -> Any:
    """The sum over ranks of a row, int16 (n, WIDE), times counts, int32 (WIDE,)."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        small, whole = ir.VectorType(I16, WIDE), ir.VectorType(I32, WIDE)
        rows, counts = (
            context.make_array(signature.args[each])(context, builder, arguments[each]).data for each in (0, 2)
        )
        place = builder.gep(rows, [builder.mul(arguments[1], arguments[1].type(WIDE))])
        one = builder.sext(builder.load(builder.bitcast(place, small.as_pointer()), align=2), whole)
        other = builder.load(builder.bitcast(counts, whole.as_pointer()), align=4)
        add_up = cgutils.get_or_insert_function(  # type: ignore[no-untyped-call]
            builder.module, ir.FunctionType(I32, [whole]), f"llvm.vector.reduce.add.v{WIDE}i32"
        )
        return builder.sitofp(builder.call(add_up, [builder.mul(one, other)]), ir.DoubleType())

    return types.float64(rows, types.int64, counts), code


dot: Any = intrinsic(_dot)


def _remove_card(context: Any, counts: Any, card: Any) -> Any:
    """Remove a card from counts, int32 (WIDE,), with one store of all counts.

    After a store of one count, the next load of the vector would stall: the processor forwards a store only to loads
    that it covers.
    """

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        whole = ir.VectorType(I32, WIDE)
        counts = context.make_array(signature.args[0])(context, builder, arguments[0])
        chosen = repeat(builder, builder.trunc(arguments[1], I32), WIDE).value
        found = builder.icmp_signed("==", chosen, whole(list(range(WIDE))))
        address = builder.bitcast(counts.data, whole.as_pointer())
        removed = builder.select(found, whole([1] * WIDE), whole([0] * WIDE))
        builder.store(builder.sub(builder.load(address, align=4), removed), address, align=4)
        return context.get_dummy_value()

    return types.none(counts, types.int64), code


remove_card: Any = intrinsic(_remove_card)
