"""Shards: a run divided among machines that need not reach one another, and the files that they write.

Shard K of N plays every Nth job of the run, from the Kth on, and keeps the tallies of each in a file. Merged in the
order of jobs, the parts of all shards give the run that one machine would have played, to the bit.
"""

from __future__ import annotations

import json
import os
import re
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

from bjsim.arguments import argument
from bjsim.errors import InputError
from bjsim.sim.running.checkpoint import read_checked, write_checked
from bjsim.sim.running.driver import Driver
from bjsim.sim.running.experiment import Experiment, Progress
from bjsim.sim.stats.tally import Tally

Job = TypeVar("Job")

MOST_SHARDS = 100_000
SAVE_EVERY = 1.0  # least seconds between two saves
PAUSE = 10  # and the least pause, as a multiple of the time that a save took
ARRAYS = (  # variables of job arrays: the number of a task, the first of them, the step between two, and how many
    ("SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_STEP", "SLURM_ARRAY_TASK_COUNT"),
    ("JOB_COMPLETION_INDEX", "", "", ""),  # Kubernetes counts from 0, and does not say how many there are
)


class Shard(NamedTuple):
    """Shard `number`, from 1, `of` so many."""

    number: int
    of: int

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    def has(self, job: int) -> bool:
        """Whether it plays the job with this number, from 0."""
        return job % self.of == self.number - 1

    @staticmethod
    def parse(text: object) -> Shard:
        """Read a shard: `3/64`; `auto` in a SLURM job array; `auto/64` in that or an indexed Kubernetes job.

        InputError: the text is not accepted, or no variable of a job array is set.
        """
        found = re.fullmatch(r"(auto|\d{1,6})(?:/(\d{1,6}))?", str(text).strip())
        if found and found[1] == "auto":
            return _of_array(int(found[2] or 0))
        if not found or not found[2] or not 1 <= int(found[1]) <= int(found[2]) <= MOST_SHARDS:
            raise InputError(f"{argument('shard', text)} is not accepted; use K/N, such as 3/64, or auto")
        return Shard(int(found[1]), int(found[2]))


def _of_array(count: int) -> Shard:
    for task, first, step, tasks in ARRAYS:
        if (number := os.environ.get(task, "")).isdigit():
            many = count or int(os.environ.get(tasks, "0"))
            place, off = divmod(int(number) - int(os.environ.get(first, "0")), int(os.environ.get(step, "1")))
            if 0 <= place < many and not off:
                return Shard(place + 1, many)
            raise InputError(
                f"{argument('shard', 'auto')}: {task} is {number}; give the number of tasks, as in auto/64"
            )
    names = " or ".join(task for task, *_ in ARRAYS)
    raise InputError(f"{argument('shard', 'auto')} needs {names} in the environment; or give K/N, such as 3/64")


@dataclass
class PartFile(ABC, Generic[Job]):
    """The file of a shard, replaced atomically; `jobs` is what each job gave, by its number.

    `description` is of the whole run in JSON values, as in a checkpoint.
    """

    path: Path
    description: Mapping[str, Any]
    shard: Shard
    jobs: dict[int, Job] = field(default_factory=dict)
    seconds: float = 0.0

    @abstractmethod
    def save(self) -> None:
        """Write the file."""

    @staticmethod
    @abstractmethod
    def read(path: str | os.PathLike[str]) -> PartFile[Job]:
        """Read a part. Raises: InputError."""

    def resume(self) -> None:
        """Take over the jobs of the file. Raises: InputError if it is another part's."""
        found = self.read(self.path)
        if found.shard != self.shard or found.description != json.loads(json.dumps(self.description)):
            raise InputError(f"{self.path} is a part of another run, or another shard ({found.shard})")
        self.jobs, self.seconds = found.jobs, found.seconds

    def stopped(self) -> InputError:
        """The error of a part that lacks jobs."""
        asked = f"{argument('shard', self.shard)} and {argument('resume', self.path)}"
        return InputError(f"{self.path} was stopped before its end; repeat its run with {asked}")


