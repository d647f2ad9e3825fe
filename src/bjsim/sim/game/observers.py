"""What a round asks its players and tells them: actions, bets, and events for those that observe."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, runtime_checkable

from bjsim.errors import RunFailed
from bjsim.sim.game.actions import Action, IllegalAction, Player, View
from bjsim.sim.game.events import Event, as_seen
from bjsim.sim.game.rules import Rules

LARGEST_BET = 1_000_000  # units
Observers = Sequence[tuple[str, Callable[[Event], object]]]  # the names of players, and their methods `observe`


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


def ask_action(player: Player, view: View) -> Action:
    """Ask a player for an action.

    Raises:
        RunFailed: The player raised an exception.
        IllegalAction: The answer is not a legal action.
    """
    try:
        answer: object = player.decide(view)
    except RunFailed:
        raise
    except Exception as error:
        situation = f"with {view.hand} against {view.dealer}"
        raise RunFailed(f"{player.name} failed {situation}: {type(error).__name__}: {error}") from error
    action = Action(answer) if isinstance(answer, str) else answer
    if not isinstance(action, Action) or not isinstance(action.amount, int):
        raise IllegalAction(f"{player.name} answered {action!r} with {view.hand}; an Action or its letter is expected")
    overbet = action.letter == "B" and not 0 <= action.amount <= view.chips
    if overbet or action.letter not in tuple(view.legal):
        raise IllegalAction(
            f"{player.name} answered {action} with {view.hand} against {view.dealer}; "
            f"allowed were {', '.join(view.legal)}" + (f", B up to {view.chips}" if overbet else "")
        )
    return action


def find_observers(players: Sequence[Player]) -> Observers:
    """The players that have a method `observe`."""
    return [(player.name, observe) for player in players if (observe := getattr(player, "observe", None))]


def show_events(observers: Observers, events: Sequence[Event], first: int) -> int:
    """Show observers the events from number `first` on. Returns: the number of events.

    Raises:
        RunFailed: An observer raised an exception.
    """
    for event in map(as_seen, events[first:]):
        for name, observe in observers:
            try:
                observe(event)
            except RunFailed:
                raise
            except Exception as error:
                raise RunFailed(f"{name} failed to observe {event}: {type(error).__name__}: {error}") from error
    return len(events)


def ask_bets(rules: Rules, players: Sequence[Player], chips: Sequence[int]) -> tuple[int, ...]:
    """Ask for the bets of a round, before the deal.

    Args:
        rules: The rules of the game.
        players: One for each seat.
        chips: What each seat holds.

    Returns:
        Units for each seat, 1 for those that do not choose; empty if none does.

    Raises:
        RunFailed: A player raised an exception, or its bet is not a number of units.
    """
    if not any(hasattr(player, "bet") for player in players):
        return ()
    return tuple(
        _ask_bet(player, View(rules, seat, "", "", "", 0, held, ""))
        for seat, (player, held) in enumerate(zip(players, chips, strict=True))
    )


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
