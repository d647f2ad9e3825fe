"""The shoes of a counter with their counts, and the rounds in them."""

from __future__ import annotations

from typing import Any

import numpy as np

from bjsim.errors import EndlessSplitting
from bjsim.sim.engine.array_walker import NeedsMoreCards
from bjsim.sim.engine.kernels.count_layout import FURTHER, Counter
from bjsim.sim.engine.kernels.layout import ENDLESS, CompiledRules

Array = np.ndarray[Any, Any]

ACE = 0  # its rank


class CountedShoes:
    """Shoes and their counts, if all cards are seen; `cards` are rank indices, uint8 (p, lanes).

    A round that runs on reads the cards of the next lane. No round begins after `cut` cards of the `size` of
    a shoe. `running` is the running count after so many cards, int32 (p + 1, lanes); `bucket` the bucket of
    the count for bets after so many, (cut, lanes).
    """

    def __init__(self, compiled: CompiledRules, counter: Counter, cards: Array) -> None:
        self.size, self.cut = compiled.numbers.shoe_size, compiled.numbers.cut
        self.cards = cards
        self.running = np.empty((len(cards) + 1, cards.shape[1]), np.int32)
        self.running[0] = counter.initial
        self.running[1:] = counter.tags.astype(np.int32)[cards]
        np.cumsum(self.running, axis=0, out=self.running)
        count = self.running[: self.cut] - counter.lowest_bet
        if counter.side_aces:
            aces = np.cumsum(cards[: self.cut - 1] == ACE, axis=0, dtype=np.int32)
            count += counter.side_aces * int(counter.full[ACE])
            count[1:] -= counter.side_aces * aces
        self.bucket = counter.buckets[np.arange(self.cut)[:, None], count]

    def cards_at(self, p: Array, lane: Array) -> Array:
        """The cards of lanes at positions, which may be those of later lanes, (n,)."""
        if p.max(initial=0) >= len(self.cards):
            later, p = np.divmod(p, self.size)
            lane = lane + later
            if p.max() >= len(self.cards):
                raise NeedsMoreCards
            if later.max() > FURTHER:
                raise EndlessSplitting(ENDLESS)
        cards: Array = self.cards.take(p * self.cards.shape[1] + lane)
        return cards
