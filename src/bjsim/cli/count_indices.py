"""`bjsim count indices`: index plays for any rules and counting system."""

from __future__ import annotations

from fractions import Fraction

import click
from rich.console import Console
from rich.text import Text

from bjsim.cli.options import check_writable, json_option, rules_options, the_rules, write_json, write_text
from bjsim.cli.tables import Cell, print_table
from bjsim.errors import InputError
from bjsim.strategies.counting.departures import format_departures
from bjsim.strategies.counting.indices import Index, generate_indices, select_departures
from bjsim.strategies.counting.ramp import Ramp
from bjsim.strategies.counting.systems import find_system
from bjsim.strategies.evaluation.best import best_chart


@click.command()
@rules_options
@click.option("--system", default="hilo", show_default=True, metavar="NAME|FILE.toml", help="Counting system.")
@click.option("--ramp", default="1-12", show_default=True, metavar="RAMP", help="Bets that weight the gains.")
@click.option("--kelly", type=float, metavar="SHARE", help="Make the indices risk-averse, for this Kelly fraction.")
@click.option("--limit", type=click.IntRange(1, 30), default=10, show_default=True, help="Greatest true count sought.")
@click.option("--top", type=click.IntRange(1), metavar="N", help="Only the N index plays with the largest gains.")
@click.option("--save", "save_path", metavar="FILE", help="Write the index plays as text, for `bjsim count --indices`.")
@json_option
def indices(
    rules_name: str, settings: tuple[str, ...], decks: str | None, system: str, ramp: str, kelly: float | None,
    limit: int, top: int | None, save_path: str | None, json_path: str | None,
) -> None:  # fmt: skip
    """Compute at which count each departure from the best chart pays, and what it gains.

    Choices are evaluated exactly in the expected composition of the unseen cards at each count.

    bjsim count indices --rules vegas-s17 --system hilo --top 18
    """
    for path in (save_path, json_path):
        check_writable(path)
    if save_path and save_path != "-" and not save_path.lower().endswith(".txt"):
        raise InputError(f"--save {save_path} is not accepted; `bjsim count --indices` reads files that end in .txt")
    rules = the_rules(rules_name, settings, decks)
    found = generate_indices(rules, find_system(system), limit=limit, kelly=kelly, ramp=Ramp.parse(ramp))[:top]
    if save_path:
        write_text(format_departures(select_departures(found, best_chart(rules))), save_path)
    if json_path:
        write_json({"indices": [index_json(index) for index in found]}, json_path)
    rows: list[list[Cell]] = [
        [Text(str(one.departure)), f"{one.break_even:+.2f}", f"{1e6 * one.gain:,.1f}", f"{1e6 * one.gain_bets:,.1f}"]
        for one in found
    ]
    headings = ["index play", "break-even true count", "gain, units per million rounds", f"with bets {ramp}"]
    print_table(Console(stderr=json_path == "-"), headings, rows)


def index_json(index: Index) -> dict[str, object]:
    """An index play as JSON."""
    play = index.departure
    return {
        "play": str(play), "row": play.row, "column": play.column, "action": play.action, "operator": play.operator,
        "count": float(Fraction(play.count)), "break_even": index.break_even, "gain": index.gain,
        "gain_bets": index.gain_bets,
    }  # fmt: skip
