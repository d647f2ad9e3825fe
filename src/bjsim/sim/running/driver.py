"""The driver: plays many tables, block by block, on any `concurrent.futures.Executor`.

Jobs are runs of blocks, laid out by the experiment alone. Their tallies are merged in job order whatever order they
come in, so the same seed gives the same results, convergence included, on any number of workers, after a lost worker,
and for a run that was stopped and resumed.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from bjsim.errors import InputError, RunFailed, naming
from bjsim.sim.game.rules import Rules
from bjsim.sim.running.backend import Backend
from bjsim.sim.running.executors import local
from bjsim.sim.running.table import LARGEST_BLOCK, Table, WatchedTable, block_of, block_start, play_blocks
from bjsim.sim.running.workers import stop_workers
from bjsim.sim.stats.intervals import anytime, fixed_sample
from bjsim.sim.stats.tally import Tally

POINTS_PER_DECADE = 10
LOSSES = 5  # pools lost in a row, with nothing done between, after which a run gives up


class Point(NamedTuple):
    """One point of a convergence: hands so far, the mean, and both 95% intervals, in initial bets."""

    hands: int
    mean: float
    ci95: tuple[float, float]
    anytime95: tuple[float, float]

    @staticmethod
    def of(tally: Tally, optimal_n: int) -> Point:
        """The point at which a tally stands; `tuned` as in `intervals.anytime`."""
        mean, sd, n = tally.mean, tally.sd, tally.rounds
        return Point(n, mean, fixed_sample(mean, sd, n), anytime(mean, sd, n, optimal_n))


def half_width(tally: Tally, optimal_n: int) -> float:
    """Half the width of a seat's anytime-valid interval, of its luck-adjusted return where there is one."""
    if not tally.settled:
        return math.inf
    low, high = tally.luck.anytime95(optimal_n) if tally.luck.settled else Point.of(tally, optimal_n).anytime95
    return (high - low) / 2


class Job(NamedTuple):
    """Blocks `first` .. `last` of table number `number` of group `group`."""

    group: int
    number: int
    first: int
    last: int


