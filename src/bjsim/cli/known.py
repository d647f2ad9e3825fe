"""`bjsim known`: the value of a game to a player who knows a card."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from bjsim.cli.asked import asked_of
from bjsim.cli.options import Files, files_options, given_command, rules_options

if TYPE_CHECKING:
    from bjsim.sim.game.rules import Rules


@click.command()
@click.argument("card", type=click.Choice(["first", "up", "hole"]))
@rules_options
@asked_of("bjsim.strategies.evaluation.known:known")
@files_options("Draw the value by card.")
def known(card: str, rules: Rules, files: Files, **given: Any) -> None:
    """Compute the value of a game to a player who knows a card.

    first, the player's first card, and up, the dealer's upcard, are known before the bet; hole, the dealer's hole card,
    before the first decision. Values are in initial bets.
    """
    from bjsim.strategies.evaluation.known import known as compute

    files.show(compute(rules, card, **given), given_command())
