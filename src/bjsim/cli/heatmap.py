"""A chart in the colours of printed strategy cards, one for each action, with the wrong cells marked.

In the terminal a wrong cell has a `!` after its code; in a picture it has a frame and shows the best action in its
corner. Both can be read without the colours.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.text import Text

from bjsim.cli.plots import new_figure, save_figure
from bjsim.cli.render import percent
from bjsim.sim.game.actions import NAMES
from bjsim.strategies.charts.chart import IF_SPLITS_DOUBLE
from bjsim.strategies.charts.rows import PAIR, parse_row
from bjsim.strategies.evaluation.evaluate import Evaluation

COLOURS = {"S": "#f0918a", "H": "#a5d68c", "D": "#8fbbe8", "P": "#f6dc6f", "R": "#d9d9d9"}
KINDS = ("hard", "pairs", "soft")  # by `Row.kind`


def shown_rows(evaluation: Evaluation) -> list[str]:
    """The rows to show: those that do not depend on the number of cards, and any other row with a wrong cell."""
    wrong = {cell.row for cell in evaluation.cells}
    rows = dict.fromkeys(row for row, _ in evaluation.codes)
    return [row for row in rows if row in wrong or not parse_row(row).counted]


def _kinds(rows: list[str]) -> dict[str, str]:
    """The kind of every row; a pair of aces is a soft hand if the chart has no pairs."""
    pairs = any(parse_row(row).kind == PAIR for row in rows if row != "AA")
    return {row: "soft" if row == "AA" and not pairs else KINDS[parse_row(row).kind] for row in rows}


def legend(evaluation: Evaluation) -> dict[str, str]:
    """The meaning of the codes that the chart uses, by letter."""
    used = set(evaluation.codes.values())
    texts = {letter: f"{letter} {NAMES[letter]}" for letter in COLOURS}
    texts |= {"D": "Dh, Ds double, else hit, stand", "R": "Rh, Rs surrender, else hit, stand"}
    if "Rp" in used:
        texts["R"] = "Rh, Rs, Rp surrender, else hit, stand, split"
    if used.intersection(IF_SPLITS_DOUBLE):
        texts["P"] = "P split; Ph, Pd, Ps split if a split hand may double, else hit, double, stand"
    letters = {code[0] for code in used}
    return {letter: text for letter, text in texts.items() if letter in letters}


def benchmark(evaluation: Evaluation) -> str:
    """The chart that is compared with, in words."""
    return "the infinite-shoe chart" if evaluation.refusal else "the best chart"


def heat_map(evaluation: Evaluation) -> Text:
    """The chart for the terminal, three characters per cell."""
    columns = evaluation.chart.states.columns
    rows = shown_rows(evaluation)
    wrong = {(cell.row, cell.column) for cell in evaluation.cells}
    width = max(map(len, (*rows, *KINDS))) + 1
    text = Text(no_wrap=True)
    text.append(
        " " * width + f"dealer's {'card' if evaluation.chart.rules.dealer_shows == 'up' else 'cards'}\n", style="dim"
    )
    kind = ""
    for row, row_kind in _kinds(rows).items():
        if row_kind != kind:
            kind = row_kind
            text.append(f"{kind:<{width}}", style="dim")
            text.append("".join(f"{column:<3}" for column in columns) + "\n", style="bold")
        text.append(f"{row:>{width - 1}} ", style="bold")
        for column in columns:
            code = evaluation.codes[row, column]
            mark, style = ("!", "bold underline") if (row, column) in wrong else (" ", "")
            text.append(f"{code + mark:<3}", style=f"black on {COLOURS[code[0]]} {style}")
        text.append("\n")
    for letter, meaning in legend(evaluation).items():
        text.append(f" {meaning} ", style=f"black on {COLOURS[letter]}")
        text.append(" ")
    return text.append(f"! differs from {benchmark(evaluation)}")


def plot_chart(evaluation: Evaluation, path: str) -> None:
    """Draw the chart to a file. Raises: InputError if the file cannot be written."""
    columns, rows = evaluation.chart.states.columns, shown_rows(evaluation)
    best = {(cell.row, cell.column): cell.best for cell in evaluation.cells}
    kinds = _kinds(rows)
    present = list(dict.fromkeys(kinds.values()))
    places = [-place - 1.3 * present.index(kinds[row]) for place, row in enumerate(rows)]
    figure = new_figure(1.6 + 0.42 * len(columns), 1.8 + 0.28 * -places[-1])
    axes = figure.add_subplot()
    for row, y in zip(rows, places, strict=True):
        for x, column in enumerate(columns):
            _cell(axes, x, y, evaluation.codes[row, column], best.get((row, column)))
    for kind in present:
        y = places[[*kinds.values()].index(kind)] + 0.85
        for x, column in enumerate(columns):
            axes.text(x, y, column, ha="center", va="center", weight="bold", size=9)
        axes.text(-0.7, y, kind, ha="right", va="center", style="italic", size=8)
    axes.set(xlim=(-0.5, len(columns) - 0.5), ylim=(places[-1] - 0.5, 1.35), xticks=[])
    axes.set_yticks(places, rows)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    chart = evaluation.chart
    shoe = ", in an infinite shoe" if evaluation.refusal else ""
    axes.set_title(
        f"{Path(chart.name).name} in {chart.rules.name}{shoe}\n"
        f"{percent(evaluation.value)}, best {percent(evaluation.best)}, {len(evaluation.cells)} cells differ", size=9,
    )  # fmt: skip
    _legend(figure, evaluation)
    save_figure(figure, path)


def _cell(axes: Any, x: int, y: float, code: str, best: str | None) -> None:
    from matplotlib.patches import Rectangle

    axes.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor=COLOURS[code[0]], edgecolor="white", lw=1))
    axes.text(x, y, code, ha="center", va="center", size=8)
    if best is not None:
        frame = Rectangle((x - 0.44, y - 0.44), 0.88, 0.88, fill=False, edgecolor="black", lw=1.8, zorder=3)
        axes.add_patch(frame)
        axes.text(x + 0.4, y - 0.36, best, ha="right", va="bottom", size=5, weight="bold", zorder=4)


def _legend(figure: Any, evaluation: Evaluation) -> None:
    from matplotlib.patches import Patch

    patches = [Patch(facecolor=COLOURS[letter], label=text) for letter, text in legend(evaluation).items()]
    patches.append(
        Patch(
            fill=False, edgecolor="black", lw=1.8, label=f"framed: differs from {benchmark(evaluation)} (in the corner)"
        )
    )
    figure.legend(handles=patches, loc="outside lower center", ncols=3, fontsize="small", frameon=False)
