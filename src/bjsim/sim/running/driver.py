"""The driver: plays many tables, block by block, on any `concurrent.futures.Executor`.

Jobs are runs of blocks. The experiment alone determines them, and their tallies are merged in job order, whatever the
order of completion. The same seed therefore gives the same results, convergence included, on any number of workers,
after the loss of a worker, and for a run that was stopped and resumed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import replace
from itertools import islice

from bjsim.errors import InputError, RunFailed
from bjsim.sim.running.backend import Backend
from bjsim.sim.running.checkpoint import Checkpoint
from bjsim.sim.running.executors import local
from bjsim.sim.running.experiment import Experiment, Job, Point, Progress, is_precise
from bjsim.sim.running.table import WatchedTable, play_blocks
from bjsim.sim.running.workers import stop_workers
from bjsim.sim.stats.tally import Tally

POINTS_PER_DECADE = 10
LOSSES = 5  # a run gives up when it loses this many pools in a row with nothing done between


class Driver:
    """Plays an experiment.

    Args:
        experiment: The experiment.
        backend: The executors to play on; see `executors`. None plays in this process.
        checkpoint: A file that the progress is saved to after every merge.
        resume: Whether to resume from the checkpoint.
        on_progress: Called with the progress after every merge.

    Attributes:
        progress: The results of the jobs merged so far.

    Raises:
        InputError: The checkpoint cannot be read, is damaged, or belongs to another experiment.
    """

    def __init__(
        self,
        experiment: Experiment,
        backend: Backend | None = None,
        checkpoint: Checkpoint | None = None,
        resume: bool = False,
        on_progress: Callable[[Progress], object] = lambda progress: None,
    ) -> None:
        self.experiment = experiment
        self.backend = backend or local(1)
        self.checkpoint = checkpoint
        self.on_progress = on_progress
        seats = sum(table.seats for table in experiment.groups)
        self._first_seat = [sum(table.seats for table in experiment.groups[:g]) for g in range(len(experiment.groups))]
        self.progress = Progress([Tally()] * seats, [[] for _ in range(seats)])
        self._jobs: Iterator[tuple[int, Job]] = enumerate(experiment.jobs())
        if checkpoint and resume:
            self._resume(checkpoint)
        self._to_play: dict[int, Job] = {}  # submitted, not yet done
        self._futures: dict[Future[list[Tally]], int] = {}
        self._done: dict[int, tuple[Job, list[Tally]]] = {}  # done, waiting for an earlier job

    def run(self) -> Progress:
        """Play all remaining jobs.

        Returns:
            The progress.

        Raises:
            RunFailed: As `steps`.
        """
        for _ in self.steps():
            pass
        return self.progress

    def steps(self) -> Iterator[Progress]:
        """Play all remaining jobs, one merge after the other.

        After a KeyboardInterrupt, which is not caught, `progress` has the results so far.

        Yields:
            The progress, after every merge.

        Raises:
            RunFailed: Workers were lost several times in a row.
            Exception: Any exception of a player or a shoe.
        """
        losses_in_a_row = 0
        while not self.precise:
            before = self.progress.merged
            pool = self.backend.open_pool()
            try:
                yield from self._play_on(pool)
                break
            except self.backend.lost:
                self.progress.losses += 1
                losses_in_a_row = 1 if self.progress.merged > before else losses_in_a_row + 1
                if losses_in_a_row >= LOSSES:
                    raise RunFailed(f"a worker died {LOSSES} times in a row before any block was done") from None
            finally:
                if self._futures:  # stopped before their work is done
                    for future in self._futures:
                        future.cancel()
                    stop_workers(pool)
                else:
                    pool.shutdown()
                if self.checkpoint:
                    self.checkpoint.save(self.progress)

    @property
    def precise(self) -> bool:
        """See `is_precise`."""
        return is_precise(self.experiment, self.progress)

    def partial_progress(self) -> Progress:
        """Compute the progress of a stopped run, including rounds that are not merged yet.

        These come from jobs that were done before an earlier one, and from unfinished blocks of this process. They
        depend on when the run was stopped, so `progress` and the checkpoint leave them out, and no run resumes from
        them.

        Returns:
            The progress; `unmerged` counts those rounds.
        """
        done = {index: tallies for index, (_, tallies) in self._done.items()}
        for future, index in self._futures.items():
            if future.done() and not future.cancelled() and not future.exception():
                done[index] = future.result()
        jobs = self._to_play | {index: job for index, (job, _) in self._done.items()}
        tallies = [*self.progress.tallies]
        for index, job in jobs.items():
            table = self.experiment.groups[job.group]
            if index not in done and isinstance(table, WatchedTable):
                done[index] = table.partial_tallies(job.number, job.first)
            for seat, tally in enumerate(done.get(index, ()), self._first_seat[job.group]):
                tallies[seat] += tally
        merged, optimal_n = self.progress, self.experiment.optimal_n
        convergence = [
            [*points, Point.of(tally, optimal_n)] if tally.settled and tally.rounds > before.rounds else [*points]
            for points, tally, before in zip(merged.convergence, tallies, merged.tallies, strict=True)
        ]
        progress = replace(merged, tallies=tallies, convergence=convergence)
        return replace(progress, unmerged=progress.rounds - merged.rounds)

    def _resume(self, checkpoint: Checkpoint) -> None:
        progress = checkpoint.load()
        played = sum(1 for _ in islice(self._jobs, progress.merged))
        sizes = {len(progress.tallies), len(progress.convergence)}
        if played != progress.merged or sizes != {len(self.progress.tallies)}:
            raise InputError(f"{checkpoint.path} is not a checkpoint of bjsim, or is damaged")
        progress.rounds_before = progress.rounds
        self.progress = progress

    def _play_on(self, pool: Executor) -> Iterator[Progress]:
        futures = self._futures = {}
        for index, job in self._to_play.items():  # lost with the previous pool
            futures[self._submit(pool, job)] = index
        while True:
            while len(futures) < self.backend.in_flight() and (step := next(self._jobs, None)):
                index, job = step
                self._to_play[index] = job
                futures[self._submit(pool, job)] = index
            if not futures:
                return
            done, _ = wait(futures, return_when=FIRST_COMPLETED)
            for future in done:
                index = futures.pop(future)
                tallies = future.result()
                self._done[index] = (self._to_play.pop(index), tallies)
            self._merge()
            yield self.progress
            if self.precise:
                return

    def _submit(self, pool: Executor, job: Job) -> Future[list[Tally]]:
        exp = self.experiment
        until = exp.until(job.number)
        return pool.submit(play_blocks, exp.groups[job.group], exp.seed, job.number, job.first, job.last, until)

    def _merge(self) -> None:
        progress = self.progress
        while progress.merged in self._done and not self.precise:
            job, tallies = self._done.pop(progress.merged)
            progress.merged += 1
            for seat, tally in enumerate(tallies, self._first_seat[job.group]):
                progress.tallies[seat] += tally
                self._converge(seat)
        if self.precise:
            for seat in range(len(progress.tallies)):
                self._converge(seat, last=True)
        if self.checkpoint:
            self.checkpoint.save(progress)
        self.on_progress(progress)

    def _converge(self, seat: int, last: bool = False) -> None:
        """Add a point to the convergence: about ten per decade of rounds, and always the last."""
        tally, points = self.progress.tallies[seat], self.progress.convergence[seat]
        if points and points[-1].hands == tally.rounds:
            return
        last = last or tally.rounds == self.experiment.hands
        due = not points or tally.rounds >= points[-1].hands * 10 ** (1 / POINTS_PER_DECADE)
        if (last or due) and tally.settled:
            points.append(Point.of(tally, self.experiment.optimal_n))
