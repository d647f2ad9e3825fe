"""Plots. matplotlib is imported only when a plot is requested."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

from bjsim.cli.colours import ADJUSTED, EXACT, RAW
from bjsim.cli.convergence import (
    Panel,
    exact_name,
    hand_ticks,
    magnified_scales,
    make_panels,
    shared_scales,
    short_count,
)
from bjsim.cli.waiting import waiting
from bjsim.errors import InputError
from bjsim.strategies.results import BotResult

DPI = 130
LABEL = 46  # characters in a line of the rules next to a plot
PALETTE = 128  # colours of a PNG


def new_figure(width: float, height: float) -> Any:
    """An empty figure that needs no display. width, height: inches."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


@waiting("drawing")
def save_figure(figure: Any, path: str) -> None:
    """Write the figure, the same bytes each time, a PNG with a palette to make it small. Raises: InputError."""
    from matplotlib import rc_context
    from PIL import Image

    try:
        if Path(path).suffix.lower() == ".svg":
            with rc_context({"svg.hashsalt": "bjsim"}):
                figure.savefig(path, metadata={"Date": None})
            return
        picture = BytesIO()
        figure.savefig(picture, format="png", dpi=DPI)
        Image.open(picture).convert("RGB").quantize(PALETTE, Image.Quantize.FASTOCTREE).save(path, optimize=True)
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}") from None


