"""`bjsim bot`: check a bot before a contest, create a new one, or export a chart as one."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console

from bjsim.arguments import check_writable
from bjsim.asked.kinds import KINDS
from bjsim.bots.check import BotCheck, CheckedView, Trial, check_match, price, situations, try_bot
from bjsim.bots.contest.config import Contest
from bjsim.bots.export import export as export_chart
from bjsim.bots.protocol import PROTOCOLS
from bjsim.bots.sandbox.folders import check_name
from bjsim.bots.sandbox.languages import ENDINGS, LANGUAGES, BuildError
from bjsim.cli.asked import AskedType, asked_of
from bjsim.cli.bot_compare import compare
from bjsim.cli.bot_game import ask_once, bot_rules, open_player, slow_hint, trace
from bjsim.cli.options import Files, files_options, given_command, write_text
from bjsim.cli.waiting import waiting
from bjsim.errors import InputError, printable
from bjsim.report.terminal import say
from bjsim.run_result import fault_lines
from bjsim.sim.game.rules import Rules
from bjsim.strategies.charts.chart import Chart
from bjsim.strategies.players.catalogue import find_player, player_names

if TYPE_CHECKING:
    from bjsim.bots.player import BotPlayer


@click.group()
def bot() -> None:
    """Create, check, ask, trace, compare or export a bot: a program in any language."""


bot.add_command(ask_once)
bot.add_command(trace)
bot.add_command(compare)


@bot.command(short_help="Check a bot: its moves, its speed, its faults.")
@click.argument("path", metavar="BOT", type=click.Path(path_type=Path))
@bot_rules
@asked_of("bjsim.bots.seats:BotOptions", "strikes")
@files_options("Draw the chart of its moves, with the wrong cells and their costs.")
def check(path: Path, contest: Contest, rules: Rules, files: Files, **options: Any) -> None:
    """Check a bot: build it, ask it for a move in many situations, and show its moves, its speed and every fault.

    After a raise the hand is played on until the bot stands or has used up its moves. The check stops after as many
    timeouts as a contest has strikes (10), or after as many faults of a kind without a valid move.

    The exit status is 1 if the bot has a fault, or cannot be compiled or loaded; the compiler's output is shown.
    """
    console = Console(stderr=files.quiet)
    with waiting("building the bot"):
        player = open_player(path, contest, partial(say, console), **options)
    tried = list(situations(rules))
    with player:
        title = printable(f"{path.name or player.name}: {player.program.language}, {rules.name}")
        say(console, title)
        answers = ask(console, player, tried, contest.strikes)
        whole, kinds = len(answers) == len(tried), {fault.kind for answer in answers for fault in answer.faults}
        match = None  # of a line bot, unless it was no longer asked: it takes long
        if player.protocol == "line" and whole and "start-failure" not in kinds:
            match = check_match(player, rules)
    with waiting("computing exact values"):
        priced = price(rules, answers) if whole else None
    language, ms = player.program.language, player.ms_per_move()
    hint = slow_hint(language, player.program.protocol)
    found = BotCheck(title, player.name, language, rules, answers, len(tried), ms, match, priced, hint)
    files = files if priced else files.without_plot("no exact value", console)
    files.show(found, given_command(), has_lines=False)
    if not found.passed:
        raise click.exceptions.Exit(1)


def ask(console: Console, player: BotPlayer, tried: Sequence[CheckedView], timeouts: int) -> list[Trial]:
    """Ask the bot in these situations, and print the first fault of each kind at once, since a bot may be slow."""
    answers: list[Trial] = []
    shown: set[str] = set()
    with waiting("asking") as line:
        for answer in try_bot(player, tried, timeouts):
            answers.append(answer)
            line.say("asking in situations", len(answers), len(tried))
            for fault in answer.faults:
                if fault.kind not in shown:
                    say(console, fault_lines(fault.to_json()))
                shown.add(fault.kind)
    return answers


@bot.command(short_help="Create a small working bot, with comments.")
@click.argument("name")
@click.option(
    "--language",
    type=click.Choice([language.name for language in LANGUAGES]),
    help="Programming language of the bot.  [default: by the ending of NAME; else python]",
)
@click.option(
    "--protocol",
    type=click.Choice(PROTOCOLS),
    default="argv",
    show_default=True,
    help="Whether the bot is started for every move (argv), or lives for a match (line).",
)
def new(name: str, language: str | None, protocol: str) -> None:
    """Create a small working bot, with comments that explain the protocol."""
    ending = Path(name).suffix.lower()
    known = ENDINGS.get(ending)
    if ending and not known and not language:
        names = ", ".join(f"{row.name} ({row.endings[0]})" for row in LANGUAGES)
        raise InputError(f"no starter for {printable(ending)}; languages are {names}")
    chosen = next((row for row in LANGUAGES if row.name == language), known or ENDINGS[".py"])
    path = Path(name if known is chosen else name + chosen.endings[0])
    sample = {"argv": "lim17", "line": "lim17_line"}[protocol] + chosen.endings[0]
    starter = (files("bjsim.bots") / "samples" / sample).read_text(encoding="utf-8")
    if not Path(name).name:
        raise InputError(f"{name!r} is not a file name; use one such as mybot.py")
    try:
        check_name(path)
        with path.open("x", encoding="utf-8") as file:
            file.write(starter)
    except BuildError as error:
        raise InputError(str(error)) from None
    except FileExistsError:
        raise InputError(f"{path} already exists; choose another name") from None
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}") from None
    shown = shlex.quote(f"./{path}" if name.startswith("-") else str(path))
    click.echo(f"wrote {path}; check it with: bjsim bot check {shown}")
    if hint := slow_hint(chosen.name, protocol):
        click.echo(hint)


@bot.command(short_help="Export a chart as a bot, one Python file.")
@click.argument("chart", type=AskedType("chart", KINDS["chart"], player_names))
@bot_rules
@click.option("--output", metavar="FILE", help="File to write.  [default: standard output]")
def export(chart: str, contest: Contest, rules: Rules, output: str | None) -> None:
    """Export a chart as a bot: one Python file that plays a named strategy or chart file."""
    player = find_player(chart, rules)
    if not isinstance(player, Chart):
        raise InputError(f"{chart} is not a chart; only charts can be exported as bots")
    check_writable(output)
    write_text(export_chart(player), output or "-")
    if output not in (None, "-"):
        click.echo(f"wrote {output}")
