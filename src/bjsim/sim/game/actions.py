"""What a seat may do, what it may see when it decides, and who decides."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

from bjsim.errors import RunFailed

if TYPE_CHECKING:
    from bjsim.sim.game.rules import Rules


class Action(NamedTuple):
    """One decision: its letter, and for a raise the chips added to the stake.

    Letters: S stand, H hit, D double, P split, R surrender, B raise (as in the CardShark protocol, seed 003).
    """

    letter: str
    amount: int = 0

    def __str__(self) -> str:
        return f"B {self.amount}" if self.letter == "B" else self.letter


STAND, HIT, DOUBLE, SPLIT, SURRENDER = (Action(letter) for letter in "SHDPR")
NAMES = {"S": "stand", "H": "hit", "D": "double", "P": "split", "R": "surrender", "B": "raise"}


def raise_by(chips: int) -> Action:
    """The action that adds `chips` (0 or more) to the stake."""
    return Action("B", chips)


class View(NamedTuple):
    """All that a seat may know when it decides.

    hand: the letters of the hand to decide on.
    dealer: the dealer's cards that are shown.
    visible: every card on the table in the order the CardShark protocol lists them: the dealer's, a hidden one
        as `#`, then all other open cards in the order they were dealt.
    stake: chips bet on this hand. chips: what the seat holds beside all its stakes. (The first stake is
        `rules.buy_in` chips.)
    legal: the letters of the actions allowed now; `B` needs 0 <= amount <= chips.
    split: whether the hand came from a split. hands: how many hands the seat holds now.
    """

    rules: Rules
    seat: int
    hand: str
    dealer: str
    visible: str
    stake: int
    chips: int
    legal: str
    split: bool = False
    hands: int = 1


@runtime_checkable
class Player(Protocol):
    """Whoever decides. A strategy is a Player in this process, a bot is one in another.

    A player may remember what it saw: it is copied afresh for each block of rounds (see `bjsim.sim.running.table`).
    """

    @property
    def name(self) -> str:
        """What results and errors call it."""
        ...

    def decide(self, view: View) -> Action:
        """The action to take; its letter must be in `view.legal`."""
        ...


class IllegalAction(RunFailed):
    """A player answered with an action that its view did not allow."""
