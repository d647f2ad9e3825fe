"""Sandbox sessions: fork and exec mode agree, limits hold without a sandbox too, and no process is left behind."""

import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import closing, nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from bot_helpers import BOXES, SAMPLES, Scripted, a_view, change_inside, lim17, line_bot, needs, processes

from bjsim.bots.player import open_bot
from bjsim.bots.sandbox import inside, restrictions, session
from bjsim.bots.sandbox.build import build
from bjsim.bots.sandbox.inside import fork_server, landlock, runner, streams
from bjsim.bots.sandbox.languages import ENDINGS, BuildError, find_tool
from bjsim.bots.sandbox.restrictions import SANDBOX_USER
from bjsim.bots.sandbox.session import Limits, SandboxError, SandboxSession, choose_box
from bjsim.sim.game.actions import HIT, STAND
from bjsim.sim.game.events import HandEnded
from bjsim.sim.game.presets import named_rules
from bjsim.sim.running.table import ReadableTable
from bjsim.sim.running.workers import threads, usable_cores

pytestmark = needs(".py")  # which each session runs on
SCRIPTS = {
    "prints": "import sys; print(sys.argv[1:]); print('S', sys.argv[0])",
    "exits": "import sys; print('H'); sys.exit(3)",
    "exits_with_text": "import sys; sys.exit('no move')",
    "raises": "print('H')\ndef f(): raise ValueError('no')\nf()",
    "quits": "print('S'); quit()",
    "kills_itself": "import os, signal; os.kill(os.getpid(), signal.SIGTERM)",
    "at_exit": "import atexit; atexit.register(print, 'S')",
    "thread": "import threading, time\nthreading.Thread(target=lambda: (time.sleep(0.05), print('S'))).start()",
    "main": "def main(): print('H', __file__)\nif __name__ == '__main__': main()",
    "imports": "import random, math, collections as c, json.decoder\nfrom itertools import count\nprint(c, count())",
    "sets": "print(sorted({'a', 'b'}), hash('x'), list({'q', 'w', 'e'}))",
    "closed": "import sys, os; print('S'); sys.stdout.flush(); os.close(1); print('more')",
    "pickles": "import pickle\nclass A: x = 1\nprint(pickle.loads(pickle.dumps(A())).x)",
    "environment": "import os, sys; print(sorted(os.environ.items()), os.getcwd(), sys.path[0] == os.getcwd())",
    "input": "import sys; print(repr(sys.stdin.read()))",
    "no_such_module": "import numpyy",
}


@pytest.mark.parametrize("script", SCRIPTS)
def test_fork_and_exec_mode_give_the_same_in_python(bot, script):
    fork, execute = (bot("x.py", SCRIPTS[script], cold=cold, sandbox="auto", timeout=5.0) for cold in (False, True))
    one, other = fork.ask(a_view()), execute.ask(a_view())
    assert (one.cause, one.status, one.stdout) == (other.cause, other.status, other.stdout)
    if script != "closed":  # in exec mode the interpreter also reports that it cannot flush at its end
        assert one.stderr == other.stderr


def test_a_traceback_shows_the_bots_own_lines_only(bot):
    traceback = bot("x.py", SCRIPTS["raises"], sandbox="auto", timeout=5.0).ask(a_view()).stderr.decode()
    assert traceback.count("File ") == 2 and "line 2, in f" in traceback and "ValueError: no" in traceback


@pytest.mark.parametrize("box", BOXES)
def test_no_text_of_a_bot_has_a_folder_of_this_machine(bot, box):
    """So journals are the same in every run, and in every box."""
    with pytest.raises(BuildError) as caught:
        bot("x.py", "print(", box=box, timeout=9.0)
    assert caught.value.log.startswith('File "/box/bot.py", line 1\n')
    replies = [bot("y.py", SCRIPTS[script], box=box, timeout=9.0).ask(a_view()) for script in ("raises", "main")]
    assert b'File "/box/bot.py", line 2, in f' in replies[0].stderr and replies[1].stdout == b"H /box/bot.py\n"
    assert tempfile.gettempdir().encode() not in replies[0].stderr


@needs(".c")
def test_a_c_bot_is_executed_for_every_move(bot):
    source = """
#include <stdio.h>
static int moves;
int main(int argc, char **argv)
{
    printf("S %d", ++moves);
    for (int i = 0; i < argc; i++)
        printf(" %s", argv[i]);
    return 0;
}
"""
    player = bot("x.c", source, sandbox="auto", timeout=5.0)
    assert {player.ask(a_view()).stdout for _ in range(3)} == {b"S 1 ./bot 12 K2 9#K2A38 10 190"}


