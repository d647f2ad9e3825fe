"""The runner: a process in a bot's box, which starts the bot once per move and reports the result.

Protocol: stdin carries frames, each a length (`LENGTH`) and then the move's arguments joined by NUL. stdout carries
replies, each a `HEADER` and then the bot's stdout and stderr. The first reply is sent before any frame arrives, and
reports whether the bot could be made ready.

The bot is started in one of two modes. In exec mode the program is executed for every move. In fork mode a fork server,
which has the program loaded, forks a process for every move and reports how it ended (`fork_server.py`, for Python).
"""

import os
import re
import resource
import select
import signal
import struct
import time
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from typing import Any

from bjsim.bots.sandbox.inside.starters import TICK_MS, ExecStarter, ForkStarter, Spawner, StartError
from bjsim.bots.sandbox.inside.streams import CHUNK, Input, Output, make_poller

LENGTH = struct.Struct("<I")  # of the frame that follows
HEADER = struct.Struct("<BiQII")  # cause, status, elapsed nanoseconds, length of stdout, length of stderr
CAUSES = ("exit", "timeout", "cpu", "memory", "flood", "start", "orphan", "ended", "chatter")  # why the move ended
EXIT, TIMEOUT, CPU, MEMORY, FLOOD, START, ORPHAN, ENDED, CHATTER = range(len(CAUSES))

PAUSE_S = 1.0  # a tick longer than this means that the machine was suspended; it does not count as the bot's time
LEFT_S = 0.25  # grace for the bot's other processes to end after its first one; counts as the bot's time
UNLIMITED = 1 << 62  # nanoseconds of processor time
MARGIN = 1000  # processes for each core, where those of all programs of the user are counted, other bots too
SIGNALS = 256  # that wait, of all that the user has
BUFFER_KIB, FREE = 208, 16  # of the socket that each descriptor may be; descriptors of a process that do not count
HELD = re.compile(rb"^(?:Vm(?:RSS|PTE|Swap)|HugetlbPages):\s+(\d+) kB", re.M)  # page tables count too


