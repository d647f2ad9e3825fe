"""All executors give the same results, and so does a run that is killed and resumed."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from support.documents import ROOT, blocks
from support.games import slow
from support.waiting import wait_until

import bjsim

linux = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")


def test_any_executor_plays_the_same_and_is_left_open():
    alone = [result.to_json() for result in bjsim.play("easy", ["optimal", "lim17"], hands=300_000)]
    with ThreadPoolExecutor(2) as pool:
        results = bjsim.play("easy", ["optimal", "lim17"], hands=300_000, executor=pool, workers=2)
        assert [result.to_json() for result in results] == alone
        assert pool.submit(int, "7").result() == 7


@linux
@pytest.mark.parametrize(
    "library", ["concurrent.futures", "mpi4py.futures", *map(slow, ["loky", "executorlib", "dask.distributed"])]
)
def test_the_examples_of_the_cluster_page_give_the_same_bits(library, tmp_path):
    """Each is run as a script, as on the page; docs/how-to/cluster.md says how it is started."""
    pytest.importorskip(library.partition(".")[0], reason=f"{library} is not installed")
    page = (ROOT / "docs/how-to/cluster.md").read_text()
    tested = [one.text for one in blocks("cluster.md", page) if one.marker == "tests/sim/test_executors.py"]
    [example] = [text for text in tested if f"from {library} import" in text]
    file = tmp_path / "example.py"
    file.write_text(example + "\n    print(results.to_json()['bots'])\n")
    command = [sys.executable, file]
    if library == "mpi4py.futures":
        mpiexec = shutil.which("mpiexec", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
        if not mpiexec:
            pytest.skip("mpiexec is not installed")
        command = [mpiexec, "-n", "3", sys.executable, "-m", "mpi4py.futures", file]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=240, cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    alone = bjsim.play("vegas-s17", ["optimal", "lim17"], hands=300_000, seed=3, workers=1)
    assert ran.stdout.splitlines()[-1] == str(alone.to_json()["bots"])


# real runs, which are killed


def start(*args, **options):
    """Start `bjsim run` in a new session, so that all of its processes can be killed together."""
    command = [sys.executable, "-c", "from bjsim.cli.main import main; main()", "run", *map(str, args)]
    return subprocess.Popen(command, start_new_session=True, stderr=subprocess.PIPE, text=True, **options)


def merged_in(checkpoint):
    """The number of merged jobs in a checkpoint; 0 if the file does not exist yet."""
    return json.loads(checkpoint.read_text())["merged"] if checkpoint.exists() else 0


def results_in(file):
    data = json.loads(file.read_text())
    return {key: value for key, value in data.items() if key not in ("seconds", "rounds_per_second")}


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
