"""The host: plays a contest and keeps its journal, or goes on with one that was stopped.

Tables are played by workers and written in the order of the schedule, so the journal does not depend on how many
workers there are.
"""

from __future__ import annotations

import math
import platform
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from bjsim import __version__
from bjsim.bots.contest.config import Contest
from bjsim.bots.contest.entrants import Entrant, check_trusted, check_unchanged, identify
from bjsim.bots.contest.luck.adjust import REFERENCE, Luck, LuckAdjuster, has_luck
from bjsim.bots.contest.luck.draw_log import DrawLog, DrawLogger
from bjsim.bots.contest.play import journal as journals
from bjsim.bots.contest.play.match import Record, ReplayMismatch, TableDealer, deal_again
from bjsim.bots.contest.play.timings import Timings
from bjsim.bots.contest.play.workers import Times, Workers
from bjsim.bots.contest.report.page import PageData
from bjsim.bots.contest.schedule.seating import TablePlan, matches_a_unit, schedule, table_shape
from bjsim.bots.contest.scoring.standings import Standings
from bjsim.bots.programs import need_programs
from bjsim.bots.seats import warn_of_guessable
from bjsim.errors import InputError

ROUNDING = 2e-6  # chips


class Host:
    """One contest in one folder."""

    def __init__(
        self, folder: Path, contest: Contest, entrants: Sequence[Entrant], workers: int = 1, sandbox: str = "required"
    ) -> None:
        self.folder = folder
        self.sandbox = sandbox
        self.contest = contest
        self.entrants = list(entrants)
        self.workers = workers
        self.standings: Standings
        self.page = PageData()
        self.timings = Timings(len(entrants))
        self.adjuster = make_adjuster(contest, len(entrants))
        self._journal: journals.Journal
        self._done: dict[tuple[int, int], list[Record]] = defaultdict(list)  # the unfinished match's, by table

    @staticmethod
    def begin(
        folder: Path, contest: Contest, entrants: Sequence[Entrant], workers: int = 1, sandbox: str = "required"
    ) -> Host:
        """A new contest.

        Raises: JournalError if the folder holds one already; SandboxError where no sandbox can be had.
        """
        house = identify(contest.house, contest.rules, "house") if contest.house else None
        programs = [entrant for entrant in (*entrants, house) if entrant and entrant.timed]
        for entrant in programs:
            need_programs(entrant.source)
        if programs:
            from bjsim.bots.sandbox.box import make_room, sandboxed

            sandboxed(sandbox)  # a contest that cannot be played leaves nothing behind
            make_room(len(programs))
            warn_of_guessable(contest.seed)
        host = Host(folder, contest, entrants, workers, sandbox)
        header = {
            "bjsim": __version__,
            "python": platform.python_version(),
            "luck": REFERENCE if has_luck(contest.rules) else "",
            "contest": contest.to_dict(),
            "bots": [entrant.to_dict() for entrant in entrants],
            "house": house.to_dict() if house else None,
        }
        host._journal = journals.Journal.create(folder, header)
        host.standings = Standings(header)
        return host

    @staticmethod
    def resume(folder: Path, workers: int = 1, sandbox: str = "required", trust: bool = False) -> Host:
        """Go on with the contest in `folder`.

        trust: whether Python that it names may run in this process. Raises: JournalError; FieldError if it may not, or
        if a bot has changed.
        """
        journal, records = journals.Journal.reopen(folder)
        header = next(records)
        contest = Contest.from_dict(header["contest"])
        entrants = [Entrant.from_dict(bot) for bot in header["bots"]]
        host = Host(folder, contest, entrants, workers, sandbox)
        host._journal = journal
        host.standings = Standings(header)
        for record in records:
            host._recall(record)
        if not host.standings.end:
            # what plays is the house that the settings name, wherever the header says it was
            house = [Entrant.from_dict(header["house"] | {"source": contest.house})] if contest.house else []
            if not trust:
                check_trusted([*entrants, *house], folder)
            check_unchanged([*entrants, *house], contest.rules)
        host.timings = Timings.load(folder, len(entrants))
        return host

    def _recall(self, record: Record) -> None:
        """Count a record of an earlier run; the rounds of a match are kept until it has ended."""
        self.standings.add(record)
        self.page.add(record)
        if record["record"] == "round":
            self._done[record["match"], record["table"]].append(record)
        elif record["record"] == "match":
            self._done.clear()
            if self.adjuster:
                self.adjuster.follow(record)

    def run(self, on_round: Callable[[Host], None] = lambda host: None) -> Standings:
        """Play until the end, or until `on_round`, which is called after every round, raises."""
        try:
            if not self.standings.end:
                self._play(on_round)
        finally:
            self._journal.close()
            self.timings.save(self.folder)
        return self.standings

    def _play(self, on_round: Callable[[Host], None]) -> None:
        began = time.monotonic()
        contest = self.contest
        reason = self._reason(began)
        plans = schedule(len(self.entrants), contest.duplicate, bool(contest.house))
        rest = islice(plans, self.standings.matches, contest.matches)
        written: list[tuple[Record, Times]] = []

        def count() -> None:
            self._count(written, on_round)

        with Workers(
            contest, self.entrants, self.workers, self.sandbox, self._earlier, self._journal.close, count
        ) as workers:
            tables = workers.tables(plan for match in rest for plan in match)
            match = self.standings.matches
            traces: list[DrawLog] = []
            while not reason:
                for plan, rounds in tables:
                    for record, times in rounds:
                        self._journal.append(record)
                        written.append((record, times))
                    if workers.trace:
                        traces.append(workers.trace)
                    if plan.table == self._tables - 1:
                        break
                record = match_record(match, self.adjuster, traces)
                self._journal.append(record)
                written.append((record, []))
                count()
                traces.clear()
                match += 1
                reason = self._reason(began)
        record = {"record": "end", "reason": reason, "matches": match}
        self._journal.append(record)
        self._count([(record, [])], on_round)

    @property
    def _tables(self) -> int:
        return table_shape(len(self.entrants))[0]

    def _reason(self, began: float) -> str:
        """Why the contest ends now; empty if it goes on."""
        if self.contest.until == "decided" and self.standings.decided:
            return "decided"
        if self.standings.matches >= self.contest.matches:
            return "matches"
        return "time" if time.monotonic() - began >= self.contest.seconds else ""

    def _count(self, written: list[tuple[Record, Times]], on_round: Callable[[Host], None]) -> None:
        """Have the records written last on disk, and only then count and show them."""
        if not written:
            return
        self._journal.sync()
        for record, times in written:
            self.standings.add(record)
            self.page.add(record)
            for bot, seconds in times:
                self.timings.add(bot, seconds)
            if record["record"] == "round":
                on_round(self)
        written.clear()

    def _earlier(self, plan: TablePlan) -> list[Record]:
        """The rounds of this table that the journal holds already."""
        return self._done.get((plan.match, plan.table), [])


