"""`bjsim sidebet`: the side bets included, and the exact figures of one."""

from dataclasses import replace
from typing import Any

import click

from bjsim.cli.options import (
    Count,
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
@click.option("--cut", type=Count(1), metavar="CARDS", help="Count the bet too, in a shoe shuffled after CARDS cards.")
@click.option("--level", type=Count(1, 100), help="Count with the best tags up to this; default: see the exact value.")
@click.option("--tags", metavar="A,2,...", help="Count with these tags of A, 2..9, T; or of J, Q, K too.")
@click.option("--one-more", is_flag=True, default=None, help="Count a shoe with one more round after the cut card.")
@click.option("--trigger", type=float, metavar="N", help="Bet from this count per deck on.  [default: the best]")
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
    **counting: Any,
) -> None:
    """List the side bets, or compute the exact figures of one.

    A hand takes the first event in the table that it fulfils. --pays replaces the whole pay table: the hands of events
    that it omits fall to later events. FILE.toml describes a bet of your own; see the page on side bets.
    """
    from bjsim.strategies.counting.system import parse_tags
    from bjsim.strategies.sidebets.bets import built_in
    from bjsim.strategies.sidebets.counted import count_bet
    from bjsim.strategies.sidebets.exact import chosen
    from bjsim.strategies.sidebets.exact import sidebet as exact_figures

    if name is None:
        if decks or deck or settings or shoe or pays or any(counting.values()) or any(files[1:]):
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
    if counting["cut"] is not None:
        if shoe:
            raise InputError("--cut counts whole decks; leave out --shoe")
        given = counting.pop("tags")
        tags = None if given is None else list(map(float, parse_tags(given.replace(",", " "), by_rank=True)))
        counted = count_bet(*chosen(name, decks, rules, deck, None, pays), tags=tags, **counting)
        found = replace(found, counted=counted)
    elif any(value is not None for value in counting.values()):
        raise InputError("--level, --tags, --trigger and --one-more need --cut CARDS")
    files.show(found, given_command())
