"""The rounds and faults that the pages show, collected record by record."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from heapq import nlargest
from typing import Any

from bjsim.bots.contest.config import MAX_COUNT, Contest
from bjsim.bots.contest.report.mistakes import MistakeLog

SWINGS = 12  # replays of the rounds with the largest swings
LAST = 500  # replays of the last match; with four bots they take 1 MB
BOT_SWINGS = 6  # the same on the page of a bot
BOT_LAST = 50
FAULTS = 5  # different faults of a kind shown for each bot

Swings = list[tuple[int, int, dict[str, Any]]]  # (swing in chips, -number, record), largest first


@dataclass
class FaultGroup:
    """The faults of one kind of one bot; `shown` has the first FAULTS with different details."""

    bot: int
    kind: str
    count: int = 0
    shown: list[dict[str, Any]] = field(default_factory=list)

    def add(self, fault: Mapping[str, Any], record: Mapping[str, Any]) -> None:
        self.count += 1
        same = next((each for each in self.shown if each["detail"] == fault["detail"]), None)
        if same:
            same["count"] += 1
        elif len(self.shown) < FAULTS:
            self.shown.append({**fault, "round": record, "count": 1})


@dataclass
class BotHands:
    """The rounds on the page of a bot.

    Attributes:
        match: Number of its last match, -1 before the first; `last` has its first BOT_LAST records.
        swings: (swing in chips, -number, record) of the rounds with its largest wins and losses.
        raises: Whether it has ever raised its stake: the swings of others are just their first hands.
    """

    match: int = -1
    raises: bool = False
    last: list[dict[str, Any]] = field(default_factory=list)
    swings: Swings = field(default_factory=list)


class PageData:
    """The data of the pages that the standings do not have. Pass every record to `add`, as to the standings.

    `match` is the number of the last match, -1 before the first; `last` has its first LAST records, and `own` is
    the bot whose own match it is, or None. `swings` has (swing in chips, -number, record) of the largest.
    """

    def __init__(self, contest: Contest) -> None:
        self.mistakes = MistakeLog(contest)
        self.last: list[dict[str, Any]] = []
        self.swings: Swings = []
        self.hands: dict[int, BotHands] = {}
        self.faults: dict[tuple[int, str], FaultGroup] = {}
        self.match = -1
        self.own: int | None = None
        self.rounds = 0
        self._number = 0
        self._changed = False  # whether bots have changed since the last round
        self._spent: Counter[int] = Counter()  # strikes in the last match, by bot
        self._retired: Counter[int] = Counter()  # the same of bots that have retired, which have no strikes left

    def add(self, record: Mapping[str, Any]) -> None:
        if record["record"] == "change":
            self._changed = True
        elif record["record"] == "retire":
            self._retired[record["bot"]] = MAX_COUNT
        if record["record"] != "round":
            return
        self._number += 1
        if (record["match"], record.get("own")) != (self.match, self.own) or self._changed:
            self._changed = False  # a match may be played again without a bot that has left
            self.match, self.own, self.rounds, self.last = record["match"], record.get("own"), 0, []
            self._spent = self._retired.copy()
        self.rounds += 1
        kept = {**record, "spent": dict(self._spent)}  # a bot without strikes left is not asked
        if len(self.last) < LAST:
            self.last.append(kept)
        self.mistakes.add(kept)
        self.swings = self._with(self.swings, max(map(abs, record["net"])), kept, SWINGS)
        for bot, net, moves in zip(record["seats"], record["net"], record["moves"], strict=True):
            hands = self.hands.setdefault(bot, BotHands())
            if hands.match != self.match or record["session"] == record["hand"] == 0:
                hands.match, hands.last = self.match, []
            if len(hands.last) < BOT_LAST:
                hands.last.append(kept)
            hands.raises = hands.raises or any(move[0] == "B" for move in moves)
            hands.swings = self._with(hands.swings, abs(net), kept, BOT_SWINGS)
        for fault in record.get("faults", ()):
            self._spent[fault["bot"]] += 1
            key = fault["bot"], fault["kind"]
            self.faults.setdefault(key, FaultGroup(*key)).add(fault, kept)

    def _with(self, swings: Swings, swing: int, record: dict[str, Any], count: int) -> Swings:
        if len(swings) == count and swing <= swings[-1][0]:
            return swings
        return nlargest(count, [*swings, (swing, -self._number, record)], key=lambda each: each[:2])
