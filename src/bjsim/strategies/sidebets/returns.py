"""The value of a side bet in many shoes at once, in floats."""

from __future__ import annotations

import numpy as np

from bjsim.arrays import Floats
from bjsim.sim.game.cards import RANKS, TEN
from bjsim.sim.game.rules import Rules
from bjsim.strategies.sidebets.bets import FINISHED, BetRules
from bjsim.strategies.sidebets.bust import GROUPS, dealer_hands, hand_events
from bjsim.strategies.sidebets.conditions import upcard_values
from bjsim.strategies.sidebets.kinds import KINDS, SUITS
from bjsim.strategies.sidebets.outcomes import CARDS, RANK, outcomes

AT_ONCE = 1 << 18  # numbers held at once
VALUE = np.minimum(RANK, TEN)


class Returns:
    """The returns of a bet by the cards left; a dealer's finished hand depends on `rules`.

    `classes` has the class of each kind of card; the bet does not tell the kinds of a class apart.
    """

    def __init__(self, bet: BetRules, rules: Rules) -> None:
        self.cards = 0 if bet.looks_at == FINISHED else CARDS[bet.looks_at]
        self.classes = {"suits": np.arange(len(KINDS)), "ranks": RANK, "values": VALUE}[bet.needs]
        kinds = np.unique(self.classes, return_index=True)[1]  # one of each class
        self.ranks, self.values = RANK[kinds], VALUE[kinds]
        if bet.looks_at == FINISHED:
            self._plan(bet, rules)
            return
        found = outcomes(bet)
        pays = np.array([0.0, *(float(pay) + 1 for _, pay in found.events)])[found.place]
        for axis in range(3 if self.cards == 3 else 2):
            pays = pays.take(kinds, axis)
        self.given = self.values == RANKS.index(bet.upcard) if bet.upcard else np.ones(len(kinds), np.bool_)
        self.first, self.second = np.triu_indices(len(kinds))
        swapped = pays.swapaxes(0, 1)
        both = (pays + swapped)[self.first, self.second] / np.where(self.first == self.second, 2, 1).reshape(
            (-1,) + (1,) * (pays.ndim - 2)
        )
        paid = both.reshape(len(both), -1).any(axis=1)
        self.first, self.second, self.table = self.first[paid], self.second[paid], both[paid]

    def _plan(self, bet: BetRules, rules: Rules) -> None:
        """The dealer's hands as a tree by value, in which hands share the product of what they have in common.

        The tables, by number of cards and hand, have what is paid more for cards of one suit than for those of one
        colour, and for these more than for others, of those groups of suits in which all cards of a hand are.
        """
        hands, events = dealer_hands(rules), hand_events(bet, rules)
        self.order, self.needs_suits = range(TEN, -1, -1), bet.needs == "suits"
        known: dict[tuple[int, ...], int] = {(): 0}
        self.steps = []
        for depth in range(1, len(self.order) + 1):
            parts = sorted({tuple(hand.counts[value] for value in self.order[:depth]) for hand in hands})
            self.steps.append((np.array([known[part[:-1]] for part in parts]), np.array([part[-1] for part in parts])))
            known = {part: place for place, part in enumerate(parts)}
        pays = np.array([0.0, *(float(event.pays) + 1 for event in bet.events)])[events]
        self.upcards = upcard_values(bet.upcard or "A-10")
        orders = np.array([hand.orders for hand in hands], np.float64)[:, self.upcards]
        paid = (orders[:, :, None] * pays[:, self.upcards]).sum(axis=1)
        paid[:, :-1] -= paid[:, 1:]
        self.sizes = sorted({hand.cards for hand, pay in zip(hands, paid, strict=True) if pay.any()})
        self.table = np.zeros((3, len(self.sizes), len(hands)))
        for hand, pay in zip(hands, paid, strict=True):
            if hand.cards in self.sizes:
                place = known[tuple(hand.counts[value] for value in self.order)]
                self.table[:, self.sizes.index(hand.cards), place] = pay

    def by_class(self, counts: Floats) -> Floats:
        """The counts by class, (..., classes), from those by kind, (..., 52)."""
        found: Floats = counts @ np.eye(len(self.values))[self.classes]
        return found

    def __call__(self, counts: Floats) -> Floats:
        """The expected profit of a bet of one from each shoe, (shoes,), from its counts by class, (shoes, classes).

        It is NaN where the cards are too few for a bet.
        """
        step = max(AT_ONCE // self.table.shape[0 if self.cards else -1], 1)
        one = self._some if self.cards else self._finished
        parts = [one(np.asarray(counts[at : at + step], np.float64)) for at in range(0, len(counts), step)]
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
            aces, tens = (
                (counts @ each)[:, None] - each[first] - each[second]
                for each in ((self.values == value) * 1.0 for value in (0, TEN))
            )
            all_ways = ((size - 2) * (size - 3))[:, None]
            natural = 2 * aces * tens
            pairs *= self.table[:, 0] * (all_ways - natural) + self.table[:, 1] * natural
            total *= (size - 2) * (size - 3)
        else:
            pairs *= self.table
        paid: Floats = np.divide(pairs.sum(axis=1), total, out=np.full(len(total), np.nan), where=total > 0)
        return paid - 1

    def _finished(self, counts: Floats) -> Floats:
        size, suits = counts.sum(axis=1), np.arange(len(KINDS)) % len(SUITS)
        drawn = np.maximum(size - np.arange(max(self.sizes))[:, None], 1).cumprod(axis=0)[np.array(self.sizes) - 1]
        total, by_value = np.zeros(len(counts)), np.eye(TEN + 1)[self.values]
        for table, groups in zip(self.table, GROUPS, strict=True):
            for group in groups if table.any() else ():
                within = np.isin(suits, [SUITS.index(suit) for suit in group]) if self.needs_suits else 1
                total += (table @ self._orders((counts * within) @ by_value) / drawn).sum(axis=0)
        return np.asarray(total * size / np.maximum((counts @ by_value)[:, self.upcards].sum(axis=1), 1) - 1)

    def _orders(self, counts: Floats) -> Floats:
        """In how many ways the cards of every hand can be drawn, (hands, shoes), from counts by value."""
        product = np.ones((1, len(counts)))
        for value, (parent, held) in zip(self.order, self.steps, strict=True):
            falls = np.maximum(counts[:, value] - np.arange(held.max())[:, None], 0)
            ways = np.concatenate([np.ones((1, len(counts))), falls.cumprod(axis=0)])
            product = product[parent] * ways[held]
        return product
