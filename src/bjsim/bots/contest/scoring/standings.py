"""The standings: what a journal's records come to. Records are added one by one; nothing else is known.

Official is the mean of chips at the end of a match. The unit of all intervals is the match (in a duplicate contest
the group of matches that share their shoes): rounds of one shoe are not independent.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from bjsim.bots.contest.config import HOUSE, Contest
from bjsim.bots.contest.luck.adjust import has_luck
from bjsim.bots.contest.schedule.seating import matches_a_unit
from bjsim.bots.contest.scoring.moments import FEWEST, Ratio, RunningMoments
from bjsim.bots.protocol import printable
from bjsim.sim.stats.intervals import ALPHA

MICRO = 10**6  # parts of a chip in which luck is added up
NOT_STARTED = "start-failure"  # the fault of a program that cannot be built or started

MOST_OPTIMAL_N = 30  # units at which the anytime-valid interval is narrowest: most contests are decided early


@dataclass
class Score:
    """All that is known of one bot. chips: by unit. raw, adjusted: profit, and profit minus luck, per hand. answered:
    whether it ever made a move of its own."""

    matches: int = 0
    hands: int = 0
    chips: RunningMoments = field(default_factory=RunningMoments)
    raw: Ratio = field(default_factory=Ratio)
    adjusted: Ratio = field(default_factory=Ratio)
    broke: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    answered: bool = False

    @property
    def started(self) -> bool:
        """Whether the bot can be started, as far as anybody knows."""
        return self.answered or not self.faults[NOT_STARTED]


@dataclass(frozen=True)
class StandingsRow:
    """One line of the standings. rank: shared by bots with equal chips; None before the first match has ended, and for
    a bot that cannot be started. chips: mean per match, of all whole matches; chips_ci95: not below what a bot can
    hold. `groups` are letters, and bots that share one cannot be told apart."""

    rank: int | None
    bot: int
    name: str
    chips: float
    chips_ci95: tuple[float, float] | None
    score: Score
    groups: str


@dataclass(frozen=True)
class BotDifference:
    """How far bot `one` is ahead of `other`, in chips a match at the same table, luck taken out where it is known."""

    one: int
    other: int
    units: int
    mean: float
    interval: tuple[float, float] | None

    @property
    def separated(self) -> bool:
        return self.interval is not None and (self.interval[0] > 0 or self.interval[1] < 0)


class Standings:
    """Adds up a journal. Feed it the header, then every record."""

    def __init__(self, header: Mapping[str, Any]) -> None:
        self.contest = Contest.from_dict(header["contest"])
        self.versions = {name: str(header.get(name, "")) for name in ("bjsim", "python")}
        # whoever wrote the journal, its texts must not steer the terminal that they are shown on
        self.bots = [{key: printable(str(value)) for key, value in bot.items()} for bot in header["bots"]]
        self.names = [bot["name"] for bot in self.bots]
        self.judged = has_luck(self.contest.rules)  # whether the luck is known under these rules
        self.scores = [Score() for _ in self.names]
        self.pairs: dict[tuple[int, int], RunningMoments] = defaultdict(RunningMoments)
        self.kinds: list[RunningMoments] = []
        self.progress: list[tuple[int, list[float]]] = []  # (matches, mean chips of every bot)
        self.matches = 0
        self.rounds = 0
        self.end: dict[str, Any] | None = None
        self.matches_a_unit = matches_a_unit(len(self.names), self.contest.duplicate, bool(self.contest.house))
        self.optimal_n = min(MOST_OPTIMAL_N, max(FEWEST, self.contest.matches // self.matches_a_unit))
        # The best bot meets this many others; with its share of the 5% each, all those intervals hold together.
        self.alpha = ALPHA / max(1, len(self.names) - 1)
        self._match = -1
        self._open: dict[tuple[int, int], _OpenTable] = {}  # (match, table)
        self._unit: list[_Unit] = [_Unit() for _ in self.names]
        self._unit_pairs: dict[tuple[int, int], int] = defaultdict(int)
        self._in_unit = 0
        self._rows: list[StandingsRow] = []  # since the last match ended

    def add(self, record: Mapping[str, Any]) -> None:
        """Count one record."""
        kind = record["record"]
        if kind == "round":
            self._round(record)
        elif kind == "match":
            self._finish_match(record)
        elif kind == "end":
            self.end = dict(record)

    def add_all(self, records: Iterable[Mapping[str, Any]]) -> Standings:
        """Count these records."""
        for record in records:
            self.add(record)
        return self

    # --- adding up

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
            # Out of strikes a bot is not asked: those moves are not its own.
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
        self._in_unit += 1
        if self._in_unit == self.matches_a_unit:
            self._finish_unit()
        if self.matches & (self.matches - 1) == 0 or self.matches % max(1, self.contest.matches // 50) == 0:
            self.progress.append((self.matches, [self.chips_of(bot) for bot in range(len(self.names))]))

    def _finish_table(self, table: _OpenTable, luck: list[list[float]]) -> None:
        bots = sorted(table.chips)
        start = self.contest.rules.chips
        # Whole millionths of a chip add up to the same in any order, so that the difference of two bots that did the
        # same is 0 and not what rounding left over.
        adjusted = {bot: MICRO * (table.chips[bot] - start) for bot in bots}
        if luck:
            for bot in bots:
                adjusted[bot] -= sum(round(MICRO * part) for part in luck[bot])
            self._kinds([luck[bot] for bot in bots])
        for bot in bots:
            score, unit = self.scores[bot], self._unit[bot]
            score.matches += 1
            score.hands += table.hands[bot]
            score.broke += table.chips[bot] < self.contest.rules.buy_in
            unit.chips += table.chips[bot]
            unit.net += table.chips[bot] - start
            unit.adjusted += adjusted[bot]
            unit.hands += table.hands[bot]
            for other in bots:
                if bot < other:
                    self._unit_pairs[bot, other] += adjusted[bot] - adjusted[other]

    def _kinds(self, luck: list[list[float]]) -> None:
        """Count the luck in a table of a match, by kind."""
        self.kinds = self.kinds or [RunningMoments() for _ in luck[0]]
        for moments, parts in zip(self.kinds, zip(*luck, strict=True), strict=True):
            moments.add(sum(parts))

    def _finish_unit(self) -> None:
        for score, unit in zip(self.scores, self._unit, strict=True):
            score.chips.add(unit.chips / self.matches_a_unit)
            score.raw.add(unit.net, unit.hands)
            if self.judged:
                score.adjusted.add(unit.adjusted / MICRO, unit.hands)
        for pair, total in self._unit_pairs.items():
            self.pairs[pair].add(total / MICRO / self.matches_a_unit)
        self._unit = [_Unit() for _ in self.names]
        self._unit_pairs.clear()
        self._in_unit = 0

    # --- what it comes to

    def chips_of(self, bot: int) -> float:
        """Mean chips per match; of an unfinished group of matches too."""
        score = self.scores[bot]
        if not score.matches:
            return float(self.contest.rules.chips)
        whole = score.chips.total * self.matches_a_unit + self._unit[bot].chips
        return whole / score.matches

    def difference(self, one: int, other: int, alpha: float | None = None) -> BotDifference:
        """How far `one` is ahead of `other`; by default the interval is one of those that hold for a leader at 95%."""
        pair = (min(one, other), max(one, other))
        sign = 1 if one < other else -1
        moments = self.pairs.get(pair, RunningMoments())
        interval = moments.anytime(self.optimal_n, self.alpha if alpha is None else alpha)
        if interval and sign < 0:
            interval = -interval[1], -interval[0]
        return BotDifference(one, other, moments.n, sign * moments.mean, interval)

    def order(self) -> list[int]:
        """Bots, most chips first; equal ones in the order of the header. Those that cannot be started come last."""
        return sorted(range(len(self.names)), key=lambda bot: (not self.scores[bot].started, -self.chips_of(bot)))

    @property
    def decided(self) -> bool:
        """Whether the leader is separated from every other bot, at 95% altogether and at whatever moment one looks."""
        leader, *rivals = self.order()
        intervals = [self.difference(leader, rival).interval for rival in rivals]
        return all(interval is not None and interval[0] > 0 for interval in intervals)

    def groups(self) -> list[str]:
        """For each bot in the order of `order` the letters of its groups; none for a bot that cannot be started."""
        order = [bot for bot in self.order() if self.scores[bot].started]
        place_of = {bot: place for place, bot in enumerate(order)}
        barrier = [-1] * len(order)  # by place, the last place before it whose bot is separated from its own
        for one, other in self.pairs:
            if one in place_of and other in place_of and self.difference(one, other).separated:
                first, last = sorted((place_of[one], place_of[other]))
                barrier[last] = max(barrier[last], first)
        letters = [""] * len(self.names)
        name = last = 0
        for first in range(len(order)):
            reached = last
            while last < len(order) and barrier[last] < first:
                last += 1
            if last > reached:
                for place in range(first, last):
                    letters[place] += _letter(name)
                name += 1
        return letters

    def rows(self) -> list[StandingsRow]:
        """The table, best first. It changes when a match has ended, and is computed then."""
        if self._rows:
            return self._rows
        rank = 0
        for place, (bot, letters) in enumerate(zip(self.order(), self.groups(), strict=True)):
            score, chips = self.scores[bot], self.chips_of(bot)
            if not place or chips != self._rows[-1].chips:
                rank = place + 1
            shown = rank if self.matches and score.started else None
            self._rows.append(StandingsRow(shown, bot, self.names[bot], chips, self._chips_ci95(score), score, letters))
        return self._rows

    def _chips_ci95(self, score: Score) -> tuple[float, float] | None:
        """The interval of a bot's chips. Without raises bots double and split on credit, else they hold 0 or more."""
        interval = score.chips.ci95
        if interval is None or not self.contest.rules.raises:
            return interval
        return max(0.0, interval[0]), interval[1]


@dataclass
class _Unit:
    chips: int = 0
    net: int = 0
    adjusted: int = 0  # in MICRO
    hands: int = 0


class _OpenTable:
    """A table of a match that is being played."""

    def __init__(self, seats: Iterable[int], chips: int) -> None:
        bots = [bot for bot in seats if bot != HOUSE]
        self.chips = dict.fromkeys(bots, chips)
        self.hands = dict.fromkeys(bots, 0)
        self.faults = dict.fromkeys(bots, 0)


def _letter(number: int) -> str:
    return chr(97 + number) if number < 26 else f"{chr(96 + number // 26)}{chr(97 + number % 26)}"
