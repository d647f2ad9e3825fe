"""The picture and the page of `bjsim solve`: the best strategy with its margins, and the dealer's outcomes."""

from __future__ import annotations

from bjsim.cli.captions import game_text
from bjsim.cli.chart_plot import Text, plot_valued, usual_legend
from bjsim.cli.options import write_text
from bjsim.cli.pages import chart_part, closest_part, dealer_part, page
from bjsim.cli.render import percent
from bjsim.sim.game.actions import NAMES
from bjsim.strategies.evaluation.valued_chart import ValuedChart
from bjsim.strategies.exact.solver import Solver
from bjsim.strategies.shoe.solver import ShoeSolver

MARGIN = "The number in a cell is the margin in % of the bet: how much better the best action is than the second best."


def draw_solved(
    solver: Solver | ShoeSolver, plot_path: str | None, html_path: str | None, command: str, strategy: str = "td",
    shoe: str | None = None, card: bool = False,
) -> None:  # fmt: skip
    """Write the picture and the page that are asked for.

    Args:
        solver: The solver of the game.
        plot_path: The picture; None for none.
        html_path: The page; None for none.
        command: The command that makes them.
        strategy: The strategy whose value is given, next to that of the chart; for a finite shoe.
        shoe: The cards of the shoe, if not whole decks.
        card: Whether the chart is drawn alone, without margins.

    Raises:
        InputError: A file cannot be written.
    """
    if not plot_path and not html_path:
        return
    chart = ValuedChart.of_best(solver)
    title = f"The best strategy in {solver.rules.name}"
    lines = [game_text(solver.rules, shoe)]
    if isinstance(solver, ShoeSolver):
        figures = {"value of the chart": percent(solver.value, 6)}
        if strategy != "td":
            figures[f"value of {strategy}"] = percent(solver.value_of(strategy), 6)
    else:
        figures = {"value of the chart": percent(float(solver.infinite_shoe_value), 6)}
        if solver.infinite_because:
            lines.append(solver.infinite_because)
    if plot_path:
        exact = ", ".join(f"{name} {text} of the bet" for name, text in figures.items())
        codes = {cell.code for cell in chart.cells.values()}
        text = Text(title, [*lines, f"{exact}, exact"], usual_legend(codes), [] if card else [MARGIN], command)
        plot_valued(chart, text, plot_path, marks=card)
    if html_path:
        exceptions = [
            [",".join(one.cards), one.column, NAMES[one.action], f"{100 * one.gain:.6f}%"]
            for one in (solver.exceptions if isinstance(solver, ShoeSolver) and strategy != "td" else [])
        ]
        written = page(
            "solve.html", title, lines, command, [solver.rules], chart=chart_part(chart, to_other=card),
            exceptions=exceptions, strategy=strategy, card=card,
            entries=[(name, f"{text} of the bet") for name, text in figures.items()],
            closest=closest_part(chart), dealer=dealer_part(chart),
        )  # fmt: skip
        write_text(written, html_path)
