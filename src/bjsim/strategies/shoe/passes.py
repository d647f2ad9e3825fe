"""Passes over the nodes of one start, many nodes at a time: stand, double, hit; visits.

A hand's successors have one card more. A pass that needs their values first, or passes something on to them, takes the
nodes by their number of cards.

All values are expectations of 1{no dealer's natural was peeked} x profit, given the dealer's known cards. Doubled and
split bets therefore need no refund, and the profit against a peeked natural is added once at the end.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bjsim.arrays import Acts, Floats, Ints
from bjsim.sim.game.actions import CODES

STAND, HIT, DOUBLE, SPLIT = (CODES[letter] for letter in "SHDP")
Ended = Mapping[int, Floats]  # by action that ends a hand at once, its value at each node, (S, N + 1)
TIE = 1e-12  # actions closer than this are tied; ties go to the first of stand, hit, double, and endings


class Nodes(NamedTuple):
    """The nodes of `hands.Layout` under given rules.

    child: successors, (10, N); N for a bust. gone: index of the removed cards, (N,). kind: of the hand, (N,).
    legal: bits 1 << action, (S, N); 0 if the hand stands automatically. counts, sizes: the removed cards, by value and
    in total, (10, N) and (N,). doubled: successors of hands that double, (10, N), and stakes: the bets on each hand,
    (N,), if a hand may have a choice after a double; else None, and 1. Arrays of values by node have one more entry,
    for a bust: 0.
    """

    child: Ints
    gone: Ints
    kind: Ints
    legal: Ints
    counts: Floats
    sizes: Floats
    doubled: Ints | None = None
    stakes: Ints | int = 1

    def may(self, action: int, start: int, low: int, high: int) -> Ints:
        """Return the nodes low..high where an action is legal."""
        return np.flatnonzero(self.legal[start, low:high] >> action & 1) + low


class Shown(NamedTuple):
    """The rest of the shoe for each start.

    left: cards by value, (S, 10). total: number of cards, (S,). ends: the value of the hole card that would complete a
    peeked natural, or -1, (S,).
    """

    left: Floats
    total: Floats
    ends: Ints


class Base(NamedTuple):
    """The values that do not depend on the strategy, each of shape (S, N + 1).

    stand, double: values; of a double after which a hand may have a choice, only the contribution of busting, and 0
    where no double is legal. bust: contribution of busting on the next card to the value of hitting. plays: probability
    that no dealer's natural ended the round; 0 at impossible nodes.
    """

    stand: Floats
    double: Floats
    bust: Floats
    plays: Floats


@dataclass
class Play:
    """A strategy against one start, by node: its action and the value of that action.

    act: shape (N,). value: shape (N + 1,); the last entry is a bust. insured: whether insurance is taken, shape
    (N,); None if it is not offered. split: value of splitting each pair as dealt, shape (10,); NaN if it cannot be.
    bets: initial bets, 2 after an attack.
    """

    act: Acts
    value: Floats
    split: Floats
    insured: NDArray[np.bool_] | None = None
    bets: int = 1


def prepare(
    nodes: Nodes, shown: Shown, dealer: Floats, pay: Floats, bust_pays: Floats, base: Base, power: int = 1
) -> None:
    """Set `base` to the values.

    `dealer` is the distribution of the dealer's outcome, (S, outcomes, G); `pay` the profit by kind and outcome,
    for all bets on the hand, 0 for a peeked natural; `bust_pays` that of a bust, (N,). `power` is that of all
    profits, these included.
    """
    busts = (nodes.child if nodes.doubled is None else nodes.doubled) == len(nodes.gone)
    doubles = np.flatnonzero((nodes.legal >> DOUBLE & 1).any(axis=0))
    stakes = np.broadcast_to(nodes.stakes, nodes.gone.shape)[doubles]
    for start, ends in enumerate(shown.ends.tolist()):
        left = shown.left[start][:, None] - nodes.counts
        cards = shown.total[start] - nodes.sizes
        possible = (cards > 0) & (left.min(axis=0) >= 0)
        if not possible.all():
            left, cards = left * possible, np.where(possible, cards, 1.0)
        stand, bust, plays = base.stand[start, :-1], base.bust[start, :-1], base.plays[start, :-1]
        plays[:] = possible if ends < 0 else possible - left[ends] / cards
        base.stand[start] = 0.0
        for profit, chance in zip(pay.T, dealer[start], strict=True):
            stand += profit[nodes.kind] * chance[nodes.gone]
        stand *= possible
        drawn, natural = left[:, doubles], left[max(ends, 0)].copy()
        left *= busts
        lost = left.sum(axis=0)
        if ends >= 0:  # a dealer's natural has ended the round; the card that busts is none of its cards
            lost -= np.where(cards > 1, (natural * lost - left[ends]) / np.maximum(cards - 1, 1), 0.0)
        lost *= bust_pays
        bust[:] = lost / cards
        won, base.double[start] = lost[doubles], 0.0
        if nodes.doubled is None:
            won += (drawn * base.stand[start][nodes.child[:, doubles]]).sum(axis=0)
        base.double[start, doubles] = (2.0 * stakes) ** power * won / cards[doubles]


def by_size(nodes: Nodes, at: Ints) -> list[Ints]:
    """Split nodes by the number of removed cards, fewest first: every node comes before its successors."""
    at = at[np.argsort(nodes.sizes[at].astype(np.int16), kind="stable")]
    return np.split(at, np.flatnonzero(np.diff(nodes.sizes[at])) + 1)


def hit(nodes: Nodes, shown: Shown, base: Base, start: int, at: Ints, value: Floats) -> Floats:
    """Return the value of hitting at some nodes, given the values of their successors."""
    return _draw(nodes, shown, base, start, at, value[nodes.child[:, at]], base.bust)


def double(nodes: Nodes, shown: Shown, base: Base, start: int, at: Ints, value: Floats) -> Floats:
    """Return the value of doubling at some nodes, given the values of their successors if these may have a choice."""
    if nodes.doubled is None:
        doubled: Floats = base.double[start, at]
        return doubled
    return _draw(nodes, shown, base, start, at, value[nodes.doubled[:, at]], base.double)


def _draw(nodes: Nodes, shown: Shown, base: Base, start: int, at: Ints, after: Floats, bust: Floats) -> Floats:
    left = shown.left[start][:, None] - nodes.counts[:, at]
    cards, possible = shown.total[start] - nodes.sizes[at], base.plays[start, at] != 0
    return np.where(possible, bust[start, at] + (left * after).sum(axis=0) / np.where(possible, cards, 1.0), 0.0)


def best(
    nodes: Nodes, shown: Shown, base: Base, start: int, low: int, high: int, ended: Ended, value: Floats, act: Acts
) -> None:
    """Fill `value` and `act` of nodes low..high with the best of stand, hit, double and endings at each node."""

    def choose(at: Ints, hits: Floats) -> None:
        act[at], value[at] = STAND, base.stand[start, at]
        legal = nodes.legal[start, at]
        doubles = double(nodes, shown, base, start, at, value)
        others = ((action, ev[start, at]) for action, ev in ended.items())
        for action, ev in ((HIT, hits), (DOUBLE, doubles), *others):
            better = (ev > value[at] + TIE) & (legal >> action & 1 > 0)
            act[at[better]], value[at[better]] = action, ev[better]

    choose(np.arange(low, high), np.full(high - low, -np.inf))
    for at in reversed(by_size(nodes, nodes.may(HIT, start, low, high))):
        choose(at, hit(nodes, shown, base, start, at, value))


def keep(
    nodes: Nodes, shown: Shown, base: Base, start: int, hand: Ints, low: int, high: int, value: Floats, act: Acts
) -> None:
    """Set `act` of nodes low..high to that of the same hands before a split, whose `act` and `value` are known."""
    before, legal = hand[low:high], nodes.legal[start, low:high]
    act[low:high] = act[before]
    other = np.flatnonzero((legal >> act[low:high] & 1) == 0)
    whole = before[other]
    able = legal[other] & nodes.legal[start, whole] & 1 << HIT > 0
    hits = able & (hit(nodes, shown, base, start, whole, value) > base.stand[start, whole] + TIE)
    act[other + low] = np.where(hits, HIT, STAND)


def follow(
    nodes: Nodes, shown: Shown, base: Base, start: int, low: int, high: int, act: Acts, ended: Ended, value: Floats
) -> None:
    """Fill `value` of nodes low..high for the actions `act`; the caller evaluates splits."""
    for action, ev in ((STAND, base.stand), *ended.items()):
        at = np.flatnonzero(act[low:high] == action) + low
        value[at] = ev[start, at]
    at = np.flatnonzero(act[low:high] == DOUBLE) + low
    value[at] = double(nodes, shown, base, start, at, value)
    for at in reversed(by_size(nodes, np.flatnonzero(act[low:high] == HIT) + low)):
        value[at] = hit(nodes, shown, base, start, at, value)


def reach(nodes: Nodes, shown: Shown, start: int, low: int, high: int, act: Acts, visits: Floats) -> None:
    """Propagate the visits of nodes low..high to their successors."""
    for part in by_size(nodes, np.flatnonzero(act[low:high] == HIT) + low):
        _reach_drawn(nodes, shown, start, part, nodes.child, visits)


def reach_doubled(nodes: Nodes, shown: Shown, start: int, at: Ints, visits: Floats) -> None:
    """Propagate the visits of some nodes that double to their successors, if these may have a choice."""
    if nodes.doubled is not None:
        stakes = np.asarray(nodes.stakes)[at]
        for stake in np.unique(stakes):
            _reach_drawn(nodes, shown, start, at[stakes == stake], nodes.doubled, visits)


def _reach_drawn(nodes: Nodes, shown: Shown, start: int, at: Ints, child: Ints, visits: Floats) -> None:
    at = at[visits[at] != 0]
    left = np.maximum(shown.left[start][:, None] - nodes.counts[:, at], 0.0)
    share = visits[at] / np.maximum(shown.total[start] - nodes.sizes[at], 1.0)
    np.add.at(visits, child[::-1, at].ravel(), (share * left)[::-1].ravel())


def gains(
    nodes: Nodes, shown: Shown, base: Base, start: int, visits: Floats, value: Floats, ended: Ended, out: Floats
) -> None:
    """Add visits x value of each action to `out`, by kind; shape (kinds, ACTIONS)."""
    visited = np.flatnonzero(visits[:-1])
    values: list[tuple[int, Floats | Callable[..., Floats]]] = [(STAND, base.stand), (HIT, hit), (DOUBLE, double)]
    for action, ev in [*values, *ended.items()]:
        at = visited if action == STAND else visited[nodes.legal[start, visited] >> action & 1 > 0]
        each = ev(nodes, shown, base, start, at, value) if callable(ev) else ev[start, at]
        np.add.at(out[:, action], nodes.kind[at], visits[at] * each)
