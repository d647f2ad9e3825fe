"""What a run plays and what it knows: the experiment, its jobs, its convergence and its progress."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from bjsim.sim.game.rules import Rules
from bjsim.sim.running.table import LARGEST_BLOCK, Table, block_of, block_start
from bjsim.sim.stats.intervals import anytime, fixed_sample
from bjsim.sim.stats.tally import Tally


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
