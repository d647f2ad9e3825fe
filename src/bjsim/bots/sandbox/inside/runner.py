"""The resident runner: the first process of a bot's box. It starts the bot once per move and answers for it.

It runs under the box's interpreter, which need not be bjsim's, so it uses the standard library only. On its stdin come
frames, a length (`LENGTH`) and the move's arguments joined by NUL; on its stdout go replies, a `HEADER` and then the
bot's stdout and stderr. The first reply comes unasked: it says whether the bot could be made ready.

A bot is started in one of two ways. Cold: the program is executed for every move. Warm: a resident server, which has
the program loaded, forks a process for every move and says how it ended (`warm.py` for Python, `warm.c` for C and C++).
"""

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
STATUS = struct.Struct("=i")  # a server's message: how the move's process ended, as waitpid says it
CAUSES = ("exit", "timeout", "cpu", "memory", "flood", "start", "orphan")  # why the move came to its end
EXIT, TIMEOUT, CPU, MEMORY, FLOOD, START, ORPHAN = range(len(CAUSES))

TICK_MS = 10  # how often a move that takes long is looked at
PAUSE_S = 1.0  # a wait that takes so much longer than asked for: the machine stood still, which costs the bot no time
LEFT_S = 0.25  # of the bot's time, for its other processes to end after the first one has
READY_S = 20.0  # for a server to load the program
CHUNK = 16384  # bytes read at once
PIPE = 1 << 20  # bytes that a pipe may hold at most
SET_PIPE_SIZE = 1031  # for fcntl
ABOVE = 50  # descriptors from here to the limit of 64 are free
SPARES = 2  # processes that a server holds ready, where it has that many processors
SERVER_TICKS = 25  # of processor time, a hundredth of a second each, that a server needs for a move at the very most
SERVER_PAGES = 8192  # that a server may come to hold beyond what it held when it was ready
HELD = re.compile(rb"^Vm(?:RSS|PTE|Swap):\s+(\d+) kB", re.M)  # what a process costs: page tables can be large too
IGNORED = (signal.SIGINT, signal.SIGPIPE, signal.SIGXFSZ)  # here, but not in the bot

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER = 1, 4, 36


class StartError(Exception):
    """The program could not be started. Its text is for the author."""


