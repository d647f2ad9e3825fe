"""Vector instructions that numba does not generate by itself."""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from bjsim.sim.engine.kernels.deal import I8, I16, I32, I64, repeat
from bjsim.sim.engine.kernels.layout import WIDE

FEWER = 4  # vectors of pairs if ten ranks are distinguished
PAIRS = [(i, j) for j in range(WIDE) for i in range(j + 1)][: 6 * WIDE]  # of ranks; the first 91 are of 13 ranks
HALF, WHOLE, SUM = ir.VectorType(I16, WIDE), ir.VectorType(I32, WIDE), ir.VectorType(I32, WIDE // 2)


def _load(builder: Any, address: Any, row: Any) -> Any:
    """A row of a padded array, int16 (WIDE,)."""
    begin = builder.gep(address, [builder.mul(row, row.type(WIDE))])
    return builder.load(builder.bitcast(begin, HALF.as_pointer()), align=2 * WIDE)


def _products(builder: Any, one: Any, other: Any) -> Any:
    """The products of two vectors, those of neighbours added up: one instruction, if LLVM sees it."""
    both = builder.mul(builder.sext(one, WHOLE), builder.sext(other, WHOLE))
    parts = (builder.shuffle_vector(both, both, SUM(list(range(first, WIDE, 2)))) for first in (0, 1))
    return builder.add(*parts)


def _add_up(builder: Any, numbers: Any) -> Any:
    kind, name = ir.FunctionType(I32, [SUM]), f"llvm.vector.reduce.add.v{SUM.count}i32"
    add_up = cgutils.get_or_insert_function(builder.module, kind, name)  # type: ignore[no-untyped-call]
    return builder.sitofp(builder.call(add_up, [numbers]), ir.DoubleType())


def _pairs(context: Any, forms: Any, form: Any, counts: Any) -> Any:
    """The sum of a form, see `Luck.form`, int16 (n, p), over pairs of cards of `counts`, int16 (WIDE,).

    No count is above 181, so that the product of two fits into 16 bits; bytes are shuffled by one instruction.
    """

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        forms, counts = (context.make_array(signature.args[n])(context, builder, arguments[n]) for n in (0, 2))
        vectors = builder.udiv(builder.extract_value(forms.shape, 1), I64(WIDE))
        begin = builder.mul(arguments[1], vectors)
        total = cgutils.alloca_once_value(builder, SUM([0] * SUM.count))  # type: ignore[no-untyped-call]
        counted = builder.trunc(_load(builder, counts.data, I64(0)), ir.VectorType(I8, WIDE))

        def add(vector: int) -> None:
            numbers = PAIRS[vector * WIDE : (vector + 1) * WIDE]
            first, second = (
                builder.zext(builder.shuffle_vector(counted, counted, WHOLE([pair[n] for pair in numbers])), HALF)
                for n in (0, 1)
            )
            second = builder.sub(second, HALF([int(i == j) for i, j in numbers]))
            of_pairs = _load(builder, forms.data, builder.add(begin, I64(vector)))
            product = _products(builder, of_pairs, builder.mul(first, second))
            builder.store(builder.add(builder.load(total), product), total)

        for vector in range(FEWER):
            add(vector)
        for vector in range(FEWER, len(PAIRS) // WIDE):
            with builder.if_then(builder.icmp_unsigned(">", vectors, I64(vector)), likely=False):
                add(vector)
        return _add_up(builder, builder.load(total))

    return types.float64(forms, types.int64, counts), code


pairs: Any = intrinsic(_pairs)


def _dot(context: Any, rows: Any, row: Any, counts: Any) -> Any:
    """The sum over ranks of a row, int16 (n, WIDE), times counts, int16 (WIDE,)."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        rows, counts = (
            context.make_array(signature.args[each])(context, builder, arguments[each]).data for each in (0, 2)
        )
        vectors = _load(builder, rows, arguments[1]), _load(builder, counts, I64(0))
        return _add_up(builder, _products(builder, *vectors))

    return types.float64(rows, types.int64, counts), code


dot: Any = intrinsic(_dot)


def _remove_card(context: Any, counts: Any, card: Any) -> Any:
    """Remove a card from counts, int16 (WIDE,), with one store of all counts.

    After a store of one count, the next load of the vector would stall: the processor forwards a store only to loads
    that it covers.
    """

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        counts = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        chosen = repeat(builder, builder.trunc(arguments[1], I16), WIDE).value
        found = builder.sext(builder.icmp_signed("==", chosen, HALF(list(range(WIDE)))), HALF)
        left = builder.add(_load(builder, counts, I64(0)), found)
        builder.store(left, builder.bitcast(counts, HALF.as_pointer()), align=2 * WIDE)
        return context.get_dummy_value()

    return types.none(counts, types.int64), code


remove_card: Any = intrinsic(_remove_card)
