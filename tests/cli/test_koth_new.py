"""`bjsim koth new`: the guides for hosts and authors, word for word, and the steps of the workflow as they are run."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from bot_helpers import needs_sandbox
from support.command import bjsim

from bjsim.bots.contest.config import load_config

GIT = {f"GIT_{who}_{what}": "author@example" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
SHELL = {**os.environ, **GIT, "GIT_CONFIG_GLOBAL": os.devnull}
SHELL["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
needs_git = pytest.mark.skipif(not (shutil.which("git") and shutil.which("bash")), reason="there is no git or no bash")


def in_shell(folder, script, status=0):
    """What a script prints that bash runs in a folder, with this bjsim on the path."""
    done = subprocess.run(
        ["bash", "-e", "-c", script], cwd=folder, env=SHELL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert done.returncode == status, done.stdout
    return done.stdout


def commands(guide):
    """The blocks of commands in a guide."""
    return re.findall(r"```sh\n(.*?)```", guide.read_text(encoding="utf-8"), re.S)


def steps(folder):
    """The commands that the workflow runs."""
    workflow = (folder / ".github/workflows/contest.yml").read_text(encoding="utf-8")
    return re.findall(r"- run: (.*)", workflow)


@needs_sandbox
@needs_git
def test_the_guides_word_for_word(tmp_path):
    made = bjsim("koth", "new", tmp_path / "autumn hill")
    assert made.status == 0 and "ci/play.sh" in made.out
    folder = tmp_path / "autumn hill"
    config = folder / "contest.toml"
    config.write_text(config.read_text().replace("matches = 25", "matches = 4"))  # the tests are short of time

    (start,) = commands(folder / "README.md")
    in_shell(folder, start)
    page = (folder / "site/index.html").read_text(encoding="utf-8")
    assert "<h1>autumn hill</h1>" in page and "The contest is over" in page
    assert all(f">{name}</a>" in page for name in ("example", "example_line", "lim17", "optimal"))
    assert in_shell(folder, "git status --porcelain") == ""  # the page is ignored

    begin, send, compare = commands(folder / "AUTHORS.md")
    assert "no faults" in in_shell(folder, begin)
    checked = in_shell(folder, send)
    assert "4 matches; ended: all matches played" in checked and "no bot has changed" not in checked
    names = re.findall(r'pages/([\w-]+)\.html">', (folder / "check-site/index.html").read_text(encoding="utf-8"))
    assert set(names) == {"mybot", "lim17", "optimal"}
    assert "mybot" in in_shell(folder, compare)

    # the workflow runs the same two scripts; no bot differs after the merge
    setup, check, again, play = steps(folder)
    assert setup == again == "ci/setup.sh" and check == 'ci/check.sh "origin/$BASE"' and play == "ci/play.sh"
    in_shell(
        folder, "git switch --quiet main && git merge --quiet mybot && git update-ref refs/remotes/origin/main main"
    )
    assert in_shell(folder, f"export BASE=main; {check}") == "no bot has changed since origin/main\n"


@needs_sandbox
@needs_git
def test_bad_bots_fail_the_check(tmp_path):
    assert bjsim("koth", "new", tmp_path).status == 0
    in_shell(tmp_path, "git init -q --initial-branch main; git add --all; git commit -qm start; git switch -qc mine")
    strange = tmp_path / "bots" / "a b\n$(touch oops).py"
    strange.write_text("print('nonsense')")
    in_shell(tmp_path, "git rm -q bots/example.py; git add --all; git commit -qm bots")
    said = in_shell(tmp_path, "ci/check.sh main", status=1)
    assert "a contest would record faults: bad-reply" in said and "a bot has failed its check" in said
    assert not list(tmp_path.rglob("oops")) and not (tmp_path / "check-site").exists()
    assert "usage: ci/check.sh BASE" in in_shell(tmp_path, "ci/check.sh", status=1)


def test_the_workflow_gives_strangers_nothing(tmp_path):
    bjsim("koth", "new", tmp_path)
    workflow = (tmp_path / ".github/workflows/contest.yml").read_text(encoding="utf-8")
    assert "pull_request_target" not in workflow and "secrets" not in workflow.partition("name:")[2]
    head, *jobs = re.split(r"^  (?=\w+:\n    )", workflow.partition("\njobs:\n")[2], flags=re.M)
    assert not head and re.search(r"^permissions:\n  contents: read\n", workflow, re.M)
    with_rights = [job for job in jobs if "permissions:" in job]
    assert len(jobs) == 3 and len(with_rights) == 1 and "run:" not in with_rights[0]
    assert workflow.count("actions/checkout@") == workflow.count("persist-credentials: false") == 2
    # What a pull request chooses, such as a branch's name, is never part of a command.
    assert not any("${{" in step for step in steps(tmp_path))


def test_the_settings(tmp_path):
    name = 'the "first" hill'
    bjsim("koth", "new", tmp_path / name)
    contest, bots = load_config(str(tmp_path / name / "contest.toml"))
    assert contest.title == name and contest.protocols == ("argv", "line") and len(bots) == 3
    assert tomllib.loads((tmp_path / name / "contest.toml").read_text())["rules"] == contest.rules.name == "cardshark"
    assert "rules=cardshark" in (tmp_path / name / "ci/check.sh").read_text()
    assert os.access(tmp_path / name / "ci/check.sh", os.X_OK)
    assert "@" not in "".join(re.findall(r"@[A-Z]+@", (tmp_path / name / "ci/setup.sh").read_text()))


def test_errors(tmp_path):
    (tmp_path / "file").write_text("")
    done = bjsim("koth", "new", tmp_path)
    assert done.status == 2 and done.err.endswith("is not empty; choose another name\n")
    done = bjsim("koth", "new", tmp_path / "file")
    assert done.status == 2 and "cannot write" in done.err
    done = bjsim("koth", "new", tmp_path / "a\nb")
    assert done.status == 2 and "is not accepted" in done.err and done.err.count("\n") == 1
    assert bjsim("koth", "new", tmp_path / ("x" * 201)).status == 2
    for name in ("-n", tmp_path / "-n", "-x/name"):
        done = bjsim("koth", "new", "--", name)
        assert done.status == 2 and "use a name that does not start with a dash" in done.err
