"""`bjsim compare`: how the value of a game and its best chart change with the rules."""

import itertools
import math
from collections.abc import Sequence

import click
from rich.console import Console
from rich.text import Text

from bjsim.arguments import MAX_HANDS
from bjsim.cli.options import (
    CASINO,
    Files,
    Names,
    Once,
    Sample,
    gathered,
    given_command,
    html_option,
    json_option,
    parse_varied,
    plot_option,
    seed_option,
    setting_option,
    ten_probability_option,
    the_rules,
    until_option,
    workers_option,
    write_json,
)
from bjsim.cli.pages import chart_part, point_at_cells, rules_part, table_part, write_page
from bjsim.cli.plots import Valued, plot_values
from bjsim.cli.run import play_on_screen
from bjsim.cli.tables import Cell, Printed, print_table
from bjsim.cli.waiting import waiting
from bjsim.errors import InputError, RunFailed
from bjsim.report import Definitions, Folded, Notes, Report, Section
from bjsim.request import RunRequest
from bjsim.sim.game.events import game_text
from bjsim.sim.game.presets import PRESETS
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.states import States
from bjsim.strategies.charts.chart import format_ranges
from bjsim.strategies.evaluation.compare import Compared, best_chart, differ_in_cut_alone, solve
from bjsim.strategies.evaluation.compare import compare as compare_games
from bjsim.strategies.evaluation.valued_chart import ValuedChart
from bjsim.strategies.results import BotResult
from bjsim.strategies.tabular import percent

# --- The picture and the report of `bjsim compare`: values of games, and their best strategies.


OPEN = 3  # games whose charts are all shown at first, but for that of the first


def plot_compared(
    compared: Sequence[Compared], played: Sequence[BotResult | None], seed: int, path: str, command: str
) -> None:
    games = []
    for number, (one, result) in enumerate(zip(compared, played, strict=True)):
        luck = result.adjusted if result else None
        text = percent(one.value) + (f"  ({percent(one.difference)})" if number else "")
        bounds = (luck.ci95[0], luck.mean, luck.ci95[1]) if luck and math.isfinite(luck.ci95[1]) else None
        if result and result.cut_card_effect:
            text += f"\ncut-card effect {cut_effect(result)}"
        about = game_text(one.rules).partition(": ")[2]
        games.append(Valued(one.rules.name, about, one.value, text, one.rules.fresh, bounds))
    lines = [
        f"The best strategy in {len(games)} games",
        "exact values; in brackets, the difference from the first",
    ]
    if any(played):
        lines.append(f"luck-adjusted returns with seed {seed}")
    plot_values(games, path, "\n".join(lines), command)


def cut_effect(result: BotResult) -> str:
    """A cut-card effect ± half its 95% interval."""
    effect = result.cut_card_effect
    return "–" if effect is None else f"{percent(effect.mean)} ± {50 * (effect.ci95[1] - effect.ci95[0]):.4f}%"


def report_compared(
    compared: Sequence[Compared],
    table: Printed,
    notes: Sequence[str],
    changes: Sequence[tuple[str, str]],
    command: str,
) -> Report:
    """Report the values of games, and their best strategies; `changes` has each that differs from the first's."""
    first = compared[0].rules.name
    charts = []
    for number, one in enumerate(compared):
        changed = {(change.row, change.column): change.before for change in one.changes or ()} if number else {}
        chart = ValuedChart.of_best(solve(one.rules)).with_others(changed)
        cells = "" if not number else "; 1 cell changed" if len(changed) == 1 else f"; {len(changed)} cells changed"
        cells = "; other columns" if one.changes is None else cells
        summary = f"{one.rules.name}: {percent(one.value, 6)}{cells}"
        charts.append(Folded(summary, number > 0 and len(compared) <= OPEN, [chart_part(chart)]))
    games = [one.rules for one in compared]
    about = f"Framed: differs from {first}, whose code is before the arrow. Other small numbers are margins in percent"
    parts = [
        Section("Values"),
        table_part("values", table),
        Notes(notes, small=True),
        *([Section("What changes in the best strategy"), Definitions(changes)] if changes else []),
        Section("The best strategies"),
        Notes([f"{about} of the bet."], small=True, on_screen=point_at_cells(games, after="")),
        *charts,
    ]
    title, lines = f"{len(compared)} games compared", [game_text(rules) for rules in games]
    return Report(title, lines, command, rules_part(games), parts, f"in {first}:")


