"""Cards: thirteen ranks, written `A23456789TJQK`, in that order everywhere.

A card is its letter. Arrays and states use its rank index, 0 (the ace) to 12 (the king). Suits never matter.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

RANKS = "A23456789TJQK"
HIDDEN = "#"
TEN = RANKS.index("T")  # every rank from here on counts ten
VALUES = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 10)  # points by rank


def value_of(rank: int) -> int:
    """Points of the rank index `rank`: 1 for the ace, 2..9, and 10 for T, J, Q and K."""
    return VALUES[rank]


def rank_of(card: object) -> int:
    """Rank index of a card given as its letter, as "10" or "1", or as its points 1..10.

    Raises: ValueError naming the card and what would be accepted.
    """
    text = str(card).upper()
    text = {"10": "T", "1": "A"}.get(text, text)
    if len(text) == 1 and text in RANKS:
        return RANKS.index(text)
    raise ValueError(f"no card is written {card!r}; cards are {' '.join(RANKS)}")


def rank_probabilities(ten_probability: Fraction) -> tuple[Fraction, ...]:
    """Probability of each of the 13 ranks when ten-valued cards have `ten_probability` altogether.

    A, 2..9 share the rest evenly; T, J, Q, K share `ten_probability`. Source: seed 001.
    """
    low, ten = (1 - ten_probability) / 9, ten_probability / 4
    return (low,) * TEN + (ten,) * (len(RANKS) - TEN)


def points_of(ranks: Sequence[int]) -> tuple[int, bool]:
    """Points of a hand of rank indices, and whether an ace in it counts 11 (a soft hand).

    Points above 21 are a bust.
    """
    return best_points(sum([VALUES[rank] for rank in ranks]), 0 in ranks)


def best_points(hard: int, ace: bool) -> tuple[int, bool]:
    """Points of cards that count `hard` with aces as 1, and whether one of them counts 11: where that does not bust."""
    return (hard + 10, True) if ace and hard <= 11 else (hard, False)


def is_natural(ranks: Sequence[int]) -> bool:
    """Whether these are just two cards, an ace and a ten-valued one."""
    return len(ranks) == 2 and points_of(ranks) == (21, True)
