"""`bjsim check`: the exact value of a strategy chart, of the best chart, and the cost of every wrong cell."""

import sys
from collections.abc import Sequence
from pathlib import Path

import click

from bjsim.cli.options import Files, files_options, given_command, homework_rules, refuse_together
from bjsim.cli.waiting import waiting
from bjsim.errors import InputError
from bjsim.sim.game.events import format_decks
from bjsim.sim.game.rules import Rules
from bjsim.strategies.charts.chart import Chart
from bjsim.strategies.evaluation.compare import evaluate_chart
from bjsim.strategies.formats.cells import Reading
from bjsim.strategies.formats.files import (
    MAX_BYTES,
    WRITERS,
    decode,
    detect_format,
    format_text,
    read_bytes,
    read_files,
)
from bjsim.strategies.players.catalogue import CATALOGUE, find_player


@click.command()
@click.argument("chart", metavar="CHART...", nargs=-1, required=True)
@homework_rules
@click.option(
    "--fix", "fix_path", metavar="FILE|-", help="Write the best chart, in the format of CHART; - for standard output."
)
@files_options("Draw the chart with its wrong cells and costs.")
@click.option("--echo", is_flag=True, help="Print the chart as it was understood, with every guess, and end.")
def check(chart: tuple[str, ...], rules: Rules, files: Files, echo: bool) -> None:
    """Evaluate a strategy chart exactly, and list its wrong cells with their costs.

    CHART is a named strategy, a chart file, or - for standard input; several files, such as hard.csv soft.csv
    pairs.csv, are one chart. Charts are read as books, pages and programs have them: tables of any kind, lists of
    decisions, JSON and other nested lists, with ranges such as 5-8 or 18+ and codes such as SP, Uh or Y/N.
    """
    refuse_together("echo", "json_path", "plot_path", "html_path", "fix_path", why=", as --echo evaluates nothing")
    (judged, notes), form = read(chart, rules)
    if echo:
        card = "card" if rules.dealer_shows == "up" else "cards"
        click.echo(f"# on the left your hand, above the dealer's {card}\n{format_text(judged)}", nl=False)
    for note in notes:
        click.echo(note, err=not echo)
    if echo:
        return
    with waiting("solving the game"):
        evaluation = evaluate_chart(judged)
    try:
        text = WRITERS[form](evaluation.best_chart) if files.fix_path else ""
    except InputError:  # the format has no words for it: the evaluation is shown all the same
        if files.fix_path != "-":
            files._replace(fix_path=None).show(evaluation, given_command())
        raise
    files.show(evaluation, given_command(), text=text)
    if files.fix_path and evaluation.refusal:
        click.echo(f"--fix wrote the chart for an infinite shoe, not for {format_decks(rules)}", err=files.quiet)


def read(names: Sequence[str], rules: Rules) -> tuple[Reading, str]:
    """The chart that the arguments name, with notes on how it was read, and its format. Raises: InputError."""
    files: list[tuple[str, str]] = []
    for name in names:
        if name == "-":
            files.append(("standard input", decode(sys.stdin.buffer.read(MAX_BYTES + 1), "standard input")))
        elif len(names) > 1 or not (name in CATALOGUE or Path(name).is_dir() or not Path(name).exists()):
            files.append((name, decode(read_bytes(name), name)))
        else:
            player = find_player(name, rules)
            if isinstance(player, Chart):
                return Reading(player), "chart"
            raise InputError(f"{name} is not a chart: a player that decides in Python has no cells to check")
    return read_files(files, rules), detect_format(files[0][1])
