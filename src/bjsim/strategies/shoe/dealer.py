"""The dealer's final hands as multisets, and the distribution of the dealer's outcome given removed cards.

The probability that the dealer draws given cards in a given order depends only on their multiset: it is a product over
card values of falling factorials of the cards left, divided by one of all cards left. Each final multiset is therefore
listed once, with its number of orders. They depend only on the dealer's rules, not on the shoe.

The sum over the dealer's multisets is taken one card value at a time, tens first. When a value has been summed over,
what is left of the dealer's multiset is its outcome, its size and its cards of lower values, and what is needed of the
removed multiset is its cards of that value and higher: there are far fewer of both than whole multisets. The sum over
the lowest values is a product of matrices.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache

import numpy as np

from bjsim.arrays import Floats, Ints
from bjsim.sim.game.dealer import DealerStates
from bjsim.sim.game.hand_states import DealerState
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.states import States
from bjsim.strategies.shoe.hands import BITS, HIGH, LOW, VALUES, Removed

Start = tuple[int, ...]  # values of the dealer's known cards, sorted
TAG, COUNT = 10, 5  # bits of a final multiset's outcome and size, and of each of its counts


class FinalHands:
    """The dealer's final hands from one start, with `known` cards by value, (10,).

    By hand: `counts` of cards by value, including those of the start, (hands, 10); index of the `outcome`,
    (hands,); and `orders`, the number of orders that lead from the start to it, (hands,).
    """

    def __init__(self, counts: Ints, outcome: Ints, orders: Floats, known: Ints) -> None:
        self.orders, self.known = orders, known
        key = (
            (counts << (COUNT * np.arange(VALUES, dtype=np.int64) + TAG)).sum(axis=1)
            + (outcome << COUNT)
            + counts.sum(axis=1)
        )
        self.steps: list[tuple[int, list[tuple[int, Ints, Ints]]]] = []  # number of keys left; count, keys, keys left
        for value in HIGH:
            bits = COUNT * value + TAG
            held, (left, into) = key >> bits, np.unique(key & ((1 << bits) - 1), return_inverse=True)
            rows = [(count, np.flatnonzero(held == count)) for count in np.unique(held).tolist()]
            self.steps.append((len(left), [(count, row, into[row]) for count, row in rows]))
            key = left
        self.size = key & ((1 << COUNT) - 1)
        self.low = key >> (COUNT * np.arange(LOW, dtype=np.int64) + TAG)[:, None] & ((1 << COUNT) - 1)
        ends = key >> COUNT & ((1 << TAG - COUNT) - 1)
        self.by_outcome = [(outcome, np.flatnonzero(ends == outcome)) for outcome in np.unique(ends).tolist()]

    def chances(self, shoe: Floats, removed: Removed, outcomes: int) -> Floats:
        """Return the distribution of the outcome given the start and each multiset of removed cards.

        The probabilities are (outcomes, G), 0 if the shoe lacks the cards; `shoe` includes the start's, (10,).
        """
        sizes = np.arange(self.size.max() + 1)
        ways = falling(np.maximum(shoe[:, None] - np.arange(1 << BITS), 0.0), len(sizes) - 1)
        part = self.orders[:, None]
        for value, (size, moves), (higher, gone) in zip(HIGH, self.steps, removed.steps, strict=True):
            after = np.zeros((size, len(higher)))
            for count, rows, into in moves:
                taken = part[rows].take(higher, axis=1)
                if count:
                    taken *= ways[value][count, gone]
                after[into] += taken
            part = after
        cards = shoe.sum() - np.arange(removed.sizes.max() + 1.0)
        all_ways = falling(cards, len(sizes) - 1)
        share = np.divide(1, all_ways, out=np.zeros_like(all_ways), where=cards >= np.maximum(sizes, 1)[:, None])
        out = np.zeros((outcomes, len(removed.sizes)))
        weights = [share[self.size][:, total] for _, _, total, _, _ in removed.groups]
        for value, counts in enumerate(self.low):
            for (_, low, _, _, _), weight in zip(removed.groups, weights, strict=True):
                weight *= ways[value][counts][:, low[value]]
        for outcome, rows in self.by_outcome:
            ends = np.ascontiguousarray(part[rows].T)
            for (high, _, _, members, at), weight in zip(removed.groups, weights, strict=True):
                out[outcome, members] = (ends[high] @ weight[rows]).ravel()[at]
        known = np.ones(len(removed.sizes))
        for value in np.flatnonzero(self.known).tolist():
            known *= ways[value][self.known[value], removed.counts[:, value]]
        possible = (known > 0) & (removed.counts <= shoe).all(axis=1)
        drawn = all_ways[self.known.sum(), removed.sizes]
        out *= np.divide(drawn, known, out=np.zeros_like(known), where=possible)
        return out


def falling(count: Floats, most: int) -> Floats:
    """Return the falling factorials of counts (..., n) with 0 to `most` factors, (..., most + 1, n)."""
    factors = np.ones((*count.shape[:-1], most + 1, count.shape[-1]))
    np.subtract(count[..., None, :], np.arange(most)[:, None], out=factors[..., 1:, :])
    return np.asarray(factors.cumprod(axis=-2))


@dataclass(frozen=True)
class DealerPlay:
    """The dealer's play under given rules: the possible known cards (`starts`), the outcomes, and the final hands."""

    starts: tuple[Start, ...]
    outcomes: tuple[int, ...]
    hands: tuple[FinalHands, ...]

    @cached_property
    def known(self) -> Ints:
        """The cards of each start by value, shape (starts, 10)."""
        return np.array([hands.known for hands in self.hands])


