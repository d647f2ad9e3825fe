"""Reports as pictures: their chart, curves, bars or dots, drawn by matplotlib, which is imported only here."""

import math
import textwrap
from collections.abc import Callable, Iterable, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

from bjsim.errors import InputError
from bjsim.files import write_file
from bjsim.report.colours import ACTIONS, LINES
from bjsim.report.parts import Bars, Chances, ChartGrid, Curves, DataTable, Dots, Figures, Heat, Notes, Panel, Report
from bjsim.report.scales import find_ticks, x_bounds, y_bounds

DPI, PALETTE = 130, 128  # of a PNG, and the number of its colours
BESIDE = 46  # characters in a line about a dot
HIGH = 34  # characters in a line beside bars
INCH = 0.42  # width of a cell of a chart
HEIGHT, LINE = 0.74, 0.62  # of a cell, and of a line of text, in widths of a cell
LABEL, GAP = 1.6, 0.5  # width of the labels of rows; space between blocks
NARROW = 12  # columns that fit twice next to each other
MOST_CHANCES = 24  # columns of probabilities; more are not drawn
LISTED = 6  # rows of a table next to a chart
MOST_FIGURES = 4  # named below the title
CAPTION: dict[str, Any] = {"color": LINES["grey"], "family": "monospace", "parse_math": False}


def draw(report: Report, path: str) -> None:
    """Draw the first chart, curves, bars or dots of a report. Raises: InputError: The file cannot be written."""
    save_figure(make_figure(report), path)


def make_figure(report: Report) -> Any:
    """The figure of a report. Raises: InputError: It has nothing to draw."""
    parts, seen = report.parts_for("page"), []
    for part in parts:
        seen.append(part)
        shown = [one for each in seen if isinstance(each, Figures) for one in each.entries if one.name]
        lines = [
            *report.lines,
            *(["; ".join(f"{one.name}: {one.text}" for one in shown[:MOST_FIGURES])] if shown else []),
        ]
        if isinstance(part, ChartGrid):
            return _chart(report, part, lines, [*seen, *parts])
        if drawing := DRAWINGS.get(type(part)):
            return drawing(report, part, lines)
    raise InputError("there is nothing to draw; leave out --plot")


def save_figure(figure: Any, path: str) -> None:
    """Write the figure, the same bytes each time, a PNG with a palette to make it small. Raises: InputError."""
    from matplotlib import rc_context
    from PIL import Image

    picture, drawn = BytesIO(), BytesIO()
    if Path(path).suffix.lower() == ".svg":
        with rc_context({"svg.hashsalt": "bjsim"}):
            figure.savefig(picture, format="svg", metadata={"Date": None})
    else:
        figure.savefig(drawn, format="png", dpi=DPI)
        reduced = Image.open(drawn).convert("RGB").quantize(PALETTE, Image.Quantize.FASTOCTREE)
        reduced.save(picture, "png", optimize=True)
    write_file(path, picture.getvalue())


# --- Curves, bars and dots.


def _framed(report: Report, lines: Sequence[str], width: float, height: float, legend: float) -> tuple[Any, Any, Any]:
    """A figure, its part for axes below the title, and its part for a legend above the command; sizes in inches."""
    from matplotlib.figure import Figure

    figure: Any = Figure(figsize=(width, height + legend), layout="constrained")
    above, below = figure.subfigures(2, 1, height_ratios=(height, legend))
    title = [part for line in (report.title, *lines) for part in textwrap.wrap(line, round(13 * width))]
    above.suptitle("\n".join(title), fontsize="medium", x=0.01, ha="left", parse_math=False)
    below.text(0.01, 0.05 / legend, report.command, fontsize=7, **CAPTION)
    return figure, above, below


def _explain(place: Any, drawn: Iterable[Any]) -> None:
    """Put the legend of all axes that are drawn into the part of a figure below them."""
    labels = {name: handle for axes in drawn for handle, name in zip(*axes.get_legend_handles_labels(), strict=True)}
    if len(labels) > 1:
        legend = place.legend(
            labels.values(), labels.keys(), loc="upper left", ncols=3, fontsize="small", frameon=False
        )
        for text in legend.get_texts():
            text.set_parse_math(False)


