"""A sandbox session: one bot kept ready in its sandbox, which the runner inside starts once for every move."""

import json
import logging
import os
import resource
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import lru_cache

from bjsim.bots.protocol import REPLY_LIMIT, TIMEOUT, Reply, python_2_hint
from bjsim.bots.sandbox import inside, restrictions
from bjsim.bots.sandbox.inside import runner, starters, streams
from bjsim.bots.sandbox.languages import ENDINGS, BuildError, Program, find_binds, find_tool
from bjsim.errors import RunFailed

MODES = ("required", "auto")
DESCRIPTORS = 2  # file descriptors of an open session
OPENING = 300  # further descriptors while a session opens: one for each file of the program, and those of this process
TICK_S = 1.0
# Starts a program that the kernel ends first where memory is short. In its box it cannot choose that any more.
FIRST_TO_END = ("/bin/sh", "-c", 'echo 1000 2>/dev/null >/proc/self/oom_score_adj; exec "$@"', "sh")
GRACE_S = 10.0  # extra time for the runner's reply after the bot's time is up: it may have many processes to kill
logger = logging.getLogger(__name__)


class SandboxError(RunFailed):
    """A session cannot be opened, or a box is required and not available."""


class SandboxClosed(RunFailed):
    """The session was closed by its owner. This is not a fault of the bot."""


@dataclass(frozen=True)
class Limits:
    """Resources for one move."""

    timeout: float = TIMEOUT  # seconds of wall time, and as many seconds of processor time
    memory: int = 256 << 20  # bytes, for all processes of the bot together, and for the data of each process
    processes: int = restrictions.PROCESSES
    output: int = REPLY_LIMIT  # bytes of stdout, more of which is a fault
    errors: int = REPLY_LIMIT  # bytes of stderr, the rest of which is discarded
    files: int = 0  # bytes of each file that the program writes


def choose_box(mode: str) -> str:
    """The kind of box for bots: `required`, one in which they can hurt nothing; `auto`, the best, with a warning."""
    if mode not in MODES:
        raise ValueError(f"sandbox = {mode} is not accepted; use {', '.join(MODES)}")
    held = restrictions.find_box()
    if not held.kind:
        raise SandboxError(held.says)
    if not held.whole and mode == "required":
        raise SandboxError(f"a sandbox is required, but {held.says} ({held.obstacle})")
    if not held.whole:
        _warn(held)
    return held.kind


def raise_file_limit(sessions: int) -> None:
    """Raise this process's limit on open files so that it can open `sessions` more at the same time."""
    needed = len(os.listdir("/proc/self/fd")) + DESCRIPTORS * sessions + OPENING
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if 0 <= soft < needed:
        if 0 <= hard < needed:
            raise SandboxError(f"the bots need {needed} open files, and {hard} are allowed here (ulimit -Hn)")
        resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))


@lru_cache(maxsize=1)
def _warn(held: restrictions.Held) -> None:
    logger.warning("%s (%s)", held.says, held.obstacle)


