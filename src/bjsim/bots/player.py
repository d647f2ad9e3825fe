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

from bjsim.bots import line
from bjsim.bots.line import LOG_LIMIT, Clock, Transcript
from bjsim.bots.protocol import UNFLUSHED, Reply, ending, make_argv
from bjsim.bots.sandbox.build import build
from bjsim.bots.sandbox.folders import BotSource
from bjsim.bots.sandbox.languages import BuildError, Program
from bjsim.bots.sandbox.session import Limits, SandboxClosed, SandboxError, SandboxSession, choose_box
from bjsim.bots.turn import Strikes, Turn
from bjsim.sim.game.actions import Action, View
from bjsim.sim.game.events import Event, HandEnded, InsuranceSettled, Settled
from bjsim.sim.game.rules import Rules
from bjsim.sim.running.table import Need

# --- A line bot at one seat for one match: its process, the lines sent to it, and its clock.


class LineSeat:
    """A seat of a line bot. Its process starts with the first question, and is replaced after it has failed.

    A new process receives all events that the seat has seen in the match, so a bot that builds its state from
    events loses nothing. A bot that is not ready in time is not started again in this match, as loading may take
    long. `chair` is the bot's seat number of `chairs`; `rounds` is None if unknown.
    """

    def __init__(
        self, sessions: BotPlayer, transcript: Transcript, chair: int, chairs: int, rounds: int | None
    ) -> None:
        self.sessions, self.transcript, self.chair = sessions, transcript, chair
        self.chairs, self.rounds, self.clock = chairs, rounds, Clock.within(sessions.timeout)
        self._replaced = False  # whether another process has played before in the match
        self.bank = float(self.clock.bank)  # milliseconds left
        self._failed = sessions.never_ready
        self.log = self._failed.stderr[:LOG_LIMIT] if self._failed else b""  # what the bot wrote to stderr
        self.stays = False  # whether its process lives on after the match, and plays the next one of its session
        self.ready_ms: float | None = None  # that its last process took to be ready; None if there was none
        self.ready: dict[str, str] = {}  # what it said of itself then, such as its `name` and `version`
        self.trace: Callable[[str], None] | None = None  # called with every line sent ("> ") and every answer ("< ")
        self.dress: Callable[[str], list[str]] | None = None  # makes the lines to send of each; a check adds some
        self.lines = line.SeatLines(transcript, chair)
        self._session: SandboxSession | None = None
        self._alive = False

    def ask(self, view: View) -> Reply:
        """The answer to `move`: a line in `stdout`; other causes than `exit` are faults. Raises: SandboxClosed."""
        self.lines.update()
        for _ in range(2):  # the second time if the machine ended the session
            if not self._alive and (failure := self.start()):
                return failure
            assert self._session
            reply = self._exchange(self._session, self.lines.ask(view, int(self.bank)), self.clock.move + self.bank)
            self._keep_log(reply)
            self.sessions.note_time(reply)
            if reply.cause == "exit":
                self.bank -= min(self.bank, max(0.0, reply.elapsed_ns / 1e6 - self.clock.move))
                return reply
            self.replace_process()
            if reply.cause in ("timeout", "cpu"):
                self.bank = 0.0
                reply = replace(reply, detail=_unflushed(reply))
            if reply.cause != "lost":
                return reply
        return Reply("start", 0, 0, b"", b"its sandbox session does not stay open")

    def replace_process(self) -> None:
        self._alive, self._replaced = False, True

    def leave(self, chips: int | None = None) -> bool | None:
        """End the match for the bot; return whether its process ended by itself, or None if it was not told to."""
        ended = None
        if self._session and self._alive:
            self.lines.update()
            last = [*self.lines.unsent, *([] if chips is None else [f"over {chips}"])]
            if self.stays:
                self._session.waiting = last
            else:
                reply = self._session.finish(self._bytes([*last, line.BYE]))
                self._keep_log(reply)
                ended = reply.cause == "exit"
        if self._session:
            self.sessions.give_back(self._session)
        self._session, self._alive = None, False
        return ended

    def start(self) -> Reply | None:
        """Start a process; returns the reply to give if it does not get ready. Raises: SandboxClosed."""
        if self._failed:
            return self._failed
        try:
            self._session = self._session or self.sessions.take()
        except (SandboxError, BuildError) as error:
            return Reply("start", 0, 0, b"", str(error).encode())
        begin = line.match_line(self.chairs, self.chair, self.transcript.rules.chips, self.rounds, self._replaced)
        if self.stays and (waiting := self._session.waiting) is not None:
            self._session.waiting, self._alive = None, True
            self.lines.unsent = [*waiting, begin, *self.lines.all]
            return None
        clock = replace(self.clock, bank=int(self.bank))
        reply = self._exchange(self._session, [line.hello_line(clock)], clock.load, anew=True)
        self._keep_log(reply)
        if reply.cause == "start":
            return reply
        ready = line.parse_ready(reply.stdout) if reply.cause == "exit" else None
        if ready is None:
            self._failed = replace(reply, cause="not-ready", detail=_why_not_ready(reply))
            if UNFLUSHED in self._failed.detail:  # it costs the longest wait of all, so once is enough
                self.sessions.never_ready = self._failed
            return self._failed
        self.ready_ms, self.ready = reply.elapsed_ns / 1e6, ready
        self.lines.unsent = [line.rules_line(self.transcript.rules), begin, *self.lines.all]
        self._alive = True
        return None

    def _exchange(self, session: SandboxSession, lines: list[str], ms: float, anew: bool = False) -> Reply:
        """Send lines, the last of which is a question; returns the reply."""
        reply = session.exchange(self._bytes(lines), ms / 1000, anew=anew)
        if self.trace and reply.cause == "exit":
            self.trace(f"< {reply.stdout.decode('ascii', 'replace')}")
        return reply

    def _bytes(self, lines: list[str]) -> bytes:
        if self.dress:
            lines = [text for plain in lines for text in self.dress(plain)]
        if self.trace:
            for text in lines:
                self.trace(f"> {text}")
        return line.as_bytes(lines)

    def _keep_log(self, reply: Reply) -> None:
        self.log = (self.log + reply.stderr)[:LOG_LIMIT]


