"""The keeper: starts the runner of a bot, and ends all processes of the bot when bjsim or the runner has ended.

The bot's processes are in one process group, which the filter (`seccomp.py`) keeps them from leaving. One signal to the
group ends them all: the kernel sends it under the lock that `fork` needs, and a process that is to be killed cannot
fork. The keeper is neither under the filter nor in the reach of the bot, and needs no privilege.
"""

from __future__ import annotations

import ctypes
import os
import select
import signal
import time
from collections.abc import Iterator
from contextlib import suppress

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER = 1, 4, 36
CLONE_NEWUSER = 0x10000000
ANCESTORS = 16  # of the keeper, at most, that the bot must not signal
PAUSE_S = 0.002  # until the bot's last process has been started, and can be ended
libc = ctypes.CDLL(None)


def contain(user: int | None, folder: str, counted: bool) -> tuple[int, bool, list[int]]:
    """Fork; the parent becomes the keeper, which does not return, and the child the runner.

    user: whom the runner is to become. folder: what the keeper removes at its end; "" for nothing. counted: whether
    this kernel counts the processes of each user namespace.

    Returns:
        The process group to start the bot in, whether its processes are counted apart from all others, and what it must
        not signal: the keeper, bjsim, and what started it.
    """
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    group, keeper, guarded = _new_group(user), os.getpid(), [*ancestors()]
    if runner := os.fork():
        _keep(group, runner, folder)
    if user is not None:
        os.setgroups([])
        os.setgid(user)
        os.setuid(user)
    apart = counted and libc.unshare(CLONE_NEWUSER) == 0
    libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)

    def end(*_: object) -> None:
        os.killpg(group, signal.SIGKILL)
        os._exit(1)

    signal.signal(signal.SIGTERM, end)
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)  # should the keeper be killed
    if os.getppid() != keeper:
        os._exit(1)
    return group, apart, guarded


def ancestors() -> Iterator[int]:
    """This process, its parent, and so on, up to one of another user where /proc hides those (hidepid)."""
    pid = os.getpid()
    with suppress(OSError):
        for _ in range(ANCESTORS):
            yield pid
            if pid <= 1:
                return
            with open(f"/proc/{pid}/stat") as stat:
                pid = int(stat.read().rpartition(")")[2].split()[1])


def _new_group(user: int | None) -> int:
    """A process group of this session, which `user` may signal.

    Its leader has ended but is never waited for, so its number stays taken.
    """
    leader = os.fork()
    if leader == 0:
        if user is not None:
            os.setuid(user)
        os._exit(0)
    os.setpgid(leader, leader)
    os.waitid(os.P_PID, leader, os.WEXITED | os.WNOWAIT)
    return leader


def _keep(group: int, runner: int, folder: str) -> None:
    """Wait for the end of bjsim, of its thread that started this, or of the runner; then end all that is left."""
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake)
    signal.signal(signal.SIGTERM, lambda *_: None)
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)
    libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    poller = select.poll()
    poller.register(0, 0)  # the end of the pipe from bjsim, not what is in it
    poller.register(woken, select.POLLIN)
    poller.register(os.pidfd_open(runner), select.POLLIN)
    poller.poll()
    os.kill(runner, signal.SIGKILL)  # first, so that it starts nothing more
    with open(f"/proc/self/task/{os.getpid()}/children") as children:
        # The leader of the group is waited for last, as the number of the group is its own.
        while others := [pid for pid in map(int, children.read().split()) if pid != group]:
            os.killpg(group, signal.SIGKILL)
            time.sleep(PAUSE_S)
            for pid in others:
                os.waitpid(pid, os.WNOHANG)
            children.seek(0)
    if folder:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        os.execv("/bin/rm", ["rm", "-rf", "--", folder])
    os._exit(0)
