"""The data of the standings: the scores, differences and progress of a contest, record by record.

A match counts when it is complete. Intervals are over batches: a batch is a match, or in a duplicate contest all
matches that share their shoes, because rounds from one shoe are not independent.
"""

import math
import os
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from bjsim.bots.contest.config import Contest, has_luck
from bjsim.bots.contest.differences import MIN_BATCHES, Ratio
from bjsim.bots.contest.schedule import Roster
from bjsim.errors import printable

# --- The parts of the standings: a bot's score, its row, and the difference between two bots.


HEADINGS = {"luck-adjusted": "luck-adjusted chips", "chips": "chips", "log": "log chips"}  # of a column of scores


@dataclass
class Total:
    """What a bot won and did in a match or a batch: chips, millionths of what ranks it and of luck-adjusted chips."""

    net: int = 0
    hands: int = 0
    points: int = 0
    adjusted: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    answered: bool = False


@dataclass
class Score:
    """Everything that is counted for one bot."""

    matches: int = 0
    hands: int = 0
    total: int = 0  # chips at the end of all matches together
    batch: Total = field(default_factory=Total)  # of the one that is not complete
    chips: Ratio = Ratio()  # profit per match
    points: Ratio = Ratio()  # what ranks it, per match: profit, with or without luck, or LOG_UNIT * ln(chips + 1)
    raw: Ratio = Ratio()  # profit per hand
    adjusted: Ratio = Ratio()  # profit minus luck, per hand
    broke: int = 0  # matches that it ended unable to pay the buy-in
    faults: Counter[str] = field(default_factory=Counter)
    answered: bool = False
    idle: int = 0  # matches in a row in which it has used all its strikes without making a move
    history: "array[float]" = field(default_factory=lambda: array("d"))  # points per match of every batch
    means: dict[int, float] = field(default_factory=dict)  # mean score after some numbers of its matches
    retired: str = ""  # when and why it is not asked any more

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
    # shared by bots with equal scores; None before the end of the first batch, and for a bot that cannot be started
    rank: int | None
    bot: int
    name: str
    chips: float  # mean per complete match
    chips_ci95: tuple[float, float] | None  # cut off where a bot cannot hold less; None from fewer than 8 batches
    points: float  # what ranks it, in chips
    points_ci95: tuple[float, float] | None
    score: Score
    tied_with: tuple[str, ...]  # names of the ranked bots that it is not separated from
    # the best and the worst rank that it may deserve: behind all bots that are separated and ahead of it, ahead of all
    # that are separated and behind; None for a bot without a rank
    rank_range: tuple[int, int] | None
    version: int
    age: int  # matches that the contest has played since this version joined
    left: str  # why it has left, or "" if it takes part
    author: str


@dataclass(frozen=True)
class BotDifference:
    """The lead of a bot over bot `other` in what ranks them, per match."""

    other: int
    batches: int
    mean: float
    interval: tuple[float, float] | None  # valid at all times and for all pairs together; None from too few batches
    missing: int | None  # matches that would still separate them if their results went on as before, if known
    # the evidence that they are not equally good, if the pair was named before the contest; those of several contests
    # may then be multiplied
    e_value: float

    @property
    def separated(self) -> bool:
        return self.interval is not None and (self.interval[0] > 0 or self.interval[1] < 0)

    @property
    def verdict(self) -> str:
        return ("ahead" if self.mean > 0 else "behind") if self.separated else "open"

    @property
    def half(self) -> float | None:
        """Half of the interval's width, of its wider side."""
        return max(self.interval[1] - self.mean, self.mean - self.interval[0]) if self.interval else None


MICRO = 10**6  # scores are summed in millionths of a chip
LOG_UNIT = 100  # of ln(chips + 1): a unit is about a per cent
MAX_OPTIMAL_N = 30  # batches where the anytime-valid interval is narrowest: most contests are decided early


def house_names(against: Iterable[str]) -> list[str]:
    """Names of the house players in the order of their numbers, which are negative; against: their sources, if so."""
    return [f"house ({printable(os.path.basename(bot))})" for bot in against][::-1] or ["house"]


