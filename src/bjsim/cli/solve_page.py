"""The picture and the page of `bjsim solve`: the best strategy with its margins, and the dealer's outcomes."""

from collections.abc import Mapping
from typing import Any

from bjsim.cli.captions import given_command
from bjsim.cli.chart_plot import Text, plot_valued, usual_legend
from bjsim.cli.pages import chart_part, closest_part, dealer_part, point_at_cells, rules_part, write_page
from bjsim.cli.written import Files
from bjsim.report import Columns, Figures, Notes, Report, Section, TextTable
from bjsim.sim.game.actions import NAMES
from bjsim.strategies.evaluation.valued_chart import ValuedChart
from bjsim.strategies.exact.tables import Tables
from bjsim.strategies.shoe.solver import ShoeTables
from bjsim.strategies.solution import Solution
from bjsim.strategies.tabular import percent

MARGIN = "The number in a cell is the margin in % of the bet: how much better the best action is than the second best."
SMALL_MARGIN = (
    "The small number is the margin in percent of the bet: how much better the best action is than the second best."
)


def draw_solved(tables: Tables | ShoeTables, files: Files, game: str, card: bool) -> None:
    """Write the picture and the page that are asked for, with a line about the game; a `card` is the chart alone."""
    solution, command = tables.solution, given_command()
    chart = ValuedChart.of_best(solution)
    title = f"The best strategy in {solution.rules.name}"
    lines, figures = game_lines(solution, game), _figures(tables)
    if files.plot_path:
        exact = ", ".join(f"{name} {text} of the bet" for name, text in figures.items())
        codes = {cell.code for cell in chart.cells.values()}
        text = Text(title, [*lines, f"{exact}, exact"], usual_legend(codes), [] if card else [MARGIN], command)
        plot_valued(chart, text, files.plot_path, marks=card)
    if files.html_path:
        write_page(report_solved(tables, game, command, card), files.html_path)


def report_solved(tables: Tables | ShoeTables, game: str, command: str, card: bool = False) -> Report:
    """Report a solved game, with a line about it and the command that solves it; a `card` is the chart alone."""
    chart = ValuedChart.of_best(tables.solution)
    report = report_best(tables.solution, chart, _figures(tables), game, command, card)
    parts = [*report.parts, *exceptions_part(tables)]
    return report._replace(parts=parts if card else [*parts, details_part(chart)])


def exceptions_part(tables: Tables | ShoeTables) -> list[Any]:
    """The two-card exceptions to the chart, if there are any."""
    if not tables.exceptions:
        return []
    rows = [[",".join(one.cards), one.column, NAMES[one.action], f"{100 * one.gain:.6f}%"] for one in tables.exceptions]
    title = f"Two-card exceptions of {tables.followed}"
    return [Section(title, 3), TextTable("exceptions", ["hand", "dealer", "action", "gain"], rows)]


def report_best(
    solution: Solution, chart: ValuedChart, figures: Mapping[str, str], game: str, command: str, card: bool = False
) -> Report:
    parts: list[Any] = [
        Figures([(name, f"{text} of the bet") for name, text in figures.items()]),
        Section("The best strategy"),
        Notes([] if card else [SMALL_MARGIN], small=True, on_screen=point_at_cells([solution.rules])),
        chart_part(chart, to_other=card),
    ]
    title = f"The best strategy in {solution.rules.name}"
    return Report(title, game_lines(solution, game), command, rules_part([solution.rules]), parts)


def details_part(chart: ValuedChart) -> Columns:
    """The closest decisions next to the dealer's outcomes."""
    closest = [Section("The closest decisions"), closest_part(chart)]
    return Columns([closest, [Section("The dealer's final score, in percent"), dealer_part(chart)]])


def game_lines(solution: Solution, game: str) -> list[str]:
    """The game, and where its values are not what one expects, why."""
    instead = f"All values are for an infinite shoe, since {solution.refusal}." if solution.refusal else ""
    return [game, *filter(None, [instead, solution.infinite_because])]


def value_figure(solution: Solution) -> dict[str, str]:
    return {"value of the chart": percent(float(solution.value), 6)}


def _figures(tables: Tables | ShoeTables) -> dict[str, str]:
    figures = value_figure(tables.solution)
    if tables.followed != "td":
        figures[f"value of {tables.followed}"] = percent(float(tables.value), 6)
    return figures
