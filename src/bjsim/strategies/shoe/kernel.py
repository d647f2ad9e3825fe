"""The compiled passes over the nodes. Arrays in, results last; `start` is what the dealer is known to hold.

All values are those of 1{no dealer's natural was peeked at} x profit, given the dealer's known cards. So a doubled or
split bet needs nothing given back, and a peeked natural's own profit is added once at the end.
"""

from __future__ import annotations

from typing import NamedTuple

import numba as nb
import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Acts = NDArray[np.int8]

STAND, HIT, DOUBLE, SURRENDER, SPLIT = range(5)
LANES = 128  # multisets handled side by side; the inner loops run over them and are vectorised
VALUES = 10
TIE = 1e-12  # two actions closer than this are equally good; the first of stand, hit, double is taken


class DealerHands(NamedTuple):
    """The dealer's final multisets, sorted.

    cards, held: the sorted card values, and how often each came before, shape (hands, longest). shared: how many first
    cards are those of the hand before. size, outcome: by hand. first, start, orders: hand `h` follows from
    `start[i]` in `orders[i]` orders, for i from first[h] to first[h + 1]. known: counts of each start, (starts, 10).
    """

    cards: Ints
    held: Ints
    shared: Ints
    size: Ints
    outcome: Ints
    first: Ints
    start: Ints
    orders: Floats
    known: Ints


class Nodes(NamedTuple):
    """The nodes of `hands.Layout` under some rules.

    child: (N, 10). gone: index of the cards that are gone, (N,). result: row of `pay` that standing amounts to, (N,).
    legal: bit 1 << action, (N,); 0 for a hand that stands by itself. counts: of the multisets gone, (G, 10).
    """

    child: Ints
    gone: Ints
    result: Ints
    legal: Ints
    counts: Ints


class Shown(NamedTuple):
    """What is left of the shoe for each start. left: cards by value, (S, 10). total: cards, (S,).

    ends: the value that would complete a natural that is peeked at, or -1, (S,).
    """

    left: Floats
    total: Floats
    ends: Ints


class Base(NamedTuple):
    """What needs no strategy, each (S, N). stand, double: values. bust: what busting on the next card adds.

    plays: probability that no dealer's natural ended the round. Impossible nodes have plays = 0.
    """

    stand: Floats
    double: Floats
    bust: Floats
    plays: Floats


@nb.njit(cache=True)
def outcomes(hands: DealerHands, shoe: Floats, gone: Ints, out: Floats) -> None:
    """Distribution of the dealer's outcome for every multiset of cards gone and every start.

    Args:
        shoe: Cards by value, (10,).
        gone: Multisets, (G, 10).
        out: Set to the probabilities, (G, S, outcomes); 0 where the cards are not there.
    """
    starts, finals = len(hands.known), len(hands.size)
    longest = hands.cards.shape[1]
    left = np.empty((VALUES, LANES))
    many = np.empty(LANES)
    product = np.ones((longest + 1, LANES))
    inverse = np.zeros((longest + 1, LANES))
    weight = np.empty(LANES)
    total = np.empty((starts, out.shape[2], LANES))
    for block in range(0, len(gone), LANES):
        many[:] = 0.0
        for lane in range(LANES):
            row = min(block + lane, len(gone) - 1)
            for value in range(VALUES):
                left[value, lane] = max(shoe[value] - gone[row, value], 0.0)
                many[lane] += left[value, lane]
        for lane in range(LANES):
            falling = 1.0
            for size in range(longest):
                falling *= many[lane] - size
                inverse[size + 1, lane] = 1.0 / falling if many[lane] > size else 0.0
        total[:] = 0.0
        for hand in range(finals):
            size = hands.size[hand]
            for at in range(hands.shared[hand], size):
                value, held = hands.cards[hand, at], float(hands.held[hand, at])
                for lane in range(LANES):
                    product[at + 1, lane] = product[at, lane] * (left[value, lane] - held)
            for lane in range(LANES):
                weight[lane] = product[size, lane] * inverse[size, lane]
            outcome = hands.outcome[hand]
            for i in range(hands.first[hand], hands.first[hand + 1]):
                start, orders = hands.start[i], hands.orders[i]
                for lane in range(LANES):
                    total[start, outcome, lane] += orders * weight[lane]
        for lane in range(min(LANES, len(gone) - block)):
            for start in range(starts):
                chance, size = 1.0, 0
                for value in range(VALUES):
                    for held in range(hands.known[start, value]):
                        chance *= left[value, lane] - held
                        size += 1
                chance *= inverse[size, lane]
                for value in range(VALUES):
                    if shoe[value] < gone[block + lane, value]:
                        chance = 0.0
                for outcome in range(out.shape[2]):
                    out[block + lane, start, outcome] = total[start, outcome, lane] / chance if chance > 0 else 0.0


@nb.njit(cache=True)
def _draw(nodes: Nodes, shown: Shown, start: int, node: int, chance: Floats) -> float:
    """Set the chances of the next card; returns how many cards there are, 0 if the node is impossible."""
    left = float(shown.total[start])
    gone = nodes.gone[node]
    for value in range(VALUES):
        chance[value] = shown.left[start, value] - nodes.counts[gone, value]
        left -= nodes.counts[gone, value]
        if chance[value] < 0:
            return 0.0
    for value in range(VALUES):
        chance[value] /= max(left, 1.0)
    return left


