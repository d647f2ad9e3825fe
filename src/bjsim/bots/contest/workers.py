"""Worker processes that play tables in parallel. The host takes their rounds in the order of the schedule.

Each worker has its own bots. Threads would be enough for waiting, but between two moves of a fast bot the dealing is
Python code, which only one thread at a time can run.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import count
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, NamedTuple, cast

from bjsim.bots.contest.config import Contest, has_luck
from bjsim.bots.contest.entrants import Entrant, opened
from bjsim.bots.contest.journal import BotLog
from bjsim.bots.contest.luck.draw_log import DrawLog, DrawLogger
from bjsim.bots.contest.luck.state_index import StateIndex
from bjsim.bots.contest.match import Record, play_table
from bjsim.bots.contest.schedule import TablePlan
from bjsim.errors import RunFailed
from bjsim.sim.engine.compile_notice import in_notebook
from bjsim.sim.game.actions import Player
from bjsim.sim.game.rules import Rules
from bjsim.sim.running.workers import can_fork, end_with_parent, start_context

logger = logging.getLogger(__name__)
Times = Sequence[tuple[int, float]]  # (bot, seconds) of the moves of a round
QUEUED = 2  # tables sent to a worker at a time, so that it need not wait for the next one
REPORT_EVERY_S = 0.1  # shorter rounds are sent together: each message costs a disk sync and two context switches
FAILED, LOG = -1, -2  # used instead of a task number: an exception, and a message to log
MOST_LOSSES = 4  # workers that may be lost at the same round
_POLL_S = 1.0  # how often an idle worker checks whether its host still runs


@dataclass(eq=False)
class Place:
    """The place of a worker, in which another is started when it is lost."""

    worker: Worker
    connection: Connection = field(init=False)
    process: BaseProcess = field(init=False)
    tables: dict[int, TablePlan] = field(default_factory=dict)  # left to it, by task, in the order of play
    sent: int = 0  # of these, to the process
    lost_at: tuple[int, int] = (-1, 0)  # task and rounds at which the last process was lost
    losses: int = 0  # there


class Workers:
    """The workers of a contest, as a context manager that closes all their bots.

    `entrants` lacks bots that have retired. `done` returns the records of a table that have been played already.
    `close_inherited` is called first in every forked worker, to close files that only the host may hold;
    `before_wait` in the host before it waits, when it has taken all rounds played so far.
    """

    def __init__(
        self,
        contest: Contest,
        entrants: Mapping[int, Entrant],
        workers: int,
        sandbox: str,
        done: Callable[[TablePlan], list[Record]],
        close_inherited: Callable[[], None],
        before_wait: Callable[[], None],
    ) -> None:
        self.done, self.close_inherited, self.before_wait = done, close_inherited, before_wait
        _state_index(contest.rules)  # computed once for all forked workers
        self.draw_log: DrawLog | None = None  # of the last table whose rounds were taken
        self.logs: list[BotLog] = []  # what bots wrote to stderr there
        self._rounds: dict[int, deque[Any]] = {}  # by task
        self._places: list[Place] = []
        self._warnings = set[str]()
        self._same_worker = contest.duplicate
        for number in range(workers):
            self._places.append(Place(Worker(number, workers, contest, entrants, sandbox)))
            self._start(self._places[-1])

    def _start(self, place: Place) -> None:
        forks = can_fork() and not in_notebook() and threading.current_thread() is threading.main_thread()
        context = start_context(forks)
        place.connection, worker_end = context.Pipe()
        arguments = worker_end, os.getpid(), self._after_fork if forks else None
        place.process = context.Process(target=place.worker.work, args=arguments, daemon=True)
        place.process.start()
        worker_end.close()

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        for place in self._places:
            place.connection.close()
        for place in self._places:
            place.process.join()

    def _after_fork(self) -> None:
        """Close the host's connections in a forked worker, which would keep them open after the host has ended."""
        for place in self._places:
            place.connection.close()
        self.close_inherited()

    # --- in the host

    def tables(self, plans: Iterator[TablePlan]) -> Iterator[tuple[TablePlan, Iterator[tuple[Record, Times]]]]:
        """Play tables, and yield each plan with its rounds, which must be taken before the next plan."""
        queue: deque[tuple[TablePlan, int]] = deque()
        shoes: dict[Any, Place] = {}  # shoe in the queue -> the worker that plays it
        tasks = count()
        while True:
            while len(shoes) < QUEUED * len(self._places) and (plan := next(plans, None)) is not None:
                queue.append((plan, task := next(tasks)))
                free = min(self._places, key=lambda place: len(place.tables))
                shoes.setdefault(self._shoe(plan, task), free).tables[task] = plan
                self._rounds[task] = deque()
            self._send()
            if not queue:
                return
            plan, task = queue.popleft()
            yield plan, self._take_rounds(task)
            if self._shoe(plan, task) not in [self._shoe(*each) for each in queue]:
                del shoes[self._shoe(plan, task)]

    def _shoe(self, plan: TablePlan, task: int) -> Any:
        """What tables share that must not be played at the same time.

        In a duplicate contest this is a shoe: a bot at one table could tell its process at another what it has seen.
        """
        return (plan.table, plan.shoe) if self._same_worker else task

    def _send(self) -> None:
        """Send tables to the workers, few at a time: if the pipe were full, the worker and the host would both wait."""
        for place in self._places:
            for task, plan in [*place.tables.items()][place.sent : QUEUED]:
                with suppress(OSError):  # a worker that has died is noticed by `_receive`
                    place.connection.send((task, plan, self._played(task, plan)))
                place.sent += 1

    def _played(self, task: int, plan: TablePlan) -> list[Record]:
        return [*self.done(plan), *(record for record, _ in self._rounds[task])]

    def _take_rounds(self, task: int) -> Iterator[tuple[Record, Times]]:
        rounds = self._rounds[task]
        while True:
            while not rounds:
                self._receive()
            if isinstance(played := rounds.popleft(), _TableDone):
                self.draw_log, self.logs = played.draw_log, played.logs
                del self._rounds[task]
                return
            yield played

    def _receive(self) -> None:
        """Receive messages of the workers, waiting if there are none. Raises: the exception of a worker."""
        places = {place.connection: place for place in self._places}
        ready = wait(places, 0)
        if not ready:
            self.before_wait()
            ready = wait(places)
        for connection in ready:
            place = places[cast(Connection, connection)]
            try:
                task, message = place.connection.recv()
            except (EOFError, OSError):  # OSError: it was killed while it sent
                self._replace(place)
                continue
            if isinstance(message, BaseException):
                raise message
            if task == LOG:
                if message not in self._warnings:
                    logger.warning(message)
                self._warnings.add(message)
                continue
            self._rounds[task].extend(message)
            if isinstance(message[-1], _TableDone):
                del place.tables[task]
                place.sent -= 1
                self._send()

    def _replace(self, place: Place) -> None:
        """Start a lost worker again: its tables go on after the rounds that arrived, as in a resumed contest.

        Raises: RunFailed: Too many workers were lost at the same round.
        """
        place.connection.close()
        place.process.join()
        self.before_wait()  # so that all rounds that were taken are `done`
        if place.tables:
            task, plan = next(iter(place.tables.items()))
            at = task, len(self._played(task, plan))
            place.losses = place.losses + 1 if at == place.lost_at else 1
            place.lost_at = at
            if place.losses == MOST_LOSSES:
                where = f"match {plan.match + 1}, table {plan.table + 1}, round {at[1] + 1}"
                raise RunFailed(f"{where}: {MOST_LOSSES} worker processes died; the contest can be resumed")
        logger.warning("a worker was lost; what it had begun is played again")
        self._start(place)
        place.sent = 0
        self._send()