class Output:
    """One output stream of the bot: a pipe, and what came out of it in this move.

    kept: its first `limit` bytes; total: how many there were.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.read_end, self.write_end = os.pipe()
        os.set_blocking(self.read_end, False)
        if limit > CHUNK:
            with suppress(OSError):  # then it takes longer
                fcntl.fcntl(self.write_end, SET_PIPE_SIZE, PIPE)
        self.kept, self.total = b"", 0

    def drain(self) -> None:
        """Take what is in the pipe now; never waits."""
        for _ in range(PIPE // CHUNK):  # a bot may fill the pipe as fast as it is emptied
            try:
                chunk = os.read(self.read_end, CHUNK)
            except BlockingIOError:
                return
            self.total += len(chunk)
            self.kept += chunk[: self.limit - len(self.kept)]
            if len(chunk) < CHUNK:
                return

    def clear(self) -> None:
        """Forget what was taken."""
        self.kept, self.total = b"", 0


class Cold:
    """Executes the program for every move."""

    residents = b""

    def __init__(self, command: Sequence[str], out: Output, err: Output) -> None:
        self.command = command
        self.actions = [
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_DUP2, out.write_end, 1),
            (os.POSIX_SPAWN_DUP2, err.write_end, 2),
        ]
        self.pid = self.descriptor = -1

    def start(self) -> None:
        """Nothing is resident; forget a move that was killed."""
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1

    def begin(self, frame: bytes) -> select.poll:
        """Start the move; returns what to poll for its end. Raises: OSError."""
        words = [*self.command, *os.fsdecode(frame).split("\0")]
        self.pid = os.posix_spawn(words[0], words, os.environ, file_actions=self.actions, setsigdef=IGNORED)
        self.descriptor = os.pidfd_open(self.pid)
        return polled(self.descriptor)

    def end(self) -> int:
        """How the process ended, as waitpid says it."""
        self.start()
        return os.waitpid(self.pid, 0)[1]

    def unchanged(self) -> bool:
        """Nothing is resident."""
        return True


class Warm:
    """Has a resident server fork a process for every move. The server reads descriptor 3 and writes to 4."""

    residents = b""

    def __init__(self, command: Sequence[str], out: Output, err: Output) -> None:
        self.command, self.out, self.err = command, out, err
        self.requests = self.statuses = self.stat = self.forked = -1
        self.spares = min(SPARES, len(os.sched_getaffinity(0)))

    def start(self) -> None:
        """Start the server, anew if there was one. Raises: StartError with what it said."""
        for descriptor in {self.requests, self.statuses, self.stat, self.forked} - {-1}:
            os.close(descriptor)
        self.stat = self.forked = -1
        request_end, self.requests = os.pipe()
        self.statuses, status_end = os.pipe()
        self.ended = polled(self.statuses)
        ends = {self.out.write_end: 1, self.err.write_end: 2, request_end: 3, status_end: 4}
        # Raised above the targets first, so that no target overwrites an end that is still to be copied.
        actions: list[tuple[Any, ...]] = [(os.POSIX_SPAWN_DUP2, end, ABOVE + to) for end, to in ends.items()]
        actions += [(os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0)]
        actions += [(os.POSIX_SPAWN_DUP2, ABOVE + to, to) for to in ends.values()]
        actions += [(os.POSIX_SPAWN_CLOSE, ABOVE + to) for to in ends.values()]
        settings = {**os.environ, "BJSIM_SPARES": str(self.spares)}
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
            raise StartError(self.err.kept.decode("utf-8", "replace").strip() or "the program could not be loaded")
        self.residents = b"%d " % pid
        self.stat = os.open(f"/proc/{pid}/stat", os.O_RDONLY)
        self.forked = os.open(f"/proc/{pid}/task/{pid}/children", os.O_RDONLY)
        self.ticks, _, self.pages = self._figures()

    def _figures(self) -> tuple[int, int, int]:
        """Of the server: processor time in ticks, threads, pages held."""
        fields = os.pread(self.stat, 1024, 0).rpartition(b")")[2].split(None, 22)
        return int(fields[11]) + int(fields[12]), int(fields[17]), int(fields[21])

    def unchanged(self) -> bool:
        """Whether the server does what it is for, and no more. The bot's code never runs in it; should it get there
        all the same, it cannot stay."""
        try:
            ticks, threads, pages = self._figures()
            forked = os.pread(self.forked, 1024, 0).count(b" ")
        except OSError:
            return False
        used, self.ticks = ticks - self.ticks, ticks
        return used <= SERVER_TICKS and threads == 1 and pages <= self.pages + SERVER_PAGES and forked <= self.spares

    def _wait_ready(self) -> bool:
        deadline = time.monotonic() + READY_S
        while time.monotonic() < deadline:
            if self.ended.poll(TICK_MS):
                return bool(os.read(self.statuses, STATUS.size))
            self.err.drain()
        return False

    def begin(self, frame: bytes) -> select.poll:
        """Hand the move to the server; returns what to poll for its end. Raises: OSError when the server has gone."""
        try:
            os.write(self.requests, frame)
        except BrokenPipeError:
            raise OSError("the program's server has gone") from None
        return self.ended

    def end(self) -> int:
        """How the process ended; a server that has gone counts as killed."""
        message = os.read(self.statuses, STATUS.size)
        return STATUS.unpack(message)[0] if message else int(signal.SIGKILL)


class Runner:
    """Plays moves one at a time, within limits, and leaves no process behind.

    settings: `cold` and `warm`, the commands (warm may be null); `timeout` in seconds of the clock and of processor
    time, `memory` in bytes, `processes`; `output` and `errors` in bytes of stdout and stderr, `files` of each file.
    """

    def __init__(self, settings: dict[str, Any]) -> None:
        self.timeout_ns = int(settings["timeout"] * 1e9)
        self.memory, self.output = int(settings["memory"]), int(settings["output"])
        self.out, self.err = Output(self.output), Output(int(settings["errors"]))
        self.scratch = os.environ.get("TMP") if os.getpid() == 1 else None  # in a sandbox it lies in memory
        warm = settings["warm"]
        self.starter = Warm(warm, self.out, self.err) if warm else Cold(settings["cold"], self.out, self.err)
        self.children = os.open(f"/proc/self/task/{os.getpid()}/children", os.O_RDONLY)
        limit_self(self.memory, int(settings["processes"]), int(settings["files"]))

    def ready(self) -> bytes:
        """The first reply: whether the program could be made ready."""
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
        if cause == EXIT and not self._alone(started):
            cause = ORPHAN
        self.out.drain()
        self.err.drain()
        if cause == EXIT and self.out.total > self.output:
            cause = FLOOD
        out, err = self.out.kept, self.err.kept
        # After a signal the server is not trusted: a bot may kill the process that stands ready for its next move.
        if cause != EXIT or os.WIFSIGNALED(status):
            self.clean()
        return self._reply(cause, status, time.monotonic_ns() - started, out, err)

    def _alone(self, started: int) -> bool:
        """Whether nothing is left of a move whose process has ended, or soon after, and the server is what it was."""
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
            self.clean()  # and try once more: what the machine did to the server is not the bot's fault
            return self.starter.begin(frame)

    def _wait(self, ended: select.poll, started: int) -> int:
        looked = time.monotonic_ns()
        while not ended.poll(TICK_MS):
            now = time.monotonic_ns()
            if now - looked > PAUSE_S * 1e9:
                started += now - looked
            looked = now
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
        """Processor seconds and bytes held by all that this process has started, its server's past aside."""
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
            held = os.statvfs(self.scratch)  # a file costs memory even when it is empty
            kib += ((held.f_blocks - held.f_bfree) * held.f_frsize >> 10) + held.f_files - held.f_ffree
        return ticks / os.sysconf("SC_CLK_TCK"), kib << 10

    def _descendants(self) -> Iterator[int]:
        waiting = [int(pid) for pid in self._child_list().split()]
        while waiting:
            pid = waiting.pop()
            yield pid
            try:
                for thread in os.listdir(f"/proc/{pid}/task"):
                    with open(f"/proc/{pid}/task/{thread}/children", "rb") as children:
                        waiting += map(int, children.read().split())
            except OSError:
                continue

    def _child_list(self) -> bytes:
        """The children of this process, orphans of the bot included, as the kernel writes them."""
        pids = os.pread(self.children, CHUNK, 0)
        return pids[: pids.rfind(b" ") + 1]

    def clean(self) -> None:
        """Kill everything that was started, wait until it is gone, and start the server again."""
        if os.getpid() == 1:
            with suppress(ProcessLookupError):
                os.kill(-1, signal.SIGKILL)
        # Whatever dies leaves its children to this process, so none are left when this list is empty.
        while pids := self._child_list().split():
            if os.getpid() != 1:
                for pid in pids:
                    os.kill(int(pid), signal.SIGKILL)
            os.waitpid(-1, 0)
        self.out.drain()  # what orphans still wrote belongs to no move
        self.err.drain()
        with suppress(StartError):  # the next move finds no server, and says so
            self.starter.start()

    @staticmethod
    def _reply(cause: int, status: int, elapsed: int, out: bytes, err: bytes) -> bytes:
        code = os.waitstatus_to_exitcode(status)
        return HEADER.pack(cause, code, elapsed, len(out), len(err)) + out + err


