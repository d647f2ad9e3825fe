"""Moves per second of process bots: from inside the box, against the `subprocess.run` call that everyone writes first.

Both play the same move in turn, block by block, in one run, so that what else the machine does strikes both alike. The
plain call runs what everyone would run: the box's own Python with the bot's file, and `cc -O2 bot.c -o bot`. A second
figure for C is against the program that bjsim itself built (linked statically), run by the same plain call.
"""

import shutil
import statistics
import subprocess
import time
from pathlib import Path

import pytest

from bjsim.bots import sandbox
from bjsim.bots.languages import ENDINGS, tool_of
from bjsim.bots.player import open_bot

SAMPLES = Path(__file__).resolve().parents[1] / "bots" / "samples"
ARGUMENTS = ["12", "K2", "9#K2A38", "10", "190"]
BLOCKS = 30
MOVES = {"plain": 8, "box": 40}  # in a block

pytestmark = pytest.mark.skipif(bool(sandbox.trouble()), reason=sandbox.trouble() or "none")


def plain(command):
    """The plain call, as a function of nothing."""
    return lambda: subprocess.run([*command, *ARGUMENTS], capture_output=True, text=True, check=True)


def commands(name, folder, program):
    """What is run by the plain call. Returns: label -> command."""
    if name.endswith(".py"):
        return {"python bot.py": [tool_of(ENDINGS[".py"]), str(SAMPLES / name)]}
    usual, static = folder / "bot", folder / "static"
    subprocess.run(["cc", "-O2", str(SAMPLES / name), "-o", str(usual)], check=True)
    static.write_bytes(program.files["bot"])
    static.chmod(0o755)
    return {"./bot, built by cc -O2": [str(usual)], "./bot, as bjsim builds it": [str(static)]}


def seconds_per_move(calls):
    """Median over blocks, the calls taking turns. calls: label -> (function, moves in a block)."""
    blocks = {label: [] for label in calls}
    for _ in range(BLOCKS):
        for label, (call, moves) in calls.items():
            began = time.perf_counter()
            for _ in range(moves):
                call()
            blocks[label].append((time.perf_counter() - began) / moves)
    return {label: statistics.median(times) for label, times in blocks.items()}


@pytest.mark.parametrize("name", ["lim17.c", "lim17.py"])
def test_moves_per_second(benchmark, capsys, tmp_path, name):
    if not shutil.which("cc") and name.endswith(".c"):
        pytest.skip("no cc (Debian: gcc)")
    with open_bot(SAMPLES / name, sandbox="required", timeout=10.0) as bot:
        usual = commands(name, tmp_path, bot.program)
        calls = {label: (plain(command), MOVES["plain"]) for label, command in usual.items()}
        calls["box"] = (lambda: bot.run(ARGUMENTS), MOVES["box"])
        times = seconds_per_move(calls)
        benchmark.pedantic(bot.run, (ARGUMENTS,), rounds=200)
    ratios = {label: times[label] / times["box"] for label in times if label != "box"}
    benchmark.extra_info.update({f"times faster than {label}": round(ratio, 2) for label, ratio in ratios.items()})
    with capsys.disabled():
        print(f"\n{name}: {1 / times['box']:,.0f} moves/s in the box")
        for label, ratio in ratios.items():
            print(f"  {ratio:.1f} times the {1 / times[label]:,.0f} moves/s by subprocess.run of {label}")
