"""`bjsim known`: the value of a game to a player who knows a card."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from bjsim.cli.options import json_option, rules_options, write_json

if TYPE_CHECKING:
    from bjsim.sim.game.rules import Rules
    from bjsim.strategies.evaluation.known import KnownCards


@click.command()
@click.argument("what", type=click.Choice(["first", "up", "hole"]))
@rules_options
@click.option("--shoe", metavar="A=4,2=3,...", help="The cards that the round is dealt from, if not whole decks.")
@json_option
def known(what: str, rules: Rules, shoe: str | None, json_path: str | None) -> None:
    """Compute the value of a game to a player who knows a card.

    first, the player's first card, and up, the dealer's upcard, are known before the bet; hole, the dealer's hole card,
    before the first decision. Values are in initial bets.
    """
    from bjsim.strategies.evaluation.known import known as compute

    cards = None
    if shoe:
        from bjsim.cli.solve import read_shoe  # imports the solver of shoes

        cards = read_shoe(shoe)
    found = compute(rules, what, shoe=cards)
    if json_path:
        figures = {"game": found.game, "value": found.value, "selective": found.selective, "values": dict(found.values)}
        write_json(figures, json_path)
    if json_path != "-":
        print_known(found, what)


def print_known(found: KnownCards, what: str) -> None:
    """Print the values by card, and best play where the card changes it."""
    from bjsim.strategies.formats.files import format_text

    click.echo(f"the game: {100 * found.game:+.4f}%")
    if what == "hole":
        click.echo(f"with the hole card known: {100 * found.value:+.4f}%")
    else:
        click.echo(f"with bets only at a positive value: {100 * found.selective:+.4f}% of a bet in a round")
    click.echo("\ncard   probability      value")
    for name, value in found.values.items():
        click.echo(f"{name:<4}  {100 * found.chances[name]:10.4f}%  {100 * value:+8.4f}%")
    if what == "hole":
        click.echo(f"\n{format_text(found.chart)}", nl=False)
