"""Programs in `bjsim run`: their results in the JSON, and stopped runs, which leave no process."""

import json
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from bot_helpers import SAMPLES, TEST_BOTS, Scripted, a_view, left_of, lim17, needs, needs_sandbox, processes
from click.testing import CliRunner
from support.waiting import wait_until

from bjsim.bots.sandbox.session import SandboxClosed
from bjsim.cli.run import run as command
from bjsim.sim.game.presets import named_rules
from bjsim.sim.running.checkpoint import Checkpoint
from bjsim.sim.running.driver import Driver
from bjsim.sim.running.table import ReadableTable, Span
from bjsim.strategies.experiment import make_experiment

LONG = [str(Path(sys.executable).with_name("bjsim")), "run", "--rules", "cardshark", "--hands", "1e8", "--bots"]


@needs(".py")
def test_bots_of_the_same_file_name_keep_their_own_faults(tmp_path):
    paths = []
    for folder, source in (("a", "print('S')"), ("b", "print('X')")):
        (tmp_path / folder).mkdir()
        paths.append(tmp_path / folder / "x.py")
        paths[-1].write_text(source)
    bots = ",".join(["lim17", *map(str, paths), "lim17"])
    target = tmp_path / "out.json"
    done = CliRunner().invoke(
        command, ["--rules", "cardshark", "--hands", "20", "--timeout", "20", "--bots", bots, "--json", str(target)]
    )
    assert done.exit_code == 0, done.output
    first, good, bad, last = json.loads(target.read_text())["bots"]
    assert (good["name"], good["faults"]) == ("x.py", {})
    assert bad["name"] == "x.py" and bad["faults"]["bad-reply"] > 0
    assert "faults" not in first and "faults" not in last
    # its author sees its arguments and its output
    fault, *others = bad["first_faults"]
    assert fault["stdout"] == "X\n" and len(fault["argv"]) == 5 and not others and good["first_faults"] == []
    assert "x.py, first bad-reply" in done.output and f"asked: {' '.join(fault['argv'])}" in done.output


@pytest.mark.slow
@needs(".py")
@needs(".c")
@pytest.mark.parametrize(
    ("ending", "after"), [(signal.SIGINT, 0.6), (signal.SIGINT, 1.7), (signal.SIGTERM, 1.2), (signal.SIGHUP, 1.2)]
)
def test_a_run_that_is_stopped_leaves_no_process(tmp_path, ending, after):
    """Ctrl-C prints the results so far. The test waits for the first checkpoint, so that there are some."""
    before = processes()
    kept = tmp_path / "kept"
    bots = f"{SAMPLES / 'lim17.c'},{TEST_BOTS / 'bettor.py'},lim17,optimal"
    with subprocess.Popen(
        [*LONG, bots, "--checkpoint", str(kept)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as host:
        assert wait_until(kept.exists)
        time.sleep(after)
        started = processes() - before - {host.pid}
        assert len(started) > 4
        host.send_signal(ending)
        out, _ = host.communicate(timeout=60)
    assert not left_of(lambda: processes() & started)
    if ending == signal.SIGINT:
        assert host.returncode == 130
        assert b"results so far" in out and b"lim17.c" in out and b"ms per move" in out


@needs(".py")
@needs_sandbox  # without one there are fewer processes
@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_run_of_a_slow_bot_has_a_table_long_before_its_first_block_is_done(tmp_path, workers):
    """Ctrl-C twice. A move takes 20 ms, so a block takes longer than this test."""
    before = processes()
    bot, target = tmp_path / "slow.py", tmp_path / "out.json"
    bot.write_text("import time; time.sleep(0.02); print('S')")
    arguments = [f"{bot},lim17", "--workers", str(workers), "--timeout", "20", "--json", str(target)]
    with subprocess.Popen([*LONG, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as host:
        deadline = time.monotonic() + 60
        while len(started := processes() - before - {host.pid}) < 4 * workers and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(1)
        host.send_signal(signal.SIGINT)
        host.send_signal(signal.SIGINT)
        out, _ = host.communicate(timeout=60)
    assert host.returncode == 130 and not left_of(lambda: processes() & started)
    found = json.loads(target.read_text())
    slow, other = found["bots"]
    assert 0 < slow["hands"] == other["hands"] < 1024 * workers and slow["faults"] == {}
    assert found["stopped"] and found["unmerged"] == found["rounds"] == 2 * slow["hands"]
    assert f"with {found['unmerged']:,} rounds of unfinished blocks" in out.decode() and b"slow.py" in out


@needs(".py")
def test_a_run_that_fails_does_not_wait_for_the_blocks_of_slow_bots(tmp_path):
    """A block of this bot takes minutes."""
    before = processes()
    bot, bad = tmp_path / "slow.py", tmp_path / "bad.py"
    bot.write_text("import time; time.sleep(0.2); print('S')")
    bad.write_text("def splits(view): return 'P'")
    arguments = [f"{bot},lim17,optimal,lim17,{bad}:splits", "--workers", "2", "--timeout", "20"]
    with subprocess.Popen([*LONG, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as host:
        try:
            _, err = host.communicate(timeout=60)
        finally:
            host.kill()
    assert host.returncode == 1 and b"answered P" in err and processes() == before


def test_unfinished_blocks_of_a_stopped_run_are_shown_but_not_resumed(tmp_path):
    rules = named_rules("cardshark")
    stop_at = 3000  # a decision in the second block

    def interrupted(view):
        nonlocal stop_at
        stop_at -= 1
        if stop_at == 0:
            raise KeyboardInterrupt
        return lim17(view)

    experiment = make_experiment(rules, [Scripted(lim17), Scripted(interrupted)], 2100, seed=3)
    checkpoint = Checkpoint(tmp_path / "kept")
    stopped = Driver(experiment, checkpoint=checkpoint)
    with pytest.raises(KeyboardInterrupt):
        stopped.run()
    found, merged = stopped.partial_progress(), stopped.progress
    assert [tally.rounds for tally in merged.tallies] == [1024, 1024]
    more = found.tallies[1].rounds - 1024
    assert more > 0 and found.unmerged == 2 * more
    second = ReadableTable(rules, [Scripted(lim17)] * 2).play(3, 0, [Span(1, more)])
    for seat, tally in enumerate(second):
        assert found.tallies[seat].counts == (merged.tallies[seat] + tally).counts
        assert found.convergence[seat][-1].hands == 1024 + more
    whole = Driver(experiment).run()
    resumed = Driver(experiment, checkpoint=checkpoint, resume=True)
    assert resumed.run().tallies == whole.tallies and whole.unmerged == 0 == resumed.partial_progress().unmerged


@needs(".py")
def test_a_bot_that_is_closed_ends_the_move_that_another_thread_asks_for(bot):
    """It raises SandboxClosed: it is neither a fault of the bot nor a stand, with which the round would continue."""
    before = processes()
    player = bot("x.py", "import time; time.sleep(99)", sandbox="auto", timeout=60.0)
    ended = []

    def ask():
        with pytest.raises(SandboxClosed):
            player.decide(a_view())
        ended.append(True)

    thread = threading.Thread(target=ask)
    thread.start()
    time.sleep(0.2)
    player.close()
    thread.join(timeout=20)
    assert ended and not player.faults and not left_of(lambda: processes() - before)
    with pytest.raises(SandboxClosed):
        player.decide(a_view())
