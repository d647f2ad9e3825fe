"""The picture and the page of `bjsim solve`: the best strategy with its margins, and the dealer's outcomes."""

from __future__ import annotations

from bjsim.cli.captions import given_command
from bjsim.cli.chart_plot import Text, plot_valued, usual_legend
from bjsim.cli.pages import chart_part, closest_part, dealer_part, page
from bjsim.cli.written import Files, write_text
from bjsim.sim.game.actions import NAMES
from bjsim.strategies.evaluation.valued_chart import ValuedChart
from bjsim.strategies.exact.tables import Tables
from bjsim.strategies.shoe.tables import ShoeTables
from bjsim.strategies.tabular import percent

MARGIN = "The number in a cell is the margin in % of the bet: how much better the best action is than the second best."


def draw_solved(tables: Tables | ShoeTables, files: Files, game: str, card: bool) -> None:
    """Write the picture and the page that are asked for, with a line about the game; a `card` is the chart alone."""
    solution, strategy, command = tables.solution, tables.followed, given_command()
    chart = ValuedChart.of_best(solution)
    title = f"The best strategy in {solution.rules.name}"
    lines = [game, *[solution.infinite_because] * bool(solution.infinite_because)]
    figures = {"value of the chart": percent(float(solution.value), 6)}
    if strategy != "td":
        figures[f"value of {strategy}"] = percent(float(tables.value), 6)
    if files.plot_path:
        exact = ", ".join(f"{name} {text} of the bet" for name, text in figures.items())
        codes = {cell.code for cell in chart.cells.values()}
        text = Text(title, [*lines, f"{exact}, exact"], usual_legend(codes), [] if card else [MARGIN], command)
        plot_valued(chart, text, files.plot_path, marks=card)
    if files.html_path:
        rows = [
            [",".join(one.cards), one.column, NAMES[one.action], f"{100 * one.gain:.6f}%"] for one in tables.exceptions
        ]
        written = page(
            "solve.html", title, lines, command, [solution.rules], chart=chart_part(chart, to_other=card),
            exceptions=rows, strategy=strategy, card=card,
            entries=[(name, f"{text} of the bet") for name, text in figures.items()],
            closest=closest_part(chart), dealer=dealer_part(chart),
        )  # fmt: skip
        write_text(written, files.html_path)
