"""All backends give the same results: threads, processes and Dask, also when workers are killed."""

import contextlib
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from support.mortal import MortalTable
from support.waiting import wait_until

import bjsim
from bjsim.errors import InputError
from bjsim.sim.game.presets import named_rules
from bjsim.sim.running.driver import Driver
from bjsim.sim.running.executors import find_backend, local
from bjsim.strategies.experiment import make_experiment
from bjsim.strategies.players.find import find_player

EASY = named_rules("easy")
PLAYERS = [find_player(bot, EASY) for bot in ("optimal", "lim17")]


def easy(hands=3_000_000, tables=2):
    return make_experiment(EASY, PLAYERS, hands, seed=3, tables=tables)


def mortal(experiment, folder, deaths):
    """The same experiment, but it kills this many workers."""
    for number in range(deaths):
        (folder / str(number)).touch()
    return replace(experiment, groups=[MortalTable(table, folder) for table in experiment.groups])


def outcome(progress):
    return progress.tallies, progress.convergence


@pytest.fixture(scope="module")
def one_worker():
    return outcome(Driver(easy()).run())


@pytest.fixture(scope="module")
def dask():
    pytest.importorskip("distributed")
    with find_backend("dask", 2).open(None) as place:
        yield place


def test_any_executor_plays_the_same_and_is_left_open():
    alone = [result.to_json() for result in bjsim.play("easy", ["optimal", "lim17"], hands=300_000)]
    with ThreadPoolExecutor(2) as pool:
        results = bjsim.play("easy", ["optimal", "lim17"], hands=300_000, executor=pool, workers=2)
        assert [result.to_json() for result in results] == alone
        assert pool.submit(int, "7").result() == 7


def test_two_processes_play_the_same(one_worker):
    assert outcome(Driver(easy(), local(2)).run()) == one_worker


def test_dask_plays_the_same(one_worker, dask):
    assert outcome(Driver(easy(), dask).run()) == one_worker


def test_dask_plays_the_same_when_a_worker_is_killed_in_the_middle(one_worker, dask, tmp_path):
    doomed = mortal(easy(), tmp_path, deaths=1)
    assert outcome(Driver(doomed, dask).run()) == one_worker
    assert not list(tmp_path.iterdir()), "a worker died"


@pytest.mark.slow
def test_blocks_that_dask_gives_up_are_submitted_again(dask, tmp_path):
    """Dask gives up a job that has killed four workers; the driver counts this as one loss and continues."""
    one_table = make_experiment(EASY, PLAYERS[:1], 1_000_000, seed=3)
    progress = Driver(mortal(one_table, tmp_path, deaths=4), dask).run()
    assert progress.losses == 1
    assert outcome(progress) == outcome(Driver(one_table).run())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("dusk", "write local, dask or dask://HOST:PORT"),
        ("dask://", "write local, dask or dask://HOST:PORT"),
        ("dask://node1", "such as dask://node1:8786"),
        ("local://x", "takes no address"),
    ],
)
def test_an_unwritable_path_is_refused(text, message):
    with pytest.raises(InputError, match=re.escape(message)), find_backend(text).open(None):
        pass


def test_without_dask_the_option_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(InputError, match=re.escape("pip install '.[dask]'")), find_backend("dask").open(None):
        pass


def test_a_remote_cluster_sets_its_own_number_of_workers():
    with (
        pytest.raises(InputError, match="the cluster sets its own number of workers"),
        find_backend("dask://127.0.0.1:1", 2).open(None),
    ):
        pass


# real runs, which are killed


def start(*args, **options):
    """Start `bjsim run` in a new session, so that all of its processes can be killed together."""
    command = [sys.executable, "-c", "from bjsim.cli.main import main; main()", "run", *map(str, args)]
    return subprocess.Popen(command, start_new_session=True, stderr=subprocess.PIPE, text=True, **options)