class Part(PartFile[list[Tally]]):
    """The part of a run: the tallies of the seats in each job."""

    def save(self) -> None:
        data = {
            "experiment": self.description,
            "shard": [*self.shard],
            "seconds": self.seconds,
            "jobs": {str(job): [tally.to_json() for tally in tallies] for job, tallies in self.jobs.items()},
        }
        write_checked(self.path, data)

    @staticmethod
    def read(path: str | os.PathLike[str]) -> Part:
        try:
            data = read_checked(Path(path))
            jobs = {int(job): [Tally.from_json(tally) for tally in one] for job, one in data["jobs"].items()}
            return Part(Path(path), dict(data["experiment"]), Shard(*data["shard"]), jobs, float(data["seconds"]))
        except OSError as error:
            raise InputError(f"cannot read the part {path}: {error.strerror}") from None
        except (ValueError, KeyError, TypeError, ArithmeticError, AttributeError, RecursionError):
            raise InputError(f"{path} is not a part of a run, or is damaged; bjsim run --shard writes parts") from None


class SaveClock:
    """When a part is saved again: after a pause that grows with the time that a save takes."""

    def __init__(self, part: PartFile[Any]) -> None:
        self.part, self._due, self._began = part, 0.0, time.perf_counter() - part.seconds

    def save_if_due(self) -> None:
        if time.perf_counter() > self._due:
            self.save()

    def save(self) -> None:
        now = time.perf_counter()
        self.part.seconds = now - self._began
        self.part.save()
        self._due = now + max(SAVE_EVERY, PAUSE * (time.perf_counter() - now))


class ShardDriver(Driver):
    """Plays the jobs of a shard of the whole `experiment`; the tallies are kept in `part`."""

    def __init__(self, experiment: Experiment, part: Part, **options: Any) -> None:
        super().__init__(experiment, **options)
        self.part, self._clock = part, SaveClock(part)
        own = [step for step in enumerate(experiment.jobs()) if part.shard.has(step[0])]
        for index, job in own:
            if index in part.jobs:
                self.merge(job, part.jobs[index])
        self.progress.rounds_before = self.progress.rounds
        left = [step for step in own if step[0] not in part.jobs]
        self._jobs, self._left = iter(left), deque(index for index, _ in left)

    def run(self) -> Progress:
        """Play the jobs that are left, and save them. Raises: as `Driver.run`."""
        try:
            return super().run()
        finally:
            self._clock.save()

    def _merge(self) -> None:
        while self._left and self._left[0] in self._done:
            index = self._left.popleft()
            job, self.part.jobs[index] = self._done.pop(index)
            self.merge(job, self.part.jobs[index])
        self._clock.save_if_due()
        self.on_progress(self.progress)


def join_parts(parts: Sequence[PartFile[Job]]) -> dict[int, Job]:
    """The jobs of all shards, in any order; InputError: a part is of another run, given twice, or missing."""
    first, known = parts[0], dict[int, PartFile[Job]]()
    for part in parts:
        if part.description != first.description or part.shard.of != first.shard.of:
            other = [key for key in part.description if part.description[key] != first.description.get(key)]
            raise InputError(
                f"{part.path} is a part of another run than {first.path} (different: {', '.join(other) or 'shards'})"
            )
        before = known.setdefault(part.shard.number, part)
        if before is not part:
            raise InputError(f"{part.path} and {before.path} are both shard {part.shard}; give each part once")
    missing = [str(number) for number in range(1, first.shard.of + 1) if number not in known]
    if missing:
        listed = ", ".join(missing[:10]) + (", …" if len(missing) > 10 else "")
        raise InputError(f"{len(missing)} of {first.shard.of} parts are missing: shard {listed}")
    return {index: job for part in parts for index, job in part.jobs.items()}


def merge_jobs(experiment: Experiment, parts: Sequence[Part]) -> Progress:
    """Merge a run's parts as if undivided; InputError as for `join_parts`, or a shard stopped before its end."""
    jobs, driver = join_parts(parts), Driver(experiment)
    for index, job in enumerate(experiment.jobs()):
        if index not in jobs:
            raise next(part for part in parts if part.shard.has(index)).stopped()
        driver.merge(job, jobs[index])
    return driver.progress