class Runner:
    """Plays moves one at a time, within limits, and leaves no process behind.

    `settings` are `command` and `server` (may be empty) of exec and fork mode, `resident` (see `ResidentRunner`),
    `scratch` (a folder that the program may write to, or None), whether it is a `disk` that others use too, and the
    fields of `bjsim.bots.sandbox.session.Limits`.
    """

    def __init__(self, settings: dict[str, Any], spawner: Spawner) -> None:
        self.timeout_ns = int(settings["timeout"] * 1e9)
        self.memory, self.output = int(settings["memory"]), int(settings["output"])
        self.processes = int(settings["processes"])
        self.reaped_s = 0.0  # processor time of the bot's orphans that have ended
        self.out, self.err = Output(self.output), Output(int(settings["errors"]))
        self.stdin = Input() if settings["resident"] else None
        self.scratch = Scratch(settings["scratch"], settings["disk"]) if settings["scratch"] else None
        starter = ForkStarter if settings["server"] else ExecStarter
        self.starter = starter(spawner, settings["server"] or settings["command"], self.out, self.err, self.stdin)
        self.group = spawner.group
        threads = (spawner.thread, os.getpid())  # the first has the children that it started, the other all orphans
        self.children = [os.open(f"/proc/self/task/{thread}/children", os.O_RDONLY) for thread in threads]

    def ready(self) -> bytes:
        """Start the bot; returns the first reply."""
        try:
            self.starter.start()
        except StartError as error:
            return self._reply(START, 0, 0, b"", os.fsencode(str(error))[: self.err.limit])
        return self._reply(EXIT, 0, 0, b"", b"")

    def move(self, frame: bytes) -> bytes:
        self.started = self.ticked = time.monotonic_ns()
        self.reaped_s = 0.0
        self.out.renew()
        self.err.renew()
        try:
            ended = self._begin(frame)
        except OSError as error:
            return self._reply(START, 0, 0, b"", os.fsencode(error.strerror or str(error)))
        cause = EXIT
        while cause == EXIT and not ended.poll(TICK_MS):
            cause = self._exceeded(self.timeout_ns, self.timeout_ns)
        status = self.starter.end() if cause == EXIT else 0
        if cause == EXIT:
            cause = self._wait_for_rest(self.started)
        self.out.drain(all_of_it=True)
        self.err.drain(all_of_it=True)
        if cause == EXIT and self.out.total > self.output:
            cause = FLOOD
        out, err = self.out.data, self.err.data
        if cause != EXIT or os.WIFSIGNALED(status):  # a signal may have ended the server too
            self.clean()
        else:
            self.starter.prepare()
        return self._reply(cause, status, time.monotonic_ns() - self.started, out, err)

    def _wait_for_rest(self, started: int) -> int:
        """Return EXIT if all processes of a move end soon after its first one, else what they did."""
        deadline = min(time.monotonic_ns() + int(LEFT_S * 1e9), started + self.timeout_ns)
        while self._child_list() != self.starter.residents:
            self._reap()
            now = time.monotonic_ns()
            if now > deadline:
                return ORPHAN
            if now - self.ticked >= TICK_MS * 1_000_000:
                self.ticked = now
                if (cause := self._used_too_much(UNLIMITED)) != EXIT:
                    return cause
            if self._child_list() != self.starter.residents:
                time.sleep(0.001)
        return EXIT

    def _begin(self, frame: bytes) -> select.poll:
        try:
            return self.starter.begin(frame)
        except OSError:
            self.clean()  # retried once: if the machine ended the server, that is not the bot's fault
            return self.starter.begin(frame)

    def _exceeded(self, limit_ns: int, cpu_ns: int) -> int:
        """The cause of the end if a limit is exceeded, else EXIT; asked every TICK_MS of a move."""
        now = time.monotonic_ns()
        if now - self.ticked > PAUSE_S * 1e9:
            self.started += now - self.ticked
        self.ticked = now
        self.out.drain()
        self.err.drain()
        if self.out.total > self.output:
            return FLOOD
        return TIMEOUT if now - self.started > limit_ns else self._used_too_much(cpu_ns)

    def _used_too_much(self, cpu_ns: int) -> int:
        """CPU or MEMORY if all processes of the bot use more; MEMORY also if there are too many, threads included.

        The fork server's processor time is left out.
        """
        self._reap()
        ticks, tasks, kib = 0, 0, self.scratch.kib() if self.scratch else 0
        pids = [*islice(self._descendants(), self.processes + 1)]
        if len(pids) > self.processes:
            return MEMORY  # before more is read, which takes long while so many fork
        for pid in pids:
            try:
                with open(f"/proc/{pid}/stat", "rb") as stat, open(f"/proc/{pid}/status", "rb") as status:
                    fields = stat.read().rpartition(b")")[2].split()
                    kib += sum(map(int, HELD.findall(status.read())))
                descriptors = os.stat(f"/proc/{pid}/fd").st_size  # 0 before Linux 6.2
            except OSError:
                continue
            kib += BUFFER_KIB * max(0, descriptors - FREE)
            tasks += int(fields[17])
            if b"%d " % pid != self.starter.residents:
                ticks += sum(map(int, fields[11:15]))
        if ticks / os.sysconf("SC_CLK_TCK") + self.reaped_s > cpu_ns / 1e9:
            return CPU
        return MEMORY if kib << 10 > self.memory or tasks > self.processes else EXIT

    def _reap(self) -> None:
        """Wait for the bot's orphans that have ended: until then they count as processes."""
        for pid in self._child_list(1).split():
            self.reaped_s += sum(os.wait4(int(pid), os.WNOHANG)[2][:2])

    def _descendants(self) -> Iterator[int]:
        found = [*map(int, self._child_list().split())]
        yield from found
        for pid in found:  # it grows
            try:
                for thread in os.listdir(f"/proc/{pid}/task"):
                    with open(f"/proc/{pid}/task/{thread}/children", "rb") as children:
                        yield from (new := [*map(int, children.read().split())])
                        found += new
            except OSError:
                continue

    def _child_list(self, first: int = 0) -> bytes:
        """The pids of this process's children as the kernel lists them: of all, or of the bot's orphans alone (1)."""
        lists = (os.pread(children, CHUNK, 0) for children in self.children[first:])
        return b"".join(pids[: pids.rfind(b" ") + 1] for pids in lists)

    def clean(self) -> None:
        """Kill all processes of the bot, wait until they have ended, and restart the fork server."""
        with suppress(ChildProcessError):
            while True:  # children of a process that dies become this process's
                os.killpg(self.group, signal.SIGKILL)
                os.waitpid(-1, 0)
        self.out.drain()  # output of orphans belongs to no move
        self.err.drain()
        with suppress(StartError):  # the next move reports that there is no server
            self.starter.start()

    @staticmethod
    def _reply(cause: int, status: int, elapsed: int, out: bytes, err: bytes) -> bytes:
        code = os.waitstatus_to_exitcode(status)
        return HEADER.pack(cause, code, elapsed, len(out), len(err)) + out + err


