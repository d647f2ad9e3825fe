"""`bjsim run`: play strategies and bots, and compare their returns with the exact values."""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.text import Text

from bjsim.arguments import MAX_TABLES, check_writable
from bjsim.bots.seats import BotOptions, is_program
from bjsim.bots.turn import runs_program
from bjsim.cli.options import (
    Count,
    Files,
    Names,
    bot_names,
    bot_options,
    counted,
    gathered,
    given_command,
    homework_rules,
    html_option,
    json_option,
    plot_option,
    published,
    until_option,
    without_folders,
    workers_option,
    write_json,
)
from bjsim.cli.pages import convergence_part, rules_part, table_part, write_page
from bjsim.cli.plots import plot_convergence
from bjsim.cli.render import fault_lines, print_bots, print_convergence, print_results, program_rows, result_rows
from bjsim.cli.waiting import Waiting, waiting
from bjsim.errors import InputError, RunFailed
from bjsim.report import Notes, Report, Section
from bjsim.request import RunRequest
from bjsim.run_result import RunResult
from bjsim.sim.engine.compile_notice import COMPILING
from bjsim.sim.game.actions import Player
from bjsim.sim.game.events import game_text
from bjsim.sim.game.round import Bettor
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.shoe import MAX_SEED
from bjsim.sim.running.experiment import Experiment, Progress, half_width, is_precise
from bjsim.sim.stats.estimate import Z95
from bjsim.strategies.results import BotResult
from bjsim.strategies.tabular import interval, percent

if TYPE_CHECKING:
    from bjsim.bots.player import BotPlayer


# --- The display of `bjsim run`: its progress, and the report at the end.


class RunScreen:
    """The live display of `bjsim run`: results so far, rounds per second, time left."""

    def __init__(
        self, rules: Rules, players: Sequence[Player], experiment: Experiment, quiet: bool, line: Waiting
    ) -> None:
        self.console = Console(stderr=quiet)
        self.experiment = experiment
        self.seats = len(players)
        self.players = players
        self.line = line
        game = Text.assemble(
            (rules.name, "bold"), game_text(rules).removeprefix(rules.name), f"; seed {experiment.seed}"
        )
        self.console.print(game, soft_wrap=not self.console.is_terminal)
        self.began = time.perf_counter()

    def update(self, progress: Progress) -> None:
        done, whole = progress.rounds, float(self.experiment.hands * self.seats)
        if self.experiment.precision:
            expected = rounds_expected(self.experiment, progress)
            whole = min(whole, expected) if math.isfinite(expected) else math.inf
        played = done - progress.rounds_before
        speed = format_speed(played / max(time.perf_counter() - self.began, 1e-9))
        known = math.isfinite(whole)  # the intervals; there are none at first
        self.line.say("playing", played, whole - progress.rounds_before if known else None, speed)
        self.line.below = "\n".join(
            f"{player.name:>12}  {percent(tally.mean)}  ± {100 * Z95 * tally.se:.4f}%  of "
            f"{counted(tally.rounds, 'hand')}"
            for player, tally in zip(self.players, progress.tallies, strict=True)
            if tally.settled
        )


def rounds_expected(experiment: Experiment, progress: Progress) -> float:
    """Estimate the rounds needed for the requested precision: an interval narrows with the root of their number."""
    widest = max(half_width(tally, experiment.optimal_n) for tally in progress.tallies)
    return progress.rounds * max(widest / experiment.precision, 1.0) ** 2


def precision_line(experiment: Experiment, progress: Progress) -> str:
    """Say whether the requested precision was reached."""
    target = f"± {100 * experiment.precision:g}%"
    if is_precise(experiment, progress):
        return f"reached the requested {target}"
    expected = rounds_expected(experiment, progress)
    more = "" if math.isinf(expected) else f"; it would take about {expected:,.0f} rounds"
    return f"{target} was not reached in {counted(progress.rounds, 'round')}{more}"


UNENDED = "the results below are biased, since they leave out the longest rounds"


def result_lines(result: RunResult) -> list[str]:
    lines = ["stopped: results so far"] if result.stopped else []
    lines += [f"stopped: {result.failure}; {UNENDED}"] if result.failure else []
    return [*lines, *result.missing, *luck_lines(result.results), *replayed_ties(result.results)]