def test_a_program_with_a_first_line(bot):
    player = bot("hitter", "#!/bin/sh\n[ $1 -lt 17 ] && echo H || echo S\n", sandbox="auto", timeout=5.0)
    assert player.decide(a_view("K2")) == HIT and player.decide(a_view("KQ")) == STAND and not player.faults


def test_a_first_line_that_leads_nowhere_is_a_start_failure(bot):
    player = bot("hitter", "#!/no/such/program\n", sandbox="auto")
    assert player.decide(a_view()) == STAND and player.faults == {"start-failure": 1}
    assert "No such file" in player.first_faults["start-failure"].detail


@pytest.mark.parametrize("mode", BOXES)
def test_limits_hold(bot, mode):
    """Without a sandbox too. As root this needs another user, which the bot runs as."""
    before = processes()
    for source, kind, limit in (
        ("while True: pass", "timeout", 0.5),
        ("import time; time.sleep(99)", "timeout", 0.5),
        ("print('x' * 5000)", "flood", 5.0),
        ("x = bytearray(300 << 20)", "crash", 5.0),
        ("import os, time\nfor _ in range(8): os.fork()\ntime.sleep(40)", ("timeout", "crash"), 1.0),
    ):
        with bot("x.py", source, box=mode, timeout=limit) as player:
            assert player.decide(a_view()) == STAND
            assert set(player.faults) <= set([kind] if isinstance(kind, str) else kind), (source, player.first_faults)
    assert processes() == before


@pytest.mark.parametrize("mode", BOXES)
def test_an_orphan_is_killed(bot, mode):
    source = "import os, time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0: time.sleep(999)\n"
    source += "    os._exit(0)\nprint('S')"
    player = bot("x.py", source, box=mode, timeout=9.0)
    before = processes()
    player.ask(a_view())
    player.ask(a_view())
    time.sleep(0.05)
    # bubblewrap, the keeper, the runner, the fork server and the process of the next move.
    assert len(processes()) <= (5 if mode == "bubblewrap" else 4)
    player.close()
    assert not processes() & before


@needs(".c")
@pytest.mark.parametrize("mode", BOXES)
def test_what_an_orphan_writes_is_not_the_next_moves(bot, mode):
    source = '#include <unistd.h>\nint main(void)\n{\n    write(1, "S ", 2);\n'
    source += '    if (!fork()) for (;;) write(1, "H ", 2);\n    usleep(2000);\n    return 0;\n}\n'
    player = bot("x.c", source, box=mode, timeout=9.0)
    assert {player.ask(a_view()).stdout[:4] for _ in range(8)} <= {b"S H ", b"S "}


def test_every_hand_that_ends_at_the_move_cap_is_a_fault(bot):
    """One bot in two seats of a table of run, which raises by nothing; the round says where a hand ended."""
    player = bot("x.py", "print('B 0')", sandbox="auto", timeout=9.0)
    rules = named_rules("cardshark").replace(move_cap=20, seats=3)
    results = ReadableTable(rules, [player, Scripted(lim17), player]).results(5, 0, 0)
    events = [event for _ in range(2) for event in next(results).events]
    results.close()
    capped = [event.seat for event in events if isinstance(event, HandEnded) and event.ending == "move-cap"]
    assert player.faults == {"move-cap": len(capped)} and set(capped) == {0, 2}
    fault = player.first_faults["move-cap"]
    assert fault.detail == "20 moves with one hand" and fault.stdout == b"B 0\n" and fault.argv[3:] == ("10", "190")


def test_the_time_per_move(bot):
    player = bot("x.py", "import time; time.sleep(0.03); print('S')", sandbox="auto", timeout=9.0)
    assert player.ms_per_move() == {"median": None, "p99": None}
    for _ in range(5):
        player.decide(a_view())
    figures = player.ms_per_move()
    assert 30 <= figures["median"] <= figures["p99"]
    player._nanoseconds = [1_000_000 * ms for ms in range(100, 0, -1)]
    assert player.ms_per_move() == {"median": 50.0, "p99": 99.0}


