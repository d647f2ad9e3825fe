"""Contests and their matches: begun ones, their rounds in a journal, made-up ones, journals that were not played."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from bjsim.bots.contest import journal
from bjsim.bots.contest.config import Contest
from bjsim.bots.contest.entrants import gather
from bjsim.bots.contest.host import Host
from bjsim.bots.contest.page import ContestReport, render_index
from bjsim.bots.contest.page_data import PageData
from bjsim.bots.contest.standings import Standings
from bjsim.sim.game.presets import load_rules
from bjsim.sim.game.rules import Rules
from bjsim.strategies.formats.files import format_text
from bjsim.strategies.players.catalogue import CATALOGUE

CARDSHARK = load_rules("cardshark")
CHART = format_text(CATALOGUE["hoyle"].chart(CARDSHARK))
Record = dict[str, Any]


def begin(
    folder: Path,
    bots: Iterable[object],
    workers: int = 1,
    sandbox: str = "required",
    rules: Rules = CARDSHARK,
    **settings: Any,
) -> Host:
    """Begin a contest of these bots, names and files, with these settings."""
    entrants = gather([str(bot) for bot in bots], rules, fewest=1)
    return Host.begin(folder, Contest(rules, **settings), entrants, workers, sandbox)


def index_of(standings: Standings, page: PageData) -> str:
    """The first page of a contest."""
    return render_index(ContestReport(standings, page))


def counted(folder: Path, records: int | None = None) -> tuple[Standings, PageData]:
    """The standings, and the data of the page, by the journal alone; after so many records."""
    header, *others = journal.read(folder)
    standings = Standings(header)
    page = PageData(standings.contest)
    for record in others[:records]:
        standings.add(record)
        page.add(record)
    return standings, page


def whole(folder: Path) -> bytes:
    """The text of the journal in a folder."""
    return (folder / journal.NAME).read_bytes()


def placed(folder: Path, text: bytes) -> Path:
    """A folder with this text as its journal."""
    folder.mkdir(exist_ok=True)
    (folder / journal.NAME).write_bytes(text)
    return folder


def rounds_in(folder: Path) -> list[Record]:
    """The rounds in the journal of a contest."""
    return [each for record in journal.read(folder) for each in record.get("rounds", ())]


def match_of(match: int, *rounds: Record, **more: Any) -> Record:
    """The record of a match; its rounds are at its first table, unless they say otherwise."""
    played = [{"record": "round", "match": match, "table": 0, **each} for each in rounds]
    return {"record": "match", "match": match, "rounds": played, **more}


def deal_of(hand: str, dealer: str, rules: Rules = CARDSHARK) -> str:
    """The cards of a round of one seat in the order of the deal."""
    holders = {"p": iter(hand), "d": iter(dealer)}
    return "".join(next(holders[letter]) for letter in rules.deal) + hand[2:] + dealer[2:]


def forged(folder: Path, records: Iterable[Record]) -> Path:
    """A folder with a journal of these records, with correct checksums."""
    crc, text = 0, b""
    for record in records:
        lines, crc = journal.encode_record(record, crc)
        text += lines
    return placed(folder, text)


def lines_in(folder: Path) -> list[Record]:
    """The records of a journal line by line: the rounds of a match, then the match."""
    lines = map(json.loads, (folder / journal.NAME).read_text().splitlines())
    return [{key: value for key, value in line.items() if key != "crc"} for line in lines]
