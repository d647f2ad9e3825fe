"""Making an experiment from players, and the results from its tallies."""

import math
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache

from bjsim.arguments import argument
from bjsim.errors import EndlessSplitting, InputError
from bjsim.sim.engine.compiled_rules import Policy, compile_rules
from bjsim.sim.engine.kernels.layout import CompiledRules
from bjsim.sim.game.actions import Player
from bjsim.sim.game.round import Bettor
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.states import CardStates
from bjsim.sim.game.support import need
from bjsim.sim.running.compiled_table import AdjustedTable, CompiledTable
from bjsim.sim.running.experiment import Experiment, Progress
from bjsim.sim.running.table import ReadableTable, Table
from bjsim.strategies.charts.chart import Chart, StatePlayer
from bjsim.strategies.evaluation.compare import in_its_shoe
from bjsim.strategies.exact.values import find_endless_split
from bjsim.strategies.players.catalogue import find_needs
from bjsim.strategies.results import BotResult, ExactReturn
from bjsim.strategies.shoe.players import TwoCardPlayer

SD = 1.1  # initial bets: the approximate standard deviation of a round in the included games
ANYTIME = 3.03  # half-width of the anytime-valid interval where it is narrowest, in standard errors


def make_table(
    rules: Rules, seated: Sequence[Player], adjust_luck: bool = False, tables: int = 1
) -> CompiledTable | ReadableTable:
    """Make a table for players in the order of seats; its rounds are compiled if all are `StatePlayer`s.

    `adjust_luck`: compiled rounds yield luck-adjusted returns. `tables` are played in turn. A chart that lacks a cell
    is refused.
    """
    players = [player for player in seated if isinstance(player, StatePlayer) and not find_needs(player)]
    readable = ReadableTable(rules, list(seated))
    if len(players) < len(seated):
        return readable
    compiled = compile_players(rules, players)
    if adjust_luck:
        table = AdjustedTable(compiled, readable, tables)
        if not all(map(math.isfinite, table.walkers.values)):
            raise InputError(
                f"{argument('adjust_luck', True)} needs charts of finite value; one of these ties at least as many "
                "bets as it is dealt"
            )
        return table
    return CompiledTable(compiled, readable, tables)


def compile_players(rules: Rules, players: Sequence[StatePlayer]) -> CompiledRules:
    """Compile rules and the players of all seats, by cards if one of them distinguishes the cards of a hand."""
    by_cards = CardStates(rules) if any(isinstance(player.states, CardStates) for player in players) else None

    def policy(player: StatePlayer) -> Policy:
        if by_cards is None:
            return player.policy
        columns = {shown: player.states.column(shown) for shown in by_cards.columns}
        return lambda hand, shown, legal: player.policy(hand, columns[shown], legal)

    return compile_rules(rules, [policy(player) for player in players], by_cards)


def make_experiment(
    rules: Rules,
    players: Sequence[Player],
    hands: int,
    seed: int,
    tables: int = 1,
    adjust_luck: bool | None = None,
    precision: float = 0.0,
) -> Experiment:
    """Make the experiment that `bjsim run` plays; each `rules.seats` players sit at a table, in order.

    `hands` are the rounds for each player, with `precision` the maximum, divided among the `tables` of a group.
    `adjust_luck` None computes luck-adjusted returns in finite shoes, at tables where all players are
    `StatePlayer`s. `precision` is the half-width of the anytime-valid interval to reach, in initial bets; 0 for
    none. See `Experiment`. A chart whose rounds may never end is refused, and a player whose luck-adjusted returns
    cannot be computed.
    """
    adjusted = not rules.infinite if adjust_luck is None else adjust_luck
    others = [player.name for player in players if find_needs(player)]
    if adjust_luck:
        need(rules, "luck")
    if adjust_luck and others:
        raise InputError(
            f"{argument('adjust_luck', True)} needs charts, whose states have exact values; {others[0]} is not a chart"
        )
    for player in players:
        if rules.ties == "replay" and isinstance(player, Bettor):
            raise InputError(f"{player.name} varies its bet, but ties = replay plays tied bets again; use push or lose")
        if isinstance(player, Chart) and (at := find_endless_split(player)):
            raise InputError(f"{player.name} cannot be played: it resplits {at[0]} against {at[1]} without end")
    at_table = [players[first : first + rules.seats] for first in range(0, len(players), rules.seats)]
    groups = [make_table(rules, seated, adjusted, len(at_table)) for seated in at_table]
    target_n = max(expected_hands(precision, table) for table in groups) if precision else 0
    return Experiment(rules, groups, hands, seed, tables, precision, target_n)


