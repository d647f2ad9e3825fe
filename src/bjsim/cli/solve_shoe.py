"""`bjsim solve` for a finite shoe: exact tables, strategies and values, drawing without replacement."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from fractions import Fraction

import click

from bjsim.cli.options import write_json
from bjsim.cli.solve_tables import print_dealer, print_table, print_value, screen_width
from bjsim.errors import InputError
from bjsim.sim.game.rules import Rules
from bjsim.strategies.exact.labelled_table import LabelledTable
from bjsim.strategies.exact.values import Number
from bjsim.strategies.formats.files import WRITERS
from bjsim.strategies.shoe.lookup import STRATEGIES
from bjsim.strategies.shoe.solver import ShoeSolver

TABLES = ("dealer", "stand", "hit", "double", "split", "optimal", "strategy", "advantage")
INFINITE_ONLY = ("initial", "resplit", "base-split", "states")
ACTIONS = {"S": "stand", "H": "hit", "D": "double", "P": "split", "R": "surrender"}


def shoe_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of `solve` for a finite shoe."""
    for option in (
        click.option("--hand", metavar="'T,6 v T'", help="All actions of one hand, in a finite shoe by strategy."),
        click.option("--shoe", metavar="A=4,2=3,...", help="The cards in the shoe, if not whole decks."),
        click.option(
            "--strategy", type=click.Choice(STRATEGIES),
            help="Strategy in a finite shoe: td is a chart; td-2c adds two-card exceptions; cdz-, cdp1 and cdp use all "
            "cards of the hand. With resplits, cdp needs to know how many hands a split will make, which no player "
            "does before the first is played.",
        ),
    ):  # fmt: skip
        command = option(command)
    return command


def read_shoe(text: str) -> dict[str, int]:
    """Parse `A=4,2=3,...`. Raises: InputError: A part cannot be parsed; the message names it."""
    counts: dict[str, int] = {}
    for part in text.split(","):
        card, equals, count = part.strip().partition("=")
        if not equals or not count.strip().isdigit():
            raise InputError(f"--shoe: {part.strip()!r} is not accepted; write CARD=COUNT, such as A=4,2=3,T=16")
        if card.strip().upper() in counts:
            raise InputError(f"--shoe: {card.strip()} is given twice")
        counts[card.strip().upper()] = int(count)
    return counts


def read_hand(text: str) -> tuple[str, str]:
    """Parse `T,6 v T` into the hand's and the dealer's cards. Raises: InputError: It cannot be parsed."""
    parts = re.split(r"\s+(?:v|vs|against)\.?\s+", text.strip(), flags=re.IGNORECASE)
    if len(parts) != 2 or re.search(r"1[1-9]", text):  # 16 is a total, not an ace and a six
        raise InputError(f"--hand: {text!r} is not accepted; write the cards, v, and the dealer's card: T,6 v T")
    cards, shown = (re.sub(r"[\s,]", "", part.upper().replace("10", "T")) for part in parts)
    return cards, shown


def solve_shoe(
    rules: Rules, what: tuple[str, ...], strategy: str | None, shoe: str | None, hand: str | None,
    chart_format: str | None, json_path: str | None,
) -> ShoeSolver:  # fmt: skip
    """Run `bjsim solve` for a finite shoe, and return its solver."""
    for name in what:
        if name in INFINITE_ONLY:
            raise InputError(f"the table {name} needs --decks inf; tables of a finite shoe: {', '.join(TABLES)}")
    solver = ShoeSolver(rules, None if shoe is None else read_shoe(shoe))
    strategy = strategy or "td"
    if hand is not None:
        cards, shown = read_hand(hand)
        values = {name: solver.hand_values(cards, shown, name) for name in STRATEGIES}
        print_hand(cards, shown, values, json_path)
        return solver
    if chart_format:
        click.echo(WRITERS[chart_format](solver.chart), nl=False)
        return solver
    if json_path:
        write_json(shoe_json(solver, what or TABLES, strategy), json_path)
        if json_path == "-":
            return solver
    for index, name in enumerate(what or TABLES):
        if index:
            click.echo()
        _print(solver, name, strategy)
    return solver


