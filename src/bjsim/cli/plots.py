"""Plots. matplotlib is imported only when a plot is requested."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

from bjsim.cli.options import decimals
from bjsim.cli.waiting import waiting
from bjsim.errors import InputError
from bjsim.sim.game.actions import NAMES
from bjsim.sim.game.hand_states import DEALER_22, DEALER_NATURAL
from bjsim.sim.running.experiment import Point
from bjsim.strategies.evaluation.valued_chart import ValuedCell, ValuedChart
from bjsim.strategies.results import BotResult
from bjsim.strategies.tabular import percent

# --- The colours of pictures and pages, which people with any kind of colour blindness can tell apart.
#
# tests/cli/test_colours.py measures it: with normal sight and simulated protanopia, deuteranopia and tritanopia all
# colours of a group differ by more than 20 (CIEDE2000).


ACTION_COLOURS = {"S": "#e45913", "H": "#9ebf9c", "D": "#488191", "P": "#ffe142", "R": "#bf9aff"}  # under black text
RAW, ADJUSTED, EXACT = "#3c87a7", "#d85616", "#000000"  # returns: as played, luck-adjusted, exact


# --- The convergence of returns as lines on shared scales, for pictures and pages.


LEAST = 1e-6  # percent of the bet: a smaller interval is that of rounding errors


class Line(NamedTuple):
    """A mean with its fixed-sample and anytime-valid 95% intervals, in percent of the bet, by number of rounds."""

    hands: list[int]
    mean: list[float]
    ci95: list[tuple[float, float]]
    anytime95: list[tuple[float, float]]


class Panel(NamedTuple):
    """The curves of one bot, in percent of the bet; `exact` is None if not known, or infinite."""

    title: str
    raw: Line
    adjusted: Line
    exact: float | None
    exact_name: str = ""


class Scales(NamedTuple):
    """Bounds that all panels share: hands, and returns in percent of the bet."""

    first: float
    last: float
    low: float
    high: float


def make_panels(results: Sequence[BotResult]) -> list[Panel]:
    panels = []
    for result in results:
        exact = None if result.exact is None or math.isinf(result.exact) else 100 * result.exact
        returned = f"{result.adjusted} luck-adjusted" if result.adjusted else percent(result.tally.mean)
        adjusted = [point.luck_adjusted for point in result.convergence if point.luck_adjusted]
        title, name = f"{result.name}: {returned}", exact_name(result.fresh)
        panels.append(Panel(title, _line(result.convergence), _line(adjusted), exact, name))
    return panels


def exact_name(fresh: bool) -> str:
    """The name of an exact value; fresh: whether every round is dealt from a fresh shoe, or an infinite one."""
    return "exact value" if fresh else "exact value of a fresh shoe"


def shared_scales(panels: Sequence[Panel]) -> Scales:
    """Scales for all panels; the first intervals, which are much wider than the rest, are cut off."""
    bounds: list[float] = []
    for panel in panels:
        later = panel.raw.anytime95[len(panel.raw.hands) // 4 :]
        centre = panel.raw.mean[-1] if panel.exact is None else panel.exact
        reach = [abs(edge - centre) for bounds95 in later for edge in bounds95 if math.isfinite(edge)]
        reach += [abs(mean - centre) for mean in panel.raw.mean[len(panel.raw.hands) // 4 :]]
        bounds += [centre - max(reach), centre + max(reach)]
    hands = [count for panel in panels for count in panel.raw.hands]
    low, high = min(bounds), max(bounds)
    margin = (high - low) * 0.04 or 1.0
    return Scales(min(hands), max(max(hands), 1.1 * min(hands)), low - margin, high + margin)


def magnified_scales(panels: Sequence[Panel]) -> list[tuple[float, float]] | None:
    """Bounds of the luck-adjusted return of each panel, all equally far apart; None if a panel has no such bounds."""
    bounds = []
    for panel in panels:
        intervals = panel.adjusted.ci95[len(panel.adjusted.hands) // 4 :]
        edges = [edge for interval95 in intervals for edge in interval95 if math.isfinite(edge)]
        if not edges:
            return None
        edges += [] if panel.exact is None else [panel.exact]
        bounds.append((min(edges), max(edges)))
    reach = 0.55 * max(high - low for low, high in bounds)
    return [((low + high) / 2 - reach, (low + high) / 2 + reach) for low, high in bounds] if reach > LEAST else None


def hand_ticks(scales: Scales) -> list[float]:
    """Labelled numbers of hands on a logarithmic scale: powers of ten, or the bounds if there are not two of them."""
    powers = range(math.ceil(math.log10(scales.first)), math.floor(math.log10(scales.last)) + 1)
    ticks = [10.0**power for power in powers]
    return ticks if len(ticks) > 1 else sorted({scales.first, scales.last})


def short_count(count: float) -> str:
    """A number of hands in few characters: `10k`, `2.5M`."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if count >= size:
            return f"{count / size:.3g}{letter}"
    return f"{count:.3g}"


