"""A chart in the terminal with a colour for each action, and a `!` after the code of a wrong cell."""

from rich.text import Text

from bjsim.cli.chart_plot import usual_legend
from bjsim.cli.colours import ACTION_COLOURS
from bjsim.strategies.charts.chart import PAIR, parse_row
from bjsim.strategies.evaluation.compare import Evaluation

LEGEND_WIDTH = 80  # characters of a line
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
            text.append(f"{code + mark:<3}", style=f"black on {ACTION_COLOURS[code[0]]} {style}")
        text.append("\n")
    left = LEGEND_WIDTH
    for letter, meaning in usual_legend(set(evaluation.codes.values())).items():
        if left < len(meaning) + 2:
            text.append("\n")
            left = LEGEND_WIDTH
        text.append(f" {meaning} ", style=f"black on {ACTION_COLOURS[letter]}")
        text.append(" ")
        left -= len(meaning) + 3
    mark = f"! differs from {benchmark(evaluation)}"
    return text.append(mark if len(mark) <= left else f"\n{mark}")
