"""A player at a table of a contest: its moves, its faults, and its strikes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bjsim.bots.contest.play.logs import BotLog
from bjsim.bots.contest.schedule.seating import TablePlan
from bjsim.bots.line import LOG_LIMIT, parse_note
from bjsim.bots.programs import is_bot, is_unstartable
from bjsim.bots.protocol import Fault, Reply, classify_reply, make_argv
from bjsim.sim.game.actions import INSURANCE, STAND, Action, Player, View

if TYPE_CHECKING:
    from bjsim.bots.resident import LineSeat

OnMove = Callable[[int, float], None]  # (bot, seconds of a move)
_MAX_OUTPUT = 400  # characters of a bot's output that a fault keeps
_NO_REPLY = Reply("exit", 0, 0, b"", b"")


@dataclass
class ContestSeat:
    """A player at a table. Asks it for moves, keeps the moves and faults of the round, and counts its strikes.

    A fault never stops the contest: the bot stands. A bot without strikes left stands without being asked.
    """

    bot: int
    position: int
    player: Player
    strikes: int
    on_move: OnMove | None = None
    moves: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)  # of a line bot, after each move
    faults: list[dict[str, Any]] = field(default_factory=list)
    errors: bytes = b""  # what it wrote to stderr in the match, LOG_LIMIT bytes at most, unless it is a line bot
    last_view: View | None = None
    last_reply: Reply = _NO_REPLY  # to the last view, if the player is a program
    line: LineSeat | None = None  # of a line bot

    @property
    def name(self) -> str:
        """The player's name."""
        return self.player.name

    def decide(self, view: View) -> Action:
        """The player's move, or a stand if it makes a fault or has no strikes left."""
        self.notes.append("")
        action = self._ask(view) if self.strikes > 0 else STAND
        self.moves.append(str(action))
        return action

    def log(self, plan: TablePlan) -> BotLog:
        """What the bot wrote to stderr at this table, and said of itself."""
        errors, ready = (self.line.log, self.line.ready) if self.line else (self.errors, {})
        text = errors.decode("utf-8", "backslashreplace")
        return BotLog(self.bot, plan.match, plan.table, self.position, text, ready)

    def _ask(self, view: View) -> Action:
        if view.legal == INSURANCE and is_bot(self.player) and not self.line:
            return STAND  # a program cannot be asked in five arguments, so it declines
        self.last_view = view
        if is_bot(self.player) or is_unstartable(self.player):
            self.last_reply = reply = self.line.ask(view) if self.line else self.player.ask(view)
            if self.on_move and reply.cause not in ("start", "not-ready"):
                self.on_move(self.bot, reply.elapsed_ns / 1e9)
            if self.line:
                self.notes[-1] = parse_note(reply.stdout) if reply.cause == "exit" else ""
            elif reply.stderr and len(self.errors) < LOG_LIMIT:
                self.errors = (self.errors + reply.stderr)[:LOG_LIMIT]
            move = classify_reply(reply, view)
            return self._fault(move) if isinstance(move, Fault) else move
        try:
            action: object = self.player.decide(view)
        except (Exception, SystemExit) as error:  # a Python player must not stop the contest
            return self._fault(Fault("crash", f"{type(error).__name__}: {error}", tuple(make_argv(view))))
        if isinstance(action, str):
            action = Action(action)
        if not isinstance(action, Action) or not isinstance(action.amount, int):
            return self._fault(Fault("bad-reply", f"{action!r} is not an Action", tuple(make_argv(view))))
        if action.letter == "B" and not 0 <= action.amount <= view.chips:
            return self._fault(Fault("overbet", f"{action} with {view.chips} chips", tuple(make_argv(view))))
        if action.letter not in tuple(view.legal):
            return self._fault(Fault("bad-reply", f"{action} is not allowed here", tuple(make_argv(view))))
        return action

    def exceed_move_cap(self) -> None:
        """Count the fault of using up all moves that the rules allow for a hand."""
        detail = f"{len(self.moves)} moves with one hand, and no stand"
        request = make_argv(self.last_view) if self.last_view else ()
        self._fault(Fault("move-cap", detail, tuple(request), self.last_reply.stdout, self.last_reply.stderr))

    def _fault(self, fault: Fault) -> Action:
        self.strikes -= 1
        if self.line:
            self.line.report_fault(fault.kind, self.strikes)
        self.faults.append({
            "bot": self.bot, "place": self.position, "move": len(self.moves), "kind": fault.kind,
            "detail": _text(fault.detail.encode()), "argv": list(fault.argv),
            "stdout": _text(fault.stdout), "stderr": _text(fault.stderr),
        })  # fmt: skip
        return STAND


def _text(raw: bytes) -> str:
    """A bot's output as text, shortened."""
    text = raw.decode("utf-8", "backslashreplace")
    return text if len(text) <= _MAX_OUTPUT else text[:_MAX_OUTPUT] + "…"
