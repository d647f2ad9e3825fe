"""What bots wrote to stderr in each match, and said of themselves.

It may differ from run to run, so it is in files next to the journal, not in it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from bjsim.files import append_line, make_folder, read_json_lines
from bjsim.json_values import is_like

LOGS = "logs"  # the folder, with a file for each bot
_LOG = {"match": 0, "table": 0, "position": 0, "text": "", "ready": {}}
MOST = 1 << 20  # bytes of a file; a bot's later logs are not kept


class BotLog(NamedTuple):
    """The first 64 KiB that a bot wrote to stderr at a table, and what a line bot said after `ready 1`."""

    bot: int
    match: int
    table: int
    position: int
    text: str
    ready: dict[str, str]


def add_logs(folder: Path, logs: Iterable[BotLog]) -> None:
    """Append logs to the files in a contest's folder; empty ones, and those of the house, are left out."""
    for log in logs:
        if log.bot < 0 or not (log.text or log.ready):
            continue
        make_folder(folder / LOGS)
        append_line(_path(folder, log.bot), json.dumps(log._asdict()), MOST)


def read_logs(folder: Path, bot: int) -> list[BotLog]:
    """The logs of a bot in the order of the matches; one that was interrupted has several. Bad lines are skipped."""
    found = []
    for values in read_json_lines(_path(folder, bot)):
        if values.keys() >= _LOG.keys() and is_like(values, _LOG):
            values["ready"] = {key: str(value) for key, value in values["ready"].items()}
            found.append(BotLog._make([bot, *(values[name] for name in _LOG)]))
    return sorted(found, key=lambda log: log[1:4])


def last_ready(logs: Sequence[BotLog]) -> dict[str, str]:
    """What a line bot last said of itself after `ready 1`: its `name`, `version` and the like."""
    return next((log.ready for log in reversed(logs) if log.ready), {})


def _path(folder: Path, bot: int) -> Path:
    return folder / LOGS / f"{bot}.jsonl"