def replayed_ties(results: Sequence[BotResult]) -> list[str]:
    """That ties are replayed, if any were."""
    replayed = any(one.tally.ties_replayed for one in results)
    return ["ties are replayed: the return is per settled bet"] if replayed else []


def report(
    console: Console,
    result: RunResult,
    programs: Sequence[BotPlayer],
) -> None:
    """Print the results, their convergence, the faults and times of programs, and the speed.

    programs: the bots that run in their own processes.
    """
    results, progress = result.results, result.progress
    if result.stopped:
        unmerged = f", with {progress.unmerged:,} rounds of unfinished blocks" if progress.unmerged else ""
        console.print(f"stopped: results so far{unmerged}", style="yellow", highlight=False)
    if result.failure:
        console.print(
            f"stopped: {result.failure}; {UNENDED}", style="yellow", highlight=False, soft_wrap=not console.is_terminal
        )
    for line in result.missing:
        console.print(line, style="yellow", markup=False, highlight=False, soft_wrap=not console.is_terminal)
    if not results:
        return
    print_results(console, results)
    print_convergence(console, results)
    if programs:
        print_bots(console, programs)
        for program in programs:
            for fault in program.first_faults():
                text = f"{program.name}, first {fault_lines(fault)}"
                console.print(text, markup=False, highlight=False, soft_wrap=not console.is_terminal)
    for line in luck_lines(results):
        console.print(line, highlight=False, soft_wrap=not console.is_terminal)
    for line in replayed_ties(results):
        console.print(line, style="dim")
    rounds = progress.rounds - progress.rounds_before
    speed = format_speed(result.rounds_per_second)
    console.print(f"{counted(rounds, 'round')} in {result.seconds:.2f} s, {speed}", highlight=False)


def luck_lines(results: Sequence[BotResult]) -> list[str]:
    lines = []
    for result in results:
        luck = result.adjusted
        if luck is None:
            continue
        if result.no_exact:
            lines.append(f"{result.name}: no exact value: {result.no_exact}")
        if result.certified:
            lines.append(
                f"{result.name}: without luck, every round returned the exact value {percent(luck.mean, 6)}: solver "
                "and simulation agree on every card"
            )
        elif not math.isinf(luck.ci95[1]):
            lines.append(f"{result.name}: luck adjustment cuts the variance {luck.gain:,.0f}-fold")
            if effect := result.cut_card_effect:
                lines.append(
                    f"{result.name}: cut-card effect {percent(effect.mean, 5)}, 95% interval "
                    f"{interval(effect.ci95, 5)}: its luck-adjusted return less the exact value of a fresh shoe"
                )
    return lines


def format_speed(rounds_per_second: float) -> str:
    if rounds_per_second < 1e6:
        return f"{rounds_per_second:,.0f} rounds/s"
    return f"{rounds_per_second / 1e6:,.1f} million rounds/s"


# --- The picture and the report of `bjsim run`: returns and their convergence.


def plot_run(result: RunResult, path: str, command: str) -> None:
    """Plot the convergence of the returns. Raises: InputError: The file cannot be written."""
    result = published(result)
    plot_convergence(result, path, "\n".join([_title(result), *_lines(result)]), command)


def report_run(result: RunResult, programs: Sequence[BotPlayer], more: Sequence[str], command: str) -> Report:
    result = published(result)
    convergence = convergence_part(result)
    faults, names = table_part("programs", program_rows(programs)), [program.name for program in programs]
    faults = faults._replace(rows=[[without_folders(cell, names) for cell in row] for row in faults.rows])
    parts = [
        Section("Results"),
        table_part("results", result_rows(result)),
        Notes([*result_lines(result), *more], small=True),
        *([Section("Convergence"), convergence] if convergence.panels else []),
        *([Section("Programs"), faults] if faults.rows else []),
    ]
    return Report(_title(result), _lines(result), command, rules_part([result.rules]), parts)


def _title(result: RunResult) -> str:
    return f"The return of {result[0].name}" if len(result) == 1 else f"The returns of {len(result)} bots"


def _lines(result: RunResult) -> list[str]:
    hands = {one.tally.rounds for one in result}
    each = " each" if len(result) > 1 else ""
    count = f"{max(hands, default=0):,} hands{each}" if len(hands) < 2 else f"up to {max(hands):,} hands each"
    return [game_text(result.rules), f"{count}, seed {result.seed}"]


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
