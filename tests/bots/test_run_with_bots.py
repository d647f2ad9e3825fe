"""Programs in `bjsim run`: what its JSON says of each, and what is left when it is stopped."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from bot_helpers import SAMPLES, needs, processes
from click.testing import CliRunner

from bjsim.cli.run import run as command

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


@pytest.mark.slow
@needs(".py")
@needs(".c")
@pytest.mark.parametrize(
    ("ending", "after"), [(signal.SIGINT, 0.6), (signal.SIGINT, 1.7), (signal.SIGTERM, 1.2), (signal.SIGHUP, 1.2)]
)
def test_a_run_that_is_stopped_leaves_no_process(tmp_path, ending, after):
    """Ctrl-C prints the table so far; so that it has one, it is waited for the first checkpoint."""
    before = processes()
    kept = tmp_path / "kept"
    bots = f"{SAMPLES / 'lim17.c'},{SAMPLES / 'bettor.py'},lim17,optimal"
    with subprocess.Popen(
        [*LONG, bots, "--checkpoint", str(kept)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as host:
        deadline = time.monotonic() + 60
        while not kept.exists() and time.monotonic() < deadline:
            time.sleep(0.1)
        time.sleep(after)
        started = processes() - before - {host.pid}
        assert len(started) > 4
        host.send_signal(ending)
        out, _ = host.communicate(timeout=60)
    for _ in range(100):
        left = [pid for pid in started if os.path.exists(f"/proc/{pid}")]
        if not left:
            break
        time.sleep(0.05)
    assert not left
    if ending == signal.SIGINT:
        assert host.returncode == 130
        assert b"this is what is known so far" in out and b"lim17.c" in out and b"ms per move" in out
