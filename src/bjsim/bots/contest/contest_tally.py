"""The data of the standings: the scores, differences and progress of a contest, record by record.

Intervals are over batches: a batch is a match, or in a duplicate contest all matches that share their shoes, because
rounds from one shoe are not independent.
"""

import math
import os
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, Self

from bjsim.bots.contest.config import Contest, has_luck
from bjsim.bots.contest.differences import MIN_BATCHES, Ratio, RunningMoments
from bjsim.bots.contest.schedule import REPLACED, Owner, Roster
from bjsim.bots.protocol import printable
from bjsim.sums import add_up

# --- The parts of the standings: a bot's score, its row, and the difference between two bots.


HEADINGS = {"luck-adjusted": "luck-adjusted chips", "chips": "chips", "log": "log chips"}  # of a column of scores


@dataclass
class Score:
    """Everything that is counted for one bot.

    Attributes:
        total: Chips at the end of all matches together.
        chips: Chips at the end of a match, by batch.
        raw, adjusted: Profit, and profit minus luck, per hand in chips.
        points: What ranks it, by batch: chips, with or without luck, or LOG_UNIT * ln(chips + 1).
        broke: Matches that it ended unable to pay the buy-in.
        idle: Matches in a row in which it has used all its strikes without making a move.
        play: A hash of all rounds of its own series, with its seat, cards and answers.
        retired: When and why it is not asked any more, or "".
    """

    matches: int = 0
    hands: int = 0
    total: int = 0
    chips: RunningMoments = field(default_factory=RunningMoments)
    points: RunningMoments = field(default_factory=RunningMoments)
    raw: Ratio = Ratio()
    adjusted: Ratio = Ratio()
    broke: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    answered: bool = False
    idle: int = 0
    play: int = 0
    retired: str = ""

    @property
    def hand_sd(self) -> float:
        """Standard deviation of the profit of a hand in chips, from that of batches; 0 if it is not known."""
        return self.raw.se * math.sqrt(self.raw.b)

    @property
    def started(self) -> bool:
        """Whether the bot can be started and answers, as far as is known, and has not retired: others have no rank."""
        return not self.retired and (self.answered or not self.faults)

    @property
    def ruined(self) -> bool:
        """Whether it is broke at the end of half of its matches or more, so that its mean is that of a lottery."""
        return 0 < self.matches <= 2 * self.broke


@dataclass(frozen=True)
class StandingsRow:
    """One row of the standings.

    Attributes:
        rank: Shared by bots with equal scores; None before the end of the first batch, and for a bot that cannot be
            started.
        chips: Mean chips per complete match.
        chips_ci95: Its 95% interval, cut off where a bot cannot hold less; None from fewer than 8 batches.
        points, points_ci95: What ranks it, in chips, with its 95% interval.
        tied_with: Names of the ranked bots that it is not separated from.
        rank_range: The best and the worst rank that it may deserve: behind all bots that are separated and ahead
            of it, ahead of all that are separated and behind. None for a bot without a rank.
        age: Matches that the contest has played since this version joined.
        left: Why it has left, or "" if it takes part.
    """

    rank: int | None
    bot: int
    name: str
    chips: float
    chips_ci95: tuple[float, float] | None
    points: float
    points_ci95: tuple[float, float] | None
    score: Score
    tied_with: tuple[str, ...] = ()
    rank_range: tuple[int, int] | None = None
    version: int = 1
    age: int = 0
    left: str = ""
    effect: float | None = None
    author: str = ""


@dataclass(frozen=True)
class BotDifference:
    """The lead of bot `one` over bot `other` in what ranks them, per match."""

    one: int
    other: int
    batches: int
    mean: float
    interval: tuple[float, float] | None  # valid at all times and for all pairs together; None from too few batches
    # matches that would still separate them if their results went on as before; None if not known
    missing: int | None = None
    # the evidence that they are not equally good, if the pair was named before the contest; those of several contests
    # may then be multiplied
    e_value: float = 1.0
    # the mean difference per hand, in standard deviations of the profit of a hand; None if it is not known. Without
    # luck adjustment about 8 / effect^2 hands of each show it (95%).
    effect: float | None = None

    @property
    def separated(self) -> bool:
        """Whether the interval excludes 0."""
        return self.interval is not None and (self.interval[0] > 0 or self.interval[1] < 0)


@dataclass
class BatchTotal:
    """A bot's totals in the current batch: chips, profit, and luck-adjusted profit and score in millionths, hands."""

    chips: int = 0
    net: int = 0
    adjusted: int = 0
    score: int = 0
    hands: int = 0


# --- Counts of matches and batches in progress: open tables, and the totals of a series.


