"""The finite-shoe solver against luck-adjusted rounds, each from a fresh shoe.

The slow test prints a line for each case; `pytest -s -m slow` on this file shows them as a table.
"""

from __future__ import annotations

import math
import time

import pytest
from support.engines import never
from support.games import ONE_HAND

from bjsim.sim.engine.play import Walkers
from bjsim.sim.game.presets import named_rules
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.shoe import stream_key
from bjsim.sim.stats.estimate import RatioSums
from bjsim.sim.stats.luck_tally import LuckTally
from bjsim.strategies.charts.chart import StatePlayer
from bjsim.strategies.experiment import compile_players
from bjsim.strategies.shoe.players import CardPlayer, TwoCardPlayer
from bjsim.strategies.shoe.solver import ShoeSolver

BLOCK = 500_000


def simulated(rules: Rules, player: StatePlayer, se: float, most: int) -> LuckTally:
    """Luck-adjusted rounds from fresh shoes, until the standard error is `se` or `most` blocks are played."""
    rules = rules.replace(cut=0)
    compiled = compile_players(rules, [player] * rules.seats)
    played, tally = Walkers(compiled, never, rules.unit), LuckTally()
    for block in range(most):
        (sums,) = played.play([stream_key(5, 0, block)], [BLOCK]).shoes
        shoes, *rest = sums[0].tolist()
        tally += LuckTally(played.values[0], played.rounds_in_shoe, RatioSums(int(shoes), *rest))
        if tally.se <= se:
            break
    return tally


def player_of(rules: Rules, strategy: str) -> StatePlayer:
    """The player of a strategy of `ShoeSolver`."""
    if strategy == "td":
        return ShoeSolver(rules).chart
    return {"td-2c": TwoCardPlayer, "cdz-": CardPlayer}[strategy](rules)


def test_strategies_are_distinguished() -> None:
    """Negative control: at one deck the best chart is 0.038% worse than play by all cards."""
    rules = named_rules("vegas-s17").replace(decks=1)
    tally = simulated(rules, CardPlayer(rules), 0, 1)
    assert abs(tally.mean - ShoeSolver(rules).value) > 10 * tally.se


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "decks", "strategy"),
    [
        (name, (1, 2, 6, 8)[(number + turn) % 4], strategy)
        for number, name in enumerate(ONE_HAND)
        for turn, strategy in enumerate(("td", "cdz-"))
    ]
    + [("downtown", 2, "td-2c")],
)
def test_fresh_shoes_of_every_preset_agree(name: str, decks: int, strategy: str) -> None:
    """At a standard error of 0.001%, or what 6 million hands give; an error of 0.005% is noticed."""
    rules = named_rules(name).replace(decks=decks)
    exact, began = ShoeSolver(rules).value_of(strategy), time.process_time()
    tally = simulated(rules, player_of(rules, strategy), 1e-5, max(12 // rules.seats, 1))
    assert math.isfinite(tally.se)
    z, seconds = (tally.mean - exact) / tally.se, time.process_time() - began
    print(
        f"\n{name:13} {decks} {strategy:5} exact {exact:+.7%} mean {tally.mean:+.7%} se {tally.se:.7%} z {z:+.2f} "
        f"{tally.shoes:,} rounds {seconds:.1f} s"
    )
    assert abs(z) < 4