CUT_PRECISION = 5e-5  # initial bets, where games differ only in their cut: a fraction of its effect, in a second or two
LISTED = 20  # changes listed for a game; the JSON has all of them


@click.command()
@click.option(
    "--rules",
    "names",
    cls=Once,
    several=", with a comma between games",
    type=Names(lambda: list(PRESETS)),
    default=CASINO,
    show_default=True,
    metavar="A[,B...]",
    help="Games, as presets or TOML files; each is compared with the first.",
)
@click.option(
    "--vary",
    "varied",
    multiple=True,
    metavar="FIELD=V1,V2...",
    help="Vary a rule: one game for each value; repeat it for all combinations.",
)
@ten_probability_option
@setting_option("decks", "N|inf", "Number of decks in all games; inf draws with replacement.")
@click.option("--set", "settings", multiple=True, metavar="FIELD=VALUE", help="Change a rule in all games; repeatable.")
@until_option
@seed_option
@workers_option("Number of processes for --until.")
@json_option
@plot_option("Draw the values of the games.")
@html_option
@gathered(sample=Sample, files=Files)
def compare(names: list[str], varied: tuple[str, ...], settings: tuple[str, ...], sample: Sample, files: Files) -> None:
    """Compare games: the exact values of their best charts, decks included, and so the effect of a rule.

    A value is that of a freshly shuffled shoe. With --until, and where games differ only in their cut, the best chart
    is also played in each finite shoe, for its luck-adjusted return and the cut-card effect.

    bjsim compare --rules vegas-s17,vegas-h17,atlantic-city

    bjsim compare --rules vegas-s17 --vary blackjack_pays=3/2,6/5,1

    bjsim compare --rules vegas-s17 --vary decks=1,2,6,8

    bjsim compare --rules vegas-s17 --vary cut=1/2,3/4,9/10
    """
    files.check()
    games = the_games(names, varied, settings)
    if sample.precision is None and differ_in_cut_alone(games):
        sample = sample._replace(precision=CUT_PRECISION)
    with waiting("solving the games") as line:
        compared = compare_games(games, lambda done: line.say("solving the games", done, len(games)))
    played: list[BotResult | None] = [None] * len(games)
    if sample.precision is not None:
        played = [in_its_shoe(one, sample._replace(hands=MAX_HANDS), files.quiet) for one in compared]
    if files.json_path:
        pairs = zip(compared, played, strict=True)
        write_json({"games": [compared_json(one) | shoe_json(result) for one, result in pairs]}, files.json_path)
    command = given_command(sample.seed if any(played) else None)
    if files.plot_path:
        plot_compared(compared, played, sample.seed, files.plot_path, command)
    if files.html_path:
        table, notes = value_table(compared, played), [*refusal_lines(compared), *fresh_lines(compared, played)]
        changes = [(one.rules.name, ", ".join(change_texts(one))) for one in compared[1:] if one.changes]
        write_page(report_compared(compared, table, notes, changes, command), files.html_path)
    show(Console(stderr=files.quiet), compared, played)


def in_its_shoe(one: Compared, sample: Sample, quiet: bool) -> BotResult | None:
    """The result of the best chart in the game's own shoe; None for an infinite shoe."""
    if one.rules.infinite:
        return None
    chart = best_chart(one.rules)
    request = RunRequest(one.rules, [chart], sample.hands, sample.precision, sample.seed, workers=sample.workers)
    played = play_on_screen(request, quiet)[1]
    if played.stopped:
        raise click.exceptions.Exit(130)
    if played.failure:
        raise RunFailed(played.failure)
    return played[0]


def shoe_json(result: BotResult | None) -> dict[str, object]:
    luck = result.adjusted if result else None
    effect = result.cut_card_effect if result else None
    return {
        "in_its_shoe": luck and {"mean": luck.mean, "se": luck.se, "ci95": luck.ci95, "shoes": luck.shoes},
        "cut_card_effect": effect and effect._asdict(),
    }


