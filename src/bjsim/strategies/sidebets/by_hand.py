"""A side bet of a person at a table: the cards of a round get suits when it has ended."""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from bjsim.arguments import argument
from bjsim.errors import InputError
from bjsim.sim.game.cards import RANKS, TEN
from bjsim.sim.game.events import DEALER, Dealt, Event, Shuffled
from bjsim.sim.game.rules import Rules
from bjsim.strategies.sidebets.bets import BUST, WITH_NATURAL
from bjsim.strategies.sidebets.kinds import KINDS, SUITS
from bjsim.strategies.sidebets.outcomes import CARDS, IS_ACE, IS_TEN, outcomes
from bjsim.strategies.sidebets.played import check_bet

SIGNS = dict(zip(SUITS, "♠♥♦♣", strict=True))


class SettledBet(NamedTuple):
    """A settled side bet of one; `cards` is what it looked at, such as `A♥ K♥ 5♦`; `event` is empty if lost."""

    cards: str
    event: str
    profit: Fraction


class BetByHand:
    """A side bet, by name or a TOML file, in a game that is played by hand; `seed` is that of the suits."""

    def __init__(self, bet: str, rules: Rules, seed: int) -> None:
        self.bet = check_bet(bet, rules)[0].bet
        if self.bet.looks_at == BUST:
            raise InputError(f"{argument('sidebet')}: {self.bet.name} is not played by hand: it needs more cards")
        self._found = outcomes(self.bet)
        self._rules, self._random = rules, random.Random(seed)
        self._left: list[int] = []

    def settle(self, events: Sequence[Event], seat: int = 0) -> SettledBet | None:
        """Settle the bet of a round from all events, from the shuffle or the deal; None if not offered."""
        own: list[int] = []
        dealer: list[int] = []
        for event in events:
            if isinstance(event, Shuffled):
                self._left = []
            elif isinstance(event, Dealt):
                kind = self._draw(RANKS.index(event.card))
                {DEALER: dealer, seat: own}.get(event.seat, []).append(kind)
        looks_at = {"dealer": dealer[:2], WITH_NATURAL: own[:2]}
        cards = looks_at.get(self.bet.looks_at, [*own[:2], *dealer[:1]][: CARDS[self.bet.looks_at]])
        if self.bet.upcard and RANKS[min(dealer[0] // len(SUITS), TEN)] != self.bet.upcard:
            return None
        place = tuple(cards)
        if self.bet.looks_at == WITH_NATURAL:
            both = dealer[:2]
            place = (*cards, int(sum(IS_ACE[card] for card in both) * sum(IS_TEN[card] for card in both)))
        found = int(self._found.place[place])
        event_name, pays = self._found.events[found - 1] if found else ("", Fraction(-1))
        return SettledBet(" ".join(KINDS[card][0] + SIGNS[KINDS[card][1]] for card in cards), event_name, pays)

    def _draw(self, rank: int) -> int:
        """A card of this rank, of those that are left in a shoe of whole decks."""
        each = 1 if self._rules.infinite else int(self._rules.decks)
        if not self._left or not any(self._left[rank * len(SUITS) : (rank + 1) * len(SUITS)]):
            self._left = [each] * len(KINDS)
        kinds = range(rank * len(SUITS), (rank + 1) * len(SUITS))
        kind = self._random.choices(kinds, [self._left[kind] for kind in kinds])[0]
        self._left[kind] -= not self._rules.infinite
        return kind
