"""Every command that needs no sandbox works without the features that only Linux has, as on Windows and macOS.

It is taken away before anything of bjsim is imported, in the command's process and in all that it starts.
"""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable

import pytest
from support import command
from support.command import Outcome

from bjsim.cli.main import COMMANDS

TAKE_AWAY = """
import os, select, signal, sys

class Missing:
    names = {"fcntl", "grp", "pwd", "resource", "termios", "multiprocessing_logging"}

    def find_spec(self, name, path=None, target=None):
        if name in self.names:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Missing())
for name in Missing.names:
    sys.modules.pop(name, None)
for thing, names in (
    (os, "fork forkpty sched_getaffinity sched_setaffinity pidfd_open memfd_create geteuid getuid getegid getgid "
         "killpg setsid setuid mkfifo chown statvfs getloadavg register_at_fork O_DIRECTORY O_NOFOLLOW O_CLOEXEC"),
    (select, "poll epoll"),
    (signal, "SIGPIPE SIGXFSZ SIGHUP SIGALRM pthread_sigmask setitimer"),
):
    for name in names.split():
        if hasattr(thing, name):
            delattr(thing, name)
"""
PROGRAM = "print('S')"
PLAYER = """
class Timid:
    name = "timid"

    def decide(self, view):
        return "S"
"""


@pytest.fixture
def bjsim(tmp_path) -> Callable[..., Outcome]:
    """Runs a command in the directory of the test, without these features."""
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (hidden / "sitecustomize.py").write_text(TAKE_AWAY)
    environment = {**os.environ, "PYTHONPATH": str(hidden)}

    def call(*words: object) -> Outcome:
        command = [sys.executable, "-m", "bjsim", *map(str, words)]
        done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=300)
        return Outcome(done.returncode, done.stdout, done.stderr)

    return call


def test_it_is_taken_away(tmp_path, bjsim):
    """Negative control: the modules that run programs cannot be imported there."""
    (tmp_path / "control.py").write_text("import bjsim.bots.sandbox.session")
    done = bjsim("solve", "value")
    assert done.status == 0, done.err
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "hidden")}
    code = "import os; assert not hasattr(os, 'fork'); import bjsim.bots.sandbox.session"
    control = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert "ModuleNotFoundError: No module named 'resource'" in control.stderr


ALL = [*COMMANDS, "bot check", "bot new", "bot export"]
FIRST = ("run", "check", "koth", "bot check")  # they import most


@pytest.mark.parametrize("command", [c if c in FIRST else pytest.param(c, marks=pytest.mark.slow) for c in ALL])
def test_help(bjsim, command):
    done = bjsim(*command.split(), "--help")
    assert done.status == 0 and "Usage:" in done.out, done.err


@pytest.mark.parametrize(
    "line",
    [
        "rules",
        "rules vegas-s17",
        "solve value strategy",
        "check hoyle",
        "compare --rules easy,neller",
        "replay --bots optimal --round 3",
        "bot new mine",
        "bot export lim17",
        "learn --rules neller --episodes 1e4 --workers 2",
        "run --bots optimal,kelly --rules cardshark --hands 100 --workers 1",
    ],
)
def test_commands_in_one_process(bjsim, line):
    done = bjsim(*line.split())
    assert done.status == 0, done.err


@pytest.mark.slow
def test_workers_are_spawned_and_change_no_bit(tmp_path, bjsim):
    """With a log that all workers write to."""
    args = ["run", "--bots", "optimal,lim17", "--hands", "2e6", "--json", "-"]
    one, two = (bjsim(*args, "--workers", workers, "--log", f"log{workers}") for workers in (1, 2))
    assert one.status == two.status == 0, one.err + two.err
    assert json.loads(one.out)["bots"] == json.loads(two.out)["bots"]
    lines = (tmp_path / "log2").read_text().splitlines()
    assert len({line.split()[2] for line in lines if "block" in line}) == 2, lines


@pytest.mark.slow
def test_a_contest_of_strategies_charts_and_python_players(tmp_path, bjsim):
    (tmp_path / "timid.py").write_text(PLAYER)
    done = bjsim("koth", "play", "optimal", "lim17", "timid.py:Timid", "--matches", 2, "--workers", 2, "--seed", 1)
    assert done.status == 0, done.err
    assert (tmp_path / "contest" / "index.html").exists()
    for line in ("resume contest --trust", "show contest", "verify contest", "verify contest --bots ."):
        done = bjsim("koth", *line.split())
        assert done.status == 0, done.err


def test_a_player_from_a_file_plays_in_one_process(tmp_path, bjsim):
    (tmp_path / "timid.py").write_text(PLAYER)
    args = ["run", "--bots", "timid.py:Timid", "--hands", 1000]
    done = bjsim(*args)
    assert done.status == 0, done.err
    done = bjsim(*args, "--workers", 2)
    assert done.status == 2 and "give it as module:object, or --workers 1" in done.err


@pytest.mark.parametrize("line", ["run --hands 10 --bots bot.py", "bot check bot.py", "koth play optimal bot.py"])
def test_programs_are_refused_in_one_line(tmp_path, bjsim, line):
    (tmp_path / "bot.py").write_text(PROGRAM)
    done = bjsim(*line.split(), "--sandbox", "auto")
    said = "is a program, and such bots need Linux; strategies, charts and Python players do not\n"
    assert done.status == 2 and done.out == ""
    assert done.err.count("\n") == 1 and done.err.endswith(said)
    assert not (tmp_path / "contest").exists()


def test_the_port_of_the_app_is_not_shared_on_windows(monkeypatch):
    """There SO_REUSEADDR lets another process listen at a port that is in use."""
    pytest.importorskip("uvicorn", reason="the extra app is not installed")
    monkeypatch.setattr(socket, "SO_EXCLUSIVEADDRUSE", socket.SO_KEEPALIVE, raising=False)
    served = []
    monkeypatch.setattr("bjsim.app.server.serve", lambda laboratory, listening: served.append(listening))
    assert command.bjsim("app", "--no-browser").status == 0
    with served[0] as listening:
        assert not listening.getsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR)
        assert listening.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
