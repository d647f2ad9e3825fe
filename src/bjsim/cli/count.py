"""`bjsim count`: how a card counter does in a game; and `bjsim count indices`: when to depart from the best chart."""

from dataclasses import fields, replace
from functools import partial
from typing import Any

import click

from bjsim.asked.kinds import Count, Dollars
from bjsim.cli.asked import ask, asked_of
from bjsim.cli.options import (
    Files,
    files_options,
    given_command,
    is_given,
    parse_varied,
    refuse_together,
    rules_options,
    vary_option,
    write_text,
)
from bjsim.cli.waiting import waiting
from bjsim.errors import InputError, RunFailed
from bjsim.sim.game.rules import Rules
from bjsim.strategies.counting.count_run import CountRun
from bjsim.strategies.counting.departures import format_departures
from bjsim.strategies.counting.indices import find_indices
from bjsim.strategies.counting.ramp import BetLimits, Ramp
from bjsim.strategies.counting.request import BETS, CountRequest, play_request
from bjsim.strategies.counting.result import CountComparison, CountResult, in_chips
from bjsim.strategies.counting.system import built_in_systems, find_system
from bjsim.strategies.counting.typical import decks_to_count

VARIED = ("system", "ramp", "optimal", "indices", "leave")  # what `--vary` accepts besides the rules
REQUESTED = tuple(
    each.name for each in fields(CountRequest) if each.init and each.name not in (*BETS, "rules", "span", "on_progress")
)
PLAYED = ("rules_name", "settings", "decks", "cut", "players", *REQUESTED, "varied")  # not loaded


@click.group(invoke_without_command=True)
@partial(rules_options, also=("cut", "players"))
@ask(
    "system",
    f"Counting system: {', '.join(built_in_systems())}, or a file; names ending in -aces keep a side count "
    "of aces for betting.",
    "hilo",
)
@asked_of("bjsim.strategies.counting.request:CountRequest", "system", "chip", workers="all cores", ramp="")
@ask(
    "chip",
    "Bets of --optimal are multiples of this; 0: not rounded.  [default: 1, or 0.5 if both limits are multiples of "
    "that, else 0] With a dollar sign all bets are whole chips of this money: '$5'.",
)
@vary_option("Compare systems, ramps, optimal, indices, leave or rules; differences are those to the first.", VARIED)
@click.option("--load", "load_path", metavar="FILE", help="Compute from a checkpoint instead of playing.")
@click.option("--fan", "fan_path", metavar="FILE.png|.svg", help="Draw the bankroll over time: 5%, 50% and 95%.")
@files_options(
    "Draw EV, share and bet by count; with --vary, the SCORE of every game.",
    "Write a page that computes other bets in the browser.",
)
def count(files: Files, **options: Any) -> None:
    """Find out how a card counter does in a game: EV by count, then profit, risk and SCORE of the bets.

    One run serves every ramp, as play does not depend on the bet. Profits are luck-adjusted and depth-controlled unless
    --no-adjust-luck is given.

    bjsim count --rules vegas-h17 --decks 6 --cut 75% --ramp 1-12

    bjsim count --rules vegas-s17 --ramp "0:0 1:2 2:4 3:8" --bankroll 500

    bjsim count --rules vegas-s17 --players 4 --ramp "0:1 1:2 2:4x2 4:8x2"

    bjsim count --rules vegas-h17 --decks 6 --optimal 1-12 --ror 1% --bankroll 10k

    bjsim count --rules vegas-s17 --vary system=hilo,ko --vary cut=75%,83%
    """
    context = click.get_current_context()
    if context.invoked_subcommand is not None:
        refuse_before(context)
        return
    refuse_ignored(context)
    if options["varied"]:
        files.show(play_varied(options), given_command())
        return
    bets = the_bets(options)
    if options["load_path"]:
        result = CountResult.load(options["load_path"], **bets)
        with_unit(result.request, options["chip"])
        if is_given("leave_minutes") and result.request.leaves is None:
            raise InputError("--leave-minutes is what leaving a shoe costs, and this counter leaves none; leave it out")
    else:
        request = with_unit(make_request(options, bets), options["chip"])
        result = CountResult.of(play_one(request), request)
    result = in_chips(result, options["chip"])
    files._replace(html_path=None).show(result, given_command(), has_lines=False)
    if files.fan_path:
        Files(None, files.fan_path).draw(replace(result.describe_fan(), command=given_command()))
    if files.html_path:
        write_text(result.to_html(given_command()), files.html_path)
    if result.run.failure:
        raise RunFailed(result.run.failure)
    if result.run.stopped:
        raise click.exceptions.Exit(130)


def refuse_before(context: click.Context) -> None:
    """Raises: InputError: An option comes before the subcommand, which would ignore it."""
    for option in context.command.params:
        if is_given(str(option.name)):
            raise InputError(
                f"{option.opts[0]} comes before {context.invoked_subcommand}; write the options after it, as in "
                f"bjsim count {context.invoked_subcommand} --rules vegas-s17"
            )


def refuse_ignored(context: click.Context) -> None:
    """Raises: InputError: An option is given that would be ignored."""
    names = [str(text).partition("=")[0].strip() for text in context.params["varied"]]
    if is_given("leave_minutes") and not (is_given("leave") or is_given("load_path") or "leave" in names):
        raise InputError("--leave-minutes is what --leave costs; give --leave COUNT, such as -1, or leave it out")
    refuse_together("load_path", *PLAYED, why=", as the rounds have been played")
    refuse_together("varied", "checkpoint", "resume", "fan_path")


def the_bets(options: dict[str, Any]) -> dict[str, Any]:
    bankroll = options["bankroll"]
    if isinstance(bankroll, Dollars) and not (options["unit"] or options["ror"] or "$" in (options["ramp"] or "")):
        raise InputError(f"--bankroll ${bankroll:,.15g}: give --unit too, the money per unit, or --ror to find it")
    chip = None if isinstance(options["chip"], Dollars) else options["chip"]
    return {name: options[name] for name in BETS} | {"chip": chip}


def with_unit(request: CountRequest, chip: float | None) -> CountRequest:
    """The request. Raises: InputError: The chip is money, and no unit will be known."""
    if isinstance(chip, Dollars) and request.terms.unit is None and request.terms.money is None:
        raise InputError(f"--chip ${chip:g} needs the money of a unit; give --unit, or --ror with --bankroll")
    return request


def make_request(options: dict[str, Any], bets: dict[str, Any]) -> CountRequest:
    return CountRequest(options["rules"], **{name: options[name] for name in REQUESTED}, **bets)


def play_one(request: CountRequest, label: str = "") -> CountRun:
    """Play a game, with its progress on a terminal. Raises: InputError."""
    with waiting(f"{label}preparing the table") as line:
        return play_request(request, bool(label), lambda rounds, most: line.say(f"{label}rounds", rounds, most))


def play_varied(options: dict[str, Any]) -> CountComparison:
    """Play the games of --vary. Raises: InputError."""
    axes = parse_varied(options["varied"], VARIED)
    # A request of its own: a chip needs --optimal, which excludes a ramp.
    first = {name: value for (name, value), *_ in axes if name in BETS}
    requests = make_request(options, the_bets(options | first)).varied(axes)
    compared = CountComparison.of([(name, with_unit(one, options["chip"])) for name, one in requests], play_one)
    return replace(compared, games=tuple((name, in_chips(one, options["chip"])) for name, one in compared.games))


@count.command()
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
    files.show(scores, given_command(), text=format_departures(scores.played))
