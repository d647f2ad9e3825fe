"""Journals of any length: repeated real records with correct checksums, or a contest with many long records."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

from bjsim.bots.contest import journal
from support.matches import begin

CRASHER = """
class Crasher:
    name = "crasher"

    def decide(self, view):
        raise ValueError("\N{GAME DIE}" * 500)
"""


def played(folder: Path, matches: int, bots: list[str]) -> Path:
    """Play a contest of these bots, which are never disqualified for faults. Returns: its folder."""
    begin(folder, bots, matches=matches, strikes=10**9).run()
    return folder


def crashers(folder: Path, how_many: int = 4) -> list[str]:
    """Bots whose every move is a fault that takes 2 kB in the journal."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "crasher.py").write_text(CRASHER)
    return [f"c{number}={folder / 'crasher.py'}:Crasher" for number in range(how_many)]


def repeated(source: Path, folder: Path, size: int) -> Path:
    """Make an unfinished contest that repeats the matches of `source` until its journal has `size` bytes.

    Its cards are not those of its seed.
    """
    folder.mkdir(parents=True)
    crc = written = 0
    with (folder / journal.NAME).open("wb") as file:
        for record in _repeated(source):
            line, crc = journal.encode_record(record, crc)
            file.write(line)
            written += len(line)
            if written >= size and record["record"] == "match":
                return folder
    raise AssertionError("unreachable")


def _repeated(source: Path) -> Iterator[dict[str, Any]]:
    header, *records = journal.read(source)
    matches = sum(record["record"] == "match" for record in records)
    yield {**header, "contest": {**header["contest"], "matches": 10**9}}
    for turn in count():
        for record in records:
            if record["record"] != "end":
                match = record["match"] + turn * matches
                yield {**record, "match": match, "rounds": [{**each, "match": match} for each in record["rounds"]]}
