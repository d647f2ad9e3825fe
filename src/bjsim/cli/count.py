"""`bjsim count`: what a game is worth to a card counter."""

from __future__ import annotations

import itertools
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import click
import numpy as np
from click.core import ParameterSource
from numpy.typing import NDArray
from rich.console import Console

from bjsim.arguments import MAX_HANDS, MAX_WORKERS
from bjsim.cli.count_report import count_json, count_page, plot_counts, print_counts, print_varied
from bjsim.cli.options import (
    Count,
    check_writable,
    json_option,
    rules_options,
    seed_option,
    the_rules,
    write_json,
    write_text,
)
from bjsim.cli.plots import check_picture
from bjsim.errors import InputError
from bjsim.sim.game.rules import RULE_FIELDS, Rules
from bjsim.sim.running.workers import usable_cores
from bjsim.strategies.charts.chart import Chart
from bjsim.strategies.counting.count_files import load_count_run, save_count_run
from bjsim.strategies.counting.count_returns import CountReturns, best_ramp, kelly_ramp, ramp_returns
from bjsim.strategies.counting.count_run import CountRun
from bjsim.strategies.counting.departures import Departures, find_departures
from bjsim.strategies.counting.figures import Figure, Terms, find_figures
from bjsim.strategies.counting.ramp import Ramp
from bjsim.strategies.counting.simulate import simulate_count
from bjsim.strategies.counting.system import CountingSystem
from bjsim.strategies.counting.systems import built_in_systems, find_system
from bjsim.strategies.players.find import find_player

VARIED = ("system", "ramp", "indices")  # what `--vary` accepts besides the rules
DEFAULT_ROUNDS = 10**6


@dataclass(frozen=True)
class CountRequest:
    """A counted game as the options choose it.

    Attributes:
        rules: The game.
        system: The counting system.
        chart: Name or file of the chart, from which the index plays depart.
        indices: A set, a file or a text of index plays, `none`, or `generate`.
        ramp: The bets, as text.
        optimal: Least and greatest bet of the optimal ramp; it replaces `ramp`.
        chip: Bets of the optimal ramp are multiples of this.
        terms: Bankroll, rounds per hour, Kelly fraction and the length of a trip.
        rounds: Rounds to play.
        precision: Half the interval of the EV per round at which play stops, in units; 0 plays all rounds.
        seed: Random seed.
        workers: Number of processes.
    """

    rules: Rules
    system: CountingSystem
    chart: str = "optimal"
    indices: str = "i18"
    ramp: str = "1-12"
    optimal: tuple[float, float] | None = None
    chip: float = 0.0
    terms: Terms = Terms()
    rounds: int = DEFAULT_ROUNDS
    precision: float = 0.0
    seed: int = 1
    workers: int = 1

    def departures(self) -> Departures:
        """The chart with its index plays. Raises: InputError."""
        chart = find_player(self.chart, self.rules)
        if not isinstance(chart, Chart):
            raise InputError(f"--chart {self.chart} is not a chart; a counter departs from a chart")
        if self.indices == "none":
            return Departures(chart, ())
        if self.indices == "generate":
            from bjsim.strategies.counting.indices import generate_departures

            return Departures(chart, generate_departures(self.rules, self.system, chart))
        return Departures(chart, find_departures(self.indices))

    def play(self) -> CountRun:
        """Play the game. Raises: InputError."""

        def enough(run: CountRun) -> bool:
            if not self.precision:
                return False
            half = worth(run, self).figures[0].half
            return half is not None and half <= self.precision

        return simulate_count(
            self.rules, self.system, self.departures(), self.rounds, self.seed, self.workers, enough=enough
        )


@dataclass(frozen=True)
class Worth:
    """What a counted game is worth: the bets by count and the figures of them."""

    run: CountRun
    table: CountReturns
    bets: NDArray[np.float64]
    spots: NDArray[np.int64]
    figures: list[Figure]


