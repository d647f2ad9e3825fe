"""The runner: the first process in a bot's sandbox. It starts the bot once per move and reports the result.

Protocol: stdin carries frames, each a length (`LENGTH`) and then the move's arguments joined by NUL. stdout carries
replies, each a `HEADER` and then the bot's stdout and stderr. The first reply is sent before any frame arrives, and
reports whether the bot could be made ready.

A resident bot lives for many frames: each is an `ASK`, and then text for the bot's stdin. It is frozen between them.

The bot is started in one of two modes. In exec mode the program is executed for every move. In fork mode a fork server,
which has the program loaded, forks a process for every move and reports how it ended (`fork_server.py` for Python,
`fork_server.c` for C and C++).
"""

# This is one file, although it is long, because the sandbox holds nothing else of bjsim: the file is copied into it and
# run by `python -I -S`, which need not be the interpreter of bjsim. So it imports only the standard library.

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import re
import resource
import select
import signal
import struct
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

LENGTH = struct.Struct("<I")  # of the frame that follows
HEADER = struct.Struct("<BiQII")  # cause, status, elapsed nanoseconds, length of stdout, length of stderr
ASK = struct.Struct("<BQ")  # what to do, nanoseconds for the answer
BEGIN, ANSWER, FINISH = range(3)  # start a new process and await its first line; await a line; end the process
STATUS = struct.Struct("=i")  # message of a fork server: the wait status of the move's process
CAUSES = ("exit", "timeout", "cpu", "memory", "flood", "start", "orphan", "ended", "chatter")  # why the move ended
EXIT, TIMEOUT, CPU, MEMORY, FLOOD, START, ORPHAN, ENDED, CHATTER = range(len(CAUSES))

TICK_MS = 10  # interval at which a running move is checked against its limits
PAUSE_S = 1.0  # a tick longer than this means that the machine was suspended; it does not count as the bot's time
LEFT_S = 0.25  # grace for the bot's other processes to end after its first one; counts as the bot's time
READY_S = 20.0  # for a fork server to load the program
CHUNK = 16384  # bytes read at once
PIPE = 1 << 20  # bytes, the largest capacity of a pipe
SET_PIPE_SIZE = 1031  # fcntl command F_SETPIPE_SZ, which old interpreters do not name
RESIDENT = b"line"  # the only argument of a resident bot, so that one program can know both protocols
ABOVE = 50  # descriptors from here to the limit (64) are unused
PREFORKED = 2  # pre-forked children of a fork server, if it may use that many cores
SERVER_TICKS = 25  # upper limit on a fork server's processor time for one move, in hundredths of a second
SERVER_PAGES = 8192  # upper limit on the growth of a fork server's memory after it was ready
HELD = re.compile(rb"^Vm(?:RSS|PTE|Swap):\s+(\d+) kB", re.M)  # page tables count too
IGNORED = (signal.SIGINT, signal.SIGPIPE, signal.SIGXFSZ)  # by the runner, not by the bot

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER = 1, 4, 36


class StartError(Exception):
    """The program could not be started. The message is for the bot's author."""


