"""The standings of a contest: ranks, intervals, differences and groups, computed from its journal alone.

Ranks follow the mean number of chips at the end of a match. Two founders are compared at the tables that they share.
Other bots are compared by batch: batch k of one with batch k of the other, which are played from the same shoes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import Any

from bjsim.bots.contest.scoring.contest_tally import ContestTally
from bjsim.bots.contest.scoring.moments import RunningMoments
from bjsim.bots.contest.scoring.score import BotDifference, Score, StandingsRow
from bjsim.sim.stats.intervals import ALPHA


class Standings(ContestTally):
    """The standings of a contest.

    Args:
        header: The header of the journal; every other record is then passed to `add` in order.
    """

    def __init__(self, header: Mapping[str, Any]) -> None:
        super().__init__(header)
        self._rows: list[StandingsRow] = []  # cached until they change

    def add(self, record: Mapping[str, Any]) -> None:
        """Count the next record.

        Args:
            record: The record.
        """
        super().add(record)
        if record["record"] in ("match", "change"):
            self._rows = []

    @property
    def alpha(self) -> float:
        """Error probability of each interval of a leader: 5% divided by the number of other bots (Bonferroni)."""
        return ALPHA / max(1, len(self.roster.present) - 1)

    def difference(self, one: int, other: int, alpha: float | None = None) -> BotDifference:
        """The lead of one bot over another.

        Args:
            one: Number of the first bot.
            other: Number of the second bot.
            alpha: Error probability of the interval; by default 5% divided by the number of other bots, so that the
                intervals of a leader hold simultaneously at 95%.

        Returns:
            The difference.
        """
        pair = (min(one, other), max(one, other))
        sign = 1 if one < other else -1
        moments = self._compared(pair)
        interval = moments.anytime(self.optimal_n, self.alpha if alpha is None else alpha)
        if interval and sign < 0:
            interval = -interval[1], -interval[0]
        return BotDifference(one, other, moments.n, sign * moments.mean, interval)

    def _compared(self, pair: tuple[int, int]) -> RunningMoments:
        """The differences of a pair of bots by batch."""
        if pair[1] < self.roster.founders:
            return self.pairs.get(pair, RunningMoments())
        moments, (one, other) = self.pairs[pair], (self._history[bot] for bot in pair)
        for batch in range(moments.n, min(len(one), len(other))):
            moments.add(one[batch] - other[batch])
        return moments

    def compared_pairs(self) -> Iterable[tuple[int, int]]:
        """The pairs of bots that can be compared.

        Returns:
            Numbers (one, other) with one < other.
        """
        everybody = len(self.names) == self.roster.founders
        return list(self.pairs) if everybody else combinations(self.roster.present, 2)

    def order(self) -> list[int]:
        """Sort the bots that take part.

        Returns:
            Numbers of the bots by decreasing chips, ties in the order of the journal; bots without a match come after
            them, and bots that cannot be started come last.
        """

        def key(bot: int) -> tuple[bool, bool, float]:
            score = self.scores[bot]
            return not score.started, not score.matches, -self.mean_chips(bot)

        return sorted(self.roster.present, key=key)

    @property
    def decided(self) -> bool:
        """Whether the leader is separated from every other bot, simultaneously at 95% and at any time."""
        leader, *rivals = self.order()
        intervals = [self.difference(leader, rival).interval for rival in rivals]
        return all(interval is not None and interval[0] > 0 for interval in intervals)

    def groups(self) -> list[str]:
        """Group the bots: two that share a letter are not separated.

        Returns:
            The letters of each bot, in the order of `order`; "" for a bot that cannot be started.
        """
        order = [bot for bot in self.order() if self.scores[bot].started]
        index_of = {bot: index for index, bot in enumerate(order)}
        barrier = [-1] * len(order)  # for each index the last index before it whose bot is separated from it
        for one, other in self.compared_pairs():
            if one in index_of and other in index_of and self.difference(one, other).separated:
                first, last = sorted((index_of[one], index_of[other]))
                barrier[last] = max(barrier[last], first)
        letters = [""] * len(self.roster.present)
        group = last = 0
        for first in range(len(order)):
            previous = last
            while last < len(order) and barrier[last] < first:
                last += 1
            if last > previous:
                for index in range(first, last):
                    letters[index] += _letter(group)
                group += 1
        return letters

    def rows(self) -> list[StandingsRow]:
        """The rows of the standings. They change at the end of a match.

        Returns:
            A row for each bot, best first.
        """
        if self._rows:
            return self._rows
        rank = 0
        for index, (bot, letters) in enumerate(zip(self.order(), self.groups(), strict=True)):
            score, chips = self.scores[bot], self.mean_chips(bot)
            if not index or chips != self._rows[-1].chips:
                rank = index + 1
            self._rows.append(self._row(bot, rank if score.matches and score.started else None, letters))
        return self._rows

    def former(self) -> list[StandingsRow]:
        """The rows of the bots that have left.

        Returns:
            A row for each, not ranked, in the order of the journal.
        """
        return [self._row(bot, None, "") for bot in sorted(self.roster.left)]

    def _row(self, bot: int, rank: int | None, groups: str) -> StandingsRow:
        score, roster = self.scores[bot], self.roster
        age = roster.age(bot)
        left = roster.left.get(bot, "")
        return StandingsRow(
            rank, bot, self.names[bot], self.mean_chips(bot), self._chips_ci95(score), score, groups,
            roster.versions[bot], age, left,
        )  # fmt: skip

    def _chips_ci95(self, score: Score) -> tuple[float, float] | None:
        """The interval of a bot's chips, which are 0 or more with raises; without, bots double and split on credit."""
        interval = score.chips.ci95
        if interval is None or not self.contest.rules.raises:
            return interval
        return max(0.0, interval[0]), interval[1]


def _letter(number: int) -> str:
    """The name of a group: a to z, aa, ab, ..."""
    return chr(97 + number) if number < 26 else f"{chr(96 + number // 26)}{chr(97 + number % 26)}"