def test_what_a_faulty_bot_printed_is_kept_and_cut(bot):
    source = "import sys; print('no', 'x' * 50000, file=sys.stderr); print('Z' * 4000)"
    player = bot("x.py", source, sandbox="auto", timeout=9.0)
    for _ in range(30):
        player.decide(a_view())
    assert player.faults == {"bad-reply": 30} and player.first_faults.keys() == {"bad-reply"}
    fault = player.first_faults["bad-reply"]
    assert fault.stdout == b"Z" * 4000 + b"\n" and fault.stderr.startswith(b"no xxx") and len(fault.stderr) == 4096
    assert fault.argv == ("12", "K2", "9#K2A38", "10", "190")


def test_a_bot_sits_at_tables_of_several_threads_and_processes():
    before = processes()
    with open_bot(SAMPLES / "lim17.py", sandbox="auto", timeout=9.0) as player:
        answers = []
        askers = [
            threading.Thread(target=lambda: answers.extend(player.decide(a_view("K2")) for _ in range(20)))
            for _ in range(3)
        ]
        for thread in askers:
            thread.start()
        for thread in askers:
            thread.join()
        assert answers == [HIT] * 60 and not player.faults
        with pickle.loads(pickle.dumps(player)) as copy:
            assert copy.name == "lim17" and copy.decide(a_view("KQ")) == STAND
        of_parent = {session.process.pid for session in player._sessions}
        pid = os.fork()
        if pid == 0:
            good = player.decide(a_view("KQ")) == STAND
            good &= of_parent.isdisjoint(session.process.pid for session in player._sessions)
            player.close()
            os._exit(0 if good else 1)
        assert os.waitpid(pid, 0)[1] == 0
        assert player.decide(a_view("KQ")) == STAND and not player.faults
    assert processes() == before


@pytest.mark.skipif(usable_cores() < 2, reason="one core only")
def test_a_pinned_thread_has_a_session_on_its_core():
    """And the session that was opened before, on all cores, is closed."""
    before = processes()
    with open_bot(SAMPLES / "lim17.py", sandbox="auto", timeout=20.0) as player, threads(2).open_pool() as pool:
        first = processes() - before
        met = threading.Barrier(2)

        def ask():
            met.wait()
            return os.sched_getaffinity(0), [player.decide(a_view("K2")) for _ in range(5)]

        asked = [pool.submit(ask) for _ in range(2)]
        (one, moves), (other, more) = [future.result() for future in asked]
        assert len(one) == len(other) == 1 and one != other and moves + more == [HIT] * 10 and not player.faults
        opened = processes() - before
        assert not opened & first
        assert {frozenset(os.sched_getaffinity(pid)) for pid in opened} == {frozenset(one), frozenset(other)}


def without(monkeypatch, *, bubblewrap=True, landlock=landlock.WHOLE, filters=True):
    """A machine that lacks something; returns what holds there."""
    monkeypatch.setattr(restrictions.seccomp, "supported", lambda: filters)
    monkeypatch.setattr(restrictions, "find_obstacle", lambda: "" if bubblewrap else "bubblewrap is not installed")
    monkeypatch.setattr(restrictions.landlock, "version", lambda: landlock)
    restrictions.find_box.cache_clear()
    session._warn.cache_clear()
    monkeypatch.setattr(restrictions, "find_box", restrictions.find_box.__wrapped__)
    return restrictions.find_box()


@pytest.mark.parametrize(
    ("lacks", "kind", "whole", "says"),
    [
        ({}, "bubblewrap", True, "in a bubblewrap sandbox: they can read programs and their own files, write nothing,"),
        ({"bubblewrap": False}, "Landlock", True, "in a Landlock sandbox: they can read programs and their own files"),
        ({"bubblewrap": False, "landlock": 5}, "Landlock", False, "bots can signal "),
        ({"bubblewrap": False, "landlock": 0}, "none", False, "there is no sandbox for files here: bots can read and "),
        ({"filters": False}, "", False, "programs cannot be bots on this machine: its kernel has no seccomp filters"),
    ],
)
def test_what_holds_on_a_machine_that_lacks_something(monkeypatch, caplog, lacks, kind, whole, says):
    held = without(monkeypatch, **lacks)
    assert (held.kind, held.whole) == (kind, whole) and says in held.says
    if kind:
        assert choose_box("auto") == choose_box("auto") == kind
        assert caplog.text.count(held.says) == (not whole)
    for mode in ("required", *(["auto"] if not kind else [])):
        if whole:
            assert choose_box(mode) == kind
        else:
            with pytest.raises(SandboxError, match="a sandbox is required, but " if kind else says):
                choose_box(mode)
    with pytest.raises(ValueError, match="required, auto"):
        choose_box("off")


