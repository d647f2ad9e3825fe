"""The conditions that events of side bets may have, over all hands of two or three cards at once."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache, reduce
from operator import and_, or_
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bjsim.errors import InputError, shorten
from bjsim.sim.game.cards import RANKS, VALUES
from bjsim.strategies.formats.words import parse_cards
from bjsim.strategies.sidebets.kinds import KINDS, SUITS

Mask = NDArray[np.bool_]


class CardGrid:
    """All ordered hands of so many cards, with an axis of 52 kinds for each card."""

    def __init__(self, cards: int) -> None:
        self.cards = cards
        kinds = np.indices((len(KINDS),) * cards, dtype=np.int64, sparse=True)
        self.ranks = [kind // len(SUITS) for kind in kinds]
        self.suits = [kind % len(SUITS) for kind in kinds]
        self.shape = (len(KINDS),) * cards

    def total(self, aces: str) -> tuple[NDArray[np.int64], Mask]:
        """The totals with aces as 1, and whether an ace may count 11."""
        values = np.array(VALUES)
        hard = sum((values[rank] for rank in self.ranks), np.zeros(self.shape, np.int64))
        ace = reduce(or_, [np.broadcast_to(rank == 0, self.shape) for rank in self.ranks])
        return hard, ace & (aces == "1 or 11")


@lru_cache(maxsize=4)
def all_hands(cards: int) -> CardGrid:
    return CardGrid(cards)


def number_range(text: object, what: str, most: int) -> tuple[int, int]:
    """The least and the greatest number of `20`, `14+` or `12-`. Raises: InputError."""
    match = re.fullmatch(r"(\d{1,3})([+-]?)", str(text).strip())
    if not match:
        raise InputError(f"{what} {shorten(text)} is not accepted; write a number such as 20, 14+ or 12-")
    number, sign = int(match[1]), match[2]
    return 0 if sign == "-" else number, most if sign == "+" else number


def upcard_values(text: object) -> list[int]:
    """The values, 0 for an ace to 9 for a ten, of upcards such as `A`, `2-6` or `7+`."""
    cards = parse_cards(str(text))
    if not cards:
        raise InputError(f"upcard {shorten(text)} is not accepted; write a card or several, such as A, 2-6 or 9,10")
    return [RANKS.index(card) for card in cards]


def _suited(hands: CardGrid, wanted: object, aces: str) -> Mask:
    suited: Mask = reduce(and_, [hands.suits[0] == suit for suit in hands.suits]) == switch("suited", wanted)
    return suited


def _one_colour(hands: CardGrid, wanted: object, aces: str) -> Mask:
    red = [(suit == SUITS.index("h")) | (suit == SUITS.index("d")) for suit in hands.suits]
    one: Mask = reduce(and_, [red[0] == each for each in red]) == switch("one_colour", wanted)
    return one


def _ranks(hands: CardGrid, wanted: object, aces: str) -> Mask:
    if wanted == "same":
        same: Mask = reduce(and_, [hands.ranks[0] == rank for rank in hands.ranks])
        return same
    letters = str(wanted).upper().replace("-", "")
    if len(letters) != hands.cards or not set(letters) <= set(RANKS):
        raise InputError(f"ranks {shorten(wanted)} is not accepted; write same, or {hands.cards} ranks of {RANKS}")
    return _multiset(hands.ranks, [RANKS.index(letter) for letter in letters])


def _cards(hands: CardGrid, wanted: object, aces: str) -> Mask:
    words = [word.capitalize() for word in re.findall(r"..", str(wanted).replace(" ", ""))]
    if len(words) != hands.cards or not set(words) <= set(KINDS):
        raise InputError(f"cards {shorten(wanted)} is not accepted; write {hands.cards} cards such as QhQh")
    kinds = [len(SUITS) * rank + suit for rank, suit in zip(hands.ranks, hands.suits, strict=True)]
    return _multiset(kinds, [KINDS.index(word) for word in words])


def _multiset(held: list[Any], wanted: list[int]) -> Mask:
    weights = {kind: 8**place for place, kind in enumerate(sorted({*wanted}))}
    lookup = np.full(len(KINDS), 8 ** len(weights), np.int64)
    lookup[[*weights]] = [*weights.values()]
    found: Mask = sum(lookup[card] for card in held) == sum(int(lookup[kind]) for kind in wanted)
    return found


def _straight(hands: CardGrid, wanted: object, aces: str) -> Mask:
    ranks = len(RANKS)
    rows = [sum(1 << (low + step) % ranks for step in range(hands.cards)) for low in range(ranks - hands.cards + 2)]
    is_row = np.zeros(1 << ranks, np.bool_)
    is_row[rows] = True
    held = np.zeros(hands.shape, np.int64)
    for rank in hands.ranks:
        held = held | (1 << rank)
    row: Mask = is_row[held] == switch("straight", wanted)
    return row


def _total(hands: CardGrid, wanted: object, aces: str) -> Mask:
    low, high = number_range(wanted, "total", 31)
    hard, soft = hands.total(aces)
    within: Mask = ((low <= hard) & (hard <= high)) | (soft & (low <= hard + 10) & (hard + 10 <= high))
    return within


def _natural(hands: CardGrid, wanted: object, aces: str) -> Mask:
    natural: Mask = (_total(hands, 21, "1 or 11") & (hands.cards == 2)) == switch("natural", wanted)
    return natural


def switch(name: str, wanted: object) -> bool:
    if not isinstance(wanted, bool):
        raise InputError(f"{name} {shorten(wanted)} is not accepted; write true or false")
    return wanted


CONDITIONS: dict[str, Callable[[CardGrid, object, str], Mask]] = {
    "suited": _suited,
    "one_colour": _one_colour,
    "ranks": _ranks,
    "cards": _cards,
    "straight": _straight,
    "total": _total,
    "natural": _natural,
}
NEEDS = {"suited": "suits", "one_colour": "suits", "cards": "suits", "ranks": "ranks", "straight": "ranks"}
