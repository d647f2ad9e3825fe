"""Workers: processes that play tables side by side. Their rounds are taken in the order of the schedule.

Each has bots of its own. Threads would do for the waiting, but the dealing between two moves of quick bots is Python,
and only one thread at a time runs that.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import selectors
import signal
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from multiprocessing.connection import Connection
from typing import Any, NamedTuple, cast

from bjsim.bots.contest.config import Contest
from bjsim.bots.contest.entrants import Entrant, identify, opened
from bjsim.bots.contest.luck.adjust import has_luck
from bjsim.bots.contest.luck.draw_log import DrawLog, DrawLogger
from bjsim.bots.contest.luck.state_index import StateIndex
from bjsim.bots.contest.play.match import Record, play_table
from bjsim.bots.contest.schedule.seating import TablePlan
from bjsim.bots.player import UnstartableBot
from bjsim.errors import RunFailed
from bjsim.sim.game.actions import Player

logger = logging.getLogger(__name__)
Line = Connection  # of a host and a worker
Times = list[tuple[int, float]]  # (bot, seconds) of the moves of a round
AHEAD = 2  # tables that a worker is given at a time, so that it need not wait for the next one
TOLD_S = 0.1  # rounds that take less are told of together: every word costs a sync of the disk, and both sides a switch
FAILED, NOTE = -1, -2  # in the place of a ticket: what stops a worker, and what the host should read
_LISTENS_S = 1.0  # how often an idle worker looks whether its host still lives


class Workers:
    """The workers of a contest. Use it as a context; in the end all their bots are closed.

    earlier: the rounds of a table that are played already. let_go: called in every worker first, to close what only
    the host may hold. idle: called in the host whenever all that was played has been taken, before it waits for more.
    """

    def __init__(
        self, contest: Contest, entrants: Sequence[Entrant], workers: int, sandbox: str,
        earlier: Callable[[TablePlan], list[Record]], let_go: Callable[[], None], idle: Callable[[], None],
    ) -> None:  # fmt: skip
        self.contest, self.sandbox, self.earlier, self.let_go, self.idle = contest, sandbox, earlier, let_go, idle
        self.workers = workers
        self.entrants = [*entrants]
        if contest.house:  # the house player is the last: number HOUSE is -1
            self.entrants.append(identify(contest.house, contest.rules, "house"))
        self.space = StateIndex(contest.rules) if has_luck(contest.rules) else None
        self.trace: DrawLog | None = None  # of the table whose rounds were taken last
        self._rounds: dict[int, deque[Any]] = {}  # by ticket
        self._given: dict[int, Line] = {}  # ticket -> who plays it
        self._lines: list[Line] = []
        self._processes = []
        self._selector = selectors.DefaultSelector()
        fork = multiprocessing.get_context("fork")
        for _ in range(workers):
            mine, theirs = fork.Pipe()
            self._lines.append(mine)
            self._selector.register(mine, selectors.EVENT_READ)
            process = fork.Process(target=self._work, args=(theirs, os.getpid()), daemon=True)
            process.start()
            theirs.close()
            self._processes.append(process)

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        self._selector.close()
        for line in self._lines:
            line.close()
        for process in self._processes:
            process.join()

    # --- at the host

    def tables(self, plans: Iterator[TablePlan]) -> Iterator[tuple[TablePlan, Iterator[tuple[Record, Times]]]]:
        """Each plan with its rounds, which must be taken before the next plan. Raises: what a worker raised."""
        ahead: deque[tuple[TablePlan, int]] = deque()
        tickets = count()
        while True:
            while len(ahead) < AHEAD * len(self._lines) and (plan := next(plans, None)) is not None:
                ahead.append((plan, ticket := next(tickets)))
                given = list(self._given.values())
                line = min(self._lines, key=given.count)
                self._given[ticket], self._rounds[ticket] = line, deque()
                line.send((ticket, plan))
            if not ahead:
                return
            plan, ticket = ahead.popleft()
            yield plan, self._taken(ticket)

    def _taken(self, ticket: int) -> Iterator[tuple[Record, Times]]:
        rounds = self._rounds[ticket]
        while True:
            while not rounds:
                self._listen()
            if isinstance(played := rounds.popleft(), _Over):
                self.trace = played.trace
                del self._rounds[ticket]
                return
            yield played

    def _listen(self) -> None:
        """Sort what workers have to say; waits for a word if need be. Raises: what one of them raised."""
        ready = self._selector.select(0)
        if not ready:
            self.idle()
            ready = self._selector.select()
        for key, _ in ready:
            try:
                ticket, said = cast(Line, key.fileobj).recv()
            except EOFError:
                raise RunFailed("a worker was killed; the contest can go on with --resume") from None
            if isinstance(said, BaseException):
                raise said
            if ticket == NOTE:
                logger.warning(said)
                continue
            self._rounds[ticket].extend(said)
            if isinstance(said[-1], _Over):
                del self._given[ticket]

    # --- in a worker

    def _work(self, line: Line, host: int) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the host says when to stop
        for end in self._lines:  # they are the host's, and would keep the lines open when it has gone
            end.close()
        self._selector.close()
        self.let_go()
        self._keep_to_a_core()
        options = {"sandbox": self.sandbox, "timeout": self.contest.timeout}
        try:
            with opened(self.entrants, self.contest.rules, **options) as players:
                for player in players if len(self._lines) == 1 else ():  # once is enough
                    if isinstance(player, UnstartableBot):
                        line.send((NOTE, f"{player.name} only stands: {player.why}"))
                while (task := _next_task(line, host)) is not None:
                    self._play(line, *task, players)
        except (BrokenPipeError, ConnectionResetError):
            return  # the host has had enough
        except Exception as error:
            line.send((FAILED, error))

    def _keep_to_a_core(self) -> None:
        """Stay on one processor, with all the bots: passing moves on to another one takes half as long again."""
        if hasattr(os, "sched_setaffinity"):  # not on macOS
            cores = sorted(os.sched_getaffinity(0))
            if self.workers <= len(cores):
                os.sched_setaffinity(0, {cores[(len(self._lines) - 1) % len(cores)]})

    def _play(self, line: Line, ticket: int, plan: TablePlan, players: Sequence[Player]) -> None:
        """Play a table, telling the host of its rounds."""
        times: Times = []
        untold: list[tuple[Record, Times] | _Over] = []
        told = time.monotonic()

        def timed(bot: int, seconds: float) -> None:
            times.append((bot, seconds))

        tracer = DrawLogger(self.contest.rules, self.space) if self.space else None
        for record in play_table(self.contest, plan, players.__getitem__, tracer, self.earlier(plan), timed):
            untold.append((record, [*times]))
            times.clear()
            if time.monotonic() - told > TOLD_S:
                line.send((ticket, untold))
                untold.clear()
                told = time.monotonic()
        line.send((ticket, [*untold, _Over(tracer.trace() if tracer else None)]))


class _Over(NamedTuple):
    """A worker's word that a table is played; the trace of all its rounds, those played earlier too."""

    trace: DrawLog | None


def _next_task(line: Line, host: int) -> tuple[int, TablePlan] | None:
    """The next table to play; None when the host wants no more, or is no more."""
    try:
        while not line.poll(_LISTENS_S):
            if os.getppid() != host:
                return None
        task: tuple[int, TablePlan] = line.recv()
    except (EOFError, OSError):
        return None
    return task