@pytest.mark.parametrize("mode", BOXES)
def test_an_open_session_takes_two_descriptors(bot, mode):
    bot("warmup.py", "print('S')", box=mode, timeout=9.0)
    before = len(os.listdir("/proc/self/fd"))
    players = [bot(f"{number}.py", "print('S')", box=mode, timeout=9.0) for number in range(3)]
    assert len(os.listdir("/proc/self/fd")) - before == 3 * session.DESCRIPTORS
    assert {player.decide(a_view()) for player in players} == {STAND} and not any(player.faults for player in players)


def test_the_limit_on_open_files_is_raised_for_sessions(monkeypatch):
    """The hard limit is not, so that it may be too low, which is an error; the soft one is if it is too low."""
    needed, limits = len(os.listdir("/proc/self/fd")) + 300 * session.DESCRIPTORS + session.OPENING, {}
    monkeypatch.setattr(session.resource, "getrlimit", limits.__getitem__)
    monkeypatch.setattr(session.resource, "setrlimit", limits.__setitem__)
    for soft, more, after in ((needed, 9, needed), (needed - 1, 9, needed), (300, 0, needed), (300, -1, 300)):
        limits[session.resource.RLIMIT_NOFILE] = soft, needed + more
        said = f"the bots need {needed} open files, and {needed - 1} are allowed here"
        with pytest.raises(SandboxError, match=said) if more < 0 else nullcontext():
            session.raise_file_limit(300)
        assert limits[session.resource.RLIMIT_NOFILE] == (after, needed + more)


def test_the_limits_are_those_in_the_documentation():
    assert Limits() == Limits(timeout=1.0, memory=256 << 20, processes=32, output=4096)


def waiting_process() -> int:
    """The process that the newest fork server of this process has ready for the next move; 0 if there is none."""
    parents, servers = {}, set()
    for file in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            pid = int(file.parent.name)
            parents[pid] = int(file.read_text().rpartition(") ")[2].split()[1])
            if b"fork_server.py" in (file.parent / "cmdline").read_bytes():
                servers.add(pid)

    def is_ours(pid: int) -> bool:
        return pid == os.getpid() or (pid in parents and is_ours(parents[pid]))

    return max((pid for pid in servers if parents[pid] in servers and is_ours(pid)), default=0)


def test_a_bot_is_not_blamed_where_the_machine_ends_the_process_of_its_next_move(bot):
    """Such as by the killer of processes where memory is short."""
    source = "import sys; print('S', *sys.argv[1:])"
    player = bot("x.py", source, box="none", timeout=9.0)
    before = player.ask(a_view())
    while not (pid := waiting_process()):
        time.sleep(0.01)
    os.kill(pid, signal.SIGKILL)
    time.sleep(0.2)
    for _ in range(2):
        after = player.ask(a_view())
        assert (after.cause, after.stdout) == (before.cause, before.stdout) == ("exit", before.stdout)


FILLS = "x = b'1' * (55 << 20); time.sleep(0.08); os.write(2, b'held')"


@pytest.mark.parametrize("mode", BOXES)
@pytest.mark.parametrize(("protocol", "last"), [("argv", "a child"), ("line", "a child"), ("line", "itself")])
def test_memory_is_limited_while_a_bot_ends(tmp_path, mode, protocol, last):
    """In the quarter of a second after its first process, or after it was told to end."""
    fills = FILLS if last == "itself" else f"if os.fork() == 0: {FILLS}"
    source = line_bot("'S'", end=fills) if protocol == "line" else f"import os, time\nprint('S', flush=True)\n{fills}"
    (tmp_path / "x.py").write_text(source)
    limits, resident = Limits(timeout=9.0, memory=60 << 20), protocol == "line"
    program = build(tmp_path / "x.py", box=mode)
    with closing(SandboxSession(program, limits, box=mode, resident=resident)) as opened:
        if resident:
            assert opened.exchange(b"hello 1\n", 9.0, anew=True).stdout == b"ready 1"
            reply, cause = opened.finish(b"bye\n"), "timeout"
        else:
            reply, cause = opened.ask(["12"]), "memory"
    assert (reply.cause, reply.stderr) == (cause, b"")


# Where processes cannot be counted apart, as without user namespaces.


