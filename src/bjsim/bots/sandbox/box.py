"""A box: one bot held ready behind its walls, asked one move at a time through the resident runner inside."""

from __future__ import annotations

import json
import logging
import os
import resource
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache

from bjsim.bots.protocol import REPLY_LIMIT, Reply, python_2_hint
from bjsim.bots.sandbox import restrictions
from bjsim.bots.sandbox.inside import runner
from bjsim.bots.sandbox.languages import ENDINGS, INSIDE, BuildError, Program, binds_of, tool_of
from bjsim.errors import RunFailed

SANDBOX = ("required", "auto", "off")
DESCRIPTORS = 2  # that an open box takes
OPENING = 150  # more, while one opens: one for each file of the program, beside what else this process may open
TICK_S = 1.0
GRACE_S = 10.0  # for the runner to answer after a bot's time is up: it may have a swarm of processes to clear away
logger = logging.getLogger(__name__)


class SandboxError(RunFailed):
    """A box that cannot be opened, or that has no sandbox where one is required."""


class SandboxClosed(RunFailed):
    """A box that was closed, by whom it belongs to; no fault of the bot's."""


@dataclass(frozen=True)
class Limits:
    """What one move may use. timeout: seconds of the clock, and as much processor time; memory: bytes, of all its
    processes together and for data of each one; processes: how many, threads included; output, errors: bytes of
    stdout, and of stderr, of which more is lost; files: bytes of each file that it writes."""

    timeout: float = 1.0
    memory: int = 256 << 20
    processes: int = 32
    output: int = REPLY_LIMIT
    errors: int = REPLY_LIMIT
    files: int = 0


def sandboxed(mode: str) -> bool:
    """Whether a box gets a sandbox: `required`, `auto` (where it works, else a warning), `off`.

    Raises: SandboxError when it is required and does not work here; ValueError for another word.
    """
    if mode not in SANDBOX:
        raise ValueError(f"sandbox = {mode} is not accepted; it takes {', '.join(SANDBOX)}")
    if mode == "off":
        return False
    trouble = restrictions.trouble()
    if trouble and mode == "required":
        raise SandboxError(f"a sandbox is required, but {trouble}")
    if trouble:
        _warn(trouble)
    return not trouble


def make_room(boxes: int) -> None:
    """Let this process open the files that so many more boxes take. Raises: SandboxError when it may not."""
    needed = len(os.listdir("/proc/self/fd")) + DESCRIPTORS * boxes + OPENING
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if 0 <= soft < needed:
        if 0 <= hard < needed:
            raise SandboxError(f"the bots need {needed} open files, and {hard} are allowed here (ulimit -Hn)")
        resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))


@lru_cache(maxsize=1)
def _warn(trouble: str) -> None:
    logger.warning("bots run without a sandbox, held by limits only: %s", trouble)


