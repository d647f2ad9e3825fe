"""`bjsim solve`: the exact tables, strategy and value of a game."""

import math
import re
import shutil
import sys
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

import click

from bjsim.arguments import argument
from bjsim.cli.options import (
    Files,
    counted,
    files_options,
    gathered,
    given_command,
    homework_rules,
    read_shoe,
    write_json,
)
from bjsim.cli.waiting import waiting
from bjsim.errors import InputError, suggest
from bjsim.report.parts import DataColumn, DataTable, Report, Section, percent
from bjsim.sim.game.actions import LETTERS, NAMES
from bjsim.sim.game.cards import RANKS
from bjsim.sim.game.events import game_text
from bjsim.sim.game.presets import PRESETS
from bjsim.sim.game.rules import Rules
from bjsim.strategies.evaluation.valued_chart import ValuedChart, describe_best, usual_legend
from bjsim.strategies.exact.solver import Solver
from bjsim.strategies.exact.tables import LabelledTable, Tables, dealer_lines
from bjsim.strategies.exact.values import Number
from bjsim.strategies.formats.files import WRITERS
from bjsim.strategies.formats.words import parse_dealt
from bjsim.strategies.mdp.blackjack import find_reasons, measure_size, plain_size
from bjsim.strategies.shoe.exchange import exchange_values, value_in_shoe
from bjsim.strategies.shoe.plays import STRATEGIES
from bjsim.strategies.shoe.solver import ShoeSolver, ShoeTables
from bjsim.strategies.solution import Solution

# --- Prints the tables of `bjsim solve`: with units and folded on a terminal, as in [Easy] to files and pipes.


CORNER = "you \\ dealer"
VALUES = "expected profit in initial bets"
MEANINGS = {
    "initial": "probability of the first hands",
    "hit": f"{VALUES}; best play afterwards",
    "resplit1": f"{VALUES}; one more hand is allowed",
    "resplit2": f"{VALUES}; two more hands are allowed",
    "base-split": f"{VALUES} of a split hand, not split again",
    "optimal": f"{VALUES} of the best action",
}


def screen_width() -> int | None:
    """Columns of the terminal; None for a file or pipe."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def print_table(name: str, table: LabelledTable) -> None:
    width = screen_width()
    if width is None:
        click.echo(f"{name.capitalize()}\n{table}")
        return
    meaning = MEANINGS.get(name, VALUES)
    if name == "strategy":
        meaning = "; ".join(usual_legend({str(code) for row in table.rows for code in row if code}).values())
    click.secho(textwrap.fill(f"{name.capitalize()}: {meaning}", width), bold=True)
    before = ""
    for line in table.folded(width, CORNER).splitlines():
        label, cells = line[: len(CORNER)], line[len(CORNER) :]
        repeated = name == "stand" and cells == before  # totals that lose to every dealer's hand but a bust
        click.echo(label + click.style(cells, dim=True) if repeated else line)
        before = cells


def print_dealer(dealer: Mapping[str, Mapping[int, Number]]) -> None:
    """Print the distribution of the dealer's final total for each of the dealer's hands."""
    width = screen_width()
    if width is not None:
        click.secho(f"Dealer: probability of each final total, 0 for a bust; {counted(len(dealer), 'hand')}", bold=True)
    click.echo("\n".join(dealer_lines(dealer, width or math.inf)))


def print_value(value: Number) -> None:
    """Print the value of a game: a percentage on a terminal, all digits in bets to files and pipes."""
    if isinstance(value, Fraction):
        click.echo(value if screen_width() is None else f"{value} of the bet")
    elif screen_width() is None or math.isinf(value):
        click.echo(repr(float(value)) if math.isfinite(value) else str(value))
    else:
        click.echo(f"{100 * value:+.6f}% of the bet")


# --- The options of `bjsim solve` for a finite shoe, and the values of one hand.


class InShoe(NamedTuple):
    """What `solve` is asked about a finite shoe: a strategy, its cards, and one hand."""

    strategy: str | None
    shoe: str | None
    hand: str | None


def shoe_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of `solve` for a finite shoe."""
    for option in (
        click.option(
            "--hand",
            metavar="'T,6 v T'",
            help="All actions of one hand, in a finite shoe by strategy; with an exchange, two hands: 'T,5 / 6,T v 6'.",
        ),
        click.option("--shoe", metavar="A=4,2=3,...", help="The cards in the shoe, if not whole decks."),
        click.option(
            "--strategy",
            type=click.Choice(STRATEGIES),
            help="Strategy in a finite shoe: td is a chart; td-2c adds two-card exceptions; cdz-, cdp1 and cdp use all "
            "cards of the hand. With resplits, cdp needs to know how many hands a split will make, which no player "
            "does before the first is played.",
        ),
    ):
        command = option(command)
    return command


