"""Events: what happens in a round, in order. Each kind has its own class; consumers `match` on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from bjsim.sim.game.actions import NAMES, Action
from bjsim.sim.game.cards import HIDDEN

DEALER = -1  # the dealer's seat number in an event
Ending = Literal["natural", "charlie", "21", "bust", "stood", "surrendered", "move-cap"]


@dataclass(frozen=True, slots=True)
class Shuffled:
    """The shoe was shuffled: before the deal, or before a card, because it had run out."""


@dataclass(frozen=True, slots=True)
class Dealt:
    """A card left the shoe for a hand of `seat`, or for DEALER; the dealer's hole card is `face_down`."""

    card: str
    seat: int = DEALER
    hand: int = 0
    face_down: bool = False


@dataclass(frozen=True, slots=True)
class Peeked:
    """The dealer checked for a natural. natural: whether there is one, which ends the round."""

    natural: bool


@dataclass(frozen=True, slots=True)
class Revealed:
    """The dealer turned the hole card over. card: its letter."""

    card: str


@dataclass(frozen=True, slots=True)
class Acted:
    """A player acted on a hand of a seat."""

    seat: int
    hand: int
    action: Action


@dataclass(frozen=True, slots=True)
class Insured:
    """A seat took insurance."""

    seat: int


@dataclass(frozen=True, slots=True)
class InsuranceSettled:
    """A seat's insurance was settled. net: its profit in initial bets."""

    seat: int
    net: Fraction


@dataclass(frozen=True, slots=True)
class HandEnded:
    """A hand of a seat ended. ending: the reason."""

    seat: int
    hand: int
    ending: Ending


@dataclass(frozen=True, slots=True)
class Settled:
    """A hand of a seat was settled. net: its profit; tied: its stake if it is tied and replayed; in initial bets."""

    seat: int
    hand: int
    net: Fraction
    tied: Fraction


ENDINGS = {"21": "has 21", "stood": "hand ends", "surrendered": "surrenders", "move-cap": "used all its moves"}
Event = Shuffled | Dealt | Peeked | Revealed | Acted | Insured | InsuranceSettled | HandEnded | Settled
_FACE_DOWN = Dealt(HIDDEN, face_down=True)


def as_seen(event: Event) -> Event:
    """An event as everybody at the table sees it: a face-down card is `#`. It follows as `Revealed`, in every round."""
    return _FACE_DOWN if isinstance(event, Dealt) and event.face_down else event


def describe(event: Event, names: Sequence[str]) -> str:
    """Describe an event in words. names: of the players, by seat."""
    match event:
        case Shuffled():
            return "the shoe is shuffled"
        case Peeked(natural):
            return f"dealer peeks: {'a natural' if natural else 'no natural'}"
        case Revealed(card):
            return f"dealer turns over {card}"
        case Dealt(card) if event.seat == DEALER:
            return f"dealer: {card}{' face down' if event.face_down else ''}"
        case Insured(seat):
            return f"{names[seat]}: takes insurance"
        case InsuranceSettled(seat, net):
            return f"{names[seat]}: insurance, profit {net}"
    name = names[event.seat] + (f", hand {event.hand + 1}" if event.hand else "")
    match event:
        case Dealt(card):
            return f"{name}: {card}"
        case Acted(action=action):
            if action.letter in "AX":
                return f"{name}: {'attacks' if action.letter == 'A' else 'exchanges the second cards of two hands'}"
            return f"{name}: {NAMES[action.letter]}{f' {action.amount}' if action.letter == 'B' else ''}"
        case HandEnded(ending=ending):
            return f"{name}: {ENDINGS.get(ending, ending)}"
        case Settled(net=net, tied=tied):
            return f"{name}: {'tied, replayed' if tied else f'profit {net}'}"
