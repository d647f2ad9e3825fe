"""Close a contest: no bot may join any more, and its journal, with the seed, may be published."""

from __future__ import annotations

import os
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Any

from bjsim.bots.contest.play import journal as journals
from bjsim.bots.contest.report.command import published_sources
from bjsim.errors import InputError
from bjsim.files import replacing

NAMING = ("header", "change")  # records with the sources of bots


def close(folder: Path) -> None:
    """Close the contest in a folder, which must have ended.

    Its journal is written once more, with the sources of the bots relative to the folder that holds them all: a
    closed contest is not resumed, and a published journal must not reveal the paths of the host.
    """
    journal, records = journals.Journal.reopen(folder)  # which no other process may write to meanwhile
    texts: set[str] = set()
    last: dict[str, Any] = {}
    for last in records:
        if last["record"] in NAMING:
            _renamed(last, texts.add)
    if last["record"] == "close":
        raise InputError(f"the contest in {folder} is closed already")
    if last["record"] != "end":
        raise InputError(f"the contest in {folder} has not ended; play it on with `bjsim koth resume`")
    paths = [*filter(os.path.isabs, texts)]
    names = dict(zip(paths, published_sources(paths), strict=True))
    crc = 0
    with replacing(folder / journals.NAME) as file:
        for record in chain(journals.read(folder), [{"record": "close"}]):
            if record["record"] in NAMING:
                record = _renamed(record, lambda text: names.get(text, text))
            line, crc = journals.encode_record(record, crc)
            file.write(line)
        file.flush()
        os.fsync(file.fileno())
        journal.close()


def _renamed(value: Any, name: Callable[[str], object]) -> Any:
    if isinstance(value, dict):
        return {key: _renamed(part, name) for key, part in value.items()}
    if isinstance(value, list):
        return [_renamed(part, name) for part in value]
    return name(value) if isinstance(value, str) else value
