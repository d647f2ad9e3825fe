"""Counting runs that are played in shards: the parts, and the whole run from them.

Shard K of N plays every Nth group of blocks and keeps the sums of each. They are floats, so that only a fixed order of
addition gives identical bits: that of `simulate_count`, which adds up groups too. It plays the last group, in which the
run ends, and any that are missing because a group had fewer rounds than expected.
"""

from __future__ import annotations

import json
import os
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from pathlib import Path

import numpy as np

from bjsim.errors import InputError, file_errors
from bjsim.sim.engine.counting_table import CountSums
from bjsim.sim.running.executors import find_backend
from bjsim.sim.running.shards import PartFile, SaveClock, Shard, join_parts
from bjsim.strategies.counting import simulate
from bjsim.strategies.counting.count_files import check_sums, describe_game, described_game, read_arrays, reading
from bjsim.strategies.counting.count_run import CountRun
from bjsim.strategies.counting.request import CountRequest
from bjsim.strategies.counting.tables import CountingGame

MOST_BYTES = 1 << 34
SPARE = 1.005  # groups of a run as a multiple of those expected


class CountPart(PartFile[CountSums]):
    """The part of a counting run: the sums of each of its groups."""

    def save(self) -> None:
        about = {"experiment": self.description, "shard": [*self.shard], "seconds": self.seconds}
        arrays = {f"{group} {key}": array for group, job in self.jobs.items() for key, array in job._asdict().items()}
        temporary = self.path.with_name(self.path.name + ".new")
        with file_errors(temporary), temporary.open("wb") as file:
            np.savez_compressed(file, about=json.dumps(about), **arrays)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(self.path)

    @staticmethod
    def read(path: str | os.PathLike[str]) -> CountPart:
        with reading(path, "a part of a counting run"):
            arrays = read_arrays(Path(path), MOST_BYTES)
            about = json.loads(str(arrays.pop("about")))
            game, _ = described_game(about["experiment"])
            numbers = sorted({int(key.split()[0]) for key in arrays})
            jobs = {n: CountSums(*(arrays[f"{n} {key}"] for key in CountSums._fields)) for n in numbers}
            for sums in jobs.values():
                check_sums(game, sums)
            return CountPart(Path(path), about["experiment"], Shard(*about["shard"]), jobs, float(about["seconds"]))


def play_shard(
    request: CountRequest,
    shard: Shard,
    path: Path,
    resume: bool = False,
    on_progress: Callable[[int, float], object] = lambda groups, expected: None,
) -> CountPart:
    """Play a shard of a counting run of a fixed length, and save its part at `path`.

    `resume`: the file has a part of it, which must be this shard's. `on_progress` is called after every group
    with the groups so far, and their number in all.
    """
    if request.precision:
        raise InputError("a shard needs a fixed number of rounds; leave out until")
    game = CountingGame(
        request.game, request.counting, request.departures(), None, request.spots, request.adjust_luck,
        request.whole_span, request.leaves,
    )  # fmt: skip
    ((first, _),) = simulate.play_blocks(game, request.seed, 0)
    groups = int(SPARE * request.most_rounds / (simulate.GROUP * int(first.raw[:, 0].sum())))
    whole = {**describe_game(game, request.seed), "rounds": request.most_rounds, "groups": groups}
    part = CountPart(path, whole, shard)
    if resume:
        part.resume()
    own = [group for group in range(groups) if shard.has(group)]
    left = deque(group for group in own if group not in part.jobs)
    kernel, clock = simulate.uses_kernel(game, request.most_rounds), SaveClock(part)
    clock.save()
    with find_backend(None, request.workers).open(None) as backend:
        pool, jobs = backend.open_pool(), deque[tuple[int, Future[CountSums]]]()
        try:
            while left or jobs:
                while left and len(jobs) < backend.in_flight():
                    group = left.popleft()
                    jobs.append((group, pool.submit(simulate.play_group, game, request.seed, group, kernel)))
                group, played = jobs.popleft()
                part.jobs[group] = played.result()
                clock.save_if_due()
                on_progress(len(part.jobs), len(own))
        finally:
            pool.shutdown(cancel_futures=True)
            clock.save()
    return part


def merge_counts(paths: Sequence[str | os.PathLike[str]], workers: int | None = 1) -> CountRun:
    """Merge the parts of a counting run, in any order, to the same bits as if it had not been divided.

    `workers` processes play its last rounds. The error for a missing, repeated, foreign or damaged part names it.
    """
    parts = [CountPart.read(path) for path in paths]
    jobs, whole = join_parts(parts), parts[0].description
    groups = range(int(whole["groups"]))
    for group in groups:
        if group not in jobs:
            raise next(part for part in parts if part.shard.has(group)).stopped()
    game, seed = described_game(whole)
    return simulate.simulate_count(
        game.rules, game.system, game.departures, int(whole["rounds"]), seed, workers, game.counts, None, game.spots,
        game.adjusted, game.span, leave=game.leave, groups=[jobs[group] for group in groups],
    )  # fmt: skip