def polled(descriptor: int) -> select.poll:
    """What to poll for `descriptor` to be readable, or at its end."""
    poller = select.poll()
    poller.register(descriptor, select.POLLIN)
    return poller


def limit_self(memory: int, processes: int, files: int) -> None:
    """Set the limits that the bot inherits. They hold for each of its processes; `Runner` watches them all together.

    The address space stays unlimited, since Java reserves far more of it than it uses; and SBCL asks for 300 MB of data
    before it starts, of which it touches a tenth, so a process may ask for more than it may come to hold.
    """
    uid, tasks = os.getuid(), 0
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            tasks += len(os.listdir(f"/proc/{pid}/task")) if os.stat(f"/proc/{pid}").st_uid == uid else 0
        except OSError:
            continue
    # Outside a sandbox all processes of the user count, and others of them come and go.
    room = processes if os.getpid() == 1 else 32 * processes
    for kind, value in (
        (resource.RLIMIT_NPROC, tasks + room),
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
    """Become a process whose memory the bot cannot open, that inherits all orphans, and dies with the box."""
    for number in IGNORED:
        signal.signal(number, signal.SIG_IGN)
    libc = ctypes.CDLL(None)
    libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def frames(descriptor: int) -> Iterator[bytes]:
    """The frames that come in, until the stream ends."""
    data = b""
    while chunk := os.read(descriptor, CHUNK):
        data += chunk
        while len(data) >= LENGTH.size and len(data) >= (end := LENGTH.size + LENGTH.unpack_from(data)[0]):
            yield data[LENGTH.size : end]
            data = data[end:]


def main() -> None:
    """Serve moves until stdin ends."""
    guard_self()
    # Out of the bot's reach: descriptors that are not inherited.
    requests, replies = os.dup(0), os.dup(1)
    with open(os.devnull, "r+b", buffering=0) as null:
        for descriptor in (0, 1):
            os.dup2(null.fileno(), descriptor)
    runner = Runner(json.loads(sys.argv[1]))
    os.write(replies, runner.ready())
    for frame in frames(requests):
        os.write(replies, runner.move(frame))


if __name__ == "__main__":
    main()
