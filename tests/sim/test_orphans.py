"""No worker outlives the process that started it, even if that process is killed."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from bot_helpers import needs, needs_sandbox, parents, processes

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads /proc")

PATIENCE_S = 60  # enough for a busy machine
POOL = """
import time
from bjsim.sim.running.workers import local
opened = local(2).open_pool()
pool = opened.__enter__()
jobs = [pool.submit(time.sleep, 3600) for _ in range(2)]
print("ready", flush=True)
time.sleep(3600)
"""
IDLE_POOL = POOL.replace("jobs = [pool.submit(time.sleep, 3600) for _ in range(2)]", "")
WORK_AHEAD = """
import time
from bjsim.run import forked
ahead = forked(lambda: time.sleep(3600))
print("ready", flush=True)
time.sleep(3600)
"""
# a further child of the parent keeps the parent's descriptors open, and lives until the workers are gone
STRANGER = POOL.replace(
    'print("ready"',
    """import os
pids = [*pool._processes]
if not os.fork():
    while any(os.path.exists(f"/proc/{pid}/exe") for pid in pids):
        time.sleep(0.1)
    os._exit(0)
print("ready\"""",
)
BJSIM = (sys.executable, "-c", "from bjsim.cli.main import main; main()")


def left_after_a_kill(*command: object, children: int = 2) -> set[int]:
    """Start a program, kill it once it has this many children, and return which descendants survive."""
    with subprocess.Popen(
        [str(part) for part in command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as host:
        try:
            end = time.monotonic() + PATIENCE_S
            while len(processes(host.pid)) < children:
                assert time.monotonic() < end and host.poll() is None, "it did not start"
                time.sleep(0.05)
            time.sleep(0.5)
            left = processes(host.pid)
        finally:
            host.kill()
    while left and time.monotonic() < end:
        time.sleep(0.05)
        left &= parents().keys()
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    return left


@pytest.mark.parametrize(
    ("program", "children"),
    [(POOL, 2), (IDLE_POOL, 2), (STRANGER, 3), (WORK_AHEAD, 1)],
    ids=["busy", "idle", "stranger", "ahead"],
)
def test_a_worker_ends_with_its_parent(program: str, children: int) -> None:
    assert left_after_a_kill(sys.executable, "-c", program, children=children) == set()


def test_a_killed_run_leaves_no_worker() -> None:
    run = ("run", "--rules", "vegas-s17", "--bots", "optimal", "--hands", "4e9", "--workers", "2")
    assert left_after_a_kill(*BJSIM, *run) == set()


@needs_sandbox
@needs(".py")
def test_a_killed_contest_leaves_no_worker_and_no_bot(tmp_path: Path) -> None:
    """During a move that would take a long time."""
    (tmp_path / "slow.py").write_text("import time\ntime.sleep(600)\nprint('S')\n")
    contest = (
        "koth",
        "play",
        tmp_path / "slow.py",
        "lim17",
        "--out",
        tmp_path / "out",
        "--timeout",
        "500",
        "--workers",
        "2",
    )
    assert left_after_a_kill(*BJSIM, *contest, children=4) == set()


def test_a_worker_that_is_stopped_while_it_starts_says_nothing() -> None:
    """Until it has begun it has the handlers of its parent, whose KeyboardInterrupt would be raised anywhere."""
    code = """
import os, signal, time
from concurrent.futures import BrokenExecutor
from bjsim.sim.running.workers import local
def stop(*_):
    raise KeyboardInterrupt
signal.signal(signal.SIGTERM, stop)
os.register_at_fork(after_in_child=lambda: (os.kill(os.getpid(), signal.SIGTERM), time.sleep(0.1)))
try:
    with local(2).open_pool() as pool:
        pool.submit(int).result()
except BrokenExecutor:
    print("lost")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE_S)
    assert (done.stdout, done.stderr) == ("lost\n", "")
