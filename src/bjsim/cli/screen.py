"""The display of `bjsim run`: its progress, and the report at the end."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from bjsim.cli.options import counted
from bjsim.cli.render import fault_lines, print_bots, print_convergence, print_results
from bjsim.cli.waiting import Waiting
from bjsim.run_result import RunResult
from bjsim.sim.game.actions import Player
from bjsim.sim.game.events import game_text
from bjsim.sim.game.rules import Rules
from bjsim.sim.running.experiment import Experiment, Progress, half_width, is_precise
from bjsim.sim.stats.estimate import Z95
from bjsim.strategies.results import BotResult
from bjsim.strategies.tabular import interval, percent

if TYPE_CHECKING:
    from bjsim.bots.player import BotPlayer


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
