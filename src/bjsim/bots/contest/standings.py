"""The standings of a contest: ranks, intervals and differences, computed from its journal alone.

One score ranks the bots (`Contest.scored_by`) and separates any two of them, see `differences`. By the luck-adjusted
score, bots that are broke at the end of half of their matches rank behind the others: their mean is that of a lottery.
"""

from __future__ import annotations

import math
import time
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bjsim.arguments import names_wrong_types
from bjsim.bots.contest.config import parse_marks
from bjsim.bots.contest.contest_tally import BotDifference, ContestTally, Score, StandingsRow
from bjsim.bots.contest.differences import MIN_BATCHES, Differences
from bjsim.errors import InputError
from bjsim.report.data import data_frame, html_table
from bjsim.sim.stats.estimate import Z95

if TYPE_CHECKING:
    import pandas


# --- Marks for a course: thresholds of the luck-adjusted score, with what the interval says about each mark.


NONE = "-"  # the mark below all thresholds
DIGITS = 6


class Mark(NamedTuple):
    """The mark of a bot, `-` below all thresholds, and "" without a rank, for which there is a `reason`.

    `score` is the luck-adjusted profit in chips per hand (else the profit), `low` and `high` are its 95% interval,
    None while there are too few matches, and `lowest` and `highest` the marks of these.
    """

    bot: str
    version: int
    matches: int
    score: float | None
    low: float | None
    high: float | None
    mark: str
    lowest: str
    highest: str
    reason: str = ""

    @property
    def sure(self) -> bool:
        """Whether the whole interval has the same mark."""
        return bool(self.lowest) and self.lowest == self.highest


def make_marks(standings: Standings, faults: Mapping[int, str] | None = None) -> list[Mark]:
    """The marks of the bots, best score first, unranked and students without a bot last. faults: the first by bot."""
    thresholds = parse_marks(standings.contest.marks)
    limits, names = [limit for limit, _ in thresholds], [NONE, *(name for _, name in thresholds)]

    def mark(score: float) -> str:
        return names[bisect_right(limits, score)]

    found = []
    for row in standings.rows():
        ratio = row.score.adjusted if standings.luck_adjusted else row.score.raw
        about = (row.name, row.version, row.score.matches)
        if row.rank is None or not ratio.n:
            reason = (faults or {}).get(row.bot) or row.score.retired or "not played yet"
            found.append(Mark(*about, None, None, None, "", "", "", reason))
            continue
        low, high = (round(end, DIGITS) for end in ratio.student95) if ratio.student95 else (None, None)
        ends = ("", "") if low is None or high is None else (mark(low), mark(high))
        score = round(ratio.mean, DIGITS)
        found.append(Mark(*about, score, low, high, mark(score), *ends))
    found += [Mark(name, 1, 0, None, None, None, "", "", "", why) for name, why in standings.left_out.items()]
    return sorted(found, key=lambda each: (each.score is None, -(each.score or 0)))


