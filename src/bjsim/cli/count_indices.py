"""`bjsim count indices`: index plays for any rules and counting system."""

from collections.abc import Callable
from functools import partial
from typing import Any

import click
from rich.console import Console
from rich.text import Text

from bjsim.cli.count_plots import plot_indices
from bjsim.cli.options import (
    BetRange,
    Files,
    gathered,
    given_command,
    is_given,
    json_option,
    plot_option,
    rules_options,
    write_json,
    write_text,
)
from bjsim.cli.tables import Cell, Printed, print_table
from bjsim.cli.waiting import waiting
from bjsim.errors import InputError
from bjsim.sim.game.rules import Rules
from bjsim.strategies.charts.chart import Chart
from bjsim.strategies.counting.departures import Departures, format_departures
from bjsim.strategies.counting.indices import Index, IndexScores, generate_indices, select_departures
from bjsim.strategies.counting.ramp import BetLimits, Ramp
from bjsim.strategies.counting.returns import chart_returns, highest_score, ramp_returns
from bjsim.strategies.counting.system import CountingSystem, find_system
from bjsim.strategies.counting.tables import CountingGame
from bjsim.strategies.counting.typical import decks_to_count
from bjsim.strategies.evaluation.compare import best_chart


@click.command()
@rules_options
@click.option("--system", default="hilo", show_default=True, metavar="NAME|FILE.toml", help="Counting system.")
@click.option("--ramp", default="1-12", show_default=True, metavar="RAMP", help="Bets that weight the gains, one spot.")
@click.option(
    "--optimal", type=BetRange(), metavar="LOW-HIGH", help="Bet the ramp of highest SCORE between these units."
)
@click.option("--kelly", type=float, metavar="SHARE", help="Make the indices risk-averse, for this Kelly fraction.")
@click.option("--limit", type=click.IntRange(1, 30), default=10, show_default=True, help="Greatest true count sought.")
@click.option("--top", type=click.IntRange(1), metavar="N", help="Only the N index plays with the largest gains.")
@click.option("--save", "save_path", metavar="FILE", help="Write the index plays as text, for `bjsim count --indices`.")
@json_option
@plot_option("Draw the chart with the index plays in its cells.")
@gathered(files=Files)
def indices(
    rules: Rules,
    system: str,
    ramp: str,
    optimal: BetLimits | None,
    kelly: float | None,
    limit: int,
    top: int | None,
    files: Files,
) -> None:
    """Compute at which count each departure from the best chart pays, and what it gains in EV and in SCORE.

    Choices are evaluated exactly in the expected composition of the unseen cards at each count. The gain in SCORE is
    what that in EV adds to the bets of a counter who plays the chart without any other departure.

    bjsim count indices --rules vegas-s17 --system hilo --top 18
    """
    files.check()
    if files.save_path and files.save_path != "-" and not files.save_path.lower().endswith(".txt"):
        raise InputError(
            f"--save {files.save_path} is not accepted; `bjsim count --indices` reads files that end in .txt"
        )
    check_optimal(optimal)
    counting, bets = find_system(system), Ramp.parse(ramp)
    if any(bet.spots > 1 for _, bet in bets.steps):
        raise InputError(f"--ramp {bets} has several spots; indices are for one, so leave out x")
    decks_to_count(rules)  # before a line says that it works
    with waiting("finding the best chart") as line:
        scores, chart, bets = find_indices(rules, counting, bets, optimal, top, line.say, limit=limit, kelly=kelly)
    if files.save_path:
        write_text(format_departures(scores.played), files.save_path)
    if files.json_path:
        write_json(scores.to_json(bets), files.json_path)
    if files.plot_path:
        title = f"{counting.full_title} in {rules.name}"
        plot_indices(chart, scores.played, title, scores.text, files.plot_path, given_command())
    console = Console(stderr=files.quiet)
    weight = ramp if optimal is None else f"{optimal}, best SCORE"
    print_table(console, *index_rows(scores, weight))
    console.print(scores.text, style="dim", highlight=False, soft_wrap=not console.is_terminal)


def find_indices(
    rules: Rules,
    counting: CountingSystem,
    bets: Ramp,
    optimal: BetLimits | None = None,
    top: int | None = None,
    say: Callable[..., object] = lambda *progress: None,
    **options: Any,
) -> tuple[IndexScores, Chart, Ramp]:
    """The index plays of a game with their gains, the chart that they depart from, and the bets that weight them."""
    chart = best_chart(rules)
    CountingGame(rules, counting, Departures(chart, ()))  # refuses games in which `bjsim count` cannot play them
    say("returns of the chart by count")
    table = chart_returns(rules, counting, chart)
    if optimal:
        bets = highest_score(table, optimal.least, optimal.most)
    progress = partial(say, "choices by count")
    found = generate_indices(rules, counting, ramp=bets, on_count=progress, **options)[:top]
    played = select_departures(found, chart)
    return IndexScores(found, played, ramp_returns(table, bets.units(table.counts))), chart, bets


def index_rows(scores: IndexScores, weight: object) -> Printed:
    """Headings and a row for each index play; weight: the bets, in words."""
    gains = ["gain, units per million rounds", f"with bets {weight}", "gain in SCORE"]
    return ["index play", "break-even true count", *gains], [index_row(index, scores) for index in scores.found]


def check_optimal(optimal: BetLimits | None) -> None:
    """Raises: InputError: --optimal is given together with --ramp, or has several spots."""
    if optimal and is_given("ramp"):
        raise InputError("--optimal and --ramp cannot be combined; leave out one of them")
    if optimal and optimal.spots > 1:
        raise InputError(f"--optimal {optimal} has several spots; indices are for one, so leave out x")


def index_row(index: Index, scores: IndexScores) -> list[Cell]:
    gains = f"{1e6 * index.gain:,.1f}", f"{1e6 * index.gain_bets:,.1f}", f"{scores.gain(index):.3f}"
    return [Text(str(index.departure)), f"{index.break_even:+.2f}", *gains]
