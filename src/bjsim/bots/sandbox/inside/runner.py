"""The runner: the first process in a bot's sandbox. It starts the bot once per move and reports the result.

Protocol: stdin carries frames, each a length (`LENGTH`) and then the move's arguments joined by NUL. stdout carries
replies, each a `HEADER` and then the bot's stdout and stderr. The first reply is sent before any frame arrives, and
reports whether the bot could be made ready.

The bot is started in one of two modes. In exec mode the program is executed for every move. In fork mode a fork server,
which has the program loaded, forks a process for every move and reports how it ended (`fork_server.py` for Python,
`fork_server.c` for C and C++).
"""

from __future__ import annotations

import os
import re
import resource
import select
import signal
import struct
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from bjsim.bots.sandbox.inside.starters import TICK_MS, ExecStarter, ForkStarter, StartError
from bjsim.bots.sandbox.inside.streams import CHUNK, Input, Output

LENGTH = struct.Struct("<I")  # of the frame that follows
HEADER = struct.Struct("<BiQII")  # cause, status, elapsed nanoseconds, length of stdout, length of stderr
CAUSES = ("exit", "timeout", "cpu", "memory", "flood", "start", "orphan", "ended", "chatter")  # why the move ended
EXIT, TIMEOUT, CPU, MEMORY, FLOOD, START, ORPHAN, ENDED, CHATTER = range(len(CAUSES))

PAUSE_S = 1.0  # a tick longer than this means that the machine was suspended; it does not count as the bot's time
LEFT_S = 0.25  # grace for the bot's other processes to end after its first one; counts as the bot's time
HELD = re.compile(rb"^Vm(?:RSS|PTE|Swap):\s+(\d+) kB", re.M)  # page tables count too


class Runner:
    """Plays moves one at a time, within limits, and leaves no process behind.

    `settings` are `command` and `server` (may be empty) of exec and fork mode, `resident` (see `ResidentRunner`),
    and the fields of `bjsim.bots.sandbox.session.Limits`.
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
