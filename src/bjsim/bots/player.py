"""A bot as a `Player`. Every fault of the bot makes it stand, and is counted and kept for its author."""

from __future__ import annotations

import math
import os
import threading
from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from bjsim.bots.line import LOG_LIMIT, Clock, Transcript
from bjsim.bots.protocol import Fault, Reply, make_argv
from bjsim.bots.resident import LineSeat, say_bye
from bjsim.bots.sandbox.build import build
from bjsim.bots.sandbox.folders import BotSource
from bjsim.bots.sandbox.languages import BuildError, Program
from bjsim.bots.sandbox.session import Limits, SandboxClosed, SandboxError, SandboxSession, choose_box
from bjsim.bots.turn import Strikes, Turn
from bjsim.sim.game.actions import Action, View
from bjsim.sim.game.events import Event, HandEnded, InsuranceSettled, Settled
from bjsim.sim.game.rules import Rules
from bjsim.sim.running.table import Need


class BotPlayer:
    """A player that runs a bot's program. Use it as a context manager, or call `close`.

    It may sit at several tables at the same time, each played by a thread: it opens as many sandbox sessions as
    there are moves at the same time. A copy of it in another process opens its own sessions. After `strikes`
    faults (None: no limit) the bot is no longer run and only stands. `cold` starts it afresh for each move, even
    with a fork server. `box` is the kind of its box, of `sandbox.restrictions`.

    Attributes:
        never_ready: the reply to every question if the bot can never be started, or never be ready; else None.
        faults: kind of fault (a key of `protocol.FAULTS`) -> number.
        kept_faults: the first faults of each kind, `MAX_REPORTED_FAULTS` at most.
    """

    needs = Need.DECISIONS | Need.PROGRAMS

    def __init__(
        self,
        program: Program,
        limits: Limits,
        *,
        box: str,
        cold: bool = False,
        strikes: int | None = None,
        name: str = "",
    ) -> None:
        self.name = name or program.name
        self.program, self.protocol, self.timeout = program, program.protocol, limits.timeout
        self.strikes = Strikes(strikes)
        self.faults, self.kept_faults = self.strikes.faults, self.strikes.kept
        self._nanoseconds = array("q")
        self._closed = False
        self.never_ready: Reply | None = None
        resident = self.protocol == "line"
        self._open = partial(
            SandboxSession,
            program,
            replace(limits, errors=LOG_LIMIT) if resident else limits,
            box=box,
            cold=cold,
            resident=resident,
        )
        self._copy = partial(BotPlayer, program, limits, box=box, cold=cold, strikes=strikes, name=name)
        self._forget_sessions()

    def __reduce__(self) -> tuple[Callable[[], BotPlayer], tuple[()]]:
        return self._copy, ()

    def decide(self, view: View) -> Action:
        """The bot's move, always legal: a faulty one becomes a stand. `close` makes it raise SandboxClosed."""
        return Turn(self, None, self.strikes).take(view).action

    @contextmanager
    def take_seat(self, rules: Rules, seat: int, seats: int) -> Iterator[SeatedBot]:
        """Take a seat at a table of `bjsim run` for a block of rounds, which is a match to a line bot."""
        line = self.join(Transcript(rules), seat, seats) if self.protocol == "line" else None
        try:
            yield SeatedBot(self, line, seat, seats)
        finally:
            if line:
                with suppress(SandboxClosed):
                    line.leave()

    def ask(self, view: View) -> Reply:
        """Run the bot once for this view, without counting faults; a line bot in a match of its own."""
        if self.never_ready:
            return self.never_ready
        if self.protocol != "line":
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
        if reply.cause != "start":
            with self._lock:
                self._nanoseconds.append(reply.elapsed_ns)

    def give_back(self, session: SandboxSession) -> None:
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

    def __deepcopy__(self, memo: object) -> BotPlayer:
        return self  # it keeps no state between moves

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


class SeatedBot:
    """A bot at a table of `bjsim run`, for one block of rounds; `line` is the seat of a line bot in a match."""

    def __init__(self, bot: BotPlayer, line: LineSeat | None, seat: int, seats: int) -> None:
        self.name, self._seat, self._seats, self._turn = bot.name, seat, seats, Turn(bot, line, bot.strikes)
        self._events: list[Event] = []  # of the round

    def decide(self, view: View) -> Action:
        return self._turn.take(view).action

    def observe(self, event: Event) -> None:
        """Keep an event for a line bot, and notice the end of a hand at the move cap."""
        line, paid = self._turn.line, (Settled, InsuranceSettled)
        if not self._events or (isinstance(self._events[-1], paid) and not isinstance(event, paid)):
            self._events = []
            if line:
                rules = line.transcript.rules
                line.transcript.begin_round(range(self._seats), [rules.chips] * self._seats, self._events)
        self._events.append(event)
        if isinstance(event, HandEnded) and (event.seat, event.ending) == (self._seat, "move-cap"):
            self._turn.exceed_move_cap()


def unstartable(name: str, error: BuildError) -> BotPlayer:
    """A bot in place of a program that cannot be started: every reply is a start failure."""
    player = BotPlayer(Program(name, "executable", {}, ()), Limits(), box="")
    player.never_ready = Reply("start", 0, 0, b"", f"{error}\n{error.log}".strip().encode())
    return player


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

    `sandbox` is as for `choose_box`, the other arguments as for `BotPlayer`; `timeout` is in seconds of wall time,
    and as many of processor time, for one move. The `log` of a BuildError has the compiler's messages.
    """
    box = choose_box(sandbox)
    program = build(bot, box=box)
    player = BotPlayer(program, Limits(timeout=timeout), box=box, cold=cold, strikes=strikes, name=name)
    player.open()
    return player


def _quantile_ms(sorted_ns: Sequence[int], share: float) -> float | None:
    """The smallest time that is at least as long as `share` of all times."""
    return sorted_ns[math.ceil(share * len(sorted_ns)) - 1] / 1e6 if sorted_ns else None


__all__ = ["BotPlayer", "BuildError", "Fault", "SandboxError", "open_bot"]
