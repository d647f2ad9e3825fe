"""A counted side bet next to a counted game: the covariance of their profits, and the joint SCORE.

The side bet is made with a fixed number of units whenever its own count reaches the trigger, next to the ramp.
Profit and variance of the ramp are those of the counting run, the profit of the side bet is that of `count_bet`; its
variance and the covariance come from rounds of the chart that are played with suits.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import numpy as np
from numpy.typing import NDArray

from bjsim.arguments import argument, whole_number
from bjsim.errors import InputError
from bjsim.sim.engine.compiled_rules import compile_rules
from bjsim.sim.engine.kernels.layout import payoff_parts
from bjsim.sim.game.cards import TEN
from bjsim.sim.game.rules import Rules
from bjsim.sim.running.compiled_table import CompiledTable
from bjsim.sim.running.experiment import Experiment
from bjsim.sim.running.readable_table import ReadableTable
from bjsim.sim.stats.intervals import Z95
from bjsim.strategies.charts.chart import Chart
from bjsim.strategies.counting.count_result import CountResult
from bjsim.strategies.counting.count_returns import ramp_returns
from bjsim.strategies.counting.risk import score
from bjsim.strategies.sidebets.counted import CountedBet, count_bet
from bjsim.strategies.sidebets.exact import chosen
from bjsim.strategies.sidebets.kinds import SUITS
from bjsim.strategies.sidebets.played import BetDeals, deal_blocks
from bjsim.strategies.sidebets.suited_deal import SuitedDeal

Floats = NDArray[np.float64]
ROUNDS = 400_000
ROUNDING = 1e-9
STEP = 1e-4  # of numeric derivatives, relative


@dataclass(frozen=True)
class JointBet:
    """A ramp and a side bet together. Half-widths are those of 95% intervals.

    `covariance` and `correlation` are of the profits per round of the ramp and of one unit on the side bet.
    `units` on it are best next to the ramp, and `score` is the joint SCORE with them. `counted` is the side bet
    alone, `ramp_score` the SCORE of the ramp alone.
    """

    counted: CountedBet
    covariance: float
    covariance_half_width: float
    correlation: float
    units: float
    score: float
    score_half_width: float
    ramp_score: float


def count_beside(result: CountResult, sidebet: str, level: object = 2, rounds: int = ROUNDS) -> JointBet:
    """Count a side bet, built-in or in a TOML file, next to a counted game with its ramp on one spot.

    `level` is the largest tag of the best tags for it; `rounds` are played for the covariance.
    """
    game, rules = result.run.game, result.run.game.rules
    if rules.seats > 1 or max(result.run.spots) > 1 or game.leave is not None:
        raise InputError(f"{argument('sidebet')} needs a counter who plays one spot alone, and does not leave")
    bet, shoe, _ = chosen(sidebet, None, rules, None, None, None)
    most = whole_number(argument("sidebet_level"), level, 1, 100)
    counted = count_bet(bet, shoe, rules, min(rules.cut_cards, shoe.size - 20), level=most, seed=result.run.seed)
    pairs = _play(result, BetDeals(bet, rules), counted, rounds)
    product = (pairs[0] - pairs[0].mean()) * (pairs[1] - pairs[1].mean())
    covariance, error = float(product.mean()), float(product.std()) / math.sqrt(len(product))
    side = float(pairs[1].var())
    side_error = float((pairs[1] ** 2).std()) / math.sqrt(len(product))
    ramp = ramp_returns(result.run.returns, result.bets, result.run.spots)
    assert ramp.error is not None
    # profit and variance of the ramp, profit and variance of the side bet, covariance
    found = np.array([ramp.ev, ramp.sd**2, counted.units / 100, side, covariance])
    errors = np.zeros((5, 5))
    errors[:2, :2] = ramp.error
    errors[range(2, 5), range(2, 5)] = (counted.half_width / 100 / Z95) ** 2, side_error**2, error**2
    units = _best_units(found)
    return JointBet(
        counted=counted,
        covariance=covariance,
        covariance_half_width=Z95 * error,
        correlation=covariance / math.sqrt(found[1] * side) if side else 0.0,
        units=units,
        score=_joint_score(found),
        score_half_width=_half_width(_joint_score, found, errors),
        ramp_score=score(ramp.ev, ramp.sd),
    )


def _best_units(found: Floats) -> float:
    """The units on the side bet of highest joint SCORE; 0 if any would lower it."""
    ev, variance, side_ev, side_variance, covariance = found.tolist()
    across, along = side_ev * variance - ev * covariance, ev * side_variance - side_ev * covariance
    return max(across / along, 0.0) if along > 0 else 0.0


def _joint_score(found: Floats) -> float:
    units = _best_units(found)
    ev, variance, side_ev, side_variance, covariance = found.tolist()
    whole = variance + units**2 * side_variance + 2 * units * covariance
    return float(score(ev + units * side_ev, math.sqrt(whole)))


def _half_width(metric: Callable[[Floats], float], found: Floats, errors: Floats) -> float:
    """Half the 95% interval of a function of these figures, by the delta method."""
    steps = np.maximum(np.abs(found) * STEP, 1e-12)
    gradient = np.array([metric(found + step) - metric(found - step) for step in np.diag(steps)]) / (2 * steps)
    return Z95 * math.sqrt(float(gradient @ errors @ gradient))


def _play(result: CountResult, deals: BetDeals, counted: CountedBet, rounds: int) -> Floats:
    """The profits of the ramp and of a unit on the side bet, round by round, (2, rounds)."""
    rules, run = result.run.game.rules, result.run
    table = _table(run.game.departures.base, rules)
    tags = np.asarray(counted.tags, np.float64)
    tags -= np.average(tags, weights=run.game.system.in_deck)
    own = np.array([float(tag) for tag in run.game.system.bet_tags])
    parts = []
    experiment = Experiment(rules, [table], rounds, run.seed)
    for trace, deal in deal_blocks(experiment, 0, table, rounds, deals.more):
        unseen = rules.shoe_size - deal.start % rules.shoe_size
        running, side_running = (_running(deal, weights, rules.shoe_size) for weights in (own, tags))
        bets = _bets(result, running, unseen)
        made = side_running * run.game.system.deck_size / unseen >= float(counted.trigger or 0) - ROUNDING
        profit, offered = deals.profits(deal, 1, 0)
        game = payoff_parts(trace[:, 0])[0] * float(rules.unit)
        parts.append(np.stack([bets * game, profit * (made & offered)]))
    return np.concatenate(parts, axis=1)


def _table(chart: Chart, rules: Rules) -> CompiledTable:
    return CompiledTable(compile_rules(rules, [chart.policy]), rules.unit, ReadableTable(rules, [chart]))


def _running(deal: SuitedDeal, tags: Floats, size: int) -> Floats:
    """The sum of the tags of the cards of the shoe before each round, (rounds,)."""
    sums = np.concatenate([[0.0], tags[np.minimum(deal.kinds // len(SUITS), TEN)].cumsum()])
    found: Floats = sums[deal.start] - sums[deal.start - deal.start % size]
    return found


def _bets(result: CountResult, running: Floats, unseen: NDArray[np.int64]) -> Floats:
    """The units that the ramp bets, by the row of the count, (rounds,)."""
    system, decks = result.run.game.system, int(result.run.game.rules.decks)
    first = float(system.initial_count(decks))

    @cache
    def row(total: float, left: int) -> int:
        count = system.count(Fraction(first + total).limit_denominator(60), left, decks)
        return int(np.searchsorted(result.run.counts, float(count), side="right").clip(1)) - 1

    rows = [row(round(total, 6), left) for total, left in zip(running.tolist(), unseen.tolist(), strict=True)]
    return np.asarray(result.bets, np.float64)[rows]
