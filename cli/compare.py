"""`bjsim compare`: how the value of the game and the best chart change from rule set to rule set."""

from __future__ import annotations

import math
from collections.abc import Sequence

import click
from rich import box
from rich.console import Console
from rich.table import Table as RichTable

from bjsim.cli.options import Names, json_option, the_rules, write_json
from bjsim.cli.render import percent
from bjsim.sim.errors import InputError
from bjsim.sim.presets import PRESETS
from bjsim.sim.rules import Rules, parse_field
from bjsim.sim.states import States
from bjsim.strategies.chart import runs
from bjsim.strategies.compare import Compared
from bjsim.strategies.compare import compare as compare_games

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
@json_option
def compare(names: list[str], vary: str | None, settings: tuple[str, ...], json_path: str | None) -> None:
    """Show what rules are worth: value and best chart of several games, in an infinite shoe.

    bjsim compare --rules vegas-s17,vegas-h17,atlantic-city

    bjsim compare --rules vegas-s17 --vary blackjack_pays=3/2,6/5,1
    """
    games = the_games(names, vary, settings)
    compared = compare_games(games)
    if json_path:
        write_json({"games": [compared_json(one) for one in compared]}, json_path)
    if not all(game.infinite for game in games):
        click.echo("the values are an infinite shoe's; the number of decks does not change them", err=True)
    show(Console(stderr=json_path == "-"), compared)


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
        games = [games[0].with_(**{field: text, "name": f"{field}={text}"}) for text in texts]
    if len(games) < 2:
        raise InputError("nothing to compare: give --rules two games or more, or --vary FIELD=V1,V2")
    return games


def show(console: Console, compared: Sequence[Compared]) -> None:
    """Print the games beside each other, then the cells that change."""
    table = RichTable(box=box.SIMPLE_HEAD)
    table.add_column("game")
    for heading in ("value", "difference", "sd", "cells changed"):
        table.add_column(heading, justify="right")
    for one in compared:
        changed = "other columns" if one.changes is None else str(len(one.changes))
        sd = "–" if math.isnan(one.sd) else f"{one.sd:.5f}"
        table.add_row(one.rules.name, percent(one.value, 6), percent(one.difference, 6), sd, changed)
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
    return [f"{row} v {runs(order, v)} {before} → {after}" for (row, before, after), v in columns.items()]


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
