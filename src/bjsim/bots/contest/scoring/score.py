"""The parts of the standings: a bot's score, its row, and the difference between two bots."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field

from bjsim.bots.contest.scoring.moments import Ratio, RunningMoments

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
    """The lead of bot `one` over bot `other` in what ranks them, per match.

    Attributes:
        interval: Valid at all times and for all pairs together; None from too few batches.
        missing: Matches that would still separate them if their results went on as before; None if not known.
        e_value: The evidence that they are not equally good, if the pair was named before the contest; those of
            several contests may then be multiplied.
        effect: The mean difference per hand, in standard deviations of the profit of a hand; None if it is not
            known. Without luck adjustment about 8 / effect^2 hands of each show it (95%).
    """

    one: int
    other: int
    batches: int
    mean: float
    interval: tuple[float, float] | None
    missing: int | None = None
    e_value: float = 1.0
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
