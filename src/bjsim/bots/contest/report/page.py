"""The page of a contest: one HTML file that needs nothing else, neither a network nor, for its tables, JavaScript."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from heapq import nlargest
from typing import Any
from unicodedata import east_asian_width

from jinja2 import Environment, PackageLoader, select_autoescape

from bjsim.bots.contest.luck.adjust import has_luck
from bjsim.bots.contest.play.timings import Timings
from bjsim.bots.contest.report.command import command_again, file_again, sources_of
from bjsim.bots.contest.report.output import row_values
from bjsim.bots.contest.report.replay import place_of, replay, shortened
from bjsim.bots.contest.scoring.moments import FEWEST
from bjsim.bots.contest.scoring.standings import Standings

SWINGS = 12  # hands of the largest swings that can be replayed
LAST = 500  # rounds of the last match that can be replayed; of four bots they take 1 MB
FAULTS = 5  # of each kind and bot that are shown
COMPARED = 40  # bots in the tables that grow with the square of the field, and in the drawing of the means
WIDTH, ROW, PLOT = 520, 26, 240  # of the drawings
LABEL = 140  # of a name beside a drawing
COLOURS = ("#2f7fc1", "#d2691e", "#2a9461", "#b84592", "#8b7a12", "#7658d0", "#c43c35", "#6a7783")  # on white and black


class PageData:
    """What the page needs of the rounds; feed it every record, as the standings."""

    def __init__(self) -> None:
        self.last: list[dict[str, Any]] = []
        self.swings: list[tuple[int, int, dict[str, Any]]] = []  # (swing, -number, record)
        self.faults: dict[tuple[int, str], list[dict[str, Any]]] = {}
        self.match = -1  # the last one
        self.rounds = 0  # of the last match; the first of them are kept
        self._number = 0
        self._spent: Counter[int] = Counter()  # strikes in the last match, by bot

    def add(self, record: Mapping[str, Any]) -> None:
        """Look at one record."""
        if record["record"] != "round":
            return
        self._number += 1
        if record["match"] != self.match:
            self.match, self.rounds, self.last = record["match"], 0, []
            self._spent.clear()
        self.rounds += 1
        if len(self.last) < LAST:
            self.last.append(self._kept(record))
        swing = max(abs(net) for net in record["net"])
        if len(self.swings) < SWINGS or swing > self.swings[-1][0]:
            swings = [*self.swings, (swing, -self._number, self._kept(record))]
            self.swings = nlargest(SWINGS, swings, key=lambda s: s[:2])
        for fault in record.get("faults", ()):
            self._spent[fault["bot"]] += 1
            kept = self.faults.setdefault((fault["bot"], fault["kind"]), [])
            if len(kept) < FAULTS:
                kept.append({**fault, "where": place_of(record)})

    def _kept(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """A record with the strikes spent before it: a bot that has none left is not asked."""
        return {**record, "spent": dict(self._spent)}


def swing_of(record: Mapping[str, Any], names: Sequence[str]) -> str:
    """Who won or lost most in a round."""
    net = max(record["net"], key=abs)
    return f"{names[record['seats'][record['net'].index(net)]]} {net:+d}"


def replayed(data: PageData, swings: int) -> str:
    """Which hands can be replayed, in words."""
    kept, match = len(data.last), data.match + 1
    whole = f"all {kept} rounds" if kept == data.rounds else f"the first {kept} of {data.rounds} rounds"
    return f"The {swings} hands with the largest swings, and {whole} of the last match, match {match}."


def render_page(standings: Standings, data: PageData, timings: Timings | None = None) -> str:
    """The page as HTML."""
    environment = Environment(
        loader=PackageLoader("bjsim.bots.contest.report"), autoescape=select_autoescape(default=True),
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    environment.filters["signed"] = lambda value, digits=1: f"{value:+.{digits}f}"
    contest, names = standings.contest, [*standings.names, "house"]
    rules, sources = contest.rules, sources_of([bot["source"] for bot in standings.bots])
    rows = [
        {**row_values(row, timings), "number": row.bot, "language": standings.bots[row.bot]["language"]}
        for row in standings.rows()
    ]
    swings = [replay(contest, record, names, swing_of(record, names)) for _, _, record in data.swings]
    last = [replay(contest, record, names, "last match") for record in data.last]
    return environment.get_template("page.html").render(
        contest=contest,
        rules=rules,
        rule_rows=rules.to_dict(),
        luck=has_luck(rules),
        bots=[{**bot, "source": source} for bot, source in zip(standings.bots, sources, strict=True)],
        # Whoever knows the seed knows the cards to come, so it is nobody's to see before the end.
        again=command_again(contest, standings.names, sources) if standings.end else "",
        again_file=file_again(contest),
        versions=standings.versions,
        standings=standings,
        rows=rows,
        names=names,
        leader=rows[0]["bot"],
        compared=COMPARED,
        fewest=FEWEST,
        unstarted=not all(score.started for score in standings.scores),
        intervals=intervals_drawn(rows),
        convergence=convergence_drawn(standings),
        crosstable=crosstable(standings),
        faults=[{**fault, "name": names[bot]} for (bot, _), kept in sorted(data.faults.items()) for fault in kept],
        replays=json.dumps(list(map(shortened, [*swings, *last])), separators=(",", ":")).replace("<", "\\u003c"),
        replayed=replayed(data, len(swings)),
        first_replay=swings[0] if swings else None,
    )


# --- drawings


def _scale(low: float, high: float, start: float, end: float) -> Any:
    span = (high - low) or 1.0
    return lambda value: round(start + (value - low) / span * (end - start), 1)


def _ticks(low: float, high: float, count: int = 5) -> list[float]:
    """Round numbers between the bounds."""
    span = (high - low) or 1.0
    step = 10.0 ** len(str(int(span / count))) / 10 if span >= count else 1.0
    while span / step > count:
        step *= 2 if str(step)[0] in "15" else 2.5
    first = int(low // step)
    return [n * step for n in range(first, first + count * 3) if low <= n * step <= high]


def fitted(name: str, width: float = LABEL) -> str:
    """The name, cut where it would be wider than `width` in the drawings' type of 14 units."""
    if sum(map(_width, name)) <= width:
        return name
    while sum(map(_width, name)) > width - _width("…"):
        name = name[:-1]
    return name + "…"


