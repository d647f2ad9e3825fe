"""neller-v2: each split hand is a separate game, so an ace and a ten in its first two cards are a natural."""

from __future__ import annotations

from fractions import Fraction

import pytest

from bjsim.sim.engine.compiled_rules import compile_rules
from bjsim.sim.game.presets import named_rules
from bjsim.sim.running.compiled_table import CompiledTable
from bjsim.sim.running.driver import Driver
from bjsim.sim.running.table import ReadableTable, Span
from bjsim.strategies.exact.solver import Solver
from bjsim.strategies.experiment import make_experiment, make_results


@pytest.mark.parametrize(("ties", "value"), [("push", -0.0347801375), ("replay", -0.0382456951)])
@pytest.mark.parametrize("number", [float, Fraction])
def test_neller_v2_pays_naturals_on_split_hands(ties: str, value: float, number: type) -> None:
    """Figures from another author's evaluator. Negative control: without naturals on split aces the value is lower."""
    game = named_rules("neller-v2").replace(ties=ties)
    assert float(Solver(game, number).value) == pytest.approx(value, abs=1e-10)
    assert Solver(game.replace(split_aces_blackjack=False)).value < value - 1e-5


@pytest.mark.parametrize("ties", ["push", "replay"])
def test_both_rounds_play_neller_v2_so(ties: str) -> None:
    """Fixed seed, 20,000 rounds, limit of 4 standard errors; both rounds pay exactly the same."""
    game = named_rules("neller-v2").replace(ties=ties)
    chart = Solver(game).chart
    readable = ReadableTable(game, [chart])
    compiled = CompiledTable(compile_rules(game, [chart.policy]), game.unit, readable)
    span = [Span(7, 20_000)]
    (one,), (other,) = compiled.play(3, 0, span), readable.play(3, 0, span)
    assert one == other
    assert abs(one.mean - float(Solver(game).value)) < 4 * one.se
    experiment = make_experiment(game, [chart], 20_000, 5, adjust_luck=True)
    (result,) = make_results(experiment, [chart], Driver(experiment).run())
    assert result.verdict == "every round agrees with the exact value"
