"""Reports as pages, and charts and convergence as their parts."""

import math
from collections.abc import Sequence
from typing import Any

from bjsim.cli.options import write_text
from bjsim.cli.plots import (
    ACTION_COLOURS,
    ADJUSTED,
    RAW,
    Line,
    Panel,
    Scales,
    closest_pairs,
    cost_text,
    hand_ticks,
    magnified_scales,
    make_panels,
    margin_text,
    outcome_names,
    round_values,
    row_notes,
    shared_scales,
    short_count,
    usual_legend,
)
from bjsim.cli.tables import Printed
from bjsim.html_pages import render_page
from bjsim.report import Bars, ChartGrid, DealerGrid, Panels, Report, TextTable
from bjsim.sim.game.actions import NAMES
from bjsim.sim.game.dealer import ACE, course
from bjsim.sim.game.rules import Rules
from bjsim.strategies.evaluation.valued_chart import ValuedCell, ValuedChart
from bjsim.strategies.results import BotResult
from bjsim.strategies.tabular import interval, percent

WIDTH, HEIGHT, LEFT, BOTTOM = 420, 260, 60, 30  # of a drawing, and of the labels on its left and below
BARS_WIDTH, BARS_HEIGHT = 840, 220  # of a drawing of bars


def write_page(report: Report, path: str) -> None:
    write_text(render_report(report), path)


def render_report(report: Report) -> str:
    return render_page(
        "bjsim.cli", "report.html", title=report.title, lines=report.lines, command=report.command,
        other_means=report.other_means, games=report.games,
        found=report.parts, kind_of=lambda part: type(part).__name__,
        names=NAMES, colours=ACTION_COLOURS, raw=RAW, adjusted=ADJUSTED,
    )  # fmt: skip


def rules_part(games: Sequence[Rules]) -> list[tuple[str, dict[str, object]]]:
    return [(rules.name, rules.to_dict()) for rules in games]


def point_at_cells(games: Sequence[Rules], after: str = ", followed by best play") -> str:
    """How a reader of a page sees the values of cells."""
    looks = any(course(rules, ACE).looks for rules in games)
    given = ", given that the dealer has no natural" if after and looks else ""
    return (
        "Point at a cell, or move there with the arrow keys, for the value of every action in initial bets"
        f"{after}{given}."
    )


def chart_part(chart: ValuedChart, to_other: bool = False) -> ChartGrid:
    """A chart as part of a report.

    With `to_other` the arrow of a framed cell points to the code of the other chart, and small numbers are the
    costs of framed cells. Else it points to the code of this chart, and small numbers are margins.
    """

    def cell(cell: ValuedCell | None) -> dict[str, str] | None:
        if cell is None:
            return None
        values = (f"{letter}{ev:+.6f}".replace("inf", "Infinity") for letter, ev in cell.ev.items())
        codes = [cell.code, cell.other] if to_other else [cell.other, cell.code]
        small = (cost_text(cell) if cell.other else "") if to_other else margin_text(cell)
        return {
            "letter": cell.code[0],
            "code": "→".join(filter(None, codes)),
            "other": cell.other,
            "small": small,
            "ev": " ".join(values),
            "cost": "" if math.isnan(cell.cost) else f"{100 * cell.cost:.6f}%",
            "top": codes[0][:1],
            "bottom": codes[1][:1],
        }

    codes = {cell.code for cell in chart.cells.values()} | {cell.other for cell in chart.cells.values() if cell.other}
    data = {
        "columns": chart.columns,
        "framed": any(cell.other for cell in chart.cells.values()),
        "sections": {
            kind: [(row, [cell(chart.cells.get((row, column))) for column in chart.columns]) for row in rows]
            for kind, rows in chart.sections.items()
        },
        "legend": usual_legend(codes),
        "notes": row_notes(chart),
    }
    return ChartGrid(data)


def dealer_part(chart: ValuedChart) -> DealerGrid:
    rows = [
        (name, [float(chances.get(score, 0)) for chances in chart.dealer.values()])
        for score, name in outcome_names(chart).items()
    ]
    return DealerGrid(list(chart.dealer), rows)


def closest_part(chart: ValuedChart, count: int = 12) -> TextTable:
    rows = [
        [f"{row} v {column}", *(f"{NAMES[letter]} {ev:+.6f}" for letter, ev in pair), f"{100 * margin:.4f}%"]
        for row, column, pair, margin in closest_pairs(chart, count)
    ]
    return TextTable("closest", ["hand v dealer", "best", "second", "margin"], rows)


def table_part(name: str, printed: Printed) -> TextTable:
    headings, rows = printed
    return TextTable(name, headings, [[str(cell) for cell in row] for row in rows])


