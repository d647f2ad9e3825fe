"""`bjsim sidebet`: the side bets included, and the exact figures of one."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from bjsim.cli.options import Count, json_option, rules_option, set_option, the_rules, write_json
from bjsim.errors import InputError

if TYPE_CHECKING:
    from bjsim.strategies.sidebets.counted import CountedBet
    from bjsim.strategies.sidebets.exact import SideBet


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
@json_option
def sidebet(
    name: str | None,
    decks: str | None,
    deck: str | None,
    rules_name: str,
    settings: tuple[str, ...],
    shoe: str | None,
    pays: str | None,
    json_path: str | None,
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
        if decks or deck or settings or shoe or pays or any(counting.values()):
            raise InputError(f"sidebet needs the name of a bet; side bets are {', '.join(built_in())}")
        listed = {
            bet.name: {"about": bet.about, "events": [event.name for event in bet.events]}
            for bet in built_in().values()
        }
        if json_path:
            write_json(listed, json_path)
        if json_path != "-":
            width = max(map(len, listed))
            click.echo("\n".join(f"{bet:<{width}}  {about['about']}" for bet, about in listed.items()))
        return
    rules, cards = the_rules(rules_name, settings), None
    if shoe:
        from bjsim.cli.solve import read_shoe  # imports the solver of shoes

        cards = read_shoe(shoe)
    found = exact_figures(name, decks, rules=rules, deck=deck, shoe=cards, pays=pays)
    counted = None
    if counting["cut"] is not None:
        if shoe:
            raise InputError("--cut counts whole decks; leave out --shoe")
        given = counting.pop("tags")
        tags = None if given is None else list(map(float, parse_tags(given.replace(",", " "), by_rank=True)))
        counted = count_bet(*chosen(name, decks, rules, deck, None, pays), tags=tags, **counting)
    elif any(value is not None for value in counting.values()):
        raise InputError("--level, --tags, --trigger and --one-more need --cut CARDS")
    if json_path:
        write_json(found.to_json() | ({"counted": asdict(counted)} if counted else {}), json_path)
    if json_path != "-":
        print_figures(found)
        if counted:
            print_counted(counted)


def print_figures(found: SideBet) -> None:
    shoe = f"decks: {found.decks}" if found.decks else "the given shoe"
    click.echo(f"{found.bet}, {shoe}: {100 * float(found.ev):+.6f}% of the bet")
    click.echo(f"standard deviation {found.sd:.6f} bets, pays in {100 * float(found.hit_frequency):.6f}% of rounds")
    rows = [
        ("event", "pays", "probability"),
        *((e.event, f"{float(e.pays):g}", f"{float(e.probability):.10f}") for e in found.events),
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    click.echo()
    for event, pays, probability in rows:
        click.echo(f"{event:<{widths[0]}}  {pays:>{widths[1]}}  {probability:>{widths[2]}}")
    click.echo("\nchange in the return when one card is removed, in % of the bet:")
    click.echo("  ".join(f"{letter} {100 * change:+.4f}" for letter, change in found.removal.items()))


def print_counted(found: CountedBet) -> None:
    if found.tags is not None:
        tags = " ".join(f"{tag:g}" for tag in found.tags)
        letters = "A, 2..9, T" + ", J, Q, K" * (len(found.tags) > 10)
        click.echo(f"\ntags for {letters}: {tags}; bets at {found.trigger:g} per deck and above")
    else:
        click.echo("\na bettor who sees the exact value before each round:")
    click.echo(f"bets in {100 * found.share:.2f}% of rounds, edge {100 * found.edge:.2f}%")
    click.echo(f"wins {found.units:.4f} ± {found.half_width:.4f} units in 100 rounds (95%)")
    if found.tags is not None:
        click.echo(f"with the exact value: {found.perfect:.4f} ± {found.perfect_half_width:.4f}")
    click.echo(f"about: {found.approximation}")
