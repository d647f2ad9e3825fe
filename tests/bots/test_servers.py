"""The fork server: none of the bot's code runs in it, and processes left behind count as faults.

Each attack here once kept state between moves, or used time that was not counted.
"""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from bot_helpers import BOXES, a_view, needs, processes

from bjsim.bots.sandbox import inside
from bjsim.bots.sandbox.build import build
from bjsim.bots.sandbox.inside import fork_server, runner
from bjsim.bots.sandbox.session import Limits, SandboxSession
from bjsim.sim.game.actions import STAND

RUNNER = {name: inside.source(name) for name in inside.RUNNER}

# `unittest.__main__` runs the tests of the program that sys.argv names: so this file became a module of the server.
HIJACK = '''"""
import unittest.__main__
"""
import os
if __name__ == "bot":
    os.write(4, bytes(4)); n = 0
    while os.read(3, 4096):
        n += 1; os.write(1, b"S %d" % n); os.write(4, bytes(4))
print("S fresh")
'''


@needs(".py")
@pytest.mark.parametrize("mode", BOXES)
def test_no_import_runs_a_python_bot_in_its_server(bot, mode):
    player = bot("bot.py", HIJACK, box=mode, timeout=9.0)
    assert [player.ask(a_view()).stdout for _ in range(3)] == [b"S fresh\n"] * 3 and not player.faults


def test_a_server_imports_standard_modules_that_do_nothing_and_no_more(tmp_path):
    Path(tmp_path, "queue.py").touch()
    source = b"import os, unittest.__main__, random as r, bot, queue\nfrom json import *\n'''\nimport this\n'''\n"
    assert fork_server.standard_imports(source, str(tmp_path)) == {"os", "unittest", "random", "json"}


def test_what_a_server_imports_does_nothing():
    """All of them are imported without output but warnings that they are old, and start no thread or process."""
    program = f"import sys, threading; sys.argv[:] = ['']\nfor name in {set(fork_server.STANDARD)}:"
    program += "\n    try: __import__(name)\n    except ImportError: pass"
    program += "\nassert threading.active_count() == 1 and '' not in sys.path"
    program += "\nassert not open('/proc/self/task/%d/children' % sys.modules['os'].getpid()).read()"
    done = subprocess.run([sys.executable, "-I", "-Wignore", "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


ORPHAN = "import os, time\nif os.fork() == 0: time.sleep(60)\nprint('S')"


@needs(".py")
@pytest.mark.parametrize("mode", BOXES)
def test_a_process_left_behind_is_a_fault_that_counts(bot, mode):
    player = bot("x.py", ORPHAN, box=mode, timeout=9.0, strikes=3)
    assert [player.decide(a_view()) for _ in range(5)] == [STAND] * 5
    assert player.faults == {"orphan": 3} and player.strikes.out
    assert player.kept_faults[0].detail == "left a process running" and player.kept_faults[0].stdout == b"S\n"


@needs(".py")
@pytest.mark.parametrize("mode", BOXES)
def test_a_process_that_ends_soon_is_not_a_fault(bot, mode):
    player = bot("x.py", "import os, time\nif os.fork() == 0: time.sleep(0.02)\nelse: print('S', end='')",
                 box=mode, timeout=9.0)  # fmt: skip
    assert [player.decide(a_view()) for _ in range(5)] == [STAND] * 5 and not player.faults


@needs(".py")
def test_the_time_it_takes_to_clear_up_and_start_again_is_the_bots(tmp_path, monkeypatch):
    """The server takes 0.4 s to start, and the orphan has its grace time."""
    source = inside.source("fork_server.py").decode()
    line = "    count = int("
    assert source.count(line) == 1
    (tmp_path / "fork_server.py").write_text(source.replace(line, "    __import__('time').sleep(0.4)\n" + line))
    monkeypatch.setattr(inside, "FOLDER", tmp_path)
    for name, content in RUNNER.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "bot.py").write_text(ORPHAN)
    session = SandboxSession(build(tmp_path / "bot.py", box="none"), Limits(timeout=20.0), box="none")
    try:
        reply = session.ask(["12"])
    finally:
        session.close()
    assert reply.cause == "orphan" and reply.elapsed_ns >= (0.4 + runner.LEFT_S) * 1e9


@needs(".py")
@pytest.mark.slow
@pytest.mark.parametrize("mode", BOXES)
def test_a_suspended_machine_costs_no_bot_its_time(bot, mode):
    """All processes of a session are stopped for longer than the timeout, while the bot computes for 0.3 s."""
    before = processes()
    player = bot("x.py", "import time\nwhile time.process_time() < 0.3: pass\nprint('S')", box=mode, timeout=3.0)
    stopped = processes() - before

    def pause():
        time.sleep(0.1)
        found = (processes() - before) | stopped
        for number in (signal.SIGSTOP, signal.SIGCONT):
            for pid in found:
                try:
                    os.kill(pid, number)
                except ProcessLookupError:
                    continue
            time.sleep(4.0 if number == signal.SIGSTOP else 0)

    for _ in range(2):
        pausing = threading.Thread(target=pause)
        pausing.start()
        assert player.decide(a_view()) == STAND
        pausing.join()
    assert not player.faults, player.kept_faults


def test_waiting_for_a_reply_counts_ticks(monkeypatch):
    """A wait counts as one tick, however long it took."""
    polled = []

    class Answer:
        def poll(self, milliseconds):
            polled.append(milliseconds)
            return len(polled) > 11

    session = SandboxSession.__new__(SandboxSession)
    session.reply_poller = Answer()
    session._await_reply(11.5)
    assert polled == [1000] * 11 + [500]
    polled.clear()
    with pytest.raises(TimeoutError, match="does not answer"):
        session._await_reply(3.0)
    assert polled == [1000] * 3