class Output:
    """One output stream of the bot: a pipe, and what was read from it in this move.

    Attributes:
        data: the first `limit` bytes.
        total: the number of bytes read.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.read_end, self.write_end = os.pipe()
        os.set_blocking(self.read_end, False)
        if limit > CHUNK:
            with suppress(OSError):  # only slower with a small pipe
                fcntl.fcntl(self.write_end, SET_PIPE_SIZE, PIPE)
        self.poller = make_poller(self.read_end)
        self.data, self.total = b"", 0

    def drain(self) -> None:
        """Read what is in the pipe now, without waiting."""
        for _ in range(PIPE // CHUNK):  # bounded: a bot may fill the pipe as fast as it is read
            if not self.poller.poll(0):
                return
            try:
                chunk = os.read(self.read_end, CHUNK)
            except BlockingIOError:  # the bot was faster; the poll saves this exception in other cases, as it is slow
                return
            self.total += len(chunk)
            self.data += chunk[: self.limit - len(self.data)]
            if len(chunk) < CHUNK:
                return

    def clear(self) -> None:
        """Discard what was read."""
        self.data, self.total = b"", 0


class Input:
    """The stdin of a resident bot: one pipe, which a fork server can pass on, opened anew for every process.

    It has a single page, so that it can be written to when it is empty, and only then.
    """

    def __init__(self) -> None:
        self.read_end, self.write_end = os.pipe()
        fcntl.fcntl(self.write_end, SET_PIPE_SIZE, 1)  # rounded up to a page

    def open(self) -> None:
        """Discard what the last process left unread."""
        self.close()
        os.set_blocking(self.read_end, False)
        with suppress(BlockingIOError):
            while os.read(self.read_end, CHUNK):
                pass
        os.set_blocking(self.read_end, True)
        self.write_end = os.open(f"/proc/self/fd/{self.read_end}", os.O_WRONLY | os.O_NONBLOCK)

    def write(self, text: bytes) -> bytes:
        """Write without waiting; returns the rest, which does not fit yet."""
        try:
            return text[os.write(self.write_end, text) :]
        except BlockingIOError:
            return text

    def close(self) -> None:
        """Let the bot read the end of its input."""
        if self.write_end >= 0:
            os.close(self.write_end)
            self.write_end = -1


class ExecStarter:
    """Exec mode: executes the program for every move.

    residents: the pid of the fork server, as the kernel lists it; empty in this mode.
    """

    residents = b""

    def __init__(self, command: Sequence[str], out: Output, err: Output, stdin: Input | None) -> None:
        self.command = command
        self.actions: list[tuple[Any, ...]] = [
            (os.POSIX_SPAWN_DUP2, stdin.read_end, 0) if stdin else (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_DUP2, out.write_end, 1),
            (os.POSIX_SPAWN_DUP2, err.write_end, 2),
        ]
        self.pid = self.descriptor = -1

    @property
    def end_signal(self) -> int:
        """A descriptor that becomes readable when the process ends."""
        return self.descriptor

    def start(self) -> None:
        """Close the descriptor of a move that was killed."""
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1

    def begin(self, frame: bytes) -> select.poll:
        """Start the move; returns a poller for its end. Raises: OSError."""
        words = [*self.command, *os.fsdecode(frame).split("\0")]
        self.pid = os.posix_spawn(words[0], words, os.environ, file_actions=self.actions, setsigdef=IGNORED)
        self.descriptor = os.pidfd_open(self.pid)
        return make_poller(self.descriptor)

    def end(self) -> int:
        """The wait status of the move's process."""
        self.start()
        return os.waitpid(self.pid, 0)[1]

    def unchanged(self) -> bool:
        """Always true, because there is no fork server."""
        return True


