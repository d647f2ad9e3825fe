"""Shoes in which suits matter: the count of each of the 52 kinds of card."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from bjsim.arguments import argument, whole_number
from bjsim.errors import InputError, shorten
from bjsim.sim.game.cards import DECKS, RANKS, TEN

SUITS = "shdc"
KINDS = tuple(rank + suit for rank in RANKS for suit in SUITS)
MOST_DECKS, MOST_CARDS = 1000, 1_000_000


class SuitedShoe(NamedTuple):
    """The cards in a shoe.

    `counts` has the count of each kind, in the order of `KINDS`: As, Ah, Ad, Ac, 2s, ... Kc. `replaced` is whether
    each card is drawn with replacement, as from infinitely many decks. `decks` is their number in words, such as
    `6`, `spanish 8` or `inf`; empty for other cards.
    """

    counts: tuple[int, ...]
    replaced: bool = False
    decks: str = ""

    @staticmethod
    def whole(decks: object, deck: str = "standard") -> SuitedShoe:
        """Return whole decks, `standard`, or `spanish` without the cards of rank T; `decks` may be inf."""
        if deck not in DECKS:
            raise InputError(f"{argument('deck')}: {shorten(deck)} is not accepted; use {' or '.join(DECKS)}")
        replaced = str(decks).strip().lower() in ("inf", "infinity")
        try:
            number = 1 if replaced else whole_number(argument("decks"), decks, 1, MOST_DECKS)
        except InputError as error:
            raise InputError(f"{error}, or inf") from None
        counts = tuple(number * held // len(SUITS) for held in DECKS[deck] for _ in SUITS)
        name = "inf" if replaced else str(number)
        return SuitedShoe(counts, replaced, name if deck == "standard" else f"{deck} {name}")

    @staticmethod
    def of(cards: Mapping[str, int], by: str) -> SuitedShoe:
        """Return the shoe with these cards, by kind (`Ah`) or by rank (`A`); omitted ones are not in it.

        Cards of a rank are spread evenly over its suits; `T` without J, Q and K means all ten-valued cards. `by`
        is what the bet looks at, suits, ranks or values: it has to be known how many of each there are, else an
        InputError says so.
        """
        counts = [0] * len(KINDS)
        named = [str(card).strip().upper() for card in cards]
        all_tens = "T" in named and not any(card[:1] in ("J", "Q", "K") for card in named)
        seen: set[int] = set()
        for card, count in zip(named, cards.values(), strict=True):
            found = [k for k, kind in enumerate(KINDS) if card in (kind.upper(), kind[0])]
            if card == "T" and all_tens:
                found = [*range(len(SUITS) * TEN, len(KINDS))]
            if not found:
                raise InputError(f"shoe: {shorten(card)} is not a card; write a rank of {RANKS}, or a kind such as Ah")
            if seen & {*found}:
                raise InputError(f"shoe: the {card} is given twice")
            seen |= {*found}
            each, rest = divmod(whole_number(f"shoe: {card}", count, 0, MOST_CARDS), len(found))
            ranks = len(found) > len(SUITS)
            if rest and (by == "suits" or (by == "ranks" and ranks)):
                example = "J=, Q= and K= too" if ranks else f"{card}h={count} and so on"
                raise InputError(f"shoe: {card}={count} are not as many of each kind; name them: {example}")
            for place, kind in enumerate(found):
                counts[kind] = each + (place < rest)
        return SuitedShoe(tuple(counts))

    @property
    def size(self) -> int:
        return sum(self.counts)

    @property
    def values(self) -> tuple[int, ...]:
        """The count of each value: A, 2..9 and all ten-valued cards."""
        return self.of_suits(SUITS)

    @property
    def ranks(self) -> tuple[int, ...]:
        """The count of each rank."""
        return tuple(sum(self.counts[first : first + len(SUITS)]) for first in range(0, len(KINDS), len(SUITS)))

    def of_suits(self, suits: str) -> tuple[int, ...]:
        """The count of each value in these suits."""
        wanted = [SUITS.index(suit) for suit in suits]
        held = [sum(self.counts[first + suit] for suit in wanted) for first in range(0, len(KINDS), len(SUITS))]
        return (*held[:TEN], sum(held[TEN:]))
