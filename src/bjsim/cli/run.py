"""`bjsim run`: play strategies and bots, and compare their returns with the exact values."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

import click
from rich.console import Console

from bjsim import __version__
from bjsim.arguments import MOST_TABLES, MOST_WORKERS
from bjsim.bots.programs import is_bot
from bjsim.bots.seats import BotOptions, find_any_player, is_program, warn_of_guessable
from bjsim.cli.options import (
    MOST_HANDS,
    Count,
    Names,
    adjust_option,
    bot_names,
    bot_options,
    check_writable,
    json_option,
    rules_options,
    the_rules,
    until_option,
    write_json,
)
from bjsim.cli.plots import check_picture, plot_convergence
from bjsim.cli.screen import RunScreen, precision_line, report
from bjsim.errors import EndlessSplitting, InputError, RunFailed
from bjsim.sim.engine.compile_notice import on_compile
from bjsim.sim.game.actions import Player
from bjsim.sim.game.random_stream import MOST_SEED, random_seed
from bjsim.sim.game.rules import Rules
from bjsim.sim.running.backend import Backend
from bjsim.sim.running.checkpoint import Checkpoint
from bjsim.sim.running.common_cards import CommonCards
from bjsim.sim.running.driver import Driver
from bjsim.sim.running.executors import local, open_backend, threads
from bjsim.sim.running.experiment import Experiment, Progress, is_precise
from bjsim.sim.running.table import AdjustedTable, CompiledTable, Span
from bjsim.sim.running.workers import ForkedResult, can_fork, collect_logs, usable_cores
from bjsim.strategies.charts.chart import Chart
from bjsim.strategies.experiment import exact_returns, experiment_of, missing_results, results_of
from bjsim.strategies.players.find import comes_from_file, find_player, fingerprint
from bjsim.strategies.results import BotResult, differences_of


@click.command(context_settings={"allow_extra_args": True})  # refused below, with a hint
@click.option("--bots", type=Names(bot_names), required=True, metavar="A[,B...]", help="Who plays: names or files.")
@click.option("--hands", type=Count(), metavar="N", help="Rounds for each bot, such as 1e7; with --until, the most.")
@until_option
@rules_options
@click.option(
    "--tables", type=Count(1, MOST_TABLES), default=1, show_default=True, help="Tables that share a bot's hands."
)
@click.option("--workers", type=Count(1, MOST_WORKERS), help="Processes; all cores by default.")
@click.option(
    "--executor",
    default="local",
    show_default=True,
    metavar="NAME|URL",
    help="Where blocks are played: local, dask, dask://HOST:PORT, or cuda (a GPU: charts only, luck not told).",
)
@click.option(
    "--seed", type=Count(0, MOST_SEED),
    help="The same seed gives the same result, bit for bit.  [default: 1; with programs 128 random bits]",
)  # fmt: skip
@adjust_option
@click.option("--common-cards", is_flag=True, help="Deal every bot the same cards; compare them pair by pair.")
@json_option
@click.option("--plot", "plot_path", metavar="FILE.png|.svg", help="Draw how the means converged.")
@click.option("--log", "log_path", metavar="FILE", help="Gather the log records of all workers.")
@click.option("--checkpoint", metavar="FILE", help="Keep what is known in FILE, to go on from it.")
@click.option("--resume", metavar="FILE", help="Go on from a checkpoint of the same run.")
@bot_options
def run(
    bots: list[str], hands: int | None, precision: float | None, rules_name: str, settings: tuple[str, ...],
    decks: str | None, tables: int, workers: int | None, executor: str, seed: int | None, adjust_luck: bool | None,
    common_cards: bool, json_path: str | None, plot_path: str | None, log_path: str | None, checkpoint: str | None,
    resume: str | None, sandbox: str, timeout: float, cold: bool, strikes: int | None,
) -> None:  # fmt: skip
    """Play strategies and bots; compare their returns with the exact values.

    Bots are names (optimal, lim17, lim12 to lim20, mimic, hoyle), chart files, Python players written module:object or
    file.py:object, or programs: ./bot.py, bot.c, any executable (see `bjsim bot`). Bots sit so many to a table as the
    rules have seats, in the order given.
    """
    if extra := click.get_current_context().args:
        together = ",".join([*bots, *extra])
        raise InputError(f"{extra[0]} belongs to no option; separate bots by commas: --bots {together}")
    if hands is None and precision is None:
        raise InputError("how long to play is not said; give --hands N, such as 1e7, or --until P%, such as 0.01%")
    if plot_path:
        check_picture(plot_path)
    check_checkpoints(checkpoint, resume)
    for path in (json_path, plot_path, checkpoint):
        check_writable(path)
    rules = the_rules(rules_name, settings, decks)
    options = BotOptions(sandbox, timeout, cold, strikes)
    if executor == "cuda":
        check_gpu(bots, rules, {"--adjust-luck": adjust_luck, "--common-cards": common_cards})
        adjust_luck = False
    elif executor != "local":
        check_travel(executor, bots, rules)
        if log_path:
            raise InputError(f"--log gathers the records of local workers; it cannot with --executor {executor}")
    players = [find_any_player(bot, rules, options) for bot in bots]
    programs = [player for player in players if is_bot(player)]
    if executor == "local" and not can_fork() and any(map(comes_from_file, players)):
        workers = one_process(workers)
    if common_cards and len(players) < 2:
        raise InputError("--common-cards compares bots with one another; --bots takes two or more of them")
    most = hands or MOST_HANDS
    if programs and seed is not None:
        warn_of_guessable(seed)
    seed = the_seed(seed, bool(programs), resume)
    experiment = experiment_of(rules, players, most, seed, tables, adjust_luck, common_cards, precision or 0.0)
    what = {
        "rules": rules.to_dict(),
        "bots": [[bot, fingerprint(bot, player)] for bot, player in zip(bots, players, strict=True)],
        "hands": most,
        "until": precision,
        "tables": tables,
        "seed": seed,
        "adjust_luck": adjust_luck,
        "common_cards": common_cards,
        "bjsim": __version__,
    }
    keep = checkpoint or resume
    saved = Checkpoint(Path(keep), what) if keep else None
    try:
        exact = ForkedResult(lambda: exact_returns(rules, players))
        with _log(log_path) as records, ExitStack() as opened:
            if programs:
                place = threads(workers or usable_cores())
            else:
                place = opened.enter_context(open_backend(executor, workers, records))
            screen = RunScreen(rules, players, experiment, quiet=json_path == "-")
            if programs:
                click.get_current_context().with_resource(heeding_one_interrupt())
            played = play_on(screen, experiment, place, saved, bool(resume))
    finally:
        for program in programs:
            program.close()
    returns = exact.result()
    results = results_of(experiment, players, played.progress, returns)
    missing = missing_results(players, played.progress, returns)
    if json_path:
        reached = {} if precision is None else {"until": precision, "reached": is_precise(experiment, played.progress)}
        write_json(run_json(rules, seed, results, players, played) | {"missing": missing} | reached, json_path)
    if plot_path and results:
        plot_convergence(results, plot_path)
    report(screen.console, results, missing, programs, *played)
    if precision:
        screen.console.print(precision_line(experiment, played.progress), highlight=False)
    if played.stopped and programs:
        sys.stdout.flush()
        os._exit(130)  # threads may be in the middle of a block, and their bots are gone
    if played.stopped:
        raise click.exceptions.Exit(130)
    if played.failure:
        raise RunFailed(played.failure)


def the_seed(given: int | None, programs: bool, resume: str | None) -> int:
    """The seed of a run: as given, else 1; where programs play, one they cannot guess, or the resumed run's."""
    if given is not None:
        return given
    if not programs:
        return 1
    found = Checkpoint(Path(resume)).read()[0].get("seed") if resume else None
    return found if isinstance(found, int) and 0 <= found <= MOST_SEED else random_seed()