def round_values(low: float, high: float, count: int = 5) -> list[float]:
    """Round numbers between two bounds, about `count` of them."""
    raw = (high - low) / count
    power = 10.0 ** math.floor(math.log10(raw))
    step = power * next((factor for factor in (1, 2, 5) if factor * power >= raw), 10)
    return [n * step for n in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]


def _line(points: Sequence[Point]) -> Line:
    return Line(
        [point.hands for point in points],
        [100 * point.mean for point in points],
        [(100 * low, 100 * high) for low, high in (point.ci95 for point in points)],
        [(100 * low, 100 * high) for low, high in (point.anytime95 for point in points)],
    )


DPI = 130
BESIDE = 46  # characters in a line of the rules next to a plot
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
        about = textwrap.fill(game.about, BESIDE, max_lines=2, placeholder=" …")
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


# --- Pictures of charts: actions in colours, with margins or costs in the cells, and the dealer's outcomes.


INCH = 0.42  # width of a cell
HEIGHT = 0.74  # of a cell, in its widths
LABEL, GAP = 1.6, 0.5  # width of the labels of rows; space between blocks
LINE = 0.62  # height of a line of text
NARROW = 12  # columns that fit twice next to each other
MOST_DEALERS = 24  # columns of the dealer's outcomes; more are not drawn
OUTCOMES = {0: "bust", DEALER_NATURAL: "natural", DEALER_22: "22, push"}
CLOSEST = 6  # decisions listed
Labels = Mapping[tuple[str, str], str]  # by row and column
NO_LABELS: Labels = {}


class Words(NamedTuple):
    """The words of a picture; `lines` go below the title, and `legend` is by letter of the action."""

    title: str
    lines: Sequence[str]
    legend: Mapping[str, str]
    notes: Sequence[str]
    command: str


def margin_text(cell: ValuedCell) -> str:
    """The margin of the best action in percent of the bet, in at most three digits; empty if it is not known."""
    if math.isnan(cell.margin):
        return ""
    margin = 100 * cell.margin
    return "∞" if math.isinf(margin) else decimals(margin, 0 if margin >= 9.95 else 1 if margin >= 0.995 else 2)


def cost_text(cell: ValuedCell) -> str:
    """The cost of a wrong cell in percent of the bet; empty if it is not known."""
    return "" if math.isnan(cell.cost) else decimals(max(100 * cell.cost, 0), 2 if cell.cost >= 0.00995 else 4)


def usual_legend(codes: set[str]) -> dict[str, str]:
    """The meaning of codes, by letter of the action."""
    texts = {letter: f"{letter} {NAMES[letter]}" for letter in ACTION_COLOURS}
    texts |= {"D": "double, else hit (Dh) or stand (Ds)", "R": "surrender, else hit (Rh) or stand (Rs)"}
    if "Rp" in codes:
        texts["R"] = "surrender, else hit (Rh), stand (Rs) or split (Rp)"
    if codes & {"Ph", "Pd", "Ps"}:
        texts["P"] = "P split; if a split hand may not double, hit (Ph), double (Pd) or stand (Ps)"
    letters = {code[0] for code in codes}
    return {letter: text for letter, text in texts.items() if letter in letters}


def closest_pairs(chart: ValuedChart, count: int) -> list[tuple[str, str, list[tuple[str, float]], float]]:
    """The closest decisions: row, column, the two best actions with their values, and the margin."""
    pairs = []
    for row, column, cell in chart.closest(count):
        pairs.append((row, column, sorted(cell.ev.items(), key=lambda item: -item[1])[:2], cell.margin))
    return pairs


