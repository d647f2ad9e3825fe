"""The picture and the report of `bjsim check`: a chart with its wrong cells and their costs."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bjsim.cli.captions import without_folders
from bjsim.cli.chart_plot import Text, plot_valued, usual_legend
from bjsim.cli.heatmap import benchmark
from bjsim.cli.pages import chart_part, point_at_cells, rules_part, table_part
from bjsim.cli.tables import Printed
from bjsim.report import Figures, Notes, Report, Section
from bjsim.sim.game.events import game_text
from bjsim.strategies.evaluation.compare import Evaluation
from bjsim.strategies.evaluation.valued_chart import ValuedChart
from bjsim.strategies.tabular import percent


def plot_check(evaluation: Evaluation, path: str, command: str) -> None:
    chart = ValuedChart.of_evaluated(evaluation)
    title, lines = _heading(evaluation)
    cells, best = len(evaluation.cells), benchmark(evaluation)
    differ = "no cell differs" if not cells else "1 cell differs" if cells == 1 else f"{cells} cells differ"
    notes = [f"Framed: differs from {best}, whose code is after the arrow; below, the cost in % of the bet."]
    values = f"value {percent(evaluation.value, 4)} of the bet, {best} {percent(evaluation.best, 4)}"
    codes = {cell.code for cell in chart.cells.values()} | {cell.other for cell in chart.cells.values() if cell.other}
    text = Text(title, [*lines, f"{values}, exact; {differ}"], usual_legend(codes), notes if cells else [], command)
    plot_valued(chart, text, path, marks=True)


def report_check(evaluation: Evaluation, table: Printed, sums: Sequence[str], command: str) -> Report:
    """Report an evaluation: a table of the wrong cells, and sentences on their costs (`sums`)."""
    title, lines = _heading(evaluation)
    best, rules = benchmark(evaluation), evaluation.chart.rules
    entries = [
        ("value of the chart", f"{percent(evaluation.value, 6)} of the bet"),
        (f"value of {best}", f"{percent(evaluation.best, 6)} of the bet"),
    ]
    if math.isfinite(evaluation.difference):
        entries.append(("difference", f"{100 * evaluation.difference:.6f}% of the bet"))
    about = f"Framed: differs from {best}, whose code is after the arrow; below it is the cost in percent of the bet."
    parts: list[Any] = [
        Figures(entries),
        Section("The chart"),
        Notes([about], small=True, on_screen=point_at_cells([rules])),
        chart_part(ValuedChart.of_evaluated(evaluation), to_other=True),
        Section("The wrong cells"),
        *([table_part("wrong", table), Notes(sums)] if table[1] else [Notes([" ".join(sums)])]),
    ]
    return Report(title, lines, command, rules_part([rules]), parts, "best:")


def _heading(evaluation: Evaluation) -> tuple[str, list[str]]:
    chart = evaluation.chart
    lines = [game_text(chart.rules)]
    if evaluation.refusal:
        lines.append(f"All values are for an infinite shoe, since {without_folders(evaluation.refusal, [chart.name])}.")
    if insurance := [cell for cell in evaluation.cells if cell.row == "insurance"]:
        one = insurance[0]
        lines.append(f"insurance: {one.chart}, best {one.best}, costs {100 * one.cost:.6f}%")
    return f"{Path(chart.name).name} in {chart.rules.name}", lines
