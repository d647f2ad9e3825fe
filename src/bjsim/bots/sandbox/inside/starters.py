"""Starts a bot's process for a move: executes its program (exec mode), or lets a fork server fork it (fork mode).

The rules on files and the filter of system calls hold for a thread and what it starts. So one thread of the runner is
under them, and starts all programs of the bot; the main thread is not, and reads /proc, where a bot would find the
command lines of all programs.
"""

from __future__ import annotations

import fcntl
import os
import select
import signal
import struct
import time
from _thread import get_native_id, start_new_thread
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from queue import SimpleQueue
from typing import Any

from bjsim.bots.sandbox.inside.streams import Input, Output, make_poller

STATUS = struct.Struct("=i")  # message of a fork server: the wait status of the move's process
READY_S = 20.0  # for a fork server to load the program
TICK_MS = 10  # between two checks of a running process
ABOVE = 50  # descriptors from here to the limit (64) are unused
IGNORED = (signal.SIGINT, signal.SIGPIPE, signal.SIGXFSZ)  # by the runner, not by the bot


class StartError(Exception):
    """The program could not be started. The message is for the bot's author."""


class Spawner:
    """The thread that starts the bot's programs, in the process group `group`; `thread` is its number."""

    def __init__(self, group: int) -> None:
        self.group = group
        self._calls: SimpleQueue[tuple[Callable[..., Any], Any, Any]] = SimpleQueue()
        self._results: SimpleQueue[tuple[Any, BaseException | None]] = SimpleQueue()
        start_new_thread(self._serve, ())
        self.thread: int = self.call(get_native_id)

    def call(self, function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        """Call a function in this thread."""
        self._calls.put((function, arguments, options))
        result, error = self._results.get()
        if error:
            raise error
        return result

    def spawn(self, command: Sequence[str], environment: Mapping[str, str], actions: Sequence[tuple[Any, ...]]) -> int:
        """Start a program; returns its pid. Raises: OSError."""
        options = {"file_actions": actions, "setpgroup": self.group, "setsigdef": IGNORED, "setsigmask": ()}
        pid: int = self.call(os.posix_spawn, command[0], command, environment, **options)
        return pid

    def _serve(self) -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())  # they are for the main thread
        while True:
            function, arguments, options = self._calls.get()
            try:
                self._results.put((function(*arguments, **options), None))
            except BaseException as error:
                self._results.put((None, error))


class ExecStarter:
    """Exec mode: executes the program for every move.

    residents: the pid of the fork server, as the kernel lists it; empty in this mode.
    """

    residents = b""

    def __init__(self, spawner: Spawner, command: Sequence[str], out: Output, err: Output, stdin: Input | None) -> None:
        self.spawner, self.command = spawner, command
        self.actions: list[tuple[Any, ...]] = [
            (os.POSIX_SPAWN_DUP2, stdin.read_end, 0) if stdin else (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_DUP2, out.write_end, 1),
            (os.POSIX_SPAWN_DUP2, err.write_end, 2),
        ]
        self.pid = self.end_signal = -1  # the latter is a descriptor that becomes readable when the process ends

    def start(self) -> None:
        """Close the descriptor of a move that was killed."""
        if self.end_signal >= 0:
            os.close(self.end_signal)
            self.end_signal = -1

    def begin(self, frame: bytes) -> select.poll:
        """Start the move; returns a poller for its end. Raises: OSError."""
        words = [*self.command, *os.fsdecode(frame).split("\0")]
        self.pid = self.spawner.spawn(words, os.environ, self.actions)
        self.end_signal = os.pidfd_open(self.pid)
        return make_poller(self.end_signal)

    def end(self) -> int:
        """The wait status of the move's process."""
        self.start()
        return os.waitpid(self.pid, 0)[1]

    def prepare(self) -> None:
        """Nothing is made before the next move."""


class ForkStarter:
    """Fork mode: a fork server forks a process for every move. It reads from descriptor 3 and writes to 4."""

    residents = b""

    def __init__(self, spawner: Spawner, command: Sequence[str], out: Output, err: Output, stdin: Input | None) -> None:
        self.spawner, self.command, self.out, self.err, self.stdin = spawner, command, out, err, stdin
        self.requests = self.end_signal = -1  # the latter tells how processes ended

    def start(self) -> None:
        """Start the fork server, or restart it. Raises: StartError with its message."""
        for descriptor in {self.requests, self.end_signal} - {-1}:
            os.close(descriptor)
        request_end, self.requests = os.pipe()
        self.end_signal, status_end = os.pipe()
        self.ended = make_poller(self.end_signal)
        ends = {self.out.write_end: 1, self.err.write_end: 2, request_end: 3, status_end: 4}
        if self.stdin:
            ends[self.stdin.read_end] = 0
        # Copied above all targets first, so that no target overwrites an end that is still to be copied.
        actions: list[tuple[Any, ...]] = [(os.POSIX_SPAWN_DUP2, end, ABOVE + to) for end, to in ends.items()]
        actions += [(os.POSIX_SPAWN_DUP2, ABOVE + to, to) for to in ends.values()]
        actions += [(os.POSIX_SPAWN_CLOSE, ABOVE + to) for to in ends.values()]
        try:
            pid = self.spawner.spawn(self.command, os.environ, actions)
        except OSError as error:
            raise StartError(f"{self.command[0]}: {error.strerror}") from None
        finally:
            os.close(request_end)
            os.close(status_end)
        if not self._wait_ready():
            self.err.drain()
            raise StartError(self.err.data.decode("utf-8", "replace").strip() or "the program could not be loaded")
        self.residents = b"%d " % pid

    def _wait_ready(self) -> bool:
        deadline = time.monotonic() + READY_S
        while time.monotonic() < deadline:
            if self.ended.poll(TICK_MS):
                return bool(os.read(self.end_signal, STATUS.size))
            self.err.drain()
        return False

    def begin(self, frame: bytes) -> select.poll:
        """Pass the move to the server; returns a poller for its end. Raises: OSError if the server has ended."""
        if len(frame) > select.PIPE_BUF:  # the rest would be taken for what follows the move
            raise OSError("there are too many cards for the arguments of a move")
        fcntl.fcntl(0, fcntl.F_SETFL, 0)  # the stdin of all processes of a server, which could leave marks there
        try:
            if self.ended.poll(0):  # before the move: the process that waited for it has been killed, or the server
                raise BrokenPipeError
            os.write(self.requests, frame)
        except BrokenPipeError:
            raise OSError("the program's fork server has ended") from None
        return self.ended

    def end(self) -> int:
        """The wait status of the move's process; SIGKILL if the server has ended."""
        message = os.read(self.end_signal, STATUS.size)
        return STATUS.unpack(message)[0] if message else int(signal.SIGKILL)

    def prepare(self) -> None:
        """Let the server fork the process of the next move, as all of the last one have ended."""
        with suppress(BrokenPipeError):  # it has ended too; the next move starts another
            os.write(self.requests, b"-")
