"""A line that moves while a command works: what it does, for how long, and about how much longer.

`main` starts it for every command, so that none is silent. It is drawn on a terminal once nothing
has been printed for a moment, and is erased before anything else is.
"""

import os
import shutil
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import cycle
from typing import Any, TextIO

from bjsim.sim.engine.compile_notice import compiling

QUIET = 0.5  # seconds without output until the line is drawn
EVERY = 0.2  # seconds between two of its frames
UNSURE = 1.0  # seconds before the time left is estimated
FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"


class Waiting:
    """The line, drawn on `stream`; None for nowhere."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self.lock = threading.RLock()
        self._stream = stream
        self._thread: threading.Thread | None = None
        self._over = threading.Event()
        self._frames = cycle(FRAMES)
        self._drawn = 0  # lines on the screen
        self._breaks = True  # whether the cursor is at the beginning of a line
        self._last = (0.0, 0.0)  # when something was said last, and how much was done then
        self._printed = time.monotonic()
        self.begin("working")

    def begin(self, what: str) -> None:
        """Show that something else is done from now on."""
        self._began = time.monotonic()
        self.what, self.below = "", ""
        self.say(what)

    def say(self, what: str, done: float = 0, total: float | None = None, detail: str = "") -> None:
        """Show what is done now, how much of it if that is known, and a detail."""
        now = time.monotonic(), done
        if what != self.what or not self._last[1]:  # the first part took the start and compilation too
            self._first = self._from = self._half = now
        elif done > self._half[1] and done - self._first[1] >= 2 * (self._half[1] - self._first[1]):
            self._from, self._half = self._half, now  # blocks grow, and the small ones are slow
        self._last = now
        self.what, self._total, self._detail = what, total, detail

    def text(self) -> str:
        """The line without its moving sign."""
        now, (began, before), (told, done) = time.monotonic(), self._from, self._last
        elapsed = f"{now - self._began:.0f} s "
        if kernel := compiling():
            return f"{elapsed} {kernel}"
        share = f"{min(done / self._total, 1):.1%}" if self._total else ""
        left = ""
        if self._total and before < done < self._total and now - self._first[0] >= UNSURE:
            left = f"about {(self._total - done) * (told - began) / (done - before):,.0f} s left"
        return f"{elapsed} {', '.join(filter(None, (self.what, share, self._detail, left)))}"

    def draw(self) -> None:
        width, height = shutil.get_terminal_size()
        first = "".join(letter if letter.isprintable() else "?" for letter in self.text())
        with self.lock:
            if self._stream is None or not self._breaks:
                return
            lines = [f"{next(self._frames)} {first}"[: width - 1], *self.below.splitlines()][: max(height - 1, 1)]
            self._stream.write(self._erasure() + "\n".join(lines))
            self._stream.flush()
            self._drawn = len(lines)

    def erase(self) -> None:
        with self.lock:
            if self._stream is not None and self._drawn:
                self._stream.write(self._erasure())
                self._stream.flush()
            self._drawn = 0

    def _erasure(self) -> str:
        return "\r\x1b[2K" + "\x1b[1A\x1b[2K" * (self._drawn - 1) if self._drawn else ""

    def printed(self, text: str) -> None:
        self._printed = time.monotonic()
        if text:
            self._breaks = text.endswith("\n")

    def start(self) -> None:
        """Let the line move, from a thread."""
        if self._stream is not None and self._thread is None:
            self._over.clear()
            self._thread = threading.Thread(target=self._move, name="bjsim-waiting", daemon=True)
            self._thread.ends_before_fork = True  # type: ignore[attr-defined]
            self._thread.start()

    def stop(self) -> bool:
        """End the thread. Returns: whether there was one."""
        thread, self._thread = self._thread, None
        self._over.set()
        if thread:
            thread.join()
        return thread is not None

    def _move(self) -> None:
        while not self._over.wait(EVERY):
            if self._drawn or time.monotonic() - self._printed >= QUIET:
                self.draw()

    def end(self) -> None:
        """Stop for good: what follows may be a conversation."""
        self.stop()
        self.erase()
        self._stream = None


class Watched:
    """An output stream that erases the line before it writes. Everything else is the stream's."""

    def __init__(self, stream: TextIO, line: Waiting) -> None:
        self._stream, self._line = stream, line

    def write(self, text: str) -> int:
        """Write text, which is not held back if it ends a line."""
        with self._line.lock:
            self._line.erase()
            self._line.printed(text)
            return self._stream.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


_line = Waiting()
_moved = False  # whether the line moved before a fork


def end_waiting() -> None:
    _line.end()


@contextmanager
def moving() -> Iterator[None]:
    """Show a moving line until the context ends, wherever a command works in silence on a terminal."""
    global _line
    streams = sys.stdout, sys.stderr
    screens = [each for each in (sys.stderr, sys.stdout) if each.isatty()]
    if not screens or os.environ.get("TERM") == "dumb":
        yield
        return
    _line = Waiting(screens[0])
    sys.stdout, sys.stderr = (Watched(each, _line) if each in screens else each for each in streams)
    _line.start()
    try:
        yield
    finally:
        _line.end()
        sys.stdout, sys.stderr = streams


@contextmanager
def waiting(what: str) -> Iterator[Waiting]:
    """Say on the moving line what is done until the context ends. what: What is done at first."""
    before = _line.what
    _line.begin(what)
    try:
        yield _line
    finally:
        _line.erase()
        _line.begin(before)


def _before_fork() -> None:
    """End the thread: the copy of the process would wait for ever for a lock that it holds."""
    global _moved
    _moved = _line.stop()


def _in_parent() -> None:
    if _moved:
        _line.start()


def _in_child() -> None:
    _line.lock, _line._stream, _line._drawn = threading.RLock(), None, 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_in_parent, after_in_child=_in_child)
