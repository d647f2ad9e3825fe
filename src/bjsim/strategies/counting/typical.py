"""What a count says about the unseen cards: their expected composition, and its exact distribution.

The least-squares line of the composition in the mean tag m of the n unseen cards is, for N cards of which a share p(q)
has the value q and tag(q), with the mean tag T and the variance V of the tags of all N,

    E[unseen cards of value q] = n p(q) [1 + (tag(q) - T) (m - T) / V]

It does not depend on n beyond the factor. The true count t sets m = T - t / C for cards drawn from a full shoe whose
decks have C cards.
`UnseenCards` has the exact expectation instead, which differs in second order.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property, lru_cache
from math import comb

import numpy as np
from numpy.typing import NDArray

from bjsim.errors import InputError
from bjsim.sim.game.cards import DECKS, TEN
from bjsim.sim.game.rules import Rules
from bjsim.strategies.counting.system import IN_DECK, CountingSystem, card_counts
from bjsim.strategies.shoe.composition import Composition

Floats = NDArray[np.float64]
VALUES = TEN + 1
Table = dict[tuple[int, int], int]  # (cards, scaled sum of tags) -> number of ways


def decks_to_count(rules: Rules) -> int:
    """Return the number of decks of a game. Raises: InputError: Its cards cannot be counted by ten tags."""
    if rules.infinite:
        raise InputError("decks = inf: cards cannot be counted in an infinite shoe; use 1 to 8 decks")
    if rules.attack:
        raise InputError("attack = true: a counter is not asked between the dealer's card and its own; use false")
    rules.need_one_hand("are not counted")
    return int(rules.decks)


def remaining(decks: int, known: str | Sequence[int] = "", deck: str = "standard") -> tuple[int, ...]:
    """Return the ten counts of a shoe without known cards. Raises: InputError: The shoe lacks them."""
    counts = tuple(count * decks - gone for count, gone in zip(IN_DECK[deck], card_counts(known), strict=True))
    if min(counts) < 0:
        raise InputError(f"cards: {known!r} cannot all come from {decks} decks")
    return counts


def tag_moments(system: CountingSystem, counts: Sequence[float]) -> tuple[float, float]:
    """Return the mean and the variance of the tags of these cards."""
    shares, tags = np.array(counts, float) / sum(counts), np.array(system.tags, float)
    mean = float(shares @ tags)
    return mean, float(shares @ (tags - mean) ** 2)


def expected_counts(system: CountingSystem, counts: Sequence[float], unseen: float, mean_tag: float) -> Floats:
    """Return the expected unseen cards of each value, none below 0, by the least-squares line.

    `counts` are the cards among which the unseen ones are drawn, A, 2..9, T; `mean_tag` is of the unseen ones.
    """
    mean, variance = tag_moments(system, counts)
    tags = np.array(system.tags, float)
    shares = np.array(counts, float) / sum(counts) * (1 + (tags - mean) * (mean_tag - mean) / variance)
    shares = np.maximum(shares, 0)
    expected: Floats = unseen * shares / shares.sum()
    return expected


def typical_shoe(system: CountingSystem, decks: int, unseen: float, true_count: float) -> Composition:
    """Return the expected composition of the unseen cards at a true count before the round."""
    mean_tag = (float(system.imbalance) - true_count) / system.deck_size
    expected = expected_counts(system, remaining(decks, deck=system.deck), unseen, mean_tag)
    return Composition(tuple(spread_tens(expected, system.deck).tolist()))


def spread_tens(by_value: Floats, deck: str) -> Floats:
    """The counts of all 13 ranks, given those of A, 2 to 9 and ten-valued cards. Spanish decks have no tens."""
    ranks = np.array(DECKS[deck][TEN:])
    spread: Floats = np.concatenate([by_value[:TEN], by_value[TEN] * ranks / ranks.sum()])
    return spread


class UnseenCards:
    """The exact distribution of the unseen cards given the running count.

    Cards with one tag are a class; given the class counts, every value has its share of its class. Classes are
    put into two groups, whose tables of ways are joined for each question, in integers. `counts` are the cards
    among which the unseen ones are drawn, A, 2..9, T: the shoe without the known cards.
    """

    def __init__(self, system: CountingSystem, counts: Sequence[int]) -> None:
        self.system = system
        self.counts = tuple(counts)
        self.classes: dict[int, int] = {}
        for tag, count in zip(system.scaled_tags, counts, strict=True):
            self.classes[tag] = self.classes.get(tag, 0) + count

    @cached_property
    def _groups(self) -> tuple[list[int], list[int]]:
        """The tags of two groups of classes with tables of similar size; the tens' class is in the first."""
        groups: tuple[list[int], list[int]] = [self.system.scaled_tags[TEN]], []
        sizes = [self.classes[groups[0][0]] + 1, 1]
        for tag in sorted(self.classes, key=lambda tag: -self.classes[tag]):
            if tag not in groups[0]:
                smaller = int(sizes[1] < sizes[0])
                groups[smaller].append(tag)
                sizes[smaller] *= self.classes[tag] + 1
        return groups

    @cached_property
    def _tables(self) -> tuple[Table, Table, Table]:
        """Ways of the first group, the same times the cards of the tens' class, and ways of the second group."""
        first, second = self._groups
        ways = _ways([(tag, self.classes[tag]) for tag in first[1:]])
        tag, size = first[0], self.classes[first[0]]
        whole: Table = {}
        weighted: Table = {}
        for (cards, total), way in ways.items():
            for drawn in range(size + 1):
                key, more = (cards + drawn, total + tag * drawn), way * comb(size, drawn)
                whole[key] = whole.get(key, 0) + more
                weighted[key] = weighted.get(key, 0) + more * drawn
        return whole, weighted, _ways([(tag, self.classes[tag]) for tag in second])

    def tens(self, unseen: int, tag_sum: Fraction | int) -> Fraction | None:
        """Return the exact expected number of tens among the unseen cards; None if none have this tag sum."""
        whole, weighted, second = self._tables
        total = tag_sum * self.system.scale
        if Fraction(total).denominator > 1:
            return None
        ways = drawn = 0
        for cards, tags in min(whole, second, key=len):
            other = unseen - cards, int(total) - tags
            key, joined = ((cards, tags), other) if len(whole) <= len(second) else (other, (cards, tags))
            if key in whole and joined in second:
                ways += whole[key] * second[joined]
                drawn += weighted[key] * second[joined]
        if ways == 0:
            return None
        return Fraction(drawn * self.counts[TEN], ways * self.classes[self.system.scaled_tags[TEN]])


@lru_cache(maxsize=64)
def unseen_cards(system: CountingSystem, decks: int, known: str) -> UnseenCards:
    """Return the distribution of the unseen cards of a shoe without known cards; recent ones are kept."""
    return UnseenCards(system, remaining(decks, known, system.deck))


def _ways(classes: Sequence[tuple[int, int]]) -> Table:
    """Return the number of ways to draw cards from classes of (tag, size), by cards and sum of tags."""
    ways: Table = {(0, 0): 1}
    for tag, size in classes:
        further: Table = {}
        for (cards, total), way in ways.items():
            for drawn in range(size + 1):
                key = cards + drawn, total + tag * drawn
                further[key] = further.get(key, 0) + way * comb(size, drawn)
        ways = further
    return ways
