"""`bjsim run`: play strategies and bots, and compare their returns with the exact values."""

import math
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

import click
from rich.console import Console
from rich.text import Text

from bjsim.bots.seats import BotOptions, is_program
from bjsim.cli.asked import asked_of
from bjsim.cli.options import Files, files_options, given_command, homework_rules, is_given
from bjsim.cli.waiting import Waiting, waiting
from bjsim.errors import InputError, RunFailed, printable
from bjsim.report.parts import Notes, counted, percent
from bjsim.request import RunRequest
from bjsim.run_result import RunResult, rounds_expected
from bjsim.sim.engine.compile_notice import COMPILING
from bjsim.sim.game.actions import Player
from bjsim.sim.game.events import game_text
from bjsim.sim.game.round import Bettor
from bjsim.sim.game.rules import Rules
from bjsim.sim.running.experiment import Experiment, Progress
from bjsim.sim.stats.estimate import Z95
from bjsim.strategies.results import ExactReturn

# --- The display of `bjsim run`: its progress, and the report at the end.


class RunScreen:
    """The live display of `bjsim run`: results so far, rounds per second, time left."""

    def __init__(
        self, rules: Rules, players: Sequence[Player], experiment: Experiment, quiet: bool, line: Waiting
    ) -> None:
        self.console = Console(stderr=quiet)
        self.experiment = experiment
        self.players = players
        self.line = line
        game = Text.assemble(
            (rules.name, "bold"), game_text(rules).removeprefix(rules.name), f"; seed {experiment.seed}"
        )
        self.console.print(game, soft_wrap=not self.console.is_terminal)
        self.began = time.perf_counter()

    def update(self, progress: Progress) -> None:
        done, whole = progress.rounds, float(self.experiment.hands * len(self.players))
        if self.experiment.precision:
            expected = rounds_expected(progress, self.experiment.precision, self.experiment.optimal_n)
            whole = min(whole, expected) if math.isfinite(expected) else math.inf
        played = done - progress.rounds_before
        speed = format_speed(played / max(time.perf_counter() - self.began, 1e-9))
        known = math.isfinite(whole)  # the intervals; there are none at first
        self.line.say("playing", played, whole - progress.rounds_before if known else None, speed)
        rows = (
            f"{printable(player.name):>12}  {percent(tally.mean)}  ± {100 * Z95 * tally.se:.4f}%  of "
            f"{counted(tally.rounds, 'hand')}"
            for player, tally in zip(self.players, progress.tallies, strict=True)
            if tally.settled
        )
        self.line.below = "\n".join(row[-self.console.width + 1 :] for row in rows)  # a path's end says more


def format_speed(rounds_per_second: float) -> str:
    if rounds_per_second < 1e6:
        return f"{rounds_per_second:,.0f} rounds/s"
    return f"{rounds_per_second / 1e6:,.1f} million rounds/s"


@click.command(context_settings={"allow_extra_args": True})  # refused below, with a hint
@asked_of(
    "bjsim.request:RunRequest",
    workers="all cores",
    seed="1; with programs 128 random bits",
    adjust_luck="on in finite shoes",
)
@homework_rules
@asked_of("bjsim.bots.seats:BotOptions", strikes="no limit")
@files_options("Plot the convergence of the returns.")
def run(bots: list[str], rules: Rules, files: Files, **asked: Any) -> None:
    """Play strategies and bots; compare their returns with the exact values.

    Bots are names (optimal, lim12 to lim20, mimic, hoyle, kelly, optimal-2c, optimal-cd, perfect), chart files, Python
    players written module:object or file.py:object, or programs: ./bot.py, bot.c, any executable (see `bjsim bot`). A
    table takes as many bots as the rules have seats, in the order given.
    """
    if extra := click.get_current_context().args:
        together = ",".join([*bots, *extra])
        raise InputError(f"unexpected argument {extra[0]}; separate bots by commas: --bots {together}")
    if asked["hands"] is None and asked["until"] is None:
        raise InputError("no length of play; give --hands N, such as 1e7, or --until P%, such as 0.01%")
    if asked["seed"] is None and not any(map(is_program, bots)):
        asked["seed"] = 1
    programs = BotOptions(**{each.name: asked.pop(each.name) for each in fields(BotOptions)})
    with waiting("finding the bots"):
        request = RunRequest(rules, bots, programs=programs, **asked)
    if not request.has_programs and (given := [each.name for each in fields(BotOptions) if is_given(each.name)]):
        raise InputError(f"--{given[0]} is for bots that are programs, and none plays; leave it out")
    screen, result = play_on_screen(request, files.quiet)
    rounds = result.progress.rounds - result.progress.rounds_before
    notes = [f"{counted(rounds, 'round')} in {result.seconds:.2f} s, {format_speed(result.rounds_per_second)}"]
    if bettors := ", ".join(player.name for player in screen.players if isinstance(player, Bettor)):
        notes.append(f"{bettors}: the return is the profit of a round in units, not a share of the money bet")
    if not result:
        files = files.without_plot("no result", screen.console)
    files.show(result, given_command(result.seed), Notes(notes), has_lines=False)
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

        def exact() -> list[ExactReturn]:
            line.say("computing the exact values")
            return run.exact()

        return screen, replace(run, exact=exact).play(screen.update)
