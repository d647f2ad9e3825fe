"""`bjsim solve`: the exact tables, strategy and value of a game."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import click

from bjsim.cli.options import gathered, homework_rules
from bjsim.cli.solve_page import draw_solved
from bjsim.cli.solve_shoe import InShoe, print_exchange, print_hand, read_hand, read_shoe, shoe_options
from bjsim.cli.solve_tables import print_dealer, print_table, print_value
from bjsim.cli.waiting import waiting
from bjsim.cli.written import Files, html_option, json_option, plot_option, write_json
from bjsim.errors import InputError, suggest
from bjsim.sim.game.actions import NAMES
from bjsim.sim.game.events import game_text
from bjsim.sim.game.presets import PRESETS
from bjsim.sim.game.rules import Rules
from bjsim.strategies.exact.solver import Solver
from bjsim.strategies.exact.tables import Tables
from bjsim.strategies.exact.values import Number
from bjsim.strategies.formats.files import WRITERS
from bjsim.strategies.mdp.blackjack import find_reasons, measure_size, plain_size
from bjsim.strategies.shoe.exchange import exchange_values, value_in_shoe
from bjsim.strategies.shoe.solver import ShoeSolver, ShoeTables
from bjsim.strategies.solution import Solution

EXTRA = ("base-split", "value", "states")


class TableName(click.Choice[str]):
    """The name of a table; the error for the name of a game suggests --rules."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if value in PRESETS or str(value).endswith(".toml"):
            raise InputError(f"{value} is a game, not a table; write --rules {value}")
        name = str(value).lower().replace("_", "-")
        if name not in self.choices and (hint := suggest(name, self.choices)):
            raise InputError(f"no table is called '{value}'; {hint} Tables are {', '.join(self.choices)}")
        return super().convert(name if name in self.choices else value, param, ctx)


@click.command()
@click.argument("what", nargs=-1, type=TableName((*Tables.names, *EXTRA)), metavar="[TABLE]...")
@homework_rules
@click.option(
    "--format", "chart_format", type=click.Choice([*WRITERS]), help="Print only the best chart, in this file format."
)
@click.option("--exact", is_flag=True, help="Compute with exact fractions, and print them.")
@shoe_options
@json_option
@plot_option("Draw the strategy, its margins and the dealer.")
@html_option
@click.option("--card", is_flag=True, help="Draw a card to print: the strategy alone, without margins.")
@gathered(asked=InShoe, files=Files)
@waiting("solving the game")
def solve(
    what: tuple[str, ...], rules: Rules, chart_format: str | None, exact: bool, asked: InShoe, files: Files, card: bool
) -> None:
    """Print the exact tables, strategy and value of a game, in its own shoe.

    TABLE is initial, dealer, stand, hit, double, split, resplit, optimal, strategy or advantage (default: all of
    these), base-split (split hands that are not split again), value, or states (how many states the game has, and
    why). Values are in initial bets. `bjsim check` and `--bots` read every --format.
    """
    if asked.hand is not None and (what or chart_format or asked.strategy):
        raise InputError("--hand shows one decision; leave out TABLE, --format and --strategy")
    if chart_format and (what or files.json_path):
        raise InputError("--format prints only the chart; leave out TABLE and --json")
    drawn = files.plot_path or files.html_path
    if (asked.hand is not None or chart_format) and drawn:
        raise InputError(f"{'--format' if chart_format else '--hand'} draws nothing; leave out --plot and --html")
    if card and not drawn:
        raise InputError("--card changes the picture and the page; add --plot FILE.png or --html FILE")
    if asked.shoe and rules.infinite and not (rules.name in PRESETS and PRESETS[rules.name].rules.infinite):
        raise InputError("--shoe counts the cards of a finite shoe, and decks = inf has none; leave out one of them")
    files.check()
    if asked.hand is not None and "/" in asked.hand and asked.shoe is None:
        cards, shown = read_hand(asked.hand, rules)
        first, _, second = cards.partition("/")
        print_exchange(first, second, shown, exchange_values(rules, first, second, shown), files.json_path)
        return
    in_a_shoe = rules.exchange != "none" and not rules.infinite
    if what == ("value",) and in_a_shoe and not (exact or drawn or asked.strategy):
        with waiting("computing the value") as line:
            value = value_in_shoe(
                rules,
                read_shoe(asked.shoe) if asked.shoe else None,
                lambda done: line.say("computing the value", done, 1),
            )
        if files.json_path:
            write_json({"rules": rules.to_dict(), "value": value}, files.json_path)
        if not files.quiet:
            print_value(value)
        return
    tables = find_tables(rules, what, exact, asked)
    if asked.hand is not None:
        cards, shown = read_hand(asked.hand, rules)
        print_hand(cards, shown, tables.solution.values_by_strategy(cards, shown), files.json_path)
        return
    if chart_format:
        note_infinite_value(tables.solution, err=True)
        click.echo(WRITERS[chart_format](tables.solution.chart), nl=False)
        return
    if drawn:
        draw_solved(tables, files, game_text(rules, asked.shoe), card)
    if files.json_path:
        write_json(solve_json(tables, what or tables.names), files.json_path)
        if files.quiet:
            return
    for place, name in enumerate(what or tables.names):
        if place:
            click.echo()
        print_named(tables, name)