def check_gpu(bots: Sequence[str], rules: Rules, asked: Mapping[str, bool | None]) -> None:
    """Refuse what a GPU does not do; `asked` are options of which it knows none."""
    for option in filter(asked.get, asked):
        raise InputError(f"{option} with --executor cuda: a GPU only counts payoffs, and knows nothing else of a round")
    for bot in bots:
        if is_program(bot) or not isinstance(find_player(bot, rules), Chart):
            raise InputError(f"{bot} is no chart, and --executor cuda plays nothing else")


def check_travel(executor: str, bots: Sequence[str], rules: Rules) -> None:
    """Refuse players that only this machine, or only this process and its forks, could run."""
    for bot in bots:
        if is_program(bot):
            raise InputError(f"{bot} is a program, which cannot travel to the workers of --executor {executor}")
        if comes_from_file(find_player(bot, rules)):
            raise InputError(
                f"{bot} is a player from a file, which cannot travel to the workers of --executor {executor}; "
                "give it as module:object, of a module installed there"
            )


def one_process(workers: int | None) -> int:
    """How many processes play with a player from a file, where they cannot be forked: this one, which knows it.

    Raises: InputError where more are asked for.
    """
    if workers and workers > 1:
        raise InputError(
            f"--workers {workers} with a player from a file: other processes do not know it on this system; "
            "give it as module:object, or --workers 1"
        )
    return 1