class ContestTally:
    """Everything that is counted of a contest; pass the records after the header of the journal to `add`."""

    def __init__(self, header: Mapping[str, Any]) -> None:
        self.roster = Roster(header)
        self.versions = {name: str(header.get(name, "")) for name in ("bjsim", "python")}  # that began it
        self.bots: list[dict[str, str]] = []  # as the journal describes them, with those that have left, safe to print
        self.names: list[str] = []
        # Students without a bot in the contest, and why.
        self.left_out = {printable(name): printable(why) for name, why in header.get("left_out", {}).items()}
        self.luck_adjusted = has_luck(self.contest.rules)
        self.scores: list[Score] = []
        self.rounds = 0
        self.end: dict[str, Any] | None = None
        self.closed = False  # whether no bot may join any more, and the seed is public
        # Batches at the planned end, 0 if it ends when it is decided; and where anytime-valid intervals are narrowest.
        self.planned = 0 if self.contest.until == "decided" else self.contest.matches
        self.optimal_n = min(MAX_OPTIMAL_N, max(MIN_BATCHES, self.planned or MAX_OPTIMAL_N))
        self._join(header["bots"])

    @property
    def contest(self) -> Contest:
        return self.roster.contest

    @property
    def matches(self) -> int:
        """Complete matches of the bots that are ahead: bots that joined later may have fewer."""
        return self.roster.matches

    @property
    def seat_names(self) -> list[str]:
        """Names by bot number, with those of house players at the end, as their numbers are negative."""
        return [*self.names, *house_names(self.contest.against)]

    def add(self, record: Mapping[str, Any]) -> None:
        self.roster.add(record)
        match record["record"]:
            case "match":
                self._match(record)
            case "change":
                self._change(record)
            case "end":
                if record["reason"] not in ("decided", "matches", "time"):
                    raise ValueError(f"the reason of an end is not known: {record['reason']!r}")
                self.end = dict(record)
            case "retire":
                after = f"after match {self.roster.retired[record['bot']]}"
                self.scores[record["bot"]].retired = f"{after}: {printable(str(record['reason']))}"
            case "close":
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

    def _change(self, record: Mapping[str, Any]) -> None:
        self.end = None
        joining = {printable(str(bot["name"])) for bot in record["join"]}
        for bot, name in enumerate(self.names):
            if name in joining:  # it is replaced now, or has left before
                self.names[bot] = f"{name} v{self.roster.versions[bot]}"
        self._join(record["join"])

    def _match(self, record: Mapping[str, Any]) -> None:
        series, totals = self.roster.series[record.get("own")], defaultdict[int, Total](Total)
        for played in record["rounds"]:
            self.rounds += 1
            self._add_round(played, totals)
        luck = dict(zip(series.bots, record.get("luck", ()), strict=False))
        for bot, total in totals.items():
            # Sums of whole numbers do not depend on the order, so two bots that played the same differ by exactly 0.
            total.adjusted = MICRO * total.net - sum(round(MICRO * part) for part in luck.get(bot, ()))
            self._count(self.scores[bot], total)
        if series.played % self.roster.batch_size == 0:
            for bot in series.bots:
                if bot not in self.roster.left:  # nor in the middle of the batch
                    self._finish_batch(bot)

    def _add_round(self, record: Mapping[str, Any], totals: dict[int, Total]) -> None:
        faults = [fault for fault in record.get("faults", ()) if fault["bot"] >= 0]
        failed = {(fault["bot"], fault["move"]) for fault in faults}
        moves_of = record.get("moves") or [()] * len(record["seats"])
        for bot, net, moves in zip(record["seats"], record["net"], moves_of, strict=True):
            if bot >= 0:
                total = totals[bot]
                total.net += net
                total.hands += 1
                # Without strikes left a bot is not asked, so those moves are not its own.
                if not total.answered and moves and total.faults.total() < self.contest.strikes:
                    first = self._first_asked(bot, record)
                    total.answered = len(moves) > first and (bot, first) not in failed
        for fault in faults:
            totals[fault["bot"]].faults[fault["kind"]] += 1

    def _first_asked(self, bot: int, record: Mapping[str, Any]) -> int:
        """The first move of a round that a bot is asked for: not those for which its protocol has no words."""
        rules, about = self.contest.rules, self.bots[bot]
        if not (rules.attack or rules.insurance) or about["language"] == "in process":
            return 0
        up = record["cards"][rules.deal.index("d") * len(record["seats"]) * rules.bets]
        return rules.attack + (rules.insurance and up == "A" and about["protocol"] == "argv")  # as `can_ask`

    def _count(self, score: Score, total: Total) -> None:
        chips, strikes = self.contest.rules.chips + total.net, self.contest.strikes
        out = total.faults.total() >= strikes and not total.answered
        score.matches += 1
        score.total += chips
        score.hands += total.hands
        score.idle = score.idle + 1 if out else 0
        score.broke += chips < self.contest.rules.buy_in
        score.faults += total.faults
        score.answered = score.answered or total.answered
        score.batch.net += total.net
        score.batch.hands += total.hands
        score.batch.adjusted += total.adjusted
        if self.contest.scored_by == "log":
            score.batch.points += round(MICRO * LOG_UNIT * math.log1p(chips))
        else:
            score.batch.points += total.adjusted if self.contest.scored_by == "luck-adjusted" else MICRO * total.net

    def _finish_batch(self, bot: int) -> None:
        score, matches = self.scores[bot], self.roster.batch_size
        total, score.batch = score.batch, Total()
        points, adjusted = total.points / MICRO, total.adjusted / MICRO
        score.chips += Ratio.one(total.net, matches)
        score.points += Ratio.one(points, matches)
        score.raw += Ratio.one(total.net, total.hands)
        if self.luck_adjusted:
            score.adjusted += Ratio.one(adjusted, total.hands)
        score.history.append(points / matches)
        batches = score.points.n
        if batches & (batches - 1) == 0 or batches % max(1, self.contest.matches // 50) == 0:
            score.means[score.matches] = self.mean_score(bot)

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
        return score.total / score.matches if score.matches else float(self.contest.rules.chips)

    def mean_score(self, bot: int) -> float:
        """What ranks a bot, in chips: the initial ones before the first batch."""
        points = self.scores[bot].points
        return self._in_chips(points.mean) if points.n else float(self.contest.rules.chips)

    def _in_chips(self, points: float) -> float:
        """The chips that a mean of points stands for: of logarithms those that have it, but 0 or more."""
        if self.contest.scored_by == "log":
            return max(0.0, math.expm1(points / LOG_UNIT))
        return self.contest.rules.chips + points

    def order(self) -> list[int]:
        """The bots that take part by rank, equal ones in the order of the journal.

        Bots without a result come after them, and bots that cannot be started come last.
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
        counts = sorted({count for score in self.scores for count in score.means})
        means = [float(self.contest.rules.chips)] * len(self.names)
        found = []
        for count in counts:
            means = [score.means.get(count, before) for score, before in zip(self.scores, means, strict=True)]
            found.append((count, means))
        return found
