"""`koth submit` of contest.md on a local git remote and with a fake of the forge's tool; not run on a real forge."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from bot_helpers import needs_sandbox
from support.command import bjsim, refusal

from bjsim.bots.contest.entrants import gather
from bjsim.sim.game.presets import load_rules

BOT = "import sys\nprint('H' if int(sys.argv[1]) < 15 else 'S')\n"
MANIFEST = 'name = "ann-one"\nauthor = "Ann"\n'
GH = """#!/bin/sh
echo "$*" >>"$GH_LOG"
case "$1 $2" in
"api user") echo ann ;;
"pr create") echo https://github.com/host/hill/pull/7 ;;
esac
"""
pytestmark = [
    needs_sandbox,
    pytest.mark.skipif(not shutil.which("git"), reason="there is no git"),
]


def git(folder: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def hill(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The bare repository of a contest, which is also host/hill of the forge; ann/hill is an empty fork."""
    settings = tmp_path / "gitconfig"
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))
    settings.write_text(
        f"[user]\nname = ann\nemail = ann@example\n[init]\ndefaultBranch = main\n"
        f'[url "{tmp_path}/forge/"]\ninsteadOf = https://github.com/\n'
    )
    assert bjsim("koth", "new", tmp_path / "start").status == 0
    git(tmp_path / "start", "init", "-q")
    git(tmp_path / "start", "add", "--all")
    git(tmp_path / "start", "commit", "-qm", "start")
    for owner in ("host", "ann"):
        (tmp_path / "forge" / owner).mkdir(parents=True)
    git(tmp_path, "clone", "-q", "--bare", "start", "forge/host/hill.git")
    git(tmp_path, "init", "-q", "--bare", "forge/ann/hill.git")
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "gh").write_text(GH)
    (tools / "gh").chmod(0o755)
    monkeypatch.setenv("GH_LOG", str(tmp_path / "gh.log"))
    monkeypatch.setenv("PATH", f"{tools}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "forge" / "host" / "hill.git"


@pytest.fixture
def bot(tmp_path: Path) -> Path:
    folder = tmp_path / "one"
    folder.mkdir()
    (folder / "bot.py").write_text(BOT)
    (folder / "bot.toml").write_text(MANIFEST)
    return folder


@pytest.mark.slow
def test_a_bot_reaches_a_repository_that_one_may_push_to(hill: Path, bot: Path) -> None:
    said = bjsim("koth", "submit", bot, "--to", hill)
    assert said.status == 0, said.err
    assert "no faults" in said.out and "pushed the branch bot-ann-one" in said.out
    assert git(hill, "show", "bot-ann-one:bots/one/bot.py") == BOT
    assert git(hill, "diff", "--name-only", "main", "bot-ann-one").split() == ["bots/one/bot.py", "bots/one/bot.toml"]
    git(hill, "update-ref", "refs/heads/main", "bot-ann-one")  # merged
    assert "is in the contest already, and has not changed" in refusal_of(bjsim("koth", "submit", bot, "--to", hill))


def refusal_of(outcome: object) -> str:
    assert outcome.status == 2, outcome  # type: ignore[attr-defined]
    return str(outcome.err)  # type: ignore[attr-defined]


def test_a_pull_request_is_opened_from_a_fork(hill: Path, bot: Path, tmp_path: Path) -> None:
    said = bjsim("koth", "submit", bot, "--to", "host/hill")
    assert said.status == 0, said.err
    assert said.out.rstrip().endswith("https://github.com/host/hill/pull/7")
    assert git(tmp_path / "forge/ann/hill.git", "show", "bot-ann-one:bots/one/bot.py") == BOT
    assert "bot-ann-one" not in git(hill, "branch", "--list")
    calls = (tmp_path / "gh.log").read_text().splitlines()
    assert calls[:2] == ["api user --jq .login", "repo fork host/hill --clone=false"]
    assert calls[2].startswith("pr create --repo host/hill --head ann:bot-ann-one --title A bot: ann-one --body ")


def test_a_dry_run_only_checks(hill: Path, bot: Path, tmp_path: Path) -> None:
    said = bjsim("koth", "submit", bot, "--to", "host/hill", "--dry-run")
    assert said.status == 0 and "ann-one passes" in said.out and "4 matches; ended" in said.out
    assert "bjsim-submit-" not in said.out  # a folder that is gone by now
    assert not (tmp_path / "gh.log").exists() and git(hill, "branch", "--list").split() == ["*", "main"]


def test_what_cannot_be_submitted(hill: Path, bot: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (bot / "bot.py").write_text("print('nonsense')\n")
    failed = bjsim("koth", "submit", bot, "--to", hill)
    assert failed.status == 1 and "one fails the check of the contest" in failed.err
    assert git(hill, "branch", "--list").split() == ["*", "main"]
    (tmp_path / "plain").mkdir()
    assert "has no bot.toml" in refusal("koth", "submit", tmp_path / "plain", "--to", hill)
    assert "No such file" in refusal("koth", "submit", tmp_path / "absent.py", "--to", hill)
    git(tmp_path, "init", "-q", "--bare", "empty.git")
    assert "has no contest.toml" in refusal("koth", "submit", bot, "--to", tmp_path / "empty.git")
    lost = bjsim("koth", "submit", bot, "--to", tmp_path / "lost.git")
    assert lost.status == 1 and "git clone failed" in lost.err and lost.err.count("\n") == 1
    (tmp_path / "tools/gh").unlink()
    found = shutil.which
    monkeypatch.setattr(shutil, "which", lambda tool: None if tool == "gh" else found(tool))
    assert "gh is not installed" in refusal("koth", "submit", bot, "--to", "host/hill")


def test_nothing_of_the_repository_runs(hill: Path, bot: Path, tmp_path: Path) -> None:
    """Its scripts and hooks would leave a mark, and a link in place of its bots is refused."""
    work = tmp_path / "work"
    git(tmp_path, "clone", "-q", str(hill), "work")
    mark = tmp_path / "mark"
    for file in ("ci/check.sh", "ci/setup.sh"):
        (work / file).write_text(f"#!/bin/sh\ntouch {mark}\n")
    shutil.rmtree(work / "bots")
    (work / "bots").symlink_to(tmp_path)
    git(work, "add", "--all")
    git(work, "commit", "-qm", "evil")
    git(work, "push", "-q", "origin", "main")
    assert "has a link where its bots should be" in refusal("koth", "submit", bot, "--to", hill)
    assert not mark.exists()


def test_the_best_bot_of_each_author_is_listed(tmp_path: Path) -> None:
    field = tmp_path / "field"
    for name, limit, author in (("good", 16, "Ann"), ("bad", 20, "Ann"), ("other", 13, "Bob <b>")):
        (field / name).mkdir(parents=True)
        (field / name / "bot.py").write_text(BOT.replace("15", str(limit)))
        (field / name / "bot.toml").write_text(f'author = "{author}"\n')
    assert [one.author for one in gather([str(field)], load_rules("cardshark"))] == ["Ann", "Ann", "Bob <b>"]
    played = bjsim("koth", "play", field, "lim17", "--matches", 8, "--seed", 1, "--out", tmp_path / "c")
    assert "the best bot of each author: " in played.out and "of 2 bots" in played.out
    rows = json.loads((tmp_path / "c/standings.json").read_text())
    best = {row["author"]: row["bot"] for row in reversed(rows)}
    assert best[""] == "lim17" and best["Bob <b>"] == "other"
    assert f"Ann: {best['Ann']} (rank" in played.out
    page = (tmp_path / "c/index.html").read_text()
    assert "Bob &lt;b&gt;: <a" in page and "Bob <b>" not in page


def test_the_answer_in_a_pull_request_takes_names_and_numbers_only(tmp_path: Path) -> None:
    """The artifact is a stranger's: its texts are cut and cleaned, and numbers must be numbers."""
    bjsim("koth", "new", tmp_path / "hill")
    row = {"rank": 1, "rank_range": [1, 2], "bot": "a`|@all <b>" + "x" * 90, "luck_adjusted": 0.5, "faults": {"x": 2}}
    evil = {**row, "rank": "1) @everyone"}
    tools = tmp_path / "tools"
    tools.mkdir()
    script = """#!/bin/sh
case "$1 $2" in
"run download") while [ "$1" != --dir ]; do shift; done; cp "$ARTIFACT" "$2/standings.json" ;;
"api --paginate") echo 12 ;;
"pr comment") shift 2; echo "$*" >"$SAID.to"; while [ "$1" != --body-file ]; do shift; done; cp "$2" "$SAID" ;;
esac
"""
    (tools / "gh").write_text(script)
    (tools / "gh").chmod(0o755)
    for rows, works in (([row], True), ([evil], False)):
        artifact, said = tmp_path / "artifact.json", tmp_path / f"said{works}"
        artifact.write_text(json.dumps(rows))
        environment = {
            "PATH": f"{tools}{os.pathsep}{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "ARTIFACT": str(artifact), "SAID": str(said), "REPOSITORY": "host/hill", "RUN": "5", "COMMIT": "abc",
        }  # fmt: skip
        done = subprocess.run(
            ["bash", tmp_path / "hill/ci/answer.sh"], env={**os.environ, **environment}, capture_output=True, text=True
        )
        assert (done.returncode == 0) is works and said.exists() is works, done.stderr
    text = (tmp_path / "saidTrue").read_text()
    assert "| 1 (1 to 2 are open) | `a???all ?b?xxx" in text and "x" * 40 not in text and "| +0.500 | 2 |" in text
    assert (tmp_path / "saidTrue.to").read_text().startswith("12 --repo host/hill")


def test_the_workflow_that_answers_runs_nothing_of_a_pull_request(tmp_path: Path) -> None:
    bjsim("koth", "new", tmp_path / "hill")
    workflow = (tmp_path / "hill/.github/workflows/answer.yml").read_text()
    assert "pull_request_target" not in workflow and "${{ secrets" not in workflow
    assert "permissions: {}" in workflow and "ref:" not in workflow  # it checks out the main branch
    assert [line.strip() for line in workflow.splitlines() if "run:" in line] == [
        "workflow_run: { workflows: [Contest], types: [completed] }", "- run: ci/answer.sh",
    ]  # fmt: skip
    assert "bjsim" not in (tmp_path / "hill/ci/answer.sh").read_text()
