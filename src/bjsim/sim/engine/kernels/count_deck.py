"""The shoes of a counter, with the running count after every card, the buckets before them, and the depth control."""

from __future__ import annotations

from typing import Any

import numpy as np

from bjsim.sim.engine.jit import compiled
from bjsim.sim.engine.kernels.count_layout import DEPTHS, ENDLESS_ROUND, FURTHER, VALUE
from bjsim.sim.engine.kernels.layout import ShoeArrays
from bjsim.sim.engine.kernels.shoe import AHEAD, shuffle
from bjsim.sim.engine.kernels.surprise import remove_card

ACE = 0  # its rank


@compiled(_nrt=False)
def provide(deck: Any, shoe: Any, stop: Any) -> None:
    """Have at least the first `stop` cards of a shoe ready, if it has so many, and the running count after each."""
    ready, stop, number = deck.ready[shoe], min((stop + 3) // 4 * 4, deck.size), deck.number[shoe : shoe + 1]
    number[0] = deck.number[0] + shoe
    deck.running[shoe, 0] = deck.initial
    done, unused = deck.ready[shoe : shoe + 1], deck.number
    shuffled = ShoeArrays(
        deck.cards[shoe], deck.key, unused, done, number, unused, deck.size, 1, deck.unshuffled, unused, unused
    )
    shuffle(shuffled, stop)
    for i in range(ready, stop):
        deck.running[shoe, i + 1] = deck.running[shoe, i] + deck.tags[deck.cards[shoe, i]]


@compiled(_nrt=False)
def later_card(deck: Any, p: Any) -> Any:
    """The card at a position that may not be ready, or in a later shoe; or ENDLESS_ROUND."""
    shoe, place = p // deck.size, p % deck.size
    if shoe > FURTHER:
        return np.int64(ENDLESS_ROUND)
    if place >= deck.ready[shoe]:
        provide(deck, shoe, place + AHEAD)
    return np.int64(deck.cards[shoe, place])


@compiled(_nrt=False, forceinline=True)
def card_at(deck: Any, p: Any) -> Any:
    return np.int64(deck.cards[0, p]) if p < deck.ready[0] else later_card(deck, p)


@compiled(_nrt=False)
def next_shoe(deck: Any) -> None:
    """Let the next shoe be the first; a round may have begun to draw from it."""
    for shoe in range(FURTHER):
        deck.ready[shoe] = deck.ready[shoe + 1]
        for p in range(deck.size if deck.ready[shoe] else 0):
            deck.cards[shoe, p], deck.running[shoe, p + 1] = deck.cards[shoe + 1, p], deck.running[shoe + 1, p + 1]
    deck.ready[FURTHER] = 0
    deck.number[0] += 1


@compiled(_nrt=False)
def fill_shoe(full: Any, counts: Any, left: Any) -> None:
    left[0] = 0.0
    for rank in range(len(full)):
        counts[rank] = full[rank]
        left[0] += full[rank]


@compiled(_nrt=False, forceinline=True)
def deal_card(full: Any, counts: Any, left: Any, rank: Any) -> None:
    """Remove a card from the composition; after the last one a fresh shoe follows."""
    remove_card(counts, rank)
    left[0] -= 1.0
    if left[0] == 0.0:
        fill_shoe(full, counts, left)


@compiled(_nrt=False)
def find_buckets(deck: Any, counter: Any, bucket: Any) -> None:
    """Have the cards of a shoe up to its cut ready, and find the bucket of the count before each."""
    if deck.ready[0] < len(bucket):
        provide(deck, 0, len(bucket))
    aces = counter.side_aces * np.int64(counter.full[ACE])
    for p in range(len(bucket)):
        bucket[p] = counter.buckets[p, deck.running[0, p] - counter.lowest_bet + aces]
        aces -= counter.side_aces * (deck.cards[0, p] == ACE)


@compiled(_nrt=False)
def add_depths(deck: Any, control: Any, buckets: Any, left: Any, now: Any) -> None:
    """Add the value and the number of the depths of a shoe, as `count_depths` does."""
    for q in range(len(left)):
        left[q] = control.full[q]
    for n in range(0, len(buckets), control.step):
        bucket, value = np.int64(buckets[n]), 0.0
        for q in range(len(left)):
            value += control.slopes[bucket, q] * left[q]
        now[VALUE, bucket] += control.values[bucket] + value / (deck.size - n)
        now[DEPTHS, bucket] += 1.0
        for card in deck.cards[0, n : n + control.step]:
            left[min(np.int64(card), len(left) - 1)] -= 1.0
