"""The cards of one table: the same as those of `sim/game/shoe.py`, generated a few at a time."""

from typing import Any

import numpy as np

from bjsim.sim.engine.jit import inner
from bjsim.sim.engine.kernels.deal import PER_WORD, deal_on

BUFFER = 1024  # cards of an infinite shoe generated at a time
AHEAD = 27  # cards of a finite shoe generated at a time: a multiple of PER_WORD


@inner(inline="always")
def word(start: Any, gamma: Any, i: Any) -> Any:
    z = start + np.uint64(i) * gamma
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@inner(inline="always")
def half_word(start: Any, gamma: Any, i: Any) -> Any:
    """Half i (32 bits) of the stream, the low half of a word before its high half."""
    return (word(start, gamma, i >> 1) >> np.uint64(32 * (i & 1))) & np.uint64(0xFFFFFFFF)


@inner(inline="always")
def fill(shoe: Any) -> None:
    """Fill the buffer of an infinite shoe with its next BUFFER cards."""
    start, gamma, chunk = shoe.key[0], shoe.key[1], shoe.chunk[0]
    if shoe.normal_tens:
        position = np.uint64(0)
        for i in range(chunk * (BUFFER // 8), (chunk + 1) * (BUFFER // 8)):
            share = word(start, gamma, i) >> np.uint64(4)
            for _ in range(8):
                share *= np.uint64(13)
                shoe.cards[position] = share >> np.uint64(60)
                share &= np.uint64((1 << 60) - 1)
                position += np.uint64(1)
    else:
        for i in range(BUFFER):
            half, rank = np.int64(half_word(start, gamma, chunk * BUFFER + i)), 0
            for limit in shoe.above:
                rank += limit > half
            shoe.cards[i] = rank
    shoe.ready[0] = BUFFER


@inner()
def shuffle(shoe: Any, stop: Any) -> None:
    """Have at least the first `stop` cards of a finite shoe ready, if it has so many.

    A word deals PER_WORD cards, of which the last word of a shoe may deal too many: `cards` has room for them.
    """
    ready, words = shoe.ready[0], (shoe.size + PER_WORD - 1) // PER_WORD
    if ready == 0:
        for j in range(len(shoe.above)):
            shoe.limits[j] = shoe.above[j]
    some = (min(stop, shoe.size) - ready + PER_WORD - 1) // PER_WORD
    if some > 0:
        start = shoe.key[0] + np.uint64(shoe.chunk[0] * words + ready // PER_WORD) * shoe.key[1]
        deal_on(shoe.cards, ready, shoe.limits, start, shoe.key[1], shoe.size - ready, some)
        shoe.ready[0] = min(ready + PER_WORD * some, shoe.size)


@inner(forceinline=True)
def begin_shuffle(shoe: Any) -> None:
    """Begin the next shoe, or the next cards of an infinite one; none of them is ready yet."""
    shoe.chunk[0] += 1
    shoe.before[0] += shoe.read[0]
    shoe.read[0] = shoe.ready[0] = 0


@inner()
def more(shoe: Any, infinite: Any) -> None:
    if infinite is not None and shoe.size == 0:
        begin_shuffle(shoe)
        fill(shoe)
        return
    if shoe.ready[0] == shoe.size:
        begin_shuffle(shoe)
    shuffle(shoe, min(shoe.ready[0] + AHEAD, shoe.size))


@inner(forceinline=True)
def draw(shoe: Any, infinite: Any) -> Any:
    """Draw the next card; `infinite` is None where the shoe is known to be finite. Returns: its rank index."""
    if shoe.read[0] == shoe.ready[0]:
        more(shoe, infinite)
    shoe.read[0] += 1
    return shoe.cards[shoe.read[0] - 1]
