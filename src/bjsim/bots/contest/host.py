"""The host: plays a contest and writes its journal, or resumes a stopped one.

Workers play the tables. Matches are written in the order of the schedule, so the journal does not depend on the number
of workers. Bots join and leave between two matches.
"""

import logging
import os
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager, ExitStack, closing
from multiprocessing.util import Finalize
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from bjsim.bots.contest import journal as journals
from bjsim.bots.contest.config import HOUSE, Contest
from bjsim.bots.contest.differences import with_matches
from bjsim.bots.contest.entrants import (
    Entrant,
    check_programs,
    check_trusted,
    describe,
    gather,
    house_players,
    make_header,
    opened,
    read_unchanged,
    recorded_house_players,
)
from bjsim.bots.contest.journal import Logs
from bjsim.bots.contest.luck import SeriesAdjusters, draw_logger, luck_model
from bjsim.bots.contest.match import FinishedTable, Record, play_table
from bjsim.bots.contest.page_data import PageData
from bjsim.bots.contest.schedule import Roster, TablePlan
from bjsim.bots.contest.standings import Standings
from bjsim.errors import InputError
from bjsim.sim.engine.compile_notice import in_notebook
from bjsim.sim.game.actions import Player
from bjsim.sim.running.pieces import Pieces
from bjsim.sim.running.table import Backend
from bjsim.sim.running.workers import can_fork, end_with_parent, own_processes, start_context

if TYPE_CHECKING:
    from multiprocessing.queues import SimpleQueue


# --- Worker processes that play tables in parallel, each with its own bots. Threads would be enough for waiting, but
# between two moves of a fast bot the dealing is Python code, which only one thread at a time can run.


logger = logging.getLogger(__name__)
Turns = tuple[TablePlan, ...]  # of a table: in a duplicate contest the matches that share its shoe
Match = tuple[list[TablePlan], list[FinishedTable]]


class Field(NamedTuple):
    """What workers play with; `entrants`, by bot, lack those that have retired."""

    contest: Contest
    entrants: Mapping[int, Entrant]
    workers: int
    sandbox: str


def play_matches(field: Field, roster: Roster, close_inherited: Callable[[], None]) -> Generator[Match, None, None]:
    """Play the matches of a roster from now on, and yield the tables of each in the order of the schedule.

    The turns of a shoe are played one after the other by one worker: a bot at one table could tell its process at
    another what it has seen. `close_inherited` is called first in every forked worker, to close files that only the
    host may hold.

    Raises:
        RunFailed: A table killed its workers again and again.
        Exception: The error of a worker.
    """
    ahead = deque[list[TablePlan]]()
    tables: dict[TablePlan, FinishedTable] = {}
    warned = set[str]()

    def jobs() -> Iterator[Turns]:
        coming = defaultdict[int | None, list[list[TablePlan]]](list)  # of each series, the rest of its batch
        for series, match in roster.upcoming():
            rest, new = coming[series.own], list[Turns]()
            if not rest:
                batch_end = match - match % roster.batch_size + roster.batch_size
                rest += [roster.tables_of(series, turn) for turn in range(match, batch_end)]
                new = [*zip(*rest, strict=True)]
            ahead.append(rest.pop(0))
            yield from new

    luck_model(field.contest.rules)  # computed once for all forked workers
    backend = Backend(lambda: _open_pool(field, close_inherited), 2 * field.workers)
    pieces = Pieces[Turns, tuple[list[FinishedTable], list[str]]](
        backend,
        jobs(),
        call=lambda turns: (_play, turns),
        name=lambda turns: f"match {turns[0].match + 1}, table {turns[0].table + 1}",
    )
    with closing(pieces.results()) as results:
        for turns, (played, warnings) in results:
            for text in dict.fromkeys(warnings):
                if text not in warned:
                    logger.warning(text)
            warned.update(warnings)
            tables.update(zip(turns, played, strict=True))
            while ahead and tables.keys() >= {*ahead[0]}:
                plans = ahead.popleft()
                yield plans, [tables.pop(plan) for plan in plans]


def _open_pool(field: Field, close_inherited: Callable[[], None]) -> AbstractContextManager[Executor]:
    forks = can_fork() and not in_notebook() and threading.current_thread() is threading.main_thread()
    context = start_context(forks)
    numbers = context.SimpleQueue()
    for number in range(field.workers):
        numbers.put(number)
    return own_processes(field.workers, context, _begin, field, numbers, close_inherited if forks else None)


# --- in a worker

_field: Field
_players: dict[int, Player] = {}
_warnings: list[str] = []


def _begin(field: Field, numbers: "SimpleQueue[int]", close_inherited: Callable[[], None] | None) -> None:
    global _field
    end_with_parent()  # even in the middle of a move
    if close_inherited:
        close_inherited()
    _field = field
    _pin_to_core(numbers.get(), field.workers)


def _pin_to_core(number: int, workers: int) -> None:
    """Stay on one core together with the bots: moves take half as long again if they cross cores."""
    if hasattr(os, "sched_setaffinity"):  # not on macOS
        cores = sorted(os.sched_getaffinity(0))
        if workers <= len(cores):
            host = os.getppid()  # so that two contests at a time seldom share cores
            os.sched_setaffinity(0, {cores[(host + number) % len(cores)]})


def _play(turns: Turns) -> tuple[list[FinishedTable], list[str]]:
    """The tables, and what there is to warn of."""
    contest = _field.contest
    if not _players:  # not in `_begin`, whose errors are not those of a job
        stack = ExitStack()
        options = {"sandbox": _field.sandbox, "timeout": contest.timeout, "cold": contest.cold}
        Finalize(None, stack.close, exitpriority=1)
        entrants = _field.entrants
        opening = opened([*entrants.values()], contest.rules, _warnings.append, **options)
        _players.update(zip(entrants, stack.enter_context(opening), strict=True))
    tables = [play_table(contest, plan, _players.get, draw_logger(contest.rules)) for plan in turns]
    warnings = [*_warnings]
    _warnings.clear()
    return tables, warnings


