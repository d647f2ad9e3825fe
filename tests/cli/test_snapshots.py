"""The texts of help and of errors, as files in tests/snapshots, so that a change of them is seen and looked at.

`make snapshots` (or UPDATE_SNAPSHOTS=1 in the environment of pytest) rewrites the files. It also adds the error of a
command that was written into errors.txt as `$ bjsim ...`.
"""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path

import click
import pytest
from support.command import bjsim

from bjsim.cli.main import cli

FOLDER = Path(__file__).parents[1] / "snapshots"
UPDATE = bool(os.environ.get("UPDATE_SNAPSHOTS"))

FILES = {  # what the commands in errors.txt read
    "empty.txt": "",
    "words.txt": "not a chart\n",
    "code.csv": ",2,3,4,5,6,7,8,9,10,A\n16,S,S,S,S,S,H,H,X,H,H\n",
    "field.toml": 'name = "mine"\nstands_on = 17\n',
    "value.toml": 'name = "mine"\nblackjack_pays = "lots"\n',
    "broken.toml": "name = \n",
    "mdp.json": '{"start": "a", "states": {"a": {"go": [{"to": "b", "p": 0.5}]}}}',
    "broken.json": "{",
    "player.py": "number = 17\n",
    "contest.toml": 'bots = ["lim17", "optimal"]\nround = 3\n',
}


def commands(group: click.Group, words: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """The words of the group and of everything under it: (), ("run",), ("bot", "check")."""
    found, context = [words], click.Context(group, **group.context_settings)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        found += commands(command, (*words, name)) if isinstance(command, click.Group) else [(*words, name)]
    return found


def check(name: str, text: str) -> None:
    """Compare a text with its snapshot, or write it there. Trailing blanks do not count."""
    file = FOLDER / name
    text = "".join(f"{line.rstrip()}\n" for line in text.splitlines())
    if UPDATE:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    assert file.exists(), f"tests/snapshots/{name} is missing; write it with `make snapshots`"
    assert text == file.read_text(encoding="utf-8"), "if the new text is right, write it with `make snapshots`"


@pytest.mark.parametrize("words", commands(cli), ids=lambda words: " ".join(words) or "bjsim")
def test_help(words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    command: click.Command | None = cli
    for word in words:
        assert isinstance(command, click.Group)
        command = command.get_command(click.Context(command), word)
    monkeypatch.setattr(command, "_help_option", None)  # click keeps the one of the first call, which may lack -h
    outcome = bjsim(*words, "--help")
    assert (outcome.status, outcome.err) == (0, "")
    check(f"help/{'-'.join(('bjsim', *words))}.txt", outcome.out)


def test_no_snapshot_of_help_is_left_over() -> None:
    names = {f"{'-'.join(('bjsim', *words))}.txt" for words in commands(cli)}
    if UPDATE:
        for file in (FOLDER / "help").glob("*.txt"):
            if file.name not in names:
                file.unlink()
    assert {file.name for file in (FOLDER / "help").iterdir()} == names


def test_errors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The commands are those that the snapshot has: each writes one line to stderr, with exit status 2."""
    monkeypatch.chdir(tmp_path)
    for name, content in FILES.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    parts, asked = [], re.findall(r"^\$ (.*)$", (FOLDER / "errors.txt").read_text(encoding="utf-8"), re.MULTILINE)
    assert len(asked) > 50
    for command in asked:
        outcome = bjsim(*shlex.split(command)[1:])
        assert (outcome.status, outcome.err.count("\n")) == (2, 1), (command, outcome)
        parts.append(f"$ {command}\n{outcome.err.replace(str(tmp_path), 'FOLDER')}")
    assert {path.name for path in tmp_path.iterdir()} - {"__pycache__"} == set(FILES)
    check("errors.txt", "\n".join(parts))
