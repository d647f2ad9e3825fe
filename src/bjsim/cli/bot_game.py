"""Shared by the commands of `bjsim bot`: the game and the bot that their arguments name."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bjsim.asked.kinds import Count
from bjsim.bots.check import TracedSeat, situation, trace_match
from bjsim.bots.contest.config import Contest, load_config
from bjsim.bots.contest.entrants import check_protocols
from bjsim.bots.line import Transcript
from bjsim.bots.protocol import need_programs
from bjsim.bots.sandbox.folders import read_bot
from bjsim.bots.sandbox.languages import LANGUAGES, BuildError
from bjsim.cli.asked import ask, asked_of
from bjsim.cli.options import is_given, rules_option, set_option
from bjsim.errors import InputError, RunFailed, printable, printable_lines
from bjsim.report.parts import counted
from bjsim.sim.game.actions import HIT
from bjsim.sim.game.cards import RANKS
from bjsim.sim.game.presets import load_rules, the_rules
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.support import need
from bjsim.strategies.players.catalogue import find_player

if TYPE_CHECKING:
    from bjsim.bots.player import BotPlayer


def bot_rules(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that become the arguments `rules` and `contest`, whose settings apply; by default cardshark."""

    @wraps(command)
    def with_rules(config_path: str | None, rules_name: str | None, settings: tuple[str, ...], **others: Any) -> None:
        contest = load_config(config_path)[0] if config_path else Contest(load_rules("cardshark"))
        rules = the_rules(rules_name or contest.rules, settings)
        need(rules, "bots")
        if "timeout" in others and not is_given("timeout"):
            others["timeout"] = contest.timeout
        command(contest=contest, rules=rules, **others)

    about = "Contest whose rules, timeout, strikes and protocols apply."
    config = click.option("--config", "config_path", metavar="FILE.toml", help=about)
    return config(rules_option("  [default: cardshark]")(set_option(with_rules)))


def open_player(path: Path, contest: Contest, write: Callable[[str], None], **options: Any) -> BotPlayer:
    """Open a bot with `open_bot(**options)`; `write` gets the compiler's output if it cannot be compiled."""
    bot = read_bot(path, links=True)
    need_programs(str(path))
    if bot.language:
        bot.language.need_tools(bot.name)
    check_protocols([bot], contest.protocols)
    from bjsim.bots.player import open_bot

    try:
        return open_bot(bot, **options)
    except BuildError as error:
        if error.log:
            write("\n".join(f"| {line}" for line in error.log.splitlines()))  # no command of a forge begins a line
        raise RunFailed(str(error)) from None  # a failed check, not bad input


def slow_hint(language: str, protocol: str) -> str:
    """A hint for the author of a bot that is slow to start for each move; "" for others."""
    gain = next((row.line_gain for row in LANGUAGES if row.name == language), 0)
    if protocol != "argv" or not gain:
        return ""
    return (
        f"each move starts {language} afresh; a line bot (bjsim bot new --protocol line) is started once a match, "
        f"and plays about {gain} times as many hands a second"
    )


# --- What a bot receives, and what it answers.


OTHERS = "lim17"  # plays in the other seats


@click.command("ask", short_help="Ask a bot for one move.")
@click.argument("path", metavar="BOT", type=click.Path(path_type=Path))
@click.argument("hand")
@click.argument("card")
@bot_rules
@ask("chips", "Chips of the bot before the round.", shown="those of the rules", kind=Count())
@asked_of("bjsim.bots.seats:BotOptions", "strikes")
def ask_once(
    path: Path, hand: str, card: str, contest: Contest, rules: Rules, chips: int | None, **options: Any
) -> None:
    """Ask a bot for one move: with the cards HAND, such as T6 or T24, against the dealer's CARD.

    All cards of the hand after the second were hit for. Lines with > go to the bot, and those with < come from it. The
    exit status is 1 after a fault.
    """
    for letter in (hand := hand.upper()) + (card := card.upper()):
        if letter not in RANKS:
            raise InputError(f"{letter} is not a card; use {' '.join(RANKS)}")
    if len(hand) < 2 or len(card) != 1:
        raise InputError("give a hand of two or more cards, and one card of the dealer, such as: T6 9")
    asked = situation(rules, hand, card, [HIT] * (len(hand) - 2), chips)
    if asked is None:
        raise InputError(f"{rules.name}: a bot is never asked with {hand} against {card}")
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
@ask("rounds", "Length of the match.", 5, kind=Count(most=1000))
@ask("seed", "Random seed of the cards.", 1)
@asked_of("bjsim.bots.seats:BotOptions", "strikes")
def trace(path: Path, contest: Contest, rules: Rules, rounds: int, seed: int, **options: Any) -> None:
    """Play a match with a bot in the first seat, and print what it receives (>) and answers (<); ! marks a fault.

    lim17 plays in all other seats. What the bot wrote to stderr follows.
    """
    others = find_player(OTHERS, rules)
    with open_player(path, contest, click.echo, **options) as player:
        seat = trace_match(player, rules, others, rounds, seed, _echo, contest.strikes)
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
