"""`bjsim count indices`: index plays for any rules and counting system."""

import click

from bjsim.cli.options import (
    BetRange,
    Files,
    files_options,
    given_command,
    is_given,
    rules_options,
    write_text,
)
from bjsim.cli.waiting import waiting
from bjsim.errors import InputError
from bjsim.sim.game.rules import Rules
from bjsim.strategies.counting.departures import format_departures
from bjsim.strategies.counting.indices import find_indices
from bjsim.strategies.counting.ramp import BetLimits, Ramp
from bjsim.strategies.counting.system import find_system
from bjsim.strategies.counting.typical import decks_to_count


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
@files_options("Draw the chart with the index plays in its cells.")
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
        scores = find_indices(rules, counting, bets, optimal, top, line.say, limit=limit, kelly=kelly)
    if files.save_path:
        write_text(format_departures(scores.played), files.save_path)
    files.show(scores, given_command(), has_lines=False)


def check_optimal(optimal: BetLimits | None) -> None:
    """Raises: InputError: --optimal is given together with --ramp, or has several spots."""
    if optimal and is_given("ramp"):
        raise InputError("--optimal and --ramp cannot be combined; leave out one of them")
    if optimal and optimal.spots > 1:
        raise InputError(f"--optimal {optimal} has several spots; indices are for one, so leave out x")
