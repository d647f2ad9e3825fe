"""The drawings of a contest's pages, in percent of their width and height."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bjsim.bots.contest.scoring.standings import Standings

DRAWN = 60  # lines in a drawing, by rank
INTERVALS = 25  # intervals in a drawing
TOP = 5  # bots drawn in their colours; the others are grey
MARGIN = 0.25  # a scale is extended by this share for the outermost values; those farther out are cut off
GAP = 8.0  # least distance of two labels
TICKS = 5  # on a scale, at most


def _scale(low: float, high: float, start: float = 0.0, end: float = 100.0) -> Any:
    """A function that maps low..high linearly to start..end."""
    span = (high - low) or 1.0
    return lambda value: round(start + (value - low) / span * (end - start), 2)


def _ticks(low: float, high: float) -> list[float]:
    span = (high - low) or 1.0
    step = 10.0 ** len(str(int(span / TICKS))) / 10 if span >= TICKS else 1.0
    while span / step > TICKS:
        step *= 2 if str(step)[0] in "15" else 2.5
    first = int(low // step)
    return [n * step for n in range(first, first + TICKS * 3) if low <= n * step <= high]


def _clip(values: Sequence[float], whole: Sequence[float]) -> tuple[float, float]:
    """Bounds of a drawing: of all `whole`, and of `values` but those far beyond the 5th or the 95th percentile."""
    ordered = sorted(values)
    last = int(0.95 * (len(ordered) - 1))
    low, high = min(ordered[-1 - last], *whole), max(ordered[last], *whole)
    margin = MARGIN * (high - low)
    inside = [*whole, *(value for value in ordered if low - margin <= value <= high + margin)]
    return min(inside), max(inside)


def draw_intervals(rows: Sequence[Mapping[str, Any]], start: float) -> dict[str, Any]:
    """The drawing of mean scores with 95% intervals for the first INTERVALS bots.

    Ticks, the position of `start` (the chips at the beginning of a match), whether there are `more` bots, whether
    intervals are `clipped`, and for each bot its mean, its interval and the sides where that is cut.
    """
    started = [row for row in rows if row["started"]] or rows[:1]
    drawn = started[:INTERVALS]
    bounds = [row["score_ci95"] or [row["score"]] * 2 for row in drawn]
    ends = [end for bound in bounds for end in bound]
    low, high = _clip(ends, [start, *(row["score"] for row in drawn if not row["ruined"])])
    x = _scale(low, high, 2, 98)
    inside = [[max(low, b[0]), min(high, b[1])] for b in bounds]
    return {
        "more": len(started) > len(drawn),
        "clipped": inside != bounds,
        "start": x(start),
        "ticks": [(x(tick), f"{tick:g}") for tick in _ticks(low, high)],
        "rows": [
            {
                "x": x(min(high, max(low, row["score"]))),
                "low": x(b[0]),
                "width": round(x(b[1]) - x(b[0]), 2),
                "cut": ["left"] * (b[0] > whole[0]) + ["right"] * (b[1] < whole[1]),
            }
            for row, b, whole in zip(drawn, inside, bounds, strict=True)
        ],
    }


def draw_convergence(standings: Standings, colours: Sequence[int]) -> dict[str, Any] | None:
    """The drawing of mean scores against matches for the first DRAWN bots, by rank; None below two points.

    It has `cut`, the positions and values of the edges beyond which lines are cut off.
    """
    points = [point for point in standings.progress if point[0] * 20 >= standings.matches] or standings.progress
    if len(points) < 2:
        return None
    order = standings.order()[:DRAWN]
    values = [means[bot] for _, means in points for bot in order]
    low, high = _clip(values, [points[-1][1][bot] for bot in order if not standings.ruined(bot)] or values)
    x, y = _scale(points[0][0], points[-1][0]), _scale(low, high, 97, 3)
    labels = _spread_labels([float(y(points[-1][1][bot])) for bot in order[:TOP]])
    lines = [
        {
            "name": standings.names[bot],
            "colour": colours[bot],
            "label": labels[index] if index < TOP and standings.scores[bot].started else None,
            "points": " ".join(f"{x(matches)},{y(min(high, max(low, means[bot])))}" for matches, means in points),
        }
        for index, bot in enumerate(order)
    ]
    return {
        "names": [standings.names[bot] for bot in order],
        "means": [(matches, [means[bot] for bot in order]) for matches, means in points],
        "lines": lines,
        "cut": [(y(edge), value) for edge, value in ((high, max(values)), (low, min(values))) if edge != value],
        "y_ticks": [(y(tick), f"{tick:g}") for tick in _ticks(low, high)],
        "x_ticks": _match_ticks(points[0][0], points[-1][0]),
    }


def draw_rank(standings: Standings, bot: int) -> dict[str, Any] | None:
    """The drawing of a bot's rank against matches, also as (matches, rank, mean score); None below two points."""

    def place(means: Sequence[float], number: int) -> tuple[bool, float]:
        return not standings.ruined(number), means[number]

    ranks = [
        (matches, 1 + sum(place(means, other) > place(means, bot) for other in standings.ranked), means[bot])
        for matches, means in standings.progress
    ]
    if len(ranks) < 2:
        return None
    last = max(2, len(standings.ranked), *(rank for _, rank, _ in ranks))
    x, y = _scale(ranks[0][0], ranks[-1][0]), _scale(1, last, 3, 97)
    return {
        "points": " ".join(f"{x(matches)},{y(rank)}" for matches, rank, _ in ranks),
        "ranks": ranks,
        "y_ticks": [(y(rank), rank) for rank in sorted({1, (last + 1) // 2, last})],
        "x_ticks": _match_ticks(ranks[0][0], ranks[-1][0]),
    }


def _match_ticks(first: int, last: int) -> list[tuple[float, str]]:
    """Ticks for matches: the first, the last, and round numbers that do not collide with them."""
    x = _scale(first, last)
    between = [int(tick) for tick in _ticks(first, last) if tick == int(tick) and 8 < x(tick) < 90]
    return [(x(matches), f"{matches:,}") for matches in (first, *between, last)]


def _spread_labels(heights: list[float]) -> list[float]:
    """Move label positions, top first, so that they do not overlap and stay within the drawing."""
    for index in range(1, len(heights)):
        heights[index] = max(heights[index], heights[index - 1] + GAP)
    limit = 97.0
    for index in reversed(range(len(heights))):
        heights[index] = min(heights[index], limit)
        limit = heights[index] - GAP
    return heights