class OpenTable:
    """A table of an unfinished match: chips, rounds and faults by bot.

    `answered` are the bots that have made a move; `struck` has (bot, match) of those that made their last fault
    here.
    """

    def __init__(self, seats: Iterable[int], chips: int) -> None:
        bots = [bot for bot in seats if bot >= 0]
        self.chips = dict.fromkeys(bots, chips)
        self.hands = dict.fromkeys(bots, 0)
        self.faults = dict.fromkeys(bots, 0)
        self.rounds = 0
        self.answered: set[int] = set()
        self.struck: list[tuple[int, int]] = []
        self._kinds: Counter[tuple[int, str]] = Counter()  # of faults, by bot
        self._first_answers: set[int] = set()  # bots that made their first move here

    def add(self, record: Mapping[str, Any], scores: list[Score], strikes: int) -> list[tuple[int, int]]:
        """Count a round and its faults; return (bot, match) of the bots that have now made `strikes` faults."""
        self.rounds += 1
        for bot, net in zip(record["seats"], record["net"], strict=True):
            if bot >= 0:
                self.chips[bot] += net
                self.hands[bot] += 1
        faults = [fault for fault in record.get("faults", ()) if fault["bot"] >= 0]
        failed = {fault["bot"] for fault in faults if fault["move"] == 0}
        for bot, moves in zip(record["seats"], record.get("moves", ()), strict=False):
            # Without strikes left a bot is not asked, so those moves are not its own.
            if bot >= 0 and moves and bot not in failed and self.faults[bot] < strikes:
                self.answered.add(bot)
                if not scores[bot].answered:
                    scores[bot].answered = True
                    self._first_answers.add(bot)
        struck = []
        for fault in faults:
            bot = fault["bot"]
            scores[bot].faults[fault["kind"]] += 1
            self._kinds[bot, fault["kind"]] += 1
            self.faults[bot] += 1
            if self.faults[bot] == strikes:
                struck.append((bot, record["match"]))
        self.struck += struck
        return struck

    def void(self, scores: list[Score]) -> None:
        """Take back what `add` has added to the scores."""
        for (bot, kind), count in self._kinds.items():
            scores[bot].faults -= Counter({kind: count})
        for bot in self._first_answers:
            scores[bot].answered = False


def hash_round(record: Mapping[str, Any], bot: int, before: int) -> int:
    """A hash of a round of a bot's own series and of those before it: equal for bots that play identically."""
    seats = ["own" if seat == bot else seat for seat in record["seats"]]
    played = [record["match"], record["table"], record["shoe"], seats, record["cards"], record["moves"]]
    return int.from_bytes(blake2b(f"{before} {played}".encode(), digest_size=8).digest())


@dataclass
class OpenBatch:
    """The totals of each bot in the current batch of a series."""

    matches: int = 0
    bots: dict[int, BatchTotal] = field(default_factory=lambda: defaultdict(BatchTotal))


MICRO = 10**6  # scores are summed in millionths of a chip
LOG_UNIT = 100  # of ln(chips + 1): a unit is about a per cent
MAX_OPTIMAL_N = 30  # batches where the anytime-valid interval is narrowest: most contests are decided early


