"""An experiment, the jobs into which it is divided, its progress and its convergence."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from bjsim.sim.game.rules import Rules
from bjsim.sim.running.table import LARGEST_BLOCK, Table, block_number, block_start
from bjsim.sim.stats.tally import Tally


class Point(NamedTuple):
    """A point of a convergence.

    Attributes:
        hands: Rounds so far.
        mean: Mean profit per settled bet, in initial bets.
        ci95: The fixed-sample 95% interval of the mean.
        anytime95: Its anytime-valid 95% interval.
        luck_adjusted: The same of the luck-adjusted return; None if it is not computed.
    """

    hands: int
    mean: float
    ci95: tuple[float, float]
    anytime95: tuple[float, float]
    luck_adjusted: Point | None = None

    @staticmethod
    def of(tally: Tally, optimal_n: int) -> Point:
        """Compute the point of a tally.

        Args:
            tally: The tally of all rounds so far.
            optimal_n: Rounds where the anytime-valid interval is narrowest; fixed before the first is played.

        Returns:
            The point; its intervals are unbounded below 100 rounds.
        """
        hands, luck = tally.rounds, tally.luck
        adjusted = Point(hands, luck.mean, luck.ci95, luck.anytime_interval(optimal_n)) if luck.settled else None
        return Point(hands, tally.mean, tally.ci95, tally.anytime_interval(optimal_n), adjusted)

    def to_json(self) -> dict[str, object]:
        """The point as `bjsim run --json` writes it.

        Returns:
            Values by field; `luck_adjusted` has no further one.
        """
        data = self._asdict()
        if self.luck_adjusted:
            data["luck_adjusted"] = {k: v for k, v in self.luck_adjusted._asdict().items() if k != "luck_adjusted"}
        return data


def half_width(tally: Tally, optimal_n: int) -> float:
    """Half a seat's anytime-valid interval's width, in initial bets; inf if no bet is settled.

    It is that of the luck-adjusted return if there is one.
    """
    if not tally.settled:
        return math.inf
    low, high = (tally.luck if tally.luck.settled else tally).anytime_interval(optimal_n)
    return (high - low) / 2


class Job(NamedTuple):
    """Blocks `first` .. `last` of table number `number` of group `group`."""

    group: int
    number: int
    first: int
    last: int


@dataclass(frozen=True)
class Experiment:
    """Groups of seats, and how long they play.

    Each group plays at `tables` tables, numbered from 0, group after group; `hands` are rounds of each seat,
    over all its tables. Play stops early once the half-width of every seat's anytime-valid interval is at
    most `precision` initial bets, which is expected after `target_n` rounds; 0 never stops early.
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
        """Rounds where the anytime-valid interval is narrowest: before the end, as it is monitored throughout."""
        return self.target_n or max(self.hands // 20, 1)

    def until(self, number: int) -> int:
        """The number of rounds that table `number` plays, numbered over all groups."""
        share, rest = divmod(self.hands, self.tables)
        return share + (number % self.tables < rest)

    def jobs(self) -> Iterator[Job]:
        """All jobs in the order in which their tallies are merged."""
        most = block_number(max(self.until(0) - 1, 0))
        largest = min(table.blocks_at_once for table in self.groups)
        first = 0
        while first <= most:
            small = block_start(first + 1) - block_start(first) < LARGEST_BLOCK
            # about as many rounds as all before, so that the convergence has points on a logarithmic axis
            last = first if small else min(first + min(max(first - 6, 1), largest) - 1, most)
            for group in range(len(self.groups)):
                for number in range(group * self.tables, (group + 1) * self.tables):
                    if block_start(first) < self.until(number):
                        yield Job(group, number, first, min(last, block_number(self.until(number) - 1)))
            first = last + 1


@dataclass
class Progress:
    """Results so far.

    Attributes:
        tallies: The tally of each seat of each group, in order.
        convergence: The convergence of each seat of each group.
        merged: Jobs merged, in job order.
        rounds_before: Rounds read from a checkpoint.
        unmerged: Rounds in the tallies from jobs not merged yet; see `Driver.partial_progress`.
    """

    tallies: list[Tally]
    convergence: list[list[Point]]
    merged: int = 0
    rounds_before: int = 0
    unmerged: int = 0

    def __repr__(self) -> str:
        return f"Progress({len(self.tallies)} seats, {self.rounds:,} rounds)"

    @property
    def rounds(self) -> int:
        """Rounds merged, over all seats."""
        return sum(tally.rounds for tally in self.tallies)


def is_precise(experiment: Experiment, progress: Progress) -> bool:
    """Whether every seat's return has the precision that the experiment asks for; False if it asks for none."""
    wanted, optimal_n = experiment.precision, experiment.optimal_n
    return wanted > 0 and all(half_width(tally, optimal_n) <= wanted for tally in progress.tallies)