@dataclass(frozen=True)
class Experiment:
    """What is played: groups of seats, each at `tables` tables of its own, `hands` rounds per seat in all.

    groups: one Table each; they are played at `tables` tables numbered from 0 on, group after group. precision: play
    stops before, once the anytime-valid interval of every seat is plus or minus this many initial bets. aim: rounds
    at which that is expected.
    """

    rules: Rules
    groups: Sequence[Table]
    hands: int
    seed: int
    tables: int = 1
    precision: float = 0.0
    target_n: int = 0

    @property
    def optimal_n(self) -> int:
        """Where the anytime-valid interval is narrowest: before the end, for it is watched from the start."""
        return self.target_n or max(self.hands // 20, 1)

    def until(self, number: int) -> int:
        """How many rounds table `number` plays (its number counts on through the groups)."""
        share, rest = divmod(self.hands, self.tables)
        return share + (number % self.tables < rest)

    def jobs(self) -> Iterator[Job]:
        """All jobs in the order in which their tallies are merged."""
        most = block_of(max(self.until(0) - 1, 0))
        largest = min(table.blocks_at_once for table in self.groups)
        first = 0
        while first <= most:
            small = block_start(first + 1) - block_start(first) < LARGEST_BLOCK
            # twice as much as was played before, so that the convergence is seen on a logarithmic axis
            last = first if small else min(first + min(max(first - 6, 1), largest) - 1, most)
            for group in range(len(self.groups)):
                for number in range(group * self.tables, (group + 1) * self.tables):
                    if block_start(first) < self.until(number):
                        yield Job(group, number, first, min(last, block_of(self.until(number) - 1)))
            first = last + 1


@dataclass
class Progress:
    """What is known so far. One tally and one convergence for each seat of each group, in order."""

    tallies: list[Tally]
    convergence: list[list[Point]]
    merged: int = 0  # jobs merged, in job order
    losses: int = 0  # pools of workers that broke and were replaced
    rounds_before: int = 0  # rounds that a checkpoint knew
    unmerged: int = 0  # rounds counted that belong to no merged job; see `Driver.so_far`

    @property
    def rounds(self) -> int:
        """Rounds merged, over all seats."""
        return sum(tally.rounds for tally in self.tallies)


def is_precise(experiment: Experiment, progress: Progress) -> bool:
    """Whether every seat's return is known as precisely as the experiment asks; never if it does not."""
    wanted, optimal_n = experiment.precision, experiment.optimal_n
    return wanted > 0 and all(half_width(tally, optimal_n) <= wanted for tally in progress.tallies)


@dataclass
class Checkpoint:
    """A file that a run leaves from time to time and can go on from; written atomically.

    Raises: InputError naming the file if it is damaged or belongs to another experiment.
    """

    path: Path
    what: Mapping[str, Any] = field(default_factory=dict)  # the experiment, to refuse another's file

    def save(self, progress: Progress) -> None:
        """Replace the file by what is known now."""
        data = {
            "experiment": self.what,
            "merged": progress.merged,
            "tallies": [tally.to_json() for tally in progress.tallies],
            "convergence": progress.convergence,
        }
        aside = self.path.with_name(self.path.name + ".new")
        with naming(aside), aside.open("w", encoding="utf-8") as file:
            json.dump(data, file)
            file.flush()
            os.fsync(file.fileno())
        aside.replace(self.path)

    def read(self) -> tuple[dict[str, Any], Progress]:
        """The experiment that the file is of, and what it knows."""
        try:
            data = json.loads(self.path.read_text(encoding="utf-8"))
            found = dict(data["experiment"])
            tallies = [Tally.from_json(tally) for tally in data["tallies"]]
            points = [[Point(n, m, tuple(c), tuple(a)) for n, m, c, a in seat] for seat in data["convergence"]]
            progress = Progress(tallies, points, int(data["merged"]))
        except OSError as error:
            raise InputError(f"cannot read the checkpoint {self.path}: {error.strerror}") from None
        except (ValueError, KeyError, TypeError, ArithmeticError, AttributeError, RecursionError):
            raise InputError(f"{self.path} is no checkpoint of bjsim, or is damaged") from None
        return found, progress

    def load(self) -> Progress:
        """What the file knows of this experiment."""
        found, progress = self.read()
        if found != json.loads(json.dumps(self.what)):
            other = [key for key in self.what if found.get(key) != json.loads(json.dumps(self.what[key]))]
            raise InputError(f"the checkpoint {self.path} is of another run: its {', '.join(other)} differ")
        return progress


class Driver:
    """Plays an experiment.

    place: where; see `executors.Workplace`. checkpoint: see `Checkpoint`; with `resume` it is read first. on_progress:
    called after every merge.
    """

    def __init__(
        self,
        experiment: Experiment,
        place: Backend | None = None,
        checkpoint: Checkpoint | None = None,
        resume: bool = False,
        on_progress: Callable[[Progress], None] = lambda progress: None,
    ) -> None:
        self.experiment = experiment
        self.place = place or local(1)
        self.checkpoint = checkpoint
        self.on_progress = on_progress
        seats = sum(table.seats for table in experiment.groups)
        self._first_seat = [sum(table.seats for table in experiment.groups[:g]) for g in range(len(experiment.groups))]
        self.progress = Progress([Tally()] * seats, [[] for _ in range(seats)])
        self._jobs = enumerate(experiment.jobs())
        if checkpoint and resume:
            self._go_on_from(checkpoint)
        self._to_play: dict[int, Job] = {}  # handed out, not yet done
        self._futures: dict[Future[list[Tally]], int] = {}
        self._done: dict[int, tuple[Job, list[Tally]]] = {}  # done, but an earlier job is not

    def run(self) -> Progress:
        """Play everything that is not played yet. KeyboardInterrupt passes through; `progress` then has what is known.

        Raises: RunFailed when workers are lost again and again; what a player or shoe raises.
        """
        losses_in_a_row = 0
        while not self.precise:
            before = self.progress.merged
            pool = self.place.open_pool()
            try:
                self._play_on(pool)
                break
            except self.place.lost:
                self.progress.losses += 1
                losses_in_a_row = 1 if self.progress.merged > before else losses_in_a_row + 1
                if losses_in_a_row >= LOSSES:
                    raise RunFailed(f"{LOSSES} times in a row a worker died before any block was done") from None
            except BaseException:
                stop_workers(pool)  # what they do now is not waited for
                raise
            finally:
                for future in self._futures:
                    future.cancel()
                pool.shutdown(wait=False)
                if self.checkpoint:
                    self.checkpoint.save(self.progress)
        return self.progress

    @property
    def precise(self) -> bool:
        """Whether every seat's return is known as precisely as was asked for; never if nothing was."""
        return is_precise(self.experiment, self.progress)

    def so_far(self) -> Progress:
        """What is known of a run that was stopped, rounds that could not be merged yet included.

        These are jobs that were done before an earlier one was, and what this process played of blocks that are not
        done. They depend on when the run was stopped, so nothing goes on from here: `progress` and the checkpoint
        leave them out.
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
                done[index] = table.so_far(job.number, job.first)
            for seat, tally in enumerate(done.get(index, ()), self._first_seat[job.group]):
                tallies[seat] += tally
        known, optimal_n = self.progress, self.experiment.optimal_n
        convergence = [
            [*points, Point.of(tally, optimal_n)] if tally.settled and tally.rounds > merged.rounds else [*points]
            for points, tally, merged in zip(known.convergence, tallies, known.tallies, strict=True)
        ]
        found = replace(known, tallies=tallies, convergence=convergence)
        return replace(found, unmerged=found.rounds - known.rounds)

    def _go_on_from(self, checkpoint: Checkpoint) -> None:
        progress = checkpoint.load()
        played = sum(1 for _ in islice(self._jobs, progress.merged))
        sizes = {len(progress.tallies), len(progress.convergence)}
        if played != progress.merged or sizes != {len(self.progress.tallies)}:
            raise InputError(f"{checkpoint.path} is no checkpoint of bjsim, or is damaged")
        progress.rounds_before = progress.rounds
        self.progress = progress

    def _play_on(self, pool: Executor) -> None:
        futures = self._futures = {}
        for index, job in self._to_play.items():  # lost with the last pool
            futures[self._submit(pool, job)] = index
        while True:
            while len(futures) < self.place.in_flight() and (step := next(self._jobs, None)):
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
            if self.precise:
                stop_workers(pool)  # what they do now is not wanted
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
        """Note a point of the convergence, about ten to the decade, and always the last."""
        tally, points = self.progress.tallies[seat], self.progress.convergence[seat]
        if points and points[-1].hands == tally.rounds:
            return
        last = last or tally.rounds == self.experiment.hands
        due = not points or tally.rounds >= points[-1].hands * 10 ** (1 / POINTS_PER_DECADE)
        if (last or due) and tally.settled:
            points.append(Point.of(tally, self.experiment.optimal_n))