def closest_lines(chart: ValuedChart) -> list[str]:
    return [
        f"{row} v {column}: {NAMES[first]}, {100 * margin:.4f}% better than {NAMES[second]}"
        for row, column, ((first, _), (second, _)), margin in closest_pairs(chart, CLOSEST)
    ]


def row_notes(chart: ValuedChart) -> list[str]:
    """A note on the rows for counted cards, if any are shown."""
    rows = [row for rows in chart.sections.values() for row in rows]
    notes = []
    if slash := next((row for row in rows if "/" in row), ""):
        total, _, cards = slash.partition("/")
        notes.append(f"{slash} is {total} in {cards} cards")
    if colon := next((row for row in rows if ":" in row), ""):
        total, _, cards = colon.partition(":")
        notes.append(f"{colon} is {total} of {' and '.join(cards[:2])}")
    return [f"{'; '.join(notes)}. Other rows are for all other hands of their total."] if notes else []


def outcome_names(chart: ValuedChart) -> dict[int, str]:
    """The dealer's final scores in this game, with their names; a bust last."""
    scores = sorted({score for column in chart.dealer.values() for score in column}, key=lambda score: score or 99)
    return {score: OUTCOMES.get(score, str(score)) for score in scores}


class _Canvas:
    """Draws cells and texts at positions in widths of a cell, from the upper left corner."""

    def __init__(self, width: float, height: float) -> None:
        from matplotlib.figure import Figure

        self.figure = Figure(figsize=(width * INCH, height * INCH), facecolor="white")
        self.axes: Any = self.figure.add_axes((0, 0, 1, 1))
        self.axes.set(xlim=(0, width), ylim=(height, 0))
        self.axes.axis("off")

    def text(self, x: float, y: float, text: str, size: float = 8, align: str = "left", **more: Any) -> None:
        self.axes.text(x, y, text, size=size, ha=align, va="center", parse_math=False, **more)

    def box(self, x: float, y: float, width: float, height: float, **more: Any) -> None:
        from matplotlib.patches import Rectangle

        self.axes.add_patch(Rectangle((x, y), width, height, **more))

    def cell(self, x: float, y: float, cell: ValuedCell, marks: bool, label: str = "") -> None:
        """marks: whether cells that differ from another chart are framed; else all have their margins."""
        self.box(x, y, 1, HEIGHT, facecolor=ACTION_COLOURS[cell.code[0]], edgecolor="#8a8f94", lw=0.5)
        small = label or cost_text(cell) if marks and cell.other else "" if marks else margin_text(cell)
        code = f"{cell.code}→{cell.other}" if cell.other else cell.code
        high = 0.36 if small else 0.52
        if cell.other:
            half = HEIGHT / 2
            self.box(x, y + half, 1, half, facecolor=ACTION_COLOURS[cell.other[0]], edgecolor="none")
            self.box(x + 0.03, y + 0.03, 0.94, HEIGHT - 0.06, fill=False, edgecolor="black", lw=1.6, zorder=3)
            high = 0.3
        self.text(x + 0.5, y + high * HEIGHT, code, 6.9 if len(code) > 3 else 8.5, "center", weight="bold")
        self.text(x + 0.5, y + 0.76 * HEIGHT, small, 6 if len(small) < 7 else 4.8, "center")

    def header(self, x: float, y: float, title: str, columns: Sequence[str]) -> None:
        self.text(x + LABEL - 0.2, y, title, 8.5, "right", style="italic")
        for place, column in enumerate(columns):
            self.text(x + LABEL + place + 0.5, y, column, 9 if len(column) < 3 else 7, "center", weight="bold")

    def section(
        self, x: float, y: float, chart: ValuedChart, kind: str, marks: bool, labels: Labels = NO_LABELS
    ) -> None:
        self.header(x, y + HEIGHT / 2, kind, chart.columns)
        for line, row in enumerate(chart.sections[kind], 1):
            self.text(x + LABEL - 0.2, y + (line + 0.5) * HEIGHT, row, 9, "right", weight="bold")
            for place, column in enumerate(chart.columns):
                if cell := chart.cells.get((row, column)):
                    self.cell(x + LABEL + place, y + line * HEIGHT, cell, marks, labels.get((row, column), ""))

    def dealer(self, x: float, y: float, chart: ValuedChart) -> None:
        self.header(x, y + HEIGHT / 2, "dealer, %", list(chart.dealer))
        most = max(float(p) for chances in chart.dealer.values() for p in chances.values())
        for line, (score, name) in enumerate(outcome_names(chart).items(), 1):
            bottom = y + (line + 1) * HEIGHT
            self.text(x + LABEL - 0.2, bottom - HEIGHT / 2, name, 9, "right", weight="bold")
            for place, chances in enumerate(chart.dealer.values()):
                chance = float(chances.get(score, 0))
                self.box(x + LABEL + place, bottom - HEIGHT, 1, HEIGHT, facecolor="#f3f4f5", edgecolor="white", lw=1)
                high = chance / most * (HEIGHT - 0.04)
                self.box(x + LABEL + place + 0.02, bottom - high, 0.96, high, facecolor="#a9b6c2")
                self.text(x + LABEL + place + 0.5, bottom - HEIGHT / 2, f"{100 * chance:.1f}", 7.5, "center")


