"""A readable round in progress, as environments hold it."""

from __future__ import annotations

from bjsim.sim.game.actions import Action, View
from bjsim.sim.game.events import Peeked
from bjsim.sim.game.round import Round, RoundResult
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.shoe import Shoe


class OpenRound:
    """One round at one table, played up to its next question; `view` is None once the round is over."""

    def __init__(self, rules: Rules, shoe: Shoe, seats: int) -> None:
        self.round = Round(rules, shoe, seats)
        self.result: RoundResult | None = None
        self._steps = self.round.steps()
        self._advance(None)

    def answer(self, letter: str) -> None:
        """Answer the question with a legal action, and play on to the next."""
        self._advance(Action(letter))

    def _advance(self, action: Action | None) -> None:
        try:
            self.view: View | None = self._steps.send(action).view  # type: ignore[arg-type]  # None starts it
        except StopIteration as end:
            self.view, self.result = None, end.value

    @property
    def peeked(self) -> bool:
        """Whether a natural of the dealer ended the round before anyone could act."""
        return self.result is not None and Peeked(natural=True) in self.round.events

    def last_view(self, seat: int, legal: str) -> View:
        """The view of a seat's last hand, with these actions as legal."""
        place = self.round.seats[seat]
        return self.round.view(place, place.hands[-1])._replace(legal=legal)
