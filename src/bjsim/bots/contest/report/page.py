"""The page of a contest: one self-contained HTML file, whose tables do not need JavaScript."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from heapq import nlargest
from typing import Any

from jinja2 import Environment, PackageLoader, select_autoescape

from bjsim.bots.contest.entrants import IN_PROCESS
from bjsim.bots.contest.play.timings import Timings
from bjsim.bots.contest.report.command import contest_command, published_sources, settings_file
from bjsim.bots.contest.report.drawings import COMPARED, draw_convergence, draw_intervals
from bjsim.bots.contest.report.output import row_values
from bjsim.bots.contest.report.replay import replay, round_label, shorten
from bjsim.bots.contest.scoring.moments import MIN_BATCHES
from bjsim.bots.contest.scoring.standings import Standings

SWINGS = 12  # replays of the rounds with the largest swings
LAST = 500  # replays of the last match; with four bots they take 1 MB
FAULTS = 5  # faults shown of each kind and bot


class PageData:
    """The data of the page that the standings do not have. Pass every record to `add`, as to the standings.

    Attributes:
        last: The first LAST records of the last match.
        swings: (swing in chips, -number, record) of the rounds with the largest swings.
        faults: The first FAULTS faults by bot and kind.
        match: Number of the last match, -1 before the first.
        rounds: Rounds in the last match.
    """

    def __init__(self) -> None:
        self.last: list[dict[str, Any]] = []
        self.swings: list[tuple[int, int, dict[str, Any]]] = []  # (swing, -number, record)
        self.faults: dict[tuple[int, str], list[dict[str, Any]]] = {}
        self.match = -1
        self.rounds = 0
        self._number = 0
        self._spent: Counter[int] = Counter()  # strikes in the last match, by bot

    def add(self, record: Mapping[str, Any]) -> None:
        """Take the next record of the journal."""
        if record["record"] != "round":
            return
        self._number += 1
        if record["match"] != self.match:
            self.match, self.rounds, self.last = record["match"], 0, []
            self._spent.clear()
        self.rounds += 1
        if len(self.last) < LAST:
            self.last.append(self._with_strikes(record))
        swing = max(abs(net) for net in record["net"])
        if len(self.swings) < SWINGS or swing > self.swings[-1][0]:
            swings = [*self.swings, (swing, -self._number, self._with_strikes(record))]
            self.swings = nlargest(SWINGS, swings, key=lambda s: s[:2])
        for fault in record.get("faults", ()):
            self._spent[fault["bot"]] += 1
            shown = self.faults.setdefault((fault["bot"], fault["kind"]), [])
            if len(shown) < FAULTS:
                shown.append({**fault, "where": round_label(record)})

    def _with_strikes(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """A record with the strikes used before it: a bot without strikes left is not asked."""
        return {**record, "spent": dict(self._spent)}


def format_swing(record: Mapping[str, Any], names: Sequence[str]) -> str:
    """The largest win or loss in a round, in words.

    Args:
        record: The record of the round.
        names: Names by bot number.

    Returns:
        The bot and its chips.
    """
    net = max(record["net"], key=abs)
    return f"{names[record['seats'][record['net'].index(net)]]} {net:+d}"


def replayed(data: PageData, swings: int) -> str:
    """The rounds that can be replayed, in words.

    Args:
        data: The data of the page.
        swings: Number of rounds with the largest swings.

    Returns:
        A sentence.
    """
    count, match = len(data.last), data.match + 1
    last = f"all {count} rounds" if count == data.rounds else f"the first {count} of {data.rounds} rounds"
    return f"The {swings} hands with the largest swings, and {last} of the last match, match {match}."


def render_page(standings: Standings, data: PageData, timings: Timings | None = None) -> str:
    """Render the page.

    Args:
        standings: The standings.
        data: The data of the page, from the same records.
        timings: The times of moves, if known.

    Returns:
        The page as HTML.
    """
    environment = Environment(
        loader=PackageLoader("bjsim.bots.contest.report"), autoescape=select_autoescape(default=True),
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    environment.filters["signed"] = lambda value, digits=1: f"{value:+.{digits}f}"
    contest, names = standings.contest, [*standings.names, "house"]
    rules, sources = contest.rules, published_sources([bot["source"] for bot in standings.bots])
    rows = [
        {**row_values(row, timings), "number": row.bot, **how_played(standings.bots[row.bot])}
        for row in standings.rows()
    ]
    swings = [replay(contest, record, names, format_swing(record, names)) for _, _, record in data.swings]
    last = [replay(contest, record, names, "last match") for record in data.last]
    return environment.get_template("page.html").render(
        contest=contest,
        rules=rules,
        rule_rows=rules.to_dict(),
        luck=standings.luck_adjusted,
        bots=[{**bot, "source": source} for bot, source in zip(standings.bots, sources, strict=True)],
        # The seed reveals all future cards, so the command is shown only after the end.
        again=contest_command(contest, standings.names, sources) if standings.end else "",
        settings_file=settings_file(contest),
        versions=standings.versions,
        standings=standings,
        rows=rows,
        names=names,
        leader=rows[0]["bot"],
        compared=COMPARED,
        fewest=MIN_BATCHES,
        unstarted=not all(score.started for score in standings.scores),
        intervals=draw_intervals(rows),
        convergence=draw_convergence(standings),
        crosstable=crosstable(standings),
        faults=[{**fault, "name": names[bot]} for (bot, _), shown in sorted(data.faults.items()) for fault in shown],
        replays=json.dumps(list(map(shorten, [*swings, *last])), separators=(",", ":")).replace("<", "\\u003c"),
        replayed=replayed(data, len(swings)),
        first_replay=swings[0] if swings else None,
    )


def how_played(bot: Mapping[str, str]) -> dict[str, str]:
    """The language of a bot in the journal's header, and its protocol if it is a program."""
    language = bot["language"]
    return {"language": language, "protocol": "" if language == IN_PROCESS else bot.get("protocol", "argv")}


def crosstable(standings: Standings) -> list[list[dict[str, Any] | None]]:
    """The differences of all pairs of the first COMPARED bots by rank.

    Args:
        standings: The standings.

    Returns:
        A row per bot, with mean, batches, interval and separation against each other bot; None where they did not meet.
    """
    order = standings.order()[:COMPARED]
    table: list[list[dict[str, Any] | None]] = []
    for one in order:
        line: list[dict[str, Any] | None] = []
        for other in order:
            difference = standings.difference(one, other)
            if one == other or not difference.batches:
                line.append(None)
                continue
            line.append({
                "mean": difference.mean, "batches": difference.batches,
                "interval": difference.interval, "separated": difference.separated,
            })  # fmt: skip
        table.append(line)
    return table
