"""The containers of docs/how-to/cluster.md: built where a container tool works, else their steps run as scripts."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from bot_helpers import needs_sandbox
from support.documents import ROOT

STEPS = [line.partition(" ") for line in (ROOT / "Containerfile").read_text().splitlines() if line[:1].isupper()]
SAMPLES = ROOT / "src/bjsim/bots/samples"


def container_tool() -> str:
    """The container tool that works here; empty if none does."""
    for tool in ("docker", "podman"):
        if shutil.which(tool) and subprocess.run([tool, "info"], capture_output=True).returncode == 0:
            return tool
    return ""


def words_of(name: str) -> list[str]:
    """The command of a service in compose.yaml."""
    lines = (ROOT / "compose.yaml").read_text().splitlines()
    start = lines.index(f"  {name}:")
    return next(line.split()[1:] for line in lines[start:] if line.strip().startswith("command:"))


def run(words: list[object], folder: Path, **environment: str) -> str:
    done = subprocess.run(
        [str(word) for word in words], cwd=folder, capture_output=True, text=True, env={**os.environ, **environment}
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
@needs_sandbox
def test_the_steps_run_as_scripts(tmp_path: Path) -> None:
    """Debian packages are not installed, and dependencies of Python are those of this environment."""
    assert [word for word, _, _ in STEPS if word == "RUN"] == ["RUN"] * 4
    ran = [text for word, _, text in STEPS if word == "RUN"]
    assert "bubblewrap" in ran[0] and ran[1].startswith("pip install") and ran[3] == "bjsim warm"
    tree = tmp_path / "bjsim"
    ignored = (ROOT / ".dockerignore").read_text().split()
    shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns(*(name.rpartition("/")[2] for name in ignored)))
    installed = tmp_path / "installed"
    options = ["--no-deps", "--quiet", "--target", installed]
    run([sys.executable, "-m", "pip", "install", *options, tree], tmp_path)
    shutil.rmtree(tree)
    environment = {"PYTHONPATH": str(installed), "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    bjsim = [sys.executable, "-m", "bjsim"]
    where = run([sys.executable, "-c", "import bjsim; print(bjsim.__file__)"], tmp_path, **environment)
    assert where.startswith(str(installed))
    assert "sandbox: bots run in a " in run([*bjsim, "doctor"], tmp_path, **environment)
    quoted = next(text for word, _, text in STEPS if word == "CMD").translate(str.maketrans("", "", '[]",')).split()
    quoted[quoted.index("optimallim17")] = "optimal,lim17"
    assert "agrees with the exact value" in run([*bjsim, *quoted], tmp_path, **environment)
    bots = tmp_path / "bots"
    bots.mkdir()
    for name in ("lim17.py", "lim17_line.py"):
        shutil.copy(SAMPLES / name, bots)
    contest = [word.replace("/bots", str(bots)).replace("/out/", f"{tmp_path}/") for word in words_of("contest")]
    contest[contest.index("100")] = "3"
    contest[contest.index("${WORKERS:-1}")] = "2"
    assert "lim17" in run([*bjsim, *contest], tmp_path, **environment)


@pytest.mark.slow
def test_the_image_runs_the_command_and_a_contest(tmp_path: Path) -> None:
    tool = container_tool()
    if not tool:
        pytest.skip("no container tool works here; the steps are run as scripts instead")
    run([tool, "build", "-f", ROOT / "Containerfile", "-t", "bjsim", ROOT], tmp_path)
    assert "agrees with the exact value" in run([tool, "run", "--rm", "--network=none", "bjsim"], tmp_path)