@pytest.mark.parametrize("mode", BOXES[1:])
def test_other_programs_of_the_user_leave_a_bot_its_processes(bot, monkeypatch, mode):
    """Those that begin after the session was opened, such as the sessions of many other bots."""
    monkeypatch.setattr(restrictions, "MIN_LINUX", (99, 0))
    player = bot("x.py", "import os; os.fork() or os._exit(0); os.wait(); print('S')", box=mode, timeout=9.0)
    many = "import threading, time\nfor _ in range(400): threading.Thread(target=time.sleep, args=(60,)).start()\n"
    words, user = [find_tool(ENDINGS[".py"]), "-c", f"{many}print(flush=True)\nthreading.Event().wait()"], SANDBOX_USER
    with subprocess.Popen(words, stdout=subprocess.PIPE, user=user if os.geteuid() == 0 else None, cwd="/") as others:
        assert others.stdout.readline()
        replies = [player.run(["12"]) for _ in range(3)]
        others.kill()
    assert {(reply.cause, reply.stdout) for reply in replies} == {("exit", b"S\n")}, replies


STARTS = {
    "processes": "subprocess.Popen(['/bin/sleep', '0.2'])",
    "threads": "threading.Thread(target=time.sleep, args=(0.2,)).start()",
}


@pytest.mark.parametrize("mode", BOXES[1:])
@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("protocol", ["argv", "line"])
def test_more_processes_than_a_bot_may_have_are_a_fault(bot, monkeypatch, mode, start, protocol):
    monkeypatch.setattr(restrictions, "MIN_LINUX", (99, 0))
    for number, cause in ((20, "exit"), (50, "memory")):
        work = f"[{STARTS[start]} for _ in range({number})]; time.sleep(0.1)"
        argv = f"import subprocess, threading, time\n{work}; print('S')"
        source = line_bot("'S'", work=work) if protocol == "line" else argv
        assert bot(f"{number}.py", source, box=mode, timeout=9.0).ask(a_view()).cause == cause


@pytest.mark.parametrize("mode", BOXES)
@pytest.mark.parametrize("name", ["x", "xx", "xxx", "xxxx"])
def test_an_error_while_a_bot_is_loaded_may_be_of_any_length(bot, mode, name):
    """It is cut, perhaps inside a character."""
    with pytest.raises(BuildError, match="cannot be loaded") as caught:
        bot("bot.py", f"{name} = '{'€' * 3000}' is 1\nreturn\n", box=mode)
    assert len(caught.value.log) > 1300


# --- The fork server: none of the bot's code runs in it, and processes left behind count as faults.


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


@pytest.mark.parametrize("mode", BOXES)
def test_no_import_runs_a_python_bot_in_its_server(bot, mode):
    player = bot("bot.py", HIJACK, box=mode, timeout=9.0)
    assert [player.ask(a_view()).stdout for _ in range(3)] == [b"S fresh\n"] * 3 and not player.faults


@pytest.mark.parametrize("mode", BOXES)
def test_no_file_of_a_python_bot_is_a_module_of_its_server(tmp_path, mode):
    """Of any name that the server could import: neither when it starts, nor of what the modules it loads import."""
    (tmp_path / "bot.py").write_text("def unused():\n import asyncio, json, random, unittest\nprint('S')")
    program = build(tmp_path / "bot.py", box=mode)
    names = sorted({*sys.stdlib_module_names, "fork_server", "sitecustomize", "usercustomize"})
    for begin in range(0, len(names), 99):
        stops = {f"{name}.py": b"raise SystemExit('imported')" for name in names[begin : begin + 99]}
        full = replace(program, files={**program.files, **stops})
        with closing(SandboxSession(full, Limits(timeout=9.0), box=mode)) as opened:
            assert opened.ask(["12"]).stdout == b"S\n"


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


@pytest.mark.parametrize("mode", BOXES)
def test_a_process_left_behind_is_a_fault_and_without_strikes_a_bot_is_not_run_any_more(bot, mode):
    player, began = bot("x.py", ORPHAN, box=mode, timeout=30.0, strikes=3), time.monotonic()
    assert [player.decide(a_view()) for _ in range(5)] == [STAND] * 5
    assert time.monotonic() - began < 15  # though it holds the pipe
    assert player.faults == {"orphan": 3} and player.strikes.out
    fault = player.first_faults["orphan"]
    assert fault.detail == "left a process running" and fault.stdout == b"S\n"


@pytest.mark.parametrize("mode", BOXES)
def test_a_process_that_ends_soon_is_not_a_fault(bot, mode):
    player = bot("x.py", "import os, time\nif os.fork() == 0: time.sleep(0.02)\nelse: print('S', end='')",
                 box=mode, timeout=9.0)  # fmt: skip
    assert [player.decide(a_view()) for _ in range(5)] == [STAND] * 5 and not player.faults