def make_adjuster(contest: Contest, bots: int) -> LuckAdjuster | None:
    """Who judges the luck in this contest; None where nobody can."""
    if not has_luck(contest.rules):
        return None
    return LuckAdjuster(Luck(contest.rules), bots, matches_a_unit(bots, contest.duplicate, bool(contest.house)))


def match_record(match: int, adjuster: LuckAdjuster | None, traces: Sequence[DrawLog]) -> Record:
    """The record of a finished match, with the luck in it."""
    record: Record = {"record": "match", "match": match}
    return record | adjuster.adjust(traces) if adjuster else record


def verify(folder: Path) -> tuple[int, Standings]:
    """Deal the whole journal in `folder` again with the recorded moves.

    Returns: (rounds confirmed, standings). Raises: JournalError; NotTheSame naming the first round that differs.
    """
    number = -1
    try:
        for number, confirmed in enumerate(_confirmed(folder)):  # noqa: B007 - where it fails is told below
            pass
    except InputError:
        raise
    except (LookupError, TypeError, ValueError) as error:  # a journal that its crc says is whole, but nobody played
        raise ReplayMismatch(f"record {number + 1} makes no sense: {type(error).__name__}: {error}") from None
    return confirmed


def _confirmed(folder: Path) -> Iterator[tuple[int, Standings]]:
    """After the header and each record: rounds confirmed so far, and the standings."""
    records = journals.read(folder)
    header = next(records, None)
    if header is None:
        raise journals.JournalError(f"the journal in {folder} is empty")
    contest = Contest.from_dict(header["contest"])
    standings = Standings(header)
    adjuster = make_adjuster(contest, len(header["bots"]))
    plans = schedule(len(header["bots"]), contest.duplicate, bool(contest.house))
    tables: list[TableDealer] = []
    rounds = 0
    yield rounds, standings
    for number, record in enumerate(records, 1):
        if standings.end:
            raise ReplayMismatch(f"record {number} comes after the end")
        if record["record"] == "round":
            if not tables:
                space = adjuster.luck.space if adjuster else None
                tables = [
                    TableDealer(contest, plan, DrawLogger(contest.rules, space) if space else None)
                    for plan in next(plans)
                ]
            dealer = tables[record["table"]]
            if (dealer.plan.match, dealer.plan.shoe) != (record["match"], record["shoe"]):
                raise ReplayMismatch(f"record {number} is of match {record['match'] + 1}, not {dealer.plan.match + 1}")
            deal_again(dealer, record)
            rounds += 1
        elif record["record"] == "match":
            if not tables or record["match"] != standings.matches:
                raise ReplayMismatch(f"record {number} ends match {record['match'] + 1}, which is not being played")
            if unfinished := [dealer.plan.table + 1 for dealer in tables if not dealer.over]:
                raise ReplayMismatch(f"match {record['match'] + 1} ends before table {unfinished[0]} has")
            again = match_record(record["match"], adjuster, [d.tracer.trace() for d in tables if d.tracer])
            if not same_luck(again, record):
                raise ReplayMismatch(f"the luck of match {record['match'] + 1} is not as recorded")
            tables = []
        else:
            check_end(record, number, standings, bool(tables))
        standings.add(record)
        yield rounds, standings


def check_end(record: Record, number: int, standings: Standings, playing: bool) -> None:
    """Whether a contest that stands so may end as its record says; playing: in the middle of a match.

    Raises: NotTheSame. How long it was played only the host knows.
    """
    contest = standings.contest
    ends = {
        "decided": contest.until == "decided" and standings.decided,
        "matches": standings.matches >= contest.matches,
        "time": contest.seconds < math.inf,
    }
    if record["record"] != "end" or playing or record["matches"] != standings.matches or not ends[record["reason"]]:
        raise ReplayMismatch(f"record {number} cannot follow after {standings.matches} matches: {record}")


def same_luck(one: Record, other: Record) -> bool:
    """Whether two records of a match say the same of its luck, but for rounding: another processor may add up the
    same numbers in another order."""
    sums, others = one.get("luck", []), other.get("luck", [])
    return (
        one.get("learned") == other.get("learned")
        and len(sums) == len(others)
        and all(
            len(a) == len(b) and all(abs(x - y) <= ROUNDING for x, y in zip(a, b, strict=True))
            for a, b in zip(sums, others, strict=True)
        )
    )