def _curves(report: Report, part: Curves, lines: Sequence[str]) -> Any:
    """Panels next to each other, each above its small one."""
    count, below = len(part.panels), all(panel.below for panel in part.panels)
    columns = count if count <= 3 else 2 if count == 4 else 3
    rows, heights = -(-count // columns), (2.6, 1.3) if below else (2.6,)
    figure, above, under = _framed(report, lines, max(3.6 * columns, 7), 0.7 + sum(heights) * rows, 0.7)
    grid = above.subplots(len(heights) * rows, columns, sharex=True, squeeze=False, height_ratios=heights * rows)
    for axes in grid.flat:
        axes.axis("off")
    for n, panel in enumerate(part.panels):
        row, column = n // columns * len(heights), n % columns
        own = [panel, panel.below] if below else [panel]
        for place, each in enumerate(own):
            _panel(grid[row + place, column], part, each, place > 0)
        if not column:
            grid[row, 0].set_ylabel((panel.y or part.y).label)
        if n >= count - columns:
            grid[row + len(own) - 1, column].set_xlabel(part.x.label)
    first, last = x_bounds(part)
    grid[0, 0].set(xscale="log" if part.x.is_log else "linear", xlim=(first, last))
    grid[0, 0].set_xticks(marks := find_ticks(part.x, first, last), [*map(part.x.format, marks)])
    grid[0, 0].xaxis.set_minor_formatter("")
    _explain(under, grid.flat)
    return figure


def _panel(axes: Any, part: Curves, panel: Panel, is_small: bool) -> None:
    axis = panel.y or part.y
    for n, line in enumerate(panel.lines):
        for name, band in line.bands.items():
            low, high = zip(*band, strict=True)
            label, shade = f"{name} interval" if not n else None, 0.2 if name.startswith("anytime") else 0.35
            axes.fill_between(line.x, low, high, alpha=shade, color=LINES[line.colour], lw=0, label=label)
        marker = "." if line.colour == "raw" and line.bands else ""
        width = 2.2 if line.colour == "adjusted" and not is_small else 1.2
        axes.plot(line.x, line.y, color=LINES[line.colour], marker=marker, lw=width, label=line.name)
    for name, level in panel.levels.items():
        axes.axhline(level, color=LINES["exact"], lw=1, ls="--", label=name)
    for name, mark in panel.marks.items():
        axes.axvline(mark, color=LINES["exact"], lw=0.8, ls="-.", label=name)
    axes.axis("on")
    axes.set(yscale="log" if axis.is_log else "linear", ylim=y_bounds(panel))
    axes.yaxis.set_major_formatter(lambda value, place: axis.format(value))
    axes.tick_params(labelbottom=True, labelsize="small")
    axes.set_title(panel.title, fontsize="small", loc="left", parse_math=False)
    axes.grid(alpha=0.3)


def _bars(report: Report, part: Bars, lines: Sequence[str]) -> Any:
    count, x = len(part.series), list(range(len(part.labels)))
    figure, above, _ = _framed(report, lines, 8.2, 2.6 + 1.3 * count, 0.25)
    grid = above.subplots(count, 1, sharex=True, squeeze=False, height_ratios=[3, *[1.5] * (count - 1)])[:, 0]
    for axes, one in zip(grid, part.series, strict=True):
        signs = ["raw" if value > 0 else "adjusted" for value in one.values] if one.halves else [one.colour] * len(x)
        colours = [LINES[colour] for colour in signs]
        axes.bar(x, one.values, yerr=one.halves or None, color=colours, capsize=2, error_kw={"lw": 1})
        axes.axhline(0, color=LINES["exact"], lw=0.8)
        axes.yaxis.set_major_formatter(lambda value, place, one=one: one.format(value))
        axes.set_ylabel(textwrap.fill(one.name, HIGH))
        axes.set_axisbelow(True)
        axes.grid(alpha=0.3, axis="y")
        axes.margins(x=0.01, y=0.18 if one.texts else None)
        for at, value, text in zip(x, one.values, one.texts, strict=False):
            axes.annotate(text, (at, value), (0, 1.5), textcoords="offset points", ha="center", size=7)
    grid[-1].set_xticks(x, part.labels, size=6.5 if len(x) > 16 else 9)
    grid[-1].set_xlabel(part.axis)
    return figure


def _dots(report: Report, part: Dots, lines: Sequence[str]) -> Any:
    tall, several = 0.5 if part.details else 0.36, len(part.series) > 1
    figure, above, below = _framed(report, lines, 8.2, 1.3 + tall * len(part.labels), 0.7 if several else 0.3)
    axes, first = above.add_subplot(), part.series[0]
    beside = axes.get_yaxis_transform()
    if math.isfinite(first.values[0]):
        axes.axvline(first.values[0], color=LINES["exact"], lw=0.8, ls=":")
    for y, label in enumerate(part.labels):
        at = -0.02, y - 0.13 * bool(part.details)
        axes.text(*at, label, transform=beside, ha="right", va="center", weight="bold", parse_math=False)
        if part.details:
            about = textwrap.fill(part.details[y], BESIDE, max_lines=2, placeholder=" …")
            axes.text(-0.02, y + 0.08, about, transform=beside, ha="right", va="top", size=7, parse_math=False)
        for one, sign in zip(part.series, "oD", strict=False):
            value, (left, right) = one.values[y], one.interval(y)
            if math.isfinite(right):
                colour, size = LINES[one.colour], 8 if sign == "o" else 5
                bars = {"xerr": [[value - left], [right - value]], "capsize": 3} if left < right else {}
                axes.errorbar([value], [y], fmt=sign, color=colour, ms=size, label=one.name, **bars)
        text = first.texts[y] if first.texts else ""
        axes.text(1.02, y, text, transform=beside, ha="left", va="center", size=9, parse_math=False)
    axes.set(ylim=(len(part.labels) - 0.5, -0.5), yticks=[], xlabel=part.axis)
    axes.xaxis.set_major_formatter(lambda value, place: first.format(value))
    axes.margins(x=0.06)
    axes.spines[["left", "top", "right"]].set_visible(False)
    axes.grid(axis="x", alpha=0.3)
    _explain(below, [axes])
    return figure


def _heat(report: Report, part: Heat, lines: Sequence[str]) -> Any:
    from matplotlib.colors import LinearSegmentedColormap

    wide = max(7.0, 1.6 + 1.15 * len(part.columns))
    figure, above, _ = _framed(report, lines, wide, 1.9 + 0.55 * len(part.rows), 0.3)
    axes = above.add_subplot()
    colours = LinearSegmentedColormap.from_list("heat", ["#ffffff", LINES["raw"]])
    drawn = axes.imshow(part.values, cmap=colours, aspect="auto", vmin=0)
    for y, values in enumerate(part.values):
        for x, value in enumerate(values):
            axes.text(x, y - 0.12, f"{value:.1f}", ha="center", va="center", weight="bold")
            axes.text(x, y + 0.26, part.half(y, x), ha="center", va="center", size=7)
    axes.set_xticks(range(len(part.columns)), part.columns, parse_math=False)
    axes.set_yticks(range(len(part.rows)), part.rows, parse_math=False)
    axes.set_xlabel(part.names[1])
    axes.set_title(part.names[0], loc="left", size="medium")  # beside few rows it would not fit
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)
    figure.colorbar(drawn, ax=axes, label=part.label, pad=0.02)
    return figure


