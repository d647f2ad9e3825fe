"""`bjsim run`: play strategies and bots, and compare their returns with the exact values."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import click
from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from bjsim.cli.options import Count, Names, bot_names, json_option, rules_options, seed_option, the_rules, write_json
from bjsim.cli.plots import check_picture, plot_convergence
from bjsim.cli.render import convergence_table, percent, results_table
from bjsim.sim.driver import Checkpoint, Driver, Experiment, Progress
from bjsim.sim.errors import InputError
from bjsim.sim.play import Player
from bjsim.sim.rules import Rules
from bjsim.sim.table import CompiledTable
from bjsim.sim.workers import gathered_log, open_executor, usable_cores
from bjsim.strategies.experiment import BotResult, experiment_of, results_of
from bjsim.strategies.players import find_player


@click.command()
@click.option("--bots", type=Names(bot_names), required=True, metavar="A[,B...]", help="Who plays: names or files.")
@click.option("--hands", type=Count(), required=True, metavar="N", help="Rounds for each bot; 1e7 is fine.")
@rules_options
@click.option("--tables", type=Count(1, 10**6), default=1, show_default=True, help="Tables that share a bot's hands.")
@click.option("--workers", type=Count(1, 4096), help="Processes; all cores by default.")
@seed_option
@json_option
@click.option("--plot", "plot_path", metavar="FILE.png|.svg", help="Draw how the means converged.")
@click.option("--log", "log_path", metavar="FILE", help="Gather the log records of all workers.")
@click.option("--checkpoint", metavar="FILE", help="Keep what is known in FILE, to go on from it.")
@click.option("--resume", metavar="FILE", help="Go on from a checkpoint of the same run.")
def run(
    bots: list[str], hands: int, rules_name: str, settings: tuple[str, ...], decks: str | None, tables: int,
    workers: int | None, seed: int, json_path: str | None, plot_path: str | None, log_path: str | None,
    checkpoint: str | None, resume: str | None,
) -> None:  # fmt: skip
    """Play strategies and bots; compare their returns with the exact values.

    Bots are names (optimal, lim17, lim12 to lim20, mimic, hoyle), chart files, or Python players written module:object
    or file.py:object.
    """
    rules = the_rules(rules_name, settings, decks)
    players = [find_player(bot, rules) for bot in bots]
    experiment = experiment_of(rules, players, hands, seed, tables)
    if plot_path:
        check_picture(plot_path)
    what = {"rules": rules.to_dict(), "bots": bots, "hands": hands, "tables": tables, "seed": seed}
    keep = checkpoint or resume
    with _log(log_path) as records:
        cores = workers or usable_cores()
        screen = Screen(rules, players, experiment, quiet=json_path == "-")
        driver = Driver(
            experiment,
            open_pool=lambda: open_executor(cores, records),
            in_flight=2 * cores if cores > 1 else 1,
            checkpoint=Checkpoint(Path(keep), what) if keep else None,
            resume=bool(resume),
            on_progress=screen.update,
        )
        warm_up(experiment, screen.console)
        began = time.perf_counter()
        stopped = False
        try:
            with screen:
                driver.run()
        except KeyboardInterrupt:
            stopped = True
        seconds = time.perf_counter() - began
    results = results_of(experiment, players, driver.progress)
    if json_path:
        write_json(run_json(rules, seed, results, driver.progress, seconds), json_path)
    if plot_path and results:
        plot_convergence(results, plot_path)
    report(screen.console, results, driver.progress, seconds, stopped)
    if stopped:
        raise click.exceptions.Exit(130)


@contextmanager
def _log(path: str | None) -> Iterator[object]:
    try:
        with gathered_log(path) as records:
            yield records
    except OSError as error:
        if path is None or error.filename is None or Path(error.filename).name != Path(path).name:
            raise
        raise InputError(f"cannot write the log {path}: {error.strerror}") from None


def warm_up(experiment: Experiment, console: Console) -> None:
    """Have the compiled round ready before workers are forked, saying so if it must be compiled first."""
    compiled = [table for table in experiment.groups if isinstance(table, CompiledTable)]
    if not compiled:
        return
    from bjsim.sim import kernel

    if not kernel.is_cached():
        console.print("compiling the round (once after install, some seconds) …", style="dim")
    compiled[0].play(0, 0, 0, 1)


class Screen:
    """What is shown while a run goes on: the results so far, the rounds per second, and the time left."""

    def __init__(self, rules: Rules, players: Sequence[Player], experiment: Experiment, quiet: bool) -> None:
        self.console = Console(stderr=quiet)
        self.experiment = experiment
        self.seats = len(players)
        self.players = players
        self.live = Live(console=self.console, transient=True, auto_refresh=False)
        self.began = self.shown = time.perf_counter()
        self.console.print(f"[bold]{rules.name}[/bold], seed {experiment.seed}", highlight=False)
        self.start_rounds: int | None = None

    def __enter__(self) -> Screen:
        return self

    def __exit__(self, *exception: object) -> None:
        self.live.stop()

    def update(self, progress: Progress) -> None:
        """Show the progress, at most five times a second. The display starts here, once the workers run."""
        now = time.perf_counter()
        if self.start_rounds is None:
            self.start_rounds = progress.rounds
        if not self.console.is_terminal or now - self.shown < 0.2:
            return
        self.shown = now
        if not self.live.is_started:
            self.live.start()
        done, whole = progress.rounds, self.experiment.hands * self.seats
        speed = (done - self.start_rounds) / max(now - self.began, 1e-9)
        left = (whole - done) / speed if speed else float("inf")
        lines = [
            Text(f"{player.name:>12}  {percent(tally.mean)}  ± {196 * tally.se:.4f}%  of {tally.rounds:,} hands")
            for player, tally in zip(self.players, progress.tallies, strict=True)
            if tally.rounds > tally.ties_replayed
        ]
        head = f"{done / whole:6.1%}   {speed / 1e6:,.2f} M rounds/s   {left:,.0f} s left"
        self.live.update(Group(Text(head, style="bold"), *lines), refresh=True)


def report(console: Console, results: Sequence[BotResult], progress: Progress, seconds: float, stopped: bool) -> None:
    """Print the results, how they converged, and how fast it went."""
    if stopped:
        console.print("stopped: this is what is known so far", style="yellow")
    if not results:
        console.print("no bet was settled yet")
        return
    wide = Console(stderr=console.stderr, width=max(console.width, 150)) if not console.is_terminal else console
    wide.print(results_table(results))
    wide.print(convergence_table(results))
    if any(result.tally.ties_replayed for result in results):
        console.print("ties are replayed: the return is per settled bet", style="dim")
    if progress.losses:
        console.print(f"{progress.losses} times a worker was lost; its blocks were played again", style="yellow")
    rounds = progress.rounds
    console.print(
        f"{rounds:,} rounds in {seconds:.2f} s, {rounds / max(seconds, 1e-9) / 1e6:,.2f} M/s", highlight=False
    )


def run_json(
    rules: Rules, seed: int, results: Sequence[BotResult], progress: Progress, seconds: float
) -> dict[str, object]:
    """What `--json` writes."""
    return {
        "rules": rules.to_dict(),
        "seed": seed,
        "bots": [result.to_json() for result in results],
        "rounds": progress.rounds,
        "seconds": seconds,
        "rounds_per_second": progress.rounds / max(seconds, 1e-9),
    }
