"""Verify a contest: replay its whole journal with the recorded moves."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from bjsim.bots.contest.luck.adjust import SeriesAdjusters, match_record
from bjsim.bots.contest.luck.draw_log import DrawLogger
from bjsim.bots.contest.play import journal as journals
from bjsim.bots.contest.play.answers import Answers
from bjsim.bots.contest.play.match import Record, ReplayMismatch, TableDealer
from bjsim.bots.contest.schedule.roster import Owner, Roster
from bjsim.bots.contest.schedule.seating import TablePlan
from bjsim.bots.contest.scoring.standings import Standings
from bjsim.errors import InputError

LUCK_TOLERANCE = 2e-6  # chips


def verify(folder: Path, answers: Answers | None = None) -> tuple[int, Standings]:
    """Replay a contest with the recorded moves, and ask players again; return rounds confirmed and standings.

    `answers` asks only the strategies of the catalogue by default. A ReplayMismatch names the first difference.
    """
    number = -1
    try:
        for number, confirmed in enumerate(_confirmed(folder, answers or Answers())):  # noqa: B007 - the number is used after an error
            pass
    except InputError:
        raise
    except (LookupError, TypeError, ValueError) as error:  # a journal with correct CRCs, but invalid records
        raise ReplayMismatch(f"record {number + 1} is not valid: {type(error).__name__}: {error}") from None
    return confirmed


def _confirmed(folder: Path, answers: Answers) -> Iterator[tuple[int, Standings]]:
    """After the header and each record: rounds confirmed so far, and the standings."""
    records = journals.read(folder)
    replay = _ContestReplay(next(records), answers)
    yield replay.rounds, replay.standings
    for number, record in enumerate(records, 1):
        replay.confirm(number, record)
        yield replay.rounds, replay.standings


class _ContestReplay:
    """Replays the records of a journal in order."""

    def __init__(self, header: dict[str, Any], answers: Answers) -> None:
        self.answers = answers
        self.standings = Standings(header)
        self.rounds = 0
        self.roster = self.standings.roster
        self.adjusters = SeriesAdjusters(self.roster) if self.standings.luck_adjusted else None
        self._founders = self.roster.founders_matches()
        self._shared: list[TablePlan] = []  # the founders' current match
        self._shared_match = -1
        self._tables: dict[Owner, list[TableDealer]] = {}  # of the unfinished match of each series

    def confirm(self, number: int, record: Record) -> None:
        kind = record["record"]
        if self.standings.closed or (self.standings.end and kind not in ("change", "close")):
            raise ReplayMismatch(f"record {number} follows the end")
        if kind == "round":
            self._round(number, record)
        elif kind == "match":
            self._match(number, record)
        elif kind == "change":
            check_change(record, number, self.roster)
            for owner in self.roster.voided(record):
                self._tables.pop(owner, None)
        elif kind == "retire":
            if record not in self.standings.retiring():
                raise ReplayMismatch(f"record {number} retires a bot that still answers: {record}")
        elif kind != "close" or not self.standings.end:
            check_end(record, number, self.standings, bool(self._tables))
        self.standings.add(record)

    def _round(self, number: int, record: Record) -> None:
        owner = record.get("own")
        if owner not in self._tables:
            self._tables[owner] = self._open(number, owner)
        dealer = next((dealer for dealer in self._tables[owner] if dealer.plan.table == record["table"]), None)
        if dealer is None:
            raise ReplayMismatch(f"record {number}: match {record['match'] + 1} has no table {record['table'] + 1}")
        if (dealer.plan.match, dealer.plan.shoe) != (record["match"], record["shoe"]):
            raise ReplayMismatch(f"record {number} belongs to match {record['match'] + 1}, not {dealer.plan.match + 1}")
        self.answers.replay(self.roster, dealer, record)
        self.rounds += 1

    def _open(self, number: int, owner: Owner) -> list[TableDealer]:
        contest, roster = self.standings.contest, self.roster
        if owner not in roster.series():
            raise ReplayMismatch(f"record {number}: bot {owner} has no matches of its own")
        match = roster.played[owner]
        if owner is not None:
            plans = roster.own_match(owner, match)
        else:
            if match > self._shared_match:  # otherwise it is played again, because a founder has left
                self._shared = next(islice(self._founders, match - self._shared_match - 1, None))
                self._shared_match = match
            plans = roster.without_left(self._shared)
        index = self.adjusters.luck_model.state_index if self.adjusters is not None else None
        return [TableDealer(contest, plan, DrawLogger(contest.rules, index) if index else None) for plan in plans]

    def _match(self, number: int, record: Record) -> None:
        owner = record.get("own")
        tables = self._tables.pop(owner, None)
        if not tables or record["match"] != self.roster.played[owner]:
            raise ReplayMismatch(f"record {number} ends match {record['match'] + 1}, which is not being played")
        if unfinished := [dealer.plan.table + 1 for dealer in tables if not dealer.over]:
            raise ReplayMismatch(f"match {record['match'] + 1} ends before its table {unfinished[0]}")
        logs = [dealer.draw_logger.draw_log() for dealer in tables if dealer.draw_logger]
        adjuster = self.adjusters[owner] if self.adjusters is not None else None
        if not same_luck(match_record(record["match"], adjuster, logs, owner), record):
            raise ReplayMismatch(f"the recorded luck of match {record['match'] + 1} differs")


def check_change(record: Record, number: int, roster: Roster) -> None:
    """Check that the bots and matches may change so. Raises: ReplayMismatch."""
    leave = record["leave"]
    staying = {roster.bots[bot]["name"] for bot in roster.present if bot not in leave}
    names = [bot["name"] for bot in record["join"]]
    versions = [bot["version"] == roster.version_of(bot["name"]) for bot in record["join"]]
    if (
        not set(leave) <= set(roster.present)
        or len({*leave}) < len(leave)
        or len(staying | set(names)) < len(staying) + len(names)
        or not all(versions)
        or record.get("matches", roster.contest.matches) < roster.contest.matches
    ):
        raise ReplayMismatch(f"record {number} is not a possible change: {record}")


def check_end(record: Record, number: int, standings: Standings, playing: bool) -> None:
    """Raise ReplayMismatch if a contest cannot end with this record; its playing time cannot be checked.

    A match can be unfinished (`playing`) only if bots that joined are behind.
    """
    contest, roster = standings.contest, standings.roster
    ends = {
        "decided": contest.until == "decided" and standings.decided,
        "matches": roster.finished,
        "time": contest.seconds < math.inf,
    }
    unfinished = playing and len(roster.bots) == roster.founders
    if record["record"] != "end" or unfinished or record["matches"] != standings.matches or not ends[record["reason"]]:
        raise ReplayMismatch(f"record {number} cannot follow after {standings.matches} matches: {record}")


def same_luck(one: Record, other: Record) -> bool:
    """Whether two records of a match agree in its luck, up to rounding.

    Another processor may add the same numbers in another order.
    """
    sums, others = one.get("luck", []), other.get("luck", [])
    return (
        one.get("learned") == other.get("learned")
        and len(sums) == len(others)
        and all(
            len(a) == len(b) and all(abs(x - y) <= LUCK_TOLERANCE for x, y in zip(a, b, strict=True))
            for a, b in zip(sums, others, strict=True)
        )
    )
