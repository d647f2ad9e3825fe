"""A readable round that is called, and stops at every decision.

A round calls its players, but an environment is called. At every answer the round is therefore replayed from the cards
drawn and the answers given so far, up to the first open decision. This needs neither threads nor a change to the round.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bjsim.errors import RunFailed
from bjsim.sim.game.actions import Action, View
from bjsim.sim.game.round import Round, RoundResult
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.shoe import Shoe


class StepwiseRound:
    """One round at one table, which waits at every decision.

    Args:
        rules: The rules of the game.
        shoe: The source of cards; the shoe of the round before, so that its cards go on.
        names: The names of the seats.

    Attributes:
        round: The round so far.
        view: What the seat that must decide sees; None once the round is over.
        result: The result once the round is over.
    """

    def __init__(self, rules: Rules, shoe: RewindableShoe, names: Sequence[str]) -> None:
        self._rules, self._shoe, self._names = rules, shoe, names
        self._answers: list[Action] = []
        shoe.forget()
        self._play()

    def answer(self, letter: str) -> None:
        """Answer the open decision with a legal action, and play on to the next."""
        self._answers.append(Action(letter))
        self._play()

    def _play(self) -> None:
        self._shoe.rewind()
        answers = iter(self._answers)
        self.round = Round(self._rules, self._shoe, [_Seat(name, answers) for name in self._names])
        self.view: View | None = None
        self.result: RoundResult | None = None
        try:
            self.result = self.round.play()
        except _Undecided as decision:
            self.view = decision.view

    def last_view(self, seat: int, legal: str) -> View:
        """The view of a seat's last hand when the round is over, with these actions as legal."""
        table, dealer = self.round.seats[seat], self.round.dealer
        hand = table.hands[-1]
        shown = dealer.letters[: 2 if self._rules.dealer_shows == "both" else 1]
        return View(
            self._rules, seat, hand.letters, shown, shown + self.round.open_cards, hand.stake, table.chips, legal,
            hand.split_from >= 0, len(table.hands),
        )  # fmt: skip


class RewindableShoe:
    """A shoe that can replay the cards of the current round.

    Args:
        shoe: The source of cards.
    """

    def __init__(self, shoe: Shoe) -> None:
        self._shoe = shoe
        self.forget()
        self.rewind()

    def forget(self) -> None:
        """Drop the recorded cards, before a new round."""
        self._cards: list[int] = []
        self._shuffled: bool | None = None
        self._replenished: set[int] = set()  # numbers of the cards before which the shoe had run out

    def rewind(self) -> None:
        """Return to the first card of the round."""
        self._dealt = 0

    def begin_round(self) -> bool:
        """Prepare for a round. Returns: whether the shoe was shuffled."""
        if self._shuffled is None:
            self._shuffled = self._shoe.begin_round()
        return self._shuffled

    def replenish(self) -> bool:
        """Prepare for a card. Returns: whether the shoe had run out, and was shuffled."""
        if self._dealt == len(self._cards) and self._shoe.replenish():
            self._replenished.add(self._dealt)
        return self._dealt in self._replenished

    def draw(self) -> int:
        """Draw a card. Returns: its rank index."""
        if self._dealt == len(self._cards):
            self._cards.append(self._shoe.draw())
        self._dealt += 1
        return self._cards[self._dealt - 1]


class _Undecided(RunFailed):
    """Play has reached an open decision. A subclass of RunFailed, which a round does not catch."""

    def __init__(self, view: View) -> None:
        super().__init__()
        self.view = view


class _Seat:
    """A Player that takes the next recorded answer of the table, and interrupts the round where there is none."""

    def __init__(self, name: str, answers: Iterator[Action]) -> None:
        self.name = name
        self._answers = answers

    def decide(self, view: View) -> Action:
        answer = next(self._answers, None)
        if answer is None:
            raise _Undecided(view)
        return answer
