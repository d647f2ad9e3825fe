"""`bjsim solve`: the exact tables, strategy and value of a game."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import click

from bjsim.cli.captions import given_command
from bjsim.cli.options import check_writable, html_option, json_option, rules_options, the_rules, write_json
from bjsim.cli.plots import check_drawings
from bjsim.cli.solve_page import draw_solved
from bjsim.cli.solve_shoe import print_hand, read_hand, shoe_options, solve_shoe
from bjsim.cli.solve_tables import print_dealer, print_table, print_value
from bjsim.cli.waiting import waiting
from bjsim.errors import InputError, suggest
from bjsim.sim.game.presets import PRESETS
from bjsim.sim.game.rules import Rules
from bjsim.strategies.exact.labelled_table import LabelledTable
from bjsim.strategies.exact.solver import Solver
from bjsim.strategies.exact.tables import TABLES, Tables
from bjsim.strategies.exact.values import Number
from bjsim.strategies.formats.files import WRITERS
from bjsim.strategies.mdp.size import find_reasons, measure_size, plain_size

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
@click.argument("what", nargs=-1, type=TableName((*TABLES, *EXTRA)), metavar="[TABLE]...")
@rules_options
@click.option(
    "--format", "chart_format", type=click.Choice([*WRITERS]), help="Print only the best chart, in this file format."
)
@click.option("--exact", is_flag=True, help="Compute with exact fractions, and print them.")
@shoe_options
@json_option
@click.option("--plot", "plot_path", metavar="FILE.png|.svg", help="Draw the strategy, its margins and the dealer.")
@html_option
@click.option("--card", is_flag=True, help="Draw a card to print: the strategy alone, without margins.")
@click.pass_context
@waiting("solving the game")
def solve(
    context: click.Context, /, what: tuple[str, ...], rules_name: str, settings: tuple[str, ...], decks: str | None,
    chart_format: str | None, exact: bool, strategy: str | None, shoe: str | None,
    hand: str | None, json_path: str | None, plot_path: str | None, html_path: str | None, card: bool,
) -> None:  # fmt: skip
    """Print the exact tables, strategy and value of a game, in its own shoe.

    TABLE is initial, dealer, stand, hit, double, split, resplit, optimal, strategy or advantage (default: all of
    these), base-split (split hands that are not split again), value, or states (how many states the game has, and
    why). Values are in initial bets. `bjsim check` and `--bots` read every --format.
    """
    if hand is not None and (what or chart_format or strategy):
        raise InputError("--hand shows one decision; leave out TABLE, --format and --strategy")
    if chart_format and (what or json_path):
        raise InputError("--format prints only the chart; leave out TABLE and --json")
    if (hand is not None or chart_format) and (plot_path or html_path):
        raise InputError(f"{'--format' if chart_format else '--hand'} draws nothing; leave out --plot and --html")
    if card and not (plot_path or html_path):
        raise InputError("--card changes the picture and the page; add --plot FILE.png or --html FILE")
    check_writable(json_path)
    check_drawings(plot_path, html_path)
    rules = the_rules(rules_name, settings, decks)
    command = given_command(context)
    if shoe is not None or not rules.infinite:
        if exact:
            raise InputError("--exact: fractions are for the infinite shoe; give --decks inf")
        shoe_solver = solve_shoe(rules, what, strategy, shoe, hand, chart_format, json_path)
        exceptions = shoe_solver.exceptions if strategy not in (None, "td") else ()
        draw_solved(shoe_solver, plot_path, html_path, command, strategy or "td", exceptions, shoe, card)
        return
    if strategy is not None:
        raise InputError("--strategy needs a finite shoe; give --decks 1 to 8, or --shoe")
    solver = Solver(rules, Fraction if exact else float)
    if hand is not None:
        cards, shown = read_hand(hand)
        print_hand(cards, shown, {"best play": solver.hand_values(cards, shown)}, json_path)
        return
    if chart_format:
        _note_infinite_value(solver, err=True)
        click.echo(WRITERS[chart_format](solver.chart), nl=False)
        return
    tables = Tables(solver)
    draw_solved(solver, plot_path, html_path, command, card=card)
    if json_path:
        write_json(solve_json(solver, tables, what or TABLES), json_path)
        if json_path == "-":
            return
    for place, name in enumerate(what or TABLES):
        if place:
            click.echo()
        _print(solver, tables, name)


def _print(solver: Solver, tables: Tables, name: str) -> None:
    if name == "advantage":
        click.echo(f"Player Advantage: {plain_number(tables.advantage(), 100)}")
    elif name == "value":
        print_value(solver.value)
        _note_infinite_value(solver)
    elif name == "states":
        click.echo("\n".join(size_lines(solver.rules)))
    elif name == "dealer":
        print_dealer(tables.dealer())
    else:
        for title, table in _tables(tables, name).items():
            print_table(title, table)


def _note_infinite_value(solver: Solver, err: bool = False) -> None:
    if solver.infinite_because:
        click.echo(solver.infinite_because, err=err)


def plain_number(value: Number, percent: int = 0) -> str:
    """Format a value as [Easy] does: `p/q` for a fraction, `%2.4f%%` for a percentage, otherwise all its digits."""
    if isinstance(value, Fraction) or value in (float("inf"), float("-inf")):
        return str(value)
    return f"{percent * value:2.4f}%" if percent else repr(float(value))


def _tables(tables: Tables, name: str) -> dict[str, LabelledTable]:
    if name == "resplit":
        return {f"resplit{more}": tables.resplit(more) for more in (1, 2)}
    table: LabelledTable = getattr(tables, name.replace("-", "_"))()
    return {name: table}


def solve_json(solver: Solver, tables: Tables, names: tuple[str, ...]) -> dict[str, object]:
    """The content of `--json`; fractions are text."""
    labelled: dict[str, LabelledTable] = {}
    for name in names:
        if name not in ("dealer", "advantage", "value", "states"):
            labelled |= _tables(tables, name)
    data: dict[str, object] = {
        "rules": solver.rules.to_dict(),
        "shoe": "inf",
        "tables": {
            name: {
                "rows": list(table.ylabels),
                "columns": list(table.xlabels),
                "cells": [[_json_number(cell) for cell in row] for row in table.rows],
            }
            for name, table in labelled.items()
        },
        "dealer": {
            c: {str(o): _json_number(p) for o, p in probabilities.items()}
            for c, probabilities in tables.dealer().items()
        },
        "advantage": _json_number(solver.value),
        "value": _json_number(solver.value),
        "sd": solver.sd,
        "states": measure_size(solver.rules).to_json(),
    }
    return data


def _json_number(value: object) -> object:
    return str(value) if isinstance(value, Fraction) else value


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
