"""The page of a contest: one HTML file that needs nothing else, neither a network nor, for its tables, JavaScript."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from heapq import nlargest
from typing import Any
from unicodedata import east_asian_width

from jinja2 import Environment, PackageLoader, select_autoescape

from bjsim.bots.contest.match import events_of
from bjsim.bots.contest.output import row_values
from bjsim.bots.contest.standings import Standings
from bjsim.bots.contest.timings import Timings
from bjsim.sim.cards import HIDDEN
from bjsim.sim.hand import Hand
from bjsim.sim.play import NAMES
from bjsim.sim.round import DEALER, Event
from bjsim.sim.rules import Rules

SWINGS = 12  # hands of the largest swings that can be replayed
LAST = 60  # rounds of the last match that can be replayed
FAULTS = 5  # of each kind and bot that are shown
WIDTH, ROW, PLOT = 520, 26, 240  # of the drawings
LABEL = 140  # of a name beside a drawing
COLOURS = ("#2f7fc1", "#d2691e", "#2a9461", "#b84592", "#8b7a12", "#7658d0", "#c43c35", "#6a7783")  # on white and black


class PageData:
    """What the page needs of the rounds; feed it every record, as the standings."""

    def __init__(self) -> None:
        self.last: list[dict[str, Any]] = []
        self.swings: list[tuple[int, int, dict[str, Any]]] = []  # (swing, -number, record)
        self.faults: dict[tuple[int, str], list[dict[str, Any]]] = {}
        self._number = 0

    def add(self, record: Mapping[str, Any]) -> None:
        """Look at one record."""
        if record["record"] != "round":
            return
        self._number += 1
        if self.last and self.last[0]["match"] != record["match"]:
            self.last = []
        if len(self.last) < LAST:
            self.last.append(dict(record))
        swing = max(abs(net) for net in record["net"])
        if len(self.swings) < SWINGS or swing > self.swings[-1][0]:
            self.swings = nlargest(SWINGS, [*self.swings, (swing, -self._number, dict(record))], key=lambda s: s[:2])
        for fault in record.get("faults", ()):
            kept = self.faults.setdefault((fault["bot"], fault["kind"]), [])
            if len(kept) < FAULTS:
                kept.append({**fault, "where": place_of(record)})


def place_of(record: Mapping[str, Any]) -> str:
    """Where a round stands, in words."""
    return (
        f"match {record['match'] + 1}, table {record['table'] + 1}, "
        f"sitting {record['sitting'] + 1}, hand {record['hand'] + 1}"
    )


def swing_of(record: Mapping[str, Any], names: Sequence[str]) -> str:
    """Who won or lost most in a round."""
    net = max(record["net"], key=abs)
    return f"{names[record['seats'][record['net'].index(net)]]} {net:+d}"


def render_page(standings: Standings, data: PageData, timings: Timings | None = None) -> str:
    """The page as HTML."""
    environment = Environment(
        loader=PackageLoader("bjsim.bots.contest"), autoescape=select_autoescape(default=True),
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    environment.filters["signed"] = lambda value, digits=1: f"{value:+.{digits}f}"
    rules, names = standings.contest.rules, [*standings.names, "house"]
    rows = [
        {**row_values(row, timings), "number": row.bot, "language": standings.bots[row.bot]["language"]}
        for row in standings.rows()
    ]
    swings = [record for _, _, record in data.swings]
    return environment.get_template("page.html").render(
        contest=standings.contest,
        rules=rules,
        rule_rows=rules.to_dict(),
        bots=standings.bots,
        versions=standings.versions,
        standings=standings,
        rows=rows,
        names=names,
        leader=names[standings.order()[0]],
        intervals=intervals_drawn(rows),
        convergence=convergence_drawn(standings),
        crosstable=crosstable(standings),
        faults=[{**fault, "name": names[bot]} for (bot, _), kept in sorted(data.faults.items()) for fault in kept],
        replays=json.dumps(
            [
                *(replay(rules, record, names, swing_of(record, names)) for record in swings),
                *(replay(rules, record, names, "last match") for record in data.last),
            ],
            separators=(",", ":"),
        ).replace("<", "\\u003c"),
        first_replay=replay(rules, swings[0], names, swing_of(swings[0], names)) if swings else None,
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
    """How the mean chips of every bot went, as polylines; the order is that of the ranks."""
    points = [point for point in standings.progress if point[0] * 20 >= standings.matches] or standings.progress
    if len(points) < 2:
        return None
    values = [value for _, means in points for value in means]
    low, high = min(values), max(values)
    x = _scale(points[0][0], points[-1][0], 60, WIDTH - LABEL - 10)
    y = _scale(low, high, PLOT - 30, 10)
    order = standings.order()
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
    """For every pair of bots by rank: how far the first is ahead, and whether they are separated."""
    order = standings.order()
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


# --- replays


def replay(rules: Rules, record: Mapping[str, Any], names: Sequence[str], why: str) -> dict[str, Any]:
    """A round step by step: each step is a line of text and the table after it."""
    seats = [{"name": names[bot], "cards": "", "stake": rules.buy_in, "say": ""} for bot in record["seats"]]
    dealer = {"cards": "", "hole": ""}
    chips = [held - rules.buy_in for held in record["chips"]]
    opened = ""
    steps = []
    faults = {(fault["bot"], fault["move"]): fault for fault in record.get("faults", ())}
    moves = [0] * len(seats)
    for event in events_of(rules, dict(record)).events:
        if event.what == "shuffle":
            continue
        text = _step(event, seats, dealer, chips, names, record, faults, moves, opened)
        if event.what == "card" and event.seat != DEALER:
            opened += event.detail
        steps.append([
            text, dealer["cards"] + (HIDDEN if dealer["hole"] else ""),
            [[seat["cards"], seat["stake"], held, seat["say"]] for seat, held in zip(seats, chips, strict=True)],
        ])  # fmt: skip
    return {"title": f"{why}: {place_of(record)}", "names": [seat["name"] for seat in seats], "steps": steps,
            "net": record["net"]}  # fmt: skip


def _step(
    event: Event, seats: list[dict[str, Any]], dealer: dict[str, str], chips: list[int], names: Sequence[str],
    record: Mapping[str, Any], faults: Mapping[tuple[int, int], Mapping[str, Any]], moves: list[int], opened: str,
) -> str:  # fmt: skip
    """Change the table as the event says; returns the event in words."""
    if event.seat == DEALER:
        if event.what == "hidden":
            dealer["hole"] = event.detail
            return "The dealer takes a card face down."
        if event.what == "shown":
            dealer["cards"] += dealer["hole"]
            dealer["hole"] = ""
            return f"The dealer turns over {event.detail}: {Hand(*dealer['cards']).points}."
        dealer["cards"] += event.detail
        return f"The dealer takes {event.detail}: {Hand(*dealer['cards']).points}."
    seat = seats[event.seat]
    who = seat["name"]
    if event.what == "card":
        seat["cards"] += event.detail
        return f"{who} gets {event.detail}: {Hand(*seat['cards']).points}."
    if event.what == "action":
        hand = seat["cards"]
        hole = HIDDEN if dealer["hole"] else ""
        seen = (
            f"{Hand(*hand).points} {hand} {dealer['cards']}{hole}{opened} {seat['stake']} {max(chips[event.seat], 0)}"
        )
        fault = faults.get((record["seats"][event.seat], moves[event.seat]))
        moves[event.seat] += 1
        added = int(event.detail[2:]) if event.detail[0] == "B" else seat["stake"] if event.detail == "D" else 0
        seat["stake"] += added
        chips[event.seat] -= added
        seat["say"] = event.detail
        amount = f" by {added}" if event.detail[0] == "B" else ""
        wrong = f" (fault, {fault['kind']}: {fault['detail']})" if fault else ""
        return f"{who} is told “{seen}” and answers {event.detail}: {NAMES[event.detail[0]]}{amount}.{wrong}"
    if event.what == "end":
        seat["say"] = event.detail
        return f"{who}: {event.detail}."
    won = record["net"][event.seat]
    chips[event.seat] = record["chips"][event.seat] + won
    seat["say"] = f"{won:+d}"
    return (
        f"{who} {'wins' if won > 0 else 'loses' if won else 'neither wins nor loses'} {abs(won) or ''} chips.".replace(
            "  ", " "
        )
    )
