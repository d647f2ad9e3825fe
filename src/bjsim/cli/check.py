"""`bjsim check`: what a strategy chart is worth, what the best is worth, and what every wrong cell costs."""

from __future__ import annotations

import math
import sys
from dataclasses import asdict
from pathlib import Path

import click
from rich.console import Console
from rich.text import Text

from bjsim.arguments import MOST_HANDS, MOST_WORKERS
from bjsim.cli.heatmap import benchmark, heat_map, plot_chart
from bjsim.cli.options import (
    Count,
    check_writable,
    decks_of,
    json_option,
    rules_options,
    seed_option,
    the_rules,
    until_option,
    write_json,
)
from bjsim.cli.plots import check_picture
from bjsim.cli.render import adjusted_return, percent
from bjsim.cli.run import play_chart
from bjsim.cli.screen import UNENDED
from bjsim.cli.tables import Cell, print_table
from bjsim.errors import InputError
from bjsim.run_result import RunResult
from bjsim.sim.game.rules import Rules
from bjsim.sim.running.workers import usable_cores
from bjsim.strategies.charts.chart import Chart
from bjsim.strategies.exact.evaluate import Evaluation, evaluate_chart
from bjsim.strategies.exact.reach import splits_for_ever
from bjsim.strategies.formats.files import WRITERS, decode, format_of, read_chart
from bjsim.strategies.players.catalogue import CATALOGUE
from bjsim.strategies.players.find import find_player

LISTED = 25  # cells shown in the terminal; the JSON has them all
ONLY_OF_RUN = ("missing", "until", "reached")  # keys that `bjsim run --json` writes


@click.command()
@click.argument("chart", metavar="CHART")
@rules_options
@click.option("--hands", type=Count(0), show_default="1e6", metavar="N", help="Hands to play, or 0.")
@until_option
@click.option("--workers", type=Count(1, MOST_WORKERS), help="Processes; all cores by default.")
@seed_option
@json_option
@click.option("--fix", "fix_path", metavar="FILE|-", help="Write the best chart, in the format of CHART.")
@click.option("--plot", "plot_path", metavar="FILE.png|.svg", help="Draw the chart with its wrong cells.")
def check(
    chart: str, rules_name: str, settings: tuple[str, ...], decks: str | None, hands: int | None,
    precision: float | None, workers: int | None, seed: int, json_path: str | None, fix_path: str | None,
    plot_path: str | None,
) -> None:  # fmt: skip
    """Say exactly what a strategy chart is worth, list its wrong cells with their cost, and play it.

    CHART is a file in the text, CSV or policy format, - for standard input, or a named strategy.
    """
    rules = the_rules(rules_name, settings, decks)
    judged, form = read(chart, rules)
    if plot_path:
        check_picture(plot_path)
    if json_path == "-" == fix_path:
        raise InputError("--json - and --fix - cannot both have the standard output")
    for path in (json_path, fix_path, plot_path):
        check_writable(path)
    if hands is None:
        hands = 10**6 if precision is None else MOST_HANDS
    evaluation = evaluate_chart(judged)
    if plot_path:
        plot_chart(evaluation, plot_path)
    console = Console(stderr="-" in (json_path, fix_path))
    if fix_path:
        _write(WRITERS[form](evaluation.best_chart), fix_path)
        if not rules.infinite:
            console.print(f"--fix wrote the infinite shoe's chart, not one for {decks_of(rules)}", highlight=False)
    ending = splits_for_ever(judged)
    played: RunResult | None = None
    if hands and not ending:
        cores = workers or usable_cores()
        played = play_chart(judged, hands, precision or 0.0, seed, cores, console.stderr)
    if json_path:
        write_json(check_json(evaluation, played), json_path)
    show(console, evaluation)
    if ending and hands:
        console.print(f"not played: it splits {ending[0]} against {ending[1]} for ever, so a round may never end")
    if played is not None:
        report(console, played)


def read(text: str, rules: Rules) -> tuple[Chart, str]:
    """The chart that the argument names, and the format it is written in. Raises: InputError."""
    if text == "-":
        data = decode(sys.stdin.buffer.read(), "standard input")
        return read_chart(data, "standard input", rules), format_of(data)
    if text in CATALOGUE or not Path(text).is_file():
        player = find_player(text, rules)
        if isinstance(player, Chart):
            return player, "chart"
        raise InputError(f"{text} is no chart: a player that decides in Python has no cells to check")
    try:
        data = decode(Path(text).read_bytes(), text)
    except OSError as error:
        raise InputError(f"cannot read the chart {text}: {error.strerror}") from None
    return read_chart(data, text, rules), format_of(data)


def _write(text: str, path: str) -> None:
    if path == "-":
        sys.stdout.write(text)
        return
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}") from None