def plot_convergence(results: Sequence[BotResult], path: str, title: str, command: str) -> None:
    """Plot means with their intervals against hands, the exact value as a line; one panel for each bot.

    All panels have the same scales, so that bots can be compared. Below each, its luck-adjusted return is
    magnified.
    """
    panels = make_panels(results)
    if not panels:
        return
    scales, magnified = shared_scales(panels), magnified_scales(panels)
    columns = len(panels) if len(panels) <= 3 else 2 if len(panels) == 4 else 3
    rows = -(-len(panels) // columns)
    heights = (2.6, 1.3) if magnified else (2.6,)
    figure, above, below = framed(max(3.6 * columns, 7), 0.7 + sum(heights) * rows, title, command)
    drawn = above.subplots(len(heights) * rows, columns, sharex=True, squeeze=False, height_ratios=heights * rows)
    grid, small = drawn[:: len(heights)], drawn[1::2]
    for axes in [*grid.flat[len(panels) :], *small.flat[len(panels) :]]:
        axes.axis("off")
    for number, (axes, panel) in enumerate(zip(grid.flat, panels, strict=False)):
        _draw_panel(axes, panel)
        axes.set_ylim(scales.low, scales.high)
        axes.tick_params(labelbottom=True, labelleft=number % columns == 0)
        if number % columns == 0:
            axes.set_ylabel("return, % of the bet")
    for axes, panel, limits in zip(small.flat, panels, magnified or [], strict=False):
        _draw_magnified(axes, panel, limits, (scales.high - scales.low) / (limits[1] - limits[0]))
    for axes in (small if magnified else grid).flat[max(len(panels) - columns, 0) : len(panels)]:
        axes.set_xlabel("hands")
    first = grid[0, 0]
    first.set(xscale="log", xlim=(scales.first, scales.last))
    first.set_xticks(hand_ticks(scales), [short_count(count) for count in hand_ticks(scales)])
    first.xaxis.set_minor_formatter("")
    add_legend(below, grid.flat[: len(panels)])
    save_figure(figure, path)


def framed(width: float, height: float, title: str, command: str, legend: float = 0.7) -> tuple[Any, Any, Any]:
    """A figure, its part for axes below a title, and its part for a legend above the command; sizes in inches."""
    figure = new_figure(width, height + legend)
    above, below = figure.subfigures(2, 1, height_ratios=(height, legend))
    lines = [part for line in title.splitlines() for part in textwrap.wrap(line, round(13 * width))]
    above.suptitle("\n".join(lines), fontsize="medium", x=0.01, ha="left", parse_math=False)
    below.text(0.01, 0.05 / legend, command, fontsize=7, color="#5a636e", family="monospace", parse_math=False)
    return figure, above, below


def add_legend(place: Any, drawn: Iterable[Any]) -> None:
    """Put the legend of all axes that are drawn into other axes, or into the part of a figure below them."""
    labels = {name: handle for axes in drawn for handle, name in zip(*axes.get_legend_handles_labels(), strict=True)}
    if len(labels) > 1:
        place.legend(labels.values(), labels.keys(), loc="upper left", ncols=3, fontsize="small", frameon=False)


def _draw_panel(axes: Any, panel: Panel) -> None:
    for line, colour, name in ((panel.raw, RAW, "return"), (panel.adjusted, ADJUSTED, "luck-adjusted return")):
        if not line.hands:
            continue
        for bounds, shade, label in ((line.anytime95, 0.2, "anytime 95%"), (line.ci95, 0.35, "95%")):
            low, high = zip(*bounds, strict=True)
            kind = f"{label} interval" if line is panel.raw else None
            axes.fill_between(line.hands, low, high, alpha=shade, color=colour, lw=0, label=kind)
        marker = "." if line is panel.raw else ""
        axes.plot(line.hands, line.mean, color=colour, marker=marker, lw=1.2 if marker else 2.2, label=name)
    if panel.exact is not None:
        axes.axhline(panel.exact, color=EXACT, lw=1, ls="--", label=panel.exact_name)
    axes.set_title(panel.title, fontsize="small", loc="left")
    axes.grid(alpha=0.3)


def _draw_magnified(axes: Any, panel: Panel, limits: tuple[float, float], factor: float) -> None:
    line = panel.adjusted
    low, high = zip(*line.ci95, strict=True)
    axes.fill_between(line.hands, low, high, alpha=0.35, color=ADJUSTED, lw=0)
    axes.plot(line.hands, line.mean, color=ADJUSTED, lw=1.2)
    if panel.exact is not None:
        axes.axhline(panel.exact, color=EXACT, lw=1, ls="--")
    axes.set_ylim(limits)
    axes.set_title(
        f"luck-adjusted, 95% interval, magnified {float(f'{factor:.1g}'):,.0f} times", fontsize="small", loc="left"
    )
    axes.tick_params(labelbottom=True, labelsize="small")
    axes.grid(alpha=0.3)


def plot_values(games: Sequence[Valued], path: str, title: str, command: str) -> None:
    """Plot the values of games as dots, one below the other, with their differences from the first."""
    fresh = all(game.fresh for game in games)
    legend = 0.7 if any(game.played for game in games) else 0.25
    figure, above, below = framed(8.2, 1.2 + 0.5 * len(games), title, command, legend)
    axes = above.add_subplot()
    beside = axes.get_yaxis_transform()
    if math.isfinite(games[0].value):
        axes.axvline(100 * games[0].value, color=EXACT, lw=0.8, ls=":")
    for y, game in enumerate(games):
        axes.text(-0.02, y - 0.13, game.name, transform=beside, ha="right", va="center", weight="bold")
        about = textwrap.fill(game.about, LABEL, max_lines=2, placeholder=" …")
        axes.text(-0.02, y + 0.08, about, transform=beside, ha="right", va="top", size=7)
        axes.text(1.02, y, game.text, transform=beside, ha="left", va="center", size=9)
        if math.isfinite(game.value):
            axes.plot([100 * game.value], [y], "o", color=RAW, ms=9, label=exact_name(fresh))
        if game.played:
            low, mean, high = (100 * part for part in game.played)
            bar = [[mean - low], [high - mean]]
            label = "luck-adjusted return in its shoe, 95% interval"
            axes.errorbar([mean], [y], xerr=bar, fmt="D", color=ADJUSTED, ms=5, capsize=3, label=label)
    axes.set(ylim=(len(games) - 0.5, -0.5), yticks=[], xlabel="value of the best strategy, % of the bet")
    axes.margins(x=0.06)
    axes.spines[["left", "top", "right"]].set_visible(False)
    axes.grid(axis="x", alpha=0.3)
    add_legend(below, [axes])
    save_figure(figure, path)


class Valued(NamedTuple):
    """A game in `plot_values`.

    `value` is that of its best strategy in initial bets; `fresh` is whether every round is dealt from a fresh
    shoe; `played` is lower bound, mean and upper bound of the luck-adjusted return in its shoe, or None.
    """

    name: str
    about: str
    value: float
    text: str
    fresh: bool
    played: tuple[float, float, float] | None = None
