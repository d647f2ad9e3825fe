"""`bjsim play`: play by hand in the terminal, with a coach or as a drill."""

import os
import secrets
from contextlib import ExitStack
from pathlib import Path

import click

from bjsim.asked.kinds import Count, Several
from bjsim.cli.asked import ask
from bjsim.cli.options import refuse_together, rules_options
from bjsim.cli.person import Terminal, ask_bet, ask_move, ask_until, run_drill
from bjsim.cli.waiting import waiting
from bjsim.errors import InputError
from bjsim.sim.game.actions import Player
from bjsim.sim.game.events import format_decks
from bjsim.sim.game.presets import PRESETS
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.shoe import ScriptedShoe, Stream, open_shoe
from bjsim.strategies.evaluation.drill import TOPICS, Drill
from bjsim.table.card_table import (
    BetAsked,
    CardTable,
    CountAsked,
    MoveAsked,
    hire_coach,
    parse_count,
    practise_count,
    record_path,
)
from bjsim.table.words import EndOfInput, describe_hand, describe_misses

MAX_CHIPS = 10**9
SEEDS = 10**6  # seeds that are drawn, short enough to be typed


@click.command(context_settings={"allow_extra_args": True})  # refused below, with a hint
@rules_options
@ask("chips", "Chips that you start with.", shown="those of the rules", kind=Count(most=MAX_CHIPS))
@ask("bet", "Chips to bet on every round, instead of asking.", kind=Count(most=MAX_CHIPS))
@ask("rounds", "Number of rounds, or questions of a drill.", shown="until you quit")
@ask("bots", "Who else is at the table: names or files.")
@click.option("--coach", "has_coach", is_flag=True, help="Say after each decision what was best, and what it cost.")
@click.option("--drill", "is_drill", is_flag=True, help="Ask single decisions, most often those that you miss.")
@ask(
    "topic",
    "Drill these topics only: hard, soft, pairs, doubles, surrender, close.",
    kind=Several("T[,U...]", words=TOPICS),
    variable="topics",
)
@click.option("--no-record", is_flag=True, help="Neither read nor write the record of what you missed.")
@click.option(
    "--count",
    "system",
    metavar="SYSTEM|FILE.toml",
    help="Ask for the running and the true count every few rounds, such as --count hilo.",
)
@click.option("--shoe", "shoe_text", metavar="FILE|CARDS", help="Deal these cards, such as T86955A9; # is a comment.")
@ask("seed", "The same seed deals the same cards.", shown="random")
def play(
    rules: Rules,
    chips: int | None,
    bet: int | None,
    rounds: int | None,
    bots: list[str] | None,
    has_coach: bool,
    is_drill: bool,
    topics: tuple[str, ...] | None,
    no_record: bool,
    system: str | None,
    shoe_text: str | None,
    seed: int | None,
) -> None:
    """Play by hand against the dealer.

    Type h to hit, s to stand, d to double, p to split, r to surrender, or the words; the moves that are possible are
    shown with each question. q, Ctrl-C or the end of the input leaves. Output is lines of text without cursor movement,
    which suits screen readers and pipes.

    The values of --coach and --drill are exact. What you miss is remembered, and the next drill begins with it; the
    record is bjsim/practice.json in $XDG_DATA_HOME, by default ~/.local/share.
    """
    if extra := click.get_current_context().args:
        hint = f"; write --rules {extra[0]}" if extra[0] in PRESETS else ""
        raise InputError(f"unexpected argument {extra[0]}{hint}")
    refuse_together("shoe_text", "seed", why=", as the cards of --shoe are not shuffled")
    chips = rules.chips if chips is None else chips
    if bet is not None and bet * rules.bets > chips:
        each = " on each of two hands" if rules.bets > 1 else ""
        raise InputError(f"--bet {bet}{each} is more than the {chips} chips; give --chips")
    for drilled in ("is_drill", "topics"):
        refuse_together(drilled, "chips", "bet", "bots", "shoe_text", "system", why=", as a drill asks for moves alone")
    is_drill = is_drill or bool(topics)
    seats = 1 + len(bots or ())
    if seats > 7:
        raise InputError(f"--bots names {seats - 1} players; a table has 7 seats, and one is yours")
    if seats > rules.seats:
        rules = rules.replace(seats=seats)
    seed = secrets.randbelow(SEEDS) if seed is None else seed
    shoe = open_shoe(rules, Stream(seed)) if shoe_text is None else find_script(shoe_text)
    terminal = Terminal()
    with ExitStack() as opened:
        others = _find_others(bots or [], rules, opened)
        practice = practise_count(system, rules, terminal.say) if system else None
        tally = None
        if has_coach or is_drill:
            with waiting("solving the game"):
                tally = hire_coach(rules, None if no_record else record_path(), practice)
        drill = Drill(tally.coach, seed, topics or (), tally.record) if tally and is_drill else None
        about = "an infinite shoe" if rules.infinite else format_decks(rules)
        shown = "both dealer cards are shown, " if rules.dealer_shows == "both" else ""
        cards = f"seed {seed}" if shoe_text is None else "a scripted shoe"
        terminal.say(f"{rules.name}, {about}, {shown}{cards}. Type ? for help, q to quit.")
        if tally:
            terminal.say(f"Coach: values are exact for {tally.coach.basis}; costs are in initial bets.")
        try:
            if drill:
                run_drill(terminal, drill, rounds)
            else:
                _play(terminal, CardTable(rules, shoe, others, chips, bet, rounds, terminal.say, tally, practice))
        finally:
            if tally and tally.record.problem:
                terminal.say(tally.record.problem)