def find_tables(rules: Rules, what: tuple[str, ...], exact: bool, asked: InShoe) -> Tables | ShoeTables:
    """The tables of the game in the shoe that is asked for. Raises: InputError: The options do not go together."""
    if asked.shoe is None and rules.infinite:
        if asked.strategy is not None:
            raise InputError("--strategy needs a finite shoe; give --decks 1 to 8, or --shoe")
        return Tables(Solver(rules, Fraction if exact else float))
    if exact:
        raise InputError("--exact: fractions are for the infinite shoe; give --decks inf")
    for name in what:
        if name not in (*ShoeTables.names, "value"):
            raise InputError(
                f"the table {name} needs --decks inf; tables of a finite shoe: {', '.join(ShoeTables.names)}"
            )
    return ShoeTables(ShoeSolver(rules, None if asked.shoe is None else read_shoe(asked.shoe)), asked.strategy or "td")


def print_named(tables: Tables | ShoeTables, name: str) -> None:
    if name == "advantage":
        click.echo(f"Player Advantage: {plain_number(tables.value, 100)}")
        note_best_play(tables.solution)
    elif name == "value":
        print_value(tables.value)
        note_infinite_value(tables.solution)
        note_best_play(tables.solution)
    elif name == "states":
        click.echo("\n".join(size_lines(tables.solution.rules)))
    elif name == "dealer":
        print_dealer({shown: tables.solution.dealer(shown) for shown in tables.solution.shown})
    for title, table in tables.named(name).items():
        print_table(title, table)
    for exception in tables.exceptions if name == "strategy" else ():
        cards, action = ",".join(exception.cards), NAMES[exception.action]
        click.echo(f"{cards} v {exception.column}: {action} (+{100 * exception.gain:.6f}%)")


def note_infinite_value(solution: Solution, err: bool = False) -> None:
    if solution.infinite_because:
        click.echo(solution.infinite_because, err=err)


def note_best_play(solution: Solution) -> None:
    if known := solution.beyond_chart:
        click.echo(
            f"That is the chart's. Best play, which also knows {known}: {plain_number(solution.best_value, 100)}"
        )


def plain_number(value: Number, percent: int = 0) -> str:
    """Format a value as [Easy] does: `p/q` for a fraction, `%2.4f%%` for a percentage, otherwise all its digits."""
    if isinstance(value, Fraction) or value in (float("inf"), float("-inf")):
        return str(value)
    return f"{percent * value:2.4f}%" if percent else repr(float(value))


def solve_json(tables: Tables | ShoeTables, names: Sequence[str]) -> dict[str, object]:
    """The content of `--json`; fractions are text."""
    labelled = {title: table for name in names for title, table in tables.named(name).items()}
    cells = {
        title: {"rows": list(table.ylabels), "columns": list(table.xlabels), "cells": table.rows}
        for title, table in labelled.items()
    }
    data = {"rules": tables.solution.rules.to_dict(), **tables.to_json(cells)}
    sized = tables.solution.infinite and tables.solution.rules.exchange == "none"
    return data | ({"states": measure_size(tables.solution.rules).to_json()} if sized else {})


def size_lines(rules: Rules) -> list[str]:
    """Describe how many states the game has, and which rules add to them."""
    size, plain = measure_size(rules), plain_size(rules)
    lines = [
        f"{rules.name}: {size.states:,} states",
        f"  {size.decisions:,} with a decision: {size.hands} hands against {size.columns} dealer's cards "
        f"({size.unmerged_hands} hands before equivalent ones are merged)",
        f"  {size.results * size.columns:,} finished hands before the dealer plays, the deal, and the end",
    ]
    if size.split_hands:
        lines.append(f"  {size.split_hands * size.columns:,} split hands before their second card")
    if reasons := find_reasons(rules):
        lines.append(
            f"{size.states / plain.states:.2f} times the {plain.states:,} of a game of hit and stand only, because of:"
        )
        lines += [f"  {reason.why}: {reason.without.states:,} states without it" for reason in reasons]
    else:
        lines.append("as many as a game of hit and stand only: total, usable ace, dealer's card")
    return lines
