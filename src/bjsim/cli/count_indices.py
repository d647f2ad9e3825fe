"""`bjsim count indices`: index plays for any rules and counting system."""

import click

from bjsim.asked.kinds import Count
from bjsim.cli.asked import ask
from bjsim.cli.options import Files, files_options, given_command, refuse_together, rules_options
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
@ask("system", "Counting system.", "hilo")
@ask("ramp", "Bets that weight the gains, one spot.", "1-12")
@ask("optimal", "Bet the ramp of highest SCORE between these units.")
@click.option("--risk-averse", is_flag=True, help="Maximise the certainty equivalent of a Kelly bettor, not the EV.")
@ask("limit", "Greatest true count of Hi-Lo sought; larger tags have larger counts.", 10, kind=Count(most=30))
@ask("top", "Only the N index plays with the largest gains.", kind=Count())
@click.option("--save", "save_path", metavar="FILE", help="Write the index plays as text, for `bjsim count --indices`.")
@files_options("Draw the chart with the index plays in its cells.")
def indices(
    rules: Rules,
    system: str,
    ramp: str,
    optimal: str | None,
    risk_averse: bool,
    limit: int,
    top: int | None,
    files: Files,
) -> None:
    """Compute at which count each departure from the best chart pays, and what it gains in EV and in SCORE.

    Choices are evaluated exactly in the expected composition of the unseen cards at each count. The gain in SCORE is
    what that in EV adds to the bets of a counter who plays the chart without any other departure.

    bjsim count indices --rules vegas-s17 --system hilo --top 18
    """
    if files.save_path and not files.save_path.lower().endswith(".txt"):
        raise InputError(
            f"--save {files.save_path} is not accepted; `bjsim count --indices` reads files that end in .txt"
        )
    refuse_together("optimal", "ramp")
    limits = BetLimits.of(optimal) if optimal else None
    if limits and limits.spots > 1:
        raise InputError(f"--optimal {limits} has several spots; indices are for one, so leave out x")
    counting, bets = find_system(system), Ramp.parse(ramp)
    if any(bet.spots > 1 for _, bet in bets.steps):
        raise InputError(f"--ramp {bets} has several spots; indices are for one, so leave out x")
    decks_to_count(rules)  # before a line says that it works
    with waiting("finding the best chart") as line:
        scores = find_indices(rules, counting, bets, limits, top, line.say, limit=limit, risk_averse=risk_averse)
    files.show(scores, given_command(), has_lines=False, text=format_departures(scores.played))
