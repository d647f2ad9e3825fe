"""How many rounds a run to a given precision is expected to need."""

from __future__ import annotations

import pytest

from bjsim.sim.game.presets import named_rules
from bjsim.sim.running.driver import Driver
from bjsim.sim.running.experiment import half_width
from bjsim.strategies.exact.solver import Solver
from bjsim.strategies.experiment import make_experiment

MOST = 10**7


@pytest.mark.parametrize(("decks", "precision"), [(1, 4e-4), (6, 6e-5), ("inf", 1e-2)])
def test_a_run_to_a_precision_takes_about_as_long_as_expected(decks: int | str, precision: float) -> None:
    """The variance of luck-adjusted returns is 48 times as large in one deck as in six; inf is not adjusted.

    The interval is looked at after 1, 2, 4, .. blocks, so that a run may take twice as long as it needs.
    """
    rules = named_rules("vegas-s17").replace(decks=decks)
    chart = Solver(rules.replace(decks="inf")).chart
    experiment = make_experiment(rules, [chart], MOST, seed=3, precision=precision)
    progress = Driver(experiment).run()
    assert half_width(progress.tallies[0], experiment.optimal_n) <= precision
    assert 0.4 < progress.rounds / experiment.target_n < 3


def test_the_pilot_is_no_part_of_the_run() -> None:
    """The same rounds have the same results with a precision, for which other rounds are played first, and without."""
    rules = named_rules("vegas-s17").replace(decks=2)
    chart = Solver(rules.replace(decks="inf")).chart
    with_pilot, without = (make_experiment(rules, [chart], 3000, seed=3, precision=each) for each in (1e-9, 0.0))
    assert Driver(with_pilot).run().tallies == Driver(without).run().tallies
