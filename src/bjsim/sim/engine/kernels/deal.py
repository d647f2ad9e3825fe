"""The cards of finite shoes, drawn from counts, and of infinite ones, in vector instructions.

They are those of `sim/game/shoe.py`. LLVM fits the vectors to the processor, so the code runs on any.

A card is a random index below the number of cards left. In a shoe that is sorted from the highest rank down, as many
cards as `above[j]` are of higher rank than j, so the card's rank is the number of these limits that lie above its
index; and as it is one of the cards that they count, each of them then sinks by one.
"""

from __future__ import annotations

from functools import partialmethod
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

PER_WORD = 3  # cards of a finite shoe for which a random word is enough
BITS = 55  # of the word, which leave room for a product with up to 512 cards
INFINITE_PER_WORD = 8  # the same for an infinite shoe, whose 13 ranks are equally likely
INFINITE_BITS = 60
LANES = 32  # shoes side by side

I8, I16, I32, I64 = (ir.IntType(bits) for bits in (8, 16, 32, 64))


class Vector:
    """A vector of integers with operators; a Python number is broadcast."""

    def __init__(self, builder: Any, value: Any) -> None:
        self.builder, self.value = builder, value

    def _apply(self, instruction: str, other: Vector | int) -> Vector:
        kind = self.value.type
        operand = other.value if isinstance(other, Vector) else kind([other] * kind.count)
        return Vector(self.builder, getattr(self.builder, instruction)(self.value, operand))

    __add__ = partialmethod(_apply, "add")
    __sub__ = partialmethod(_apply, "sub")
    __mul__ = partialmethod(_apply, "mul")
    __xor__ = partialmethod(_apply, "xor")
    __and__ = partialmethod(_apply, "and_")
    __rshift__ = partialmethod(_apply, "lshr")

    def above(self, other: Vector) -> Vector:
        """-1 where this vector is greater, else 0."""
        greater = self.builder.icmp_signed(">", self.value, other.value)
        return Vector(self.builder, self.builder.sext(greater, self.value.type))

    def cut(self, kind: Any) -> Vector:
        """The low bits of each number."""
        return Vector(self.builder, self.builder.trunc(self.value, ir.VectorType(kind, self.value.type.count)))

    def store(self, address: Any) -> None:
        self.builder.store(self.value, self.builder.bitcast(address, self.value.type.as_pointer()), align=1)


def load(builder: Any, address: Any) -> Vector:
    """A word of each lane."""
    pointer = builder.bitcast(address, ir.VectorType(I64, LANES).as_pointer())
    return Vector(builder, builder.load(pointer, align=8))


def repeat(builder: Any, number: Any, count: int) -> Vector:
    """A vector of `count` times the same number, which is known only when the code runs."""
    one = builder.insert_element(ir.VectorType(number.type, count)(ir.Undefined), number, I32(0))
    return Vector(builder, builder.shuffle_vector(one, one, ir.VectorType(I32, count)([0] * count)))


def mix(z: Vector) -> Vector:
    """The words of `shoe.py` from `start + i * gamma`."""
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB
    return z ^ (z >> 31)


class Loop:
    """A loop `n` times, at least once, over values that each turn hands to the next."""

    def __init__(self, builder: Any, n: Any, *first: Any) -> None:
        self.builder, self.n = builder, n
        before, self._inside = builder.block, builder.append_basic_block("inside")
        builder.branch(self._inside)
        builder.position_at_end(self._inside)
        self._phis = [builder.phi(value.type) for value in (I64(0), *first)]
        for phi, value in zip(self._phis, (I64(0), *first), strict=True):
            phi.add_incoming(value, before)
        self.turn, *self.values = self._phis

    def close(self, *values: Any) -> None:
        following = self.builder.add(self.turn, I64(1))
        for phi, value in zip(self._phis, (following, *values), strict=True):
            phi.add_incoming(value, self.builder.block)
        after = self.builder.append_basic_block("after")
        self.builder.cbranch(self.builder.icmp_unsigned("<", following, self.n), self._inside, after)
        self.builder.position_at_end(after)


