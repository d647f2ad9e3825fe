"""Counts of matches and batches in progress: open tables, and the totals of a series."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

from bjsim.bots.contest.scoring.score import BatchTotal, Score


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