def the_games(names: Sequence[str], varied: Sequence[str], settings: tuple[str, ...]) -> list[Rules]:
    """The games that the options choose, at least two. Raises: InputError."""
    games = [the_rules(name, settings) for name in names]
    if varied:
        if len(games) > 1:
            raise InputError(f"--vary takes one game, not {len(games)}: {', '.join(names)}")
        grid = itertools.product(*parse_varied(varied))
        games = [
            games[0].replace(**dict(point), name=", ".join(f"{field}={text}" for field, text in point))
            for point in grid
        ]
    if len(games) < 2:
        raise InputError("nothing to compare; give --rules two or more games, or --vary FIELD=V1,V2")
    return games


def show(console: Console, compared: Sequence[Compared], played: Sequence[BotResult | None]) -> None:
    print_table(console, *value_table(compared, played))
    for one in compared if compared[-1].rules.name in PRESETS else compared[:1]:  # what varies names the others
        console.print(game_text(one.rules), style="dim", highlight=False, soft_wrap=not console.is_terminal)
    for line in refusal_lines(compared):
        console.print(line, style="yellow", highlight=False, soft_wrap=not console.is_terminal)
    for line in fresh_lines(compared, played):
        console.print(line, style="dim", highlight=False, soft_wrap=not console.is_terminal)
    for one in compared[1:]:
        if one.changes:
            texts = change_texts(one)
            more = f", and {len(texts) - LISTED} more" if len(texts) > LISTED else ""
            listed = ", ".join(texts[:LISTED]) + more
            console.print(
                f"[bold]{one.rules.name}[/bold]: {listed}", highlight=False, soft_wrap=not console.is_terminal
            )
        if one.only:
            text = f"  {one.rules.name}: hands in only one of the two charts: {' '.join(one.only)}"
            console.print(text, style="dim", highlight=False, soft_wrap=not console.is_terminal)


def value_table(compared: Sequence[Compared], played: Sequence[BotResult | None]) -> Printed:
    headings = ["game", "value", "difference", "sd", "cells changed"]
    rows: list[list[Cell]] = []
    for one, result in zip(compared, played, strict=True):
        changed = "other columns" if one.changes is None else str(len(one.changes))
        sd = "–" if math.isnan(one.sd) else f"{one.sd:.5f}"
        found = ["–", "–"] if result is None else [str(result.adjusted or "–"), cut_effect(result)]
        shoe = found if any(played) else []
        rows.append([Text(one.rules.name), percent(one.value, 6), percent(one.difference, 6), sd, changed, *shoe])
    return headings + ["luck-adjusted", "cut-card effect"] * any(played), rows


def refusal_lines(compared: Sequence[Compared]) -> list[str]:
    """Which figures are for an infinite shoe, and why."""
    return [
        f"{one.rules.name}: value, sd and cells are for an infinite shoe, since {one.refusal}"
        for one in compared
        if one.refusal
    ]


def fresh_lines(compared: Sequence[Compared], played: Sequence[BotResult | None]) -> list[str]:
    """That values are of a fresh shoe, where a game does not have one in every round."""
    if all(one.rules.fresh for one in compared):
        return []
    more = "" if any(played) else "; add --until 0.01% for the effect of the cut cards"
    return [f"values are exact, of a freshly shuffled shoe{more}"]


def change_texts(one: Compared) -> list[str]:
    """The changes in words, with adjacent columns as ranges: `A7 v 2 S → Ds`, `22 v 2-7 H → P`."""
    columns: dict[tuple[str, str, str], list[str]] = {}
    for change in one.changes or ():
        columns.setdefault((change.row, change.before, change.after), []).append(change.column)
    order = States(one.rules).columns
    return [f"{row} v {format_ranges(order, v)} {before} → {after}" for (row, before, after), v in columns.items()]


def compared_json(one: Compared) -> dict[str, object]:
    return {
        "name": one.rules.name,
        "rules": one.rules.to_dict(),
        "value": one.value,
        "difference": one.difference,
        "sd": None if math.isnan(one.sd) else one.sd,
        "changes": one.changes and [change._asdict() for change in one.changes],
        "only": one.only,
        "shoe": "inf" if one.rules.infinite or one.refusal else int(one.rules.decks),
    }
