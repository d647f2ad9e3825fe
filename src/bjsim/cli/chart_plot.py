"""Pictures of charts: actions in colours, with margins or costs in the cells, and the dealer's outcomes."""

import math
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from bjsim.cli.captions import decimals
from bjsim.cli.colours import ACTION_COLOURS
from bjsim.cli.plots import save_figure
from bjsim.sim.game.actions import NAMES
from bjsim.sim.game.hand_states import DEALER_22, DEALER_NATURAL
from bjsim.strategies.evaluation.valued_chart import ValuedCell, ValuedChart

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


class Text(NamedTuple):
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


def plot_valued(chart: ValuedChart, text: Text, path: str, marks: bool, labels: Labels = NO_LABELS) -> None:
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
