"""`bjsim bank`, `bjsim known` and `bjsim sidebet`: each shows what one function computes."""

from typing import Any

import click

from bjsim.cli.asked import asked_of
from bjsim.cli.options import Files, files_options, given_command, is_given, rules_option, rules_options, set_option
from bjsim.errors import InputError
from bjsim.sim.game.presets import the_rules
from bjsim.sim.game.rules import Rules


@click.command()
@rules_options
@asked_of("bjsim.strategies.promotions.bank:bank")
@files_options("Draw the distribution of the result.")
def bank(rules: Rules, files: Files, **given: Any) -> None:
    """Compute what becomes of a bank under flat bets and the best chart.

    Rounds are independent; in a finite shoe they have the moments of a fresh one. A round that begins is played to
    its end, even where a double or a split takes more than the bank holds.
    """
    from bjsim.strategies.promotions.bank import bank as compute

    files.show(compute(rules, **given), given_command())


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


@click.command()
@click.argument("name", required=False, metavar="[NAME|FILE.toml]")
@rules_option(" Its decks and its dealer matter.", default="vegas-s17", show_default=True)
@set_option
@asked_of("bjsim.strategies.sidebets.exact:sidebet", "bet", decks="the game's", deck="the game's")
@files_options("Draw what a card that is removed changes.")
def sidebet(name: str | None, rules_name: str, settings: tuple[str, ...], files: Files, **given: Any) -> None:
    """List the side bets, or compute the exact figures of one.

    A hand takes the first event in the table that it fulfils. --pays replaces the whole pay table: the hands of events
    that it omits fall to later events. FILE.toml describes a bet of your own; see the page on side bets.
    """
    from bjsim.strategies.sidebets.bets import built_in, list_bets
    from bjsim.strategies.sidebets.exact import sidebet as exact_figures

    if name is None:
        if is_given("rules_name") or settings or any(given.values()) or files.plot_path:
            raise InputError(f"sidebet needs the name of a bet; side bets are {', '.join(built_in())}")
        files.show(list_bets(), given_command())
        return
    rules = the_rules(rules_name, settings)
    files.show(exact_figures(name, rules=rules, **given), given_command())