class Box:
    """A bot behind its walls. `ask` plays a move; `close` leaves no process and no file behind.

    A box belongs to the process that opened it, and dies with the thread that did (it is then opened again). One thread
    at a time asks; any other may close it meanwhile. cores: that it may use, those of the thread that opened it.
    scratch: whether the program finds a folder to write to, "$TMP".
    Raises: BuildError when the program cannot be loaded; SandboxError.
    """

    def __init__(
        self, program: Program, limits: Limits, *, sandboxed: bool, cold: bool = False, scratch: bool = False
    ) -> None:
        make_room(1)
        self.program, self.limits, self.sandboxed, self.scratch = program, limits, sandboxed, scratch
        warm = None if cold or not program.warm else program.warm
        self.settings = json.dumps({"cold": program.cold, "warm": warm, **asdict(limits)})
        self.process: subprocess.Popen[bytes] | None = None
        self.cores = os.sched_getaffinity(0)
        self._in_use = threading.Lock()  # its descriptors are
        self._closed = False
        self._open()

    def ask(self, arguments: Sequence[str]) -> Reply:
        """Run the bot once with these arguments. Raises: SandboxClosed, also if closed before the bot is done."""
        frame = "\0".join(arguments).encode()
        with self._in_use:
            reply = self._ask(runner.LENGTH.pack(len(frame)) + frame)
            if self._closed:
                self._drop()
                raise SandboxClosed(f"the box of {self.program.name} was closed")
        return reply

    def close(self) -> None:
        """End the bot and everything it started, for good; a move that it makes in another thread comes to nothing."""
        self._closed = True
        if process := self.process:
            process.kill()  # so that who waits for its answer does not wait longer
        with self._in_use:
            self._drop()

    def _ask(self, message: bytes) -> Reply:
        for _ in range(2):  # a runner that vanished is replaced once, and a move may be asked again: bots keep nothing
            try:
                if self.process is None and not self._closed:
                    self._open()
                if self._closed:
                    break
                return self._exchange(message, self.limits.timeout + GRACE_S)
            except (OSError, EOFError):
                self._drop()
            except (SandboxError, BuildError) as error:
                return Reply("start", 0, 0, b"", str(error).encode())
        return Reply("start", 0, 0, b"", b"its box does not stay open")

    def _drop(self) -> None:
        """End what runs in the box; it may be opened again."""
        if self.process is None:
            return
        process, self.process = self.process, None
        assert process.stdin and process.stdout
        process.stdin.close()  # the runner ends with its input; killing the walls makes sure of it
        process.stdout.close()
        process.kill()
        process.wait()
        self.walls.close()

    def _open(self) -> None:
        python = tool_of(ENDINGS[".py"])
        source = (INSIDE / "runner.py").read_bytes()
        binds = {*self.program.binds, *binds_of(python)}
        self.walls = restrictions.open_restrictions(self.sandboxed, self.program.files, source, binds, self.scratch)
        command = self.walls.command([python, "-I", "-S", self.walls.runner, self.settings])
        with tempfile.TemporaryFile() as messages:
            self.process = subprocess.Popen(
                command, bufsize=0, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=messages,
                start_new_session=True, **self.walls.popen,
            )  # fmt: skip
            assert self.process.stdout
            self.answered = runner.polled(self.process.stdout.fileno())
            try:
                ready = self._exchange(b"", runner.READY_S + GRACE_S)
            except (OSError, EOFError):
                self._drop()
                messages.seek(0)
                said = messages.read().decode("utf-8", "replace").strip()
                raise SandboxError(f"the box of {self.program.name} does not open: {said}") from None
        self.walls.opened()
        if ready.cause != "exit":
            self._drop()
            log = ready.stderr.decode("utf-8", "replace").strip()
            why = log.splitlines()[-1] + python_2_hint(log)
            raise BuildError(f"{self.program.name} cannot be loaded: {why}", log)

    def _exchange(self, message: bytes, seconds: float) -> Reply:
        """Send a message and read the reply. Raises: EOFError, OSError when the runner has gone or is stuck."""
        process = self.process
        assert process and process.stdin and process.stdout
        if message:
            os.write(process.stdin.fileno(), message)
        data, size, source = bytearray(), runner.HEADER.size, process.stdout.fileno()
        while len(data) < size:
            self._await_answer(seconds)
            chunk = os.read(source, runner.CHUNK)
            if not chunk:
                raise EOFError("the runner has gone")
            data += chunk
            if size == runner.HEADER.size <= len(data):
                cause, status, elapsed, out, err = runner.HEADER.unpack_from(data)
                if cause >= len(runner.CAUSES) or out > self.limits.output or err > self.limits.errors:
                    raise OSError("this is no runner's reply")
                size += out + err
        body = bytes(data[runner.HEADER.size :])
        return Reply(runner.CAUSES[cause], status, elapsed, body[:out], body[out:])

    def _await_answer(self, seconds: float) -> None:
        """Raises: TimeoutError when the runner says nothing for so long."""
        left = seconds  # in ticks, of which each counts as one, however long it took a machine that stood still
        while not self.answered.poll(min(left, TICK_S) * 1000):
            left -= TICK_S
            if left <= 0:
                raise TimeoutError("the runner does not answer")