def _width(letter: str) -> float:
    """About how wide a letter is at most, of most sans-serif types."""
    return 14 if letter in "MWmw@%—" or east_asian_width(letter) in "WF" else 9.5 if letter.isupper() else 8.5


def intervals_drawn(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Means and 95% intervals of chips, as places in a drawing, best first."""
    bounds = [row["chips_ci95"] or [row["chips"]] * 2 for row in rows]
    low, high = min(b[0] for b in bounds), max(b[1] for b in bounds)
    x = _scale(low, high, LABEL + 10, WIDTH - 20)
    return {
        "width": WIDTH,
        "height": ROW * len(rows) + 30,
        "ticks": [(x(tick), f"{tick:g}") for tick in _ticks(low, high)],
        "rows": [
            {"name": fitted(row["bot"]), "y": ROW * place + 16, "x": x(row["chips"]), "low": x(b[0]), "high": x(b[1])}
            for place, (row, b) in enumerate(zip(rows, bounds, strict=True))
        ],
    }


def convergence_drawn(standings: Standings) -> dict[str, Any] | None:
    """How the mean chips of the first COMPARED bots went, as polylines; the order is that of the ranks."""
    points = [point for point in standings.progress if point[0] * 20 >= standings.matches] or standings.progress
    if len(points) < 2:
        return None
    order = standings.order()[:COMPARED]
    values = [means[bot] for _, means in points for bot in order]
    low, high = min(values), max(values)
    x = _scale(points[0][0], points[-1][0], 60, WIDTH - LABEL - 10)
    y = _scale(low, high, PLOT - 30, 10)
    heights = _apart([float(y(points[-1][1][bot])) for bot in order], PLOT - 30)
    lines = [
        {
            "name": fitted(standings.names[bot]),
            "colour": COLOURS[place % len(COLOURS)],
            "dashes": "7 3" if place // len(COLOURS) % 2 else "none",
            "label": height + 4,
            "points": " ".join(f"{x(matches)},{y(means[bot])}" for matches, means in points),
        }
        for place, (bot, height) in enumerate(zip(order, heights, strict=True))
    ]
    return {
        "names": [standings.names[bot] for bot in order],
        "means": [(matches, [means[bot] for bot in order]) for matches, means in points],
        "width": WIDTH,
        "height": max(PLOT, int(heights[-1]) + 12),
        "bottom": PLOT - 30,
        "lines": lines,
        "label_x": WIDTH - LABEL,
        "y_ticks": [(y(tick), f"{tick:g}") for tick in _ticks(low, high)],
        "x_ticks": [(x(points[0][0]), points[0][0]), (x(points[-1][0]), points[-1][0])],
    }


def _apart(heights: list[float], bottom: float, gap: float = 15) -> list[float]:
    """The heights of labels, top first, moved so that none stands upon another, and above `bottom` if they fit."""
    for place in range(1, len(heights)):
        heights[place] = max(heights[place], heights[place - 1] + gap)
    limit = max(bottom, gap * len(heights))
    for place in reversed(range(len(heights))):
        heights[place] = min(heights[place], limit)
        limit = heights[place] - gap
    return heights


def crosstable(standings: Standings) -> list[list[dict[str, Any] | None]]:
    """For every pair of the first COMPARED bots by rank: how far the first is ahead, and whether they are separated."""
    order = standings.order()[:COMPARED]
    table: list[list[dict[str, Any] | None]] = []
    for one in order:
        line: list[dict[str, Any] | None] = []
        for other in order:
            difference = standings.difference(one, other)
            if one == other or not difference.units:
                line.append(None)
                continue
            line.append({
                "mean": difference.mean, "units": difference.units,
                "interval": difference.interval, "separated": difference.separated,
            })  # fmt: skip
        table.append(line)
    return table
