"""Compiled passes over the nodes. Outputs are the last arguments; `start` indexes the dealer's known cards.

All values are expectations of 1{no dealer's natural was peeked} x profit, given the dealer's known cards. Doubled and
split bets therefore need no refund, and the profit against a peeked natural is added once at the end.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bjsim.sim.engine.jit import compiled
from bjsim.sim.engine.kernels.layout import DOUBLE, HIT, STAND, SURRENDER

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Acts = NDArray[np.int8]

LANES = 128  # multisets processed in parallel; the inner loops over them are vectorized
VALUES = 10
TIE = 1e-12  # actions closer than this are tied; ties go to the first of stand, hit, double


class DealerHands(NamedTuple):
    """The dealer's final multisets, sorted.

    cards, held: the sorted card values, and the earlier occurrences of each in the hand, shape (hands, longest).
    shared: length of the prefix shared with the previous hand. size, outcome: by hand. first, start, orders: hand `h`
    follows from `start[i]` in `orders[i]` orders, for first[h] <= i < first[h + 1]. known: counts of each start,
    shape (starts, 10).
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
    """The nodes of `hands.Layout` under given rules.

    child: (N, 10); N for a bust. gone: index of the removed cards, (N,). result: row of `pay` for standing, (N,).
    legal: bits 1 << action, (N,); 0 if the hand stands automatically. counts, sizes: the removed multisets, by value
    and in total, (G, 10) and (G,). Arrays of values by node have one more entry, for a bust: 0.
    """

    child: Ints
    gone: Ints
    result: Ints
    legal: Ints
    counts: Floats
    sizes: Floats


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

    stand, double: values. bust: contribution of busting on the next card to the value of hitting. plays: probability
    that no dealer's natural ended the round; 0 at impossible nodes.
    """

    stand: Floats
    double: Floats
    bust: Floats
    plays: Floats


@compiled()
def outcomes(hands: DealerHands, shoe: Floats, gone: Ints, out: Floats) -> None:
    """Compute the distribution of the dealer's outcome for every multiset of removed cards and every start.

    Args:
        hands: The dealer's final multisets.
        shoe: Cards by value, (10,).
        gone: Multisets of removed cards, (G, 10).
        out: Set to the probabilities, (S, G, outcomes); 0 if the shoe lacks the cards.
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
        for start in range(starts):
            for lane in range(min(LANES, len(gone) - block)):
                chance, size = 1.0, 0
                for value in range(VALUES):
                    for held in range(hands.known[start, value]):
                        chance *= left[value, lane] - held
                        size += 1
                    if shoe[value] < gone[block + lane, value]:
                        chance = 0.0
                scale = 1.0 / (chance * inverse[size, lane]) if chance > 0 else 0.0
                for outcome in range(out.shape[2]):
                    out[start, block + lane, outcome] = total[start, outcome, lane] * scale


@compiled()
def prepare(nodes: Nodes, shown: Shown, dealer: Floats, pay: Floats, bust_pays: float, base: Base) -> None:
    """Fill `base`. dealer: from `outcomes`. pay: profit by result and outcome; 0 for a peeked natural."""
    bust_node = len(nodes.gone)
    for start in range(len(shown.total)):
        base.stand[start, bust_node] = 0.0
        left, ends = shown.left[start], shown.ends[start]
        for node in range(bust_node):
            gone = nodes.gone[node]
            cards = shown.total[start] - nodes.sizes[gone]
            possible = cards > 0
            for value in range(VALUES):
                possible &= left[value] >= nodes.counts[gone, value]
            if not possible:
                base.stand[start, node] = base.double[start, node] = base.bust[start, node] = 0.0
                base.plays[start, node] = 0.0
                continue
            base.plays[start, node] = 1.0 if ends < 0 else 1.0 - (left[ends] - nodes.counts[gone, ends]) / cards
            ev = 0.0
            for outcome in range(pay.shape[1]):
                ev += pay[nodes.result[node], outcome] * dealer[start, gone, outcome]
            base.stand[start, node] = ev
            bust = drawn = 0.0
            for value in range(VALUES):
                weight = left[value] - nodes.counts[gone, value]
                child = nodes.child[node, value]
                if child != bust_node:
                    drawn += weight * base.stand[start, child]
                elif ends < 0 or cards <= 1:
                    bust += weight * bust_pays
                else:
                    natural = (left[ends] - nodes.counts[gone, ends] - (value == ends)) / (cards - 1)
                    bust += weight * bust_pays * (1.0 - natural)
            base.bust[start, node] = bust / cards
            base.double[start, node] = 2.0 * (bust + drawn) / cards


@compiled()
def _hit(nodes: Nodes, shown: Shown, base: Base, start: int, node: int, value: Floats) -> float:
    """Return the value of hitting, given the values of the successors."""
    if base.plays[start, node] == 0:
        return 0.0
    gone = nodes.gone[node]
    ev = 0.0
    for card in range(VALUES):
        ev += (shown.left[start, card] - nodes.counts[gone, card]) * value[nodes.child[node, card]]
    return float(base.bust[start, node] + ev / (shown.total[start] - nodes.sizes[gone]))


