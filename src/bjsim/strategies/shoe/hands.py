"""The player's hands as multisets of card values, and the nodes at which they are valued.

A hand is valued many times: as dealt, and after a split with more cards of the pair gone. Each is a node:

    [0, H)           every hand of two or more cards, as dealt
    trees (x, a)     the hands that hold an x, one of a split pair of x, with `a` further x's gone beyond the pair
    [pairs, N)       the ten pairs as dealt, which may be split

The nodes of a tree and the hands as dealt are in an order that has a hand's successors before the hand.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from bjsim.strategies.shoe.composition import VALUES

BITS = 6  # per card value in a key; no hand, its split partners included, holds 64 cards of one value
Ints = NDArray[np.int64]
Acts = NDArray[np.int8]


@dataclass(frozen=True)
class Hands:
    """Every hand of two or more cards that counts at most 21 with aces as 1, successors first.

    counts: cards by value, shape (H, 10). child: the hand after each value, shape (H, 10), -1 for a bust.
    key: the counts packed into one number. two: index of the hand of two cards, shape (10, 10).
    """

    counts: Ints
    child: Ints
    key: Ints
    two: Ints

    @property
    def size(self) -> Ints:
        """Cards in each hand, shape (H,)."""
        total: Ints = self.counts.sum(axis=1)
        return total


def keys_of(counts: Ints) -> Ints:
    """Multisets of card values packed into one number each."""
    packed: Ints = (counts << (BITS * np.arange(VALUES))).sum(axis=-1)
    return packed


def counts_of(keys: Ints) -> Ints:
    """The reverse of `keys_of`; shape (..., 10)."""
    return (keys[..., None] >> (BITS * np.arange(VALUES))) & ((1 << BITS) - 1)


@lru_cache(maxsize=1)
def all_hands() -> Hands:
    """The 3,072 hands of two or more cards."""
    found: list[tuple[int, ...]] = []

    def extend(counts: tuple[int, ...], first: int, points: int) -> None:
        if sum(counts) >= 2:
            found.append(counts)
        for value in range(first, VALUES):
            if points + value + 1 <= 21:
                extend((*counts[:value], counts[value] + 1, *counts[value + 1 :]), value, points + value + 1)

    extend((0,) * VALUES, 0, 0)
    counts = np.array(found, np.int64)
    counts = counts[np.argsort(-counts @ np.arange(1, VALUES + 1), kind="stable")]
    key = keys_of(counts)
    order = np.argsort(key)
    child = np.full(counts.shape, -1, np.int64)
    two = np.full((VALUES, VALUES), -1, np.int64)
    for value in range(VALUES):
        child[:, value] = _find(key, order, key + (1 << (BITS * value)))
        two[value] = _find(key, order, (1 << (BITS * value)) + (1 << (BITS * np.arange(VALUES))))
    return Hands(counts, child, key, two)


def _find(key: Ints, order: Ints, wanted: Ints) -> Ints:
    """Where each of `wanted` is in `key`, or -1."""
    place = order[np.minimum(np.searchsorted(key, wanted, sorter=order), len(key) - 1)]
    return np.where(key[place] == wanted, place, -1)


@dataclass(frozen=True)
class Tree:
    """The hands of one half of a split pair.

    hands: their indices, successors first. two: position in the tree of the half with each second card, shape (10,).
    starts: first node of the tree for each number of further pair cards gone.
    """

    hands: Ints
    two: Ints
    starts: tuple[int, ...]

    def second(self, gone: int) -> Ints:
        """Nodes of the half with each second card, shape (10,), `gone` further pair cards gone."""
        return self.starts[gone] + self.two

    def span(self, gone: int) -> tuple[int, int]:
        """First node and the one after the last, `gone` further pair cards gone."""
        return self.starts[gone], self.starts[gone] + len(self.hands)


@dataclass(frozen=True)
class Layout:
    """All nodes. hand: the hand of each, shape (N,). child: its successors, shape (N, 10), N for a bust.

    gone: index into `gone_counts` of the cards that are out of the shoe, the hand's own included, shape (N,).
    trees: by value of the pair; None where there is none. pairs: the first of the ten nodes of pairs as dealt.
    """

    hand: Ints
    child: Ints
    gone: Ints
    gone_counts: Ints
    trees: tuple[Tree | None, ...]
    pairs: int

    @cached_property
    def nothing_gone(self) -> int:
        """Index into `gone_counts` of no card at all."""
        return int(np.flatnonzero(self.gone_counts.sum(axis=1) == 0)[0])


@lru_cache(maxsize=16)
def layout(most_gone: tuple[int, ...], aces_draw: bool) -> Layout:
    """The nodes of a game.

    Args:
        most_gone: For each pair, how many further pair cards can be gone after a split; -1 where it is never split.
        aces_draw: Whether split aces may take more than one card.
    """
    hands = all_hands()
    hand, child, key = [np.arange(len(hands.key))], [hands.child], [hands.key]
    trees: list[Tree | None] = []
    at = len(hands.key)
    for value, most in enumerate(most_gone):
        if most < 0:
            trees.append(None)
            continue
        only_two = value == 0 and not aces_draw
        held = np.flatnonzero((hands.counts[:, value] > 0) & ((hands.size == 2) | (not only_two)))
        place = np.full(len(hands.key) + 1, -1, np.int64)
        place[held] = np.arange(len(held))
        local = place[hands.child[held]]
        starts = tuple(at + gone * len(held) for gone in range(most + 1))
        for gone, start in enumerate(starts):
            hand.append(held)
            child.append(np.where(local < 0, -1, local + start))
            key.append(hands.key[held] + ((1 + gone) << (BITS * value)))
        trees.append(Tree(held, place[hands.two[value]], starts))
        at += len(starts) * len(held)
    pairs = np.diagonal(hands.two)
    hand.append(pairs)
    child.append(hands.child[pairs])
    key.append(hands.key[pairs])
    distinct, gone_index = np.unique(np.concatenate([*key, np.zeros(1, np.int64)]), return_inverse=True)
    size = at + len(pairs)
    children = np.concatenate(child)
    return Layout(
        np.concatenate(hand), np.where(children < 0, size, children), gone_index[:-1].astype(np.int64),
        counts_of(distinct), tuple(trees), at,
    )  # fmt: skip


def moved(acts: Acts, old: Layout, new: Layout) -> Acts:
    """Actions by node for another shoe's nodes, where split hands are played alike whatever cards are gone."""
    found = np.zeros(len(new.hand), np.int8)
    dealt = len(all_hands().key)
    found[:dealt] = acts[:dealt]
    found[new.pairs :] = acts[old.pairs :]
    for before, after in zip(old.trees, new.trees, strict=True):
        if before is not None and after is not None:
            for gone in range(len(after.starts)):
                found[slice(*after.span(gone))] = acts[slice(*before.span(0))]
    return found
