"""The host: plays a contest and writes its journal, or resumes a stopped one.

Workers play the tables. Their rounds are written in the order of the schedule, so the journal does not depend on the
number of workers.
"""

from __future__ import annotations

import platform
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path

from bjsim import __version__
from bjsim.bots.contest.config import Contest
from bjsim.bots.contest.entrants import Entrant, check_protocols, check_trusted, check_unchanged, identify
from bjsim.bots.contest.luck.adjust import REFERENCE, has_luck, make_adjuster, match_record
from bjsim.bots.contest.luck.draw_log import DrawLog
from bjsim.bots.contest.play import journal as journals
from bjsim.bots.contest.play.logs import add_logs
from bjsim.bots.contest.play.match import Record
from bjsim.bots.contest.play.timings import Timings
from bjsim.bots.contest.play.verify import verify as verify  # part of the interface of this module
from bjsim.bots.contest.play.workers import Times, Workers
from bjsim.bots.contest.report.page_data import PageData
from bjsim.bots.contest.schedule.seating import TablePlan, schedule, table_shape
from bjsim.bots.contest.scoring.standings import Standings
from bjsim.bots.programs import need_programs
from bjsim.bots.seats import warn_of_guessable


class Host:
    """One contest in one folder. Create it with `begin` or `resume`.

    Attributes:
        folder: The contest's folder.
        contest: The settings.
        entrants: The bots.
        workers: Tables played at the same time.
        sandbox: `required`, `auto` or `off`.
        standings: The standings so far.
        page: The data of the page so far.
        timings: The times of moves so far.
        adjuster: The luck adjuster, or None.
    """

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
        # records of the unfinished match, by (match, table)
        self._done: dict[tuple[int, int], list[Record]] = defaultdict(list)

    @staticmethod
    def begin(
        folder: Path, contest: Contest, entrants: Sequence[Entrant], workers: int = 1, sandbox: str = "required"
    ) -> Host:
        """Begin a new contest.

        Args:
            folder: The contest's folder.
            contest: The settings.
            entrants: The bots.
            workers: Tables played at the same time.
            sandbox: `required`, `auto` or `off`.

        Returns:
            The host, ready to run.

        Raises:
            EntrantError: A program speaks a protocol that the contest does not play.
            JournalError: The folder holds a contest already.
            SandboxError: No sandbox is available, but one is required.
        """
        house = identify(contest.house, contest.rules, "house") if contest.house else None
        programs = [entrant for entrant in (*entrants, house) if entrant and entrant.timed]
        check_protocols(programs, contest.protocols)
        for entrant in programs:
            need_programs(entrant.source)
        if programs:
            from bjsim.bots.sandbox.session import raise_file_limit, sandboxed

            sandboxed(sandbox)  # before the folder is created
            raise_file_limit(len(programs))
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
        """Resume the contest in a folder.

        Args:
            folder: The contest's folder.
            workers: Tables played at the same time.
            sandbox: `required`, `auto` or `off`.
            trust: Whether Python players that the contest names may run in this process.

        Returns:
            The host, ready to run.

        Raises:
            JournalError: The journal is missing, in use or damaged.
            EntrantError: A bot has changed, or is a Python player and not trusted.
        """
        journal, records = journals.Journal.reopen(folder)
        header = next(records)
        contest = Contest.from_dict(header["contest"])
        entrants = [Entrant.from_dict(bot) for bot in header["bots"]]
        host = Host(folder, contest, entrants, workers, sandbox)
        host._journal = journal
        host.standings = Standings(header)
        if not host.standings.luck_adjusted:  # begun by a version that did not adjust under these rules
            host.adjuster = None
        for record in records:
            host._restore(record)
        if not host.standings.end:
            # The house player is the one that the settings name, whatever source the header gives.
            house = [Entrant.from_dict(header["house"] | {"source": contest.house})] if contest.house else []
            if not trust:
                check_trusted([*entrants, *house], folder)
            check_unchanged([*entrants, *house], contest.rules)
        host.timings = Timings.load(folder, len(entrants))
        return host

    def _restore(self, record: Record) -> None:
        """Count a record of an earlier run; the rounds of an unfinished match are kept."""
        self.standings.add(record)
        self.page.add(record)
        if record["record"] == "round":
            self._done[record["match"], record["table"]].append(record)
        elif record["record"] == "match":
            self._done.clear()
            if self.adjuster:
                self.adjuster.restore(record)

    def run(self, on_round: Callable[[Host], None] = lambda host: None) -> Standings:
        """Play the contest to its end.

        Args:
            on_round: Called after every round; an exception from it stops the contest, which can be resumed.

        Returns:
            The standings.
        """
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
        remaining = islice(plans, self.standings.matches, contest.matches)
        written: list[tuple[Record, Times]] = []

        def commit() -> None:
            self._commit(written, on_round)

        with Workers(
            contest, self.entrants, self.workers, self.sandbox, self._done_rounds, self._journal.close, commit
        ) as workers:
            tables = workers.tables(plan for match in remaining for plan in match)
            match = self.standings.matches
            logs: list[DrawLog] = []
            while not reason:
                for plan, rounds in tables:
                    for record, times in rounds:
                        self._journal.append(record)
                        written.append((record, times))
                    add_logs(self.folder, workers.logs)
                    if workers.draw_log:
                        logs.append(workers.draw_log)
                    if plan.table == self._tables - 1:
                        break
                record = match_record(match, self.adjuster, logs)
                self._journal.append(record)
                written.append((record, []))
                commit()
                logs.clear()
                match += 1
                reason = self._reason(began)
        record = {"record": "end", "reason": reason, "matches": match}
        self._journal.append(record)
        self._commit([(record, [])], on_round)

    @property
    def _tables(self) -> int:
        return table_shape(len(self.entrants))[0]

    def _reason(self, began: float) -> str:
        """Why the contest ends now; "" if it continues."""
        if self.contest.until == "decided" and self.standings.decided:
            return "decided"
        if self.standings.matches >= self.contest.matches:
            return "matches"
        return "time" if time.monotonic() - began >= self.contest.seconds else ""

    def _commit(self, written: list[tuple[Record, Times]], on_round: Callable[[Host], None]) -> None:
        """Sync the last records to disk, then count and show them."""
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

    def _done_rounds(self, plan: TablePlan) -> list[Record]:
        """The rounds of this table that are in the journal already."""
        return self._done.get((plan.match, plan.table), [])