def bars_part(shows: str, rows: Sequence[tuple[str, float, float]]) -> Bars:
    """Bars for labels with their values and half their intervals; a very wide interval does not set the scale."""
    reach = max(abs(value) for _, value, _ in rows) or 1.0
    low, high = min(0.0, *(value for _, value, _ in rows)) - reach / 9, max(0.0, *(v for _, v, _ in rows)) + reach / 9

    def y(value: float) -> float:
        return round((high - min(max(value, low), high)) / (high - low) * BARS_HEIGHT, 1)

    wide, zero = BARS_WIDTH / len(rows), y(0.0)
    bars = [
        (
            label,
            round(n * wide, 1),
            min(y(value), zero),
            abs(round(y(value) - zero, 1)),
            y(value - half),
            y(value + half),
        )
        for n, (label, value, half) in enumerate(rows)
    ]
    return Bars(shows, zero, bars)


def convergence_part(results: Sequence[BotResult]) -> Panels:
    """The convergence of returns with shared scales, and its numbers as tables."""
    panels = make_panels(results)
    if not panels:
        return Panels([])
    scales = shared_scales(panels)
    small = [_magnified(*pair, scales) for pair in zip(panels, magnified_scales(panels) or [], strict=False)]
    drawn = [_drawing(panel, scales) | _numbers(result) for panel, result in zip(panels, results, strict=True)]
    return Panels([above | {"below": small[n] if small else None} for n, above in enumerate(drawn)])


def _magnified(panel: Panel, limits: tuple[float, float], scales: Scales) -> dict[str, Any]:
    """The luck-adjusted return alone, with its fixed-sample interval."""
    factor = (scales.high - scales.low) / (limits[1] - limits[0])
    title = f"luck-adjusted, 95% interval, magnified {float(f'{factor:.1g}'):,.0f} times"
    panel = panel._replace(title=title, raw=Line([], [], [], []), adjusted=panel.adjusted._replace(anytime95=[]))
    return _drawing(panel, scales._replace(low=limits[0], high=limits[1]), HEIGHT // 2)


def _drawing(panel: Panel, scales: Scales, total: int = HEIGHT) -> dict[str, Any]:
    width, height = WIDTH - LEFT, total - BOTTOM
    span = math.log(scales.last / scales.first) or 1.0

    def x(hands: float) -> float:
        return round(math.log(hands / scales.first) / span * width, 1)

    def y(value: float) -> float:
        return round((scales.high - value) / (scales.high - scales.low) * height, 1)

    def line(points: Line) -> str:
        return " ".join(f"{x(hands)},{y(mean)}" for hands, mean in zip(points.hands, points.mean, strict=True))

    def band(points: Line, bounds: Sequence[tuple[float, float]]) -> str:
        known = [(n, low, high) for n, (low, high) in zip(points.hands, bounds, strict=True) if math.isfinite(high)]
        edges = [(n, low) for n, low, _ in known] + [(n, high) for n, _, high in reversed(known)]
        return " ".join(f"{x(n)},{y(edge)}" for n, edge in edges)

    values = round_values(scales.low, scales.high, 5 if total == HEIGHT else 3)
    kinds = [(kind, points) for kind, points in (("raw", panel.raw), ("adjusted", panel.adjusted)) if points.hands]
    ticks = [
        (LEFT + x(count), short_count(count), "end" if x(count) > width - 20 else "middle")
        for count in hand_ticks(scales)
    ]
    return {
        "title": panel.title,
        "width": WIDTH,
        "height": total,
        "left": LEFT,
        "bottom": height,
        "y_ticks": [(y(value), f"{value:.6g}%") for value in values if y(value) > 8],
        "x_ticks": ticks,
        "bands": [
            (kind, band(points, ends)) for kind, points in kinds for ends in (points.anytime95, points.ci95) if ends
        ],
        "lines": [(kind, line(points)) for kind, points in kinds],
        "exact": None if panel.exact is None else y(panel.exact),
        "exact_name": panel.exact_name,
        "has_adjusted": bool(panel.adjusted.hands),
    }


def _numbers(result: BotResult) -> dict[str, Any]:
    headings = ["hands", "return", "95% interval", "anytime 95%"]
    adjusted = any(point.luck_adjusted for point in result.convergence)
    rows = []
    for point in result.convergence:
        row = [f"{point.hands:,}", percent(point.mean), interval(point.ci95), interval(point.anytime95)]
        if adjusted:
            luck = point.luck_adjusted
            row += ["–", "–"] if luck is None else [percent(luck.mean, 6), interval(luck.ci95, 6)]
        rows.append(row)
    return {"headings": headings + ["luck-adjusted", "its 95% interval"] * adjusted, "rows": rows}
