"""`bjsim known`: the value of a game to a player who knows a card, and of a bet on a predicted one."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from bjsim.cli.options import Precision, rules_options
from bjsim.cli.written import json_option, write_json
from bjsim.errors import InputError

if TYPE_CHECKING:
    from bjsim.sim.game.rules import Rules
    from bjsim.strategies.evaluation.known import Prediction
    from bjsim.strategies.evaluation.known_in_play import KnownCards


@click.command()
@click.argument("what", type=click.Choice(["first", "up", "hole", "next"]))
@rules_options
@click.option("--shoe", metavar="A=4,2=3,...", help="The cards that the round is dealt from, if not whole decks.")
@click.option("--card", metavar="A|2..9|T", help="With first: a predicted card. With next: print its best chart.")
@click.option("--chance", type=Precision(), metavar="P%", help="The probability that the predicted card comes first.")
@click.option("--to-dealer", type=Precision(), metavar="P%", help="That it is the dealer's upcard instead.")
@json_option
def known(
    what: str,
    rules: Rules,
    shoe: str | None,
    card: str | None,
    chance: float | None,
    to_dealer: float | None,
    json_path: str | None,
) -> None:
    """Compute the value of a game to a player who knows a card.

    first, the player's first card, and up, the dealer's upcard, are known before the bet; hole, the dealer's hole card,
    and next, the card that is drawn next, before the first decision. With --card and --chance: the value of a bet on a
    predicted first card, and from which probability on it gains. Values are in initial bets.
    """
    from bjsim.strategies.evaluation.known import known as compute
    from bjsim.strategies.evaluation.known import predict

    if what != "first" and (chance is not None or to_dealer is not None):
        raise InputError("--chance and --to-dealer are for a predicted first card; write bjsim known first")
    if ((chance is None) != (card is None) and what == "first") or (to_dealer is not None and chance is None):
        raise InputError("a predicted first card needs --card and --chance, such as --card A --chance 40%")
    if card is not None and what not in ("first", "next"):
        raise InputError("--card is for first and next")
    cards = None
    if shoe:
        from bjsim.cli.solve_shoe import read_shoe  # imports the solver of shoes

        cards = read_shoe(shoe)
    found = compute(rules, what, shoe=cards)
    if what == "next" and card is not None and card not in found.charts:
        raise InputError(f"--card: {card} is not accepted; use one of {', '.join(found.charts)}")
    bet = None if chance is None else predict(rules, str(card), chance, to_dealer=to_dealer, shoe=cards)
    if json_path:
        figures = {"game": found.game, "value": found.value, "selective": found.selective, "values": dict(found.values)}
        write_json(figures | ({"prediction": asdict(bet)} if bet else {}), json_path)
    if json_path != "-":
        print_known(found, what, card)
        if bet:
            print_prediction(bet, str(card))


def print_known(found: KnownCards, what: str, card: str | None) -> None:
    """Print the values by card, and best play where the card changes it."""
    from bjsim.strategies.formats.text import format_text

    click.echo(f"the game: {100 * found.game:+.4f}%")
    if what in ("hole", "next"):
        click.echo(f"with the {what} card known: {100 * found.value:+.4f}%")
    else:
        click.echo(f"with bets only at a positive value: {100 * found.selective:+.4f}% of a bet in a round")
    click.echo("\ncard   probability      value")
    for name, value in found.values.items():
        click.echo(f"{name:<4}  {100 * found.chances[name]:10.4f}%  {100 * value:+8.4f}%")
    if what == "hole" or (what == "next" and card is not None):
        click.echo(f"\n{format_text(found.charts['any' if card is None else card])}", nl=False)


def print_prediction(bet: Prediction, card: str) -> None:
    click.echo(f"\na bet on the prediction of {card}: {100 * bet.value:+.4f}%")
    least = "at no probability" if bet.break_even is None else f"from a probability of {100 * bet.break_even:.4f}% on"
    click.echo(f"a bet gains {least}; Kelly bet: {100 * bet.kelly:.2f}% of the bank")