@names_wrong_types
class Standings(ContestTally):
    """The standings of a contest.

    Args:
        header: The header of the journal; every other record is then passed to `add` in order.

    Raises:
        InputError: It is no header.
    """

    def __init__(self, header: Mapping[str, Any]) -> None:
        if not header.keys() >= {"contest", "bots"}:
            raise InputError("header: it has no contest and no bots; give the first record of a journal")
        super().__init__(header)
        self._rows: list[StandingsRow] = []  # cached until they change
        self._differences: Differences | None = None

    def add(self, record: Mapping[str, Any]) -> None:
        """Count the next record.

        Args:
            record: The record.
        """
        super().add(record)
        if record["record"] in ("match", "change", "retire"):
            self._rows, self._differences = [], None

    @property
    def differences(self) -> Differences:
        """The differences of all pairs of bots."""
        if self._differences is None:
            alone = np.array([series.own is not None for series in self.roster.series_of])
            same_cards = alone[:, None] & alone if self.roster.tables > 1 else np.ones((len(alone), len(alone)), bool)
            self._differences = Differences(
                self._history, same_cards, self.roster.present, self.planned, self.optimal_n
            )
        return self._differences

    def difference(self, one: int, other: int) -> BotDifference:
        """The lead of one bot over another.

        Args:
            one: Number of the first bot.
            other: Number of the second bot.

        Returns:
            The difference.
        """
        found, at = self.differences, (one, other)
        low, high = float(found.low[at]), float(found.high[at])
        batches, wanted = int(found.batches[at]), None
        if not found.separated[at]:
            wanted = found.batches_to_separate(one, other)
        return BotDifference(
            one,
            other,
            batches,
            float(found.mean[at]),
            (low, high) if math.isfinite(high - low) else None,
            (wanted - batches) * self.batch_size if wanted else None,
            found.e_value(one, other),
            self._effect(one, other, float(found.mean[at])),
        )

    def _effect(self, one: int, other: int, lead: float) -> float | None:
        """The lead of a bot per hand, in standard deviations of a hand. lead: per match; None of logarithms."""
        if self.contest.scored_by == "log":
            return None
        scores = self.scores[one], self.scores[other]
        sd = math.sqrt(sum(score.raw.se**2 * score.raw.b for score in scores) / 2)  # of a hand, from that of batches
        per_match = sum(score.hands for score in scores) / max(1, sum(score.matches for score in scores))
        return lead / per_match / sd if sd and per_match else None

    @property
    def decided(self) -> bool:
        """Whether the leader is ahead of every other bot that can have a rank."""
        leader, *others = self.rivals or [0]
        enough = bool(self.rivals) and self.scores[leader].points.n >= MIN_BATCHES
        return enough and bool((self.differences.low[leader, others] > 0).all())

    def reason_to_end(self, began: float) -> str:
        """Why the contest ends now.

        Args:
            began: When play began, by `time.monotonic`.

        Returns:
            `decided`, `matches` or `time`; "" if it continues.
        """
        if self.contest.until == "decided" and (self.decided or not self.rivals):
            return "decided"
        if self.roster.finished:
            return "matches"
        return "time" if time.monotonic() - began >= self.contest.seconds else ""

    @property
    def over(self) -> str:
        """Why no match is left to play, as `reason_to_end`, also where a stop kept that from being recorded."""
        return str(self.end["reason"]) if self.end else self.reason_to_end(time.monotonic())

    def rows(self) -> list[StandingsRow]:
        """The rows of the standings. They change at the end of a match.

        Returns:
            A row for each bot, best first.
        """
        if self._rows:
            return self._rows
        order, ranked, rank = self.order(), self.ranked, 0
        first = len([bot for bot in self.rivals if bot in ranked])
        names = np.array([self.names[bot] for bot in ranked], object)
        ruined = np.array([self.ruined(bot) for bot in ranked], bool)  # who is apart from the others by that alone
        together = ~self.differences.separated[np.ix_(ranked, ranked)] & (ruined[:, None] == ruined)
        ranges = self.differences.rank_ranges(ranked[:first])
        ranges += [(first + best, first + worst) for best, worst in self.differences.rank_ranges(ranked[first:])]
        for index, bot in enumerate(order):
            if index in (0, first) or self.mean_score(bot) != self._rows[-1].points:
                rank = index + 1
            if index < len(ranked):  # the others come last
                together[index, index] = False
                # Bots that joined later have played fewer matches, and are compared over those only.
                range_ = min(rank, ranges[index][0]), max(rank, ranges[index][1])
                self._rows.append(self._row(bot, rank, tuple(names[together[index]]), range_, order[0]))
            else:
                self._rows.append(self._row(bot, None))
        return self._rows

    def authors(self) -> list[tuple[str, StandingsRow, int]]:
        """The best bot of every author who is named.

        Returns:
            Authors with their best bot and the number of their bots, those with the best bots first.
        """
        by_author: dict[str, list[StandingsRow]] = {}
        for row in self.rows():
            if row.author:
                by_author.setdefault(row.author, []).append(row)
        return [(author, rows[0], len(rows)) for author, rows in by_author.items()]

    def __repr__(self) -> str:
        leader = f", {self.names[self.order()[0]]} leads" if self.matches else ""
        return f"Standings({len(self.roster.present)} bots, {self.matches} of {self.roster.total} matches{leader})"

    def _repr_html_(self) -> str:
        table = self._columns()
        return html_table([*table], zip(*table.values(), strict=True), repr(self))

    def to_frame(self) -> pandas.DataFrame:
        """The standings as a data frame.

        Returns:
            A row for each bot, best first: rank, the ranks that it may deserve, bot, matches, score and chips per
            match, luck-adjusted chips per hand with its 95% interval, and the bots that it is not separated from.

        Raises:
            InputError: If pandas is not installed.
        """
        return data_frame(self._columns())

    def _columns(self) -> dict[str, list[Any]]:
        rows = self.rows()
        adjusted = [row.score.adjusted if row.score.adjusted.n else None for row in rows]
        return {
            "rank": [row.rank for row in rows],
            "rank between": [row.rank_range for row in rows],
            "bot": [row.name for row in rows],
            "matches": [row.score.matches for row in rows],
            "score": [round(row.points, 2) for row in rows],
            "chips": [round(row.chips, 2) for row in rows],
            "luck-adjusted": [ratio and round(ratio.mean, 4) for ratio in adjusted],
            "95% interval": [
                ratio and ratio.student95 and tuple(round(end, 4) for end in ratio.student95) for ratio in adjusted
            ],
            "not separated from": [", ".join(row.tied_with) for row in rows],
        }

    def former(self) -> list[StandingsRow]:
        """The rows of the bots that have left.

        Returns:
            A row for each, not ranked, in the order of the journal.
        """
        return [self._row(bot, None) for bot in sorted(self.roster.left)]

    def _row(
        self,
        bot: int,
        rank: int | None,
        ties: tuple[str, ...] = (),
        ranks: tuple[int, int] | None = None,
        leader: int | None = None,
    ) -> StandingsRow:
        score, roster = self.scores[bot], self.roster
        effect = None
        if leader is not None and leader != bot:
            effect = self._effect(bot, leader, float(self.differences.mean[bot, leader]))
        name, chips, interval = self.names[bot], self.mean_chips(bot), self._chips_ci95(score)
        points, ends = self.mean_score(bot), score.points.student95
        if self.contest.scored_by == "chips":
            points_ci95 = interval
        else:
            points_ci95 = ends and (self._in_chips(ends[0]), self._in_chips(ends[1]))
        version, age, left = roster.versions[bot], roster.age(bot), roster.left.get(bot, "")
        author = self.bots[bot].get("author", "")
        return StandingsRow(
            rank, bot, name, chips, interval, points, points_ci95, score, ties, ranks, version, age, left,
            effect, author,
        )  # fmt: skip

    def _chips_ci95(self, score: Score) -> tuple[float, float] | None:
        """The interval of a bot's chips, which are 0 or more with raises; without, bots double and split on credit."""
        if (won := score.chips.student95) is None:
            return None
        low, high = (self.contest.rules.chips + end for end in won)
        return (max(0.0, low) if self.contest.rules.raises else low), high


