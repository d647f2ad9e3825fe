"""Serves the frames that arrive on stdin, as the first process in a bot's sandbox. It is started with the settings."""

from __future__ import annotations

import ctypes
import json
import os
import signal
import sys
from collections.abc import Iterator

from bjsim.bots.sandbox.inside.resident import ResidentRunner
from bjsim.bots.sandbox.inside.runner import LENGTH, Runner
from bjsim.bots.sandbox.inside.starters import IGNORED
from bjsim.bots.sandbox.inside.streams import CHUNK, make_poller

FIRST_WAIT_MS, LAST_WAIT_MS = 1, 16  # for a frame, before a resident bot is stopped again
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER = 1, 4, 36


def guard_self() -> None:
    """Make this process unreadable to the bot, the parent of all orphans, and one that dies with the session."""
    for number in IGNORED:
        signal.signal(number, signal.SIG_IGN)
    libc = ctypes.CDLL(None)
    libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def chunks(descriptor: int, runner: Runner) -> Iterator[bytes]:
    """What is read from the descriptor, until its end. Between two reads the runner may have something to do."""
    poller, wait_ms = make_poller(descriptor), FIRST_WAIT_MS
    while True:
        if isinstance(runner, ResidentRunner) and not poller.poll(wait_ms):
            runner.stop_again()
            wait_ms = min(2 * wait_ms, LAST_WAIT_MS)
            continue
        wait_ms = FIRST_WAIT_MS
        if not (chunk := os.read(descriptor, CHUNK)):
            return
        yield chunk


def frames(descriptor: int, runner: Runner) -> Iterator[bytes]:
    data = b""
    for chunk in chunks(descriptor, runner):
        data += chunk
        while len(data) >= LENGTH.size and len(data) >= (end := LENGTH.size + LENGTH.unpack_from(data)[0]):
            yield data[LENGTH.size : end]
            data = data[end:]


def main() -> None:
    """Serve moves until stdin ends."""
    guard_self()
    # Duplicates are not inherited, so the bot cannot reach them.
    requests, replies = os.dup(0), os.dup(1)
    with open(os.devnull, "r+b", buffering=0) as null:
        for descriptor in (0, 1):
            os.dup2(null.fileno(), descriptor)
    settings = json.loads(sys.argv[1])
    runner = (ResidentRunner if settings["resident"] else Runner)(settings)
    os.write(replies, runner.ready())
    for frame in frames(requests, runner):
        os.write(replies, runner.move(frame))
