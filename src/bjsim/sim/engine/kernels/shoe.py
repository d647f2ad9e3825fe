"""The cards: the same as those of `sim/game/shoe.py`, generated a few at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from bjsim.sim.engine.jit import compiled

BUFFER = 1024  # cards of an infinite shoe generated at a time
KEPT = 32  # space before them for earlier cards
AHEAD = 28  # cards of a shoe of whole decks shuffled at a time: a multiple of four


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


@compiled(_nrt=False)
def fill(shoe: Any) -> None:
    """Fill the buffer of an infinite shoe from KEPT on with its next BUFFER cards."""
    start, gamma, chunk = shoe.key[0], shoe.key[1], shoe.chunk[0]
    if shoe.normal_tens:
        position = np.uint64(KEPT)
        for i in range(chunk * (BUFFER // 8), (chunk + 1) * (BUFFER // 8)):
            share = word(start, gamma, i) >> np.uint64(4)
            for _ in range(8):
                share *= np.uint64(13)
                shoe.cards[position] = share >> np.uint64(60)
                share &= np.uint64((1 << 60) - 1)
                position += np.uint64(1)
    else:
        for i in range(BUFFER):
            bits = half_word(start, gamma, chunk * BUFFER + i)
            slot = bits & np.uint64(15)
            below = np.int64(bits >> np.uint64(4)) < shoe.threshold[slot]
            shoe.cards[KEPT + i] = slot if below else shoe.other[slot]


@compiled(_nrt=False)
def shuffle(shoe: Any, stop: Any) -> None:
    """Do the Fisher-Yates steps `ready` .. `stop` of a shuffle of whole decks; step 0 first puts the cards in order.

    A word serves four steps: the high half of its product with the number of cards left is the step's random index, and
    the low half is the word of the next step. Hence `ready` and `stop` are multiples of four.
    """
    start, gamma, cards = shoe.key[0], shoe.key[1], shoe.cards  # read once: numba assumes that cards alias them
    ready, number, size = shoe.ready[0], shoe.chunk[0], shoe.size
    if ready == 0:
        for k in range(size):
            cards[k] = shoe.unshuffled[k]
    i, left = np.uint64(ready), np.uint64(size - ready)
    for number_of_word in range(number * (size // 4) + ready // 4, number * (size // 4) + stop // 4):
        low = word(start, gamma, number_of_word)
        for _ in range(4):
            high, low = high_and_low(low, left)
            j = i + high
            cards[i], cards[j] = cards[j], cards[i]
            i += np.uint64(1)
            left -= np.uint64(1)
    shoe.ready[0] = stop


@compiled(_nrt=False, forceinline=True)
def begin_shuffle(shoe: Any) -> None:
    """Begin the next shuffle of whole decks; none of its cards is ready yet."""
    shoe.chunk[0] += 1
    shoe.before[0] += shoe.read[0]
    shoe.read[0] = shoe.ready[0] = 0


@compiled(_nrt=False)
def refill(shoe: Any, kept: Any) -> None:
    """Generate cards of an infinite shoe after the unread ones, keeping also the last `kept` that were read."""
    unread = shoe.ready[0] - shoe.read[0]
    for i in range(unread + kept):
        shoe.cards[KEPT - unread - kept + i] = shoe.cards[shoe.read[0] - kept + i]
    shoe.chunk[0] += 1
    shoe.before[0] += shoe.read[0] + unread - KEPT
    shoe.read[0], shoe.ready[0] = KEPT - unread, KEPT + BUFFER
    fill(shoe)


@compiled(_nrt=False)
def more(shoe: Any) -> None:
    if shoe.size == 0:
        refill(shoe, np.int64(0))
        return
    if shoe.ready[0] == shoe.size:
        begin_shuffle(shoe)
    shuffle(shoe, min(shoe.ready[0] + AHEAD, shoe.size))


@compiled(_nrt=False, forceinline=True)
def draw(shoe: Any) -> Any:
    """Draw the next card. Returns: its rank index."""
    if shoe.read[0] == shoe.ready[0]:
        more(shoe)
    shoe.read[0] += 1
    return shoe.cards[shoe.read[0] - 1]