ORPHANS = """
import ctypes, os, subprocess, sys
from bjsim.bots.sandbox.inside.runner import Runner
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # orphans become children of this process
one = Runner.__new__(Runner)
one.children, one.reaped_s = [os.open(f"/proc/self/task/{os.getpid()}/children", os.O_RDONLY)] * 2, 0.0
work = "import os, time\\nif os.fork() == 0:\\n    while time.process_time() < 0.1: pass"
subprocess.run([sys.executable, "-c", work], check=True)
while one._child_list(1):
    one._reap()
print(one.reaped_s)
"""


def test_the_time_of_orphans_counts_when_they_have_ended():
    """In a process that has no other children."""
    done = subprocess.run([sys.executable, "-c", ORPHANS], capture_output=True, text=True, check=True)
    assert 0.1 <= float(done.stdout) < 1


def test_pages_of_the_reserved_kind_are_memory_too():
    """They are not among the resident ones."""
    status = b"VmHWM:\t 9 kB\nVmRSS:\t  10 kB\nVmPTE:\t 2 kB\nVmSwap:\t 1 kB\nHugetlbPages:\t    2048 kB\n"
    assert sum(map(int, runner.HELD.findall(status))) == 2061


def test_more_than_an_argument_list_holds_is_not_the_next_moves(bot):
    """Two processes of the server read it, and then each answer was that of the move before."""
    player = bot("x.py", "import sys; print(sys.argv[1][:9])", sandbox="auto", timeout=9.0)
    assert player.run(["x" * 5000]).cause == "start" and player.run(["12"]).stdout == b"12\n"


def test_the_time_it_takes_to_clear_up_and_start_again_is_the_bots(tmp_path, monkeypatch):
    """The server takes 0.4 s to start, and the orphan has its grace time."""
    line = "    gc.collect()"
    assert inside.source("fork_server.py").count(line.encode()) == 1
    slow = f"    __import__('time').sleep(0.4)\n{line}"
    change_inside(tmp_path, monkeypatch, lambda name, text: text.replace(line, slow))
    (tmp_path / "bot.py").write_text(ORPHAN)
    program = build(tmp_path / "bot.py", box="none")
    with closing(SandboxSession(program, Limits(timeout=20.0), box="none")) as session:
        reply = session.ask(["12"])
    assert reply.cause == "orphan" and reply.elapsed_ns >= (0.4 + runner.LEFT_S) * 1e9


@pytest.mark.slow
@pytest.mark.parametrize("mode", BOXES)
def test_a_suspended_machine_costs_no_bot_its_time(bot, mode):
    """All processes of a session are stopped for longer than the timeout, while the bot computes for 0.3 s.

    A child of it ends a little later, which the pause must not forbid.
    """
    before = processes()
    source = (
        "import os, time\nwhile time.process_time() < 0.3: pass\nif os.fork() == 0: time.sleep(0.02)\nelse: print('S')"
    )
    player = bot("x.py", source, box=mode, timeout=3.0)
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
    assert not player.faults and player.ms_per_move()["p99"] < 3000, player.first_faults


def test_a_signal_does_not_cut_what_is_written():
    """A reply of more than a pipe holds was cut when the bot was stopped meanwhile, and awaited for ever."""
    read, write = os.pipe()
    found = []
    reading = threading.Thread(target=lambda: found.extend(iter(lambda: os.read(read, 9999), b"")), daemon=True)
    before = signal.signal(signal.SIGALRM, lambda *_: reading.start())
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.03)
        streams.write_all(write, bytes(200_000))
    finally:
        os.close(write)
        signal.signal(signal.SIGALRM, before)
    reading.join()
    os.close(read)
    assert sum(map(len, found)) == 200_000


@pytest.mark.parametrize("header", [(0, 0, 0, 4097, 0), (0, 0, 0, 0, 4097), (99, 0, 0, 0, 0)])
def test_a_runner_cannot_make_the_host_read_more_than_the_limits(header):
    """A bot may have got hold of its runner."""
    read, write = os.pipe()
    with open(read, "rb", 0) as stdout, open(write, "wb", 0) as stdin:
        session = SandboxSession.__new__(SandboxSession)
        session.process, session.limits = SimpleNamespace(stdin=stdin, stdout=stdout), Limits()
        session.reply_poller = streams.make_poller(read)
        with pytest.raises(OSError, match="invalid reply"):
            session._exchange(runner.HEADER.pack(*header), 1.0)


def test_waiting_for_a_reply_counts_ticks():
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