def worth(run: CountRun, request: CountRequest) -> Worth:
    """Compute the figures of a run for the bets of a request. Raises: InputError."""
    table = run.returns
    spots = np.ones(len(table.counts), np.int64)
    if request.optimal:
        least, most = request.optimal
        bets = kelly_ramp(table, request.terms.bankroll, request.terms.kelly, least, most, request.chip)
        if not bets.any():
            bets = best_ramp(table, least, most, request.chip)
    else:
        ramp = Ramp.parse(request.ramp)
        steps = [ramp.bet(count) for count in table.counts]
        bets = np.array([float(bet.units) for bet in steps])
        spots = np.array([bet.spots for bet in steps])
    wagered = float(table.shares @ (bets * spots * run.wagered))
    figures = find_figures(ramp_returns(table, bets, spots.tolist()), request.terms, wagered)
    return Worth(run, table, bets, spots, figures)


class Limits(click.ParamType):  # type: ignore[type-arg]
    """A least and a greatest bet, written as 1-12."""

    name = "least-most"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[float, float]:
        least, dash, most = str(value).partition("-")
        try:
            limits = float(least), float(most)
        except ValueError:
            limits = (0.0, 0.0)
        if not dash or not 0 <= limits[0] <= limits[1] or not 0 < limits[1] < 1e9:
            self.fail(f"{value} is not accepted; give the least and the greatest bet in units, such as 1-12 or 0-8")
        return limits


@click.group(invoke_without_command=True)
@rules_options
@click.option(
    "--system", "system", default="hilo", show_default=True, metavar="NAME|FILE.toml",
    help=f"Counting system: {', '.join(built_in_systems())}, or a file.",
)  # fmt: skip
@click.option(
    "--ramp", default="1-12", show_default=True, metavar="LOW-HIGH|'0:1 2:4 ...'",
    help="Units to bet: a spread, or units by count; 0 units only watch (back-counting).",
)  # fmt: skip
@click.option(
    "--indices", default="i18", show_default=True, metavar="SET|FILE|TEXT",
    help="Index plays: i18, fab4, i18+fab4, none, generate, a file, or text such as '16vT S>=0'.",
)  # fmt: skip
@click.option("--chart", default="optimal", show_default=True, metavar="CHART", help="Chart for all other decisions.")
@click.option("--cut", metavar="SHARE", help="Share of the shoe that is dealt, such as 75%; short for --set cut=SHARE.")
@click.option("--bankroll", type=float, default=1000.0, show_default=True, metavar="UNITS", help="The bankroll.")
@click.option("--kelly", type=float, default=1.0, show_default=True, metavar="SHARE", help="Kelly fraction.")
@click.option("--rounds-per-hour", type=float, default=100.0, show_default=True, metavar="N", help="Rounds seen.")
@click.option("--trip", type=float, default=4.0, show_default=True, metavar="HOURS", help="Trip for its risk of ruin.")
@click.option("--optimal", type=Limits(), metavar="LOW-HIGH", help="Bet the optimal ramp between these units.")
@click.option("--chip", type=float, default=0.0, metavar="UNITS", help="Bets of --optimal are multiples of this.")
@click.option(
    "--rounds", type=Count(1, MAX_HANDS), default="1e6", show_default=True, metavar="N", help="Rounds to play."
)
@click.option("--until", "precision", metavar="P%", help="Play until EV per round is known to ± P of a unit (95%).")
@click.option(
    "--vary", "varied", multiple=True, metavar="FIELD=V1,V2...", help="Compare systems, ramps, indices or rules."
)
@seed_option
@click.option("--workers", type=Count(1, MAX_WORKERS), help="Number of processes.  [default: all cores]")
@click.option("--save", "save_path", metavar="FILE", help="Store the run, from which other bets are computed.")
@click.option("--load", "load_path", metavar="FILE", help="Compute from a stored run instead of playing.")
@json_option
@click.option("--plot", "plot_path", metavar="FILE.png|.svg", help="Draw EV, share and bet by count.")
@click.option("--html", "html_path", metavar="FILE", help="Write a page that computes other bets in the browser.")
@click.pass_context
def count(context: click.Context, /, **options: Any) -> None:
    """Find out what a game is worth to a card counter: EV by count, then profit, risk and SCORE of the bets.

    One run serves every ramp, as play does not depend on the bet. Profits are luck-adjusted and depth-controlled.

    bjsim count --rules vegas-h17 --decks 6 --cut 75% --ramp 1-12

    bjsim count --rules vegas-s17 --ramp "0:0 1:2 2:4 3:8" --bankroll 500

    bjsim count --rules vegas-s17 --optimal 1-8 --bankroll 400 --kelly 0.5

    bjsim count --rules vegas-s17 --vary system=hilo,ko --vary cut=75%,83%
    """
    if context.invoked_subcommand is None:
        run_count(options | {"command": given_command(context)})