class ContestTally:
    """Everything that is counted of a contest; pass the records after the header of the journal to `add`.

    Attributes:
        versions: Versions of bjsim and Python that began the contest.
        bots: For each bot, with those that have left, `name`, `source`, `language` and `sha256`, safe to print.
        left_out: Students who have no bot in it, with the reason.
        kinds: Luck per table and match in chips, by kind of draw; of bots that joined later it is not counted.
        struck_out: (bot, match) wherever a bot has made its last fault of a match.
        closed: Whether the host has closed it: no bot may join any more, and the seed is public.
        planned: Batches at the planned end; 0 of a contest that ends when it is decided.
        optimal_n: Batches where the anytime-valid intervals are narrowest.
    """

    def __init__(self, header: Mapping[str, Any]) -> None:
        self.roster = Roster(header)
        self.versions = {name: str(header.get(name, "")) for name in ("bjsim", "python")}
        self.bots: list[dict[str, str]] = []
        self.names: list[str] = []
        self.left_out = {printable(name): printable(why) for name, why in header.get("left_out", {}).items()}
        self.luck_adjusted = has_luck(self.contest.rules)
        self.scores: list[Score] = []
        self.kinds: list[RunningMoments] = []
        self.struck_out: list[tuple[int, int]] = []
        self.rounds = 0
        self.end: dict[str, Any] | None = None
        self.closed = False
        self.planned = 0 if self.contest.until == "decided" else self.contest.matches
        self.optimal_n = min(MAX_OPTIMAL_N, max(MIN_BATCHES, self.planned or MAX_OPTIMAL_N))
        self._open: dict[tuple[Owner, int, int], OpenTable] = {}  # (owner of the series, match, table)
        self._batches: dict[Owner, OpenBatch] = defaultdict(OpenBatch)
        self._history: list[array[float]] = []  # of each bot the score per match of every batch
        self._points: list[dict[int, float]] = []  # of each bot its mean score after some numbers of its matches
        self._join(header["bots"])

    @property
    def contest(self) -> Contest:
        return self.roster.contest

    @property
    def matches(self) -> int:
        """Complete matches of the bots that are ahead: bots that joined later may have fewer."""
        return self.roster.matches

    @property
    def batch_size(self) -> int:
        return self.roster.batch_size

    @property
    def seat_names(self) -> list[str]:
        """Names by bot number, with those of house players at the end, as their numbers are negative."""
        houses = [f"house ({printable(os.path.basename(bot))})" for bot in self.contest.against] or ["house"]
        return [*self.names, *reversed(houses)]

    def add(self, record: Mapping[str, Any]) -> None:
        kind = record["record"]
        if kind == "round":
            self._round(record)
        elif kind == "match":
            self.roster.add(record)
            self._finish_match(record)
        elif kind == "change":
            self._change(record)
        elif kind == "end":
            self.end = dict(record)
        elif kind == "retire":
            self.roster.add(record)
            bot = record["bot"]
            matches = self.roster.retired[bot]
            self.scores[bot].retired = f"after match {matches}: {printable(str(record['reason']))}"
        elif kind == "close":
            self.closed = True

    def add_all(self, records: Iterable[Mapping[str, Any]]) -> Self:
        for record in records:
            self.add(record)
        return self

    # --- counting records

    def _join(self, bots: Iterable[Mapping[str, Any]]) -> None:
        for bot in bots:
            # The journal may be from elsewhere: its texts must not contain control characters for a terminal.
            self.bots.append({key: printable(str(value)) for key, value in bot.items() if key != "plays"})
            self.names.append(self.bots[-1]["name"])
            self.scores.append(Score())
            self._history.append(array("d"))
            self._points.append({})

    def _change(self, record: Mapping[str, Any]) -> None:
        self.roster.add(record)
        self.end = None
        voided = self.roster.voided(record)
        for key in [key for key in self._open if key[0] in voided]:
            table = self._open.pop(key)
            table.void(self.scores)
            self.rounds -= table.rounds
            self.struck_out = [struck for struck in self.struck_out if struck not in table.struck]
        for bot in record["leave"]:
            if self.roster.left[bot] == REPLACED:
                self.names[bot] = f"{self.names[bot]} v{self.roster.versions[bot]}"
        self._join(record["join"])

    def _round(self, record: Mapping[str, Any]) -> None:
        key = record.get("own"), record["match"], record["table"]
        if key not in self._open:
            self._open[key] = OpenTable(record["seats"], self.contest.rules.chips)
        self.rounds += 1
        if (own := record.get("own")) is not None:
            self.scores[own].play = hash_round(record, own, self.scores[own].play)
        self.struck_out += self._open[key].add(record, self.scores, self.contest.strikes)

    def _finish_match(self, record: Mapping[str, Any]) -> None:
        owner, match = record.get("own"), record["match"]
        batch = self._batches[owner]
        for key in sorted(key for key in self._open if key[:2] == (owner, match)):
            self._finish_table(self._open.pop(key), record.get("luck", []), owner, batch)
        batch.matches += 1
        if batch.matches == self.batch_size:
            self._finish_batch(batch)
            self._batches[owner] = OpenBatch()

    def _finish_table(self, table: OpenTable, luck: list[list[float]], owner: Owner, batch: OpenBatch) -> None:
        bots = sorted(table.chips)
        start = self.contest.rules.chips
        # Integer sums do not depend on the order, so two bots that played the same differ by exactly 0.
        adjusted = {bot: MICRO * (table.chips[bot] - start) for bot in bots}
        if luck:
            parts = {bot: luck[bot if owner is None else 0] for bot in bots}
            for bot in bots:
                adjusted[bot] -= sum(round(MICRO * part) for part in parts[bot])
            if owner is None or self.contest.against:
                self._count_kinds(list(parts.values()))
        for bot in bots:
            score, total = self.scores[bot], batch.bots[bot]
            score.matches += 1
            score.total += table.chips[bot]
            score.hands += table.hands[bot]
            out = table.faults[bot] >= self.contest.strikes and bot not in table.answered
            score.idle = score.idle + 1 if out else 0
            score.broke += table.chips[bot] < self.contest.rules.buy_in
            total.chips += table.chips[bot]
            total.net += table.chips[bot] - start
            total.adjusted += adjusted[bot]
            total.hands += table.hands[bot]
            if self.contest.scored_by == "luck-adjusted":
                total.score += MICRO * start + adjusted[bot]
            elif self.contest.scored_by == "chips":
                total.score += MICRO * table.chips[bot]
            else:
                total.score += round(MICRO * LOG_UNIT * math.log1p(table.chips[bot]))

    def _count_kinds(self, luck: list[list[float]]) -> None:
        self.kinds = self.kinds or [RunningMoments() for _ in luck[0]]
        for moments, parts in zip(self.kinds, zip(*luck, strict=True), strict=True):
            moments.add(add_up(parts))

    def _finish_batch(self, batch: OpenBatch) -> None:
        left = self.roster.left  # in the middle of the batch
        for bot, total in batch.bots.items():
            if bot in left:
                continue
            score = self.scores[bot]
            score.chips.add(total.chips / self.batch_size)
            score.raw += Ratio.one(total.net, total.hands)
            score.points.add(value := total.score / MICRO / self.batch_size)
            self._history[bot].append(value)
            batches = score.points.n
            if batches & (batches - 1) == 0 or batches % max(1, self.contest.matches // 50) == 0:
                self._points[bot][score.matches] = self.mean_score(bot)
            if self.luck_adjusted:
                score.adjusted += Ratio.one(total.adjusted / MICRO, total.hands)

    def alike(self) -> list[list[int]]:
        """Groups of bots that play identically: the same answers throughout from the same shoes and seats.

        Founders, who share tables, are not compared, nor is a bot with too few matches for an interval.
        """
        groups: dict[tuple[int, int], list[int]] = defaultdict(list)
        for bot in self.roster.present:
            score = self.scores[bot]
            if score.play and score.matches >= MIN_BATCHES and score.started:
                groups[score.play, score.hands].append(bot)
        return [group for group in groups.values() if len(group) > 1]

    def retiring(self) -> list[dict[str, Any]]:
        """Journal records of the bots that retire now, after too many matches in a row without an answer."""
        limit, retired = self.contest.retire, self.roster.retired
        return [
            {"record": "retire", "bot": bot, "reason": self.scores[bot].faults.most_common(1)[0][0]}
            for bot in self.roster.present
            if limit and self.scores[bot].idle >= limit and bot not in retired
        ]

    def mean_chips(self, bot: int) -> float:
        """Mean chips per complete match; the initial chips before the first match has ended."""
        score = self.scores[bot]
        if not score.matches:
            return float(self.contest.rules.chips)
        return score.total / score.matches

    def mean_score(self, bot: int) -> float:
        """What ranks a bot, in chips: the initial ones before the first batch."""
        points = self.scores[bot].points
        return self._in_chips(points.mean) if points.n else float(self.contest.rules.chips)

    def _in_chips(self, points: float) -> float:
        """The chips that a mean of scores stands for: of logarithms, those that have this logarithm."""
        return math.expm1(points / LOG_UNIT) if self.contest.scored_by == "log" else points

    def order(self) -> list[int]:
        """Sort the bots that take part.

        Returns:
            Numbers of the bots by rank, ties in the order of the journal; bots without a result come after them, and
            bots that cannot be started come last.
        """

        def key(bot: int) -> tuple[bool, bool, bool, float]:
            score = self.scores[bot]
            return not score.started, not score.points.n, self.ruined(bot), -self.mean_score(bot)

        return sorted(self.roster.present, key=key)

    def ruined(self, bot: int) -> bool:
        """Whether a bot ranks behind those that are not ruined, whatever its score."""
        return self.contest.scored_by == "luck-adjusted" and self.scores[bot].ruined

    @property
    def ranked(self) -> list[int]:
        """Numbers of the bots that have a rank, best first."""
        return [bot for bot in self.order() if self.scores[bot].started and self.scores[bot].points.n]

    @property
    def rivals(self) -> list[int]:
        """The leader, and all bots that only their scores can put behind it; empty if no bot answers."""
        started = [bot for bot in self.order() if self.scores[bot].started]
        return [bot for bot in started if self.ruined(bot) <= self.ruined(started[0])]

    @property
    def progress(self) -> list[tuple[int, list[float]]]:
        """(matches, mean score of every bot) after some numbers of its own matches, or all if it has fewer."""
        counts = sorted({count for points in self._points for count in points})
        means = [float(self.contest.rules.chips)] * len(self.names)
        found = []
        for count in counts:
            means = [points.get(count, before) for points, before in zip(self._points, means, strict=True)]
            found.append((count, means))
        return found
