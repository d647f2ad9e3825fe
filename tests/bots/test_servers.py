"""Fork servers: none of the bot's code runs in one, and processes left behind count as faults.

Each attack here once kept state between moves, or used time that was not counted.
"""

import os
import signal
import sys
import threading
import time

import pytest
from bot_helpers import BOX, BOXES, SAMPLES, a_view, needs, needs_sandbox, processes

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


COUNT = "#include <stdio.h>\n#include <unistd.h>\n#include <sys/syscall.h>\nstatic int n;\n"
PRINT = 'int main(void) { printf("S %d\\n", n); return 0; }\n'
# Each once ran in the server: it counts the moves there, or detects that it ran in another process than main.
TAKEOVERS = {
    "fork": COUNT + "int fork(void) { n++; return syscall(SYS_fork); }" + PRINT,
    "fork by its version": COUNT + "int mine(void) { n++; return syscall(SYS_fork); }\n"
    '__asm__(".symver mine, fork@@GLIBC_2.2.5");' + PRINT,
    "waitpid": COUNT + "int waitpid(int p, int *s, int o) { n++; return syscall(SYS_wait4, p, s, o, 0); }" + PRINT,
    "preinit": COUNT + "static int at; static void f(void) { at = getpid(); }\n"
    '__attribute__((section(".preinit_array"), used)) static void (*const p)(void) = f;\n'
    'int main(void) { printf("S %d\\n", at != getpid()); return 0; }',
    "ifunc": COUNT + "static long at; static int one(void) { return 1; }\nextern char **environ;\n"
    "static int (*pick(void))(void) { at = syscall(SYS_getpid); return one; }\n"
    'int f(void) __attribute__((ifunc("pick")));\n'
    'int main(void) { printf("S %d\\n", f() && at != getpid()); return 0; }',
}


@needs(".c")
@needs_sandbox
@pytest.mark.skipif(os.uname().machine != "x86_64", reason="ARM64 has no system call of that name")
@pytest.mark.parametrize("what", TAKEOVERS)
def test_a_c_bot_that_takes_over_the_c_library_has_no_server(bot, what):
    player = bot("x.c", TAKEOVERS[what], timeout=9.0)
    assert not player.program.server
    assert {player.ask(a_view()).stdout for _ in range(4)} == {b"S 0\n"} and not player.faults


@needs(".c")
@needs_sandbox
@pytest.mark.parametrize(
    "own",
    ["long __rela_iplt_start[3], __rela_iplt_end[1];", '__attribute__((section(".interp"))) char x[] = "/bin/sh";'],
)
def test_a_c_bot_with_parts_that_run_first_has_no_server(tmp_path, own):
    (tmp_path / "x.c").write_text(COUNT + own + PRINT)
    assert not build(tmp_path / "x.c", box=BOX).server


@needs(".c")
@needs_sandbox
def test_no_constructor_of_a_c_bot_runs_in_its_server(bot):
    source = COUNT + "#include <stdlib.h>\n"
    source += (
        '__attribute__((constructor(101))) static void f(void) { n = getenv("BJSIM_PREFORKED") != NULL; }\n' + PRINT
    )
    player = bot("x.c", source, timeout=9.0)
    assert player.program.server
    assert {player.ask(a_view()).stdout for _ in range(4)} == {b"S 0\n"} and not player.faults


@needs(".cpp")
@needs_sandbox
def test_honest_c_bots_have_a_server(tmp_path):
    """Also one with names that are local to fork_server.c and to the C library."""
    path = tmp_path / "x.c"
    path.write_text("int count, status, frame, buf; void init(void) {} int serve(void) { return 0; }\n" + COUNT + PRINT)
    for bot in (path, SAMPLES / "counter.c", SAMPLES / "lim17.cpp"):
        assert build(bot, box=BOX).server


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
