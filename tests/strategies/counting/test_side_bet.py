"""A side bet next to a counted game: rounds counted by hand, and worked figures."""

from __future__ import annotations

import numpy as np
import pytest

import bjsim
from bjsim.errors import InputError
from bjsim.sim.engine.kernels.layout import payoff_parts
from bjsim.sim.running.experiment import Experiment
from bjsim.strategies.counting.side_bet import _best_units, _half_width, _joint_score, _play, _table, count_beside
from bjsim.strategies.sidebets.counted import CountedBet
from bjsim.strategies.sidebets.exact import chosen
from bjsim.strategies.sidebets.played import BetDeals, deal_blocks

GAME = bjsim.load_rules("vegas-s17").replace(decks=2, max_hands=2)
HILO = (-1, 1, 1, 1, 1, 1, 0, 0, 0, -1)


@pytest.fixture(scope="module")
def result() -> bjsim.CountResult:
    return bjsim.count(GAME, ramp="0:1 1:2 2:5", rounds=30_000)


def test_every_bet_is_that_of_a_person_who_counts_card_by_card(result: bjsim.CountResult) -> None:
    tags = (2, 1, 1, 1, 0, 0, 0, -1, -1, -1)
    counted = CountedBet("over-13", tags, 2.0, 0, 0, 0, 0, 0, 0)
    bet, _, _ = chosen("over-13", None, GAME, None, None, None)
    deals = BetDeals(bet, GAME)
    found = _play(result, deals, counted, 1_000)
    table = _table(result.run.game.departures.base, GAME)
    ((trace, deal),) = deal_blocks(Experiment(GAME, [table], 1_000, result.run.seed), 0, table, 1_000, 0)
    mean = sum(tag * (16 if value == 9 else 4) for value, tag in enumerate(tags)) / 52
    for number, start in enumerate(deal.start.tolist()):
        seen = [min(kind // 4, 9) for kind in deal.kinds[start - start % 104 : start].tolist()]
        left = 104 - len(seen)
        true = result.run.game.system.true_count(sum(HILO[value] for value in seen), left, 2)
        game = payoff_parts(int(trace[number, 0]))[0] * float(GAME.unit)
        if game:
            assert found[0, number] / game == (1 if true < 1 else 2 if true < 2 else 5)
        side = sum(tags[value] - mean for value in seen) * 52 / left
        own = [deal.kinds[start] // 4 + 1, deal.kinds[start + 2] // 4 + 1]
        wins = 1 if sum(min(points, 10) for points in own) > 13 else -1
        assert found[1, number] == (wins if side >= 2 - 1e-9 else 0)


def test_two_bets_that_are_alike() -> None:
    """Independent bets of profit 1 and variance 1: one unit each, the squares of the ratios add."""
    found = np.array([1.0, 1.0, 1.0, 1.0, 0.0])
    assert _best_units(found) == 1
    assert _joint_score(found) == pytest.approx(2e6)
    assert _joint_score(np.array([0.01, 4.0, 0.002, 1.0, 0.5])) == pytest.approx(1e6 * joint(0.01, 4, 0.002, 1, 0.5))
    assert _best_units(np.array([0.01, 4.0, -0.002, 1.0, 0.5])) == 0
    errors = np.zeros((5, 5))
    errors[2, 2] = 0.01
    assert _half_width(_joint_score, found, errors) == pytest.approx(1.96 * 2e6 * 0.1, rel=1e-3)


def joint(ev: float, variance: float, side_ev: float, side_variance: float, covariance: float) -> float:
    """The greatest squared ratio of mean and deviation, by trying."""
    units = np.linspace(0, 1, 100_001)
    return float(((ev + units * side_ev) ** 2 / (variance + units**2 * side_variance + 2 * units * covariance)).max())


@pytest.mark.slow
def test_a_side_bet_next_to_a_game(result: bjsim.CountResult) -> None:
    found = count_beside(result, "over-13", rounds=60_000)
    assert found.score > max(found.ramp_score, 0)
    assert found.ramp_score == pytest.approx(result["score"].value)
    assert abs(found.correlation) < 0.2
    assert found.covariance_half_width < 0.05
    assert found.counted.units > 0


def test_errors(result: bjsim.CountResult) -> None:
    with pytest.raises(InputError, match="insurance is offered against A only"):
        count_beside(result, "insurance")
    with pytest.raises(InputError, match="sidebet needs a counter who plays one spot alone"):
        count_beside(bjsim.count(GAME, ramp="0:1 1:2x2", rounds=5_000), "over-13")
