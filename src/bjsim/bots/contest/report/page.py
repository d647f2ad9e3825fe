"""The page of a contest: one self-contained HTML file, whose tables do not need JavaScript."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

from jinja2 import Environment

from bjsim import html_pages
from bjsim.bots.contest.play.questions import Asked, protocol_of, questions
from bjsim.bots.contest.play.timings import Timings
from bjsim.bots.contest.report.colours import DARK, LIGHT, make_colours, make_slugs
from bjsim.bots.contest.report.command import contest_command, published_sources, settings_file
from bjsim.bots.contest.report.comparisons import (
    COMPARED,
    crosstable,
    describe_effect,
    describe_end,
    describe_lead,
    format_e,
)
from bjsim.bots.contest.report.drawings import DRAWN, TOP, draw_convergence, draw_intervals
from bjsim.bots.contest.report.output import row_values
from bjsim.bots.contest.report.page_data import PageData
from bjsim.bots.contest.report.replay import replay, round_number, shorten
from bjsim.bots.contest.scoring.moments import MIN_BATCHES
from bjsim.bots.contest.scoring.score import HEADINGS, StandingsRow
from bjsim.bots.contest.scoring.standings import Standings

RELOAD = 20  # seconds between two reloads of a page while the contest is not over


@lru_cache(maxsize=1)
def templates() -> Environment:
    environment = html_pages.templates("bjsim.bots.contest.report")
    environment.filters["signed"] = lambda value, digits=1: f"{value:+.{digits}f}"
    environment.filters["evidence"] = format_e
    environment.filters["cards"] = lambda letters: ["10" if letter == "T" else letter for letter in letters]
    return environment


class ContestReport:
    """The common content of all pages of a contest at one moment.

    `rows` are those of the standings, best first, as of `row_values`, with number, slug, language and
    protocol, `former` the same of the bots that have left. `names`, `slugs` and `protocols` (empty for a player
    that is not a program) are by bot number; the last name is the house. The time `changed` is in seconds since
    1970.
    """

    def __init__(
        self,
        standings: Standings,
        data: PageData,
        timings: Timings | None = None,
        changed: float | None = None,
        folder: Path | None = None,
    ) -> None:
        self.standings, self.data, self.folder = standings, data, folder
        self.names = standings.seat_names
        self.slugs = make_slugs(standings.names)
        self.rows = [
            {**self._describe(row, timings), "top": place < TOP and row.score.started}
            for place, row in enumerate(standings.rows())
        ]
        top = [row["number"] for row in self.rows if row["top"]]
        self.colours = make_colours([bot["name"] for bot in standings.bots], top)  # versions of a bot share one
        self.former = [self._describe(row, timings) for row in standings.former()]
        self.changed = datetime.fromtimestamp(changed, UTC).strftime("%Y-%m-%d %H:%M") if changed else ""
        houses = [""] * (len(standings.seat_names) - len(standings.names))  # what they are asked is not shown
        retired = standings.roster.retired  # nor what retired bots are asked: nothing
        asked = ["" if bot in retired else protocol_of(each) for bot, each in enumerate(standings.bots)]
        self.protocols = [*asked, *houses]
        self._questions: dict[tuple[int, int, int | None], list[Asked]] = {}
        self._replays: dict[tuple[int, int, str], dict[str, Any]] = {}

    def _describe(self, row: StandingsRow, timings: Timings | None) -> dict[str, Any]:
        return {
            **row_values(row, timings),
            "number": row.bot,
            "lasting_name": self.standings.bots[row.bot]["name"],
            "slug": self.slugs[row.bot],
            "left": row.left,
            "started": row.score.started,
            "ruined": self.standings.ruined(row.bot),
            **how_played(self.standings.bots[row.bot]),
        }

    def replay(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """The replay of a record; several pages show the same rounds."""
        key = record["match"], record["table"], round_number(record, self.standings.contest)
        if key not in self._replays:
            self._replays[key] = replay(self.standings.contest, record, self.names)
        return self._replays[key]

    def questions(self, bot: int) -> list[Asked]:
        """The questions to a bot in its last match, if it is a program."""
        hands = self.data.hands
        if bot not in hands or not self.protocols[bot]:
            return []
        key = table_key(hands[bot].last[0])
        if key not in self._questions:
            seats = [seat for seat in hands[bot].last[0]["seats"] if seat >= 0 and hands[seat].match == key[0]]
            at_table = [last for last in (hands[seat].last for seat in seats) if table_key(last[0]) == key]
            longest = max(at_table, key=len)  # a broke bot sits out the rest of the match
            self._questions[key] = list(questions(self.standings.contest, longest, self.protocols))
        return [question for question in self._questions[key] if question.bot == bot]

    def render(self, template: str, **values: Any) -> str:
        standings = self.standings
        scored_by = standings.contest.scored_by
        scored = HEADINGS[scored_by]
        leads = f"per cent of {scored} (the difference of 100 ln(chips + 1))" if scored_by == "log" else scored
        return templates().get_template(template).render(
            standings=standings, contest=standings.contest, rules=standings.contest.rules, rows=self.rows,
            title=standings.contest.title or "Blackjack contest", luck=standings.luck_adjusted, changed=self.changed,
            reload=0 if standings.over else RELOAD, names=self.names, slugs=self.slugs, colours=self.colours,
            round_number=lambda record: round_number(record, standings.contest),
            scored=scored, leads=leads, light=LIGHT, dark=DARK, both="line" in self.protocols,
            fewest=MIN_BATCHES, **values,
        )  # fmt: skip


def format_swing(record: Mapping[str, Any], names: Sequence[str]) -> str:
    """The largest win or loss in a round, in words."""
    net = max(record["net"], key=abs)
    return f"{names[record['seats'][record['net'].index(net)]]} {net:+d}"


def replayed(data: PageData, swings: int) -> str:
    count, match = len(data.last), data.match + 1
    whole = "the only round" if count == 1 else f"all {count} rounds"
    last = whole if count == data.rounds else f"the first {count} of {data.rounds} rounds"
    return f"The {swings} hands with the largest swings, and {last} of the last match, match {match}."


def render_index(report: ContestReport) -> str:
    standings, data, rows = report.standings, report.data, report.rows
    contest = standings.contest
    sources = published_sources([bot["source"] for bot in standings.bots])
    swings = [titled(report.replay(record), format_swing(record, report.names)) for _, _, record in data.swings]
    last = [titled(report.replay(record), "last match") for record in data.last]
    return report.render(
        "page.html",
        rule_rows=contest.rules.to_dict(),
        bots=[{**bot, "source": source} for bot, source in zip(standings.bots, sources, strict=True)],
        again=contest_command(contest, standings.names, sources) if reproducible(standings) else "",
        settings_file=settings_file(contest),
        versions=standings.versions,
        leader=rows[0]["bot"],
        lead=describe_lead(standings),
        ended=describe_end(standings),
        effect=describe_effect(standings),
        authors=standings.authors(),
        hill=bool(report.former or any(standings.roster.joined)),
        former=report.former,
        drawn=DRAWN,
        top=TOP,
        compared=COMPARED,
        unstarted=not all(score.started for score in standings.scores),
        intervals=draw_intervals(rows, contest.rules.chips),
        convergence=draw_convergence(standings, report.colours),
        crosstable=crosstable(standings),
        faults=[group for _, group in sorted(data.faults.items())],
        replays=json.dumps(list(map(shorten, [*swings, *last])), separators=(",", ":")).replace("<", "\\u003c"),
        replayed=replayed(data, len(swings)),
        first_replay=swings[0] if swings else None,
    )


def titled(hand: Mapping[str, Any], label: str) -> dict[str, Any]:
    return {**hand, "title": f"{label}, hand {hand['hand']}"}


def reproducible(standings: Standings) -> bool:
    """Whether the host has closed the contest, so that its seed is public, and one command plays it again."""
    changed = len(standings.names) > len(standings.roster.present) or any(standings.roster.joined)
    return standings.closed and not changed


def table_key(record: Mapping[str, Any]) -> tuple[int, int, int | None]:
    """The key of a table: its match, its number and, of a match of a bot's own, that bot."""
    return record["match"], record["table"], record.get("own")


def how_played(bot: Mapping[str, str]) -> dict[str, str]:
    """The language of a bot in the journal's header, and its protocol if it is a program."""
    return {"language": bot["language"], "protocol": protocol_of(bot)}
