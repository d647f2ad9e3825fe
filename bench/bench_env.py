"""Steps per second of 4,096 environments on one core, next to Gymnasium's own blackjack and, if installed, EnvPool's.

All take random actions of hit and stand, in turn in one run. A step is one of one table. In the mode NEXT_STEP, that of
both others, a round is dealt in a step of its own, which counts too; `extra_info` has the rounds per step.
"""

import time

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium", reason="needs the extra bjsim[gym]")
gym = pytest.importorskip("bjsim.gym")
TABLES = 4096
ACTIONS = np.random.default_rng(0).integers(0, 2, (64, TABLES), np.int32)
SAME_STEP = gymnasium.vector.AutoresetMode.SAME_STEP


def envpool():
    return pytest.importorskip("envpool").make_gymnasium("Blackjack-v1", num_envs=TABLES, num_threads=1, seed=1)


ENVIRONMENTS = {  # with the number of steps that take some tenths of a second
    "bjsim/Easy-v0": (lambda: gymnasium.make_vec("bjsim/Easy-v0", TABLES), 200),
    "bjsim/Easy-v0, SAME_STEP": (lambda: gymnasium.make_vec("bjsim/Easy-v0", TABLES, autoreset_mode=SAME_STEP), 200),
    "bjsim/Easy-v0, values": (lambda: gymnasium.make_vec("bjsim/Easy-v0", TABLES, values=True), 200),
    "bjsim/VegasS17-v0": (lambda: gymnasium.make_vec("bjsim/VegasS17-v0", TABLES), 200),
    "bjsim/VegasS17-v0, SAME_STEP": (
        lambda: gymnasium.make_vec("bjsim/VegasS17-v0", TABLES, autoreset_mode=SAME_STEP),
        200,
    ),
    "bjsim/Easy-v0, readable": (lambda: gymnasium.make_vec("bjsim/Easy-v0", TABLES, "sync"), 1),
    "Gymnasium Blackjack-v1": (lambda: gymnasium.make_vec("Blackjack-v1", TABLES, "sync"), 5),
    "EnvPool Blackjack-v1": (envpool, 200),
}


def play(env, steps):
    """Returns: the number of episodes that ended."""
    ended = 0
    for i in range(steps):
        ended += int(env.step(ACTIONS[i % len(ACTIONS)])[2].sum())
    return ended


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_steps_per_second(benchmark, name):
    make, steps = ENVIRONMENTS[name]
    env = make()
    env.reset()
    play(env, 1)  # compiles
    start = time.process_time()
    ended = play(env, steps)
    seconds = time.process_time() - start
    benchmark.extra_info.update(steps=steps * TABLES, steps_per_cpu_second=round(steps * TABLES / seconds))
    benchmark.extra_info["rounds_per_step"] = ended / (steps * TABLES)
    benchmark.pedantic(play, (env, steps), rounds=5)
