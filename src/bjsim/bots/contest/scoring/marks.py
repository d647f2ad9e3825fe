"""Marks for a course: thresholds of the luck-adjusted score, with what the interval says about each mark."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from typing import NamedTuple

from bjsim.bots.contest.config import parse_marks
from bjsim.bots.contest.scoring.standings import Standings

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
