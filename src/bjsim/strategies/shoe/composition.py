"""The cards in a shoe, and the probabilities of pairs when only equal ranks may be split."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from bjsim.errors import InputError
from bjsim.sim.game.cards import RANKS, TEN, parse_rank
from bjsim.sim.game.rules import Rules
from bjsim.sums import add_up

VALUES = TEN + 1  # distinct card values: ace, 2..9 and ten
MAX_RANK_COUNT = 1_000_000  # maximum count of one rank; keeps products of counts far below overflow


@dataclass(frozen=True)
class Composition:
    """The cards of a shoe: the count of each of the 13 ranks.

    Counts may be fractions, such as those expected at some count of the cards. The probabilities of sequences of cards
    are products of falling factorials, which add up to 1 for fractions too (Vandermonde's identity).
    """

    ranks: tuple[float, ...]

    @staticmethod
    def of(rules: Rules, shoe: Mapping[str, int] | Sequence[int] | Composition | None = None) -> Composition:
        """Return the composition of a shoe, by default the whole decks of `rules`.

        `shoe` is counts by letter (`{"A": 4, "T": 16}`; omitted letters are not in the shoe, and `T` alone means
        all ten-valued cards), or ten counts for A, 2..9, T, or a composition as it is. The shoe must be finite.
        """
        if shoe is None:
            if rules.infinite:
                raise InputError("decks = inf: a finite shoe needs decks from 1 to 8, or a composition")
            return Composition(rules.shoe_counts)
        if isinstance(shoe, Composition):
            return shoe
        if not isinstance(shoe, Mapping):
            if len(shoe) != VALUES:
                raise InputError(f"a shoe takes {VALUES} counts, for A, 2..9 and T, not {len(shoe)}")
            shoe = dict(zip(RANKS, shoe, strict=False))
        counts = [0] * len(RANKS)
        for card, count in shoe.items():
            try:
                rank = parse_rank(card)
            except ValueError as error:
                raise InputError(f"shoe: {error}") from None
            if isinstance(count, bool) or int(count) != count or not 0 <= count <= MAX_RANK_COUNT:
                raise InputError(f"shoe: {card}={count} is not accepted; use a whole number from 0 to {MAX_RANK_COUNT}")
            counts[rank] += int(count)
        if rules.split_by == "rank" and counts[TEN] and not any(counts[TEN + 1 :]):
            raise InputError("split_by = rank needs separate counts of T, J, Q and K: give T=, J=, Q= and K=")
        return Composition(tuple(counts))

    @property
    def values(self) -> NDArray[np.float64]:
        """Count of each value, shape (10,): A, 2..9 and all ten-valued cards."""
        return np.array([*self.ranks[:TEN], add_up(self.ranks[TEN:])], np.float64)

    @property
    def cards(self) -> float:
        return add_up(self.ranks)

    def removals(self, by_rank: bool) -> dict[str, list[tuple[float, Composition]]]:
        """Return this shoe with one card removed, for each value it contains: letter -> [(probability, shoe)].

        by_rank: Distinguish ten-valued cards, with a case for each of their ranks.
        """
        removals: dict[str, list[tuple[float, Composition]]] = {}
        for rank, count in enumerate(self.ranks):
            letter = RANKS[min(rank, TEN)]
            if count and (by_rank or letter not in removals):
                left = Composition(tuple(held - (index == rank) for index, held in enumerate(self.ranks)))
                share = count / self.values[min(rank, TEN)] if by_rank else 1.0
                removals.setdefault(letter, []).append((float(share), left))
        return removals

    def pair_cases(self, value: int, known: Sequence[int], by_rank: bool) -> list[tuple[float, float]]:
        """Return the ways that two cards of one value, 0..9, can be a pair that may be split.

        `known` has the values of the dealer's known cards, which are also out of the shoe. Each way is (share,
        left): its share of the probability of being dealt two cards of this value, and the number of pair cards
        left afterwards. The shares sum to 1 unless only equal ranks are pairs (`by_rank`).
        """
        left = float(self.values[value]) - sum(card == value for card in known)
        if left < 2:
            return []
        if not by_rank or value < TEN:
            return [(1.0, left - 2)]
        cases: dict[float, float] = {}
        taken = sum(card == value for card in known)
        tens = range(TEN, len(RANKS))
        for dealers in product(tens, repeat=taken):
            counts = list(self.ranks)
            chance = 1.0
            for rank in dealers:
                chance *= counts[rank] / add_up(counts[TEN:])
                counts[rank] -= 1
            for rank in tens:
                share = chance * counts[rank] * (counts[rank] - 1) / (left * (left - 1))
                if share > 0:
                    cases[counts[rank] - 2] = cases.get(counts[rank] - 2, 0.0) + share
        return [(share, count) for count, share in cases.items()]