class ForkStarter:
    """Fork mode: a fork server forks a process for every move. It reads from descriptor 3 and writes to 4."""

    residents = b""

    def __init__(self, command: Sequence[str], out: Output, err: Output, stdin: Input | None) -> None:
        self.command, self.out, self.err, self.stdin = command, out, err, stdin
        self.requests = self.statuses = self.stat = self.forked = -1
        self.preforked = 1 if stdin else min(PREFORKED, len(os.sched_getaffinity(0)))

    @property
    def end_signal(self) -> int:
        """As in exec mode."""
        return self.statuses

    def start(self) -> None:
        """Start the fork server, or restart it. Raises: StartError with its message."""
        for descriptor in {self.requests, self.statuses, self.stat, self.forked} - {-1}:
            os.close(descriptor)
        self.stat = self.forked = -1
        request_end, self.requests = os.pipe()
        self.statuses, status_end = os.pipe()
        self.ended = make_poller(self.statuses)
        ends = {self.out.write_end: 1, self.err.write_end: 2, request_end: 3, status_end: 4}
        if self.stdin:
            ends[self.stdin.read_end] = 0
        # Copied above all targets first, so that no target overwrites an end that is still to be copied.
        actions: list[tuple[Any, ...]] = [(os.POSIX_SPAWN_DUP2, end, ABOVE + to) for end, to in ends.items()]
        if not self.stdin:
            actions += [(os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0)]
        actions += [(os.POSIX_SPAWN_DUP2, ABOVE + to, to) for to in ends.values()]
        actions += [(os.POSIX_SPAWN_CLOSE, ABOVE + to) for to in ends.values()]
        settings = {**os.environ, "BJSIM_PREFORKED": str(self.preforked)}
        command = list(self.command)
        try:
            pid = os.posix_spawn(command[0], command, settings, file_actions=actions, setsigdef=IGNORED)
        except OSError as error:
            raise StartError(f"{command[0]}: {error.strerror}") from None
        finally:
            os.close(request_end)
            os.close(status_end)
        if not self._wait_ready():
            self.err.drain()
            raise StartError(self.err.data.decode("utf-8", "replace").strip() or "the program could not be loaded")
        self.residents = b"%d " % pid
        self.stat = os.open(f"/proc/{pid}/stat", os.O_RDONLY)
        self.forked = os.open(f"/proc/{pid}/task/{pid}/children", os.O_RDONLY)
        self.ticks, _, self.pages = self._figures()

    def _figures(self) -> tuple[int, int, int]:
        """Of the fork server: processor time in ticks, number of threads, pages in memory."""
        fields = os.pread(self.stat, 1024, 0).rpartition(b")")[2].split(None, 22)
        return int(fields[11]) + int(fields[12]), int(fields[17]), int(fields[21])

    def unchanged(self) -> bool:
        """Whether the fork server uses no more than it needs.

        The bot's code never runs in the server. Should it get there all the same, this check detects it.
        """
        try:
            ticks, threads, pages = self._figures()
            forked = os.pread(self.forked, 1024, 0).count(b" ")
        except OSError:
            return False
        used, self.ticks = ticks - self.ticks, ticks
        return used <= SERVER_TICKS and threads == 1 and pages <= self.pages + SERVER_PAGES and forked <= self.preforked

    def _wait_ready(self) -> bool:
        deadline = time.monotonic() + READY_S
        while time.monotonic() < deadline:
            if self.ended.poll(TICK_MS):
                return bool(os.read(self.statuses, STATUS.size))
            self.err.drain()
        return False

    def begin(self, frame: bytes) -> select.poll:
        """Pass the move to the server; returns a poller for its end. Raises: OSError if the server has ended."""
        try:
            os.write(self.requests, frame)
        except BrokenPipeError:
            raise OSError("the program's fork server has ended") from None
        return self.ended

    def end(self) -> int:
        """The wait status of the move's process; SIGKILL if the server has ended."""
        message = os.read(self.statuses, STATUS.size)
        return STATUS.unpack(message)[0] if message else int(signal.SIGKILL)


