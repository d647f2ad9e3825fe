"""`bjsim koth new`: the guides for hosts and authors, word for word, and the steps of the workflow as they are run."""

import json
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

from bjsim.bots.contest import journal
from bjsim.bots.contest.config import Contest, load_config

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
@pytest.mark.slow
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
    setup, check, again, load, play, save, keep = steps(folder)
    assert setup == again == "ci/setup.sh" and check == 'ci/check.sh "origin/$BASE"' and play == "ci/play.sh"
    assert (load, save, keep) == ("ci/journal.sh load", "ci/journal.sh save", "ci/keep.sh")
    in_shell(
        folder, "git switch --quiet main && git merge --quiet mybot && git update-ref refs/remotes/origin/main main"
    )
    assert in_shell(folder, f"export BASE=main; {check}") == "no bot has changed since origin/main\n"


@needs_sandbox
@needs_git
@pytest.mark.slow
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


@needs_sandbox
@needs_git
@pytest.mark.skipif(not shutil.which("openssl"), reason="there is no openssl")
@pytest.mark.slow
def test_the_workflow_plays_on_from_its_journal(tmp_path):
    """Each run in a fresh clone: a bot joins, one changes, one leaves; the others keep their results and the seed."""
    bjsim("koth", "new", tmp_path / "hill")
    config = tmp_path / "hill" / "contest.toml"
    config.write_text(config.read_text().replace("matches = 25", "matches = 2"))
    in_shell(
        tmp_path,
        "cd hill; git init -q --initial-branch main; git add --all; git commit -qm start; "
        "git clone -q --bare . ../origin.git; git remote add origin ../origin.git",
    )
    run = "ci/journal.sh load; CLOSE={} ci/play.sh; ci/journal.sh save; ci/keep.sh"
    pages, seeds = [], set()
    changes = ["true", "cp bots/example.py bots/new.py", "echo >>bots/new.py; rm bots/example.py", "true"]
    for number, change in enumerate(changes):
        in_shell(
            tmp_path / "hill",
            f"{change}; git add --all; git commit -qm {number} --allow-empty; git push -q origin main",
        )
        in_shell(tmp_path, "rm -rf work; git clone -q origin.git work")
        assert "JOURNAL_KEY" in in_shell(tmp_path / "work", "ci/journal.sh load", status=1)
        in_shell(tmp_path / "work", "export JOURNAL_KEY=secret; " + run.format("true" if number == 3 else ""))
        header = next(journal.read(tmp_path / "work" / "hill"))
        seeds.add(header["contest"]["seed"])
        site = tmp_path / "work" / "site"
        pages.append({row["bot"]: row for row in json.loads((site / "standings.json").read_text())})
        public = [file for file in (*site.rglob("*"), tmp_path / "work/kept/journal") if file.is_file()]
        shown = [file.name for file in public if str(header["contest"]["seed"]).encode() in file.read_bytes()]
        assert shown == [] if number < 3 else set(shown) == {"index.html", "journal.jsonl"}
    assert len(seeds) == 1 and [len(page) for page in pages] == [4, 5, 4, 4]
    assert [page["new"]["version"] for page in pages[1:]] == [1, 2, 2]
    assert len({page["lim17"]["chips"] for page in pages}) == 1
    in_shell(tmp_path / "work", "JOURNAL_KEY=wrong ci/journal.sh load", status=2)
    in_shell(tmp_path / "work", "git remote set-url origin nowhere; JOURNAL_KEY=secret ci/journal.sh load", status=1)


def test_the_workflow_gives_strangers_nothing(tmp_path):
    """No step that runs a bot has a secret, no job that runs one has a right, and pull requests have neither."""
    bjsim("koth", "new", tmp_path)
    workflow = (tmp_path / ".github/workflows/contest.yml").read_text(encoding="utf-8")
    assert "pull_request_target" not in workflow
    head, *jobs = re.split(r"^  (?=\w+:\n    )", workflow.partition("\njobs:\n")[2], flags=re.M)
    assert not head and re.search(r"^permissions:\n  contents: read\n", workflow, re.M)
    check, play, keep, publish = jobs
    assert "if: github.event_name == 'pull_request'" in check and "if: github.event_name != 'pull_request'" in play
    for job in (check, play):
        assert "permissions:" not in job and "persist-credentials: false" in job
        for step in job.split("\n      - ")[1:]:
            assert "secrets." not in step or step.startswith("run: ci/journal.sh "), step
    assert "secrets." not in check + keep + publish
    assert re.findall("run: (.*)", keep + publish) == ["ci/keep.sh"]
    assert "bjsim" not in (tmp_path / "ci/keep.sh").read_text() + (tmp_path / "ci/journal.sh").read_text()
    # What a pull request chooses, such as a branch's name, is never part of a command.
    assert not any("${{" in step for step in steps(tmp_path))


def test_the_settings(tmp_path):
    name = 'the "first" hill'
    bjsim("koth", "new", tmp_path / name)
    contest, bots = load_config(str(tmp_path / name / "contest.toml"))
    assert contest.title == name and contest.protocols == ("argv", "line") and len(bots) == 3
    assert tomllib.loads((tmp_path / name / "contest.toml").read_text())["rules"] == contest.rules.name == "cardshark"
    assert contest.timeout == Contest.timeout, "the template names the default"
    assert 'bot check "$bot" --config contest.toml' in (tmp_path / name / "ci/check.sh").read_text()
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