@dataclass(frozen=True)
class Worker:
    """One worker: its number out of how many, and what it plays."""

    number: int
    workers: int
    contest: Contest
    entrants: Mapping[int, Entrant]
    sandbox: str

    def work(self, connection: Connection, host: int, after_fork: Callable[[], None] | None) -> None:
        """Play the tables that the host (a process number) sends; `after_fork` is called first in a fork of it."""
        end_with_parent()  # even in the middle of a move
        if after_fork:
            after_fork()
        self._pin_to_core()
        options = {"sandbox": self.sandbox, "timeout": self.contest.timeout, "cold": self.contest.cold}

        def warn(text: str) -> None:
            if self.number == 0:  # once is enough
                connection.send((LOG, text))

        try:
            with opened([*self.entrants.values()], self.contest.rules, warn, **options) as opened_players:
                players = dict(zip(self.entrants, opened_players, strict=True))
                while (task := _next_task(connection, host)) is not None:
                    self._play(connection, *task, players)
        except (BrokenPipeError, ConnectionResetError):
            return  # the host has closed the connection
        except Exception as error:
            connection.send((FAILED, error))

    def _pin_to_core(self) -> None:
        """Stay on one core together with the bots: moves take half as long again if they cross cores."""
        if hasattr(os, "sched_setaffinity"):  # not on macOS
            cores = sorted(os.sched_getaffinity(0))
            if self.workers <= len(cores):
                os.sched_setaffinity(0, {cores[self.number % len(cores)]})

    def _play(
        self, connection: Connection, task: int, plan: TablePlan, done: list[Record], players: Mapping[int, Player]
    ) -> None:
        times: list[tuple[int, float]] = []
        unsent: list[tuple[Record, Times] | _TableDone] = []
        last_sent = time.monotonic()

        def on_move(bot: int, seconds: float) -> None:
            times.append((bot, seconds))

        index = _state_index(self.contest.rules)
        draw_logger = DrawLogger(self.contest.rules, index) if index else None
        logs: list[BotLog] = []
        for record in play_table(self.contest, plan, players.get, draw_logger, done, on_move, logs.append):
            unsent.append((record, [*times]))
            times.clear()
            if time.monotonic() - last_sent > REPORT_EVERY_S:
                connection.send((task, unsent))
                unsent.clear()
                last_sent = time.monotonic()
        connection.send((task, [*unsent, _TableDone(draw_logger.draw_log() if draw_logger else None, logs)]))


class _TableDone(NamedTuple):
    """Sent after the last round of a table; the draw log includes replayed rounds."""

    draw_log: DrawLog | None
    logs: list[BotLog]


@lru_cache(maxsize=1)
def _state_index(rules: Rules) -> StateIndex | None:
    return StateIndex(rules) if has_luck(rules) else None


def _next_task(connection: Connection, host: int) -> tuple[int, TablePlan, list[Record]] | None:
    """The next table to play; None when the host has closed the connection or ended."""
    try:
        while not connection.poll(_POLL_S):
            if os.getppid() != host:
                return None
        task: tuple[int, TablePlan, list[Record]] = connection.recv()
    except (EOFError, OSError):
        return None
    return task
