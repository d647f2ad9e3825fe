"""Matches of contests: their rounds in a journal, made-up ones, and journals that were not played."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from bjsim.bots.contest import journal

Record = dict[str, Any]


def rounds_in(folder: Path) -> list[Record]:
    """The rounds in the journal of a contest."""
    return [each for record in journal.read(folder) for each in record.get("rounds", ())]


def match_of(match: int, *rounds: Record, **more: Any) -> Record:
    """The record of a match; its rounds are at its first table, unless they say otherwise."""
    played = [{"record": "round", "match": match, "table": 0, **each} for each in rounds]
    return {"record": "match", "match": match, "rounds": played, **more}


def forged(folder: Path, records: Iterable[Record]) -> Path:
    """A folder with a journal of these records, with correct checksums."""
    crc, text = 0, b""
    for record in records:
        lines, crc = journal.encode_record(record, crc)
        text += lines
    folder.mkdir(exist_ok=True)
    (folder / journal.NAME).write_bytes(text)
    return folder


def lines_in(folder: Path) -> list[Record]:
    """The records of a journal line by line: the rounds of a match, then the match."""
    lines = map(json.loads, (folder / journal.NAME).read_text().splitlines())
    return [{key: value for key, value in line.items() if key != "crc"} for line in lines]
