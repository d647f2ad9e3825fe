"""The fork server: none of the bot's code runs in it, and processes left behind count as faults.

Each attack here once kept state between moves, or used time that was not counted.
"""

import os
import signal
import sys
import threading
import time

import pytest
from bot_helpers import BOX, BOXES, a_view, needs, needs_sandbox, processes

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


def test_a_server_imports_what_is_known_to_do_nothing_and_no_more():
    source = (
        b"import os, unittest.__main__, random as r, bot\nfrom json import *\n'''\nimport this, idlelib.idle\n'''\n"
    )
    assert fork_server.standard_imports(source) == {"os", "random", "json"}


def test_what_a_server_imports_does_nothing():
    """All of them are imported without output, and start no thread or process."""
    modules = set(fork_server.PRELOADED)
    program = f"import sys, threading; sys.argv[:] = ['']; before = set(sys.modules)\nfor name in {modules}:"
    program += "\n    __import__(name)\nassert threading.active_count() == 1 and '' not in sys.path\n"
    program += "assert not open('/proc/self/task/%d/children' % sys.modules['os'].getpid()).read()"
    done = os.spawnv(os.P_WAIT, sys.executable, [sys.executable, "-I", "-c", program])
    assert done == 0


HIJACKED = {
    "processes": "for _ in range(3):\n    if os.fork() == 0: __import__('time').sleep(60)\n",
    "memory": "sys.kept = bytes(64 << 20).replace(bytes(1), b'1')\n",
    "a thread": "__import__('_thread').start_new_thread(__import__('time').sleep, (60,))\n",
    "processor time": "until = os.times()[0] + 0.5\nwhile os.times()[0] < until: pass\n",
}


@needs(".py")
@needs_sandbox
@pytest.mark.parametrize("what", [None, *HIJACKED])
def test_a_server_that_does_more_than_serve_does_not_stay(tmp_path, monkeypatch, what):
    """In case a bot's code gets into the server: the attack is written into its source. None: the control."""
    line = "        os.write(STATUSES, status.to_bytes(4, sys.byteorder))\n"
    more = "".join(f"        {code}\n" for code in HIJACKED.get(what, "").splitlines())
    source = inside.source("fork_server.py").decode()
    assert source.count(line) == 1
    (tmp_path / "fork_server.py").write_text(source.replace(line, more + line))
    monkeypatch.setattr(inside, "FOLDER", tmp_path)
    for name, content in RUNNER.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "bot.py").write_text("print('S')")
    session = SandboxSession(build(tmp_path / "bot.py", box=BOX), Limits(timeout=20.0), box=BOX)
    try:
        replies = [session.ask(["12"]) for _ in range(2)]
    finally:
        session.close()
    assert {(reply.cause, reply.stdout) for reply in replies} == {("orphan" if what else "exit", b"S\n")}


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
