"""Workers: processes that play tables side by side. Their rounds are taken in the order of the schedule.

Each has bots of its own. Threads would do for the waiting, but the dealing between two moves of quick bots is Python,
and only one thread at a time runs that.
"""

from __future__ import annotations

import logging
import os
import signal
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import count
from multiprocessing.connection import Connection, wait
from typing import Any, NamedTuple, cast

from bjsim.bots.contest.config import Contest
from bjsim.bots.contest.entrants import Entrant, identify, opened
from bjsim.bots.contest.luck.adjust import has_luck
from bjsim.bots.contest.luck.draw_log import DrawLog, DrawLogger
from bjsim.bots.contest.luck.state_index import StateIndex
from bjsim.bots.contest.play.match import Record, play_table
from bjsim.bots.contest.schedule.seating import TablePlan
from bjsim.bots.programs import is_dead
from bjsim.errors import RunFailed
from bjsim.sim.game.actions import Player
from bjsim.sim.game.rules import Rules
from bjsim.sim.running.workers import can_fork, end_with_parent, start_context

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
        self.earlier, self.let_go, self.idle = earlier, let_go, idle
        everybody = [*entrants]
        if contest.house:  # the house player is the last: number HOUSE is -1
            everybody.append(identify(contest.house, contest.rules, "house"))
        _space(contest.rules)  # once, for all workers that are forked
        self.trace: DrawLog | None = None  # of the table whose rounds were taken last
        self._rounds: dict[int, deque[Any]] = {}  # by ticket
        self._given: dict[int, Line] = {}  # ticket -> who plays it
        self._lines: list[Line] = []
        self._processes = []
        context = start_context()
        for number in range(workers):
            mine, theirs = context.Pipe()
            self._lines.append(mine)
            worker = Worker(number, workers, contest, everybody, sandbox)
            forked = self._forked if can_fork() else None
            process = context.Process(target=worker.work, args=(theirs, os.getpid(), forked), daemon=True)
            process.start()
            theirs.close()
            self._processes.append(process)

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        for line in self._lines:
            line.close()
        for process in self._processes:
            process.join()

    def _forked(self) -> None:
        """In a process that is forked: close what is the host's."""
        for line in self._lines:  # it would keep them open when the host has gone
            line.close()
        self.let_go()

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
                line.send((ticket, plan, self.earlier(plan)))
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
        ready = wait(self._lines, 0)
        if not ready:
            self.idle()
            ready = wait(self._lines)
        for line in ready:
            try:
                ticket, said = cast(Line, line).recv()
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


@dataclass(frozen=True)
class Worker:
    """What one worker needs to know: which one it is, of how many; and what it plays."""

    number: int
    workers: int
    contest: Contest
    entrants: Sequence[Entrant]
    sandbox: str

    def work(self, line: Line, host: int, forked: Callable[[], None] | None) -> None:
        """Play what the host sends. forked: called first, where this process is a fork of the host's."""
        end_with_parent()  # in the middle of a move, too
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the host says when to stop
        if forked:
            forked()
        self._keep_to_a_core()
        options = {"sandbox": self.sandbox, "timeout": self.contest.timeout, "cold": self.contest.cold}
        try:
            with opened(self.entrants, self.contest.rules, **options) as players:
                for player in players if self.number == 0 else ():  # once is enough
                    if is_dead(player):
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
                os.sched_setaffinity(0, {cores[self.number % len(cores)]})

    def _play(self, line: Line, ticket: int, plan: TablePlan, earlier: list[Record], players: Sequence[Player]) -> None:
        """Play a table, telling the host of its rounds."""
        times: Times = []
        untold: list[tuple[Record, Times] | _Over] = []
        told = time.monotonic()

        def timed(bot: int, seconds: float) -> None:
            times.append((bot, seconds))

        space = _space(self.contest.rules)
        tracer = DrawLogger(self.contest.rules, space) if space else None
        for record in play_table(self.contest, plan, players.__getitem__, tracer, earlier, timed):
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


@lru_cache(maxsize=1)
def _space(rules: Rules) -> StateIndex | None:
    return StateIndex(rules) if has_luck(rules) else None


def _next_task(line: Line, host: int) -> tuple[int, TablePlan, list[Record]] | None:
    """The next table to play; None when the host wants no more, or is no more."""
    try:
        while not line.poll(_LISTENS_S):
            if os.getppid() != host:
                return None
        task: tuple[int, TablePlan, list[Record]] = line.recv()
    except (EOFError, OSError):
        return None
    return task
