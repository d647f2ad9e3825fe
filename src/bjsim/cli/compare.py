"""`bjsim compare`: how the value of the game and the best chart change from rule set to rule set."""

from __future__ import annotations

import math
from collections.abc import Sequence

import click
from rich import box
from rich.console import Console
from rich.table import Table as RichTable

from bjsim.cli.options import (
    MOST_HANDS,
    Count,
    Names,
    json_option,
    seed_option,
    the_rules,
    until_option,
    write_json,
)
from bjsim.cli.render import percent
from bjsim.cli.run import play_chart
from bjsim.errors import InputError
from bjsim.sim.arguments import MOST_WORKERS
from bjsim.sim.game.presets import PRESETS
from bjsim.sim.game.rules import Rules, parse_field
from bjsim.sim.game.states import States
from bjsim.sim.running.workers import usable_cores
from bjsim.sim.stats.luck_tally import LuckTally
from bjsim.strategies.charts.chart import format_ranges
from bjsim.strategies.exact.compare import Compared
from bjsim.strategies.exact.compare import compare as compare_games
from bjsim.strategies.exact.solver import Solver

LISTED = 20  # changed rows shown for a game; the JSON has them all


@click.command()
@click.option(
    "--rules",
    "names",
    type=Names(lambda: list(PRESETS)),
    default="easy",
    show_default=True,
    metavar="A[,B...]",
    help="Games: presets or TOML files; each is compared with the first.",
)
@click.option("--vary", metavar="FIELD=V1,V2...", help="One game with each of these values of a rule.")
@click.option("--set", "settings", multiple=True, metavar="FIELD=VALUE", help="Change a rule of all games; repeatable.")
@until_option
@seed_option
@click.option("--workers", type=Count(1, MOST_WORKERS), help="Processes for --until; all cores by default.")
@json_option
def compare(
    names: list[str], vary: str | None, settings: tuple[str, ...], precision: float | None, seed: int,
    workers: int | None, json_path: str | None,
) -> None:  # fmt: skip
    """Show what rules are worth: value and best chart of several games, in an infinite shoe.

    With --until also in their own shoes, where the best chart of the infinite one is played, luck-adjusted.

    bjsim compare --rules vegas-s17,vegas-h17,atlantic-city

    bjsim compare --rules vegas-s17 --vary blackjack_pays=3/2,6/5,1

    bjsim compare --rules vegas-s17 --vary cut=1/2,3/4,9/10 --until 0.005%
    """
    games = the_games(names, vary, settings)
    compared = compare_games(games)
    console = Console(stderr=json_path == "-")
    played: list[LuckTally | None] = [None] * len(games)
    if precision is not None:
        played = [in_its_shoe(one, precision, seed, workers or usable_cores(), console) for one in compared]
    if json_path:
        beside = zip(compared, played, strict=True)
        rows = [compared_json(one) | {"in_its_shoe": shoe_json(luck)} for one, luck in beside]
        write_json({"games": rows}, json_path)
    if precision is None and not all(game.infinite for game in games):
        click.echo("the values are an infinite shoe's; --until 0.01% plays the games in their own", err=True)
    show(console, compared, played)


def in_its_shoe(one: Compared, precision: float, seed: int, cores: int, console: Console) -> LuckTally | None:
    """The luck-adjusted return of the best chart in the game's own shoe; None for an infinite shoe, or stopped."""
    if one.rules.infinite:
        return None
    _, played = play_chart(Solver(one.rules).chart, MOST_HANDS, precision, seed, cores, console.stderr)
    if played.stopped:
        raise click.exceptions.Exit(130)
    return played.progress.tallies[0].luck


def shoe_json(luck: LuckTally | None) -> dict[str, object] | None:
    """A luck-adjusted return as `--json` writes it."""
    return None if luck is None else {"mean": luck.mean, "se": luck.se, "ci95": luck.ci95, "shoes": luck.shoes}


def the_games(names: Sequence[str], vary: str | None, settings: tuple[str, ...]) -> list[Rules]:
    """The games that the options ask for, two at least. Raises: InputError."""
    games = [the_rules(name, settings, None) for name in names]
    if vary is not None:
        field, equals, values = vary.partition("=")
        if len(games) > 1:
            raise InputError(f"--vary takes one game to start from, not {len(games)}: {', '.join(names)}")
        if not equals:
            raise InputError(f"--vary {vary} is not accepted; write FIELD=V1,V2, such as hit_soft_17=false,true")
        field = field.strip()
        texts = [text.strip() for text in values.split(",")]
        for text in texts:
            parse_field(field, text)
        games = [games[0].replace(**{field: text, "name": f"{field}={text}"}) for text in texts]
    if len(games) < 2:
        raise InputError("nothing to compare: give --rules two games or more, or --vary FIELD=V1,V2")
    return games


def show(console: Console, compared: Sequence[Compared], played: Sequence[LuckTally | None]) -> None:
    """Print the games beside each other, then the cells that change."""
    table = RichTable(box=box.SIMPLE_HEAD)
    table.add_column("game")
    for heading in ("value", "difference", "sd", "cells changed"):
        table.add_column(heading, justify="right")
    if any(played):
        table.add_column("in its own shoe", justify="right")
    for one, luck in zip(compared, played, strict=True):
        changed = "other columns" if one.changes is None else str(len(one.changes))
        sd = "–" if math.isnan(one.sd) else f"{one.sd:.5f}"
        shoe = [] if not any(played) else ["–" if luck is None else f"{percent(luck.mean)} ± {196 * luck.se:.4f}%"]
        table.add_row(one.rules.name, percent(one.value, 6), percent(one.difference, 6), sd, changed, *shoe)
    console.print(table)
    for one in compared[1:]:
        if one.changes:
            texts = change_texts(one)
            more = f", and {len(texts) - LISTED} rows more" if len(texts) > LISTED else ""
            listed = ", ".join(texts[:LISTED]) + more
            console.print(f"[bold]{one.rules.name}[/bold]: {listed}", highlight=False, soft_wrap=True)
        if one.only:
            text = f"  {one.rules.name}: hands in one of the two charts only: {' '.join(one.only)}"
            console.print(text, style="dim", highlight=False, soft_wrap=True)


def change_texts(one: Compared) -> list[str]:
    """The changes as one reads them, neighbouring columns drawn together: `A7 v 2 S → Ds`, `22 v 2-7 H → P`."""
    columns: dict[tuple[str, str, str], list[str]] = {}
    for change in one.changes or ():
        columns.setdefault((change.row, change.before, change.after), []).append(change.column)
    order = States(one.rules).columns
    return [f"{row} v {format_ranges(order, v)} {before} → {after}" for (row, before, after), v in columns.items()]


def compared_json(one: Compared) -> dict[str, object]:
    """A game as `--json` writes it."""
    return {
        "name": one.rules.name,
        "rules": one.rules.to_dict(),
        "value": one.value,
        "difference": one.difference,
        "sd": None if math.isnan(one.sd) else one.sd,
        "changes": one.changes and [change._asdict() for change in one.changes],
        "only": one.only,
    }
