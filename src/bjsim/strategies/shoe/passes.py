"""Passes over the nodes of one start, many nodes at a time: stand, double, hit; visits.

A hand's successors have one card more. A pass that needs their values first, or passes something on to them, takes the
nodes by their number of cards.

All values are expectations of 1{no dealer's natural was peeked} x profit, given the dealer's known cards. Doubled and
split bets therefore need no refund, and the profit against a peeked natural is added once at the end.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bjsim.arrays import Acts, Floats, Ints
from bjsim.sim.game.actions import CODES, ENDINGS
from bjsim.strategies.shoe.hands import VALUES

STAND, HIT, DOUBLE, SPLIT = (CODES[letter] for letter in "SHDP")
TIE = 1e-12  # actions closer than this are tied; ties go to the first of stand, hit, double, and endings


class Nodes(NamedTuple):
    """The nodes of `hands.Layout` under given rules.

    child: successors, (10, N); N for a bust. gone: index of the removed cards, (N,). kind: of the hand, (N,). counts,
    sizes: the removed cards, by value and in total, (10, N) and (N,). doubled: successors of hands that double,
    (10, N), if a hand may have a choice after a double, else None. stakes: the bets on each hand, (N,). Arrays of
    values by node have one more entry, for a bust: 0.
    """

    child: Ints
    gone: Ints
    kind: Ints
    counts: Floats
    sizes: Floats
    doubled: Ints | None
    stakes: Ints

    def by_size(self, at: Ints) -> list[Ints]:
        """Split nodes by the number of removed cards, fewest first: every node comes before its successors."""
        at = at[np.argsort(self.sizes[at].astype(np.int16), kind="stable")]
        return np.split(at, np.flatnonzero(np.diff(self.sizes[at])) + 1)


@dataclass
class Play:
    """A strategy against one start, by node: its action and the value of that action.

    act: shape (N,). value: shape (N + 1,); the last entry is a bust. split: value of splitting each pair as dealt,
    shape (10,); NaN if it cannot be. insured: whether insurance is taken, shape (N,); None if it is not offered. bets:
    initial bets, 2 after an attack.
    """

    act: Acts
    value: Floats
    split: Floats
    insured: NDArray[np.bool_] | None = None
    bets: int = 1

    @classmethod
    def of_stands(cls, size: int) -> Play:
        """A strategy for so many nodes that always stands, without values."""
        return cls(np.full(size, STAND, np.int8), np.zeros(size + 1), np.full(VALUES, np.nan))


class Shown:
    """The nodes against one start: the rest of the shoe, and the values that do not depend on the strategy.

    legal: bits 1 << action, (N,); 0 if the hand stands automatically. left: cards by value, (10,). ends: the value of
    the hole card that would complete a peeked natural, or -1. By node, (N + 1,): stand, double: values; of a double
    after which a hand may have a choice, only the contribution of busting, and 0 where no double is legal. bust:
    contribution of busting on the next card to the value of hitting. plays: probability that no dealer's natural ended
    the round; 0 at impossible nodes. endings: by action that ends a hand at once, its value.
    """

    stand: Floats
    double: Floats
    bust: Floats
    plays: Floats

    def __init__(self, nodes: Nodes, legal: Ints, left: Floats, ends: int) -> None:
        self.nodes, self.legal, self.left, self.ends = nodes, legal, left, ends
        self.total = left.sum()
        self.endings: dict[int, Floats] = {}

    def prepare(self, dealer: Floats, pay: Floats, bust_pays: Floats, power: int = 1) -> None:
        """Set the values of standing, doubling and busting.

        `dealer` is the distribution of the dealer's outcome, (outcomes, G); `pay` the profit by kind and outcome, for
        all bets on the hand, 0 for a peeked natural; `bust_pays` that of a bust, (N,). `power` is that of all profits,
        these included.
        """
        nodes, ends, size = self.nodes, self.ends, len(self.nodes.gone)
        self.stand, self.double, self.bust, self.plays = np.zeros((4, size + 1))
        doubles = np.flatnonzero(self.legal >> DOUBLE & 1)
        left, cards = self.left[:, None] - nodes.counts, self.total - nodes.sizes
        possible = (cards > 0) & (left.min(axis=0) >= 0)
        if not possible.all():
            left, cards = left * possible, np.where(possible, cards, 1.0)
        self.plays[:-1] = possible if ends < 0 else possible - left[ends] / cards
        for profit, chance in zip(pay.T, dealer, strict=True):
            self.stand[:-1] += profit[nodes.kind] * chance[nodes.gone]
        self.stand[:-1] *= possible
        drawn, natural = left[:, doubles], left[max(ends, 0)].copy()
        left *= (nodes.child if nodes.doubled is None else nodes.doubled) == size
        lost = left.sum(axis=0)
        if ends >= 0:  # a dealer's natural has ended the round; the card that busts is none of its cards
            lost -= np.where(cards > 1, (natural * lost - left[ends]) / np.maximum(cards - 1, 1), 0.0)
        lost *= bust_pays
        self.bust[:-1] = lost / cards
        won = lost[doubles]
        if nodes.doubled is None:
            won += (drawn * self.stand[nodes.child[:, doubles]]).sum(axis=0)
        self.double[doubles] = (2.0 * nodes.stakes[doubles]) ** power * won / cards[doubles]

    def may(self, action: int, low: int, high: int) -> Ints:
        """Return the nodes low..high where an action is legal."""
        return np.flatnonzero(self.legal[low:high] >> action & 1) + low

    def hits(self, at: Ints, value: Floats) -> Floats:
        """Return the value of hitting at some nodes, given the values of their successors."""
        return self._drawn(at, value[self.nodes.child[:, at]], self.bust)

    def doubles(self, at: Ints, value: Floats) -> Floats:
        """Return the value of doubling at some nodes, given those of their successors if these may have a choice."""
        if self.nodes.doubled is None:
            doubled: Floats = self.double[at]
            return doubled
        return self._drawn(at, value[self.nodes.doubled[:, at]], self.double)

    def actions(self, node: int, value: Floats) -> dict[str, float]:
        """Return the value of each action but a split at a node, given the values of its successors, by letter."""
        at = np.array([node])
        values = {"S": self.stand[node], "H": self.hits(at, value)[0], "D": self.doubles(at, value)[0]}
        return values | {letter: self.endings[action][node] for letter, action in ENDINGS.items()}

    def _drawn(self, at: Ints, after: Floats, bust: Floats) -> Floats:
        left = self.left[:, None] - self.nodes.counts[:, at]
        cards, possible = self.total - self.nodes.sizes[at], self.plays[at] != 0
        return np.where(possible, bust[at] + (left * after).sum(axis=0) / np.where(possible, cards, 1.0), 0.0)

    def best(self, play: Play, low: int, high: int) -> None:
        """Fill a play at nodes low..high with the best of stand, hit, double and endings at each node."""
        act, value = play.act, play.value

        def choose(at: Ints, hits: Floats) -> None:
            act[at], value[at] = STAND, self.stand[at]
            others = ((action, ev[at]) for action, ev in self.endings.items())
            for action, ev in ((HIT, hits), (DOUBLE, self.doubles(at, value)), *others):
                better = (ev > value[at] + TIE) & (self.legal[at] >> action & 1 > 0)
                act[at[better]], value[at[better]] = action, ev[better]

        choose(np.arange(low, high), np.full(high - low, -np.inf))
        for at in reversed(self.nodes.by_size(self.may(HIT, low, high))):
            choose(at, self.hits(at, value))

    def keep(self, play: Play, hand: Ints, low: int, high: int) -> None:
        """Set the actions of nodes low..high to those of the same hands before a split, whose values are known."""
        before, legal, act = hand[low:high], self.legal[low:high], play.act
        act[low:high] = act[before]
        other = np.flatnonzero((legal >> act[low:high] & 1) == 0)
        whole = before[other]
        able = legal[other] & self.legal[whole] & 1 << HIT > 0
        hits = able & (self.hits(whole, play.value) > self.stand[whole] + TIE)
        act[other + low] = np.where(hits, HIT, STAND)

    def follow(self, play: Play, low: int, high: int) -> None:
        """Fill the values of nodes low..high for the actions of a play; the caller evaluates splits."""
        act, value = play.act[low:high], play.value
        for action, ev in ((STAND, self.stand), *self.endings.items()):
            at = np.flatnonzero(act == action) + low
            value[at] = ev[at]
        at = np.flatnonzero(act == DOUBLE) + low
        value[at] = self.doubles(at, value)
        for at in reversed(self.nodes.by_size(np.flatnonzero(act == HIT) + low)):
            value[at] = self.hits(at, value)

    def reach(self, act: Acts, visits: Floats, low: int, high: int) -> None:
        """Propagate the visits of nodes low..high to their successors."""
        for part in self.nodes.by_size(np.flatnonzero(act[low:high] == HIT) + low):
            self._reach_drawn(part, self.nodes.child, visits)

    def reach_doubled(self, at: Ints, visits: Floats) -> None:
        """Propagate the visits of some nodes that double to their successors, if these may have a choice."""
        if self.nodes.doubled is not None:
            stakes = self.nodes.stakes[at]
            for stake in np.unique(stakes):
                self._reach_drawn(at[stakes == stake], self.nodes.doubled, visits)

    def _reach_drawn(self, at: Ints, child: Ints, visits: Floats) -> None:
        at = at[visits[at] != 0]
        left = np.maximum(self.left[:, None] - self.nodes.counts[:, at], 0.0)
        share = visits[at] / np.maximum(self.total - self.nodes.sizes[at], 1.0)
        np.add.at(visits, child[::-1, at].ravel(), (share * left)[::-1].ravel())

    def gains(self, visits: Floats, value: Floats, out: Floats) -> None:
        """Add visits x value of each action to `out`, by kind; shape (kinds, ACTIONS)."""
        visited, kind = np.flatnonzero(visits[:-1]), self.nodes.kind
        np.add.at(out[:, STAND], kind[visited], visits[visited] * self.stand[visited])
        for action in (HIT, DOUBLE, *self.endings):
            at = visited[self.legal[visited] >> action & 1 > 0]
            drawn = {HIT: self.hits, DOUBLE: self.doubles}.get(action)
            each = drawn(at, value) if drawn else self.endings[action][at]
            np.add.at(out[:, action], kind[at], visits[at] * each)
