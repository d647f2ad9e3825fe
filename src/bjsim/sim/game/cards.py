"""Cards: thirteen ranks, written `A23456789TJQK` and always in that order.

A card is written as its letter. Arrays and states use its rank index, 0 (ace) to 12 (king). Suits never matter.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from bjsim.errors import InputError, shorten

RANKS = "A23456789TJQK"
HIDDEN = "#"
TEN = RANKS.index("T")  # the first of the ten-valued ranks
VALUES = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 10)  # points by rank
DECKS = {"standard": (4,) * 13, "spanish": (*(4,) * TEN, 0, 4, 4, 4)}  # cards of each rank; a Spanish deck has no T
NORMAL_TENS = Fraction(4, 13)  # probability of a ten-valued card in a standard deck
SPANISH_TENS = Fraction(3, 12)


def card_value(rank: int) -> int:
    """Points of the rank index `rank`: 1 for the ace, 2..9, and 10 for T, J, Q and K."""
    return VALUES[rank]


def parse_rank(card: object) -> int:
    """Return the rank index of a card: its letter, "10" or "1", or its points 1..10. Raises: InputError."""
    text = shorten(card).upper()
    text = {"10": "T", "1": "A"}.get(text, text)
    if len(text) == 1 and text in RANKS:
        return RANKS.index(text)
    raise InputError(f"{shorten(card)!r} is not a card; cards are {' '.join(RANKS)}")


def rank_probabilities(ten_probability: Fraction, deck: str = "standard") -> tuple[Fraction, ...]:
    """Probabilities of the 13 ranks if the ten-valued cards together have `ten_probability`.

    Those of the deck have equal shares of it, and A, 2..9 equal shares of the rest. Source: [BlackJackP].
    """
    low, tens = (1 - ten_probability) / 9, DECKS[deck][TEN:]
    return (low,) * TEN + tuple(ten_probability * Fraction(count, sum(tens)) for count in tens)


def count_points(ranks: Sequence[int]) -> tuple[int, bool]:
    """Return the points of rank indices, above 21 for a bust, and whether an ace counts 11 (a soft hand)."""
    return best_points(sum([VALUES[rank] for rank in ranks]), 0 in ranks)


def best_points(hard: int, ace: bool) -> tuple[int, bool]:
    """Points and softness of a hand that counts `hard` with aces as 1; an ace counts 11 unless that busts the hand."""
    return (hard + 10, True) if ace and hard <= 11 else (hard, False)


def is_natural(ranks: Sequence[int]) -> bool:
    """Whether these are exactly two cards, an ace and a ten-valued one."""
    return len(ranks) == 2 and count_points(ranks) == (21, True)
