"""Killed workers, Ctrl-C, SIGTERM and a kill of the command itself change no figure of a run, a count or a contest."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.waiting import wait_until

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="looks for workers in /proc"),
]

GAME = ("--rules", "vegas-s17", "--seed", "7", "--workers", "2")
COMMANDS = {
    "run": ("run", "--bots", "optimal,lim17", "--hands", "2e6", *GAME),
    "count": ("count", "--rounds", "2e6", *GAME),
    "count --until": ("count", "--until", "0.005%", *GAME),
}
LOST = "a worker was lost; what it had begun is played again"
Process = subprocess.Popen[str]


def play(*words: object, began: Path, disturb: Callable[[Process], object] | None = None) -> tuple[int, list[str]]:
    """Run a command; it is disturbed once the file `began` exists. Returns its status, and its lines on stderr."""
    command = [sys.executable, "-m", "bjsim", *map(str, words)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            if disturb:
                assert wait_until(lambda: began.exists() and began.stat().st_size > 1000)
                disturb(process)
            out, err = process.communicate(timeout=300)
        finally:
            process.kill()
    assert ("stopped: results so far" in out) == (process.returncode == 130)
    return process.returncode, err.splitlines()


def kill_workers(times: int) -> Callable[[Process], object]:
    def kill(process: Process) -> None:
        chance, children = random.Random(times), Path(f"/proc/{process.pid}/task/{process.pid}/children")
        for _ in range(times):
            assert process.poll() is None, "killed before its end"
            assert wait_until(lambda: children.read_text().strip())  # none while a pool is opened again
            os.kill(int(chance.choice(children.read_text().split())), signal.SIGKILL)
            time.sleep(chance.uniform(0, 0.2))

    return kill


def figures(file: Path) -> dict[str, Any]:
    data = json.loads(file.read_text())
    return {key: value for key, value in data.items() if key not in ("seconds", "rounds_per_second")}


@pytest.mark.parametrize("name", COMMANDS)
def test_killed_workers_and_stops_change_no_figure(name: str, tmp_path: Path) -> None:
    words, whole, end = COMMANDS[name], tmp_path / "whole.json", tmp_path / "end.json"
    assert play(*words, "--json", whole, began=whole) == (0, [])
    for times in (1, 3):
        kept = tmp_path / f"killed-{times}"
        status, err = play(*words, "--json", end, "--checkpoint", kept, began=kept, disturb=kill_workers(times))
        assert status == 0 and err == [LOST] * len(err) and 0 < len(err) <= times
        assert figures(end) == figures(whole)
    for sent, status in ((signal.SIGINT, 130), (signal.SIGTERM, 130), (signal.SIGKILL, -signal.SIGKILL)):
        kept = tmp_path / sent.name
        disturb = lambda process, sent=sent: process.send_signal(sent)  # noqa: E731
        assert play(*words, "--json", end, "--checkpoint", kept, began=kept, disturb=disturb) == (status, [])
        assert play(*words, "--json", end, "--resume", kept, began=kept) == (0, [])
        assert figures(end) == figures(whole)
    status, [line] = play(*words, "--decks", "8", "--resume", kept, began=kept)
    assert status == 2 and line == f"bjsim: the checkpoint {kept} belongs to another run (different: rules)"


def test_killed_workers_change_no_round_of_a_contest(tmp_path: Path) -> None:
    def journal(folder: str, disturb: Callable[[Process], object] | None = None) -> bytes:
        file = tmp_path / folder / "journal.jsonl"
        words = ("koth", "play", "optimal", "lim17", "mimic", "hoyle", "--matches", "150", "--seed", "5")
        status, err = play(*words, "--workers", "2", "--out", file.parent, began=file, disturb=disturb)
        assert status == 0 and err == [LOST] * len(err)
        return file.read_bytes()

    whole = journal("whole")
    for times in (1, 3):
        assert journal(f"killed-{times}", kill_workers(times)) == whole
