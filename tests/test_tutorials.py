"""The tutorials work as written: files are made, commands are run in order, and what they print is in the page.

The tutorial of the contest has its own test in tests/cli/test_koth.py.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.command import bjsim
from support.documents import ROOT, Block, blocks, split_words

FOLDER = ROOT / "docs" / "tutorials"


def steps(page: Path) -> list[tuple[str, Block]]:
    """The blocks of a page, each with the name of the file that it is, if the line before it is "`name`:"."""
    text = page.read_text(encoding="utf-8")
    lines = text.splitlines()
    found = []
    for block in blocks(page.name, text):
        before = next((line for line in reversed(lines[: block.line - 1]) if line.strip()), "")
        name = re.fullmatch(r"`([\w.]+)`:", before.strip())
        found.append((name[1] if name else "", block))
    return found


def transcript(text: str) -> list[tuple[str, list[str]]]:
    """Commands, each with the lines that it prints according to the page."""
    found: list[tuple[str, list[str]]] = []
    for line in text.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif found:
            found[-1][1].append(line)
    return found


def is_printed(expected: list[str], printed: str) -> bool:
    """Whether the lines are printed in this order. `...` stands for any lines, or for the rest of a line."""
    parts = [re.escape(" ".join(line.split())).replace(r"\.\.\.", ".*") for line in expected if line.strip()]
    pattern = "".join(r"(?:.*\n)*" if part == ".*" else f"{part}\\n" for part in parts)
    plain = "".join(f"{words}\n" for line in printed.splitlines() if (words := " ".join(line.split())))
    return re.fullmatch(pattern, plain) is not None


def run(command: str) -> str:
    words = split_words(command)
    assert words[0] == "bjsim"
    done = bjsim(*words[1:])
    assert done.status == 0, (command, done.err)
    printed = done.out
    if file := re.search(r"> ([\w.]+)$", command):
        Path(file[1]).write_text(printed, encoding="utf-8")
        return ""
    return printed


@pytest.mark.parametrize("page", ["homework.md", pytest.param("analyst.md", marks=pytest.mark.slow)])
def test_a_tutorial_works(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    for name, block in steps(FOLDER / page):
        if name:
            Path(name).write_text(block.text, encoding="utf-8")
        elif block.language == "console":
            for command, expected in transcript(block.text):
                printed = run(command)
                assert is_printed(expected, printed), f"{block.place}: {command} prints\n{printed}"


def test_every_tutorial_is_tested() -> None:
    assert {page.name for page in FOLDER.glob("*.md")} == {"homework.md", "analyst.md", "developer.md", "contest.md"}


def test_a_wrong_transcript_is_caught() -> None:
    """Negative control."""
    assert is_printed(["a  b", "...", "d e..."], "a b\nc\nd e f\n")
    assert is_printed(["...", "b"], "a\nb\n")
    assert not is_printed(["a"], "a\nb\n")
    assert not is_printed(["...", "a"], "a\nb\n")
    assert not is_printed(["b", "..."], "a\nb\n")
