"""Prints the tables of `bjsim solve`: with units and folded on a terminal, as in [Easy] to files and pipes."""

import math
import shutil
import sys
import textwrap
from collections.abc import Mapping
from fractions import Fraction

import click

from bjsim.cli.chart_plot import usual_legend
from bjsim.cli.options import counted
from bjsim.strategies.exact.tables import LabelledTable, dealer_lines
from bjsim.strategies.exact.values import Number

CORNER = "you \\ dealer"
VALUES = "expected profit in initial bets"
MEANINGS = {
    "initial": "probability of the first hands",
    "hit": f"{VALUES}; best play afterwards",
    "resplit1": f"{VALUES}; one more hand is allowed",
    "resplit2": f"{VALUES}; two more hands are allowed",
    "base-split": f"{VALUES} of a split hand, not split again",
    "optimal": f"{VALUES} of the best action",
}


def screen_width() -> int | None:
    """Columns of the terminal; None for a file or pipe."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def print_table(name: str, table: LabelledTable) -> None:
    width = screen_width()
    if width is None:
        click.echo(f"{name.capitalize()}\n{table}")
        return
    meaning = MEANINGS.get(name, VALUES)
    if name == "strategy":
        meaning = "; ".join(usual_legend({str(code) for row in table.rows for code in row if code}).values())
    click.secho(textwrap.fill(f"{name.capitalize()}: {meaning}", width), bold=True)
    before = ""
    for line in table.folded(width, CORNER).splitlines():
        label, cells = line[: len(CORNER)], line[len(CORNER) :]
        repeated = name == "stand" and cells == before  # totals that lose to every dealer's hand but a bust
        click.echo(label + click.style(cells, dim=True) if repeated else line)
        before = cells


def print_dealer(dealer: Mapping[str, Mapping[int, Number]]) -> None:
    """Print the distribution of the dealer's final total for each of the dealer's hands."""
    width = screen_width()
    if width is not None:
        click.secho(f"Dealer: probability of each final total, 0 for a bust; {counted(len(dealer), 'hand')}", bold=True)
    click.echo("\n".join(dealer_lines(dealer, width or math.inf)))


def print_value(value: Number) -> None:
    """Print the value of a game: a percentage on a terminal, all digits in bets to files and pipes."""
    if isinstance(value, Fraction):
        click.echo(value if screen_width() is None else f"{value} of the bet")
    elif screen_width() is None or math.isinf(value):
        click.echo(repr(float(value)) if math.isfinite(value) else str(value))
    else:
        click.echo(f"{100 * value:+.6f}% of the bet")
