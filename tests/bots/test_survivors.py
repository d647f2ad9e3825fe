"""Nothing of a hostile bot outlives bjsim: no process and no folder, however it ends, in every box.

Each bot but the last does its harm in one move, forks 255 times at most, and lives for 40 seconds at most. It is played
by a program of its own, as an ordinary user where the tests run as root, and also on a machine without user namespaces
and Landlock.
"""

import io
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest
from bot_helpers import BOXES, COUNTED, left_of, needs, processes

import bjsim
from bjsim.bots.sandbox.inside import keeper
from bjsim.bots.sandbox.restrictions import readable

pytestmark = needs(".py")
USER = 54321  # an ordinary one, whom nothing belongs to
HARM = "harmful"  # the name that a process takes before it does its harm

HEAD = f"""
import ctypes, os, signal, time
ctypes.CDLL(None).prctl(15, {HARM!r}.encode(), 0, 0, 0)
time.sleep(0.5)  # a bomb is ended within milliseconds, and would not be seen to begin
def attempt(function, *arguments):
    try:
        return function(*arguments)
    except OSError:
        return None
def leave():
    if attempt(os.fork) == 0:
        attempt(os.setsid)
        if attempt(os.fork) == 0:
            time.sleep(40)
        os._exit(0)
def above():
    pids, pid = [], os.getppid()
    for _ in range(4):
        try:
            pid = int(open(f"/proc/{{pid}}/stat").read().rpartition(")")[2].split()[1])
        except (OSError, ValueError):
            pid += 1
        pids.append(pid)
    return [pid for pid in pids if pid > 1]
"""
BOTS = {
    "bomb": "for _ in range(8): attempt(os.fork)",
    "daemon": "for _ in range(3): leave()",
    "chain": """
for _ in range(8):
    if attempt(os.fork) == 0:
        for _ in range(30):
            attempt(os.setsid)
            if attempt(os.fork):
                time.sleep(0.02)
                os._exit(0)
            time.sleep(0.1)
        time.sleep(30)
""",
    "killer": "leave()\nfor pid in above(): attempt(os.kill, pid, signal.SIGKILL)",
    "stopper": "leave()\nfor pid in above(): attempt(os.kill, pid, signal.SIGSTOP)",
    "killall": "attempt(os.kill, -1, signal.SIGKILL)\nleave()",
    "groups": "attempt(os.setpgid, 0, 0)\nattempt(os.killpg, os.getpgrp(), signal.SIGSTOP)\nleave()",
    "deaf": "for number in {*range(1, 32)} - {9, 19}: signal.signal(number, signal.SIG_IGN)\nleave()",
    "sleeper": "",
}
HOST = """
import os, sys
sys.path.insert(0, sys.argv[1])
from bjsim.bots.player import open_bot
from bjsim.bots.sandbox import restrictions
from support.lacking import refuse
bot, box, user, lacking, timeout = sys.argv[2:]
if user != "0":
    os.setgroups([])
    os.setgid(int(user))
    os.setuid(int(user))
if lacking:
    refuse(*lacking.split(","))
restrictions.find_box = lambda: restrictions.Held(box, True, "")
with open_bot(bot, sandbox="required", timeout=float(timeout)) as player:
    player.run(["12"])
"""


def names(pids):
    for pid in pids:
        try:
            with open(f"/proc/{pid}/comm") as file:
                yield pid, file.read().strip()
        except OSError:
            continue


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return list(map(int, file.read().split()))


@pytest.fixture
def folder():
    """A folder that all users can write to."""
    with tempfile.TemporaryDirectory() as path:
        os.chmod(path, 0o777)
        yield Path(path)


def left_after(folder, bot, box, ending, user=0, lacking=""):
    """Processes and folders that remain, and the most processes at once, of the host's too."""
    before = processes()
    path = folder / f"{bot}.py"
    path.write_text(f"{HEAD}{BOTS[bot]}\ntime.sleep(40)\n")
    tests = os.path.dirname(os.path.dirname(__file__))
    # Five seconds are enough to begin, on a busy machine too.
    words = [sys.executable, "-c", HOST, tests, path, box, user, lacking, 5.0 if ending == "time" else 30.0]
    environment = {**os.environ, "TMPDIR": str(folder), "HOME": str(folder)}
    with subprocess.Popen(list(map(str, words)), env=environment, stderr=subprocess.DEVNULL) as host:
        deadline, most = time.monotonic() + 60, 0
        while HARM not in dict(names(processes() - before)).values():
            assert host.poll() is None and time.monotonic() < deadline, "it did not begin"
            time.sleep(0.02)
        for _ in range(6):
            most = max(most, len(processes() - before))
            time.sleep(0.05)
        if ending == "keeper":
            for pid in children(host.pid):
                os.kill(pid, signal.SIGKILL)
        elif ending != "time":
            host.send_signal(ending)
        if ending == "keeper":
            time.sleep(0.5)
            host.kill()
        host.wait(30)
    left = left_of(lambda: processes() - before, 3)
    return left, [] if ending == "keeper" else list(folder.glob("bjsim-bot-*")), most


ENDINGS = ["time", signal.SIGINT, signal.SIGTERM, signal.SIGKILL, "keeper"]
# bjsim reads its own files as this user, so a checkout in a folder of root's alone is played as root.
ORDINARY = USER if os.geteuid() == 0 and readable(os.path.dirname(bjsim.__file__)) else 0


NOTHING = ("none", "namespaces,landlock")  # neither bubblewrap, nor Landlock, nor user namespaces


@pytest.mark.parametrize(
    "ending", [signal.SIGKILL, signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("box", BOXES)
def test_when_bjsim_ends_so_does_the_bot(folder, box, ending):
    left, folders, most = left_after(folder, "sleeper", box, ending)
    assert not left and not folders and most > 2


# Every bot in every box as every user, and every two of bot, box, user and ending; with nothing, the endings in order.
EVERY_BOX: list[Any] = [
    box if hasattr(box, "marks") else pytest.param(box) for box in (*BOXES, ("Landlock", "namespaces"), NOTHING)
]
CASES = [
    pytest.param(bot, ENDINGS[(i + j + 2 * k + 1) % len(ENDINGS)], *box.values, user, marks=box.marks)
    for i, bot in enumerate(BOTS)
    for j, box in enumerate(EVERY_BOX)
    for k, user in enumerate(dict.fromkeys((ORDINARY, 0)))
]


@pytest.mark.slow
@pytest.mark.parametrize(("bot", "ending", "box", "user"), CASES)
def test_nothing_is_left(folder, bot, ending, box, user):
    kind, lacking = box if isinstance(box, tuple) else (box, "")
    left, folders, most = left_after(folder, bot, kind, ending, user, lacking)
    assert not left and not folders and most <= (40 if COUNTED and not lacking else 260)


def test_where_others_are_hidden_a_session_opens(monkeypatch):
    """With hidepid, processes of other users, such as the login process, have no entry in /proc."""

    def reads(path):
        if path != f"/proc/{os.getpid()}/stat":
            raise PermissionError(path)
        return io.StringIO("7 (a name) S 77 1 1")

    monkeypatch.setattr(keeper, "open", reads, raising=False)
    assert [*keeper.ancestors()] == [os.getpid(), 77]


def test_a_process_that_leaves_its_group_and_its_parent_is_seen():
    """Negative control: without the filter and the keeper."""
    before = processes()
    subprocess.run([sys.executable, "-c", f"{HEAD}\nleave()"], check=True, timeout=60)
    left = processes() - before
    assert len(left) == 1 and dict(names(left)) == {min(left): HARM}
    os.kill(min(left), signal.SIGKILL)
