"""A line bot at one seat for one match: its process, the lines sent to it, and its clock."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Protocol

from bjsim.bots import line
from bjsim.bots.line import Clock, Transcript
from bjsim.bots.protocol import UNFLUSHED, Reply, ending
from bjsim.bots.sandbox.languages import BuildError
from bjsim.bots.sandbox.session import SandboxClosed, SandboxError, SandboxSession
from bjsim.sim.game.actions import View


class Sessions(Protocol):
    """Where a seat gets a sandbox session of its bot, and returns it."""

    never_ready: Reply | None  # the reply to `hello` of a bot that can never be ready, in any match

    def take(self) -> SandboxSession:
        """A session that is not in use. Raises: BuildError, SandboxClosed, SandboxError."""
        ...

    def give_back(self, session: SandboxSession) -> None: ...

    def note_time(self, reply: Reply) -> None: ...


class LineSeat:
    """A seat of a line bot. Its process starts with the first question, and is replaced after it has failed.

    A new process receives all events that the seat has seen in the match, so a bot that builds its state from
    events loses nothing. A bot that is not ready in time is not started again in this match, as loading may take
    long. `chair` is the bot's seat number of `chairs`; `rounds` is None if unknown; `resumed` says whether rounds
    of the match were played earlier, by another process.

    Attributes:
        bank: Milliseconds left.
        log: What the bot wrote to stderr, LOG_LIMIT bytes at most.
        stays: Whether its process lives on after the match, and plays the next one in which its session is used.
        ready_ms: Milliseconds that its last process took to be ready; None if there was none.
        ready: What it said of itself then, such as its `name` and `version`.
        trace: Called with every line that the bot is sent, after "> ", and answers, after "< "; None to call
            nothing.
        dress: Makes the lines to send of each line; None for the line alone. A check of the bot adds lines and
            keys.
    """

    def __init__(
        self,
        sessions: Sessions,
        transcript: Transcript,
        chair: int,
        chairs: int,
        rounds: int | None = None,
        clock: Clock | None = None,
        resumed: bool = False,
    ) -> None:
        self.sessions, self.transcript, self.chair = sessions, transcript, chair
        self.chairs, self.rounds, self.clock, self.resumed = chairs, rounds, clock or Clock(), resumed
        self.bank = float(self.clock.bank)
        self.log = b""
        self.stays = False
        self.ready_ms: float | None = None
        self.ready: dict[str, str] = {}
        self.trace: Callable[[str], None] | None = None
        self.dress: Callable[[str], list[str]] | None = None
        self._lines: list[str] = []  # of the transcript, and those for this seat alone
        self._copied = 0  # lines of the transcript among them
        self._unsent: list[str] = []
        self._session: SandboxSession | None = None
        self._alive = False
        self._failed = sessions.never_ready

    def ask(self, view: View) -> Reply:
        """The answer to `move`: a line in `stdout`; other causes than `exit` are faults. Raises: SandboxClosed."""
        self._copy_lines()
        for _ in range(2):  # the second time if the machine ended the session
            if not self._alive and (failure := self._begin()):
                return failure
            assert self._session
            question = line.move_line(view, self.transcript.hand_in_play(self.chair), int(self.bank))
            lines, self._unsent = [*self._unsent, question], []
            reply = self._exchange(self._session, lines, self.clock.move + self.bank)
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

    def start(self) -> Reply | None:
        """Start a process before the first question; returns a reply if it is not ready. Raises: SandboxClosed."""
        return self._begin()

    def report_fault(self, kind: str, strikes: int | None) -> None:
        """Notify the bot of its fault, with the next question. strikes: how many it has left."""
        self._copy_lines()
        self._add([line.fault_line(kind, strikes)])

    def replace_process(self) -> None:
        """Let a new process take over with the next question."""
        self._alive, self.resumed = False, True

    def leave(self, chips: int | None = None) -> bool:
        """End the match for the bot; return whether its process ended by itself."""
        ended = False
        if self._session and self._alive:
            self._copy_lines()
            last = [*self._unsent, *([] if chips is None else [line.over_line(chips)])]
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

    def _begin(self) -> Reply | None:
        """Start a process; returns the reply to give if it does not get ready."""
        if self._failed:
            return self._failed
        try:
            self._session = self._session or self.sessions.take()
        except (SandboxError, BuildError) as error:
            return Reply("start", 0, 0, b"", str(error).encode())
        begin = line.match_line(self.chairs, self.chair, self.transcript.rules.chips, self.rounds, self.resumed)
        if self.stays and (waiting := self._session.waiting) is not None:
            self._session.waiting, self._alive = None, True
            self._unsent = [*waiting, begin, *self._lines]
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
        self._unsent = [line.rules_line(self.transcript.rules), begin, *self._lines]
        self._alive = True
        return None

    def _exchange(self, session: SandboxSession, lines: list[str], ms: float, anew: bool = False) -> Reply:
        """Send lines, the last of which is a question; returns the reply."""
        reply = session.exchange(self._bytes(lines), ms / 1000, anew=anew)
        if self.trace and reply.cause == "exit":
            self.trace(f"< {reply.stdout.decode('ascii', 'replace')}")
        return reply

    def _copy_lines(self) -> None:
        self.transcript.update()
        self._add(self.transcript.lines[self._copied :])
        self._copied = len(self.transcript.lines)

    def _add(self, lines: list[str]) -> None:
        self._lines += lines
        if self._alive:
            self._unsent += lines

    def _bytes(self, lines: list[str]) -> bytes:
        if self.dress:
            lines = [text for plain in lines for text in self.dress(plain)]
        if self.trace:
            for text in lines:
                self.trace(f"> {text}")
        return line.as_bytes(lines)

    def _keep_log(self, reply: Reply) -> None:
        if len(self.log) < line.LOG_LIMIT:
            self.log = (self.log + reply.stderr)[: line.LOG_LIMIT]


def say_bye(session: SandboxSession) -> None:
    """End the process that waits for its next match in this session, if there is one."""
    if session.waiting is not None:
        with suppress(SandboxClosed):
            session.finish(line.as_bytes([*session.waiting, line.BYE]))


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
            return "used too much memory before it was ready"
    return "wrote more than a line in answer to hello"