def shoe_json(solver: ShoeSolver, names: tuple[str, ...], strategy: str) -> dict[str, object]:
    """Return the output of `--json`; values are in initial bets."""
    tables = {name: table for name in names if (table := _table(solver, name)) is not None}
    fixed = strategy != "cdp"  # the play of cdp after a split depends on the number of hands
    return {
        "rules": solver.rules.to_dict(),
        "shoe": dict(zip("A23456789TJQK", solver.composition.ranks, strict=True)),
        "strategy": strategy,
        "value": solver.value_of(strategy),
        "strategies": {name: solver.value_of(name) for name in STRATEGIES},
        "by_upcard": {name: solver.by_upcard(name) for name in STRATEGIES},
        "sd": solver.sd_of(strategy) if fixed else None,
        "removal": _removal(solver, strategy) if fixed else None,
        "exceptions": [exception.__dict__ for exception in solver.exceptions],
        "tables": {
            name: {"rows": list(table.ylabels), "columns": list(table.xlabels), "cells": table.rows}
            for name, table in tables.items()
        },
    }


def _removal(solver: ShoeSolver, strategy: str) -> dict[str, float] | None:
    """Return the effects of removal; None if a round could exhaust the shoe with a card less."""
    try:
        return solver.removal(strategy)
    except InputError:
        return None


def _print(solver: ShoeSolver, name: str, strategy: str) -> None:
    if name == "advantage":
        click.echo(f"Player Advantage: {100 * solver.value_of(strategy):2.4f}%")
    elif name == "value":
        print_value(solver.value_of(strategy))
    elif name == "dealer":
        print_dealer({shown: solver.dealer(shown) for shown in solver.shown})
    elif (table := _table(solver, name)) is not None:
        print_table(name, table)
        if name == "strategy" and strategy != "td":
            for exception in solver.exceptions:
                cards, action = ",".join(exception.cards), ACTIONS[exception.action]
                click.echo(f"{cards} v {exception.column}: {action} (+{100 * exception.gain:.6f}%)")


def _table(solver: ShoeSolver, name: str) -> LabelledTable | None:
    shown = solver.by_upcard()
    columns = [column for column in solver.game.states.columns if column in shown]
    rows = [row for row in solver.game.rows if row not in ("21", "A10")]
    if name == "strategy":
        table = LabelledTable(str, columns, rows)
        for row in rows:
            for column in columns:
                table[row, column] = solver.chart.cells[row, column]
        return table
    letters = {title: letter for letter, title in ACTIONS.items()}
    if name not in letters and name != "optimal":
        return None
    table = LabelledTable(float, columns, rows)
    for (row, column), values in solver.cell_values().items():
        letter = solver.chart.cells[row, column][0] if name == "optimal" else letters[name]
        if row in rows and letter in values:
            table[row, column] = values[letter]
    return table


def print_hand(cards: str, shown: str, values: Mapping[str, Mapping[str, Number]], json_path: str | None) -> None:
    """Print every action of one hand, by strategy."""
    if json_path:
        data = {
            name: {k: str(v) if isinstance(v, Fraction) else v for k, v in ev.items()} for name, ev in values.items()
        }
        write_json({"hand": cards, "shown": shown, "values": data}, json_path)
        if json_path == "-":
            return
    letters = [letter for letter in ACTIONS if all(letter in ev for ev in values.values())]
    table = LabelledTable(str, tuple(values), [ACTIONS[letter] for letter in letters] + ["best"])
    for name, ev in values.items():
        for letter in letters:
            table[ACTIONS[letter], name] = str(ev[letter]) if isinstance(ev[letter], Fraction) else f"{ev[letter]: .9f}"
        table["best", name] = ACTIONS[max(letters, key=ev.__getitem__)]
    if screen_width():
        click.secho(f"{cards} against {shown}: expected profit in initial bets, by strategy", bold=True)
    click.echo(table)