def _data(context: Any, builder: Any, signature: Any, arguments: Any, count: int) -> Any:
    """The addresses of the first `count` arguments, which are arrays."""
    pairs = zip(signature.args[:count], arguments, strict=False)
    return (context.make_array(kind)(context, builder, array).data for kind, array in pairs)


def _deal_shoes(
    context: Any, cards: Any, starts: Any, gammas: Any, above: Any, ranks: Any, size: Any, words: Any
) -> Any:
    """Deal the first PER_WORD * `words` cards of shoes side by side; `cards` are as in `ShoeArrays`.

    `starts` and `gammas`, uint64 (lanes,), are the key of each shoe's first word; `above` the limits of a full shoe of
    `size` cards, int64. The code is made for the length of the tuple `ranks`: so many are distinguished.
    """
    lanes, limits = LANES, ranks.count - 1

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        cards, starts, gammas, above = _data(context, builder, signature, arguments, 4)
        size, words = arguments[5:]
        first, gamma = (load(builder, address) for address in (starts, gammas))
        numbers = (builder.load(builder.gep(above, [I64(j)])) for j in range(limits))
        full = [repeat(builder, builder.trunc(number, I16), lanes) for number in numbers]
        loop = Loop(builder, words, builder.trunc(size, I32), first.value, *(limit.value for limit in full))
        left, z, *rest = loop.values
        now, share = [Vector(builder, limit) for limit in rest], mix(Vector(builder, z)) >> (64 - BITS)
        for i in range(PER_WORD):
            share = share * repeat(builder, builder.zext(builder.sub(left, I32(i)), I64), lanes)
            index = (share >> BITS).cut(I16)
            share = share & ((1 << BITS) - 1)
            rank = index ^ index
            for j, limit in enumerate(now):
                one = limit.above(index)
                now[j], rank = limit + one, rank - one
            place = builder.mul(builder.add(builder.mul(loop.turn, I64(PER_WORD)), I64(i)), I64(lanes))
            rank.cut(I8).store(builder.gep(cards, [place]))
        following = Vector(builder, z) + gamma
        loop.close(builder.sub(left, I32(PER_WORD)), following.value, *(limit.value for limit in now))
        return context.get_dummy_value()

    return types.none(cards, starts, gammas, above, ranks, types.int64, types.int64), code


def _deal_infinite(context: Any, cards: Any, starts: Any, gammas: Any, ranks: Any, words: Any) -> Any:
    """Deal INFINITE_PER_WORD * `words` cards of infinite shoes side by side, as `deal_shoes`."""
    lanes, last = LANES, ranks.count - 1

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        cards, starts, gammas = _data(context, builder, signature, arguments, 3)
        first, gamma = (load(builder, address) for address in (starts, gammas))
        loop = Loop(builder, arguments[4], first.value)
        share = mix(Vector(builder, loop.values[0])) >> (64 - INFINITE_BITS)
        for i in range(INFINITE_PER_WORD):
            share = share * 13
            rank = (share >> INFINITE_BITS).cut(I8)
            share = share & ((1 << INFINITE_BITS) - 1)
            most = rank.value.type([last] * lanes)
            lower = builder.select(builder.icmp_unsigned("<", rank.value, most), rank.value, most)
            place = builder.add(builder.mul(loop.turn, I64(INFINITE_PER_WORD)), I64(i))
            Vector(builder, lower).store(builder.gep(cards, [builder.mul(place, I64(lanes))]))
        loop.close((Vector(builder, loop.values[0]) + gamma).value)
        return context.get_dummy_value()

    return types.none(cards, starts, gammas, ranks, types.int64), code


deal_shoes: Any = intrinsic(_deal_shoes)
deal_infinite: Any = intrinsic(_deal_infinite)
