"""Marks for a course: thresholds of the luck-adjusted score, with what the interval says about each mark."""

from __future__ import annotations

from bisect import bisect_right
from typing import NamedTuple

from bjsim.bots.contest.config import parse_marks
from bjsim.bots.contest.scoring.standings import Standings

NONE = "-"  # the mark below all thresholds
DIGITS = 6


class Mark(NamedTuple):
    """The mark of a bot.

    Attributes:
        bot: Its name.
        version: Number of its version.
        matches: Matches that it has played.
        score: Luck-adjusted profit in chips per hand; without luck adjustment the profit.
        low: Lower end of its 95% interval; None while there are too few matches.
        high: Upper end.
        mark: The mark of the score; `-` below all thresholds, and "" for a bot without a rank.
        lowest: The mark of the lower end.
        highest: The mark of the upper end.
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

    @property
    def sure(self) -> bool:
        """Whether the whole interval has the same mark."""
        return bool(self.lowest) and self.lowest == self.highest


def make_marks(standings: Standings, text: str = "") -> list[Mark]:
    """The marks of the bots, best score first.

    Args:
        standings: The standings.
        text: Thresholds, as `parse_marks` accepts them; by default those of the contest.

    Returns:
        A mark for each bot; those without a rank come last.

    Raises:
        ConfigError: The thresholds are not accepted.
    """
    thresholds = parse_marks(text or standings.contest.marks)
    limits, names = [limit for limit, _ in thresholds], [NONE, *(name for _, name in thresholds)]

    def mark(score: float) -> str:
        return names[bisect_right(limits, score)]

    found = []
    for row in standings.rows():
        ratio = row.score.adjusted if standings.luck_adjusted else row.score.raw
        about = (row.name, row.version, row.score.matches)
        if row.rank is None or not ratio.n:
            found.append(Mark(*about, None, None, None, "", "", ""))
            continue
        low, high = (round(end, DIGITS) for end in ratio.student95) if ratio.student95 else (None, None)
        ends = ("", "") if low is None or high is None else (mark(low), mark(high))
        score = round(ratio.mean, DIGITS)
        found.append(Mark(*about, score, low, high, mark(score), *ends))
    return sorted(found, key=lambda each: (each.score is None, -(each.score or 0)))
