"""The finite-shoe solver against luck-adjusted rounds, each from a fresh shoe."""

from __future__ import annotations

import math

import pytest

from bjsim.sim.engine.compiled_rules import compile_rules
from bjsim.sim.engine.luck_model import make_luck_model
from bjsim.sim.engine.rounds import open_ledger, play_rounds, rounds_in_shoe
from bjsim.sim.game.presets import PRESETS, named_rules
from bjsim.sim.game.random_stream import stream_key
from bjsim.sim.game.rules import Rules
from bjsim.sim.stats.luck_tally import LuckTally
from bjsim.strategies.charts.chart import Chart
from bjsim.strategies.exact.solver import Solver
from bjsim.strategies.shoe.solver import ShoeSolver

GAMES = list(PRESETS)
BLOCK = 500_000


def simulated(rules: Rules, chart: Chart, se: float, most: int) -> LuckTally:
    """Luck-adjusted rounds from fresh shoes, until the standard error is `se` or `most` blocks are played."""
    rules = rules.replace(cut=f"1/{52 * int(rules.decks)}")
    compiled = compile_rules(rules, [chart.policy] * rules.seats)
    luck_model = make_luck_model(rules, compiled)
    tally = LuckTally()
    for block in range(most):
        shoe = rounds_in_shoe(compiled)
        ledger = open_ledger(compiled, luck_model, float(rules.unit), shoe)
        play_rounds(compiled, stream_key(5, 0, block), BLOCK, 0, luck_model, ledger)
        shoes, *sums = ledger.sums[0].tolist()
        tally += LuckTally(float(luck_model.value[luck_model.chart[0]]), max(shoe, 1), int(shoes), *sums)
        if tally.se <= se:
            break
    return tally


@pytest.mark.parametrize(
    ("name", "decks"), [("vegas-s17", 6), ("european", 8), ("easy", 6), ("neller-v3", 6), ("cardshark", 2)]
)
def test_fresh_shoes_agree(name: str, decks: int) -> None:
    """Within 4 standard errors: a right value is further away in 6 of 100,000 runs; an infinite shoe's is."""
    rules = named_rules(name).replace(decks=decks)
    solver = ShoeSolver(rules)
    tally = simulated(rules, solver.chart, 0, 1)
    assert tally.se < 5e-5
    assert abs(tally.mean - solver.value("td")) < 4 * tally.se
    infinite = Solver(rules.replace(decks="inf"))
    assert abs(tally.mean - float(infinite.ev(solver.chart.policy).value)) > 4 * tally.se


@pytest.mark.slow
@pytest.mark.parametrize("decks", [1, 2, 6, 8])
@pytest.mark.parametrize("name", GAMES)
def test_fresh_shoes_of_every_preset_agree(name: str, decks: int) -> None:
    """At a standard error of 0.0002%, or what 50 million hands give."""
    rules = named_rules(name).replace(decks=decks)
    solver = ShoeSolver(rules)
    tally = simulated(rules, solver.chart, 2e-6, 100 // rules.seats)
    assert math.isfinite(tally.se)
    assert abs(tally.mean - solver.value("td")) < 4 * tally.se
