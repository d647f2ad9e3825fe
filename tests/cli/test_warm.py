"""`bjsim warm`, and where compiled code is cached."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import bjsim as package
from bjsim.cli.warm import tables
from bjsim.sim.engine.play import THRESHOLDS
from bjsim.sim.game.presets import load_rules
from bjsim.sim.running.compiled_table import CompiledTable

UNPRIVILEGED = 65534
# A user that may read everything, wherever Python is installed, but write only to its own files and /tmp.
AS_UNPRIVILEGED = [
    "setpriv", "--reuid", str(UNPRIVILEGED), "--regid", str(UNPRIVILEGED), "--clear-groups",
    "--inh-caps=-all,+dac_read_search", "--ambient-caps=-all,+dac_read_search",
]  # fmt: skip


# Run in a new process, which has not loaded anything. Code cached on disk earlier makes no difference.
COMMANDS = """
import sys
from numba.core.dispatcher import Dispatcher
from support.command import bjsim
from support.games import ASKED, ONE_HAND

def loaded():
    modules = [module for name, module in sys.modules.items() if name.startswith("bjsim.")]
    kernels = [thing for module in modules for thing in vars(module).values() if isinstance(thing, Dispatcher)]
    return {(kernel.__module__, kernel.__name__, str(types)) for kernel in kernels for types in kernel.signatures}

def call(*words):
    done = bjsim(*words)
    assert done.status == 0, done.err
    print(*words, *(loaded() - compiled), sep="\t")

done = bjsim("warm")
compiled = loaded()
assert compiled
for name in ONE_HAND:
    for more in ([], ["--adjust-luck"], ["--no-adjust-luck"]):
        call("run", "--rules", name, "--bots", "optimal,lim17", "--hands", 10, "--workers", 1, *more)
for algorithm in ("q", "mc"):
    call("learn", "--rules", "neller", "--algorithm", algorithm, "--episodes", 10_000)
for name in ("vegas-s17", "neller-v2", "cardshark"):
    call("solve", "--rules", name, "--decks", 1, "value", "strategy")
call("run", "--rules", "vegas-s17", "--decks", 1, "--bots", "optimal-cd", "--hands", 10, "--workers", 1)
call("run", "--rules", "vegas-s17", "--set", "seats=2", "--bots", "optimal,lim17", "--hands", 10, "--workers", 1)
for more in ([], ["--no-adjust-luck"]):
    call("count", "--rules", "vegas-s17", "--decks", 2, "--rounds", 10, "--workers", 1, *more)
from bjsim.gym import BlackjackVectorEnv
for name in ASKED:
    for mode in ("NextStep", "SameStep"):
        env = BlackjackVectorEnv(2, name, mode)
        env.reset(seed=1)
        env.step(env.action_space.sample())
        print("environment", name, mode, *(loaded() - compiled), sep="\t")
"""


@pytest.mark.slow
def test_it_compiles_the_learner(tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    code = (
        "import bjsim.cli.warm as warm, bjsim.strategies.learning.kernel as kernel\n"
        "warm.tables = lambda rules: ()\n"
        "warm.play_counter = lambda *_, **__: None\n"
        "warm.warm.callback()\n"
        "kernels = kernel.alias_tables, kernel.learn_episodes, kernel.play_episodes\n"
        "assert all(thing.signatures for thing in kernels), kernels"
    )
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert done.returncode == 0 and "\ncompiled; cached in:" in done.stdout, done.stderr
    assert len(re.findall(r"(?m)^compiling \w+ …$", done.stdout)) > 2, "a line for each kernel"


@pytest.mark.slow
def test_after_it_no_command_needs_anything_compiled():
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    done = subprocess.run([sys.executable, "-c", COMMANDS], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) > 80
    assert "bjsim.sim" not in done.stdout and "bjsim.strategies" not in done.stdout, done.stdout


def test_its_tables_use_every_kernel() -> None:
    games = [table for table in tables(load_rules("easy")) if isinstance(table, CompiledTable)]
    assert {table.walkers.kernel for table in games} == THRESHOLDS.keys() - {"count", "count adjusted"}


def test_it_says_where_that_is_kept(monkeypatch, tmp_path):
    """In another process: numba chooses the directory when the kernels are imported."""
    code = "import bjsim.cli.warm as warm; print(*warm.folders(), sep='\\n')"
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert {Path(line).parent for line in done.stdout.split()} == {tmp_path}


@pytest.fixture
def read_only_package():
    """A directory readable by all users, with a copy of the package writable only by root, and nothing compiled."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        copy = Path(folder) / "bjsim"
        shutil.copytree(Path(package.__file__).parent, copy, ignore=shutil.ignore_patterns("__pycache__"))
        yield Path(folder)


def theirs() -> set[Path]:
    """The temporary directories of that user."""
    folders = Path(tempfile.gettempdir()).glob("bjsim-*")
    return {folder for folder in folders if folder.stat().st_uid == UNPRIVILEGED}


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can become another user")
@pytest.mark.skipif(shutil.which("setpriv") is None, reason="setpriv (util-linux) is not installed")
def test_a_user_with_nothing_to_write_to_plays(read_only_package):
    """Two workers, so that forked processes must find the directory too; it is removed when the run ends. Few
    rounds would be played without compiling."""
    environment = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "PYTHONPATH": str(read_only_package)}
    words = [
        *AS_UNPRIVILEGED,
        sys.executable,
        "-m",
        "bjsim",
        "run",
        "--bots",
        "optimal",
        "--hands",
        "2e7",
        "--workers",
        "2",
    ]
    before = theirs()
    done = subprocess.run(words, env=environment, cwd="/", capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "20,000,000 rounds" in done.stdout
    assert done.stderr.count("set NUMBA_CACHE_DIR to a writable folder") == 1
    assert not theirs() - before
    assert not list(read_only_package.rglob("__pycache__"))
