"""The roster of a contest: who takes part at a point of its journal, and how far each series of matches is.

The bots of the header are the founders; they share tables and play one series of matches. A bot that joins later plays
a series of its own: in match k it is dealt the shoe of a table of the founders' match k, in a seat that rotates, beside
house players. A series depends on the settings, on its own bots and on the house players only. So an addition changes
nothing for the others, and the results of a bot do not depend on when it joined. In a contest `against` house bots
every bot has its own series.

A bot leaves between two matches. A house player takes its seat at the founders' tables; an unfinished match of its
series is void and played again. A new version of a bot is a new bot, with the same name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from bjsim.bots.contest.config import HOUSE, Contest
from bjsim.bots.contest.schedule.seating import TablePlan, own_table, schedule, table_shape

Owner = int | None  # of a series: a bot, or None for the founders
DROPPED, REPLACED = "dropped", "replaced"


class Roster:
    """Who takes part in a contest. Pass every record of the journal to `add`, after the header.

    Attributes:
        bots: The bots as in the journal, with those that have left.
        joined: For each bot the matches that the contest had played when it joined; `left_at` when it left.
        left: Why a bot has left, by its number: DROPPED or REPLACED.
        retired: The matches of its series that a bot had played when it retired. It is not asked in the others.
        played: Complete matches of each series.
        fewest: The number of bots that must take part.
        founders: Number of bots that share tables.
        tables: Number of tables in a match of the founders.
        batch_size: Matches that share their shoes.
    """

    def __init__(self, header: Mapping[str, Any]) -> None:
        self.contest = Contest.from_dict(header["contest"])
        self.bots: list[Mapping[str, Any]] = []
        self.versions: list[int] = []
        self.joined: list[int] = []
        self.left: dict[int, str] = {}
        self.retired: dict[int, int] = {}
        self.left_at: dict[int, int] = {}
        self.played: dict[Owner, int] = {}
        against = self.contest.against
        self.fewest = 1 if against else 2
        self.founders = 0 if against else len(header["bots"])
        if against:
            self.tables, self.size = 1, self.contest.own_table_size
        else:
            self.tables, self.size = table_shape(self.founders, bool(self.contest.house))
        self.batch_size = self.size if self.contest.duplicate else 1
        for bot in header["bots"]:
            self._join(bot)

    def _join(self, bot: Mapping[str, Any]) -> None:
        self.played.setdefault(self.owner(len(self.bots)), 0)
        self.joined.append(self.matches)
        self.bots.append(bot)
        self.versions.append(int(bot.get("version", 1)))

    def owner(self, bot: int) -> Owner:
        return None if bot < self.founders else bot

    @property
    def matches(self) -> int:
        """Complete matches of the series that is ahead."""
        return max(self.played.values(), default=0)

    @property
    def present(self) -> list[int]:
        """The bots that take part."""
        return [bot for bot in range(len(self.bots)) if bot not in self.left]

    def age(self, bot: int) -> int:
        """Matches that the contest has played since a bot joined, until it left."""
        return self.left_at.get(bot, self.matches) - self.joined[bot]

    def find(self, name: str) -> int | None:
        """The number of the bot of this name that takes part."""
        return next((bot for bot in self.present if self.bots[bot]["name"] == name), None)

    @property
    def total(self) -> int:
        """Matches of each series at the end: in a duplicate contest every match of the settings is one per seat."""
        return self.contest.matches * self.batch_size

    @property
    def finished(self) -> bool:
        return all(self.played[owner] >= self.total for owner in self.series())

    def series(self) -> list[Owner]:
        """The owners of the series that are played, the founders first."""
        return list(dict.fromkeys(self.owner(bot) for bot in self.present))

    def add(self, record: Mapping[str, Any]) -> None:
        if record["record"] == "match":
            self.played[record.get("own")] += 1
        elif record["record"] == "retire":
            self.retired[record["bot"]] = self.played[self.owner(record["bot"])]
        elif record["record"] == "change":
            joining = {bot["name"] for bot in record["join"]}
            for bot in record["leave"]:
                self.left_at[bot] = self.matches
                self.left[bot] = REPLACED if self.bots[bot]["name"] in joining else DROPPED
            for newcomer in record["join"]:
                self._join(newcomer)
            if "matches" in record:
                self.contest = replace(self.contest, matches=record["matches"])

    def change(
        self, leave: Sequence[int], join: Sequence[Mapping[str, Any]], matches: int | None = None
    ) -> dict[str, Any]:
        """The record of a change. matches: their new number, if it changes. Raises: ConfigError."""
        record = {
            "record": "change",
            "leave": sorted(leave),
            "join": [{**bot, "version": self.version_of(bot["name"])} for bot in join],
        }
        return record if matches is None else {**record, "matches": replace(self.contest, matches=matches).matches}

    def voided(self, change: Mapping[str, Any]) -> set[Owner]:
        """The owners of the series whose unfinished match a change makes void."""
        return {self.owner(bot) for bot in change["leave"]}

    def version_of(self, name: str) -> int:
        return 1 + max((self.versions[n] for n, bot in enumerate(self.bots) if bot["name"] == name), default=0)

    # --- tables

    def founders_matches(self) -> Iterator[list[TablePlan]]:
        """The matches of the founders, as if none of them left."""
        return schedule(self.founders, self.contest.duplicate, bool(self.contest.house))

    def without_left(self, match: list[TablePlan]) -> list[TablePlan]:
        """The tables of the founders, with house players in the seats of those who have left."""
        return [
            plan._replace(bots=tuple(HOUSE if bot in self.left else bot for bot in plan.bots)) if self.left else plan
            for plan in match
        ]

    def own_match(self, bot: int, match: int) -> list[TablePlan]:
        contest = self.contest
        return [own_table(bot, match, self.tables, self.size, len(contest.field), contest.duplicate)]

    def upcoming(self) -> Iterator[list[TablePlan]]:
        """The tables of each match from now on, if no bot joins or leaves: the series that is behind comes first."""
        counts = {owner: self.played[owner] for owner in self.series()}
        shared = islice(self.founders_matches(), counts.get(None, 0), None) if self.founders else iter(())
        while True:
            behind = [owner for owner, count in counts.items() if count < self.total]
            if not behind:
                return
            owner = min(behind, key=counts.__getitem__)  # of equals the first: the founders, then the oldest
            yield self.without_left(next(shared)) if owner is None else self.own_match(owner, counts[owner])
            counts[owner] += 1
