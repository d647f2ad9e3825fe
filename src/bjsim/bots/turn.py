"""One turn of a bot: the only place where it is asked and judged, and where a fault becomes a stand and a strike."""

import threading
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple, TypeGuard

from bjsim.bots.protocol import Fault, Reply, classify_reply, make_argv
from bjsim.errors import LONGEST_MESSAGE, shorten
from bjsim.sim.game.actions import ATTACK, INSURANCE, STAND, Action, Player, View
from bjsim.sim.game.round import as_action, find_fault
from bjsim.sim.running.table import Need


class Answer(NamedTuple):
    """A legal action; the fault for which it is a stand; and the reply of a program that was asked."""

    action: Action
    fault: Fault | None = None
    reply: Reply | None = None


class Strikes:
    """The faults of a bot; at `limit` (None: none) it only stands. Several threads may count them."""

    def __init__(self, limit: int | None = None) -> None:
        self.limit = limit
        self.faults: Counter[str] = Counter()  # by kind, a key of `protocol.FAULTS`
        self.first: dict[str, Fault] = {}  # of each kind
        self._lock = threading.Lock()

    @property
    def left(self) -> int | None:
        """How many faults the bot may still make; None without a limit."""
        return None if self.limit is None else self.limit - self.faults.total()

    @property
    def out(self) -> bool:
        return self.left is not None and self.left <= 0

    def count(self, fault: Fault) -> None:
        with self._lock:
            self.faults[fault.kind] += 1
            self.first.setdefault(fault.kind, fault)


class Turn:
    """A bot in its seat, to be asked for moves. `player` is None for one that is never asked.

    `line` is the `LineSeat` of a line bot in a match; without one it is asked in a match of its own.
    """

    def __init__(self, player: Player | None, line: Any = None, strikes: Strikes | None = None) -> None:
        self.player, self.line, self.strikes = player, line, strikes or Strikes()
        self._ask: Callable[[View], Reply] | None = (line or player).ask if runs_program(player) else None
        self._last: tuple[View, Reply | None] | None = None  # the last question and its reply

    def asks(self, view: View) -> bool:
        """Whether the bot is asked this: it has strikes left, and the protocol has words for it."""
        return not self.strikes.out and (not self._ask or can_ask(view, self.line is not None))

    def take(self, view: View) -> Answer:
        if self.player is None or not self.asks(view):
            return Answer(STAND)
        reply = self._ask(view) if self._ask else None
        move = classify_reply(reply, view) if reply else _decide(self.player, view)
        self._last = view, reply
        if isinstance(move, Action):
            return Answer(move, None, reply)
        self.count(move)
        return Answer(STAND, move, reply)

    def exceed_move_cap(self, detail: str = "") -> Fault:
        """Count the fault of a hand that ended because the bot used up all its moves, as the round says."""
        assert self._last, "the bot made these moves"
        view, reply = self._last
        detail = detail or f"{view.rules.move_cap} moves with one hand"
        fault = Fault("move-cap", detail, tuple(make_argv(view)), *((reply.stdout, reply.stderr) if reply else ()))
        self.count(fault)
        return fault

    def count(self, fault: Fault) -> None:
        """Count a fault, and notify a line bot of it."""
        self.strikes.count(fault)
        if self.line:
            self.line.lines.report_fault(fault.kind, self.strikes.left)


def runs_program(player: object) -> TypeGuard[Any]:
    """Whether a player is a program, so that it has the methods of `BotPlayer`: it says so in `needs`."""
    needs = getattr(player, "needs", None)
    return isinstance(needs, Need) and Need.PROGRAMS in needs


def can_ask(view: View, line: bool) -> bool:
    """Whether a program can be asked this; else it declines. Neither protocol has a question without a hand, and five
    arguments cannot ask about insurance."""
    return view.legal != ATTACK and (line or view.legal != INSURANCE)


def _decide(player: Player, view: View) -> Action | Fault:
    try:  # a Python player must not stop the contest
        action = as_action(answer := player.decide(view))
        if action is None:
            kind, why = "bad-reply", f"{shorten(answer, LONGEST_MESSAGE, repr)} is not an Action"
        elif kind := find_fault(action, view):
            why = f"with {view.chips} chips" if kind == "overbet" else "is not allowed here"
            why = f"{shorten(action)} {why}"
        else:
            return action
    except (Exception, SystemExit) as error:
        kind, why = "crash", f"{type(error).__name__}: {shorten(error, LONGEST_MESSAGE)}"
    return Fault(kind, why, tuple(make_argv(view)))
