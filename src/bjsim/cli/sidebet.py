"""`bjsim sidebet`: the side bets included, and the exact figures of one."""

from typing import Any

import click

from bjsim.cli.asked import asked_of
from bjsim.cli.options import Files, files_options, given_command, is_given, rules_option, set_option
from bjsim.errors import InputError
from bjsim.sim.game.presets import the_rules


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