def read_hand(text: str, rules: Rules) -> tuple[str, str]:
    """Parse `T,6 v T` into the hand's and the dealer's cards. Raises: InputError: They are not those of a question."""
    both = rules.dealer_shows == "both"
    parts = re.split(r"\s+(?:v|vs|against)\.?\s+", text.strip(), flags=re.IGNORECASE)
    hands = [parse_dealt(hand) for hand in parts[0].split("/")]  # 16 is a total, not an ace and a six
    shown = parse_dealt(parts[-1])
    if len(parts) != 2 or None in hands or not shown:
        example, dealer = ("the dealer's two cards: T,6 v T,7", "T,7") if both else ("the dealer's card: T,6 v T", "T")
        total = int(parts[0]) if parts[0].isdecimal() and len(parts[0]) < 3 else 0
        pairs = [f"{RANKS[card - 1]},{total - card}" for card in range(10, 1, -1) if 1 < total - card < card]
        way = f"write the cards, v, and {example}"
        if pairs:
            way = f"{total} is a total: write its cards, such as {pairs[0]} v {dealer}"
        raise InputError(f"{argument('hand')}: {text!r} is not accepted; {way}")
    cards = "/".join(filter(None, hands))
    if len(shown) != 1 + both:
        hint = "both of its cards: write two after v, as in T,6 v T,7" if both else "one card: write one after v"
        raise InputError(f"{argument('hand')}: {text!r} is not accepted; in {rules.name} the dealer shows {hint}")
    return cards, shown


def legal_letters(values: Mapping[str, Mapping[str, Number]]) -> list[str]:
    """The letters of the actions that have a value for every strategy, in their usual order."""
    return [letter for letter in LETTERS if all(letter in ev for ev in values.values())]


def best_letters(values: Mapping[str, Mapping[str, Number]]) -> dict[str, str]:
    """The letter of the best action by strategy."""
    letters = legal_letters(values)
    return {name: max(letters, key=ev.__getitem__) for name, ev in values.items()}


def print_exchange(first: str, second: str, shown: str, values: Mapping[str, float], json_path: str | None) -> None:
    """Print what two hands win as dealt, and with their second cards exchanged."""
    if json_path:
        write_json({"hands": [first, second], "shown": shown, "values": dict(values)}, json_path)
        if json_path == "-":
            return
    hands = {"S": f"{first} {second}", "X": f"{first[0]}{second[1]} {second[0]}{first[1]}"}
    table = LabelledTable(str, ["both hands"], ["keep " + hands["S"], "exchange " + hands["X"], "best"])
    for (letter, value), verb in zip(values.items(), ("keep ", "exchange "), strict=True):
        table[verb + hands[letter], "both hands"] = f"{value: .9f}"
    table["best", "both hands"] = "exchange" if values["X"] > values["S"] else "keep"
    if screen_width():
        click.secho(f"{first} and {second} against {shown}: expected profit of both hands in bets of one", bold=True)
    click.echo(table)


def print_hand(cards: str, shown: str, values: Mapping[str, Mapping[str, Number]], json_path: str | None) -> None:
    """Print every action of one hand, by strategy."""
    if json_path:
        write_json({"hand": cards, "shown": shown, "values": values}, json_path)
        if json_path == "-":
            return
    letters, best = legal_letters(values), best_letters(values)
    table = LabelledTable(str, tuple(values), [NAMES[letter] for letter in letters] + ["best"])
    for name, ev in values.items():
        for letter in letters:
            table[NAMES[letter], name] = str(ev[letter]) if isinstance(ev[letter], Fraction) else f"{ev[letter]: .9f}"
        table["best", name] = NAMES[best[name]]
    if screen_width():
        click.secho(f"{cards} against {shown}: expected profit in initial bets, by strategy", bold=True)
    click.echo(table)


# --- The picture and the page of `bjsim solve`: the best strategy with its margins, and the dealer's outcomes.


def describe_solved(tables: Tables | ShoeTables, game: str, is_card: bool) -> Report:
    """A solved game, with a line about it; a card is the chart alone."""
    solution, plain = tables.solution, tables.followed == "td"
    report = describe_best(solution, game, None if plain else tables.value, tables.followed, is_card)
    details = [] if is_card else [ValuedChart.of_best(solution).details()]
    return replace(report, parts=[*report.parts, *exceptions_parts(tables), *details])


def exceptions_parts(tables: Tables | ShoeTables) -> list[Any]:
    """The two-card exceptions to the chart, if there are any."""
    columns = [
        DataColumn("", "hand", lambda one: ",".join(one.cards), is_text=True),
        DataColumn("", "dealer", lambda one: one.column),
        DataColumn("", "action", lambda one: NAMES[one.action]),
        DataColumn("", "gain", lambda one: percent(one.gain, 6, "")),
    ]
    section = Section(f"Two-card exceptions of {tables.followed}", 3)
    return [section, DataTable("exceptions", columns, tables.exceptions)] if tables.exceptions else []


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
@files_options("Draw the strategy, its margins and the dealer.")
@click.option("--card", is_flag=True, help="Draw a card to print: the strategy alone, without margins.")
@gathered(asked=InShoe)
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
                read_shoe(asked.shoe),
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
        files.draw(replace(describe_solved(tables, game_text(rules, asked.shoe), card), command=given_command()))
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
    return ShoeTables(ShoeSolver(rules, read_shoe(asked.shoe)), asked.strategy or "td")


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
