"""The compiled passes over the nodes. Arrays in, results last; `start` is what the dealer is known to hold.

All values are those of 1{no dealer's natural was peeked at} x profit, given the dealer's known cards. So a doubled or
split bet needs nothing given back, and a peeked natural's own profit is added once at the end.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bjsim.sim.engine.jit import compiled

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

    child: (N, 10), N for a bust. gone: index of the cards that are gone, (N,). result: row of `pay` that standing
    amounts to, (N,). legal: bit 1 << action, (N,); 0 for a hand that stands by itself. counts, sizes: cards of the
    multisets gone, by value and in all, (G, 10) and (G,). Values by node have one place more, for a bust: 0.
    """

    child: Ints
    gone: Ints
    result: Ints
    legal: Ints
    counts: Floats
    sizes: Floats


class Shown(NamedTuple):
    """What is left of the shoe for each start. left: cards by value, (S, 10). total: cards, (S,).

    ends: the value that would complete a natural that is peeked at, or -1, (S,).
    """

    left: Floats
    total: Floats
    ends: Ints


class Base(NamedTuple):
    """What needs no strategy, each (S, N + 1). stand, double: values. bust: what busting on the next card adds.

    plays: probability that no dealer's natural ended the round. Impossible nodes have plays = 0.
    """

    stand: Floats
    double: Floats
    bust: Floats
    plays: Floats


@compiled()
def outcomes(hands: DealerHands, shoe: Floats, gone: Ints, out: Floats) -> None:
    """Distribution of the dealer's outcome for every multiset of cards gone and every start.

    Args:
        shoe: Cards by value, (10,).
        gone: Multisets, (G, 10).
        out: Set to the probabilities, (S, G, outcomes); 0 where the cards are not there.
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
    """Fill `base`. dealer: of `outcomes`. pay: profit by result and outcome, a peeked natural's being 0."""
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
    """Value of one more card, given the values of the successors."""
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
    """The best play of nodes low..high among stand, hit and double, each by its own cards. Fills the last three."""
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
    """Play nodes low..high as their hands are played before a split: `act` and `hit` of the hands are known."""
    for node in range(low, high):
        before = hand[node]
        act[node] = act[before]
        if not nodes.legal[node] >> act[node] & 1:
            act[node] = HIT if nodes.legal[node] >> HIT & 1 and hit[before] > base.stand[start, before] + TIE else STAND


@compiled()
def follow(
    nodes: Nodes, shown: Shown, base: Base, start: int, low: int, high: int, act: Acts, surrender: float,
    value: Floats, hit: Floats,
) -> None:  # fmt: skip
    """The value of nodes low..high when `act` is played; pairs that are split are left to the caller."""
    for node in range(low, high):
        hit[node] = np.nan
        if nodes.legal[node] >> HIT & 1:
            hit[node] = _hit(nodes, shown, base, start, node, value)
        if act[node] == HIT:
            value[node] = hit[node]
        elif act[node] == DOUBLE:
            value[node] = base.double[start, node]
        elif act[node] == SURRENDER:
            value[node] = surrender * base.plays[start, node]
        elif act[node] == STAND:
            value[node] = base.stand[start, node]


@compiled()
def reach(nodes: Nodes, shown: Shown, start: int, low: int, high: int, act: Acts, visits: Floats) -> None:
    """Spread the visits of nodes low..high over their successors, last node first."""
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


@compiled()
def orders(child: Ints, low: int, high: int, act: Acts, ways: Floats) -> None:
    """Spread the orders in which nodes low..high are come to over their successors, last node first."""
    for node in range(high - 1, low - 1, -1):
        if act[node] == HIT and ways[node] != 0:
            for card in range(VALUES):
                ways[child[node, card]] += ways[node]


@compiled()
def products(union: Ints, pair: Ints, orders: Floats, profit: Floats, out: Floats) -> None:
    """Add the products of every two ends' profits to the union of their cards, (3, unions, outcomes).

    union: of ends i <= j, row by row of the upper triangle. The first index of `out` counts second cards of the pair's
    kind; where it is one, only the order that has it second is added.
    """
    at = 0
    for i in range(len(orders)):
        for j in range(i, len(orders)):
            held = pair[i] + pair[j]
            weight = orders[i] * orders[j] * (1.0 if i == j or held == 1 else 2.0)
            for outcome in range(profit.shape[1]):
                out[held, union[at], outcome] += weight * profit[i, outcome] * profit[j, outcome]
            at += 1