DRAWINGS: dict[type, Callable[..., Any]] = {Curves: _curves, Bars: _bars, Dots: _dots, Heat: _heat}

# --- Charts, with probabilities and the head of a table in the space that they leave.


class _Block(NamedTuple):
    """An item of a stack: a section of the chart, or probabilities, with its number of rows."""

    rows: int
    kind: str = ""
    chances: Chances | None = None

    @property
    def height(self) -> float:
        return self.rows * HEIGHT + 0.5


def _chart(report: Report, part: ChartGrid, lines: Sequence[str], parts: Sequence[Any]) -> Any:
    chances = [one for one in parts if isinstance(one, Chances) and len(one.columns) <= MOST_CHANCES]
    stacks = _stacks(part, chances)
    block = LABEL + max(len(part.columns), *(len(one.columns) for one in chances), 0)
    wide = len(stacks) * (block + GAP) + 0.4
    dim = [line for one in parts if isinstance(one, Notes) and one.style == "dim" for line in one.lines]
    lines, notes = _wrapped(lines, wide), _wrapped([*dim[:1], *part.notes], wide)
    depths = [sum(one.height for one in stack) for stack in stacks]
    top, legend = 1.7 + LINE * len(lines), -(-len(part.legend) // 2)
    bottom = top + max(depths) + 0.3
    canvas = _Canvas(wide, bottom + LINE * (legend + len(notes)) + 1)
    canvas.text(0.4, 0.8, report.title, 13, weight="bold")
    for n, line in enumerate(lines):
        canvas.text(0.4, 1.6 + LINE * n, line, 9)
    for n, stack in enumerate(stacks):
        x, y = n * (block + GAP), top
        for one in stack:
            if one.chances:
                canvas.chances(x, y, one.chances)
            else:
                canvas.section(x, y, part, one.kind)
            y += one.height
    tables = [one for one in parts if isinstance(one, DataTable)]
    if tables and chances and len(stacks) > 1 and depths[0] - depths[1] >= (LISTED + 1) * LINE:
        canvas.table(block + GAP + LABEL, top + depths[1] + 0.2, tables[-1])
    for n, (letter, meaning) in enumerate(part.legend.items()):
        x, y = 0.4 + n // legend * wide / 2, bottom + LINE * (n % legend)
        canvas.box(x, y - 0.22, 0.7, 0.44, facecolor=ACTIONS[letter], edgecolor="#8a8f94", lw=0.5)
        canvas.text(x + 0.95, y, meaning, 8.5)
    for n, note in enumerate(notes, legend):
        canvas.text(0.4, bottom + LINE * n, note, 8.5)
    canvas.text(0.4, bottom + LINE * (legend + len(notes)) + 0.25, report.command, 7.5, **CAPTION)
    return canvas.figure


def _stacks(part: ChartGrid, chances: Sequence[Chances]) -> list[list[_Block]]:
    """The sections and the probabilities in two stacks, or in one of wide ones."""
    blocks = [_Block(1 + len(rows), kind) for kind, rows in part.sections.items()]
    outcomes = [_Block(1 + len(one.rows), chances=one) for one in chances]
    if len(part.columns) > NARROW or len(blocks) == 1:
        return [blocks + outcomes]
    left, right = blocks[:1], blocks[1:]
    if sum(one.rows for one in left) > sum(one.rows for one in right):
        return [left, right + outcomes]
    return [left + outcomes, right]


def _wrapped(lines: Iterable[str], width: float) -> list[str]:
    return [part for line in lines for part in textwrap.wrap(line, round(4.5 * width))]


class _Canvas:
    """Draws cells and texts at positions in widths of a cell, from the upper left corner."""

    def __init__(self, width: float, height: float) -> None:
        from matplotlib.figure import Figure

        self.figure = Figure(figsize=(width * INCH, height * INCH), facecolor="white")
        self.axes: Any = self.figure.add_axes((0, 0, 1, 1))
        self.axes.set(xlim=(0, width), ylim=(height, 0))
        self.axes.axis("off")

    def text(self, x: float, y: float, text: str, size: float = 8, align: str = "left", **more: Any) -> None:
        self.axes.text(x, y, text, size=size, ha=align, va="center", **{"parse_math": False} | more)

    def box(self, x: float, y: float, width: float, height: float, **more: Any) -> None:
        from matplotlib.patches import Rectangle

        self.axes.add_patch(Rectangle((x, y), width, height, **more))

    def heading(self, x: float, y: float, title: str, columns: Sequence[str]) -> None:
        self.text(x + LABEL - 0.2, y + HEIGHT / 2, title, 8.5, "right", style="italic")
        for n, column in enumerate(columns):
            size = 9 if len(column) < 3 else 7
            self.text(x + LABEL + n + 0.5, y + HEIGHT / 2, column, size, "center", weight="bold")

    def section(self, x: float, y: float, part: ChartGrid, kind: str) -> None:
        self.heading(x, y, kind, part.columns)
        for line, row in enumerate(part.sections[kind], 1):
            self.text(x + LABEL - 0.2, y + (line + 0.5) * HEIGHT, row, 9, "right", weight="bold")
            for n, column in enumerate(part.columns):
                if (row, column) in part.cells:
                    self.cell(x + LABEL + n, y + line * HEIGHT, part.codes(row, column), part.small(row, column))

    def cell(self, x: float, y: float, codes: Sequence[str], small: str) -> None:
        self.box(x, y, 1, HEIGHT, facecolor=ACTIONS[codes[0][0]], edgecolor="#8a8f94", lw=0.5)
        high = 0.36 if small else 0.52
        if len(codes) > 1:
            self.box(x, y + HEIGHT / 2, 1, HEIGHT / 2, facecolor=ACTIONS[codes[1][0]], edgecolor="none")
            self.box(x + 0.03, y + 0.03, 0.94, HEIGHT - 0.06, fill=False, edgecolor="black", lw=1.6, zorder=3)
            high = 0.3
        code = "→".join(codes)
        self.text(x + 0.5, y + high * HEIGHT, code, 6.9 if len(code) > 3 else 8.5, "center", weight="bold")
        self.text(x + 0.5, y + 0.76 * HEIGHT, small, 6 if len(small) < 7 else 4.8, "center")

    def chances(self, x: float, y: float, part: Chances) -> None:
        self.heading(x, y, "dealer, %", part.columns)
        most = max(max(chances) for chances in part.rows.values())
        for line, (name, chances) in enumerate(part.rows.items(), 1):
            top = y + line * HEIGHT
            self.text(x + LABEL - 0.2, top + HEIGHT / 2, name, 9, "right", weight="bold")
            for n, chance in enumerate(chances):
                high = chance / most * (HEIGHT - 0.04)
                self.box(x + LABEL + n, top, 1, HEIGHT, facecolor="#f3f4f5", edgecolor="white", lw=1)
                self.box(x + LABEL + n + 0.02, top + HEIGHT - high, 0.96, high, facecolor="#a9b6c2")
                self.text(x + LABEL + n + 0.5, top + HEIGHT / 2, f"{100 * chance:.1f}", 7.5, "center")

    def table(self, x: float, y: float, part: DataTable) -> None:
        """The first rows of a table, a line for each."""
        self.text(x, y, "  ".join(column.heading for column in part.shown), 8.5, style="italic")
        for line, row in enumerate(part.rows[:LISTED], 1):
            self.text(x, y + LINE * line, "  ".join(column.text(row) for column in part.shown), 8.5)
