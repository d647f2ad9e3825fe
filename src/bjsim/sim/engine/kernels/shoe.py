"""The shoes of kernels, dealt side by side: their cards are those of `sim/game/shoe.py`."""

from typing import Any

import numpy as np

from bjsim.sim.engine.jit import inner
from bjsim.sim.engine.kernels.deal import INFINITE_PER_WORD, LANES, PER_WORD, deal_infinite, deal_shoes

RANKS = tuple(range(13))  # all that a table's shoe distinguishes


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


@inner()
def deal(rules: Any, ranks: Any, cards: Any, first: Any, gamma: Any, count: Any) -> None:
    """Deal the first `count` cards of shoes side by side; `first` and `gamma` are the keys of their first words."""
    if rules.finite:
        deal_shoes(cards, first, gamma, rules.above, ranks, rules.size, (count + PER_WORD - 1) // PER_WORD)
    elif rules.normal_tens:
        deal_infinite(cards, first, gamma, ranks, (count + INFINITE_PER_WORD - 1) // INFINITE_PER_WORD)
    else:
        for k in range(count):
            for lane in range(LANES):
                half, rank = np.int64(half_word(first[lane], gamma[lane], k)), np.uint8(0)
                for j in range(len(ranks) - 1):
                    rank += np.uint8(rules.above[j] > half)
                cards[k * LANES + lane] = rank


@inner()
def begin_shoe(shoe: Any) -> None:
    """Begin the next shoe of a table: one of LANES that are dealt side by side."""
    shoe.before[0] += shoe.read[0]
    shoe.number[0] += 1
    shoe.read[0] = 0
    if shoe.number[0] % LANES == 0:
        for lane in range(LANES):
            words = np.uint64((shoe.number[0] + lane) * shoe.rules.words)
            shoe.first[lane] = shoe.key[0] + words * shoe.gamma[lane]
        deal(shoe.rules, RANKS, shoe.cards, shoe.first, shoe.gamma, shoe.rules.size)


@inner(inline="always")
def card_at(shoe: Any, place: Any) -> Any:
    """The rank of a card of this shoe."""
    return np.int64(shoe.cards[place * LANES + (shoe.number[0] & (LANES - 1))])


@inner(forceinline=True)
def draw(shoe: Any) -> Any:
    """Draw the next card. Returns: its rank index."""
    if shoe.read[0] == shoe.rules.size:
        begin_shoe(shoe)
    shoe.read[0] += 1
    return card_at(shoe, shoe.read[0] - 1)
