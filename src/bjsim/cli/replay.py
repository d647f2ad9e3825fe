"""`bjsim replay`: replay any round of a run, or play a scripted shoe, and print it card by card."""

import click

from bjsim.asked.kinds import Count
from bjsim.asked.signature import REQUIRED
from bjsim.bots.seats import is_program
from bjsim.cli.asked import ask
from bjsim.cli.options import homework_rules, refuse_together
from bjsim.cli.waiting import waiting
from bjsim.errors import InputError
from bjsim.sim.game.actions import Player
from bjsim.sim.game.events import RoundResult, describe, game_text
from bjsim.sim.game.round import Round
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.shoe import ScriptedShoe
from bjsim.sim.running.table import ReadableTable
from bjsim.strategies.players.catalogue import find_player


@click.command()
@ask("bots", "The bots of the run.", REQUIRED)
@ask("table", "Number of the table, from 1.", 1, kind=Count(most=10**9), variable="table_number")
@ask("round", "Number of the round, from 1.", 1, kind=Count(example="4711"), variable="round_number")
@click.option("--shoe", "shoe_path", metavar="FILE", help="Play the cards in this file instead, to the last round.")
@homework_rules
@ask("tables", "The --tables of the run.", 1)
@ask("seed", default=1)
@waiting("replaying")
def replay(
    bots: list[str], table_number: int, round_number: int, shoe_path: str | None, rules: Rules, tables: int, seed: int
) -> None:
    """Replay any round of a run and print it card by card.

    Give the --bots, --rules, --seed and --tables of the run. The bots share tables as in the run: each table takes as
    many as the rules have seats, and each such group has --tables tables, numbered consecutively from group to group.
    """
    if programs := [bot for bot in bots if is_program(bot)]:
        raise InputError(f"--bots {', '.join(programs)}: rounds of programs are not replayed; name strategies")
    refuse_together("shoe_path", "table_number", "round_number", "tables", "seed", why=", as --shoe is played whole")
    if shoe_path:
        if len(bots) > rules.seats:
            raise InputError(f"--bots names {len(bots)} bots, but a table of {rules.name} has {rules.seats} seats")
        players, shoe, number = [find_player(bot, rules) for bot in bots], ScriptedShoe.load(shoe_path), 0
        if not shoe.left:
            raise InputError(f"{shoe.name} contains no cards")
        while shoe.left:
            number += 1
            click.echo(f"round {number}")
            show(players, Round(rules, shoe, len(players)).play(players))
        return
    group = (table_number - 1) // tables
    names = bots[group * rules.seats : (group + 1) * rules.seats]
    if not names:
        most = -(-len(bots) // rules.seats) * tables
        raise InputError(f"--table {table_number} is not accepted; this run has tables 1 to {most}")
    players = [find_player(bot, rules) for bot in names]
    click.echo(f"{game_text(rules)}; seed {seed}, table {table_number}, round {round_number}")
    show(players, ReadableTable(rules, players).replay(seed, table_number - 1, round_number - 1))


def show(players: list[Player], played: RoundResult) -> None:
    """Print a round, one line for each event, and what each seat won."""
    names = [f"{player.name} (seat {seat})" for seat, player in enumerate(players, 1)]
    for event in played.events:
        click.echo("  " + describe(event, names))
    for name, net, tied in zip(names, played.net, played.tied, strict=True):
        replayed = f", {tied} tied and replayed" if tied else ""
        click.echo(f"{name}: {'+' if net > 0 else ''}{net} {'bet' if abs(net) == 1 else 'bets'}{replayed}")
