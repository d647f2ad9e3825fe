"""`bjsim sidebet`: the side bets included, and the exact figures of one."""

import click

from bjsim.cli.options import (
    Files,
    files_options,
    given_command,
    read_shoe,
    rules_option,
    set_option,
    write_json,
)
from bjsim.errors import InputError
from bjsim.sim.game.presets import the_rules


@click.command()
@click.argument("name", required=False, metavar="[NAME|FILE.toml]")
@click.option("--decks", metavar="N|inf", help="Number of decks in the shoe.  [default: the game's]")
@click.option("--deck", metavar="standard|spanish", help="All 52 cards, or 48 without tens.  [default: the game's]")
@rules_option(" Its decks and its dealer matter.", default="vegas-s17", show_default=True)
@set_option
@click.option("--shoe", metavar="A=24,Kh=6,...", help="The cards in the shoe by rank or kind, if not whole decks.")
@click.option("--pays", metavar="EVENT=N,...", help="The pay table, to one; other events are not paid.")
@files_options("Draw what a card that is removed changes.")
def sidebet(
    name: str | None,
    decks: str | None,
    deck: str | None,
    rules_name: str,
    settings: tuple[str, ...],
    shoe: str | None,
    pays: str | None,
    files: Files,
) -> None:
    """List the side bets, or compute the exact figures of one.

    A hand takes the first event in the table that it fulfils. --pays replaces the whole pay table: the hands of events
    that it omits fall to later events. FILE.toml describes a bet of your own; see the page on side bets.
    """
    from bjsim.strategies.sidebets.bets import built_in
    from bjsim.strategies.sidebets.exact import sidebet as exact_figures

    if name is None:
        if decks or deck or settings or shoe or pays or any(files[1:]):
            raise InputError(f"sidebet needs the name of a bet; side bets are {', '.join(built_in())}")
        listed = {
            bet.name: {"about": bet.about, "events": [event.name for event in bet.events]}
            for bet in built_in().values()
        }
        if files.json_path:
            write_json(listed, files.json_path)
        if not files.quiet:
            width = max(map(len, listed))
            click.echo("\n".join(f"{bet:<{width}}  {about['about']}" for bet, about in listed.items()))
        return
    rules = the_rules(rules_name, settings)
    found = exact_figures(name, decks, rules=rules, deck=deck, shoe=read_shoe(shoe), pays=pays)
    files.show(found, given_command())