def expected_hands(precision: float, table: Table) -> int:
    """Estimate the number of rounds until the anytime-valid interval has the half-width `precision`.

    The interval is optimised for it. It is rounded to a power of two, so that a last digit that differs on another
    machine changes nothing; an error by a factor of four would widen the interval by a tenth.
    """
    variance = SD * SD
    if isinstance(table, AdjustedTable):
        with suppress(EndlessSplitting):  # the run will say so
            variance = table.pilot_variance()
    return 1 << max(round(math.log2(max(ANYTIME * ANYTIME * variance / precision**2, 1))), 0)


def exact_returns(experiment: Experiment, players: Sequence[Player]) -> list[ExactReturn]:
    """The exact return of each player in a freshly shuffled shoe of the game.

    Other seats do not change it: they take unseen cards, which are exchangeable. In a finite shoe, the standard
    deviation takes seconds and is left out where the results are not judged by it.
    """
    rules = experiment.rules
    adjusted = all(isinstance(table, AdjustedTable) for table in experiment.groups)
    return [_exact_return(rules, player, rules.infinite or (rules.fresh and not adjusted)) for player in players]


def _exact_return(rules: Rules, player: Player, with_sd: bool) -> ExactReturn:
    if not isinstance(player, Chart | TwoCardPlayer) or isinstance(player, Bettor):
        return ExactReturn(None, None, "only charts have one")
    return exact_return(rules, player if isinstance(player, Chart) else player.strategy, with_sd)


@lru_cache(maxsize=256)
def exact_return(rules: Rules, strategy: Chart | str, with_sd: bool) -> ExactReturn:
    """The exact return of a strategy in a freshly shuffled shoe; in a finite one with splits, the sd takes seconds."""
    try:
        solution = in_its_shoe(rules)
        value = float(solution.value_of(strategy))
    except InputError as error:
        return ExactReturn(None, None, str(error))
    try:
        return ExactReturn(value, solution.sd_of(strategy) if with_sd else None)
    except InputError:
        return ExactReturn(value, None)


def make_results(
    experiment: Experiment, players: Sequence[Player], progress: Progress, exact: Sequence[ExactReturn] | None = None
) -> list[BotResult]:
    """Return the results of the players so far, without those who have not settled a bet (`missing_results`).

    `players` are in the order given to `make_experiment`; `exact` is from `exact_returns`, if already computed.
    """
    rules = experiment.rules
    exact = exact_returns(experiment, players) if exact is None else exact
    results = []
    for player, tally, points, known in zip(players, progress.tallies, progress.convergence, exact, strict=True):
        if tally.settled:
            results.append(BotResult(player.name, tally, points, experiment.optimal_n, *known, rules.fresh))
    return results


def missing_results(players: Sequence[Player], progress: Progress, exact: Sequence[ExactReturn]) -> list[str]:
    """For each player without a result in `make_results`, one line with the reason."""
    lines = []
    for player, tally, known in zip(players, progress.tallies, exact, strict=True):
        if not tally.rounds:
            lines.append(f"{player.name}: no round was played")
        elif not tally.settled:
            ev = f"; its exact value is {known.value}" if known.value is not None and math.isinf(known.value) else ""
            lines.append(
                f"{player.name}: no return yet, as its {tally.rounds:,} rounds tied {tally.ties_replayed:,} bets, "
                f"which are replayed{ev}"
            )
    return lines
