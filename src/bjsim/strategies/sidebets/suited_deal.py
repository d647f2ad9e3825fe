"""Suits for the cards of a block of rounds, from words of its stream that its cards do not use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bjsim.sim.engine.array_cards import PER_WORD, Segments
from bjsim.sim.engine.kernels.layout import CompiledRules
from bjsim.sim.game.random_stream import stream_key, stream_words
from bjsim.sim.game.rules import Rules
from bjsim.strategies.sidebets.kinds import SUITS

Kinds = NDArray[np.int64]
DEALER = -1
SEGMENT = 64 * PER_WORD  # cards of an infinite shoe that are made side by side
FIRST_WORD = np.uint64(1 << 48)  # of suits; no block has so many cards


class SuitedDeal(NamedTuple):
    """The cards of a block of rounds, by kind in the order in which they are drawn, (n,).

    `start` is the place of the first card of each round, `end` the place behind its last card, both (rounds,).
    """

    kinds: Kinds
    start: Kinds
    end: Kinds

    def card(self, offset: int) -> Kinds:
        """The card of each round that is dealt at this place of the deal, (rounds,)."""
        return self.kinds[self.start + offset]


def deal_suits(
    rules: Rules, compiled: CompiledRules, place: tuple[int, int, int], used: Kinds, more: int
) -> SuitedDeal:
    """Redeal the cards of a block, with suits; `place` is seed, table and block.

    In whole decks, the cards of each rank get their suits in random order; in an infinite shoe, each card gets
    one. `used` is the number of cards of each round, (rounds,); `more` is how many are needed behind the last one.
    """
    key = stream_key(*place)
    keys = np.array([key], np.uint64)
    if rules.infinite:
        end = used.cumsum()
        segments = (int(end[-1]) + more) // SEGMENT + 1
        ranks = Segments(compiled, SEGMENT).cards(keys, 0, segments, SEGMENT).T.ravel()
        suits = (_words(key, len(ranks)) & np.uint64(3)).astype(np.int64)
        return SuitedDeal(ranks.astype(np.int64) * len(SUITS) + suits, end - used, end)
    start = _starts(used, rules.shoe_size, rules.cut_cards)
    shoes = (int(start[-1] + used[-1]) + more) // rules.shoe_size + 1
    ranks = Segments(compiled, rules.shoe_size).cards(keys, 0, shoes, rules.shoe_size)
    order = (ranks.astype(np.uint64) << np.uint64(60)) + (_words(key, ranks.size).reshape(ranks.shape) >> np.uint64(4))
    every = [rank * len(SUITS) + n % len(SUITS) for rank, held in enumerate(rules.shoe_counts) for n in range(held)]
    kinds = np.empty(ranks.shape, np.int64)
    np.put_along_axis(kinds, order.argsort(axis=0), np.array(every)[:, None], axis=0)
    return SuitedDeal(kinds.T.ravel(), start, start + used)


def _words(key: tuple[int, int], count: int) -> NDArray[Any]:
    with np.errstate(over="ignore"):
        index = FIRST_WORD + np.arange(count, dtype=np.uint64)
        words: NDArray[Any] = stream_words(np.uint64(key[0]), np.uint64(key[1]), index)
    return words


def _starts(used: Kinds, size: int, cut: int) -> Kinds:
    """The place of the first card of each round, in shoes one behind the other; see `DeckShoe`."""
    at, starts = 0, []
    for cards in used.tolist():
        if at % size >= cut:
            at += size - at % size
        starts.append(at)
        at += cards
    return np.array(starts)


def deal_order(rules: Rules, seats: int) -> Mapping[int, list[int]]:
    """The places in the deal of the cards of each seat, and of the dealer."""
    places: dict[int, list[int]] = {seat: [] for seat in (DEALER, *range(seats))}
    at = 0
    for to in rules.deal:
        for seat in [DEALER] if to == "d" else range(seats):
            places[seat].append(at)
            at += 1
    return places
