"""What a round asks its players and tells them: actions, bets, and events for those that observe."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Any, Protocol, runtime_checkable

from bjsim.errors import RunFailed
from bjsim.sim.game.actions import Action, IllegalAction, Player, Question, View
from bjsim.sim.game.events import Event, as_seen
from bjsim.sim.game.round_result import RoundResult
from bjsim.sim.game.rules import Rules

LARGEST_BET = 1_000_000  # units
Steps = Generator[Question, Action, RoundResult]  # of a round
Observers = Sequence[tuple[str, Callable[[Event], object]]]  # the names of players, and their methods `observe`


@runtime_checkable
class Bettor(Protocol):
    """A player that chooses its bet before every round."""

    def bet(self, view: View) -> int:
        """Choose a bet in units, before the deal; with 0 the round is played and seen, and pays nothing."""
        ...


@runtime_checkable
class Observer(Protocol):
    """A player that sees everything that happens in the open."""

    def observe(self, event: Event) -> None:
        """Take note of an event, of this or another seat.

        A face-down card is `#`. The hole card follows as `Revealed`, at the end of the round if not before.
        """
        ...


def drive(steps: Steps, answer: Callable[[int, View], Action]) -> RoundResult:
    """Play `Round.steps()`; `answer` takes the number of a seat and its view, and returns a legal action."""
    try:
        question = next(steps)
        while True:
            question = steps.send(answer(*question))
    except StopIteration as end:
        result: RoundResult = end.value
        return result


def ask_action(player: Player, view: View) -> Action:
    """Ask a player for an action; RunFailed: it raised an exception, IllegalAction: its answer is not legal."""
    try:
        answer: object = player.decide(view)
    except RunFailed:
        raise
    except Exception as error:
        situation = f"with {view.hand} against {view.dealer}"
        raise RunFailed(f"{player.name} failed {situation}: {type(error).__name__}: {error}") from error
    if type(answer) is Action and type(answer.amount) is int and not find_fault(answer, view):  # the fast path
        return answer
    return legal_action(player.name, answer, view)


def legal_action(name: str, answer: object, view: View) -> Action:
    action = as_action(answer)
    if action is None:
        raise IllegalAction(f"{name} answered {answer!r} with {view.hand}; an Action or its letter is expected")
    if fault := find_fault(action, view):
        raise IllegalAction(
            f"{name} answered {action} with {view.hand} against {view.dealer}; "
            f"allowed were {', '.join(view.legal)}" + (f", B up to {view.chips}" if fault == "overbet" else "")
        )
    return action


def as_action(answer: object) -> Action | None:
    """An answer, an Action or its letter, as an Action; None for anything else."""
    action = Action(answer) if isinstance(answer, str) else answer
    return action if isinstance(action, Action) and isinstance(action.amount, int) else None


def find_fault(action: Action, view: View) -> str:
    """Why an action is not legal: `overbet`, or `bad-reply` if its letter is not allowed; empty for a legal action."""
    letter, amount = action
    if letter == "B" and not 0 <= amount <= view.chips:
        return "overbet"
    return "" if len(letter) == 1 and letter in view.legal else "bad-reply"


def find_observers(players: Sequence[Player]) -> Observers:
    """The players that have a method `observe`."""
    return [(player.name, observe) for player in players if (observe := getattr(player, "observe", None))]


def show_events(observers: Observers, events: Sequence[Event], first: int) -> int:
    """Show observers the events from number `first` on; return the number of events. RunFailed: one raised."""
    for event in map(as_seen, events[first:]) if observers else ():
        for name, observe in observers:
            try:
                observe(event)
            except RunFailed:
                raise
            except Exception as error:
                raise RunFailed(f"{name} failed to observe {event}: {type(error).__name__}: {error}") from error
    return len(events)


def ask_bets(rules: Rules, players: Sequence[Player], chips: Sequence[int]) -> tuple[int, ...]:
    """Ask for the bets of a round: units per seat, 1 for seats that do not choose; empty if none does."""
    if not [player for player in players if hasattr(player, "bet")]:
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