class Scratch:
    """The folder of a compiler; `disk`: on a disk that others use too, else in memory."""

    def __init__(self, folder: str, disk: bool) -> None:
        self.folder, self.disk, self.before = folder, disk, 0
        self.before = self._used()

    def kib(self) -> int:
        """How much it holds, and 1 KiB for each file; a quarter of what the disk lost, as a file may have no name."""
        used = self._used() - self.before
        if not self.disk:
            return used
        named = 0
        for folder, folders, files in os.walk(self.folder):
            for name in (*folders, *files):
                with suppress(OSError):
                    named += 1 + os.lstat(os.path.join(folder, name)).st_blocks // 2
        return max(named, used // 4)

    def _used(self) -> int:
        held = os.statvfs(self.folder)
        return ((held.f_blocks - held.f_bfree) * held.f_frsize >> 10) + held.f_files - held.f_ffree


def limit_self(memory: int, processes: int, files: int, apart: bool) -> None:
    """Set the limits that the bot inherits. They apply to each process; `Runner` checks the sum over all of them.

    `processes` is exact if they are counted `apart`; else those of other programs of the user count too, and their
    number changes, so that it only keeps a bot from filling the machine until `Runner` has counted. The address space
    is not limited, because Java reserves far more than it uses. The limit on data is twice `memory`, because SBCL
    requests 300 MB at its start and uses a tenth of them.
    """
    tasks = len(os.listdir("/proc/self/task"))
    if not apart:
        tasks, processes = 0, MARGIN * (os.cpu_count() or 1)
        for pid in filter(str.isdigit, os.listdir("/proc")):
            with suppress(OSError):
                tasks += len(os.listdir(f"/proc/{pid}/task")) if os.stat(f"/proc/{pid}").st_uid == os.getuid() else 0
    for kind, value in (
        (resource.RLIMIT_NPROC, tasks + processes),
        (resource.RLIMIT_DATA, 2 * memory),
        (resource.RLIMIT_FSIZE, files),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NOFILE, 64),
        (resource.RLIMIT_MEMLOCK, 0),
        (resource.RLIMIT_SIGPENDING, SIGNALS),
    ):
        hard = resource.getrlimit(kind)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (value, value))


# --- The runner of a resident bot, which lives for many frames: each is an `ASK`, and then text for the bot's stdin.


ASK = struct.Struct("<BQ")  # what to do, nanoseconds for the answer
BEGIN, ANSWER, FINISH = range(3)  # start a new process and await its first line; await a line; end the process
RESIDENT = b"line"  # the only argument of a resident bot, so that one program can know both protocols


