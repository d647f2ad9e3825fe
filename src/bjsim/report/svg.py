"""Curves, bars and dots as SVG, for pages."""

import math
from collections.abc import Callable, Sequence
from html import escape

from bjsim.report.parts import Axis, Curves, DataSeries, Dots, Panel
from bjsim.report.scales import find_ticks, padded, x_bounds, y_bounds

WIDTH, HEIGHT, LEFT, BOTTOM = 420, 260, 60, 30  # of a panel, and of the labels on its left and below
WIDE, TALL, LABEL = 840, 220, 30  # of bars, and of their labels below
ROW, NAME, SAYS = 34, 250, 210  # height of a line of dots; width of its label and of its text
MOST = 22  # labels of bars; of more, only some are shown
Scale = Callable[[float], float]


def draw_panel(part: Curves, panel: Panel, is_small: bool = False) -> str:
    """Draw a panel of curves."""
    height = HEIGHT // 2 if is_small else HEIGHT
    (first, last), (low, high) = x_bounds(part), y_bounds(panel)
    axis = panel.y or part.y
    x = _scale(first, last, 0, WIDTH - LEFT, part.x.is_log)
    y = _scale(low, high, height - BOTTOM, 0, axis.is_log)
    drawn = []
    for value in find_ticks(axis, low, high, 3 if is_small else 5):
        if y(value) > 8:
            drawn.append(f'<line class="axis" x1="{LEFT}" x2="{WIDTH}" y1="{y(value)}" y2="{y(value)}"/>')
            drawn.append(_text(LEFT - 6, y(value) + 4, axis.format(value), "end"))
    for value in find_ticks(part.x, first, last):
        end = "end" if x(value) > WIDTH - LEFT - 20 else "middle"
        drawn.append(_text(LEFT + x(value), height - 6, part.x.format(value), end))
    drawn.append(f'<svg x="{LEFT}" y="0" width="{WIDTH - LEFT}" height="{height - BOTTOM}">')
    for line in panel.lines:
        for band in line.bands.values():
            known = [(n, *ends) for n, ends in zip(line.x, band, strict=True) if math.isfinite(ends[1])]
            edge = [(n, low) for n, low, _ in known] + [(n, high) for n, _, high in reversed(known)]
            drawn.append(f'<polygon class="{line.colour}" points="{_points(edge, x, y)}"/>')
    for line in panel.lines:
        drawn.append(f'<polyline class="{line.colour}" points="{_points([*zip(line.x, line.y, strict=True)], x, y)}"/>')
    for level in panel.levels.values():
        drawn.append(f'<line class="exact" x1="0" x2="{WIDTH}" y1="{y(level)}" y2="{y(level)}"/>')
    for mark in panel.marks.values():
        drawn.append(f'<line class="exact" x1="{x(mark)}" x2="{x(mark)}" y1="0" y2="{height - BOTTOM}"/>')
    return _svg(WIDTH, height, panel.title, [*drawn, "</svg>"])


def draw_bars(labels: Sequence[str], series: DataSeries) -> str:
    """Draw bars from 0; a very wide interval does not set the scale."""
    reach = max(map(abs, series.values)) or 1.0
    low, high = min(0.0, *series.values) - reach / 9, max(0.0, *series.values) + reach / 9
    y, wide, drawn = _scale(low, high, TALL, 0), WIDE / len(labels), []
    for n, (label, value) in enumerate(zip(labels, series.values, strict=True)):
        top, bottom, middle = y(max(value, 0)), y(min(value, 0)), round((n + 0.5) * wide, 1)
        where = f'x="{middle - 0.38 * wide:.1f}" y="{top}" width="{0.76 * wide:.1f}" height="{bottom - top:.1f}"'
        colour = ("gain" if value > 0 else "loss") if series.halves else series.colour
        drawn.append(f'<rect class="{colour}" {where}/>')
        if series.halves:
            ends = [y(min(max(end, low), high)) for end in series.interval(n)]
            drawn.append(f'<line class="whisker" x1="{middle}" x2="{middle}" y1="{ends[0]}" y2="{ends[1]}"/>')
        if n % (1 + len(labels) // MOST) == 0:
            drawn.append(_text(middle, TALL + LABEL - 5, label, "middle"))
    drawn.append(f'<line class="zero" x1="0" x2="{WIDE}" y1="{y(0)}" y2="{y(0)}"/>')
    return _svg(WIDE, TALL + LABEL, series.name, drawn, "columns")


def draw_dots(part: Dots) -> str:
    """Draw dots with their intervals on one scale, and the text of the first series next to each."""
    intervals = [series.interval(n) for series in part.series for n in range(len(part.labels))]
    low, high = padded([end for ends in intervals for end in ends if math.isfinite(ends[1])])
    x, bottom = _scale(low, high, NAME, WIDE - SAYS), ROW * len(part.labels)
    drawn = []
    for value in find_ticks(Axis(), low, high):
        drawn.append(f'<line class="axis" x1="{x(value)}" x2="{x(value)}" y1="0" y2="{bottom}"/>')
        drawn.append(_text(x(value), bottom + 18, part.series[0].format(value), "middle"))
    for n, label in enumerate(part.labels):
        y = (n + 0.5) * ROW
        drawn.append(_text(NAME - 10, y + 4, label, "end"))
        for series in part.series:
            left, right = series.interval(n)
            if math.isfinite(right):
                drawn.append(f'<line class="whisker" x1="{x(left)}" x2="{x(right)}" y1="{y}" y2="{y}"/>')
                drawn.append(f'<circle class="{series.colour}" cx="{x(series.values[n])}" cy="{y}" r="5"/>')
        if part.series[0].texts:
            drawn.append(_text(WIDE - SAYS + 10, y + 4, part.series[0].texts[n].partition("\n")[0], "start"))
    return _svg(WIDE, bottom + LABEL, part.axis, drawn, "dots")


def _scale(low: float, high: float, start: float, end: float, is_log: bool = False) -> Scale:
    if is_log:
        low, high = math.log(low), math.log(high)
    span = high - low or 1.0
    return lambda value: round(start + ((math.log(value) if is_log else value) - low) / span * (end - start), 1)


def _points(points: Sequence[tuple[float, float]], x: Scale, y: Scale) -> str:
    return " ".join(f"{x(one)},{y(other)}" for one, other in points)


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}">{escape(text)}</text>'


def _svg(width: float, height: float, title: str, drawn: Sequence[str], kind: str = "") -> str:
    about = f'role="img" aria-label="{escape(title)}; the numbers are in the table"'
    return f'<svg class="{kind}" viewBox="0 0 {width} {height}" {about}>{"".join(drawn)}</svg>'
