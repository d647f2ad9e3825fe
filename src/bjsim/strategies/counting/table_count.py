"""`TableCount`: the count of a player who sees the open cards of a table."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from bjsim.sim.game.cards import TEN, parse_rank
from bjsim.sim.game.events import Dealt, Event, Revealed, Shuffled, as_seen
from bjsim.sim.game.rules import Rules
from bjsim.strategies.counting.system import CountingSystem
from bjsim.strategies.counting.typical import decks_to_count


class TableCount:
    """Counts the cards of a shoe as they are shown. A hole card that is never turned over stays unseen.

    True counts are by unseen decks to the half deck, as players estimate them, unless the system says otherwise.
    """

    def __init__(self, system: CountingSystem, rules: Rules) -> None:
        self.decks = decks_to_count(rules)
        self.system = system.replace(deck=rules.deck, divisor="half" if system.divisor == "exact" else system.divisor)
        self._seen = [0] * (TEN + 1)

    @property
    def running(self) -> Fraction:
        return self.system.running_count(self._seen, self.decks)

    @property
    def true(self) -> Fraction:
        """The true count, rounded as the system says."""
        return self.system.true_count(self.running, self.unseen, self.decks)

    @property
    def decision(self) -> Fraction:
        """The count that decides: the true count, or the running count of a system that does not divide it."""
        return self.system.count(self.running, self.unseen, self.decks)

    @property
    def decks_unseen(self) -> Fraction:
        """The divisor of the true count, in decks."""
        return Fraction(self.system.divisor_cards(self.unseen), self.system.deck_size)

    def see(self, events: Iterable[Event]) -> None:
        for event in map(as_seen, events):
            match event:
                case Shuffled():
                    self._seen = [0] * (TEN + 1)
                case Dealt(face_down=False, card=card) | Revealed(card):
                    self._seen[min(parse_rank(card), TEN)] += 1

    @property
    def unseen(self) -> int:
        return max(self.decks * self.system.deck_size - sum(self._seen), 0)
