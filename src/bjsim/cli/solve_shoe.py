"""The options of `bjsim solve` for a finite shoe, and the values of one hand."""

import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import NamedTuple

import click

from bjsim.arguments import argument
from bjsim.cli.solve_tables import screen_width
from bjsim.cli.written import write_json
from bjsim.errors import InputError
from bjsim.sim.game.actions import NAMES
from bjsim.sim.game.cards import RANKS
from bjsim.sim.game.rules import Rules
from bjsim.strategies.exact.tables import LabelledTable
from bjsim.strategies.exact.values import Number
from bjsim.strategies.formats.words import parse_dealt
from bjsim.strategies.shoe.plays import STRATEGIES


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
    return [letter for letter in "SHDPR" if all(letter in ev for ev in values.values())]


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
