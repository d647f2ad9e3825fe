"""Players that bet and observe: what `bet` and `observe` of a player are given. Other players cost nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, runtime_checkable

from bjsim.errors import RunFailed
from bjsim.sim.game.actions import Player, View
from bjsim.sim.game.cards import HIDDEN
from bjsim.sim.game.events import Dealt, Event, Revealed
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.seats import Seat

LARGEST_BET = 1_000_000  # units
_FACE_DOWN = Dealt(HIDDEN, face_down=True)


@runtime_checkable
class Bettor(Protocol):
    """A player that chooses its bet before every round."""

    def bet(self, view: View) -> int:
        """Choose a bet.

        Args:
            view: The rules, the seat and its chips; no card is dealt yet.

        Returns:
            Units. With 0 the round is played and seen, and pays nothing.
        """
        ...


@runtime_checkable
class Observer(Protocol):
    """A player that sees everything that happens in the open."""

    def observe(self, event: Event) -> None:
        """Take note of an event, of this or another seat.

        A face-down card is `#`. The hole card follows as `Revealed`, at the end of the round if not before.

        Args:
            event: The event.
        """
        ...


class ObservedEvents(list[Event]):
    """The events of a round, which observers get as they happen. They see a face-down card as `#`."""

    def __init__(self, observers: Sequence[tuple[str, Callable[[Event], object]]]) -> None:
        super().__init__()
        self.observers = observers
        self.hidden = ""

    def append(self, event: Event) -> None:
        super().append(event)
        if isinstance(event, Dealt) and event.face_down:
            self.hidden, event = event.card, _FACE_DOWN
        elif isinstance(event, Revealed):
            self.hidden = ""
        self.announce(event)

    def announce(self, event: Event) -> None:
        """Pass an event to the observers without recording it."""
        for name, observe in self.observers:
            try:
                observe(event)
            except RunFailed:
                raise
            except Exception as error:
                raise RunFailed(f"{name} failed to observe {event}: {type(error).__name__}: {error}") from error


def record_events(players: Sequence[Player]) -> list[Event]:
    """Return the empty list of a round's events, observed by the players that have a method `observe`."""
    observers = [(player.name, observe) for player in players if (observe := getattr(player, "observe", None))]
    return ObservedEvents(observers) if observers else []


def show_hole_card(events: list[Event]) -> None:
    """Show observers the hole card if it was not turned over: the dealer does when the cards are collected."""
    if isinstance(events, ObservedEvents) and events.hidden:
        events.announce(Revealed(events.hidden))


def ask_bets(rules: Rules, seats: Sequence[Seat]) -> tuple[int, ...]:
    """Ask for the bets of a round, before the deal.

    Args:
        rules: The rules of the game.
        seats: The seats.

    Returns:
        Units for each seat, 1 for those that do not choose; empty if none does.

    Raises:
        RunFailed: A player raised an exception, or its bet is not a number of units.
    """
    for seat in seats:
        if hasattr(seat.player, "bet"):
            return tuple(
                _ask_bet(seat.player, View(rules, seat.number, "", "", "", 0, seat.chips, "")) for seat in seats
            )
    return ()


def _ask_bet(player: Any, view: View) -> int:
    if not hasattr(player, "bet"):
        return 1
    try:
        units: object = player.bet(view)
    except RunFailed:
        raise
    except Exception as error:
        raise RunFailed(f"{player.name} failed to bet: {type(error).__name__}: {error}") from error
    if isinstance(units, bool) or not isinstance(units, int) or not 0 <= units <= LARGEST_BET:
        raise RunFailed(f"{player.name} bet {units!r}; a whole number of units from 0 to {LARGEST_BET} is expected")
    return units