class Runner:
    """Plays moves one at a time, within limits, and leaves no process behind.

    Args:
        settings: `command` and `server`, the commands of exec and fork mode (`server` may be empty), `resident` (see
            `ResidentRunner`), and the fields of `bjsim.bots.sandbox.session.Limits`.
    """

    def __init__(self, settings: dict[str, Any]) -> None:
        self.timeout_ns = int(settings["timeout"] * 1e9)
        self.memory, self.output = int(settings["memory"]), int(settings["output"])
        self.out, self.err = Output(self.output), Output(int(settings["errors"]))
        self.stdin = Input() if settings["resident"] else None
        self.scratch = os.environ.get("TMP") if os.getpid() == 1 else None  # in a sandbox it is in memory
        starter = ForkStarter if settings["server"] else ExecStarter
        self.starter = starter(settings["server"] or settings["command"], self.out, self.err, self.stdin)
        self.children = os.open(f"/proc/self/task/{os.getpid()}/children", os.O_RDONLY)
        limit_self(self.memory, int(settings["processes"]), int(settings["files"]))

    def ready(self) -> bytes:
        """Start the bot; returns the first reply."""
        try:
            self.starter.start()
        except StartError as error:
            return self._reply(START, 0, 0, b"", os.fsencode(str(error)))
        return self._reply(EXIT, 0, 0, b"", b"")

    def move(self, frame: bytes) -> bytes:
        """Play one move; returns the reply."""
        started = time.monotonic_ns()
        self.out.clear()
        self.err.clear()
        try:
            ended = self._begin(frame)
        except OSError as error:
            return self._reply(START, 0, 0, b"", os.fsencode(error.strerror or str(error)))
        cause = self._wait(ended, started)
        status = self.starter.end() if cause == EXIT else 0
        if cause == EXIT and not self._nothing_left(started):
            cause = ORPHAN
        self.out.drain()
        self.err.drain()
        if cause == EXIT and self.out.total > self.output:
            cause = FLOOD
        out, err = self.out.data, self.err.data
        # After a signal the server is not trusted: the bot may have killed the pre-forked child for its next move.
        if cause != EXIT or os.WIFSIGNALED(status):
            self.clean()
        return self._reply(cause, status, time.monotonic_ns() - started, out, err)

    def _nothing_left(self, started: int) -> bool:
        """Whether all processes of a move end soon after its first one, and the server is unchanged."""
        deadline = min(time.monotonic_ns() + int(LEFT_S * 1e9), started + self.timeout_ns)
        while (pids := self._child_list()) != self.starter.residents:
            for pid in pids.split():
                if b"%b " % pid != self.starter.residents:
                    os.waitpid(int(pid), os.WNOHANG)
            if time.monotonic_ns() > deadline:
                return False
            if self._child_list() != self.starter.residents:
                time.sleep(0.001)
        return self.starter.unchanged()

    def _begin(self, frame: bytes) -> select.poll:
        try:
            return self.starter.begin(frame)
        except OSError:
            self.clean()  # retried once: if the machine ended the server, that is not the bot's fault
            return self.starter.begin(frame)

    def _wait(self, ended: select.poll, started: int) -> int:
        last_tick = time.monotonic_ns()
        while not ended.poll(TICK_MS):
            now = time.monotonic_ns()
            if now - last_tick > PAUSE_S * 1e9:
                started += now - last_tick
            last_tick = now
            self.out.drain()
            self.err.drain()
            if self.out.total > self.output:
                return FLOOD
            if time.monotonic_ns() - started > self.timeout_ns:
                return TIMEOUT
            cpu, memory = self._usage()
            if cpu * 1_000_000_000 > self.timeout_ns:
                return CPU
            if memory > self.memory:
                return MEMORY
        return EXIT

    def _usage(self) -> tuple[float, int]:
        """Processor seconds and bytes of memory of all descendants; the fork server's processor time is left out."""
        ticks, kib = 0, 0
        for pid in self._descendants():
            try:
                with open(f"/proc/{pid}/stat", "rb") as stat, open(f"/proc/{pid}/status", "rb") as status:
                    fields = stat.read().rpartition(b")")[2].split()
                    kib += sum(map(int, HELD.findall(status.read())))
            except OSError:
                continue
            if b"%d " % pid != self.starter.residents:
                ticks += sum(map(int, fields[11:15]))
        if self.scratch:
            held = os.statvfs(self.scratch)  # an empty file uses memory too
            kib += ((held.f_blocks - held.f_bfree) * held.f_frsize >> 10) + held.f_files - held.f_ffree
        return ticks / os.sysconf("SC_CLK_TCK"), kib << 10

    def _descendants(self) -> Iterator[int]:
        pending = [int(pid) for pid in self._child_list().split()]
        while pending:
            pid = pending.pop()
            yield pid
            try:
                for thread in os.listdir(f"/proc/{pid}/task"):
                    with open(f"/proc/{pid}/task/{thread}/children", "rb") as children:
                        pending += map(int, children.read().split())
            except OSError:
                continue

    def _child_list(self) -> bytes:
        """The pids of this process's children, orphans of the bot included, as the kernel lists them."""
        pids = os.pread(self.children, CHUNK, 0)
        return pids[: pids.rfind(b" ") + 1]

    def clean(self) -> None:
        """Kill all descendants, wait until they have ended, and restart the fork server."""
        if os.getpid() == 1:
            with suppress(ProcessLookupError):
                os.kill(-1, signal.SIGKILL)
        # Children of a process that dies become this process's, so none are left when this list is empty.
        while pids := self._child_list().split():
            if os.getpid() != 1:
                for pid in pids:
                    os.kill(int(pid), signal.SIGKILL)
            os.waitpid(-1, 0)
        self.out.drain()  # output of orphans belongs to no move
        self.err.drain()
        with suppress(StartError):  # the next move reports that there is no server
            self.starter.start()

    @staticmethod
    def _reply(cause: int, status: int, elapsed: int, out: bytes, err: bytes) -> bytes:
        code = os.waitstatus_to_exitcode(status)
        return HEADER.pack(cause, code, elapsed, len(out), len(err)) + out + err


