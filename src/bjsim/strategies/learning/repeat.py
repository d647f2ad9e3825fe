"""Learning repeated with other seeds: how much a result depends on chance. Repetitions can be played in shards."""

from __future__ import annotations

import os
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bjsim import __version__
from bjsim.errors import InputError
from bjsim.sim.running.checkpoint import read_checked, write_checked
from bjsim.sim.running.shards import PartFile, SaveClock, Shard, join_parts
from bjsim.strategies.learning.learn import Schedule
from bjsim.strategies.learning.study import study
from bjsim.strategies.mdp.model import FiniteMDP

MOST = 100_000  # repetitions
NOT_KEPT = ("seconds", "curve")  # of a study: its time is not the same again, and the curve is long

Learned = dict[str, Any]


@dataclass(frozen=True)
class Repetitions:
    """A process that is learned `count` times with each of `schedules`.

    `seed` is that of the first repetition; the others have the next ones. A result depends on `workers`, the
    number of threads. `about` is what the process is, in JSON values: the rules of a game, or a digest of a file.
    """

    mdp: FiniteMDP
    about: Mapping[str, Any]
    episodes: int
    schedules: Sequence[Schedule]
    seed: int
    workers: int
    count: int

    def description(self) -> dict[str, Any]:
        """What the parts of all shards have in common."""
        settings = [[one.algorithm, one.draws] for one in self.schedules]
        sizes = {"episodes": self.episodes, "seed": self.seed, "workers": self.workers, "repetitions": self.count}
        return {**self.about, "schedules": settings, **sizes, "bjsim": __version__}

    def learn(self, number: int) -> list[Learned]:
        """The repetition of this number, from 0: what each schedule learned, as JSON values."""
        studies = (study(self.mdp, self.episodes, one, self.seed + number, self.workers) for one in self.schedules)
        return [{key: value for key, value in one.to_json().items() if key not in NOT_KEPT} for one in studies]


class LearnPart(PartFile[list[Learned]]):
    """The part of repetitions: what each of them learned."""

    def save(self) -> None:
        jobs = {str(number): job for number, job in sorted(self.jobs.items())}
        about = {"learned": self.description, "shard": [*self.shard], "seconds": self.seconds}
        write_checked(self.path, {**about, "jobs": jobs})

    @staticmethod
    def read(path: str | os.PathLike[str]) -> LearnPart:
        try:
            data = read_checked(Path(path))
            jobs = {int(number): [dict(one) for one in job] for number, job in data["jobs"].items()}
            return LearnPart(Path(path), dict(data["learned"]), Shard(*data["shard"]), jobs, float(data["seconds"]))
        except OSError as error:
            raise InputError(f"cannot read the part {path}: {error.strerror}") from None
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            raise InputError(f"{path} is not a part of bjsim learn, or is damaged") from None


def is_learn_part(path: str | os.PathLike[str]) -> bool:
    try:
        LearnPart.read(path)
    except InputError:
        return False
    return True


def repeat(
    repetitions: Repetitions,
    part: LearnPart | None = None,
    resume: bool = False,
    on_progress: Callable[[int, int], object] = lambda done, most: None,
) -> list[list[Learned]]:
    """Learn a process several times, or only the repetitions of a shard, whose file is `part`.

    With `resume` the file has some of them. `on_progress` is called after each with those so far and their number.
    The result has, for each repetition in order, what each schedule learned, as JSON values.
    """
    if part and resume:
        part.resume()
    own = [number for number in range(repetitions.count) if part is None or part.shard.has(number)]
    jobs, clock = part.jobs if part else {}, SaveClock(part) if part else None
    for number in own:
        if number not in jobs:
            jobs[number] = repetitions.learn(number)
            if clock:
                clock.save_if_due()
        on_progress(len(jobs), len(own))
    if clock:
        clock.save()
    return [jobs[number] for number in own]


def merge_repetitions(paths: Sequence[str | os.PathLike[str]]) -> list[list[Learned]]:
    """Merge the parts of all shards, in any order, into what `repeat` returns without a shard."""
    parts = [LearnPart.read(path) for path in paths]
    jobs = join_parts(parts)
    for number in range(int(parts[0].description["repetitions"])):
        if number not in jobs:
            raise next(part for part in parts if part.shard.has(number)).stopped()
    return [job for _, job in sorted(jobs.items())]


def summarise(learned: Sequence[Sequence[Learned]]) -> list[dict[str, Any]]:
    """Return the regrets of what `repeat` returned, a dictionary for each schedule.

    Its entries: algorithm, draws, repetitions; mean, sd, least and greatest regret; mean suboptimal states.
    """
    rows = []
    for same in zip(*learned, strict=True):
        regrets = [one["regret"] for one in same]
        rows.append({
            "algorithm": same[0]["algorithm"], "draws": same[0]["draws"], "repetitions": len(same),
            "regret": statistics.mean(regrets), "sd": statistics.stdev(regrets) if len(regrets) > 1 else None,
            "least": min(regrets), "greatest": max(regrets),
            "suboptimal_states": statistics.mean(len(one["disagreements"]) for one in same),
        })  # fmt: skip
    return rows
