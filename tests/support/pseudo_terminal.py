"""A command in a pseudo-terminal, and a person who types at its questions."""

from __future__ import annotations

import codecs
import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time
from collections.abc import Callable, Mapping

from bjsim.cli.waiting import FRAMES

PATIENCE = 60.0  # seconds
LINE = re.compile(rf"(?:(?:\r\x1b\[2K)?[{FRAMES}] [^\r\n]*)+\r\x1b\[2K")  # a slow start shows that it works


class PseudoTerminal:
    """`bjsim ARGS` in a pseudo-terminal of some width.

    Args:
        code: Python code to run instead of `bjsim`, with these arguments.

    Attributes:
        text: The whole transcript so far, with what was typed; line ends are `\\n`. The line that moves while the
            command works is left out, except by `watch`.
    """

    def __init__(
        self, *args: str, columns: int = 80, environment: Mapping[str, str] | None = None, code: str = ""
    ) -> None:
        self.text, self._decode = "", codecs.getincrementaldecoder("utf-8")("replace").decode
        child, self._terminal = pty.fork()
        if not child:
            kept = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES", "NO_COLOR")}
            modes = termios.tcgetattr(0)
            modes[3] |= termios.NOFLSH  # an interrupt does not throw away what is being printed
            termios.tcsetattr(0, termios.TCSANOW, modes)
            self._terminal = 0
            self.resize(columns)
            words = [sys.executable, *(["-c", code] if code else ["-m", "bjsim"]), *args]
            os.execve(sys.executable, words, {**kept, "TERM": "xterm", **(environment or {})})
        self._child = child

    def resize(self, columns: int) -> None:
        """Change the width, of which the program is notified by a signal."""
        fcntl.ioctl(self._terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 25, columns, 0, 0))

    def answer(self, keys: str) -> str:
        """Wait for the next question, and type. Returns: what was printed until then."""
        said = self._read(until="> ")
        os.write(self._terminal, keys.encode())
        return said

    def watch(self, enough: Callable[[str], bool], seconds: float = PATIENCE) -> bool:
        """Read until enough was printed, or for so long. Returns: whether it was."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and not enough(self.text):
            if select.select([self._terminal], [], [], 0.1)[0]:
                try:
                    self.text += self._decode(os.read(self._terminal, 65536))
                except OSError:  # the other side is closed
                    break
        return enough(self.text)

    def kill(self) -> None:
        """End the command at once."""
        os.kill(self._child, signal.SIGKILL)
        os.waitpid(self._child, 0)
        os.close(self._terminal)

    def finish(self, again: str = "") -> tuple[str, int]:
        """Wait for the end. Returns: the last words and the exit status, negative for a signal.

        again: Keys to type again every two seconds. An interrupt that comes just before the program reads is lost.
        """
        said = self._read(until="", again=again)
        return said, os.waitstatus_to_exitcode(os.waitpid(self._child, 0)[1])

    def _read(self, until: str, again: str = "") -> str:
        said, end = b"", time.monotonic() + PATIENCE
        idle = 0
        while time.monotonic() < end:
            if until and said.endswith(until.encode()):
                break
            if not select.select([self._terminal], [], [], 0.1)[0]:
                idle += 1
                if again and idle % 20 == 0:
                    with contextlib.suppress(OSError):
                        os.write(self._terminal, again.encode())
                continue
            try:
                more = os.read(self._terminal, 4096)
            except OSError:  # the other side is closed
                break
            if not more:
                break
            said += more
        else:
            raise AssertionError(f"no question within {PATIENCE:g} seconds: {said!r}")
        text = LINE.sub("", said.decode().replace("\r\n", "\n"))
        self.text += text
        return text
