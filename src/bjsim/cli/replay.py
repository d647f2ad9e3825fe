"""`bjsim replay`: deal any round of a run again, or a scripted shoe, and print it card by card."""

from __future__ import annotations

import click

from bjsim.arguments import MOST_TABLES
from bjsim.cli.options import Count, Names, bot_names, rules_options, seed_option, the_rules
from bjsim.errors import InputError
from bjsim.sim.game.actions import NAMES, Action, Player
from bjsim.sim.game.events import DEALER, Event
from bjsim.sim.game.round import Round, RoundResult
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.shoe import ScriptedShoe
from bjsim.sim.running.table import ReadableTable
from bjsim.strategies.players.find import find_player


@click.command()
@click.option("--bots", type=Names(bot_names), required=True, metavar="A[,B...]", help="As in the run.")
@click.option("--table", "table_number", type=Count(1, 10**9), default=1, show_default=True, help="Its table, from 1.")
@click.option("--round", "round_number", type=Count(), default=1, show_default=True, help="Its round, from 1.")
@click.option("--shoe", "shoe_path", metavar="FILE", help="Deal the cards of this file instead; plays all its rounds.")
@rules_options
@click.option("--tables", type=Count(1, MOST_TABLES), default=1, show_default=True, help="As in the run.")
@seed_option
def replay(
    bots: list[str], table_number: int, round_number: int, shoe_path: str | None, rules_name: str,
    settings: tuple[str, ...], decks: str | None, tables: int, seed: int,
) -> None:  # fmt: skip
    """Deal any round of a run again and print it card by card.

    Give the run's own --bots, --rules, --seed and --tables. Bots sit as in the run: so many to a table as the rules
    have seats, and every group of them has --tables tables, numbered on from group to group. Of a run with
    --common-cards give one bot alone: each of them played the tables of the first.
    """
    rules = the_rules(rules_name, settings, decks)
    if shoe_path:
        if len(bots) > rules.seats:
            raise InputError(f"--bots has {len(bots)} bots for one table; {rules.name} has {rules.seats} seats")
        _play_script(rules, [find_player(bot, rules) for bot in bots], ScriptedShoe.load(shoe_path))
        return
    group = (table_number - 1) // tables
    names = bots[group * rules.seats : (group + 1) * rules.seats]
    if not names:
        most = -(-len(bots) // rules.seats) * tables
        raise InputError(f"--table {table_number} is not accepted; this run has tables 1 to {most}")
    players = [find_player(bot, rules) for bot in names]
    click.echo(f"{rules.name}, seed {seed}, table {table_number}, round {round_number}")
    show(players, ReadableTable(rules, players).deal_again(seed, table_number - 1, round_number - 1))


def _play_script(rules: Rules, players: list[Player], shoe: ScriptedShoe) -> None:
    if not shoe.left:
        raise InputError(f"{shoe.name} holds no cards")
    number = 0
    while shoe.left:
        number += 1
        click.echo(f"round {number}")
        show(players, Round(rules, shoe, players).play())


def show(players: list[Player], played: RoundResult) -> None:
    """Print the events of a round, a line each."""
    names = [f"{player.name} (seat {seat})" for seat, player in enumerate(players, 1)]
    for event in played.events:
        click.echo("  " + line_of(event, names))
    for name, net, tied in zip(names, played.net, played.tied, strict=True):
        again = f", {tied} dealt again" if tied else ""
        click.echo(f"{name}: {'+' if net > 0 else ''}{net} bets{again}")


def line_of(event: Event, names: list[str]) -> str:
    """One event in words; `names` are the seats'."""
    who = "dealer" if event.seat == DEALER else names[event.seat]
    if event.hand:
        who += f", hand {event.hand + 1}"
    if event.what == "action":
        action = Action(event.detail[0])
        return f"{who}: {NAMES[action.letter]}{event.detail[1:]}"
    texts = {
        "shuffle": "the shoe is shuffled",
        "card": f"{who}: {event.detail}",
        "hidden": f"{who}: {event.detail} face down",
        "shown": f"dealer turns over {event.detail}",
        "peek": f"dealer peeks: {'a natural' if event.detail == 'natural' else 'no natural'}",
        "end": f"{who}: {event.detail}",
        "paid": f"{who}: paid {event.detail}",
    }
    return texts[event.what]
