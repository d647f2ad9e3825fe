"""`koth verify` asks players again: finding 7, a journal whose bots were exchanged."""

from __future__ import annotations

from pathlib import Path

import pytest
from bot_helpers import needs_sandbox
from support.command import bjsim

from bjsim.bots.contest import journal
from bjsim.sim.game.presets import load_rules
from bjsim.strategies.formats.files import format_text
from bjsim.strategies.players.catalogue import CATALOGUE

CHART = format_text(CATALOGUE["hoyle"].chart(load_rules("cardshark")))
HITS = "import sys\nprint('H' if int(sys.argv[1]) < 15 else 'S')\n"
STANDS = "print('S')\n"
RANDOM = "import os\nprint('H' if os.urandom(1)[0] % 2 and int(__import__('sys').argv[1]) < 21 else 'S')\n"


def forged(source: Path, target: Path, one: int, other: int) -> None:
    """A copy of a journal with correct checksums in which two bots have exchanged all but their moves."""
    records = list(journal.read(source))
    bots = records[0]["bots"]
    bots[one], bots[other] = bots[other], bots[one]
    target.mkdir()
    crc, lines = 0, b""
    for record in records:
        record.pop("crc", None)
        line, crc = journal.encode_record(record, crc)
        lines += line
    (target / journal.NAME).write_bytes(lines)


def test_exchanged_names_of_strategies_do_not_verify(tmp_path: Path) -> None:
    play = ["koth", "play", "optimal", "lim13", "lim17", "--matches", 3, "--seed", 5, "--out", tmp_path / "c"]
    assert bjsim(*play).status == 0
    honest = bjsim("koth", "verify", tmp_path / "c")
    assert honest.status == 0 and "every card and chip is correct" in honest.out
    assert all(f"asked again: {name}, which made" in honest.out for name in ("optimal", "lim13", "lim17"))
    assert "not verified" not in honest.out
    forged(tmp_path / "c", tmp_path / "f", 0, 1)
    said = bjsim("koth", "verify", tmp_path / "f")
    assert said.status == 1 and "is recorded" in said.err and "plays" in said.err


def test_the_commitment_is_told_at_the_start_and_verified_after_the_close(tmp_path: Path) -> None:
    """Paths are shortened when the contest is closed; another seed has another digest."""
    (tmp_path / "bot.txt").write_text(CHART)
    words = ("koth", "play", tmp_path / "bot.txt", "lim17", "--matches", 1)
    played = bjsim(*words, "--seed", 2**60, "--out", tmp_path / "c").out
    [line] = [line for line in played.splitlines() if line.startswith("commitment: ")]
    assert len(line.split()[1]) == 64
    assert bjsim("koth", "close", tmp_path / "c").status == 0
    assert line in bjsim("koth", "verify", tmp_path / "c").out.splitlines()
    assert line not in bjsim(*words, "--seed", 2**60 + 1, "--out", tmp_path / "d").out


@pytest.fixture(scope="module")
def contest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A contest of programs, with their sources in `bots`; one of them takes faults until it has no strikes left."""
    folder = tmp_path_factory.mktemp("programs")
    (folder / "bots").mkdir()
    for name, text in (("hits", HITS), ("stands", STANDS), ("random", RANDOM), ("faulty", "print('X')\n")):
        (folder / "bots" / f"{name}.py").write_text(text)
    played = bjsim("koth", "play", folder / "bots", "--matches", 2, "--seed", 4, "--timeout", 20, "--out", folder / "c")
    assert played.status == 0, played.err
    return folder


@needs_sandbox
def test_programs_are_asked_again(contest: Path) -> None:
    without = bjsim("koth", "verify", contest / "c")
    assert without.status == 0 and "moves not verified: hits, random, stands" in without.out
    said = bjsim("koth", "verify", contest / "c", "--bots", contest / "bots")
    assert said.status == 0, said.err
    assert "asked again: hits" in said.out and "asked again: stands" in said.out
    assert "random" in said.out.partition("moves not verified:")[2] and "hits" not in said.out.partition("not ver")[2]


@needs_sandbox
def test_exchanged_programs_do_not_verify(contest: Path, tmp_path: Path) -> None:
    names = [bot["name"] for bot in next(journal.read(contest / "c"))["bots"]]
    forged(contest / "c", tmp_path / "f", names.index("hits"), names.index("stands"))
    assert bjsim("koth", "verify", tmp_path / "f").status == 0  # no program was asked
    said = bjsim("koth", "verify", tmp_path / "f", "--bots", contest / "bots")
    assert said.status == 1 and "is recorded" in said.err
