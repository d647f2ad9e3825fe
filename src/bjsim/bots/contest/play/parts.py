"""Parts of a contest: some of its matches, played by a volunteer, in a file that the host verifies before it counts.

A part is a journal of its own: a header, and the rounds in the order of the schedule. The seed gives every card, so all
that a volunteer could make up is what the bots answered; `second_answers` asks them again.
"""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from bjsim.bots.contest.config import Contest
from bjsim.bots.contest.luck.draw_log import DrawLog, DrawLogger
from bjsim.bots.contest.luck.state_index import StateIndex
from bjsim.bots.contest.play.journal import JournalError, check_header, read_lines
from bjsim.bots.contest.play.logs import BotLog
from bjsim.bots.contest.play.match import Record, ReplayMismatch, TableDealer, replay_round
from bjsim.bots.contest.play.workers import Times
from bjsim.bots.contest.schedule.roster import Owner, Roster
from bjsim.bots.contest.schedule.seating import TablePlan
from bjsim.errors import InputError

Key = tuple[Owner, int, int]  # a table: its series, its match, its number in it
NEEDED = ("record", "match", "table", "shoe", "session", "hand", "seats", "chips", "cards", "net", "moves")
OPTIONAL = ("own", "faults", "notes")
FAULT = {"bot", "place", "move", "kind", "detail", "argv", "stdout", "stderr"}


class PartError(InputError):
    """A part is of another contest, incomplete or forged. The message names its file."""


@dataclass(frozen=True)
class ContestPart:
    """A part. Its header has the first and the last match in `part`; tables are in the order of the schedule."""

    path: Path
    header: Mapping[str, Any]
    rounds: Mapping[Key, Sequence[Record]]

    @property
    def matches(self) -> tuple[int, int]:
        """The first and the last match, from 1, as in the settings: in a duplicate contest each is several."""
        first, last = self.header["part"]
        return int(first), int(last)

    @staticmethod
    def read(path: Path) -> ContestPart:
        """Read a part; an incomplete last line is ignored. Raises: InputError."""
        records = [record for record, _, _ in read_lines(path)]
        try:
            header, rounds = records[0], defaultdict[Key, list[Record]](list)
            check_header(path, header)
            first, last = header["part"]
            if not 1 <= first <= last <= Contest.from_dict(header["contest"]).matches:
                raise ValueError("there are no such matches")
            for record in records[1:]:
                if record["record"] != "round" or set(record) - {*NEEDED, *OPTIONAL} or set(NEEDED) - set(record):
                    raise ValueError("a record is no round")
                rounds[record.get("own"), record["match"], record["table"]].append(record)
        except (LookupError, TypeError, ValueError):
            raise JournalError(f"{path} is not a part of a contest; bjsim koth play --part writes parts") from None
        return ContestPart(path, header, rounds)

    def tables(self) -> Iterator[TablePlan]:
        return tables(Roster(self.header), *self.matches)

    def check(self, header: Mapping[str, Any]) -> None:
        """Replay every round: cards from the seed, bets, chips and payoffs. The bots are not asked."""
        ours, theirs = _identity(header), _identity(self.header)
        if other := [name for name in ours if ours[name] != theirs.get(name)]:
            raise PartError(f"{self.path} is of another contest (different: {', '.join(other)})")
        contest, plans = Contest.from_dict(header["contest"]), [*self.tables()]
        try:
            if [*self.rounds] != [(plan.own, plan.match, plan.table) for plan in plans]:
                raise ReplayMismatch(self._misplaced(plans))
            for plan, rounds in zip(plans, self.rounds.values(), strict=True):
                dealer, where = TableDealer(contest, plan, None), f"match {plan.match + 1}, table {plan.table + 1}"
                for record in rounds:
                    if dealer.over:
                        raise ReplayMismatch(f"{where} goes on after its end")
                    if not _possible_faults(plan, dealer, record):
                        raise ReplayMismatch(f"{where} has an impossible fault")
                    for _ in replay_round(dealer, record):
                        pass
                if not dealer.over:
                    raise ReplayMismatch(f"{where} stops before its end")
        except (InputError, ReplayMismatch, ArithmeticError, LookupError, TypeError, ValueError) as error:
            raise PartError(f"{self.path} is refused: {error}") from None

    def _misplaced(self, plans: Sequence[TablePlan]) -> str:
        for plan, key in zip(plans, [*self.rounds, *[None] * len(plans)], strict=False):
            if key != (plan.own, plan.match, plan.table):
                return f"match {plan.match + 1}, table {plan.table + 1} is missing or out of place"
        return "it has other matches than it says"


