"""The host: plays a contest and keeps its journal, or goes on with one that was stopped.

Workers are threads, for the time goes into waiting for bots and for the disk; each has bots of its own. Tables are
played side by side and written in the order of the schedule, so the journal does not depend on how many workers there
are.
"""

from __future__ import annotations

import platform
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from bjsim import __version__
from bjsim.bots.contest import journal as journals
from bjsim.bots.contest.config import HOUSE, Contest
from bjsim.bots.contest.field import Entrant, check_unchanged, identify, opened
from bjsim.bots.contest.luck import REFERENCE, Luck, has_luck
from bjsim.bots.contest.match import Dealer, NotTheSame, Record, deal_again, play_table
from bjsim.bots.contest.page import PageData
from bjsim.bots.contest.schedule import TablePlan, schedule, table_shape
from bjsim.bots.contest.standings import Standings
from bjsim.bots.contest.timings import Timings
from bjsim.sim.play import Player


class Host:
    """One contest in one folder."""

    def __init__(
        self, folder: Path, contest: Contest, entrants: Sequence[Entrant], workers: int = 1, sandbox: str = "auto"
    ) -> None:
        self.folder = folder
        self.sandbox = sandbox
        self.contest = contest
        self.entrants = list(entrants)
        self.workers = workers
        self.standings: Standings
        self.page = PageData()
        self.timings = Timings(len(entrants))
        self._new_timings = Timings(len(entrants))
        self._journal: journals.Journal
        self._done: dict[tuple[int, int], list[Record]] = defaultdict(list)  # the unfinished match's, by table

    @staticmethod
    def begin(
        folder: Path, contest: Contest, entrants: Sequence[Entrant], workers: int = 1, sandbox: str = "auto"
    ) -> Host:
        """A new contest. Raises: JournalError if the folder holds one already."""
        host = Host(folder, contest, entrants, workers, sandbox)
        header = {
            "bjsim": __version__,
            "python": platform.python_version(),
            "luck": REFERENCE if has_luck(contest.rules) else "",
            "contest": contest.to_dict(),
            "bots": [entrant.to_dict() for entrant in entrants],
        }
        host._journal = journals.Journal.create(folder, header)
        host.standings = Standings(header)
        return host

    @staticmethod
    def resume(folder: Path, workers: int = 1, sandbox: str = "auto") -> Host:
        """Go on with the contest in `folder`. Raises: JournalError; FieldError if a bot has changed."""
        journal, records = journals.Journal.reopen(folder)
        header = records[0]
        contest = Contest.from_dict(header["contest"])
        entrants = [Entrant.from_dict(bot) for bot in header["bots"]]
        host = Host(folder, contest, entrants, workers, sandbox)
        host._journal = journal
        host.standings = Standings(header).add_all(records[1:])
        if not host.standings.end:
            check_unchanged(entrants, contest.rules)
        host.timings = Timings.load(folder, len(entrants))
        for record in records[1:]:
            host.page.add(record)
            if record["record"] == "round" and record["match"] == host.standings.matches:
                host._done[record["match"], record["table"]].append(record)
        return host

    def run(self, on_round: Callable[[Host], None] = lambda host: None) -> Standings:
        """Play until the end, or until `on_round`, which is called after every round, raises."""
        try:
            if not self.standings.end:
                self._play(on_round)
        finally:
            self._journal.close()
            self._new_timings.save(self.folder)
        return self.standings

    def _play(self, on_round: Callable[[Host], None]) -> None:
        began = time.monotonic()
        contest = self.contest
        reason = self._reason(began)
        plans = schedule(len(self.entrants), contest.duplicate, bool(contest.house))
        rest = islice(plans, self.standings.matches, contest.matches)
        with ExitStack() as stack:
            tables = Workers(self, stack).tables(plan for match in rest for plan in match)
            match = self.standings.matches
            while not reason:
                for plan, records in tables:
                    for record in records:
                        self._write(record)
                        on_round(self)
                    if plan.table == self._tables - 1:
                        break
                self._write({"record": "match", "match": match})
                match += 1
                reason = self._reason(began)
        self._write({"record": "end", "reason": reason, "matches": match})

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

    def _write(self, record: Record) -> None:
        self._journal.append(record)
        self.standings.add(record)
        self.page.add(record)

    def timed(self, bot: int, seconds: float) -> None:
        """Count the time of a move."""
        if bot != HOUSE and self.entrants[bot].timed:
            self.timings.add(bot, seconds)
            self._new_timings.add(bot, seconds)

    def earlier(self, plan: TablePlan) -> list[Record]:
        """The rounds of this table that the journal holds already."""
        return self._done.get((plan.match, plan.table), [])