def find_script(text: str) -> ScriptedShoe:
    """The scripted shoe in a file, or of these cards. Raises: InputError."""
    if os.path.exists(text):  # unlike Path, it bears names that no file can have
        shoe = ScriptedShoe.load(text)
    elif os.sep in text or Path(text).suffix:
        raise InputError(f"no such file: {text}")
    else:
        shoe = ScriptedShoe(text, "--shoe")
    if not shoe.left:
        raise InputError(f"{shoe.name} contains no cards")
    return shoe


def _play(terminal: Terminal, table: CardTable) -> None:
    steps = table.steps()
    try:
        question = next(steps)
        while True:
            try:
                answer = _ask(terminal, table, question)
            except (EndOfInput, KeyboardInterrupt) as error:
                question = steps.throw(error)
            else:
                question = steps.send(answer)
    except StopIteration:
        pass
    except KeyboardInterrupt:
        raise click.exceptions.Exit(130) from None
    finally:
        terminal.say(table.summary())
        if tally := table.tally:
            terminal.say(f"Coach: {tally.total()}.")
            for line in describe_misses(tally.misses):
                terminal.say(line)
        if table.practice:
            terminal.say(f"Count: {table.practice.total()}.")


def _ask(terminal: Terminal, table: CardTable, question: BetAsked | MoveAsked | CountAsked) -> object:
    if isinstance(question, BetAsked):
        return ask_bet(terminal, *question)
    if isinstance(question, MoveAsked):
        view, tally = question.view, table.tally
        text = f"{describe_hand(view, question.hand_name)} against {' '.join(view.dealer)}"
        return ask_move(terminal, text, view, (lambda: tally.explain(view)) if tally else tuple)
    assert table.practice
    tags = table.practice.tags
    return ask_until(terminal, question.text, parse_count, lambda: [tags()], ", or q.")


def _find_others(bots: list[str], rules: Rules, opened: ExitStack) -> list[Player]:
    """The other players, with programs started until `opened` is closed. Raises: InputError."""
    if not bots:
        return []
    from bjsim.bots.seats import BotOptions, ProgramFile, find_seated  # slow to import

    found = [find_seated(bot, rules).player for bot in bots]
    return [opened.enter_context(each.start(BotOptions())) if isinstance(each, ProgramFile) else each for each in found]
