"""`bjsim bot ask` and `bjsim bot trace`: what a bot receives, and what it answers."""

from pathlib import Path
from typing import Any

import click

from bjsim.bots.check import situation
from bjsim.bots.contest.config import Contest
from bjsim.bots.protocol import printable, printable_lines
from bjsim.cli.bot_game import bot_rules, open_player
from bjsim.cli.options import Count, bot_options, counted
from bjsim.errors import InputError
from bjsim.sim.game.actions import HIT
from bjsim.sim.game.cards import RANKS
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.shoe import MAX_SEED
from bjsim.strategies.players.catalogue import find_player

OTHERS = "lim17"  # plays in the other seats


@click.command("ask", short_help="Ask a bot for one move.")
@click.argument("path", metavar="BOT", type=click.Path(path_type=Path))
@click.argument("hand")
@click.argument("card")
@bot_rules
@click.option("--chips", type=Count(), help="Chips of the bot before the round.  [default: those of the rules]")
@bot_options
def ask_once(
    path: Path, hand: str, card: str, contest: Contest, rules: Rules, chips: int | None, **options: Any
) -> None:
    """Ask a bot for one move: with the cards HAND, such as T6 or T24, against the dealer's CARD.

    All cards of the hand after the second were hit for. Lines with > go to the bot, and those with < come from it. The
    exit status is 1 after a fault.
    """
    from bjsim.bots.trials import TracedSeat

    for letter in (hand := hand.upper()) + (card := card.upper()):
        if letter not in RANKS:
            raise InputError(f"{letter} is not a card; use {' '.join(RANKS)}")
    if len(hand) < 2 or len(card) != 1:
        raise InputError("give a hand of two or more cards, and one card of the dealer, such as: T6 9")
    asked = situation(rules, hand, card, [HIT] * (len(hand) - 2), chips)
    if asked is None:
        raise InputError(f"{rules.name}: a bot is never asked with {hand} against {card}")
    from bjsim.bots.line import Transcript

    with open_player(path, contest, click.echo, **options) as player:
        seat = TracedSeat(player, Transcript(rules), 1, _echo)
        seat.move(asked.view)
        _show_errors(seat.leave())
        times = player.ms_per_move()["median"]
        if times is not None:
            click.echo(f"{times:.2f} ms")
    if seat.faults:
        raise click.exceptions.Exit(1)


@click.command(short_help="Play a match, and print all that a bot receives and answers.")
@click.argument("path", metavar="BOT", type=click.Path(path_type=Path))
@bot_rules
@click.option("--rounds", type=Count(1, 1000), default=5, show_default=True, help="Length of the match.")
@click.option("--seed", type=Count(0, MAX_SEED), default=1, show_default=True, help="Random seed of the cards.")
@bot_options
def trace(path: Path, contest: Contest, rules: Rules, rounds: int, seed: int, **options: Any) -> None:
    """Play a match with a bot in the first seat, and print what it receives (>) and answers (<); ! marks a fault.

    lim17 plays in all other seats. What the bot wrote to stderr follows.
    """
    from bjsim.bots.trials import trace_match

    others = find_player(OTHERS, rules)
    with open_player(path, contest, click.echo, **options) as player:
        seat = trace_match(player, rules, others, rounds, seed, _echo)
        _show_errors(seat.leave(rules.chips))
    if not seat.asked:
        click.echo(f"no move was asked in {counted(rounds, 'round')}; try --seed {seed + 1} or more --rounds")
    if seat.faults:
        raise click.exceptions.Exit(1)


def _echo(line: str) -> None:
    click.echo(printable(line))


def _show_errors(errors: bytes) -> None:
    if errors:
        click.echo("stderr:\n" + printable_lines(errors.decode("utf-8", "backslashreplace").rstrip("\n")))