@nb.njit(cache=True)
def prepare(nodes: Nodes, shown: Shown, dealer: Floats, pay: Floats, bust_pays: float, base: Base) -> None:
    """Fill `base`. dealer: of `outcomes`. pay: profit by result and outcome, a peeked natural's being 0."""
    chance = np.empty(VALUES)
    for start in range(len(shown.total)):
        ends = shown.ends[start]
        for node in range(len(nodes.gone)):
            left = _draw(nodes, shown, start, node, chance)
            base.stand[start, node] = base.double[start, node] = base.bust[start, node] = base.plays[start, node] = 0.0
            if left <= 0:
                continue
            base.plays[start, node] = 1.0 if ends < 0 else 1.0 - chance[ends]
            ev = 0.0
            for outcome in range(pay.shape[1]):
                ev += pay[nodes.result[node], outcome] * dealer[nodes.gone[node], start, outcome]
            base.stand[start, node] = ev
            bust = drawn = 0.0
            for value in range(VALUES):
                child = nodes.child[node, value]
                if child >= 0:
                    drawn += chance[value] * base.stand[start, child]
                elif chance[value] > 0:
                    natural = 0.0
                    if ends >= 0 and left > 1:
                        natural = (chance[ends] * left - (value == ends)) / (left - 1)
                    bust += chance[value] * bust_pays * (1.0 - natural)
            base.bust[start, node] = bust
            base.double[start, node] = 2.0 * (bust + drawn)


@nb.njit(cache=True)
def _hit(nodes: Nodes, shown: Shown, base: Base, start: int, node: int, value: Floats, chance: Floats) -> float:
    """Value of one more card, given the values of the successors."""
    ev = float(base.bust[start, node])
    if base.plays[start, node] > 0 and _draw(nodes, shown, start, node, chance) > 0:
        for card in range(VALUES):
            if nodes.child[node, card] >= 0:
                ev += chance[card] * value[nodes.child[node, card]]
    return ev


@nb.njit(cache=True)
def best(
    nodes: Nodes, shown: Shown, base: Base, start: int, low: int, high: int, value: Floats, hit: Floats, act: Acts
) -> None:
    """The best play of nodes low..high among stand, hit and double, each by its own cards. Fills the last three."""
    chance = np.empty(VALUES)
    for node in range(low, high):
        legal = nodes.legal[node]
        act[node], value[node], hit[node] = STAND, base.stand[start, node], np.nan
        if legal >> HIT & 1:
            hit[node] = _hit(nodes, shown, base, start, node, value, chance)
            if hit[node] > value[node] + TIE:
                act[node], value[node] = HIT, hit[node]
        if legal >> DOUBLE & 1 and base.double[start, node] > value[node] + TIE:
            act[node], value[node] = DOUBLE, base.double[start, node]


@nb.njit(cache=True)
def keep(nodes: Nodes, base: Base, start: int, hand: Ints, hit: Floats, low: int, high: int, act: Acts) -> None:
    """Play nodes low..high as their hands are played before a split: `act` and `hit` of the hands are known."""
    for node in range(low, high):
        before = hand[node]
        act[node] = act[before]
        if not nodes.legal[node] >> act[node] & 1:
            act[node] = HIT if nodes.legal[node] >> HIT & 1 and hit[before] > base.stand[start, before] + TIE else STAND


@nb.njit(cache=True)
def follow(
    nodes: Nodes, shown: Shown, base: Base, start: int, low: int, high: int, act: Acts, surrender: float,
    value: Floats, hit: Floats,
) -> None:  # fmt: skip
    """The value of nodes low..high when `act` is played; pairs that are split are left to the caller."""
    chance = np.empty(VALUES)
    for node in range(low, high):
        hit[node] = np.nan
        if nodes.legal[node] >> HIT & 1:
            hit[node] = _hit(nodes, shown, base, start, node, value, chance)
        if act[node] == HIT:
            value[node] = hit[node]
        elif act[node] == DOUBLE:
            value[node] = base.double[start, node]
        elif act[node] == SURRENDER:
            value[node] = surrender * base.plays[start, node]
        elif act[node] == STAND:
            value[node] = base.stand[start, node]


@nb.njit(cache=True)
def reach(nodes: Nodes, shown: Shown, start: int, low: int, high: int, act: Acts, visits: Floats) -> None:
    """Spread the visits of nodes low..high over their successors, last node first."""
    chance = np.empty(VALUES)
    for node in range(high - 1, low - 1, -1):
        if act[node] == HIT and visits[node] != 0 and _draw(nodes, shown, start, node, chance) > 0:
            for card in range(VALUES):
                if nodes.child[node, card] >= 0:
                    visits[nodes.child[node, card]] += visits[node] * chance[card]


@nb.njit(cache=True)
def gains(
    nodes: Nodes, base: Base, start: int, kind: Ints, visits: Floats, hit: Floats, surrender: float, out: Floats
) -> None:
    """Add what each action would bring, by kind of situation: visits x value, shape (kinds, 5)."""
    for node in range(len(kind)):
        if visits[node] != 0:
            legal = nodes.legal[node]
            out[kind[node], STAND] += visits[node] * base.stand[start, node]
            if legal >> HIT & 1:
                out[kind[node], HIT] += visits[node] * hit[node]
            if legal >> DOUBLE & 1:
                out[kind[node], DOUBLE] += visits[node] * base.double[start, node]
            if legal >> SURRENDER & 1:
                out[kind[node], SURRENDER] += visits[node] * surrender * base.plays[start, node]
