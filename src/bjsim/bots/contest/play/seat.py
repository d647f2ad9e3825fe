"""A player at a table of a contest: its moves, its faults, and its strikes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bjsim.bots.contest.play.logs import BotLog
from bjsim.bots.contest.schedule.seating import TablePlan
from bjsim.bots.line import LOG_LIMIT, parse_note
from bjsim.bots.protocol import Fault, Reply
from bjsim.bots.turn import Turn
from bjsim.sim.game.actions import Action, View

OnMove = Callable[[int, float], object]  # (bot, seconds of a move)
_MAX_OUTPUT = 400  # characters of a bot's output that a fault keeps


class ContestSeat:
    """A player at a table. Keeps the moves, notes and faults of the round.

    A fault never stops the contest: the bot stands. A bot without strikes left stands without being asked.
    """

    def __init__(self, bot: int, position: int, turn: Turn, on_move: OnMove) -> None:
        self.bot, self.position, self.turn, self.line, self.on_move = bot, position, turn, turn.line, on_move
        self.moves: list[str] = []
        self.notes: list[str] = []  # of a line bot, after each move
        self.faults: list[dict[str, Any]] = []
        self._errors = b""  # what it wrote to stderr in the match, LOG_LIMIT bytes at most, unless it is a line bot

    def move(self, view: View) -> Action:
        """The player's move, or a stand if it makes a fault or is not asked."""
        answer = self.turn.take(view)
        self.notes.append(self._keep(answer.reply) if answer.reply else "")
        if answer.fault:
            self._add_fault(answer.fault)
        self.moves.append(str(answer.action))
        return answer.action

    def _keep(self, reply: Reply) -> str:
        """Keep the time and the error output of a move; returns its note."""
        if reply.cause not in ("start", "not-ready"):
            self.on_move(self.bot, reply.elapsed_ns / 1e9)
        if self.line:
            return parse_note(reply.stdout) if reply.cause == "exit" else ""
        self._errors = (self._errors + reply.stderr)[:LOG_LIMIT]
        return ""

    def log(self, plan: TablePlan) -> BotLog:
        """What the bot wrote to stderr at this table, and said of itself."""
        errors, ready = (self.line.log, self.line.ready) if self.line else (self._errors, {})
        text = errors.decode("utf-8", "backslashreplace")
        return BotLog(self.bot, plan.match, plan.table, self.position, text, ready)

    def exceed_move_cap(self) -> None:
        """Count the fault of using up all moves that the rules allow for a hand."""
        self._add_fault(self.turn.exceed_move_cap(f"{len(self.moves)} moves with one hand, and no stand"))

    def restore_fault(self, kind: str) -> None:
        """Count a fault that the bot made before the contest was stopped."""
        self.turn.count(Fault(kind, ""))
        if self.line and kind == "timeout":
            self.line.bank = 0.0

    def _add_fault(self, fault: Fault) -> None:
        what = {"kind": fault.kind, "detail": _text(fault.detail.encode()), "argv": list(fault.argv)}
        said = {"stdout": _text(fault.stdout), "stderr": _text(fault.stderr)}
        self.faults.append({"bot": self.bot, "place": self.position, "move": len(self.moves), **what, **said})


def _text(raw: bytes) -> str:
    text = raw.decode("utf-8", "backslashreplace")
    return text if len(text) <= _MAX_OUTPUT else text[:_MAX_OUTPUT] + "…"
