"""Marks for a course: thresholds of the luck-adjusted score, with what the interval says about each mark."""

from __future__ import annotations

from bisect import bisect_right
from typing import NamedTuple

from bjsim.bots.contest.config import parse_marks
from bjsim.bots.contest.scoring.standings import Standings

NONE = "-"  # the mark below all thresholds
DIGITS = 6


class Mark(NamedTuple):
    """The mark of a bot, `-` below all thresholds, and "" without a rank.

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

    @property
    def sure(self) -> bool:
        """Whether the whole interval has the same mark."""
        return bool(self.lowest) and self.lowest == self.highest


def make_marks(standings: Standings) -> list[Mark]:
    """The marks of the bots, best score first, unranked last."""
    thresholds = parse_marks(standings.contest.marks)
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
