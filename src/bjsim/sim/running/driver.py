"""The driver: plays many tables, block by block, on any `concurrent.futures.Executor`.

Jobs are runs of blocks. The experiment alone determines them, and their tallies are merged in job order. The same seed
therefore gives the same results, convergence included, on any number of workers, after the loss of a worker, and for a
run that was stopped and resumed.
"""

from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import islice
from typing import Any

from bjsim.json_values import is_like
from bjsim.sim.running.checkpoint import Checkpoint, keeping, reading
from bjsim.sim.running.experiment import Experiment, Job, Point, Progress, is_precise
from bjsim.sim.running.pieces import Pieces
from bjsim.sim.running.table import Backend, ReadableTable, play_blocks
from bjsim.sim.running.workers import local
from bjsim.sim.stats.tally import Tally

POINTS_PER_DECADE = 10
_LUCK = {"value": 0.0, "rounds_in_shoe": 0, "shoes": 0, "y": 0.0, "b": 0.0, "yy": 0.0, "yb": 0.0, "bb": 0.0}
_KNOWN = {"merged": 0, "tallies": [{"unit": "", "counts": [[0]], "luck": _LUCK}], "convergence": [[None]]}


class Driver:
    """Plays an experiment on a backend; None is this process.

    `progress` has the results of the jobs merged so far, with which `on_progress` is called after every merge. They are
    saved in a `checkpoint`, from which `resume` goes on. Raises InputError if it cannot be read, is damaged, or belongs
    to another experiment.
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
        self.checkpoint = checkpoint
        self.on_progress = on_progress
        seats = sum(table.seats for table in experiment.groups)
        self._first_seat = [sum(table.seats for table in experiment.groups[:g]) for g in range(len(experiment.groups))]
        self.progress = Progress([Tally()] * seats, [[] for _ in range(seats)])
        jobs = experiment.jobs()
        if checkpoint and resume:
            self._resume(checkpoint, jobs)
        self._pieces: Pieces[Job, list[Tally]] = Pieces(
            backend or local(1), jobs, self._call, lambda job: f"table {job.number}, blocks {job.first} to {job.last}"
        )

    def run(self) -> Progress:
        """Play all remaining jobs. Raises: as `steps`."""
        deque(self.steps(), maxlen=0)
        return self.progress

    def steps(self) -> Generator[Progress, None, None]:
        """Play all remaining jobs, and yield the progress after every merge.

        After a KeyboardInterrupt, which is not caught, `progress` has the results so far. Raises RunFailed if a job
        killed its workers, or workers were lost several times in a row; and any exception of a player or a shoe.
        """
        with keeping(self.checkpoint, self._known) as save, closing(self._pieces.results()) as results:
            while not is_precise(self.experiment, self.progress) and (merged := next(results, None)):
                self._merge(*merged)
                save()
                self.on_progress(self.progress)
                yield self.progress

    def partial_progress(self) -> Progress:
        """The progress of a stopped run with the `unmerged` rounds: of jobs that were done before an earlier one, and
        of unfinished blocks of this process.

        They depend on when the run was stopped, so `progress` and the checkpoint leave them out.
        """
        tallies = [*self.progress.tallies]
        for job, done in self._pieces.unmerged():
            table = self.experiment.groups[job.group]
            if done is None and isinstance(table, ReadableTable):
                done = table.partial_tallies(job.number, job.first)
            for seat, tally in enumerate(done or (), self._first_seat[job.group]):
                tallies[seat] += tally
        merged, optimal_n = self.progress, self.experiment.optimal_n
        convergence = [
            [*points, Point.of(tally, optimal_n)] if tally.settled and tally.rounds > before.rounds else [*points]
            for points, tally, before in zip(merged.convergence, tallies, merged.tallies, strict=True)
        ]
        progress = replace(merged, tallies=tallies, convergence=convergence)
        return replace(progress, unmerged=progress.rounds - merged.rounds)

    def _known(self) -> dict[str, Any]:
        tallies = [tally.to_json() for tally in self.progress.tallies]
        return {"merged": self.progress.merged, "tallies": tallies, "convergence": self.progress.convergence}

    def _resume(self, checkpoint: Checkpoint, jobs: Iterator[Job]) -> None:
        known = checkpoint.load()
        with reading(checkpoint.path):
            if not is_like(known, _KNOWN):
                raise ValueError("a value of another type")
            tallies = [Tally.from_json(tally) for tally in known["tallies"]]
            points = [[_point(*point) for point in seat] for seat in known["convergence"]]
            progress = Progress(tallies, points, known["merged"])
            played = sum(1 for _ in islice(jobs, progress.merged))
            if played != progress.merged or {len(tallies), len(points)} != {len(self.progress.tallies)}:
                raise ValueError("other tables, or more jobs")
        self.progress = replace(progress, rounds_before=progress.rounds)

    def _call(self, job: Job) -> tuple[Any, ...]:
        exp = self.experiment
        until = exp.until(job.number)
        return play_blocks, exp.groups[job.group], exp.seed, job.number, job.first, job.last, until

    def _merge(self, job: Job, played: Sequence[Tally]) -> None:
        """Merge a job. What is known changes at once, as it may be saved at any moment: Ctrl-C does not wait."""
        known, optimal_n = self.progress, self.experiment.optimal_n
        tallies, convergence = [*known.tallies], [*known.convergence]
        for seat, tally in enumerate(played, self._first_seat[job.group]):
            tallies[seat] += tally
        progress = replace(known, tallies=tallies, convergence=convergence, merged=known.merged + 1)
        last = is_precise(self.experiment, progress)
        for seat, (points, tally) in enumerate(zip(known.convergence, tallies, strict=True)):
            if self._is_due(points, tally, last):
                convergence[seat] = [*points, Point.of(tally, optimal_n)]
        self.progress = progress

    def _is_due(self, points: Sequence[Point], tally: Tally, last: bool) -> bool:
        """Whether a seat's convergence gets a point: there are about ten per decade of rounds, and always a last."""
        if not tally.settled or (points and points[-1].hands == tally.rounds):
            return False
        last = last or tally.rounds == self.experiment.hands
        return last or not points or tally.rounds >= points[-1].hands * 10 ** (1 / POINTS_PER_DECADE)


def _point(hands: int, mean: float, ci95: Any, anytime95: Any, adjusted: Any) -> Point:
    """A point of a checkpoint. Raises: ValueError: A value has another type."""
    if type(hands) is not int or not all(type(bound) is float for bound in (mean, *ci95, *anytime95)):
        raise ValueError("a point has other types")
    return Point(hands, mean, tuple(ci95), tuple(anytime95), None if adjusted is None else _point(*adjusted))
