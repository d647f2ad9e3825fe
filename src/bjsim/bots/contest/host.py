"""The host: plays a contest and writes its journal, or resumes a stopped one.

Workers play the tables. Their rounds are written in the order of the schedule, so the journal does not depend on the
number of workers. Bots join and leave between two matches.
"""

from __future__ import annotations

import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from bjsim.bots.contest import journal as journals
from bjsim.bots.contest.config import HOUSE, Contest
from bjsim.bots.contest.entrants import (
    Entrant,
    EntrantError,
    check_programs,
    check_trusted,
    check_unchanged,
    describe,
    house_players,
    make_header,
    recorded_house_players,
)
from bjsim.bots.contest.journal import Timings, add_logs
from bjsim.bots.contest.luck.adjust import SeriesAdjusters, match_record
from bjsim.bots.contest.luck.draw_log import DrawLog
from bjsim.bots.contest.match import Record
from bjsim.bots.contest.page_data import PageData
from bjsim.bots.contest.schedule import Owner, Roster, TablePlan
from bjsim.bots.contest.standings import Standings
from bjsim.bots.contest.workers import Times, Workers

Change = Callable[["Host"], object]


class Host:
    """One contest in one folder. Create it with `begin` or `resume`.

    Attributes:
        entrants: The bots, with those that have left.
        workers: Tables played at the same time.
        adjusters: The luck adjuster of each series, or None.
    """

    def __init__(
        self, folder: Path, header: dict[str, Any], journal: journals.Journal, workers: int, sandbox: str
    ) -> None:
        self.folder = folder
        self.workers = workers
        self.sandbox = sandbox
        self.standings = Standings(header)
        self.entrants = [Entrant.from_dict(bot) for bot in header["bots"]]
        self.page = PageData(self.contest)
        self.timings = Timings(len(self.entrants))
        self.adjusters = SeriesAdjusters(self.roster) if self.standings.luck_adjusted else None
        self._journal = journal
        self._done: dict[tuple[Owner, int, int], list[Record]] = defaultdict(list)  # rounds of unfinished matches
        self._written: list[tuple[Record, Times]] = []  # but not yet synced

    @property
    def contest(self) -> Contest:
        return self.standings.contest

    @property
    def roster(self) -> Roster:
        return self.standings.roster

    @property
    def present(self) -> list[Entrant]:
        return [self.entrants[bot] for bot in self.roster.present]

    @staticmethod
    def begin(
        folder: Path,
        contest: Contest,
        entrants: Sequence[Entrant],
        workers: int = 1,
        sandbox: str = "required",
        left_out: Mapping[str, str] | None = None,
    ) -> Host:
        """Begin a new contest in a folder, which must not hold one; `workers` tables are played at a time.

        `left_out` are students without a bot, with the reason, for the marks.
        """
        houses = house_players(contest)
        check_programs([*entrants, *houses], contest, sandbox)  # before the folder is created
        header = make_header(contest, entrants, houses, left_out or {})
        return Host(folder, header, journals.Journal.create(folder, header), workers, sandbox)

    @staticmethod
    def resume(
        folder: Path, workers: int = 1, sandbox: str = "required", trust: bool = False, change: Change | None = None
    ) -> Host:
        """Resume the contest in a folder; `trust` lets Python players that it names run in this process.

        `change` may call `Host.change`, before it is checked that no bot has changed (an EntrantError).
        """
        journal, records = journals.Journal.reopen(folder)
        header = next(records)
        host = Host(folder, header, journal, workers, sandbox)
        for record in records:
            host._restore(record)
        host.timings = Timings.load(folder, len(host.entrants))
        houses = recorded_house_players(header, host.contest)
        if not trust:
            check_trusted([*host.present, *houses], folder)  # before `change`, which may look at the bots
        if change:
            change(host)
        if not host.standings.over:
            check_unchanged([*host.present, *houses], host.contest.rules)
        return host

    def _restore(self, record: Record) -> None:
        if record["record"] == "match" and self.adjusters is not None:
            self.adjusters[record.get("own")].restore(record)
        self._count(record)

    def _count(self, record: Record) -> None:
        """Count a record in the standings and for the page; keep the rounds of unfinished matches."""
        self.standings.add(record)
        self.page.add(record)
        kind, owner = record["record"], record.get("own")
        if kind == "round":
            self._done[owner, record["match"], record["table"]].append(record)
        elif kind == "match":
            self._forget({owner})
        elif kind == "change":
            self._forget(self.roster.voided(record))
            self.entrants += [Entrant.from_dict(bot) for bot in record["join"]]
            self.timings.join(len(self.entrants))

    def _forget(self, owners: set[Owner]) -> None:
        self._done = defaultdict(list, {key: one for key, one in self._done.items() if key[0] not in owners})

    def change(self, leave: Sequence[int] = (), join: Sequence[Entrant] = (), matches: int | None = None) -> None:
        """Let bots (by number) leave and others join, or set a new number of matches.

        Not during `run`. A bot that joins with the name of one that leaves is its new version.
        """
        if self.standings.closed:
            raise EntrantError(f"the contest in {self.folder} is closed: its seed is public")
        roster, contest = self.roster, self.contest
        if len(roster.present) - len(leave) + len(join) < roster.fewest:
            raise EntrantError("too few bots would remain in the contest; add others first")
        check_programs(join, contest, self.sandbox)
        self._write(roster.change(leave, [describe(one, contest.rules) for one in join], matches))
        self._commit()

    def run(self, on_round: Callable[[Host], None] = lambda host: None) -> Standings:
        """Play the contest to its end; an exception from `on_round` stops it, and it can be resumed."""
        try:
            if not self.standings.end:
                self._play(on_round)
        finally:
            self.close()
            self.timings.save(self.folder)
        return self.standings

    def close(self) -> None:
        """Close the journal, if `run` is not called."""
        self._journal.close()

    def _play(self, on_round: Callable[[Host], None]) -> None:
        began = time.monotonic()
        self._retire()  # those that had no time to before a kill
        while not (reason := self.standings.reason_to_end(began)):
            self._play_tables(on_round, began)
        self._write({"record": "end", "reason": reason, "matches": self.standings.matches})
        self._commit(on_round)

    def _play_tables(self, on_round: Callable[[Host], None], began: float) -> None:
        """Record rounds until there is a reason to end the contest, or bots have retired."""
        players = {bot: self.entrants[bot] for bot in self.roster.present if bot not in self.roster.retired}
        players |= {HOUSE - number: entrant for number, entrant in enumerate(house_players(self.contest))}
        logs, matches = list[DrawLog](), deque[list[TablePlan]]()  # those assigned to workers

        def plans() -> Iterator[TablePlan]:
            for match in self.roster.upcoming():
                matches.append(match)
                yield from match

        when = self._journal.close, partial(self._commit, on_round)
        with Workers(self.contest, players, self.workers, self.sandbox, self._rounds_of, *when) as workers:
            for plan, rounds in workers.tables(plans()):
                for record, times in rounds:
                    self._write(record, times)
                add_logs(self.folder, workers.logs)
                if workers.draw_log:
                    logs.append(workers.draw_log)
                if plan != matches[0][-1]:
                    continue
                matches.popleft()
                adjuster = self.adjusters[plan.own] if self.adjusters is not None else None
                self._write(match_record(plan.match, adjuster, logs, plan.own))
                self._commit(on_round)
                logs.clear()
                if self._retire() or self.standings.reason_to_end(began):
                    return

    def _rounds_of(self, plan: TablePlan) -> list[Record]:
        """The rounds of a table of an unfinished match that are recorded already."""
        return self._done.get((plan.own, plan.match, plan.table), [])

    def _retire(self) -> bool:
        """Record the bots that are not asked any more; returns whether there are any."""
        for record in (records := self.standings.retiring()):
            self._write(record)
        self._commit()
        return bool(records)

    def _write(self, record: Record, times: Times = ()) -> None:
        """Write a record that the next `_commit` counts."""
        self._journal.append(record)
        self._written.append((record, times))

    def _commit(self, on_round: Callable[[Host], None] = lambda host: None) -> None:
        """Sync the last records to disk, then count and show them."""
        if not self._written:
            return
        self._journal.sync()
        for record, times in self._written:
            self._count(record)
            for bot, seconds in times:
                self.timings.add(bot, seconds)
            if record["record"] == "round":
                on_round(self)
        self._written.clear()
