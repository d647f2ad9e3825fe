"""The value of a side bet in many shoes at once, in floats."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bjsim.sim.game.cards import RANKS, TEN
from bjsim.sim.game.rules import Rules
from bjsim.strategies.sidebets.bets import BUST, BetRules
from bjsim.strategies.sidebets.bust import bust_events, bust_hands
from bjsim.strategies.sidebets.kinds import KINDS, SUITS
from bjsim.strategies.sidebets.outcomes import CARDS, IS_ACE, IS_TEN, RANK, outcomes

Floats = NDArray[np.float64]
AT_ONCE = 1 << 22  # numbers held at once


class Returns:
    """The returns of a bet by the cards left; a dealer's bust depends on `rules`."""

    def __init__(self, bet: BetRules, rules: Rules) -> None:
        self.cards = 0 if bet.looks_at == BUST else CARDS[bet.looks_at]
        if bet.looks_at == BUST:
            self.hands = bust_hands(rules)
            self.pays = {n: float(event.pays) + 1 for event, sizes in bust_events(bet, rules) for n in sizes}
            return
        found = outcomes(bet)
        pays = np.array([0.0, *(float(pay) + 1 for _, pay in found.events)])[found.place]
        self.given = np.minimum(RANK, TEN) == RANKS.index(bet.upcard) if bet.upcard else np.ones(len(KINDS), np.bool_)
        self.first, self.second = np.triu_indices(len(KINDS))
        swapped = pays.swapaxes(0, 1)
        both = (pays + swapped)[self.first, self.second] / np.where(self.first == self.second, 2, 1).reshape(
            (-1,) + (1,) * (pays.ndim - 2)
        )
        paid = both.reshape(len(both), -1).any(axis=1)
        self.first, self.second, self.table = self.first[paid], self.second[paid], both[paid]

    def __call__(self, counts: Floats) -> Floats:
        """The expected profit of a bet of one from each shoe, (shoes,), from its counts by kind, (shoes, 52)."""
        if not self.cards:
            return self._bust(np.asarray(counts, np.float64))
        step = max(AT_ONCE // len(self.table), 1)
        parts = [self._some(np.asarray(counts[at : at + step], np.float64)) for at in range(0, len(counts), step)]
        return np.concatenate(parts) if parts else np.zeros(0)

    def _some(self, counts: Floats) -> Floats:
        first, second, size = self.first, self.second, counts.sum(axis=1)
        pairs = counts[:, first] * (counts[:, second] - (first == second))
        total = counts[:, self.given].sum(axis=1) * (size - 1)
        if self.cards == 3:
            rows = np.arange(len(first))
            used = self.table[rows, first] + self.table[rows, second]
            pairs *= counts @ self.table.T - used
            total *= size - 2
        elif self.cards == 4:
            aces, tens = ((counts @ each)[:, None] - each[first] - each[second] for each in (IS_ACE, IS_TEN))
            all_ways = ((size - 2) * (size - 3))[:, None]
            natural = 2 * aces * tens
            pairs *= self.table[:, 0] * (all_ways - natural) + self.table[:, 1] * natural
            total *= (size - 2) * (size - 3)
        else:
            pairs *= self.table
        return np.asarray(pairs.sum(axis=1) / total - 1)

    def _bust(self, counts: Floats) -> Floats:
        ranks = counts.reshape(len(counts), -1, len(SUITS)).sum(axis=2)
        values = np.column_stack([ranks[:, :TEN], ranks[:, TEN:].sum(axis=1)])
        falls = np.maximum(values[..., None] - np.arange(30), 0)
        ways = np.concatenate([np.ones((*values.shape, 1)), falls.cumprod(axis=2)], axis=2)
        size = values.sum(axis=1)
        result = np.full(len(counts), -1.0)
        for cards, pay in self.pays.items():
            hands = [hand for hand in self.hands if hand.cards == cards]
            held = np.array([hand.counts for hand in hands])
            orders = np.array([float(hand.orders) for hand in hands])
            product = np.broadcast_to(orders, (len(counts), len(hands))).copy()
            for value in range(values.shape[1]):
                product *= ways[:, value][:, held[:, value]]
            share = np.prod(np.maximum(size[:, None] - np.arange(cards), 1), axis=1)
            result += pay * product.sum(axis=1) / share
        return result