def report(console: Console, played: RunResult) -> None:
    """Print what the hands played came to, and whether that agrees with the exact value."""
    if played.stopped:
        console.print("stopped: this is what is known so far", style="yellow")
    if played.failure:
        console.print(f"stopped: {played.failure}; {UNENDED}", style="yellow", highlight=False, soft_wrap=True)
    for result in played:
        low, high = result.point.ci95
        beside = "" if result.z is None else f", z {result.z:+.2f}"
        if result.adjusted and result.exact is None:
            beside = f"; luck-adjusted, it is worth {adjusted_return(result)} in this shoe"
        console.print(
            f"{result.tally.rounds:,} hands returned {percent(result.tally.mean)}, 95% interval "
            f"{percent(low)} … {percent(high)}{beside}: {result.verdict}",
            highlight=False, soft_wrap=True,
        )  # fmt: skip
    if not played:
        tally = played.progress.tallies[0]
        console.print(
            f"no return yet: {tally.rounds:,} rounds tied {tally.ties_replayed:,} bets, which are dealt again"
        )


def show(console: Console, evaluation: Evaluation) -> None:
    """Print the judgement: the chart, its wrong cells, and how their costs add up."""
    console.print(heat_map(evaluation), soft_wrap=True)
    name, rules = evaluation.chart.name, evaluation.chart.rules
    shoe = rules.name if rules.infinite else "an infinite shoe"
    within = "" if rules.infinite else "in an infinite shoe "
    console.print()
    if not rules.infinite:
        console.print(
            f"All prices here are an infinite shoe's. {rules.name} is played from {decks_of(rules)}, where a cell that "
            "costs something here may be right.",
            highlight=False, soft_wrap=True,
        )  # fmt: skip
    console.print(
        f"{name} is worth {percent(evaluation.value, 6)} of the bet in {shoe}; "
        f"{benchmark(evaluation)} is worth {percent(evaluation.best, 6)}",
        highlight=False, soft_wrap=True,
    )  # fmt: skip
    if evaluation.infinite_because:
        console.print(evaluation.infinite_because, highlight=False, soft_wrap=True)
    if not evaluation.cells:
        alike = "no cell differs: this is the best chart"
        if not rules.infinite:
            alike = f"it plays every cell as that chart does; for {decks_of(rules)} another may be better"
        console.print(alike, highlight=False, soft_wrap=True)
        return
    print_cells(console, evaluation)
    if len(evaluation.cells) > LISTED:
        console.print(f"… and {len(evaluation.cells) - LISTED} cells more, which --json lists", style="dim")
    if not math.isfinite(evaluation.difference):
        console.print("an infinite difference cannot be shared out among cells")
        return
    console.print(
        f"{within}{len(evaluation.cells)} cells cost {cost(evaluation.costs)} together; the whole difference is "
        f"{cost(evaluation.difference)}, remainder {cost(evaluation.remainder)}",
        highlight=False, soft_wrap=True,
    )  # fmt: skip
    console.print(
        f"each alone in {benchmark(evaluation)}: {cost(evaluation.difference - evaluation.second_order)} together; the "
        f"second-order terms, what they do to one another, are {cost(evaluation.second_order)}",
        highlight=False, soft_wrap=True, style="dim",
    )  # fmt: skip


def cost(value: float) -> str:
    """A cost in initial bets as percent of the bet; rounding errors do not print as a negative 0."""
    return f"{100 * (round(value, 10) + 0.0):.6f}%"


def print_cells(console: Console, evaluation: Evaluation) -> None:
    """The wrong cells, dearest first."""
    best = "best" if evaluation.chart.rules.infinite else "infinite shoe"
    rows: list[list[Cell]] = []
    for cell in evaluation.cells[:LISTED]:
        costs = ("–" if math.isnan(each) else cost(each) for each in (cell.cost, cell.alone))
        rows.append([*map(Text, (cell.row, cell.column, cell.chart, cell.best)), *costs])
    print_table(console, ["hand", "dealer", "chart", best, "cost", "alone"], rows)


def check_json(evaluation: Evaluation, played: RunResult | None) -> dict[str, object]:
    """What `--json` writes."""
    data = {} if played is None else played.to_json()
    run = {key: value for key, value in data.items() if key not in ONLY_OF_RUN} or None
    return {
        "chart": evaluation.chart.name,
        "rules": evaluation.chart.rules.to_dict(),
        "shoe": "inf",
        "value": evaluation.value,
        "best": evaluation.best,
        "difference": evaluation.difference,
        "costs": evaluation.costs,
        "remainder": _known(evaluation.remainder),
        "second_order": _known(evaluation.second_order),
        "cells": [asdict(cell) | {"alone": _known(cell.alone)} for cell in evaluation.cells],
        "run": run,
    }


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value
