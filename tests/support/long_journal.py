"""Journals of any length: real records over and over with the right checksums, or a contest full of long records.

`python -m support.long_journal FOLDER BYTES` (with `tests` on the path) makes one of so many bytes to measure `koth
--show` and `--resume` by; with a third argument it plays one that `--verify` confirms, too.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

from bjsim.bots.contest.config import Contest
from bjsim.bots.contest.entrants import gather
from bjsim.bots.contest.host import Host
from bjsim.bots.contest.play import journal
from bjsim.sim.game.presets import load_rules

CRASHER = """
class Crasher:
    name = "crasher"

    def decide(self, view):
        raise ValueError("\N{GAME DIE}" * 500)
"""


class Enough(Exception):
    """The journal is as long as it should be."""


def played(folder: Path, matches: int, bots: list[str]) -> Path:
    """The folder of a contest of these bots, for whom no fault is one too many."""
    rules = load_rules("cardshark")
    contest = Contest(rules, matches=matches, strikes=10**9)
    Host.begin(folder, contest, gather(bots, rules)).run()
    return folder


def crashers(folder: Path, how_many: int = 4) -> list[str]:
    """Bots whose every move is a fault of 2 kB in the journal."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "crasher.py").write_text(CRASHER)
    return [f"c{number}={folder / 'crasher.py'}:Crasher" for number in range(how_many)]


def repeated(source: Path, folder: Path, size: int) -> Path:
    """A folder with a contest that goes on with the matches of `source` until its journal has `size` bytes; it is not
    over. The cards are not those that its seed deals."""
    folder.mkdir(parents=True)
    crc = written = 0
    with (folder / journal.NAME).open("wb") as file:
        for record in _repeated(source):
            line, crc = journal.line_of(record, crc)
            file.write(line)
            written += len(line)
            if written >= size and record["record"] == "match":
                return folder
    raise AssertionError("it goes on without end")


def _repeated(source: Path) -> Iterator[dict[str, Any]]:
    header, *records = journal.read(source)
    matches = sum(record["record"] == "match" for record in records)
    yield {**header, "contest": {**header["contest"], "matches": 10**9}}
    for turn in count():
        for record in records:
            if record["record"] != "end":
                yield {**record, "match": record["match"] + turn * matches}


def main(folder: Path, size: int, verifiable: bool) -> None:
    """Make a journal of so many bytes in the folder."""
    if not verifiable:
        repeated(played(folder / "short", 8, ["lim17", "optimal", "kelly", "hoyle"]), folder / "long", size)
        return

    def stop(host: Host) -> None:
        if host.standings.rounds % 1000 == 0 and (folder / "long" / journal.NAME).stat().st_size >= size:
            raise Enough

    rules = load_rules("cardshark")
    contest = Contest(rules, matches=10**9, strikes=10**9)
    try:
        Host.begin(folder / "long", contest, gather(crashers(folder), rules)).run(stop)
    except Enough:
        return


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(float(sys.argv[2])), len(sys.argv) > 3)