@lru_cache(maxsize=4)  # solutions of games that differ in the player's rules alone share one
def dealer_chances(play: DealerPlay, shoe: tuple[float, ...], removed: Removed) -> Callable[[int], Floats]:
    """Return the distribution of the outcome by start, (outcomes, G), for the counts of a shoe by card value."""

    @cache
    def chances(start: int) -> Floats:
        found = play.hands[start].chances(np.array(shoe), removed, len(play.outcomes))
        found.flags.writeable = False
        return found

    return chances


def dealer_play(rules: Rules) -> DealerPlay:
    own = Rules(
        dealer_stands_on=rules.dealer_stands_on,
        hit_soft_17=rules.hit_soft_17,
        naturals=rules.naturals,
        dealer_22_pushes=rules.dealer_22_pushes,
    )
    return _play(own, rules.dealer_shows == "both")


@lru_cache(maxsize=16)
def _play(rules: Rules, both: bool) -> DealerPlay:
    states = States(rules)
    ones = [(value,) for value in range(VALUES)]
    starts: list[Start] = [(a, b) for a in range(VALUES) for b in range(a, VALUES)] if both else list(ones)
    return DealerPlay(tuple(starts), states.dealer_outcomes, tuple(_finals(states, start) for start in starts))


def final_cards(states: DealerStates, start: Start) -> dict[Start, tuple[DealerState, int]]:
    """Return the sorted cards with which the dealer ends: their state, and the number of orders from the start."""
    state = DealerState()
    for value in start:
        state = states.dealer_add(state, value)
    done: dict[Start, tuple[DealerState, int]] = {}
    todo = {start: (state, 1)}
    while todo:
        drawn: dict[Start, tuple[DealerState, int]] = {}
        for cards, (state, orders) in todo.items():
            if states.dealer_done(state):
                done[cards] = state, orders
                continue
            for value in range(VALUES):
                after = tuple(sorted((*cards, value)))
                drawn[after] = states.dealer_add(state, value), drawn.get(after, (state, 0))[1] + orders
        todo = drawn
    return done


def _finals(states: States, start: Start) -> FinalHands:
    done = final_cards(states, start)
    index = {score: number for number, score in enumerate(states.dealer_outcomes)}
    return FinalHands(
        np.array([[hand.count(value) for value in range(VALUES)] for hand in done]),
        np.array([index[states.dealer_outcome(state)] for state, _ in done.values()]),
        np.array([float(orders) for _, orders in done.values()]),
        np.array([start.count(value) for value in range(VALUES)]),
    )