class Host:
    """One contest in one folder. Create it with `begin` or `resume`."""

    def __init__(
        self, folder: Path, header: dict[str, Any], journal: journals.Journal, workers: int, sandbox: str
    ) -> None:
        self.folder = folder
        self.workers = workers  # tables played at the same time
        self.sandbox = sandbox
        self.standings = Standings(header)
        self.roster = self.standings.roster
        self.entrants = [Entrant.from_dict(bot) for bot in header["bots"]]  # with those that have left
        self.houses = recorded_house_players(header, self.contest)
        self.page = PageData(self.contest)
        self.logs = Logs(folder)
        self._adjusters = SeriesAdjusters(self.roster)
        self._journal = journal

    @property
    def contest(self) -> Contest:
        return self.standings.contest

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
    ) -> "Host":
        """Begin a new contest in a folder, which must not hold one; `workers` tables are played at a time.

        `left_out` are students without a bot, with the reason, for the marks.
        """
        houses = house_players(contest)
        check_programs([*entrants, *houses], contest, sandbox)  # before the folder is created
        header = make_header(contest, entrants, houses, left_out or {})
        return Host(folder, header, journals.Journal.create(folder, header), workers, sandbox)

    @staticmethod
    def gathered(folder: Path, contest: Contest, bots: Sequence[str], workers: int, sandbox: str) -> "Host":
        """Begin a contest of bots as `gather` finds them; by default their number says how many matches it has."""
        left_out, course = dict[str, str](), bool(contest.against)
        entrants = gather(bots, contest.rules, 1 if course else 2, left_out, course)
        return Host.begin(folder, with_matches(contest, len(entrants)), entrants, workers, sandbox, left_out)

    @staticmethod
    def resume(
        folder: Path,
        workers: int = 1,
        sandbox: str = "required",
        trust: bool = False,
        change: Callable[["Host"], object] | None = None,
    ) -> "Host":
        """Resume the contest in a folder; `trust` lets Python players that it names run in this process.

        `change` may call `Host.change`, before it is checked that no bot has changed (an InputError).
        """
        journal, records = journals.Journal.reopen(folder)
        header = next(records)
        host = Host(folder, header, journal, workers, sandbox)
        for record in records:
            host._adjusters.restore(record)
            host._count(record)
        if not trust:
            check_trusted([*host.present, *host.houses], folder)  # before `change`, which may look at the bots
        if change:
            host.refuse_closed()  # before `change` complains of anything else
            change(host)
        if not host.standings.over:
            for entrant in (*host.present, *host.houses):
                read_unchanged(entrant, host.contest.rules)
        return host

    def _count(self, record: Record) -> None:
        self.standings.add(record)
        self.page.add(record)
        if record["record"] == "change":
            self.entrants += [Entrant.from_dict(bot) for bot in record["join"]]

    def change(self, leave: Sequence[int] = (), join: Sequence[Entrant] = (), matches: int | None = None) -> None:
        """Let bots (by number) leave and others join, or set a new number of matches.

        Not during `run`. A bot that joins with the name of one that leaves is its new version.
        """
        self.refuse_closed()
        joining = [describe(one, self.contest.rules) for one in join]
        record = self.roster.change(leave, joining, matches)
        check_programs(join, self.contest, self.sandbox)
        self._write(record)

    def refuse_closed(self) -> None:
        if self.standings.closed:
            raise InputError(f"the contest in {self.folder} is closed: its seed is public")

    def run(self, on_match: Callable[["Host"], None] = lambda host: None) -> Standings:
        """Play the contest to its end; an exception from `on_match` stops it, and it can be resumed."""
        try:
            if not self.standings.end:
                self._play(on_match)
        finally:
            self.close()
        return self.standings

    def close(self) -> None:
        """Close the journal, if `run` is not called."""
        self._journal.close()

    def _play(self, on_match: Callable[["Host"], None]) -> None:
        began = time.monotonic()
        self._retire()  # those that had no time to before a kill
        while not (reason := self.standings.reason_to_end(began)):
            self._play_matches(on_match, began)
        self._write({"record": "end", "reason": reason, "matches": self.standings.matches})

    def _play_matches(self, on_match: Callable[["Host"], None], began: float) -> None:
        """Record matches until there is a reason to end the contest, or bots have retired."""
        players = {bot: self.entrants[bot] for bot in self.roster.present if bot not in self.roster.retired}
        players |= {HOUSE - number: entrant for number, entrant in enumerate(self.houses)}
        field = Field(self.contest, players, self.workers, self.sandbox)
        with closing(play_matches(field, self.roster, self._journal.close)) as matches:
            for plans, tables in matches:
                record = self._adjusters.record(plans[0].match, plans[0].own, [table.draw_log for table in tables])
                self._write({**record, "rounds": [each for table in tables for each in table.rounds]})
                self.logs.add(log for table in tables for log in table.logs)
                on_match(self)
                if self._retire() or self.standings.reason_to_end(began) not in ("", "matches"):
                    return  # after the last match workers end by themselves, and say `bye` to their bots

    def _retire(self) -> bool:
        """Record the bots that are not asked any more; returns whether there are any."""
        if records := self.standings.retiring():
            self._write(*records)
        return bool(records)

    def _write(self, *records: Record) -> None:
        self._journal.write(*records)
        for record in records:
            self._count(record)
