"""The drawings of a contest's page: coordinates of the intervals and of the convergence of the means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from unicodedata import east_asian_width

from bjsim.bots.contest.scoring.standings import Standings

COMPARED = 40  # bots in the drawing of the means
WIDTH, ROW, PLOT = 520, 26, 240  # width, height of a row and height of a plot, in SVG units
LABEL = 140  # width of a name next to a drawing
COLOURS = (
    "#2f7fc1",
    "#d2691e",
    "#2a9461",
    "#b84592",
    "#8b7a12",
    "#7658d0",
    "#c43c35",
    "#6a7783",
)  # legible on white and black


def _scale(low: float, high: float, start: float, end: float) -> Any:
    """A function that maps low..high linearly to start..end."""
    span = (high - low) or 1.0
    return lambda value: round(start + (value - low) / span * (end - start), 1)


def _ticks(low: float, high: float, count: int = 5) -> list[float]:
    """Round numbers between the bounds, about `count` of them."""
    span = (high - low) or 1.0
    step = 10.0 ** len(str(int(span / count))) / 10 if span >= count else 1.0
    while span / step > count:
        step *= 2 if str(step)[0] in "15" else 2.5
    first = int(low // step)
    return [n * step for n in range(first, first + count * 3) if low <= n * step <= high]


def fitted(name: str, width: float = LABEL) -> str:
    """Shorten a name to a width.

    Args:
        name: The name.
        width: Maximum width in SVG units, at a font size of 14.

    Returns:
        The name, or its beginning and an ellipsis.
    """
    if sum(map(_width, name)) <= width:
        return name
    while sum(map(_width, name)) > width - _width("…"):
        name = name[:-1]
    return name + "…"


def _width(letter: str) -> float:
    """Approximate maximum width of a character in common sans-serif fonts."""
    return 14 if letter in "MWmw@%—" or east_asian_width(letter) in "WF" else 9.5 if letter.isupper() else 8.5


def draw_intervals(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The drawing of mean chips with 95% intervals, best first.

    Args:
        rows: The rows of the standings, as of `row_values`.

    Returns:
        Size, ticks and rows in SVG units.
    """
    bounds = [row["chips_ci95"] or [row["chips"]] * 2 for row in rows]
    low, high = min(b[0] for b in bounds), max(b[1] for b in bounds)
    x = _scale(low, high, LABEL + 10, WIDTH - 20)
    return {
        "width": WIDTH,
        "height": ROW * len(rows) + 30,
        "ticks": [(x(tick), f"{tick:g}") for tick in _ticks(low, high)],
        "rows": [
            {"name": fitted(row["bot"]), "y": ROW * index + 16, "x": x(row["chips"]), "low": x(b[0]), "high": x(b[1])}
            for index, (row, b) in enumerate(zip(rows, bounds, strict=True))
        ],
    }


def draw_convergence(standings: Standings) -> dict[str, Any] | None:
    """The drawing of mean chips against matches for the first COMPARED bots, by rank.

    Args:
        standings: The standings.

    Returns:
        Polylines, labels and ticks in SVG units, and the means as numbers; None if there are fewer than two points.
    """
    points = [point for point in standings.progress if point[0] * 20 >= standings.matches] or standings.progress
    if len(points) < 2:
        return None
    order = standings.order()[:COMPARED]
    values = [means[bot] for _, means in points for bot in order]
    low, high = min(values), max(values)
    x = _scale(points[0][0], points[-1][0], 60, WIDTH - LABEL - 10)
    y = _scale(low, high, PLOT - 30, 10)
    heights = _spread_labels([float(y(points[-1][1][bot])) for bot in order], PLOT - 30)
    lines = [
        {
            "name": fitted(standings.names[bot]),
            "colour": COLOURS[index % len(COLOURS)],
            "dashes": "7 3" if index // len(COLOURS) % 2 else "none",
            "label": height + 4,
            "points": " ".join(f"{x(matches)},{y(means[bot])}" for matches, means in points),
        }
        for index, (bot, height) in enumerate(zip(order, heights, strict=True))
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


def _spread_labels(heights: list[float], bottom: float, gap: float = 15) -> list[float]:
    """Move label positions, top first, so that they do not overlap, and stay above `bottom` if they fit."""
    for index in range(1, len(heights)):
        heights[index] = max(heights[index], heights[index - 1] + gap)
    limit = max(bottom, gap * len(heights))
    for index in reversed(range(len(heights))):
        heights[index] = min(heights[index], limit)
        limit = heights[index] - gap
    return heights
