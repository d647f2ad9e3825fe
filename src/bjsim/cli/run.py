"""`bjsim run`: play strategies and bots, and compare their returns with the exact values."""

import os
import sys
from typing import Any

import click

from bjsim.arguments import MAX_TABLES, check_writable
from bjsim.bots.seats import BotOptions, is_program
from bjsim.bots.turn import runs_program
from bjsim.cli.captions import given_command
from bjsim.cli.options import (
    Count,
    Names,
    bot_names,
    bot_options,
    gathered,
    homework_rules,
    until_option,
    workers_option,
)
from bjsim.cli.pages import write_page
from bjsim.cli.run_page import plot_run, report_run
from bjsim.cli.screen import RunScreen, precision_line, report
from bjsim.cli.waiting import waiting
from bjsim.cli.written import Files, html_option, json_option, plot_option, write_json
from bjsim.errors import InputError, RunFailed
from bjsim.request import RunRequest
from bjsim.run_result import RunResult
from bjsim.sim.engine.compile_notice import COMPILING
from bjsim.sim.game.round import Bettor
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.shoe import MAX_SEED


@click.command(context_settings={"allow_extra_args": True})  # refused below, with a hint
@click.option("--bots", type=Names(bot_names), required=True, metavar="A[,B...]", help="Bots to play: names or files.")
@click.option(
    "--hands", type=Count(), metavar="N", help="Number of rounds for each bot, such as 1e7; with --until, the maximum."
)
@until_option
@homework_rules
@click.option(
    "--tables", type=Count(1, MAX_TABLES), default=1, show_default=True, help="Tables that share a bot's hands."
)
@workers_option()
@click.option(
    "--seed",
    type=Count(0, MAX_SEED),
    help="The same seed gives the same result, bit for bit.  [default: 1; with programs 128 random bits]",
)
@click.option(
    "--adjust-luck/--no-adjust-luck",
    default=None,
    help="Remove the luck of the cards from the returns, which narrows intervals up to 100 times; charts only.  "
    "[default: on in finite shoes]",
)
@json_option
@plot_option("Plot the convergence of the returns.")
@html_option
@click.option("--log", metavar="FILE", help="Collect the log records of all workers in FILE.")
@click.option("--checkpoint", metavar="FILE", help="Keep what is known in FILE, for --resume.")
@click.option("--resume", metavar="FILE", help="Continue from a checkpoint of the same run.")
@bot_options
@click.option("--strikes", type=Count(), help="Faults until a bot is no longer asked.  [default: no limit]")
@gathered(files=Files)
def run(bots: list[str], rules: Rules, files: Files, **asked: Any) -> None:
    """Play strategies and bots; compare their returns with the exact values.

    Bots are names (optimal, lim12 to lim20, mimic, hoyle, kelly, optimal-2c, optimal-cd, perfect), chart files, Python
    players written module:object or file.py:object, or programs: ./bot.py, bot.c, any executable (see `bjsim bot`). A
    table takes as many bots as the rules have seats, in the order given.
    """
    if extra := click.get_current_context().args:
        together = ",".join([*bots, *extra])
        raise InputError(f"unexpected argument {extra[0]}; separate bots by commas: --bots {together}")
    if asked["hands"] is None and asked["precision"] is None:
        raise InputError("no length of play; give --hands N, such as 1e7, or --until P%, such as 0.01%")
    files.check()
    check_writable(asked["checkpoint"])
    if asked["seed"] is None and not any(map(is_program, bots)):
        asked["seed"] = 1
    programs = BotOptions(**{name: asked.pop(name) for name in ("sandbox", "timeout", "cold", "strikes")})
    with waiting("finding the bots"):
        request = RunRequest(rules, bots, until=asked.pop("precision"), programs=programs, **asked)
    screen, result = play_on_screen(request, files.quiet)
    if files.json_path:
        write_json(result.to_json(), files.json_path)
    own_process = list(filter(runs_program, screen.players))
    command = given_command(result.seed)
    precision = [precision_line(screen.experiment, result.progress)] if result.until else []
    if files.plot_path and result:
        plot_run(result, files.plot_path, command)
    if files.html_path:
        write_page(report_run(result, own_process, precision, command), files.html_path)
    report(screen.console, result, own_process)
    bettors = ", ".join(player.name for player in screen.players if isinstance(player, Bettor))
    units = f"{bettors}: the return is the profit of a round in units, not a share of the money bet"
    for line in [*precision, *[units] * bool(bettors)]:
        screen.console.print(line, highlight=False)
    if result.stopped and request.has_programs:
        sys.stdout.flush()
        os._exit(130)  # threads may be in the middle of a block, and their bots are gone
    if result.stopped:
        raise click.exceptions.Exit(130)
    if result.failure:
        raise RunFailed(result.failure)


def play_on_screen(request: RunRequest, quiet: bool) -> tuple[RunScreen, RunResult]:
    """Play what is asked for, shown on a screen; on stderr where it is to be quiet."""
    with waiting("preparing the tables") as line, request.open() as run:
        screen = RunScreen(run.experiment.rules, run.players, run.experiment, quiet, line)
        run.compile(lambda: screen.console.print(COMPILING, style="dim"))
        line.begin("playing")
        return screen, run.play(screen.update)