def _unflushed(reply: Reply) -> str:
    """What the output says that a bot held back until its input was ended, because its time was up."""
    if b"\n" in reply.stdout:
        return UNFLUSHED
    return "its answer has no line end" if reply.stdout else ""


def _why_not_ready(reply: Reply) -> str:
    match reply.cause:
        case "exit":
            return (
                f"answered hello with {reply.stdout[:40].decode('ascii', 'replace')!r}, not with: ready {line.VERSION}"
            )
        case "ended":
            return f"{ending(reply.status)} before it was ready"
        case "timeout" | "cpu":
            return "did not answer hello in time; " + (_unflushed(reply) or "does it flush after each line?")
        case "memory":
            return "used too much memory or too many processes before it was ready"
    return "wrote more than a line in answer to hello"


class BotPlayer:
    """A player that runs a bot's program. Use it as a context manager, or call `close`.

    It may sit at several tables at the same time, each played by a thread: it opens as many sandbox sessions as
    there are moves at the same time. A copy of it in another process opens its own sessions. After `strikes`
    faults (None: no limit) the bot is no longer run and only stands. `cold` starts it afresh for each move, even
    with a fork server. `box` is the kind of its box, of `sandbox.restrictions`.
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
        self.faults, self.first_faults = self.strikes.faults, self.strikes.first
        self._nanoseconds = array("q")
        self._closed = False
        # the reply to every question if the bot can never be started, or never be ready
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

    def join(self, transcript: Transcript, chair: int, chairs: int, rounds: int | None = None) -> LineSeat:
        """Take a seat for a match, in the line protocol. The arguments are those of `LineSeat`.

        A move may take a tenth of the time limit, and all moves of a match together the whole of it more.
        """
        return LineSeat(self, transcript, chair, chairs, rounds)

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

    def __deepcopy__(self, memo: object) -> BotPlayer:
        return self  # it keeps no state between moves

    def close(self) -> None:
        """End the bot, including moves in progress in other threads. Its statistics remain."""
        with self._lock:
            self._closed = True
            idle = list(self._idle)
        for session in idle if os.getpid() == self._process else ():
            if session.waiting is not None:  # a process for its next match
                with suppress(SandboxClosed):
                    session.finish(line.as_bytes([*session.waiting, line.BYE]))
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
        self.name, self._line, self._turn = bot.name, line, Turn(bot, line, bot.strikes)
        self._seat, self._seats = seat, seats
        self._events: list[Event] = []  # of the round

    def decide(self, view: View) -> Action:
        return self._turn.take(view).action

    def observe(self, event: Event) -> None:
        """Keep an event for a line bot, and notice the end of a hand at the move cap."""
        line, paid = self._line, (Settled, InsuranceSettled)
        if not self._events or (isinstance(self._events[-1], paid) and not isinstance(event, paid)):
            self._events = []
            if line:
                rules = line.transcript.rules
                line.transcript.begin_round(range(self._seats), [rules.chips] * self._seats, self._events)
        self._events.append(event)
        if isinstance(event, HandEnded) and (event.seat, event.ending) == (self._seat, "move-cap"):
            self._turn.exceed_move_cap()


def unstartable(name: str, error: BuildError, protocol: str = "argv") -> BotPlayer:
    """A bot in place of a program that cannot be started: every reply is a start failure."""
    player = BotPlayer(Program(name, "executable", {}, (), protocol=protocol), Limits(), box="")
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
    player.give_back(player.take())  # so that errors come now, not with the first move
    return player


def _quantile_ms(sorted_ns: Sequence[int], share: float) -> float | None:
    """The smallest time that is at least as long as `share` of all times."""
    return sorted_ns[math.ceil(share * len(sorted_ns)) - 1] / 1e6 if sorted_ns else None
