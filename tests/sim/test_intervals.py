"""The coverage of both 95% intervals.

There are 400 runs of 25,000 hands with fixed seeds. A correct 95% interval covers the exact value in 92% to 98% of 400
runs with probability 0.993 or more. The anytime-valid interval may miss at any of 50 looks in under 5% of runs.
"""

import math

import numpy as np
import pytest
from support.engines import play_rounds

from bjsim.sim.engine.compiled_rules import compile_rules
from bjsim.sim.game.presets import named_rules
from bjsim.sim.game.shoe import stream_key
from bjsim.sim.stats.estimate import anytime, anytime_factor, fixed_sample
from bjsim.strategies.exact.solver import Solver
from bjsim.strategies.players.catalogue import CATALOGUE

RUNS, HANDS, LOOKS = 400, 25_000, 50
OPTIMAL_N = HANDS // 20

pytestmark = pytest.mark.xdist_group("intervals")  # one worker plays the runs


@pytest.fixture(scope="module")
def runs():
    """Mean and sd at every look: arrays of shape (RUNS, LOOKS), and the looks."""
    rules = named_rules("easy")
    compiled = compile_rules(rules, [CATALOGUE["lim17"].chart(rules).policy])
    looks = np.unique(np.geomspace(1000, HANDS, LOOKS).astype(int))
    means, sds = [], []
    for seed in range(RUNS):
        _, _, trace = play_rounds(compiled, stream_key(seed, 0, 0), HANDS, HANDS)
        values = trace[:, 0] * float(rules.unit)
        mean = np.cumsum(values)[looks - 1] / looks
        means.append(mean)
        sds.append(np.sqrt(np.cumsum(values**2)[looks - 1] / looks - mean**2))
    return looks, np.array(means), np.array(sds)


@pytest.fixture(scope="module")
def exact():
    rules = named_rules("easy")
    return float(Solver(rules).ev(CATALOGUE["lim17"].chart(rules).policy).value)


def coverage(runs, value):
    _, means, sds = runs
    inside = [
        low <= value <= high
        for low, high in (fixed_sample(m[-1], s[-1], HANDS) for m, s in zip(means, sds, strict=True))
    ]
    return np.mean(inside)


def ever_missed(runs, value):
    looks, means, sds = runs
    half = sds * np.array([anytime_factor(int(n), OPTIMAL_N) for n in looks])
    return np.mean(np.any(np.abs(means - value) > half, axis=1))


def test_the_fixed_sample_interval_covers_the_exact_value(runs, exact):
    assert 0.92 <= coverage(runs, exact) <= 0.98


def test_the_anytime_interval_rarely_ever_misses(runs, exact):
    assert ever_missed(runs, exact) < 0.05


def test_the_fixed_sample_interval_misses_under_optional_stopping(runs, exact):
    """At 50 looks the fixed-sample interval misses in far more than 5% of runs."""
    looks, means, sds = runs
    half = 1.96 * sds / np.sqrt(looks)
    assert np.mean(np.any(np.abs(means - exact) > half, axis=1)) > 0.15


def test_a_wrong_exact_value_is_rejected(runs, exact):
    """Negative control: a value off by 2% of the bet, about three standard errors."""
    assert coverage(runs, exact + 0.02) < 0.5
    assert ever_missed(runs, exact + 0.04) > 0.5


def test_the_anytime_interval_is_narrowest_near_optimal_n():
    ratio = {n: anytime_factor(n, 10_000) * math.sqrt(n) for n in (100, 10_000, 1_000_000)}
    assert ratio[10_000] < ratio[1_000_000] < ratio[100]
    low, high = anytime(0.5, 2.0, 10_000, 10_000)
    assert (high - low) / 2 == pytest.approx(2.0 * anytime_factor(10_000, 10_000))