def given_command(context: click.Context) -> str:
    """The command with the options that were given."""
    words = ["bjsim", "count"]
    for parameter in context.command.params:
        name = str(parameter.name)
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE and not name.endswith("_path"):
            given = context.params[name]
            for value in given if parameter.multiple else [given]:
                words += [
                    parameter.opts[0],
                    "-".join(f"{x:g}" for x in value) if isinstance(value, tuple) else str(value),
                ]
    return shlex.join(words)


def run_count(options: dict[str, Any]) -> None:
    """Carry out `bjsim count`. Raises: InputError."""
    for name in ("json_path", "save_path", "html_path", "plot_path"):
        check_writable(options[name])
    if options["plot_path"]:
        check_picture(options["plot_path"])
    request = make_request(options)
    console = Console(stderr=options["json_path"] == "-")
    if options["varied"]:
        refuse_with_vary(options)
        requests = vary(request, options["varied"])
        games = [(name, worth(one.play(), one)) for name, one in requests]
        if options["json_path"]:
            write_json({"games": [{"name": name} | count_json(one) for name, one in games]}, options["json_path"])
        print_varied(console, games)
        return
    run = load_count_run(options["load_path"]) if options["load_path"] else request.play()
    result = worth(run, request)
    if options["save_path"]:
        save_count_run(run, options["save_path"])
    if options["json_path"]:
        write_json(count_json(result), options["json_path"])
    if options["plot_path"]:
        plot_counts(result, options["plot_path"])
    if options["html_path"]:
        page = count_page(result, request.terms, options["command"])
        write_text(page.render(), options["html_path"])
    print_counts(console, result)


def make_request(options: dict[str, Any]) -> CountRequest:
    """The request of the options. Raises: InputError."""
    settings = options["settings"] + ((f"cut={options['cut']}",) if options["cut"] else ())
    if options["load_path"] is None:
        rules = the_rules(options["rules_name"], settings, options["decks"])
    else:
        rules = Rules(decks=1)  # the stored run has its own
    terms = Terms(options["bankroll"], options["rounds_per_hour"], options["kelly"], options["trip"])
    return CountRequest(
        rules, find_system(options["system"]), options["chart"], options["indices"], options["ramp"],
        options["optimal"], options["chip"], terms, options["rounds"], parse_precision(options["precision"]),
        options["seed"], options["workers"] or usable_cores(),
    )  # fmt: skip


def parse_precision(text: str | None) -> float:
    """The precision of `--until`, in units; 0 if it is not given. Raises: InputError."""
    if text is None:
        return 0.0
    try:
        share = float(text.removesuffix("%")) / 100
    except ValueError:
        share = 0.0
    if not text.endswith("%") or not 0 < share < 1:
        raise InputError(f"--until {text} is not accepted; give a percentage of a unit, such as 0.01%")
    return share


def refuse_with_vary(options: dict[str, Any]) -> None:
    """Raises: InputError: An option is given that shows a single game."""
    for name in ("save_path", "load_path", "plot_path", "html_path"):
        if options[name]:
            raise InputError(f"--{name.removesuffix('_path')} shows one game; leave out --vary")


def vary(request: CountRequest, varied: Sequence[str]) -> list[tuple[str, CountRequest]]:
    """A request for each combination of the values of `--vary`, with its name. Raises: InputError."""
    axes = []
    for text in varied:
        name, equals, values = text.partition("=")
        name = name.strip()
        if not equals or name not in (*VARIED, *RULE_FIELDS):
            raise InputError(f"--vary {text} is not accepted; vary {', '.join(VARIED)} or a rule, such as cut=70%,80%")
        separator = ";" if ";" in values else ","
        axes.append([(name, value.strip()) for value in values.split(separator)])
    requests = []
    for point in itertools.product(*axes):
        one = request
        for name, value in point:
            one = _with(one, name, value)
        requests.append((", ".join(f"{name}={value}" for name, value in point), one))
    return requests


def _with(request: CountRequest, name: str, value: str) -> CountRequest:
    if name == "system":
        return replace(request, system=find_system(value))
    if name in ("ramp", "indices"):
        return replace(request, **{name: value})  # type: ignore[arg-type]
    return replace(request, rules=request.rules.replace(**{name: value}))
