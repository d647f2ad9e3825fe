"""Serves the frames that arrive on stdin, in a bot's box. It starts as the keeper, and forks."""

import json
import os
import signal
import sys
from collections.abc import Iterator
from typing import Any

from bjsim.bots.sandbox.inside import landlock, seccomp
from bjsim.bots.sandbox.inside.keeper import contain
from bjsim.bots.sandbox.inside.runner import LENGTH, ResidentRunner, Runner, limit_self
from bjsim.bots.sandbox.inside.starters import IGNORED, Spawner
from bjsim.bots.sandbox.inside.streams import CHUNK, make_poller, write_all

FIRST_WAIT_MS, LAST_WAIT_MS = 1, 16  # for a frame, before a resident bot is stopped again


def confine(settings: dict[str, Any], group: int, guarded: list[int]) -> Spawner:
    """Make the thread that starts the bot's programs, and put it under the filter and the rules of the box."""
    spawner = Spawner(group)
    owners = seccomp.REFUSE
    if settings["scratch"]:  # a compiler makes its files executable, on a disk of its own or in name only
        owners = seccomp.PRETEND if settings["rules"] else seccomp.ALLOW
    if settings["rules"]:
        spawner.call(landlock.enter, settings["rules"])  # before the filter, which refuses it
    spawner.call(seccomp.enter, group, [os.getpid(), spawner.thread, *guarded], bool(settings["scratch"]), owners)
    return spawner


def frames(descriptor: int, runner: Runner) -> Iterator[bytes]:
    """The frames that are read from the descriptor, until its end. Meanwhile the runner may have something to do."""
    data, poller, wait_ms = b"", make_poller(descriptor), FIRST_WAIT_MS
    while True:
        if isinstance(runner, ResidentRunner) and not poller.poll(wait_ms):
            runner.stop_again()
            wait_ms = min(2 * wait_ms, LAST_WAIT_MS)
            continue
        wait_ms = FIRST_WAIT_MS
        if not (chunk := os.read(descriptor, CHUNK)):
            return
        data += chunk
        while len(data) >= LENGTH.size and len(data) >= (end := LENGTH.size + LENGTH.unpack_from(data)[0]):
            yield data[LENGTH.size : end]
            data = data[end:]


def main() -> None:
    """Serve moves until stdin ends."""
    settings = json.loads(sys.argv[1])
    group, apart, guarded = contain(settings["user"], settings["folder"], settings["counted"])
    for number in IGNORED:
        signal.signal(number, signal.SIG_IGN)
    # Duplicates are not inherited, so the bot cannot reach them.
    requests, replies = os.dup(0), os.dup(1)
    with open(os.devnull, "r+b", buffering=0) as null:
        for descriptor in (0, 1):
            os.dup2(null.fileno(), descriptor)
    spawner = confine(settings, group, guarded)
    runner = (ResidentRunner if settings["resident"] else Runner)(settings, spawner)
    limit_self(runner.memory, int(settings["processes"]), int(settings["files"]), apart)
    write_all(replies, runner.ready())
    for frame in frames(requests, runner):
        write_all(replies, runner.move(frame))