class SandboxSession:
    """A bot in its sandbox. `ask` plays a move; `close` leaves no process and no file behind.

    A session belongs to the process that opened it. Its processes die with the thread that opened it, and the next
    move then opens it again. Only one thread at a time may call `ask`; any thread may call `close` at any time. It
    uses the cores of the thread that opened it. `resident` keeps a process of the bot from one `exchange` to the
    next, and `waiting` has lines for one that lives on until its next match, or None. `scratch` gives the program
    a folder that it can write to, "$TMP". `box` and `cold` are as for `BotPlayer`.
    """

    def __init__(
        self,
        program: Program,
        limits: Limits,
        *,
        box: str,
        cold: bool = False,
        resident: bool = False,
        scratch: bool = False,
    ) -> None:
        raise_file_limit(1)
        self.program, self.limits, self.kind, self.scratch = program, limits, box, scratch
        server = () if cold else program.server
        self.settings = {"command": program.command, "server": server, "resident": resident, **asdict(limits)}
        self.process: subprocess.Popen[bytes] | None = None
        self.waiting: list[str] | None = None
        self.cores = os.sched_getaffinity(0)
        self._in_use = threading.Lock()  # guards the pipes
        self._closed = False
        self._open()

    def ask(self, arguments: Sequence[str]) -> Reply:
        """Run the bot once with these arguments. Raises: SandboxClosed, also if `close` is called meanwhile."""
        return self._send("\0".join(arguments).encode(), self.limits.timeout, 2)

    def exchange(self, text: bytes, seconds: float, *, anew: bool = False) -> Reply:
        """Pass a text to the resident bot, wait for the line that it answers, in `stdout`; then freeze the bot.

        `anew` ends the last process and starts a new one. The cause is `lost` if the machine ended the session: a
        new process may be asked. After any cause but `exit` the bot's process has been ended.
        """
        kind = runner.BEGIN if anew else runner.ANSWER
        return self._send(runner.ASK.pack(kind, int(seconds * 1e9)) + text, seconds, 2 if anew else 1)

    def finish(self, text: bytes) -> Reply:
        """Pass the last text to the resident bot, and end it; `timeout` if it does not end by itself."""
        return self._send(runner.ASK.pack(runner.FINISH, 0) + text, 0, 1)

    def _send(self, frame: bytes, seconds: float, attempts: int) -> Reply:
        with self._in_use:
            reply = self._ask(runner.LENGTH.pack(len(frame)) + frame, seconds, attempts)
            if self._closed:
                self._end_process()
                raise SandboxClosed(f"the sandbox session of {self.program.name} was closed")
        return reply

    def close(self) -> None:
        """End the bot and all processes that it started. A move in progress in another thread raises SandboxClosed."""
        self._closed = True
        if self._in_use.locked() and (process := self.process):
            process.terminate()  # wakes a thread that waits for the reply
        with self._in_use:
            self._end_process()

    def _ask(self, message: bytes, seconds: float, attempts: int) -> Reply:
        for _ in range(attempts):  # a runner that died is replaced once; a bot without state can be asked again
            try:
                if self.process is None and not self._closed:
                    self._open()
                if self._closed:
                    break
                return self._exchange(message, seconds + GRACE_S)
            except (OSError, EOFError):
                self._end_process()
            except (SandboxError, BuildError) as error:
                return Reply("start", 0, 0, b"", str(error).encode())
        if attempts == 1:
            return Reply("lost", 0, 0, b"", b"")
        return Reply("start", 0, 0, b"", b"its sandbox session does not stay open")

    def _end_process(self) -> None:
        if self.process is None:
            return
        process, self.process = self.process, None
        assert process.stdin and process.stdout
        process.stdin.close()  # then the keeper ends all processes of the bot, removes its folder, and ends itself
        process.stdout.close()
        with suppress(subprocess.TimeoutExpired):
            process.wait(GRACE_S)
        process.kill()
        process.wait()
        self.box.close()

    def _open(self) -> None:
        python = find_tool(ENDINGS[".py"])
        binds = {*self.program.binds, *find_binds(python)}
        try:
            self.box = restrictions.make_box(self.kind, self.program.files, inside.runner_files(), binds, self.scratch)
        except ValueError as refused:
            raise BuildError(f"{self.program.name} cannot be loaded: {refused}") from None
        except OSError as error:
            raise SandboxError(f"the sandbox session of {self.program.name} does not open: {error}") from None
        settings = json.dumps({**self.settings, **self.box.settings})
        start = [python, "-I", "-S", "-B", "-c", inside.RUN, self.box.runner_folder, settings]
        with tempfile.TemporaryFile() as messages:
            try:
                self.process = subprocess.Popen(
                    [*FIRST_TO_END, *self.box.prefix, *start],
                    bufsize=0,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=messages,
                    start_new_session=True,
                    **self.box.popen,
                )
                assert self.process.stdout
                self.reply_poller = streams.make_poller(self.process.stdout.fileno())
                ready = self._exchange(b"", starters.READY_S + GRACE_S)
            except (OSError, EOFError) as error:
                self._end_process()
                self.box.close()
                messages.seek(0)
                why = messages.read().decode("utf-8", "replace").strip() or error
                raise SandboxError(f"the sandbox session of {self.program.name} does not open: {why}") from None
        self.box.started()
        if ready.cause != "exit":
            self._end_process()
            log = ready.stderr.decode("utf-8", "replace").strip()
            why = log.splitlines()[-1] + python_2_hint(log)
            raise BuildError(f"{self.program.name} cannot be loaded: {why}", log)

    def _exchange(self, message: bytes, seconds: float) -> Reply:
        """Send a message and read the reply. Raises: EOFError, OSError if the runner died or does not answer."""
        process = self.process
        assert process and process.stdin and process.stdout
        streams.write_all(process.stdin.fileno(), message)
        data, size, source = bytearray(), runner.HEADER.size, process.stdout.fileno()
        while len(data) < size:
            self._await_reply(seconds)
            chunk = os.read(source, streams.CHUNK)
            if not chunk:
                raise EOFError("the runner has ended")
            data += chunk
            if size == runner.HEADER.size <= len(data):
                cause, status, elapsed, out, err = runner.HEADER.unpack_from(data)
                if cause >= len(runner.CAUSES) or out > self.limits.output or err > self.limits.errors:
                    raise OSError("invalid reply from the runner")
                size += out + err
        body = bytes(data[runner.HEADER.size :])
        stdout, stderr = body[:out], body[out:]
        if folder := self.box.folder.encode():  # it has another name in each session, and none in bubblewrap
            stdout = stdout.replace(folder, b"/" * len(folder) * self.scratch)  # compiled files keep their length
            stderr = stderr.replace(folder, b"")
        return Reply(runner.CAUSES[cause], status, elapsed, stdout, stderr)

    def _await_reply(self, seconds: float) -> None:
        """Wait for the runner; raise TimeoutError if it sends nothing for so many seconds.

        Time is counted in ticks, which count the same however long they take: suspending causes no timeout.
        """
        left = seconds
        while not self.reply_poller.poll(min(left, TICK_S) * 1000):
            left -= TICK_S
            if left <= 0:
                raise TimeoutError("the runner does not answer")
