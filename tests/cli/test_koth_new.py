"""`bjsim koth new`: the guides for hosts and authors, word for word."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from email.message import Message
from pathlib import Path
from types import SimpleNamespace

import pytest
from bot_helpers import needs_sandbox
from support.command import bjsim, refusal

from bjsim.bots.contest.config import Contest, load_config
from bjsim.cli import koth_new

GIT = {f"GIT_{who}_{what}": "author@example" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
SHELL = {**os.environ, **GIT, "GIT_CONFIG_GLOBAL": os.devnull}
SHELL["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
needs_git = pytest.mark.skipif(not (shutil.which("git") and shutil.which("bash")), reason="there is no git or no bash")


@pytest.mark.parametrize(
    ("came", "source"),
    [
        ('{"url": "https://a.example/b", "vcs_info": {"vcs": "git", "commit_id": "1f"}}', "git+https://a.example/b@1f"),
        ('{"url": "file:///srv/ann/b", "vcs_info": {"vcs": "git", "commit_id": "1f"}}', "git+https://r.example/b"),
        ('{"url": "file:///srv/ann/b", "dir_info": {"editable": true}}', "git+https://r.example/b"),
        (None, "git+https://r.example/b"),
    ],
)
def test_authors_install_what_the_host_has(came, source, tmp_path, monkeypatch):
    about = Message()
    about["Project-URL"] = "Homepage, https://r.example/b"
    found = SimpleNamespace(read_text=lambda name: came, metadata=about)
    monkeypatch.setattr(koth_new, "distribution", lambda name: found)
    assert bjsim("koth", "new", tmp_path / "c").status == 0
    assert f'pip install "{source}"' in (tmp_path / "c" / "AUTHORS.md").read_text(encoding="utf-8")


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


@needs_sandbox
@needs_git
@pytest.mark.slow
def test_the_guides_word_for_word(tmp_path):
    made = bjsim("koth", "new", tmp_path / "autumn hill")
    assert made.status == 0 and "koth play --config contest.toml" in made.out
    folder = tmp_path / "autumn hill"
    config = folder / "contest.toml"
    config.write_text(config.read_text().replace("matches = 25", "matches = 4"))  # the tests are short of time

    start, keep = commands(folder / "README.md")
    in_shell(folder, start)
    page = (folder / "hill/index.html").read_text(encoding="utf-8")
    assert "<h1>autumn hill</h1>" in page and "The contest is over" in page
    assert all(f">{name}</a>" in page for name in ("example", "example_line", "lim17", "optimal"))

    begin, trial, compare = commands(folder / "AUTHORS.md")
    assert "no faults" in in_shell(folder, begin)
    assert "4 matches; ended: all matches have been played" in in_shell(folder, trial)
    names = re.findall(r'pages/([\w-]+)\.html">', (folder / "trial/index.html").read_text(encoding="utf-8"))
    assert set(names) == {"mybot", "lim17", "optimal"}
    assert "mybot" in in_shell(folder, compare)
    assert in_shell(folder, "git status --porcelain") == "?? bots/mybot.py\n"  # the pages are ignored

    assert "mybot joins" in in_shell(folder, keep)
    assert ">mybot</a>" in (folder / "hill/index.html").read_text(encoding="utf-8")


def test_the_settings(tmp_path):
    name = 'the "first" hill'
    bjsim("koth", "new", tmp_path / name)
    contest, bots = load_config(str(tmp_path / name / "contest.toml"))
    assert contest.title == name and contest.protocols == ("argv", "line") and len(bots) == 3
    assert tomllib.loads((tmp_path / name / "contest.toml").read_text())["rules"] == contest.rules.name == "cardshark"
    assert contest.timeout == Contest.timeout, "the template names the default"
    written = [file.read_text(encoding="utf-8") for file in (tmp_path / name).rglob("*") if file.is_file()]
    assert len(written) == 6 and not re.findall(r"@[A-Z]+@", "".join(written)), "every mark of a template is filled in"


def test_errors(tmp_path):
    (tmp_path / "file").write_text("")
    for name, said in (
        (tmp_path, "is not empty; choose another name"),
        (tmp_path / "file", "cannot write"),
        (tmp_path / "a\nb", "is not accepted; use a name of 1 to 200 printable characters"),
        (tmp_path / ("x" * 201), "is not accepted; use a name of 1 to 200 printable characters"),
        *((name, "use a name that does not start with a dash") for name in ("-n", tmp_path / "-n", "-x/name")),
    ):
        assert said in refusal("koth", "new", "--", name)
