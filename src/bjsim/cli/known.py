"""`bjsim known`: the value of a game to a player who knows a card."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from bjsim.cli.options import Files, files_options, given_command, read_shoe, rules_options

if TYPE_CHECKING:
    from bjsim.sim.game.rules import Rules


@click.command()
@click.argument("card", type=click.Choice(["first", "up", "hole"]))
@rules_options
@click.option("--shoe", metavar="A=4,2=3,...", help="The cards that the round is dealt from, if not whole decks.")
@files_options("Draw the value by card.")
def known(card: str, rules: Rules, shoe: str | None, files: Files) -> None:
    """Compute the value of a game to a player who knows a card.

    first, the player's first card, and up, the dealer's upcard, are known before the bet; hole, the dealer's hole card,
    before the first decision. Values are in initial bets.
    """
    from bjsim.strategies.evaluation.known import known as compute

    files.show(compute(rules, card, shoe=read_shoe(shoe)), given_command())