def plot_valued(chart: ValuedChart, text: Words, path: str, marks: bool, labels: Labels = NO_LABELS) -> None:
    """Draw a chart to a file.

    `marks` frames cells that differ, with their costs, or with `labels` in place of these; else all cells have
    their margins, and the dealer's outcomes are drawn too.
    """
    dealer = not marks and len(chart.dealer) <= MOST_DEALERS
    stacks = _stacks(chart, dealer)
    block = LABEL + max(len(chart.columns), len(chart.dealer) if dealer else 0)
    depths = [sum(rows * HEIGHT + 0.5 for _, rows in stack) for stack in stacks]
    wide = len(stacks) * (block + GAP) + 0.4
    lines = _wrapped(text.lines, wide)
    top = 1.7 + LINE * len(lines)
    legend, notes = -(-len(text.legend) // 2), _wrapped([*text.notes, *row_notes(chart)], wide)
    canvas = _Canvas(wide, top + max(depths) + 0.3 + LINE * (legend + len(notes)) + 1)
    canvas.text(0.4, 0.8, text.title, 13, weight="bold")
    for number, line in enumerate(lines):
        canvas.text(0.4, 1.6 + LINE * number, line, 9)
    for number, stack in enumerate(stacks):
        x, y = number * (block + GAP), top
        for kind, rows in stack:
            if kind == "dealer":
                canvas.dealer(x, y, chart)
            else:
                canvas.section(x, y, chart, kind, marks, labels)
            y += rows * HEIGHT + 0.5
    if dealer and len(stacks) > 1 and depths[0] - depths[1] >= (CLOSEST + 1) * LINE:
        x, y = block + GAP + LABEL, top + depths[1] + 0.2
        canvas.text(x, y, "closest decisions", 8.5, style="italic")
        for number, line in enumerate(closest_lines(chart), 1):
            canvas.text(x, y + LINE * number, line, 8.5)
    y = top + max(depths) + 0.3
    for number, (letter, meaning) in enumerate(text.legend.items()):
        x, line_y = 0.4 + number // legend * wide / 2, y + LINE * (number % legend)
        canvas.box(x, line_y - 0.22, 0.7, 0.44, facecolor=ACTION_COLOURS[letter], edgecolor="#8a8f94", lw=0.5)
        canvas.text(x + 0.95, line_y, meaning, 8.5)
    for number, note in enumerate(notes, legend):
        canvas.text(0.4, y + LINE * number, note, 8.5)
    canvas.text(0.4, y + LINE * (legend + len(notes)) + 0.25, text.command, 7.5, color="#5a636e", family="monospace")
    save_figure(canvas.figure, path)


def _wrapped(lines: Iterable[str], width: float) -> list[str]:
    return [part for line in lines for part in textwrap.wrap(line, round(4.5 * width))]


def _stacks(chart: ValuedChart, dealer: bool) -> list[list[tuple[str, int]]]:
    """The sections, and the dealer's outcomes, with their numbers of rows: in two stacks, or one of wide ones."""
    blocks = [(kind, 1 + len(rows)) for kind, rows in chart.sections.items()]
    outcomes = [("dealer", 1 + len(outcome_names(chart)))] if dealer else []
    if len(chart.columns) > NARROW or len(blocks) == 1:
        return [blocks + outcomes]
    left, right = blocks[:1], blocks[1:]
    if sum(rows for _, rows in left) > sum(rows for _, rows in right):
        return [left, right + outcomes]
    return [left + outcomes, right]
