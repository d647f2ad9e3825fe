"""Actions, views and players: what a seat may do, what it may see, and the interface of a strategy."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

from bjsim.errors import RunFailed

if TYPE_CHECKING:
    from bjsim.sim.game.rules import Rules


class ActionCode(IntEnum):
    """What a seat can do: the one list of names, letters and codes. Arrays have 0 where a hand has no choice."""

    STAND = 1
    HIT = 2
    DOUBLE = 3
    SPLIT = 4
    SURRENDER = 5
    INSURE = 6
    RAISE = 7
    ATTACK = 8
    EXCHANGE = 9

    @property
    def letter(self) -> str:
        """Its letter in the protocol of [CardShark]; I, A and X are ours."""
        return " SHDPRIBAX"[self]


class Action(NamedTuple):
    """One decision.

    It is a value and not a member of `ActionCode`, because a raise has an amount.

    Attributes:
        letter: S stand, H hit, D double, P split, R surrender or B raise, as in the protocol of [CardShark]; I insure,
            A attack, X exchange second cards.
        amount: For a raise, the chips added to the stake.

    Source: [CardShark].
    """

    letter: str
    amount: int = 0

    def __str__(self) -> str:
        return f"B {self.amount}" if self.letter == "B" else self.letter


_OFFERS = ActionCode.INSURE, ActionCode.ATTACK, ActionCode.EXCHANGE
NAMES = {one.letter: one.name.lower() for one in ActionCode if one not in _OFFERS}
INSURANCE = ActionCode.INSURE.letter + ActionCode.STAND.letter  # the decision on insurance: I insures, S declines
ATTACK = ActionCode.ATTACK.letter + ActionCode.STAND.letter  # A doubles the bet against the dealer's card, S does not
EXCHANGE = ActionCode.EXCHANGE.letter + ActionCode.STAND.letter  # X exchanges the second cards of two hands, S does not
CODES = {one.letter: int(one) for one in ActionCode if one < ActionCode.INSURE}  # of actions on a hand, no amount
RUNAWAY = 100_000  # the limit on the hands of one seat in one round
ENDLESS = f"a seat reached the limit of {RUNAWAY:,} hands in one round: its splits end very late, or never"
LETTERS = "".join(CODES)
ENDINGS = {letter: code for letter, code in CODES.items() if letter not in "SHDP"}  # they end a hand at once, as it is
STAND, HIT, DOUBLE, SPLIT, SURRENDER = (Action(letter) for letter in LETTERS)


def raise_by(chips: int) -> Action:
    """Make the action that adds `chips` (0 or more) to the stake."""
    return Action("B", chips)


class View(NamedTuple):
    """Everything that a seat may know when it decides.

    Attributes:
        rules: The rules of the game.
        seat: Number of the seat, from 0.
        hand: Letters of the hand to decide on.
        dealer: The dealer's visible cards.
        visible: Every card on the table in the order of the [CardShark] protocol: the dealer's, a hidden one as `#`,
            then all other open cards in the order in which they were dealt.
        stake: Chips bet on this hand; initially `rules.buy_in`.
        chips: Chips that the seat holds, without its stakes.
        legal: Letters of the legal actions; `B` needs 0 <= amount <= chips. INSURANCE asks for insurance alone,
            ATTACK whether to double the bet before the hand is dealt, and EXCHANGE whether to exchange second cards.
        split: Whether the hand came from a split.
        hands: Number of hands that the seat holds now; where it has two bets, those of this bet.
        pending: Number of these that wait for their second card, besides this hand.
        free: Whether the house put up the bet on this hand.
        doubled: How often the hand has doubled.
        others: Where a seat has two bets, the cards of its other hands.
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
    pending: int = 0
    free: bool = False
    doubled: int = 0
    others: str = ""

    @classmethod
    def alone(cls, rules: Rules, hand: str, dealer: str, legal: str, split: bool = False, **more: Any) -> View:
        """The view of a seat alone at its table.

        Args:
            rules: The game.
            hand: The letters of the hand's cards.
            dealer: The letters of the dealer's cards that are seen.
            legal: The letters of the legal actions.
            split: Whether the hand comes from a split.
            more: Other attributes.

        Returns:
            A view in which the seat has the chips and the bet that the rules give it.
        """
        return cls(rules, 0, hand, dealer, dealer, rules.buy_in, rules.chips, legal, split, **more)

    @property
    def key(self) -> tuple[object, ...]:
        """All that determines the `Situation` in a game: the key of caches."""
        return self.hand, self.dealer, self.legal, self.split, self.free, self.doubled


class Question(NamedTuple):
    """A decision that seat number `seat`, from 0, must make; `view` is what it may know."""

    seat: int
    view: View


@runtime_checkable
class Player(Protocol):
    """The interface of a strategy. A strategy plays in this process, a bot in another.

    A player may keep a memory: it is copied for each block of rounds (see `ReadableTable.results`), and for each table
    of a contest. It may have the methods of `Bettor` and `Observer` too (`round.py`).
    """

    @property
    def name(self) -> str:
        """The player's name in results and errors."""
        ...

    def decide(self, view: View) -> Action | str:
        """Choose an action.

        Args:
            view: What the seat may see.

        Returns:
            The action, or its letter, which must be in `view.legal`.
        """
        ...


class IllegalAction(RunFailed):
    """A player chose an action that is not legal."""