class Workers:
    """Plays tables, several at once, and gives their rounds in the order of the schedule."""

    def __init__(self, host: Host, stack: ExitStack) -> None:
        self.host = host
        self.stack = stack
        self.luck = Luck(host.contest.rules) if has_luck(host.contest.rules) else None
        self.stopped = False

    def tables(self, plans: Iterator[TablePlan]) -> Iterator[tuple[TablePlan, Iterator[Record]]]:
        """Each plan with its rounds, which must be taken before the next plan."""
        todo: SimpleQueue[tuple[TablePlan, list[Record], SimpleQueue[Any]] | None] = SimpleQueue()
        threads = [
            threading.Thread(target=self._work, args=(self._players(), todo), daemon=True)
            for _ in range(self.host.workers)
        ]
        self.stack.callback(self._stop, threads, todo)  # before the bots are closed: callbacks run last in, first out
        for thread in threads:
            thread.start()
        ahead: deque[tuple[TablePlan, SimpleQueue[Any]]] = deque()
        while True:
            while len(ahead) < 2 * self.host.workers and (following := next(plans, None)) is not None:
                rounds: SimpleQueue[Any] = SimpleQueue()
                ahead.append((following, rounds))
                todo.put((following, self.host.earlier(following), rounds))
            if not ahead:
                return
            plan, rounds = ahead.popleft()
            yield plan, _taken(rounds)

    def _players(self) -> list[Player]:
        house = self.host.contest.house
        entrants = [*self.host.entrants]
        if house:
            entrants.append(identify(house, self.host.contest.rules, "house"))
        contest = self.host.contest
        return self.stack.enter_context(
            opened(entrants, contest.rules, sandbox=self.host.sandbox, timeout=contest.timeout)
        )

    def _rounds(self, plan: TablePlan, players: list[Player], done: list[Record]) -> Iterator[Record]:
        host = self.host
        # the house player is the last: number HOUSE is -1
        return play_table(host.contest, plan, players.__getitem__, self.luck, done, host.timed)

    def _work(self, players: list[Player], todo: SimpleQueue[Any]) -> None:
        while (task := todo.get()) is not None:
            plan, done, rounds = task
            try:
                for record in self._rounds(plan, players, done):
                    if self.stopped:
                        return
                    rounds.put(record)
                rounds.put(None)
            except BaseException as error:  # raised again where the rounds are taken
                rounds.put(error)

    def _stop(self, threads: list[threading.Thread], todo: SimpleQueue[Any]) -> None:
        self.stopped = True
        for _ in threads:
            todo.put(None)
        for thread in threads:
            thread.join()


def _taken(rounds: SimpleQueue[Any]) -> Iterator[Record]:
    while (record := rounds.get()) is not None:
        if isinstance(record, BaseException):
            raise record
        yield record


def verify(folder: Path) -> tuple[int, Standings]:
    """Deal the whole journal in `folder` again with the recorded moves.

    Returns: (rounds confirmed, standings). Raises: JournalError; NotTheSame naming the first round that differs.
    """
    records = journals.read(folder)
    header = next(records)
    contest = Contest.from_dict(header["contest"])
    standings = Standings(header)
    luck = Luck(contest.rules) if has_luck(contest.rules) else None
    plans = schedule(len(header["bots"]), contest.duplicate, bool(contest.house))
    tables: list[Dealer] = []
    rounds = 0
    for number, record in enumerate(records, 1):
        if record["record"] == "round":
            if not tables:
                tables = [Dealer(contest, plan, luck) for plan in next(plans)]
            dealer = tables[record["table"]]
            if (dealer.plan.match, dealer.plan.shoe) != (record["match"], record["shoe"]):
                raise NotTheSame(f"record {number} is of match {record['match'] + 1}, not {dealer.plan.match + 1}")
            deal_again(dealer, record)
            rounds += 1
        elif record["record"] == "match":
            if unfinished := [dealer.plan.table + 1 for dealer in tables if not dealer.over]:
                raise NotTheSame(f"match {record['match'] + 1} ends before table {unfinished[0]} has")
            tables = []
        standings.add(record)
    return rounds, standings
