"""`bjsim check`: the exact value of a strategy chart, of the best chart, and the cost of every wrong cell."""

import math
import sys
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.text import Text

from bjsim.cli.options import (
    Files,
    counted,
    gathered,
    given_command,
    homework_rules,
    html_option,
    json_option,
    plot_option,
    without_folders,
    write_json,
    write_text,
)
from bjsim.cli.pages import chart_part, point_at_cells, rules_part, table_part, write_page
from bjsim.cli.plots import ACTION_COLOURS, Words, plot_valued, usual_legend
from bjsim.cli.tables import Cell, Printed, print_table
from bjsim.cli.waiting import waiting
from bjsim.errors import InputError
from bjsim.report import Figures, Notes, Report, Section
from bjsim.sim.game.actions import NAMES
from bjsim.sim.game.events import format_decks, game_text
from bjsim.sim.game.rules import Rules
from bjsim.strategies.charts.chart import ELSE, PAIR, Chart, WrongCell, parse_row
from bjsim.strategies.evaluation.compare import Evaluation, evaluate_chart
from bjsim.strategies.evaluation.valued_chart import ValuedChart
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

# --- A chart in the terminal with a colour for each action, and a `!` after the code of a wrong cell.


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


# --- The picture and the report of `bjsim check`: a chart with its wrong cells and their costs.


def plot_check(evaluation: Evaluation, path: str, command: str) -> None:
    chart = ValuedChart.of_evaluated(evaluation)
    title, lines = _heading(evaluation)
    cells, best = len(evaluation.cells), benchmark(evaluation)
    differ = "no cell differs" if not cells else "1 cell differs" if cells == 1 else f"{cells} cells differ"
    notes = [f"Framed: differs from {best}, whose code is after the arrow; below, the cost in % of the bet."]
    values = f"value {percent(evaluation.value, 4)} of the bet, {best} {percent(evaluation.best, 4)}"
    codes = {cell.code for cell in chart.cells.values()} | {cell.other for cell in chart.cells.values() if cell.other}
    text = Words(title, [*lines, f"{values}, exact; {differ}"], usual_legend(codes), notes if cells else [], command)
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