def members(group):
    """The live processes of a process group. Returns: {pid: command line}."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            state, _, of = (folder / "stat").read_text().rpartition(")")[2].split()[:3]
            if int(of) == group and state != "Z":
                found[int(folder.name)] = (folder / "cmdline").read_text()
    return found


def merged_in(checkpoint):
    """The number of merged jobs in a checkpoint; 0 if the file does not exist yet."""
    return json.loads(checkpoint.read_text())["merged"] if checkpoint.exists() else 0


def results_in(file):
    data = json.loads(file.read_text())
    return {key: value for key, value in data.items() if key not in ("seconds", "rounds_per_second")}


linux = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")


@pytest.mark.slow
@linux
def test_a_run_killed_and_resumed_twenty_times_ends_as_one_never_stopped(tmp_path):
    """The process group is killed by SIGKILL, at a random moment after each new checkpoint."""
    args = ["--bots", "optimal,lim17", "--rules", "vegas-s17", "--hands", "4e6", "--tables", "8", "--workers", "2"]
    whole, end, kept = tmp_path / "whole.json", tmp_path / "end.json", tmp_path / "kept"
    assert start(*args, "--json", whole, stdout=subprocess.DEVNULL).wait() == 0
    chance, merged = random.Random(20), 0
    for _ in range(20):
        process = start(*args, "--resume" if merged else "--checkpoint", kept, stdout=subprocess.DEVNULL)
        assert wait_until(lambda: merged_in(kept) > merged), "each run resumes from the previous one"  # noqa: B023
        time.sleep(chance.uniform(0, 0.08))
        assert process.poll() is None, "killed before its end"
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        merged = merged_in(kept)
    assert start(*args, "--resume", kept, "--json", end, stdout=subprocess.DEVNULL).wait() == 0
    assert results_in(end) == results_in(whole)


@pytest.mark.slow
@linux
def test_dask_workers_killed_at_random_moments_change_nothing(tmp_path):
    pytest.importorskip("distributed")
    args = ["--bots", "optimal", "--rules", "vegas-s17", "--hands", "4e6", "--tables", "8", "--workers", "2"]
    whole, end, kept = tmp_path / "whole.json", tmp_path / "end.json", tmp_path / "kept"
    assert start(*args, "--json", whole, stdout=subprocess.DEVNULL).wait() == 0
    process = start(*args, "--executor", "dask", "--checkpoint", kept, "--json", end, stdout=subprocess.DEVNULL)
    assert wait_until(lambda: merged_in(kept))
    time.sleep(random.Random(1).uniform(0, 0.5))
    workers = [pid for pid, command in members(process.pid).items() if "spawn_main" in command]
    assert len(workers) == 2
    os.kill(workers[0], signal.SIGKILL)
    _, err = process.communicate(timeout=300)
    assert (process.returncode, err) == (0, "")
    assert results_in(end) == results_in(whole)
    assert not members(process.pid)


@pytest.mark.slow
@linux
@pytest.mark.parametrize("how", ["ctrl-c", "kill"])
def test_the_local_cluster_leaves_no_process(tmp_path, how):
    pytest.importorskip("distributed")
    args = ["--bots", "lim17", "--hands", "1e12", "--workers", "2", "--executor", "dask"]
    process = start(*args, "--checkpoint", tmp_path / "kept", stdout=subprocess.PIPE)
    assert wait_until(lambda: merged_in(tmp_path / "kept"))
    if how == "ctrl-c":
        os.killpg(process.pid, signal.SIGINT)  # to the workers too, as from a terminal
        out, err = process.communicate(timeout=60)
        assert (process.returncode, err) == (130, "")
        assert "stopped: results so far" in out and "lim17" in out
    else:
        process.kill()
        process.communicate()
    assert wait_until(lambda: not members(process.pid)), members(process.pid)


def test_a_dask_cluster_whose_processes_are_killed_as_they_start_is_one_line(tmp_path):
    pytest.importorskip("distributed")
    (tmp_path / "sitecustomize.py").write_text(
        "import os, sys\nif 'spawn_main' in ' '.join(sys.orig_argv): os.kill(os.getpid(), 9)\n"
    )
    command = [sys.executable, "-c", "from bjsim.cli.main import main; main()", "run", "--bots", "lim17"]
    done = subprocess.run(
        [*command, "--hands", "1e5", "--executor", "dask", "--workers", "2"],
        env={**os.environ, "PYTHONPATH": str(tmp_path)}, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert done.stderr.startswith("bjsim: the Dask cluster on this machine did not start: ")
    assert done.stderr.count("\n") == 1