class ResidentRunner(Runner):
    """Keeps one process of the bot for many frames. All its processes are stopped between frames.

    Its limits on memory and processes hold for its whole life. It may use as much processor time as it was awake, and
    as much again as it has for one answer.
    """

    stdin: Input

    def __init__(self, settings: dict[str, Any]) -> None:
        super().__init__(settings)
        self.alive = False
        self.awake_ns = self.unchecked_ns = 0  # in this life; since memory was checked
        self.paused_ns = 0  # while the last frame was served, the machine was suspended for so long
        self.log_sent = 0  # bytes of stderr in earlier replies

    def move(self, frame: bytes) -> bytes:
        """Serve a frame; returns the reply: its stdout is the line without its end, its stderr what is new."""
        kind, limit_ns = ASK.unpack_from(frame)
        started, text, status = time.monotonic_ns(), frame[ASK.size :], 0
        elapsed, cause, answer = 0, EXIT, b""
        if kind != ANSWER and self.alive:
            itself = self._finish(text if kind == FINISH else b"")
            cause = EXIT if itself or kind == BEGIN else TIMEOUT
        if kind == BEGIN:
            try:
                self._begin_life()
            except OSError as error:
                return self._reply(START, 0, 0, b"", os.fsencode(error.strerror or str(error)))
        if kind != FINISH:
            self.paused_ns = 0
            cause, status, answer = self._answer(text, limit_ns) if self.alive else (ENDED, 0, b"")
            elapsed = (self.answered if cause == EXIT else time.monotonic_ns()) - started - self.paused_ns
            if cause != EXIT:
                self.clean()
                self.alive = False
        self.err.drain()
        log, self.log_sent = self.err.data[self.log_sent :], len(self.err.data)
        return self._reply(cause, status, elapsed, answer, log)

    def _begin_life(self) -> None:
        self.stdin.open()
        self.out.clear()
        self.err.clear()
        self.awake_ns = self.unchecked_ns = self.log_sent = 0
        self._begin(RESIDENT)
        self.poller = make_poller(self.starter.end_signal)
        self.poller.register(self.out.read_end, select.POLLIN)
        self.alive = True

    def _answer(self, text: bytes, limit_ns: int) -> tuple[int, int, bytes]:
        """Wake the bot, pass it the text, and wait for a line; returns the cause, the wait status, and the line."""
        self.out.drain()
        if self.out.total:
            return CHATTER, 0, self.out.data
        started = time.monotonic_ns()
        last_line = text.rfind(b"\n", 0, -1) + 1
        news = self.stdin.write(text[:last_line])
        self._signal_all(signal.SIGCONT)
        cause, status = self._await_line(news, text[last_line:], started, limit_ns)
        self.answered = time.monotonic_ns()
        if cause == EXIT:
            self._signal_all(signal.SIGSTOP)
            self.out.drain()  # a second line, perhaps written meanwhile
        awake_ns = self.answered - started - self.paused_ns
        self.awake_ns += awake_ns
        self.unchecked_ns += awake_ns
        line, _, more = self.out.data.partition(b"\n")
        if cause == EXIT and more:
            cause = CHATTER
        if cause == EXIT and self.unchecked_ns > TICK_MS * 1_000_000:
            self.unchecked_ns = 0
            cause = self._over_limits(0, limit_ns)
        if cause == EXIT:
            self.out.clear()
        return cause, status, line.removesuffix(b"\r")

    def _await_line(self, news: bytes, question: bytes, started: int, limit_ns: int) -> tuple[int, int]:
        """Pass on the text, and wait for a line, the end of the process, or a limit.

        The bot gets the question when it has read everything before it, and has written nothing until then. So a line
        that it began after its last answer, perhaps when it was being stopped, is not taken for the next one.

        Args:
            news: What is not written yet of the text before the question.
            question: The last line of the text.
            started: When the text was first written.
            limit_ns: For the answer.

        Returns:
            The cause and the wait status.
        """
        last_tick = started
        self.poller.register(self.stdin.write_end, select.POLLOUT)
        while True:
            ready = dict(self.poller.poll(TICK_MS))
            can_write = self.stdin.write_end in ready
            if can_write or self.out.read_end in ready:
                self.out.drain()
            if self.out.total and question:
                return CHATTER, 0
            if can_write:
                if news:
                    news = self.stdin.write(news)
                else:
                    question = self.stdin.write(question)
                if not question:
                    self.poller.unregister(self.stdin.write_end)
            if b"\n" in self.out.data:
                return EXIT, 0
            if self.out.total >= self.output:
                return FLOOD, 0
            if self.starter.end_signal in ready:
                return ENDED, self.starter.end()
            now = time.monotonic_ns()
            if now - last_tick < TICK_MS * 1_000_000:
                continue
            if now - last_tick > PAUSE_S * 1e9:
                self.paused_ns += now - last_tick
            last_tick = now
            self.err.drain()
            awake_ns = now - started - self.paused_ns
            cause = TIMEOUT if awake_ns > limit_ns else self._over_limits(awake_ns, limit_ns)
            if cause != EXIT:
                return cause, 0

    def _over_limits(self, awake_ns: int, limit_ns: int) -> int:
        """CPU or MEMORY if a limit is exceeded, else EXIT. awake_ns: not yet counted."""
        cpu, memory = self._usage()
        if cpu * 1_000_000_000 > self.awake_ns + awake_ns + limit_ns:
            return CPU
        return MEMORY if memory > self.memory else EXIT

    def _finish(self, text: bytes) -> bool:
        """Pass the text and the end of its input to the bot, and end it; returns whether it ended by itself.

        It has a moment for it if there is a text.
        """
        self._signal_all(signal.SIGCONT)
        poller, deadline = make_poller(self.starter.end_signal), time.monotonic() + (LEFT_S if text else 0)
        poller.register(self.stdin.write_end, select.POLLOUT)
        while text and self.stdin.write_end in dict(poller.poll(_ms_until(deadline))):
            text = self.stdin.write(text)
        poller.unregister(self.stdin.write_end)
        self.stdin.close()
        ended = poller.poll(_ms_until(deadline))
        itself = bool(ended) and not os.WIFSIGNALED(self.starter.end()) and self._nothing_left(time.monotonic_ns())
        if not itself:
            self.clean()
        self.alive = False
        return itself

    def _signal_all(self, number: int) -> None:
        """Stop or continue all processes in the sandbox but this one."""
        if os.getpid() == 1:
            with suppress(ProcessLookupError):
                os.kill(-1, number)
            return
        for pid in self._descendants():
            with suppress(ProcessLookupError):
                os.kill(pid, number)


