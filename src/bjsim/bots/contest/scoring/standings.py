"""The standings of a contest, computed from its journal record by record.

Ranks follow the mean number of chips at the end of a match. Intervals are over batches: a batch is a match, or in a
duplicate contest all matches that share their shoes, because rounds from one shoe are not independent.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from bjsim.bots.contest.config import HOUSE, Contest
from bjsim.bots.contest.luck.adjust import has_luck
from bjsim.bots.contest.schedule.seating import batch_size
from bjsim.bots.contest.scoring.moments import MIN_BATCHES, RunningMoments
from bjsim.bots.contest.scoring.score import BatchTotal, BotDifference, Score, StandingsRow
from bjsim.bots.protocol import printable
from bjsim.sim.stats.intervals import ALPHA

MICRO = 10**6  # luck is summed in millionths of a chip
MAX_OPTIMAL_N = 30  # batches at which the anytime-valid interval is narrowest: most contests are decided early


class Standings:
    """The standings of a contest.

    Args:
        header: The header of the journal; every other record is then passed to `add` in order.

    Attributes:
        contest: The settings.
        versions: Versions of bjsim and Python that began the contest.
        bots: For each bot `name`, `source`, `language` and `sha256`, safe to print.
        names: The names of the bots.
        luck_adjusted: Whether luck is computed under these rules.
        scores: The score of each bot.
        pairs: Differences of two bots, (one, other) with one < other, in chips per match by batch.
        kinds: Luck per table and match in chips, by kind of draw.
        progress: (matches, mean chips of every bot) at some points of the contest.
        matches: Complete matches.
        rounds: Rounds.
        end: The last record if the contest has ended.
        batch_size: Matches per batch.
        optimal_n: Batches at which the anytime-valid intervals are narrowest.
        alpha: Error probability of each interval of a leader: 5% divided by the number of other bots.
    """

    def __init__(self, header: Mapping[str, Any]) -> None:
        self.contest = Contest.from_dict(header["contest"])
        self.versions = {name: str(header.get(name, "")) for name in ("bjsim", "python")}
        # The journal may be from elsewhere: its texts must not contain control characters for a terminal.
        self.bots = [{key: printable(str(value)) for key, value in bot.items()} for bot in header["bots"]]
        self.names = [bot["name"] for bot in self.bots]
        self.luck_adjusted = has_luck(self.contest.rules) and header.get("luck") != ""
        self.scores = [Score() for _ in self.names]
        self.pairs: dict[tuple[int, int], RunningMoments] = defaultdict(RunningMoments)
        self.kinds: list[RunningMoments] = []
        self.progress: list[tuple[int, list[float]]] = []
        self.matches = 0
        self.rounds = 0
        self.end: dict[str, Any] | None = None
        self.batch_size = batch_size(len(self.names), self.contest.duplicate, bool(self.contest.house))
        self.optimal_n = min(MAX_OPTIMAL_N, max(MIN_BATCHES, self.contest.matches // self.batch_size))
        # Bonferroni correction: the leader is compared with all other bots.
        self.alpha = ALPHA / max(1, len(self.names) - 1)
        self._open: dict[tuple[int, int], _OpenTable] = {}  # (match, table)
        self._batch: list[BatchTotal] = [BatchTotal() for _ in self.names]
        self._batch_pairs: dict[tuple[int, int], int] = defaultdict(int)
        self._matches_in_batch = 0
        self._rows: list[StandingsRow] = []  # cached until the next match ends

    def add(self, record: Mapping[str, Any]) -> None:
        """Count the next record.

        Args:
            record: The record.
        """
        kind = record["record"]
        if kind == "round":
            self._round(record)
        elif kind == "match":
            self._finish_match(record)
        elif kind == "end":
            self.end = dict(record)

    def add_all(self, records: Iterable[Mapping[str, Any]]) -> Standings:
        """Count records.

        Args:
            records: The next records of the journal.

        Returns:
            These standings.
        """
        for record in records:
            self.add(record)
        return self

    # --- counting records

    def _round(self, record: Mapping[str, Any]) -> None:
        key = record["match"], record["table"]
        table = self._open.setdefault(key, _OpenTable(record["seats"], self.contest.rules.chips))
        self.rounds += 1
        for bot, net in zip(record["seats"], record["net"], strict=True):
            if bot != HOUSE:
                table.chips[bot] += net
                table.hands[bot] += 1
        faults = [fault for fault in record.get("faults", ()) if fault["bot"] != HOUSE]
        failed = {fault["bot"] for fault in faults if fault["move"] == 0}
        for bot, moves in zip(record["seats"], record.get("moves", ()), strict=False):
            # Without strikes left a bot is not asked, so those moves are not its own.
            if bot != HOUSE and moves and bot not in failed and table.faults[bot] < self.contest.strikes:
                self.scores[bot].answered = True
        for fault in faults:
            self.scores[fault["bot"]].faults[fault["kind"]] += 1
            table.faults[fault["bot"]] += 1

    def _finish_match(self, record: Mapping[str, Any]) -> None:
        self.matches += 1
        self._rows = []
        tables = [self._open.pop(key) for key in sorted(self._open) if key[0] == record["match"]]
        for table in tables:
            self._finish_table(table, record.get("luck", []))
        self._matches_in_batch += 1
        if self._matches_in_batch == self.batch_size:
            self._finish_batch()
        if self.matches & (self.matches - 1) == 0 or self.matches % max(1, self.contest.matches // 50) == 0:
            self.progress.append((self.matches, [self.mean_chips(bot) for bot in range(len(self.names))]))

    def _finish_table(self, table: _OpenTable, luck: list[list[float]]) -> None:
        bots = sorted(table.chips)
        start = self.contest.rules.chips
        # Integer sums do not depend on the order, so two bots that played the same differ by exactly 0.
        adjusted = {bot: MICRO * (table.chips[bot] - start) for bot in bots}
        if luck:
            for bot in bots:
                adjusted[bot] -= sum(round(MICRO * part) for part in luck[bot])
            self._count_kinds([luck[bot] for bot in bots])
        for bot in bots:
            score, batch = self.scores[bot], self._batch[bot]
            score.matches += 1
            score.hands += table.hands[bot]
            score.broke += table.chips[bot] < self.contest.rules.buy_in
            batch.chips += table.chips[bot]
            batch.net += table.chips[bot] - start
            batch.adjusted += adjusted[bot]
            batch.hands += table.hands[bot]
            for other in bots:
                if bot < other:
                    self._batch_pairs[bot, other] += adjusted[bot] - adjusted[other]

    def _count_kinds(self, luck: list[list[float]]) -> None:
        """Count the luck at a table in a match by kind of draw."""
        self.kinds = self.kinds or [RunningMoments() for _ in luck[0]]
        for moments, parts in zip(self.kinds, zip(*luck, strict=True), strict=True):
            moments.add(sum(parts))

    def _finish_batch(self) -> None:
        for score, batch in zip(self.scores, self._batch, strict=True):
            score.chips.add(batch.chips / self.batch_size)
            score.raw.add(batch.net, batch.hands)
            if self.luck_adjusted:
                score.adjusted.add(batch.adjusted / MICRO, batch.hands)
        for pair, total in self._batch_pairs.items():
            self.pairs[pair].add(total / MICRO / self.batch_size)
        self._batch = [BatchTotal() for _ in self.names]
        self._batch_pairs.clear()
        self._matches_in_batch = 0

    # --- results

    def mean_chips(self, bot: int) -> float:
        """Mean chips per complete match, including those of an unfinished batch.

        Args:
            bot: Number of the bot.

        Returns:
            The mean; the initial chips before the first match has ended.
        """
        score = self.scores[bot]
        if not score.matches:
            return float(self.contest.rules.chips)
        total = score.chips.total * self.batch_size + self._batch[bot].chips
        return total / score.matches

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
        moments = self.pairs.get(pair, RunningMoments())
        interval = moments.anytime(self.optimal_n, self.alpha if alpha is None else alpha)
        if interval and sign < 0:
            interval = -interval[1], -interval[0]
        return BotDifference(one, other, moments.n, sign * moments.mean, interval)

    def order(self) -> list[int]:
        """Sort the bots.

        Returns:
            Numbers of the bots by decreasing chips, ties in the order of the header; bots that cannot be started come
            last.
        """
        return sorted(range(len(self.names)), key=lambda bot: (not self.scores[bot].started, -self.mean_chips(bot)))

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
        for one, other in self.pairs:
            if one in index_of and other in index_of and self.difference(one, other).separated:
                first, last = sorted((index_of[one], index_of[other]))
                barrier[last] = max(barrier[last], first)
        letters = [""] * len(self.names)
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
            shown = rank if self.matches and score.started else None
            self._rows.append(StandingsRow(shown, bot, self.names[bot], chips, self._chips_ci95(score), score, letters))
        return self._rows

    def _chips_ci95(self, score: Score) -> tuple[float, float] | None:
        """The interval of a bot's chips, which are 0 or more with raises; without, bots double and split on credit."""
        interval = score.chips.ci95
        if interval is None or not self.contest.rules.raises:
            return interval
        return max(0.0, interval[0]), interval[1]


class _OpenTable:
    """A table of an unfinished match."""

    def __init__(self, seats: Iterable[int], chips: int) -> None:
        bots = [bot for bot in seats if bot != HOUSE]
        self.chips = dict.fromkeys(bots, chips)
        self.hands = dict.fromkeys(bots, 0)
        self.faults = dict.fromkeys(bots, 0)


def _letter(number: int) -> str:
    """The name of a group: a to z, aa, ab, ..."""
    return chr(97 + number) if number < 26 else f"{chr(96 + number // 26)}{chr(97 + number % 26)}"
