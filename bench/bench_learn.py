"""Episodes per second of the compiled learner on one core, from exploring starts and from the deal."""

import pytest

from bjsim.sim.game.presets import PRESETS
from bjsim.strategies.learning.learn import Schedule, learn
from bjsim.strategies.mdp.blackjack import game_mdp

EPISODES = 1_000_000
SCHEDULES = {
    "q, even, exploring starts": Schedule(),
    "q, independent, exploring starts": Schedule(draws="independent"),
    "q, independent, from the deal": Schedule(draws="independent", explore_start=0, explore_action=0.1),
    "mc, exploring starts": Schedule("mc"),
}


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("game", ["neller", "neller-v1", "easy"])
def test_episodes_per_second(benchmark, game, schedule):
    mdp = game_mdp(PRESETS[game].rules)
    learn(mdp, 1000, SCHEDULES[schedule])  # compiles
    benchmark.extra_info["episodes"] = EPISODES
    benchmark.pedantic(learn, (mdp, EPISODES, SCHEDULES[schedule]), rounds=3)