class ResidentRunner(Runner):
    """Keeps one process of the bot for many frames. All its processes are stopped between frames.

    Its limits on memory and processes hold for its whole life. It may use as much processor time as it was awake, and
    as much again as it has for one answer.
    """

    stdin: Input

    def __init__(self, settings: dict[str, Any], spawner: Spawner) -> None:
        super().__init__(settings, spawner)
        self.alive = False
        self.awake_ns = self.unchecked_ns = 0  # in this life; since memory was checked

    def move(self, frame: bytes) -> bytes:
        """Serve a frame; returns the reply: its stdout is the line without its end, its stderr what is new."""
        kind, limit_ns = ASK.unpack_from(frame)
        text, status = frame[ASK.size :], 0
        elapsed, cause, answer = 0, EXIT, b""
        if kind != ANSWER and self.alive:
            itself = self._finish(text, LEFT_S) if kind == FINISH else self._finish(b"", 0)
            cause = EXIT if itself or kind == BEGIN else TIMEOUT
        self.started = self.ticked = time.monotonic_ns()
        if kind == BEGIN:
            try:
                self._begin_life()
            except OSError as error:
                return self._reply(START, 0, 0, b"", os.fsencode(error.strerror or str(error)))
        if kind != FINISH:
            cause, status, answer = self._answer(text, limit_ns) if self.alive else (ENDED, 0, b"")
            elapsed = (self.answered if cause == EXIT else time.monotonic_ns()) - self.started
            if cause == TIMEOUT and not answer:  # what an end of its input brings out was written, but not flushed
                self._finish(b"", LEFT_S)
                self.out.drain()
                answer = self.out.data[: self.output]
            elif cause != EXIT:
                self.clean()
            self.alive = self.alive and cause == EXIT
        self.err.drain()
        log = self.err.data
        self.err.clear()
        return self._reply(cause, status, elapsed, answer, log)

    def _begin_life(self) -> None:
        self.stdin.open()
        self.out.renew()  # what the last process wrote when it was let go is not an answer of this one
        self.err.renew()
        self.awake_ns = self.unchecked_ns = self.reaped_s = 0
        self._begin(RESIDENT)
        self.poller = make_poller(self.starter.end_signal)
        self.poller.register(self.out.read_end, select.POLLIN)
        self.alive = True

    def _answer(self, text: bytes, limit_ns: int) -> tuple[int, int, bytes]:
        """Wake the bot, pass it the text, and wait for a line; returns the cause, the wait status, and the line."""
        self.out.drain()
        if self.out.total:
            return CHATTER, 0, self.out.data
        last_line = text.rfind(b"\n", 0, -1) + 1
        news = self.stdin.write(text[:last_line])
        os.killpg(self.group, signal.SIGCONT)
        cause, status = self._await_line(news, text[last_line:], limit_ns)
        self.answered = time.monotonic_ns()
        if cause == EXIT:
            os.killpg(self.group, signal.SIGSTOP)
            self.out.drain()  # a second line, perhaps written meanwhile
            self._reap()
        awake_ns = self.answered - self.started
        self.awake_ns += awake_ns
        self.unchecked_ns += awake_ns
        line, _, more = self.out.data.partition(b"\n")
        if cause == EXIT and more:
            cause = CHATTER
        if cause == EXIT and self.unchecked_ns > TICK_MS * 1_000_000:
            self.unchecked_ns = 0
            cause = self._used_too_much(self.awake_ns + limit_ns)
        if cause == EXIT:
            self.out.clear()
        return cause, status, line.removesuffix(b"\r")

    def _await_line(self, news: bytes, question: bytes, limit_ns: int) -> tuple[int, int]:
        """Pass on the text, and wait for a line, the end of the process, or a limit; return cause and wait status.

        The bot gets `question`, the last line of the text, when it has read everything before it (`news` is what
        is not written yet), and has written nothing until then. So a line that it began after its last answer,
        perhaps when it was being stopped, is not taken for the next one.
        """
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
            if now - self.ticked >= TICK_MS * 1_000_000:
                cause = self._exceeded(limit_ns, self.awake_ns + now - self.started + limit_ns)
                if cause != EXIT:
                    return cause, 0

    def _finish(self, text: bytes, seconds: float) -> bool:
        """Pass the text and the end of its input to the bot; end it after so long, unless it ends by itself (True)."""
        os.killpg(self.group, signal.SIGCONT)
        poller, deadline = make_poller(self.starter.end_signal), time.monotonic() + seconds
        poller.register(self.stdin.write_end, select.POLLOUT)
        while text and self.stdin.write_end in dict(self._await(poller, deadline)):
            text = self.stdin.write(text)
        poller.unregister(self.stdin.write_end)
        self.stdin.close()
        ended = self._await(poller, deadline)
        itself = bool(ended) and not os.WIFSIGNALED(self.starter.end())
        itself = itself and self._wait_for_rest(time.monotonic_ns()) == EXIT
        if itself:
            self.starter.prepare()
        else:
            self.clean()
        self.alive = False
        return itself

    def _await(self, poller: select.poll, deadline: float) -> list[tuple[int, int]]:
        """What is ready before the deadline, and before the bot has used too much."""
        while not (ready := poller.poll(min(TICK_MS, max(0.0, deadline - time.monotonic()) * 1000))):
            if time.monotonic() >= deadline or self._used_too_much(UNLIMITED) != EXIT:
                break
        return ready

    def stop_again(self) -> None:
        """Stop the bot's processes that escaped: one may have woken another in the moment before it was stopped."""
        if self.alive:
            os.killpg(self.group, signal.SIGSTOP)
