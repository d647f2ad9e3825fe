"""`bjsim play`: play by hand in the terminal, with a coach or as a drill."""

from __future__ import annotations

import os
import secrets
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bjsim.cli.card_table import CardTable
from bjsim.cli.options import Count, Names, bot_names, format_decks, rules_options, the_rules
from bjsim.cli.person import CoachTally
from bjsim.cli.terminal import Terminal
from bjsim.errors import InputError
from bjsim.sim.game.actions import Player
from bjsim.sim.game.presets import PRESETS
from bjsim.sim.game.random_stream import MAX_SEED, Stream
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.shoe import ScriptedShoe, Shoe, open_shoe

if TYPE_CHECKING:
    from bjsim.bots.seats import ProgramFile
    from bjsim.strategies.evaluation.coach import Coach

MAX_CHIPS = 10**9
SEEDS = 10**6  # seeds that are drawn, short enough to be typed


@click.command(context_settings={"allow_extra_args": True})  # refused below, with a hint
@rules_options
@click.option("--chips", type=Count(1, MAX_CHIPS), help="Chips that you start with.  [default: those of the rules]")
@click.option("--bet", type=Count(1, MAX_CHIPS), help="Chips to bet on every round, instead of asking.")
@click.option("--rounds", type=Count(), help="Number of rounds, or questions of a drill.  [default: until you quit]")
@click.option("--bots", type=Names(bot_names), metavar="A[,B...]", help="Who else is at the table: names or files.")
@click.option("--coach", "has_coach", is_flag=True, help="Say after each decision what was best, and what it cost.")
@click.option("--drill", "is_drill", is_flag=True, help="Ask single decisions, most often those that you miss.")
@click.option("--shoe", "shoe_text", metavar="FILE|CARDS", help="Deal these cards, such as T86955A9; # is a comment.")
@click.option("--seed", type=Count(0, MAX_SEED), help="The same seed deals the same cards.  [default: random]")
def play(
    rules_name: str, settings: tuple[str, ...], decks: str | None, chips: int | None, bet: int | None,
    rounds: int | None, bots: list[str] | None, has_coach: bool, is_drill: bool, shoe_text: str | None,
    seed: int | None,
) -> None:  # fmt: skip
    """Play by hand against the dealer.

    Type h to hit, s to stand, d to double, p to split, r to surrender, or the words; the moves that are possible are
    shown with each question. q, Ctrl-C or the end of the input leaves. Output is lines of text without cursor movement,
    which suits screen readers and pipes.

    The values of --coach and --drill are exact.
    """
    if extra := click.get_current_context().args:
        hint = f"; write --rules {extra[0]}" if extra[0] in PRESETS else ""
        raise InputError(f"{extra[0]} belongs to no option{hint}")
    rules = the_rules(rules_name, settings, decks)
    chips = rules.chips if chips is None else chips
    if bet is not None and bet > chips:
        raise InputError(f"--bet {bet} is more than the {chips} chips; give --chips")
    if is_drill:
        for name, given in (("bots", bots), ("shoe", shoe_text), ("bet", bet)):
            if given:
                raise InputError(f"--{name} with --drill: a drill asks single decisions; leave one of them out")
    seats = 1 + len(bots or ())
    if seats > rules.seats:
        rules = rules.replace(seats=seats)
    seed = secrets.randbelow(SEEDS) if seed is None else seed
    shoe = open_shoe(rules, Stream(seed)) if shoe_text is None else find_script(shoe_text)
    found = _find_bots(bots or [], rules)
    coach = make_coach(rules) if has_coach or is_drill else None
    terminal = Terminal()
    about = "an infinite shoe" if rules.infinite else format_decks(rules)
    cards = f"seed {seed}" if shoe_text is None else "a scripted shoe"
    terminal.say(f"{rules.name}, {about}, {cards}. Type ? for help, q to quit.")
    if coach:
        terminal.say(f"Coach: values are exact for {coach.basis}; costs are in initial bets.")
    if is_drill:
        assert coach is not None
        _drill(terminal, coach, seed, rounds)
    else:
        _play(terminal, rules, shoe, found, chips, bet, rounds, coach)


def find_script(text: str) -> ScriptedShoe:
    """The scripted shoe in a file, or of these cards. Raises: InputError."""
    if Path(text).is_file():
        shoe = ScriptedShoe.load(text)
    elif os.sep in text or Path(text).suffix:
        raise InputError(f"no such file: {text}")
    else:
        shoe = ScriptedShoe(text, "--shoe")
    if not shoe.left:
        raise InputError(f"{shoe.name} contains no cards")
    return shoe


def make_coach(rules: Rules) -> Coach:
    """The coach, which takes some seconds to import and to solve a finite shoe."""
    from bjsim.strategies.evaluation.coach import Coach

    return Coach(rules)


def _drill(terminal: Terminal, coach: Coach, seed: int, questions: int | None) -> None:
    from bjsim.cli.drill import drill_summary, run_drill
    from bjsim.strategies.evaluation.drill import Drill

    drill = Drill(coach, seed)
    if not drill.exercises:
        raise InputError(f"{coach.rules.name} has no decisions to drill")
    stopped = False
    try:
        run_drill(terminal, drill, questions)
    except KeyboardInterrupt:
        terminal.say("")
        stopped = True
    for line in drill_summary(drill):
        terminal.say(line)
    if stopped:
        raise click.exceptions.Exit(130)


def _play(
    terminal: Terminal, rules: Rules, shoe: Shoe, bots: list[Player | ProgramFile], chips: int, bet: int | None,
    rounds: int | None, coach: Coach | None,
) -> None:  # fmt: skip
    tally = CoachTally(coach) if coach else None
    with ExitStack() as opened:
        table = CardTable(terminal, rules, shoe, _start_bots(bots, opened), chips, bet, rounds, tally)
        stopped = False
        try:
            table.play()
        except KeyboardInterrupt:
            stopped = True
        finally:
            terminal.say(table.summary())
            if tally:
                terminal.say(f"Coach: {tally.total()}.")
    if stopped:
        raise click.exceptions.Exit(130)


def _find_bots(bots: list[str], rules: Rules) -> list[Player | ProgramFile]:
    """The other players. Raises: InputError."""
    if not bots:
        return []
    from bjsim.bots.seats import find_seated

    return [find_seated(bot, rules).player for bot in bots]


def _start_bots(found: list[Player | ProgramFile], opened: ExitStack) -> list[Player]:
    """The other players, with programs started until `opened` is closed."""
    if not found:
        return []
    from bjsim.bots.seats import BotOptions, ProgramFile

    return [
        opened.enter_context(player.start(BotOptions())) if isinstance(player, ProgramFile) else player
        for player in found
    ]
