"""The runner of a resident bot, which lives for many frames: each is an `ASK`, and then text for the bot's stdin."""

import os
import select
import signal
import struct
import time
from typing import Any

from bjsim.bots.sandbox.inside.runner import CHATTER, ENDED, EXIT, FLOOD, LEFT_S, START, TIMEOUT, Runner
from bjsim.bots.sandbox.inside.starters import TICK_MS, Spawner
from bjsim.bots.sandbox.inside.streams import Input, make_poller

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
        self.log_sent = 0  # bytes of stderr in earlier replies

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
        log, self.log_sent = self.err.data[self.log_sent :], len(self.err.data)
        return self._reply(cause, status, elapsed, answer, log)

    def _begin_life(self) -> None:
        self.stdin.open()
        self.out.drain()  # what the last process wrote when it was let go is not an answer of this one
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
        last_line = text.rfind(b"\n", 0, -1) + 1
        news = self.stdin.write(text[:last_line])
        os.killpg(self.group, signal.SIGCONT)
        cause, status = self._await_line(news, text[last_line:], limit_ns)
        self.answered = time.monotonic_ns()
        if cause == EXIT:
            os.killpg(self.group, signal.SIGSTOP)
            self.out.drain()  # a second line, perhaps written meanwhile
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

    def stop_again(self) -> None:
        """Stop the bot's processes that escaped: one may have woken another in the moment before it was stopped."""
        if self.alive:
            os.killpg(self.group, signal.SIGSTOP)


def _ms_until(deadline: float) -> float:
    return max(0.0, deadline - time.monotonic()) * 1000
