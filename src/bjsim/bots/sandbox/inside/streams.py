"""The pipes between the runner and a bot's standard streams."""

import fcntl
import os
import select
from contextlib import suppress

CHUNK = 16384  # bytes read at once
PIPE, PAGE = 1 << 20, 4096  # bytes: the largest capacity of a pipe, and of each part of it, which may hold a byte
SET_PIPE_SIZE = 1031  # fcntl command F_SETPIPE_SZ, which old interpreters do not name


class Output:
    """One output pipe of the bot, and what was read in this move: the first `limit` bytes, and their `total`."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.read_end, self.write_end = os.pipe()
        os.set_blocking(self.read_end, False)
        if limit > CHUNK:
            with suppress(OSError):  # only slower with a small pipe
                fcntl.fcntl(self.write_end, SET_PIPE_SIZE, PIPE)
        self.poller = make_poller(self.read_end)
        self.data, self.total = b"", 0

    def drain(self, *, all_of_it: bool = False) -> None:
        """Read what is in the pipe now, without waiting; `all_of_it` also where a read returns one write only."""
        for _ in range(PIPE // PAGE):  # bounded: a bot may fill the pipe as fast as it is read
            if not self.poller.poll(0):
                return
            try:
                chunk = os.read(self.read_end, CHUNK)
            except BlockingIOError:  # the bot was faster; the poll saves this exception in other cases, as it is slow
                return
            self.total += len(chunk)
            self.data += chunk[: self.limit - len(self.data)]
            if len(chunk) < CHUNK and not all_of_it:
                return

    def renew(self) -> None:
        """Forget the bot's last process, and remove the marks that it can leave here for the next: flags, and times."""
        self.drain(all_of_it=True)
        fcntl.fcntl(self.write_end, fcntl.F_SETFL, 0)
        os.read(self.read_end, os.write(self.write_end, b"-"))
        self.clear()

    def clear(self) -> None:
        self.data, self.total = b"", 0


class Input:
    """The stdin of a resident bot: one pipe, which a fork server can pass on, opened again for each process.

    It has a single page, so that it can be written to when it is empty, and only then.
    """

    def __init__(self) -> None:
        self.read_end, self.write_end = os.pipe()
        fcntl.fcntl(self.write_end, SET_PIPE_SIZE, 1)  # rounded up to a page

    def open(self) -> None:
        """Discard what the last process left unread, and its marks, as `Output.renew` does."""
        self.close()
        os.set_blocking(self.read_end, False)
        with suppress(BlockingIOError):
            while os.read(self.read_end, CHUNK):
                pass
        fcntl.fcntl(self.read_end, fcntl.F_SETFL, 0)
        self.write_end = os.open(f"/proc/self/fd/{self.read_end}", os.O_WRONLY | os.O_NONBLOCK)
        os.read(self.read_end, os.write(self.write_end, b"-"))

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


def write_all(descriptor: int, data: bytes) -> None:
    """Write to a pipe. A signal, such as that a child was stopped, ends a write that waits after a part."""
    while data:
        data = data[os.write(descriptor, data) :]


def make_poller(descriptor: int) -> select.poll:
    """A poller for `descriptor` to be readable or at its end."""
    poller = select.poll()
    poller.register(descriptor, select.POLLIN)
    return poller