def _identity(header: Mapping[str, Any]) -> dict[str, Any]:
    bots = {"bots": [[bot["name"], bot["sha256"]] for bot in header["bots"]]}
    return {**header["contest"], **bots, "luck": header["luck"], "bjsim": header["bjsim"]}


def _possible_faults(plan: TablePlan, dealer: TableDealer, record: Record) -> bool:
    """Whether each fault belongs to a stand of a bot that had strikes left, which the replay does not look at."""
    counted = Counter[int]()
    for fault in record.get("faults", ()):
        place, number = fault["place"], fault["move"]
        moves = record["moves"][dealer.paying.index(place)]
        counted[place] += 1
        stands = number == len(moves) if fault["kind"] == "move-cap" else moves[number] == "S"
        strikes = dealer.strikes[place] - counted[place]
        if set(fault) != FAULT or fault["bot"] != plan.bots[place] or not stands or strikes < 0:
            return False
    return True


def tables(roster: Roster, first: int, last: int) -> Iterator[TablePlan]:
    """The tables of the matches `first` (from 1) to `last` of a contest that has not begun, as scheduled."""
    size = roster.batch_size
    for match in roster.upcoming():
        if (first - 1) * size <= match[0].match < last * size:
            yield from match


class PartRounds:
    """The rounds of verified parts, in place of `Workers`: the host takes them in the order of the schedule.

    `index` is None where luck is not computed; `done` returns a table's records that have been counted already.
    """

    def __init__(
        self,
        contest: Contest,
        parts: Sequence[ContestPart],
        index: StateIndex | None,
        done: Callable[[TablePlan], list[Record]],
    ) -> None:
        self.contest, self.index, self.done = contest, index, done
        self.rounds = {key: rounds for part in parts for key, rounds in part.rounds.items()}
        self.draw_log: DrawLog | None = None
        self.logs: list[BotLog] = []

    def tables(self, plans: Iterator[TablePlan]) -> Iterator[tuple[TablePlan, Iterator[tuple[Record, Times]]]]:
        """See `Workers.tables`. It ends at the first table that no part has."""
        for plan in plans:
            key = (plan.own, plan.match, plan.table)
            if key not in self.rounds:
                return
            yield plan, self._take_rounds(plan, self.rounds[key])

    def _take_rounds(self, plan: TablePlan, rounds: Sequence[Record]) -> Iterator[tuple[Record, Times]]:
        done = self.done(plan)
        logger = DrawLogger(self.contest.rules, self.index) if self.index else None
        dealer = TableDealer(self.contest, plan, logger)
        for number, record in enumerate([*done, *rounds[len(done) :]]):
            for _ in replay_round(dealer, record):
                pass
            if number >= len(done):
                yield record, []
        self.draw_log = logger.draw_log() if logger else None


def disjoint(parts: Sequence[ContestPart]) -> None:
    """Check that no match is in two parts. Raises: PartError, which names both."""
    ordered = sorted(parts, key=lambda part: part.matches)
    for one, two in pairwise(ordered):
        if two.matches[0] <= one.matches[1]:
            raise PartError(f"{os.fspath(one.path)} and {os.fspath(two.path)} both have match {two.matches[0]}")