def check_checkpoints(checkpoint: str | None, resume: str | None) -> None:
    """Refuse a checkpoint that would be overwritten unread."""
    if checkpoint and resume and checkpoint != resume:
        raise InputError(f"--checkpoint {checkpoint} with --resume {resume}: a resumed run keeps its one file")
    if checkpoint and not resume and Path(checkpoint).exists():
        raise InputError(f"{checkpoint} exists; go on from it with --resume {checkpoint}, or remove it")


class Played(NamedTuple):
    """What a run came to, in how many seconds, and whether Ctrl-C stopped it, or a round that did not end.

    failure: what to say of that round, or nothing.
    """

    progress: Progress
    seconds: float
    stopped: bool
    failure: str = ""


def play_chart(
    chart: Chart, hands: int, precision: float, seed: int, cores: int, quiet: bool
) -> tuple[Experiment, Played]:
    """Play one chart by its own rules, shown on a screen, as `bjsim run` does with the options of these names."""
    experiment = experiment_of(chart.rules, [chart], hands, seed, precision=precision)
    return experiment, play_on(RunScreen(chart.rules, [chart], experiment, quiet), experiment, local(cores))


def play_on(
    screen: RunScreen, experiment: Experiment, place: Backend, saved: Checkpoint | None = None, resume: bool = False
) -> Played:
    """Play an experiment at this place, shown on the screen."""
    driver = Driver(experiment, place, checkpoint=saved, resume=resume, on_progress=screen.update)
    warm_up(experiment, screen.console)
    began = time.perf_counter()
    stopped, failure = False, ""
    try:
        with screen:
            driver.run()
    except KeyboardInterrupt:
        stopped = True
    except EndlessSplitting as error:
        failure = str(error)
    progress = driver.so_far() if stopped or failure else driver.progress
    return Played(progress, time.perf_counter() - began, stopped, failure)


@contextmanager
def heeding_one_interrupt() -> Iterator[None]:
    """Let only the first Ctrl-C interrupt: what follows it is short, and an impatient second one would cut it off."""

    def interrupt(*_: object) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        raise KeyboardInterrupt

    usual = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if not usual or threading.current_thread() is not threading.main_thread():
        yield  # whoever started bjsim has other plans with it
        return
    signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@contextmanager
def _log(path: str | None) -> Iterator[object]:
    try:
        with collect_logs(path) as records:
            yield records
    except OSError as error:
        if path is None or error.filename is None or Path(error.filename).name != Path(path).name:
            raise
        raise InputError(f"cannot write the log {path}: {error.strerror}") from None


def warm_up(experiment: Experiment, console: Console) -> None:
    """Have the compiled round ready before workers are forked, saying so if it must be compiled first."""
    tables = [group.tables if isinstance(group, CommonCards) else [group] for group in experiment.groups]
    compiled = [table for group in tables for table in group if isinstance(table, CompiledTable | AdjustedTable)]
    if not compiled:
        return
    with on_compile(lambda: console.print("compiling the round (once after install, some seconds) …", style="dim")):
        for table in compiled:
            table.play(0, 0, [Span(0, 1)])


def run_json(
    rules: Rules, seed: int, results: Sequence[BotResult], players: Sequence[Player], played: Played
) -> dict[str, object]:
    """What `--json` writes. players: those in other processes add their faults and times."""
    bots = [result.to_json() for result in results]
    settled = [player for player, tally in zip(players, played.progress.tallies, strict=False) if tally.settled]
    for bot, player in zip(bots, settled, strict=False):
        if is_bot(player):
            bot |= {"faults": dict(sorted(player.faults.items())), "ms_per_move": player.ms_per_move()}
            bot["first_faults"] = [fault.to_json() for fault in player.first_faults()]
    return {
        "rules": rules.to_dict(),
        "seed": seed,
        "bots": bots,
        "differences": [difference.to_json() for difference in differences_of(results)],
        "rounds": played.progress.rounds,
        **({"stopped": True, "unmerged": played.progress.unmerged} if played.stopped or played.failure else {}),
        "seconds": played.seconds,
        "rounds_per_second": (played.progress.rounds - played.progress.rounds_before) / max(played.seconds, 1e-9),
    }