def _ms_until(deadline: float) -> float:
    return max(0.0, deadline - time.monotonic()) * 1000


def make_poller(descriptor: int) -> select.poll:
    """A poller for `descriptor` to be readable or at its end."""
    poller = select.poll()
    poller.register(descriptor, select.POLLIN)
    return poller


def limit_self(memory: int, processes: int, files: int) -> None:
    """Set the limits that the bot inherits. They apply to each process; `Runner` checks the sum over all of them.

    The address space is not limited, because Java reserves far more than it uses. The limit on data is twice `memory`,
    because SBCL requests 300 MB at its start and uses a tenth of them.
    """
    uid, tasks = os.getuid(), 0
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            tasks += len(os.listdir(f"/proc/{pid}/task")) if os.stat(f"/proc/{pid}").st_uid == uid else 0
        except OSError:
            continue
    # Outside a sandbox all processes of the user count, and their number changes.
    margin = processes if os.getpid() == 1 else 32 * processes
    for kind, value in (
        (resource.RLIMIT_NPROC, tasks + margin),
        (resource.RLIMIT_DATA, 2 * memory),
        (resource.RLIMIT_FSIZE, files),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NOFILE, 64),
        (resource.RLIMIT_MEMLOCK, 0),
    ):
        hard = resource.getrlimit(kind)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (value, value))


def guard_self() -> None:
    """Make this process unreadable to the bot, the parent of all orphans, and one that dies with the session."""
    for number in IGNORED:
        signal.signal(number, signal.SIG_IGN)
    libc = ctypes.CDLL(None)
    libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def frames(descriptor: int) -> Iterator[bytes]:
    """The frames read from the descriptor, until its end."""
    data = b""
    while chunk := os.read(descriptor, CHUNK):
        data += chunk
        while len(data) >= LENGTH.size and len(data) >= (end := LENGTH.size + LENGTH.unpack_from(data)[0]):
            yield data[LENGTH.size : end]
            data = data[end:]


def main() -> None:
    """Serve moves until stdin ends."""
    guard_self()
    # Duplicates are not inherited, so the bot cannot reach them.
    requests, replies = os.dup(0), os.dup(1)
    with open(os.devnull, "r+b", buffering=0) as null:
        for descriptor in (0, 1):
            os.dup2(null.fileno(), descriptor)
    settings = json.loads(sys.argv[1])
    runner = (ResidentRunner if settings["resident"] else Runner)(settings)
    os.write(replies, runner.ready())
    for frame in frames(requests):
        os.write(replies, runner.move(frame))


if __name__ == "__main__":
    main()