# --- Comparisons of bots in words and numbers: who leads, by how much, and which bots are not separated yet.


HANDS_FOR_ONE_SD = 2 * Z95**2  # of each of two bots, to see a difference of one standard deviation of a hand
COMPARED = 10  # bots that are compared with each other; the page of a bot compares it with all others


def describe_lead(standings: Standings) -> str:
    """Who wins, or what a decision would take, as a clause without a full stop. It is about ranked bots only."""
    if not standings.rivals:
        return "no bot can be ranked: none answers"
    leader, *rivals = standings.rivals
    name = standings.names[leader]
    if len(standings.ranked) == 1 and not rivals:
        return f"{name} is the only bot with a rank"
    differences = [standings.difference(leader, rival) for rival in rivals]
    if any(difference.batches < MIN_BATCHES for difference in differences):
        return f"not decided: bots are compared from {MIN_BATCHES * standings.batch_size} matches on"
    if close := [difference for difference in differences if not difference.separated]:
        text = f"not decided: {name} leads, but is not separated from {_names(standings, close)}{_more(close)}"
    else:
        text = f"{name} is ahead of every other bot (95%)"
    richest = max(standings.ranked, key=standings.mean_chips)
    score = standings.scores[richest]
    if score.ruined and not standings.scores[leader].ruined:
        broke = f"{score.broke:,} of {score.matches:,}"
        return f"{text}; {standings.names[richest]} holds the most chips, but broke in {broke} matches"
    if standings.contest.scored_by == "luck-adjusted" and standings.difference(leader, richest).separated:
        return f"{text}; {standings.names[richest]} holds the most chips, but by luck"
    return text


def describe_end(standings: Standings) -> str:
    """Why the contest has ended, as a clause; "" if it has not."""
    decided = "the leader is ahead of all others" if standings.decided else "no bot answers"
    reasons = {"matches": "all matches have been played", "decided": decided, "time": "the time limit was reached"}
    return reasons.get(standings.over, "")


def describe_effect(standings: Standings) -> str:
    """The lead of the first bot over the second per hand, and the hands that it takes, as a clause; "" if unknown."""
    first, second = [*standings.rivals, None, None][:2]
    if second is None or first is None:
        return ""
    found = standings.difference(first, second)
    if found.batches < MIN_BATCHES or not found.effect:
        return ""
    names = f"{standings.names[first]} and {standings.names[second]}"
    hands = HANDS_FOR_ONE_SD / found.effect**2
    return (
        f"{names}: the lead per hand is {found.effect:+.3f} sd of a hand, which about {float(f'{hands:.2g}'):,.0f} "
        "hands of each would show without luck adjustment"
    )


def format_e(value: float) -> str:
    return f"{value:.2g}" if value < 10 else f"{value:,.0f}" if value < 1e6 else f"{value:.0e}"


def describe_authors(standings: Standings) -> str:
    """The best bot of every author, as a clause without a full stop; "" if no author is named."""
    best = [
        f"{author}: {row.name}{f' (rank {row.rank}, of {count} bots)' if row.rank else ''}"
        for author, row, count in standings.authors()
    ]
    return f"the best bot of each author: {'; '.join(best)}" if best else ""


def _names(standings: Standings, differences: Sequence[BotDifference]) -> str:
    names = [standings.names[difference.other] for difference in differences]
    return f"{', '.join(names[:3])} and {len(names) - 3} others" if len(names) > 4 else ", ".join(names)


def _more(close: Sequence[BotDifference]) -> str:
    missing = [difference.missing for difference in close]
    known = [matches for matches in missing if matches]
    if len(known) < len(missing):
        return "; no number of matches is in sight that would separate them"
    return f"; about {max(known):,} more matches would separate them"
