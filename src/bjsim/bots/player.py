"""A bot as a `Player`. Every fault of the bot makes it stand, and is counted and kept for its author."""

from __future__ import annotations

import math
import os
import threading
from array import array
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from bjsim.bots.line import LOG_LIMIT, Clock, Transcript
from bjsim.bots.protocol import Fault, Reply, classify_reply, ends_hand, make_argv
from bjsim.bots.resident import LinePlayer, LineSeat, say_bye
from bjsim.bots.sandbox.build import build
from bjsim.bots.sandbox.folders import BotSource
from bjsim.bots.sandbox.languages import BuildError, Program
from bjsim.bots.sandbox.session import Limits, SandboxClosed, SandboxError, SandboxSession, sandboxed
from bjsim.sim.game.actions import INSURANCE, STAND, Action, View

MAX_REPORTED_FAULTS = 20  # of each kind, with their output; all are counted


class BotPlayer:
    """A player that runs a bot's program. Use it as a context manager, or call `close`.

    It may sit at several tables at the same time, each played by a thread: it opens as many sandbox sessions as there
    are moves at the same time. A copy of it in another process opens its own sessions.

    Args:
        program: the bot.
        limits: of one move.
        sandboxed: False runs the bot with resource limits only.
        cold: exec mode: start the program anew for every move, even if it has a fork server.
        strikes: the number of faults after which the bot is no longer run and only stands; None: no limit.
        name: the player's name; by default the program's.

    Attributes:
        never_ready: the reply to `hello` of a line bot that can never be ready, in any match; else None.
        faults: kind of fault (a key of `protocol.FAULTS`) -> number.
        kept_faults: the first faults of each kind, `MAX_REPORTED_FAULTS` at most.
    """

    def __init__(
        self, program: Program, limits: Limits, *, sandboxed: bool, cold: bool = False, strikes: int | None = None,
        name: str = "",
    ) -> None:  # fmt: skip
        self.name = name or program.name
        self.program, self.strikes, self.timeout = program, strikes, limits.timeout
        self.faults: Counter[str] = Counter()
        self.kept_faults: list[Fault] = []
        self._nanoseconds = array("q")
        self._closed = False
        self.never_ready: Reply | None = None
        resident = program.protocol == "line"
        self._open = partial(
            SandboxSession, program, replace(limits, errors=LOG_LIMIT) if resident else limits, sandboxed=sandboxed,
            cold=cold, resident=resident,
        )  # fmt: skip
        self._copy = partial(BotPlayer, program, limits, sandboxed=sandboxed, cold=cold, strikes=strikes, name=name)
        self._forget_sessions()

    def __reduce__(self) -> tuple[Callable[[], BotPlayer], tuple[()]]:
        return self._copy, ()

    @property
    def out(self) -> bool:
        """Whether the bot has used up its strikes."""
        return self.strikes is not None and self.faults.total() >= self.strikes

    def decide(self, view: View) -> Action:
        """The bot's move, which is always legal: a faulty one becomes a stand.

        Raises:
            SandboxClosed: `close` was called, perhaps meanwhile.
        """
        return self.play(view)

    def play(self, view: View, line_seat: LineSeat | None = None) -> Action:
        """As `decide`, in a match of the line protocol if `line_seat` is given."""
        if self.out or (view.legal == INSURANCE and not line_seat):  # five arguments cannot ask, so a program declines
            return STAND
        seat = self._seat(view.seat)
        moves = seat.count(view)
        reply = line_seat.ask(view) if line_seat else self.ask(view)
        move = classify_reply(reply, view)
        fault = move if isinstance(move, Fault) else None
        action = STAND if isinstance(move, Fault) else move
        if not fault and moves >= view.rules.move_cap and not ends_hand(action):
            argv = tuple(make_argv(view))
            fault = Fault("move-cap", f"{moves} moves with one hand", argv, reply.stdout, reply.stderr)
        if fault:
            self._count(fault)
        if fault and line_seat:
            line_seat.report_fault(fault.kind, self.strikes and self.strikes - self.faults.total())
        seat.last = view, action
        return action

    def ask(self, view: View) -> Reply:
        """Run the bot once for this view, without counting faults. Raises: SandboxClosed, as `decide`.

        A line bot is asked in a match of its own, in which it has seen nothing.
        """
        if self.program.protocol != "line":
            return self.run(make_argv(view))
        seat = self.join(Transcript(view.rules), view.seat, view.rules.seats)
        try:
            return seat.ask(view)
        finally:
            seat.leave()

    def run(self, arguments: Sequence[str]) -> Reply:
        """Run the bot once with these arguments. Raises: SandboxClosed, as `decide`."""
        try:
            session = self.take()
        except (SandboxError, BuildError) as error:
            return Reply("start", 0, 0, b"", str(error).encode())
        self.note_time(reply := session.ask(arguments))
        self.give_back(session)
        return reply

    def join(
        self, transcript: Transcript, chair: int, chairs: int, rounds: int | None = None, resumed: bool = False
    ) -> LineSeat:
        """Take a seat for a match, in the line protocol. The arguments are those of `LineSeat`.

        A move may take a tenth of the time limit, and all moves of a match together the whole of it more.
        """
        return LineSeat(self, transcript, chair, chairs, rounds, Clock.within(self.timeout), resumed)

    def note_time(self, reply: Reply) -> None:
        """Include the time of this reply in the statistics."""
        if reply.cause != "start":
            with self._lock:
                self._nanoseconds.append(reply.elapsed_ns)

    def give_back(self, session: SandboxSession) -> None:
        """Let others use the session."""
        with self._lock:
            self._idle.append(session)

    def ms_per_move(self) -> dict[str, float | None]:
        """`median` and `p99` (99th percentile) of the time per move in milliseconds; None before the first move."""
        times = sorted(self._nanoseconds)
        return {"median": _quantile_ms(times, 0.5), "p99": _quantile_ms(times, 0.99)}

    def first_faults(self) -> list[Fault]:
        """The first fault of each kind, in the order of their occurrence."""
        first: dict[str, Fault] = {}
        for fault in self.kept_faults:
            first.setdefault(fault.kind, fault)
        return list(first.values())

    def open(self) -> None:
        """Open a sandbox session now, rather than with the first move. Raises: BuildError, SandboxError."""
        self.give_back(self.take())

    def __deepcopy__(self, memo: object) -> BotPlayer | LinePlayer:
        """A player for a block of rounds: itself, as a bot keeps no state between moves, unless it is a line bot."""
        return LinePlayer(self.name, self.join, self.play) if self.program.protocol == "line" else self

    def close(self) -> None:
        """End the bot, including moves in progress in other threads. Its statistics remain."""
        with self._lock:
            self._closed = True
            idle = list(self._idle)
        for session in idle if os.getpid() == self._process else ():
            say_bye(session)
        for session in self._sessions if os.getpid() == self._process else ():
            session.close()

    def __enter__(self) -> BotPlayer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _forget_sessions(self) -> None:
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._sessions: list[SandboxSession] = []
        self._idle: list[SandboxSession] = []
        self._threads = threading.local()

    def take(self) -> SandboxSession:
        """An idle session on this thread's cores, or a new one. Raises: BuildError, SandboxClosed, SandboxError."""
        if os.getpid() != self._process:
            self._forget_sessions()  # forked: the sessions belong to the parent process
        cores = os.sched_getaffinity(0)
        with self._lock:
            fitting = [session for session in self._idle if session.cores >= cores]
            idle = min(fitting, key=lambda session: len(session.cores), default=None)
            if idle:
                self._idle.remove(idle)
        if idle and idle.cores == cores:
            return idle
        if idle:  # opened by a thread that used more cores, before threads were pinned
            idle.close()
        if not self._closed:
            session = self._open()
            with self._lock:
                self._sessions.append(session)
                if not self._closed:
                    return session
            session.close()
        raise SandboxClosed(f"{self.name} was closed")

    def _seat(self, number: int) -> SeatHistory:
        """The memory of this seat at the table that this thread plays."""
        seats: dict[str, SeatHistory] = self._threads.__dict__
        return seats.setdefault(str(number), SeatHistory())

    def _count(self, fault: Fault) -> None:
        with self._lock:
            self.faults[fault.kind] += 1
            if self.faults[fault.kind] <= MAX_REPORTED_FAULTS:
                self.kept_faults.append(fault)


