"""The texts of help and of errors, as files in tests/snapshots, so that a change of them is seen and looked at.

`make snapshots` (or UPDATE_SNAPSHOTS=1 in the environment of pytest) rewrites the files.
"""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import click
import pytest
from support.command import bjsim

from bjsim.cli.main import cli

FOLDER = Path(__file__).parents[1] / "snapshots"
UPDATE = bool(os.environ.get("UPDATE_SNAPSHOTS"))

FILES = {  # what the commands below read
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
ERRORS = """
    bjsim walk
    bjsim run
    bjsim run --bots lim17
    bjsim run --bots lim17 --hands many
    bjsim run --bots lim17 --hands 0
    bjsim run --bots lim17 --hands 10 --hands-down
    bjsim run --bots lim71 --hands 10
    bjsim run --bots zzz --hands 10
    bjsim run --bots gone.txt --hands 10
    bjsim run --bots . --hands 10
    bjsim run --bots kelly --hands 10
    bjsim run --bots words.txt --hands 10
    bjsim run --bots empty.txt --hands 10
    bjsim run --bots code.csv --hands 10
    bjsim run --bots gone.py:player --hands 10
    bjsim run --bots player.py:play --hands 10
    bjsim run --bots player.py:number --hands 10
    bjsim run --bots lim17 --until 5
    bjsim run --bots lim17 --hands 10 --workers 0
    bjsim run --bots lim17 --hands 10 --plot picture.doc
    bjsim run --bots lim17 --hands 10 --resume gone.json
    bjsim run --bots lim17 --hands 10 --rules esy
    bjsim run --bots lim17 --hands 10 --rules gone.toml
    bjsim run --bots lim17 --hands 10 --rules easy --rules neller
    bjsim run --bots lim17 --bots optimal --hands 10
    bjsim run --bots lim17 --hands 10 --hands 20
    bjsim koth play lim17 --out here --out there
    bjsim solve nothing
    bjsim solve base
    bjsim solve easy
    bjsim run --bots optimal lim17 --hands 10
    bjsim solve --rules field.toml
    bjsim solve --rules value.toml
    bjsim solve --rules broken.toml
    bjsim solve --set seats=99
    bjsim solve --set seets=2
    bjsim solve --set seats
    bjsim solve --set h17 --set s17
    bjsim solve --set decks=2 --decks 6
    bjsim solve --decks 0
    bjsim solve --ten-probability 2
    bjsim check zzz
    bjsim check lim17 --echo --json here
    bjsim replay --bots lim17 --shoe here --round 4711
    bjsim compare --rules easy --rules neller
    bjsim compare --vary cut
    bjsim compare --vary cat=1
    bjsim rules zzz
    bjsim replay --bots optimal --round x
    bjsim learn --mdp broken.json
    bjsim learn --mdp mdp.json
    bjsim koth play lim17
    bjsim koth play lim17 lim18 --rules neller
    bjsim koth play --config contest.toml
    bjsim koth play lim17 lim18 --rules easy --rules cardshark --rules neller
    bjsim koth resume gone
    bjsim bot check gone.c
    bjsim bot new mybot --language cobol
""".strip().splitlines()


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
    """Each is one line on stderr, with exit status 2."""
    monkeypatch.chdir(tmp_path)
    for name, content in FILES.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    parts = []
    for command in map(str.strip, ERRORS):
        outcome = bjsim(*shlex.split(command)[1:])
        assert (outcome.status, outcome.err.count("\n")) == (2, 1), (command, outcome)
        parts.append(f"$ {command}\n{outcome.err.replace(str(tmp_path), 'FOLDER')}")
    assert {path.name for path in tmp_path.iterdir()} - {"__pycache__"} == set(FILES)
    check("errors.txt", "\n".join(parts))
