"""A solved game with its tables, and the values of one hand in it, as reports."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache, partial
from typing import Any

from bjsim.arguments import argument
from bjsim.errors import InputError
from bjsim.report.parts import (
    Code,
    DataColumn,
    DataTable,
    Figures,
    Folded,
    Notes,
    Only,
    Report,
    Section,
    Value,
    percent,
    share,
)
from bjsim.sim.game.actions import LETTERS, NAMES
from bjsim.sim.game.cards import RANKS, parse_rank
from bjsim.sim.game.dealer import course
from bjsim.sim.game.events import game_text
from bjsim.sim.game.rules import Rules
from bjsim.strategies.evaluation.valued_chart import (
    GIVEN,
    OUTCOMES,
    ValuedChart,
    best_title,
    describe_best,
    game_lines,
    given,
    usual_legend,
)
from bjsim.strategies.exact.tables import LabelledTable, Tables, cell_text, dealer_lines
from bjsim.strategies.exact.values import Number
from bjsim.strategies.formats.words import parse_dealt
from bjsim.strategies.mdp.blackjack import find_reasons, measure_size, plain_size
from bjsim.strategies.shoe.exchange import exchange_values
from bjsim.strategies.shoe.solver import ShoeTables
from bjsim.strategies.solution import Solution, precedes_look

CORNER = "you\\dealer"
PROFIT = "expected profit in initial bets"
MEANINGS = {
    "initial": "probability of the first hands",
    "hit": f"{PROFIT}; best play afterwards",
    "resplit1": f"{PROFIT}; one more hand is allowed",
    "resplit2": f"{PROFIT}; two more hands are allowed",
    "base-split": f"{PROFIT} of a split hand, not split again",
    "optimal": f"{PROFIT} of the best action",
}
IN_A_SHOE = {"hit": f"{PROFIT}; the best chart afterwards", "optimal": f"{PROFIT} of the chart's action"}
STRATEGIES_NOTE = (
    "td plays by a chart of totals; td-2c has exceptions for two cards; cdz-, cdp1 and cdp use all cards of the hand, "
    "and differ in what they know after a split."
)

# --- The tables: with units and as wide as the screen on a terminal, as in [Easy] in files and pipes.


def describe_solved(tables: Tables | ShoeTables, names: Sequence[str], game: str, is_card: bool) -> Report:
    """A solved game: the tables of these names on a terminal, else its best strategy; a card is the chart alone."""
    solution, named = tables.solution, cache(tables.named)

    def on_page() -> list[Any]:
        value = None if tables.followed == "td" else tables.value
        best = describe_best(solution, game, value, tables.followed, is_card)
        details = [] if is_card else [ValuedChart.of_best(solution).details()]
        return [*best.parts, *exceptions_parts(tables), *details]

    def printed() -> Iterator[Any]:
        for place, name in enumerate(names):
            if place:
                yield Code("", [Notes([])])
            yield from _printed(tables, name)
            for title, table in named(name).items():
                yield Code(f"{title.capitalize()}\n{table}", [_on_screen(title, table, solution.infinite)])
            yield from exceptions_parts(tables) if name == "strategy" else ()

    def data() -> dict[str, Any]:
        labelled = {title: table for name in names for title, table in named(name).items()}
        cells = {
            title: {"rows": list(table.ylabels), "columns": list(table.xlabels), "cells": table.rows}
            for title, table in labelled.items()
        }
        sized = solution.infinite and solution.rules.exchange == "none"
        states = {"states": measure_size(solution.rules).to_json()} if sized else {}
        return {"rules": solution.rules.to_dict(), **tables.to_json(cells), **states}

    parts = [Only("page", on_page), Only("terminal", printed)]
    return Report(best_title(solution.rules), game_lines(solution, game), parts, [solution.rules], data=data)


def value_part(value: Number) -> Code:
    """A value: all its digits in bets, a percentage on a terminal."""
    if isinstance(value, Fraction) or math.isinf(value):
        return Code(str(value), [Notes([f"{value} of the bet"])])
    return Code(repr(float(value)), [Notes([percent(value, 6, unit="% of the bet")])])


def exceptions_parts(tables: Tables | ShoeTables) -> list[Any]:
    """The two-card exceptions to the chart, if there are any."""
    columns = [
        DataColumn("", "hand", lambda one: ",".join(one.cards), is_text=True),
        DataColumn("", "dealer", lambda one: one.column),
        DataColumn("", "action", lambda one: NAMES[one.action]),
        DataColumn("", "gain", lambda one: one.gain, partial(share, digits=6)),
    ]
    section = Section(f"Two-card exceptions of {tables.followed}", 3)
    return [section, DataTable("", columns, tables.exceptions)] if tables.exceptions else []


def _printed(tables: Tables | ShoeTables, name: str) -> Iterator[Any]:
    """What is no labelled table."""
    solution = tables.solution
    best = f"That is the chart's. Best play, which also knows {solution.beyond_chart}: "
    beyond = [best + _advantage(solution.best_value)] if solution.beyond_chart else []
    match name:
        case "advantage":
            yield Notes([f"Player Advantage: {_advantage(tables.value)}", *beyond])
        case "value":
            yield value_part(tables.value)
            yield Notes([*filter(None, [solution.infinite_because]), *beyond])
        case "states":
            yield Notes(size_lines(solution.rules))
        case "dealer":
            dealer = {shown: solution.dealer(shown) for shown in solution.shown}
            totals = dict.fromkeys(total for chances in dealer.values() for total in chances)
            columns = [DataColumn("", "dealer", str, is_text=True)]
            for total in totals:
                chances = {shown: each.get(total) for shown, each in dealer.items()}
                columns.append(DataColumn("", OUTCOMES.get(total, str(total)), chances.get, _number))
            title = f"Dealer: probability of each final total{given(solution.rules, totals)}"
            table = DataTable("", columns, list(dealer), title, turns=False)
            yield Code("\n".join(dealer_lines(dealer)), [table])


def _on_screen(title: str, table: LabelledTable, is_infinite: bool) -> DataTable:
    meaning = (MEANINGS if is_infinite else IN_A_SHOE).get(title, PROFIT)
    if title == "strategy":
        meaning = "; ".join(usual_legend({str(code) for row in table.rows for code in row if code}).values())
    columns = [DataColumn("", CORNER, str, is_text=True)]
    for label in table.xlabels:
        cells = {row: table[row, label] for row in table.ylabels}
        columns.append(DataColumn("", str(label), cells.get, partial(cell_text, unit=table.unit)))
    return DataTable("", columns, table.ylabels, f"{title.capitalize()}: {meaning}", turns=False)


def _number(value: Number, form: str = ".6f") -> str:
    return format(value, form) if isinstance(value, float) else str(value)


def _advantage(value: Number) -> str:
    """A value as [Easy] prints it."""
    return str(value) if isinstance(value, Fraction) or math.isinf(value) else f"{100 * value:2.4f}%"


def size_lines(rules: Rules) -> list[str]:
    """How many states the game has, and which rules add to them."""
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


# --- One hand.


def hands_of(total: int) -> list[str]:
    """The pairs of cards with a hard total, those with high cards first."""
    return [f"{RANKS[high - 1]},{RANKS[total - high - 1]}" for high in range(10, 1, -1) if 2 <= total - high <= high]


def read_hand(text: str, rules: Rules) -> tuple[str, str]:
    """Parse `T,6 v T` into the hand's and the dealer's cards. Raises: InputError: They are not those of a question."""
    both = rules.dealer_shows == "both"
    parts = re.split(r"\s+(?:v|vs|against)\.?\s+", text.strip(), flags=re.IGNORECASE)
    hands = [parse_dealt(hand) for hand in parts[0].split("/")]  # 16 is a total, not an ace and a six
    shown = parse_dealt(parts[-1])
    if len(parts) != 2 or None in hands or not shown:
        example, dealer = ("the dealer's two cards: T,6 v T,7", "T,7") if both else ("the dealer's card: T,6 v T", "T")
        total = int(parts[0]) if parts[0].isdecimal() and len(parts[0]) < 3 else 0
        pairs = hands_of(total)
        way = f"write the cards, v, and {example}"
        if pairs:
            way = f"{total} is a total: write its cards, such as {pairs[0]} v {dealer}"
        raise InputError(f"{argument('hand')}: {text!r} is not accepted; {way}")
    cards = "/".join(filter(None, hands))
    if len(shown) != 1 + both:
        hint = "both of its cards: write two after v, as in T,6 v T,7" if both else "one card: write one after v"
        raise InputError(f"{argument('hand')}: {text!r} is not accepted; in {rules.name} the dealer shows {hint}")
    return cards, shown


def describe_hand(solution: Solution, cards: str, shown: str, game: str) -> Report:
    """The value of every action of a hand, by what strategy follows."""
    values = solution.values_by_strategy(cards, shown)
    first, *others = values.values()
    letters = [letter for letter in LETTERS if all(letter in ev for ev in values.values())]
    letters.sort(key=lambda letter: -first[letter])

    def column(name: str, ev: Mapping[str, Number]) -> DataColumn:
        best = NAMES[max(letters, key=ev.__getitem__)]
        return DataColumn("", name, lambda row: ev.get(row, best), partial(_number, form="+.9f"))

    action = DataColumn("", "action", lambda row: NAMES.get(row, row), is_text=True)
    columns = [action, *(column(name, ev) for name, ev in values.items())]
    table = DataTable("", columns, [*letters, "best"])
    against = course(solution.rules, parse_rank(shown[0]))
    looked = against.looks or (against.takes == "original" and not solution.infinite)
    no_natural = f", {GIVEN}" if looked and not precedes_look(solution.rules, cards, shown, len(letters)) else ""
    profit = DataColumn("", "expected profit", lambda letter: float(first[letter]), "{:+.6f}".format)
    on_page = [
        Figures([Value("", "best action", f"{NAMES[letters[0]]} ({float(first[letters[0]]):+.6f})")]),
        Notes([f"{PROFIT.capitalize()}{no_natural}."]),
        DataTable("moves", [action, profit], letters),
        Folded("all digits, and other strategies afterwards", False, [table]),
        Notes([STRATEGIES_NOTE] if others else [], "dim"),
    ]
    title = f"{cards} against {shown}"
    printed = table._replace(title=f"{title}: {PROFIT}{no_natural}")
    parts = [Only("page", lambda: on_page), Only("terminal", lambda: [printed])]
    data = {"hand": cards, "shown": shown, "values": values}
    return Report(title, game_lines(solution, game), parts, [solution.rules], data=lambda: data)


def describe_exchange(rules: Rules, cards: str, shown: str) -> Report:
    """What two hands, `T6/92`, win as dealt, and with their second cards exchanged."""
    one, other = cards.split("/", 1)
    values = exchange_values(rules, one, other, shown)
    ways = {f"keep {one} {other}": values["S"], f"exchange {one[0]}{other[1]} {other[0]}{one[1]}": values["X"]}
    columns = [
        DataColumn("", "second cards", str, is_text=True),
        DataColumn("", "expected profit of both hands, in bets of one", ways.get, "{:+.9f}".format),
    ]
    best = "exchange" if values["X"] > values["S"] else "keep"
    parts = [
        Figures([Value("", "best action", f"{best} ({max(values.values()):+.6f})")]),
        DataTable("", columns, list(ways)),
    ]
    data = {"hands": [one, other], "shown": shown, "values": values}
    return Report(f"{one} and {other} against {shown}", [game_text(rules)], parts, [rules], data=lambda: data)
