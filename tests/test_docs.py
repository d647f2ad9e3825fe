"""Every code block of README.md and docs/ is run, or parsed, or says in a comment why it is not.

    <!-- test: tests/cli/test_koth.py -->      that test runs the block; it names the page
    <!-- test: not run, REASON -->             Python is compiled, commands are parsed, and that is all

The comment stands between the block and the one before it. Commands are parsed; those that take no time are run too,
and nightly all that need no file and no terminal.
"""

from __future__ import annotations

import doctest
import json
import re
import tomllib
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from support.command import bjsim
from support.documents import PAGES, ROOT, Block, blocks, parse_command, split_words

from bjsim.cli.main import cli
from bjsim.errors import InputError
from bjsim.sim.game.presets import named_rules
from bjsim.sim.game.rule_text import side_bet_error
from bjsim.sim.game.rules import Rules

BLOCKS = [
    block
    for page in PAGES
    for block in blocks(page.relative_to(ROOT).as_posix(), page.read_text(encoding="utf-8"))
]  # fmt: skip
ELSEWHERE = {"README.md": "tests/test_readme.py", "docs/explanation/learning.md": "tests/strategies/test_learn_game.py"}
NO_CODE = ("", "text", "mermaid", "csv", "dockerfile")
QUICK = ("rules", "solve", "replay")  # commands that are run, of games of homework
NIGHTLY = (*QUICK, "bank", "check", "compare", "count", "known", "learn", "run", "sidebet")


def is_alone(words: list[str]) -> bool:
    """Whether the nightly tests run a command: it needs no file and no terminal."""
    return words[1] in NIGHTLY and not any(re.search(r"\.[a-z]\w*$|^\./", word) for word in words)


def is_quick(words: list[str]) -> bool:
    return is_alone(words) and words[1] in QUICK and ("--rules" not in words or "blackjack-p" in words)


def is_dear(block: Block) -> bool:
    """Whether a block of Python takes seconds: a bank of six decks, whose tests have smaller games."""
    return block.language == "python" and block.page == "docs/how-to/bank.md"


def other_test(marker: str) -> Path | None:
    """The file of the test that a marker names."""
    return ROOT / marker if re.fullmatch(r"tests/[\w/]+\.py", marker) else None


@pytest.mark.parametrize("block", [block for block in BLOCKS if block.marker], ids=lambda block: block.place)
def test_a_marker_is_true(block: Block) -> None:
    file = other_test(block.marker)
    if file is None:
        assert re.match(r"not run, \w", block.marker), "write `not run, REASON` or the file of a test"
    else:
        assert Path(block.page).name in file.read_text(encoding="utf-8"), f"{file} does not name {block.page}"


@pytest.mark.parametrize(
    "block",
    [pytest.param(block, marks=pytest.mark.slow) if is_dear(block) else block for block in BLOCKS],
    ids=lambda block: f"{block.page}: {block.text.strip().splitlines()[0][:40].strip()}",  # no lines, which move
)
def test_a_block_is_run_or_marked(block: Block, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    if block.language in ("python", "pycon"):
        if ">>>" not in block.text:
            code = compile(block.text, block.place, "exec")
            if not block.marker:
                names: dict[str, object] = {"__name__": "__main__"}
                exec(code, names)
                for command in [each for each in names.values() if isinstance(each, click.Command)]:
                    result = CliRunner().invoke(command, [])
                    assert result.exit_code == 0 and result.output, (block.place, result)
    elif block.language == "json":
        json.loads(block.text)
    elif block.language == "toml":
        tomllib.loads(block.text)
    else:
        known = block.commands or block.marker or block.language in NO_CODE
        assert known, f"a block of {block.language or 'no language'} that no test runs; mark it (see this file)"
        for words in block.commands:
            parse_command(cli, words[1:])
            if not block.marker and is_quick(words):
                outcome = bjsim(*words[1:])
                assert outcome.status == 0, (words, outcome.err)


@pytest.mark.slow
@pytest.mark.parametrize(
    "block",
    [
        block
        for block in BLOCKS
        if not block.marker and "tutorials/" not in block.page and any(map(is_alone, block.commands))
    ],
    ids=lambda block: f"{block.page}: {block.text.strip().splitlines()[0][:40].strip()}",  # no lines, which move
)
def test_a_command_that_takes_long_runs_too(block: Block, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for words in filter(is_alone, block.commands):
        outcome = bjsim(*words[1:])
        assert outcome.status == 0 and outcome.out, (words, outcome.err)


@pytest.mark.parametrize("page", sorted({block.page for block in BLOCKS if ">>>" in block.text}))
def test_examples_with_a_prompt_are_doctests(page: str) -> None:
    if file := ELSEWHERE.get(page):
        assert Path(page).name in (ROOT / file).read_text(encoding="utf-8")
    else:
        assert doctest.testfile(str(ROOT / page), module_relative=False).failed == 0


@pytest.mark.parametrize(
    ("words", "trouble"),
    [
        ("walk", "no command is called 'walk'"),
        ("run --bot lim17", "--bot"),
        ("solve --format picture", "picture"),
        ("solve easy", "easy"),
        ("bot examine x", "examine"),
        ("run --bots", "argument"),
        ("run lim17", "left over"),
    ],
)
def test_a_wrong_command_is_caught(words: str, trouble: str) -> None:
    """Negative control."""
    with pytest.raises((click.UsageError, InputError)) as caught:
        parse_command(cli, words.split())
    error = caught.value
    assert trouble in (error.format_message() if isinstance(error, click.UsageError) else str(error))


def test_blocks_are_found() -> None:
    text = (
        "a\n\n    bjsim rules  # all\n\n    x\n\n<!-- test: not run, slow -->\n\n"
        "```python\n1 +\n```\n1. b\n\n   ```sh\n   $ bjsim run \\\n       --bots x | head\n   ```\n"
    )
    found = list(blocks("p.md", text))
    assert [(block.line, block.language, block.marker) for block in found] == [
        (3, "sh", ""),
        (9, "python", "not run, slow"),
        (14, "sh", ""),
    ]
    assert [block.commands for block in found] == [[["bjsim", "rules"]], [], [["bjsim", "run", "--bots", "x"]]]
    assert split_words("bjsim run 'a b' > c # d") == ["bjsim", "run", "a b"]
    assert len(BLOCKS) > 20 and sum(len(block.commands) for block in BLOCKS) > 30


@pytest.mark.parametrize("name", ["21+3", "Perfect Pairs", "lucky-lucky", "buster", "match-the-dealer"])
def test_a_side_bet_is_not_called_an_unknown_rule(name: str) -> None:
    expected = f"{name!r} is a side bet, not a rule; `bjsim sidebet` lists those included"
    with pytest.raises(InputError, match=re.escape(expected)):
        named_rules(name)
    with pytest.raises(InputError, match=re.escape(expected)):
        Rules().replace(**{name: "true"})
    assert side_bet_error("spanish") is side_bet_error("european") is None
