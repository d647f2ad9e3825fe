"""Work in pieces: jobs on any `concurrent.futures.Executor`, and their results in the order of the jobs.

A job whose worker is lost is played again. So what is made of the results depends on the jobs alone: not on how many
workers there are, which of them is quickest, or whether one is killed.
"""

import logging
from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from bjsim.errors import RunFailed
from bjsim.sim.running.table import Backend
from bjsim.sim.running.workers import has_dead_worker

log = logging.getLogger("bjsim")
Job = TypeVar("Job")
Result = TypeVar("Result")

AHEAD = 4  # open jobs, as a multiple of those in flight: bounds the memory while the first of them takes its time
TWICE = 2  # losses of a job after which it is played alone, and losses alone after which it is blamed
LOSSES = 5  # pools lost in a row, with nothing done between, after which the work is given up
WATCH = 1.0  # seconds between two looks for a dead worker that its pool has not noticed


@dataclass(eq=False)
class _Piece(Generic[Job, Result]):
    """A job whose result has not been taken."""

    job: Job
    future: Future[Result] | None = None  # None while it is not submitted
    done: bool = False  # with a result
    losses: int = 0  # of pools, while it was under way


class Pieces(Generic[Job, Result]):
    """Jobs, in order, and how they are played.

    `call` gives a function and its arguments, which give the result of a job; all of them can be pickled. `name` is
    what a job is called that kills its workers. The next job is asked for when there is room for it; it is
    None as long as those under way may be enough.
    """

    def __init__(
        self,
        backend: Backend,
        jobs: Iterator[Job | None],
        call: Callable[[Job], tuple[Any, ...]],
        name: Callable[[Job], str],
    ) -> None:
        self.backend, self.jobs, self.call, self.name = backend, jobs, call, name
        self._open: deque[_Piece[Job, Result]] = deque()  # in order
        self._losses = 0  # of pools in a row, with no job done between

    def results(self) -> Generator[tuple[Job, Result], None, None]:
        """Yield every job with its result, in order. Closed early, it gives up what is under way.

        Raises:
            RunFailed: A job killed its workers again and again, or no job is ever done.
            Exception: The error of a job, at once.
        """
        while True:
            try:
                with self.backend.open_pool() as pool:
                    yield from self._play(pool)
                return
            except BrokenExecutor:
                self._blame()
            finally:
                for piece in self._open:
                    if piece.future:
                        piece.future.cancel()

    def unmerged(self) -> Iterator[tuple[Job, Result | None]]:
        """The jobs whose results were not taken, with the results of those that are done."""
        for piece in self._open:
            future = piece.future
            good = future and future.done() and not future.cancelled() and not future.exception()
            yield piece.job, future.result() if future and good else None

    def _play(self, pool: Executor) -> Iterator[tuple[Job, Result]]:
        while True:
            if piece := self._next():
                piece.future = pool.submit(*self.call(piece.job))
            elif not self._open:
                return
            elif self._open[0].done:
                result = self._open[0].future.result()  # type: ignore[union-attr]
                yield self._open.popleft().job, result
            else:
                self._wait(pool)

    def _next(self) -> _Piece[Job, Result] | None:
        """The piece to submit now; None if there is no room, or no job.

        One that was lost twice is played with no other beside it, as an executor does not tell which of them killed.
        """
        to_play = [piece for piece in self._open if not piece.done]
        under_way = sum(piece.future is not None for piece in to_play)
        if suspect := next((piece for piece in to_play if piece.losses >= TWICE), None):
            return None if under_way else suspect
        if under_way >= self.backend.in_flight:
            return None
        if lost := next((piece for piece in to_play if piece.future is None), None):
            return lost
        if len(self._open) <= AHEAD * (self.backend.in_flight - 1):
            job = next(self.jobs, None)
            if job is not None:
                self._open.append(_Piece(job))
                return self._open[-1]
        return None

    def _wait(self, pool: Executor) -> None:
        """Wait until a job is done. Raises: BrokenExecutor: A worker was lost. Exception: The error of a job."""
        under_way = {piece.future: piece for piece in self._open if piece.future and not piece.done}
        over, _ = wait(under_way, WATCH, FIRST_COMPLETED)
        if not over and has_dead_worker(pool):
            raise BrokenExecutor("a worker died while it sent a result")
        failed = {future for future in over if future.exception()}
        for future in over - failed:
            under_way[future].done, self._losses = True, 0
        for future in failed:
            future.result()

    def _blame(self) -> None:
        """Have what was under way played again. Raises: RunFailed: One of them was lost alone, or it never ends."""
        log.warning("a worker was lost; what it had begun is played again")
        self._losses += 1
        for piece in self._open:
            if piece.future and not piece.done:
                piece.future, piece.losses = None, piece.losses + 1
                if piece.losses == 2 * TWICE:
                    raise RunFailed(f"{self.name(piece.job)}: its worker died twice with nothing else under way")
        if self._losses == LOSSES:
            raise RunFailed(f"workers were lost {LOSSES} times in a row, with nothing done between")
