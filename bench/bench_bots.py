"""Moves per second of bots in the sandbox, compared with a plain `subprocess.run` call.

Both play the same move alternately, block by block, in one run, so that other load on the machine affects both. The
plain call runs the sandbox's own Python with the bot's file, or the output of `cc -O2 bot.c -o bot`. A second figure
for C compares with the program that bjsim builds (linked statically), run by the same plain call.

This is measured with one thread per core, which is the default of `bjsim run` (it pins each thread to a core, unlike
the plain call), and with a single thread, as in `bjsim run --workers 1`.
"""

import shutil
import statistics
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

from bjsim.bots.player import open_bot
from bjsim.bots.sandbox import restrictions
from bjsim.bots.sandbox.languages import ENDINGS, find_tool
from bjsim.sim.running.workers import threads, usable_cores

SAMPLES = Path(__file__).resolve().parents[1] / "src" / "bjsim" / "bots" / "samples"
ARGUMENTS = ["12", "K2", "9#K2A38", "10", "190"]
BLOCKS = 30
MOVES = {"plain": 8, "sandbox": 40}  # in a block

pytestmark = pytest.mark.skipif(bool(restrictions.find_obstacle()), reason=restrictions.find_obstacle() or "none")


def plain(command):
    """The plain call, as a function without arguments."""
    return lambda: subprocess.run([*command, *ARGUMENTS], capture_output=True, text=True, check=True)


def commands(name, folder, program):
    """The commands of the plain call, by label."""
    if name.endswith(".py"):
        return {"python bot.py": [find_tool(ENDINGS[".py"]), str(SAMPLES / name)]}
    usual, static = folder / "bot", folder / "static"
    subprocess.run(["cc", "-O2", str(SAMPLES / name), "-o", str(usual)], check=True)
    static.write_bytes(program.files["bot"])
    static.chmod(0o755)
    return {"./bot, built by cc -O2": [str(usual)], "./bot, as bjsim builds it": [str(static)]}


def seconds_per_move(calls, askers):
    """Median over blocks of alternating calls. calls: label -> (function, moves in a block, pool of threads)."""
    blocks = {label: [] for label in calls}
    ready = threading.Barrier(askers)

    def ask(call, moves):
        ready.wait()
        for _ in range(moves):
            call()

    for _ in range(BLOCKS):
        for label, (call, moves, pool) in calls.items():
            began = time.perf_counter()
            for asked in [pool.submit(ask, call, moves) for _ in range(askers)]:
                asked.result()
            blocks[label].append((time.perf_counter() - began) / moves / askers)
    return {label: statistics.median(times[1:]) for label, times in blocks.items()}


@pytest.mark.parametrize("askers", sorted({1, usable_cores()}))
@pytest.mark.parametrize("name", ["lim17.c", "lim17.py"])
def test_moves_per_second(benchmark, capsys, tmp_path, name, askers):
    if not shutil.which("cc") and name.endswith(".c"):
        pytest.skip("no cc (Debian: gcc)")
    with open_bot(SAMPLES / name, sandbox="required", timeout=10.0) as bot, ExitStack() as pools:
        usual = commands(name, tmp_path, bot.program)
        anywhere = pools.enter_context(ThreadPoolExecutor(askers))
        as_run_does = pools.enter_context(threads(askers).open_pool())
        calls = {label: (plain(command), MOVES["plain"], anywhere) for label, command in usual.items()}
        calls["sandbox"] = (lambda: bot.run(ARGUMENTS), MOVES["sandbox"], as_run_does)
        times = seconds_per_move(calls, askers)
        benchmark.pedantic(as_run_does.submit(bot.run, ARGUMENTS).result, rounds=1)
    ratios = {label: times[label] / times["sandbox"] for label in times if label != "sandbox"}
    benchmark.extra_info.update({f"times as fast as {label}": round(ratio, 2) for label, ratio in ratios.items()})
    with capsys.disabled():
        print(f"\n{name}, {askers} at a time: {1 / times['sandbox']:,.0f} moves/s in the sandbox")
        for label, ratio in ratios.items():
            print(f"  {ratio:.1f} times the {1 / times[label]:,.0f} moves/s by subprocess.run of {label}")
