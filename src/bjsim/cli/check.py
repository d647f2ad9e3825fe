"""`bjsim check`: the exact value of a strategy chart, of the best chart, and the cost of every wrong cell."""

import math
import sys
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path

import click
from rich.console import Console
from rich.text import Text

from bjsim.cli.captions import given_command
from bjsim.cli.check_page import plot_check, report_check
from bjsim.cli.heatmap import benchmark, heat_map
from bjsim.cli.options import counted, gathered, homework_rules
from bjsim.cli.pages import write_page
from bjsim.cli.tables import Cell, Printed, print_table
from bjsim.cli.waiting import waiting
from bjsim.cli.written import Files, html_option, json_option, plot_option, write_json, write_text
from bjsim.errors import InputError
from bjsim.sim.game.actions import NAMES
from bjsim.sim.game.events import format_decks, game_text
from bjsim.sim.game.rules import Rules
from bjsim.strategies.charts.chart import ELSE, Chart, WrongCell
from bjsim.strategies.evaluation.compare import Evaluation, evaluate_chart
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
from bjsim.strategies.tabular import percent

LISTED = 25  # wrong cells listed in the terminal; the JSON has all of them


@click.command()
@click.argument("chart", metavar="CHART...", nargs=-1, required=True)
@homework_rules
@json_option
@click.option(
    "--fix", "fix_path", metavar="FILE|-", help="Write the best chart, in the format of CHART; - for standard output."
)
@plot_option("Draw the chart with its wrong cells and costs.")
@html_option
@click.option("--echo", is_flag=True, help="Print the chart as it was understood, with every guess, and end.")
@gathered(files=Files)
def check(chart: tuple[str, ...], rules: Rules, files: Files, echo: bool) -> None:
    """Evaluate a strategy chart exactly, and list its wrong cells with their costs.

    CHART is a named strategy, a chart file, or - for standard input; several files, such as hard.csv soft.csv
    pairs.csv, are one chart. Charts are read as books, pages and programs have them: tables of any kind, lists of
    decisions, JSON and other nested lists, with ranges such as 5-8 or 18+ and codes such as SP, Uh or Y/N.
    """
    (judged, notes), form = read(chart, rules)
    if echo:
        card = "card" if rules.dealer_shows == "up" else "cards"
        click.echo(f"# on the left your hand, above the dealer's {card}\n{format_text(judged)}", nl=False)
    for note in notes:
        click.echo(note, err=not echo)
    if echo:
        return
    if files.json_path == "-" == files.fix_path:
        raise InputError("--json - and --fix - cannot both write to standard output")
    files.check()
    with waiting("solving the game"):
        evaluation = evaluate_chart(judged)
    if files.plot_path:
        plot_check(evaluation, files.plot_path, given_command())
    console = Console(stderr=files.quiet)
    if files.fix_path:
        write_text(WRITERS[form](evaluation.best_chart), files.fix_path)
        if evaluation.refusal:
            console.print(f"--fix wrote the chart for an infinite shoe, not for {format_decks(rules)}", highlight=False)
    if files.json_path:
        write_json(check_json(evaluation), files.json_path)
    if files.html_path:
        table = cell_table(evaluation, evaluation.cells)
        write_page(report_check(evaluation, table, cost_lines(evaluation), given_command()), files.html_path)
    show(console, evaluation, bool(files.json_path))


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


def show(console: Console, evaluation: Evaluation, in_json: bool) -> None:
    """Print the evaluation: the chart, its wrong cells, and how their costs add up; the JSON has all cells."""
    say = partial(console.print, highlight=False, soft_wrap=not console.is_terminal)
    console.print(heat_map(evaluation), soft_wrap=True)
    console.print()
    console.print(game_text(evaluation.chart.rules), highlight=False, soft_wrap=not console.is_terminal)
    name, rules = evaluation.chart.name, evaluation.chart.rules
    shoe = "an infinite shoe" if evaluation.refusal else rules.name
    if not evaluation.solution.infinite and not rules.fresh:
        shoe += f", first round of {format_decks(rules)}"
    if evaluation.refusal:
        say(
            f"All values below are for an infinite shoe, since {evaluation.refusal}. {rules.name} is played with "
            f"{format_decks(rules)}, where a cell marked as wrong may be right."
        )
    best = f"{benchmark(evaluation)}: {percent(evaluation.best, 6)}"
    say(f"value of {name} in {shoe}: {percent(evaluation.value, 6)} of the bet; {best}")
    if evaluation.solution.infinite_because:
        say(evaluation.solution.infinite_because)
    if evaluation.cells:
        print_table(console, *cell_table(evaluation, evaluation.cells[:LISTED]))
        if len(evaluation.cells) > LISTED:
            more = counted(len(evaluation.cells) - LISTED, "more cell")
            console.print(f"… and {more}{'' if in_json else '; --json lists them all'}", style="dim")
    for number, line in enumerate(cost_lines(evaluation)):
        say(line, style="dim" if number else "")


def cost_lines(evaluation: Evaluation) -> list[str]:
    if not evaluation.cells:
        if evaluation.refusal:
            decks = format_decks(evaluation.chart.rules)
            return [f"all cells equal those of that chart; another chart may be better with {decks}"]
        return ["no cell differs: this is the best chart"]
    if not math.isfinite(evaluation.difference):
        return ["an infinite difference cannot be divided among cells"]
    within = "in an infinite shoe " if evaluation.refusal else ""
    cells = "1 wrong cell costs" if len(evaluation.cells) == 1 else f"{len(evaluation.cells)} wrong cells cost"
    second = [cell for cell in evaluation.cells if cell.chart[0] == cell.best[0] in ELSE]
    counts = ", ".join(f"{cell.row} v {cell.column} {cell.chart} → {cell.best}" for cell in second)
    able = " or ".join(NAMES[letter] for letter in sorted({cell.best[0] for cell in second}))
    return [
        f"{within}{cells} {cost(evaluation.costs)} in total; the charts "
        f"differ by {cost(evaluation.difference)}, remainder {cost(evaluation.remainder)}",
        f"each alone in {benchmark(evaluation)}: {cost(evaluation.difference - evaluation.second_order)} in total; "
        f"interaction between the cells: {cost(evaluation.second_order)}",
        *(
            [f"{counts}: the second letter counts for hands of three or more cards, which may not {able}"]
            if second
            else []
        ),
    ]


def cost(value: float) -> str:
    """Format a cost, in initial bets, as a percentage of the bet; a rounding error never prints as -0."""
    return f"{100 * (round(value, 8) + 0.0):.6f}%"


def cell_table(evaluation: Evaluation, cells: Sequence[WrongCell]) -> Printed:
    rows: list[list[Cell]] = []
    for cell in cells:
        costs = ("–" if math.isnan(each) else cost(each) for each in (cell.cost, cell.alone))
        rows.append([*map(Text, (cell.row, cell.column, cell.chart, cell.best)), *costs])
    return ["hand", "dealer", "chart", "infinite shoe" if evaluation.refusal else "best", "cost", "alone"], rows


def check_json(evaluation: Evaluation) -> dict[str, object]:
    return {
        "chart": evaluation.chart.name,
        "rules": evaluation.chart.rules.to_dict(),
        "shoe": "inf" if evaluation.solution.infinite else int(evaluation.chart.rules.decks),
        "value": evaluation.value,
        "best": evaluation.best,
        "difference": evaluation.difference,
        "costs": evaluation.costs,
        "remainder": _known(evaluation.remainder),
        "second_order": _known(evaluation.second_order),
        "cells": [asdict(cell) | {"alone": _known(cell.alone)} for cell in evaluation.cells],
    }


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value
