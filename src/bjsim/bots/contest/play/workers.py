"""Worker processes that play tables in parallel. The host takes their rounds in the order of the schedule.

Each worker has its own bots. Threads would be enough for waiting, but between two moves of a fast bot the dealing is
Python code, which only one thread at a time can run.
"""

from __future__ import annotations

import logging
import os
import signal
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from itertools import count
from multiprocessing.connection import Connection, wait
from typing import Any, NamedTuple, cast

from bjsim.bots.contest.config import Contest, has_luck
from bjsim.bots.contest.entrants import Entrant, opened
from bjsim.bots.contest.luck.draw_log import DrawLog, DrawLogger
from bjsim.bots.contest.luck.state_index import StateIndex
from bjsim.bots.contest.play.logs import BotLog
from bjsim.bots.contest.play.match import Record, play_table
from bjsim.bots.contest.schedule.seating import TablePlan
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
_POLL_S = 1.0  # how often an idle worker checks whether its host still runs


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
        self._assigned: dict[int, Connection] = {}  # task -> worker
        self._connections: list[Connection] = []
        self._unsent: dict[Connection, deque[tuple[int, TablePlan]]] = defaultdict(deque)
        self._same_worker = contest.duplicate
        self._processes = []
        forks = can_fork() and not in_notebook() and threading.current_thread() is threading.main_thread()
        context = start_context(forks)
        for number in range(workers):
            host_end, worker_end = context.Pipe()
            self._connections.append(host_end)
            worker = Worker(number, workers, contest, entrants, sandbox)
            after_fork = self._after_fork if forks else None
            process = context.Process(target=worker.work, args=(worker_end, os.getpid(), after_fork), daemon=True)
            process.start()
            worker_end.close()
            self._processes.append(process)

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        for connection in self._connections:
            connection.close()
        for process in self._processes:
            process.join()

    def _after_fork(self) -> None:
        """Close the host's connections in a forked worker, which would keep them open after the host has ended."""
        for connection in self._connections:
            connection.close()
        self.close_inherited()

    # --- in the host

    def tables(self, plans: Iterator[TablePlan]) -> Iterator[tuple[TablePlan, Iterator[tuple[Record, Times]]]]:
        """Play tables, and yield each plan with its rounds, which must be taken before the next plan."""
        queue: deque[tuple[TablePlan, int]] = deque()
        shoes: dict[Any, Connection] = {}  # shoe in the queue -> the worker that plays it
        tasks = count()
        while True:
            while len(shoes) < QUEUED * len(self._connections) and (plan := next(plans, None)) is not None:
                queue.append((plan, task := next(tasks)))
                assigned = list(self._assigned.values())
                worker = min(self._connections, key=assigned.count)
                self._assigned[task] = worker = shoes.setdefault(self._shoe(plan, task), worker)
                self._rounds[task] = deque()
                self._unsent[worker].append((task, plan))
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
        for worker, unsent in self._unsent.items():
            sent = list(self._assigned.values()).count(worker) - len(unsent)
            for task, plan in [unsent.popleft() for _ in range(min(QUEUED - sent, len(unsent)))]:
                with suppress(OSError):  # a worker that has died is noticed by `_receive`
                    worker.send((task, plan, self.done(plan)))

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
        ready = wait(self._connections, 0)
        if not ready:
            self.before_wait()
            ready = wait(self._connections)
        for connection in ready:
            try:
                task, message = cast(Connection, connection).recv()
            except EOFError:
                raise RunFailed("a worker process was killed; the contest can be resumed") from None
            if isinstance(message, BaseException):
                raise message
            if task == LOG:
                logger.warning(message)
                continue
            self._rounds[task].extend(message)
            if isinstance(message[-1], _TableDone):
                del self._assigned[task]
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
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the host decides when to stop
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
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