@compiled()
def best(
    nodes: Nodes, shown: Shown, base: Base, start: int, low: int, high: int, value: Floats, hit: Floats, act: Acts
) -> None:
    """Fill `value`, `hit` and `act` of nodes low..high with the best of stand, hit and double at each node."""
    for node in range(low, high):
        legal = nodes.legal[node]
        act[node], value[node], hit[node] = STAND, base.stand[start, node], np.nan
        if legal >> HIT & 1:
            hit[node] = _hit(nodes, shown, base, start, node, value)
            if hit[node] > value[node] + TIE:
                act[node], value[node] = HIT, hit[node]
        if legal >> DOUBLE & 1 and base.double[start, node] > value[node] + TIE:
            act[node], value[node] = DOUBLE, base.double[start, node]


@compiled()
def keep(nodes: Nodes, base: Base, start: int, hand: Ints, hit: Floats, low: int, high: int, act: Acts) -> None:
    """Set `act` of nodes low..high to that of the same hands before a split, whose `act` and `hit` are known."""
    for node in range(low, high):
        before = hand[node]
        act[node] = act[before]
        if not nodes.legal[node] >> act[node] & 1:
            act[node] = HIT if nodes.legal[node] >> HIT & 1 and hit[before] > base.stand[start, before] + TIE else STAND


@compiled()
def follow(
    nodes: Nodes, shown: Shown, base: Base, start: int, low: int, high: int, act: Acts, surrender: Floats,
    value: Floats, hit: Floats,
) -> None:  # fmt: skip
    """Fill `value` and `hit` of nodes low..high for the actions `act`; the caller evaluates splits."""
    for node in range(low, high):
        hit[node] = np.nan
        if nodes.legal[node] >> HIT & 1:
            hit[node] = _hit(nodes, shown, base, start, node, value)
        if act[node] == HIT:
            value[node] = hit[node]
        elif act[node] == DOUBLE:
            value[node] = base.double[start, node]
        elif act[node] == SURRENDER:
            value[node] = surrender[start, node]
        elif act[node] == STAND:
            value[node] = base.stand[start, node]


@compiled()
def reach(nodes: Nodes, shown: Shown, start: int, low: int, high: int, act: Acts, visits: Floats) -> None:
    """Propagate the visits of nodes low..high to their successors, last node first."""
    for node in range(high - 1, low - 1, -1):
        if act[node] == HIT and visits[node] != 0:
            gone = nodes.gone[node]
            share = visits[node] / max(shown.total[start] - nodes.sizes[gone], 1.0)
            for card in range(VALUES):
                weight = shown.left[start, card] - nodes.counts[gone, card]
                if weight > 0:
                    visits[nodes.child[node, card]] += share * weight


@compiled()
def gains(
    nodes: Nodes, base: Base, start: int, kind: Ints, visits: Floats, hit: Floats, surrender: Floats, out: Floats
) -> None:
    """Add visits x value of each action to `out`, by kind; shape (kinds, ACTIONS)."""
    for node in range(len(kind)):
        if visits[node] != 0:
            legal = nodes.legal[node]
            out[kind[node], STAND] += visits[node] * base.stand[start, node]
            if legal >> HIT & 1:
                out[kind[node], HIT] += visits[node] * hit[node]
            if legal >> DOUBLE & 1:
                out[kind[node], DOUBLE] += visits[node] * base.double[start, node]
            if legal >> SURRENDER & 1:
                out[kind[node], SURRENDER] += visits[node] * surrender[start, node]


@compiled()
def orders(child: Ints, low: int, high: int, act: Acts, ways: Floats) -> None:
    """Propagate the number of orders that reach nodes low..high to their successors, last node first."""
    for node in range(high - 1, low - 1, -1):
        if act[node] == HIT and ways[node] != 0:
            for card in range(VALUES):
                ways[child[node, card]] += ways[node]


@compiled()
def products(union: Ints, pair: Ints, orders: Floats, profit: Floats, out: Floats) -> None:
    """Add the product of the profits of every two ends to the entry of their combined cards in `out`.

    union: index of the combined cards of ends i <= j, row by row of the upper triangle. out: (3, unions, outcomes); the
    first index counts the second cards that are pair cards. If it is one, only the order with it second is added.
    """
    at = 0
    for i in range(len(orders)):
        for j in range(i, len(orders)):
            held = pair[i] + pair[j]
            weight = orders[i] * orders[j] * (1.0 if i == j or held == 1 else 2.0)
            for outcome in range(profit.shape[1]):
                out[held, union[at], outcome] += weight * profit[i, outcome] * profit[j, outcome]
            at += 1