class UnstartableBot:
    """Takes the seat of a program that cannot be started: it stands, and every reply is a start failure.

    Args:
        name: the player's name.
        error: why the program cannot be started.
    """

    def __init__(self, name: str, error: BuildError) -> None:
        self.name, self.error = name, error
        self.reply = Reply("start", 0, 0, b"", f"{error}\n{error.log}".strip().encode())

    def ask(self, view: View) -> Reply:
        """The reply to every view: a start failure."""
        return self.reply

    def decide(self, view: View) -> Action:
        return STAND


@dataclass
class SeatHistory:
    """The last move at one seat, and the number of moves with the current hand."""

    last: tuple[View, Action] | None = None
    moves: int = 0

    def count(self, view: View) -> int:
        """Count a move; returns its number within the hand. The start of a new hand is inferred from the view."""
        self.moves = self.moves + 1 if self._follows(view) else 1
        return self.moves

    def _follows(self, view: View) -> bool:
        if self.last is None or self.moves >= view.rules.move_cap:
            return False
        last, move = self.last
        if move.letter == "H":
            return view.hand[:-1] == last.hand
        return move.letter == "B" and (view.hand, view.stake) == (last.hand, last.stake + move.amount)


def open_bot(
    bot: str | Path | BotSource,
    *,
    sandbox: str = "auto",
    timeout: float = Limits.timeout,
    cold: bool = False,
    strikes: int | None = None,
    name: str = "",
) -> BotPlayer:
    """Compile a bot if necessary, and open it, ready to play under any rules.

    Args:
        bot: the bot, or its file or folder.
        sandbox: `required`, `auto` or `off`; see `bjsim.bots.sandbox.session.sandboxed`.
        timeout: seconds of wall time, and as many of processor time, for one move.
        cold: exec mode: start the program anew for every move, even if it has a fork server.
        strikes: the number of faults after which the bot is no longer run and only stands; None: no limit.
        name: the player's name; by default the file's, without its ending.

    Raises:
        BuildError: the bot cannot be compiled or loaded; `log` has the compiler's messages.
        SandboxError: the sandbox is required and not available, or cannot be opened.
        ValueError: `sandbox` is unknown.
    """
    in_sandbox = sandboxed(sandbox)
    program = build(bot, sandboxed=in_sandbox)
    player = BotPlayer(program, Limits(timeout=timeout), sandboxed=in_sandbox, cold=cold, strikes=strikes, name=name)
    player.open()
    return player


def _quantile_ms(sorted_ns: Sequence[int], share: float) -> float | None:
    """The smallest time that is at least as long as `share` of all times."""
    return sorted_ns[math.ceil(share * len(sorted_ns)) - 1] / 1e6 if sorted_ns else None


__all__ = ["BotPlayer", "BuildError", "Fault", "SandboxError", "open_bot"]
