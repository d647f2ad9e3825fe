"""The dealer's final hands as multisets.

The probability that the dealer draws given cards in a given order depends only on their multiset; it is a product of
falling factorials. Each final multiset is therefore listed once, with its number of orders for each start. The list is
sorted so that adjacent multisets share most of their product. It depends only on the dealer's rules, not on the shoe.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from bjsim.sim.game.hand_states import DealerState
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.states import States
from bjsim.strategies.shoe.composition import VALUES
from bjsim.strategies.shoe.kernel import DealerHands

Start = tuple[int, ...]  # values of the dealer's known cards, sorted


@dataclass(frozen=True)
class DealerPlay:
    """The dealer's play under given rules: the possible known cards (`starts`), the outcomes and the final hands."""

    starts: tuple[Start, ...]
    outcomes: tuple[int, ...]
    hands: DealerHands
    _against: dict[int, DealerHands] = field(default_factory=dict, repr=False, compare=False)

    def against(self, start: int) -> DealerHands:
        """Return the final hands from one start."""
        if start not in self._against:
            self._against[start] = _of_start(self.hands, start)
        return self._against[start]


def dealer_play(rules: Rules) -> DealerPlay:
    """Return the dealer's play under `rules`."""
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
    finals: dict[tuple[int, ...], list[tuple[int, int]]] = {}
    outcome: dict[tuple[int, ...], int] = {}
    outcome_index = {score: index for index, score in enumerate(states.dealer_outcomes)}
    for number, start in enumerate(starts):
        for cards, (state, orders) in _finals(states, start).items():
            finals.setdefault(cards, []).append((number, orders))
            outcome[cards] = outcome_index[states.dealer_outcome(state)]
    return DealerPlay(tuple(starts), states.dealer_outcomes, _arrays(finals, outcome, starts))


def _finals(states: States, start: Start) -> dict[tuple[int, ...], tuple[DealerState, int]]:
    """Return the final hands from `start`: sorted cards -> (state, number of orders of the drawn cards)."""
    state = DealerState()
    for value in start:
        state = states.dealer_add(state, value)
    done: dict[tuple[int, ...], tuple[DealerState, int]] = {}
    todo = {start: (state, 1)}
    while todo:
        drawn: dict[tuple[int, ...], tuple[DealerState, int]] = {}
        for cards, (state, orders) in todo.items():
            if states.dealer_done(state):
                done[cards] = state, orders
                continue
            for value in range(VALUES):
                after = tuple(sorted((*cards, value)))
                drawn[after] = states.dealer_add(state, value), drawn.get(after, (state, 0))[1] + orders
        todo = drawn
    return done


def _arrays(
    finals: dict[tuple[int, ...], list[tuple[int, int]]], outcome: dict[tuple[int, ...], int], starts: list[Start]
) -> DealerHands:
    hands = sorted(finals)
    longest = max(map(len, hands))
    cards, held = np.zeros((2, len(hands), longest), np.int64)
    shared = np.zeros(len(hands), np.int64)
    before: tuple[int, ...] = ()
    for index, hand in enumerate(hands):
        while hand[: shared[index] + 1] == before[: shared[index] + 1]:
            shared[index] += 1
        cards[index, : len(hand)] = hand
        held[index, : len(hand)] = [hand[:at].count(card) for at, card in enumerate(hand)]
        before = hand
    known = np.array([[start.count(value) for value in range(VALUES)] for start in starts], np.int64)
    return DealerHands(
        cards,
        held,
        shared,
        np.array([len(hand) for hand in hands]),
        np.array([outcome[hand] for hand in hands]),
        np.cumsum([0, *(len(finals[hand]) for hand in hands)]),
        np.array([start for hand in hands for start, _ in finals[hand]]),
        np.array([float(orders) for hand in hands for _, orders in finals[hand]]),
        known,
    )


def _of_start(hands: DealerHands, start: int) -> DealerHands:
    """Return the dealer's final hands from one start."""
    of = np.repeat(np.arange(len(hands.size)), np.diff(hands.first))
    kept = hands.start == start
    finals = of[kept]
    cards, size = hands.cards[finals], hands.size[finals]
    same = np.zeros(cards.shape, np.bool_)
    same[1:] = (cards[1:] == cards[:-1]) & (np.arange(cards.shape[1]) < np.minimum(size[1:], size[:-1])[:, None])
    return DealerHands(
        cards, hands.held[finals], np.cumprod(same, axis=1).sum(axis=1), size, hands.outcome[finals],
        np.arange(len(finals) + 1), np.zeros(len(finals), np.int64), hands.orders[kept], hands.known[start][None],
    )  # fmt: skip
