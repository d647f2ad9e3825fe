"""A chart as a policy, and the vector environments against Gymnasium's own of readable ones, step by step."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import gymnasium
import numpy as np

import bjsim.gym as gym
from bjsim.sim.game.rules import Rules
from bjsim.strategies.charts.chart import Chart
from bjsim.strategies.learning.observations import Encoder

NEXT_STEP, SAME_STEP = gymnasium.vector.AutoresetMode.NEXT_STEP, gymnasium.vector.AutoresetMode.SAME_STEP


def chart_policy(chart: Chart) -> Callable[[Any, Any], int]:
    """A chart as a policy over observations and masks."""
    encoder = Encoder(chart.rules)
    hands = {encoder.features(state): state for state in encoder.states.reachable()}

    def policy(observation: Any, mask: Any) -> int:
        legal = "".join(letter for letter, on in zip(encoder.letters, mask, strict=True) if on)
        if legal == "S":  # also where a round is over, and there is no hand
            return encoder.letters.index(legal)
        if "I" in legal:
            legal = "IS"
        hand = hands[tuple(observation[:6].tolist())]
        return encoder.letters.index(chart.policy(hand, encoder.columns[observation[6]], legal))

    return policy


def played(
    game: str | Rules,
    mode: Any,
    steps: int,
    seed: int,
    tables: int = 16,
    favourite: int = 0,
    favour: float = 1,
    close: float = 0.0,
    **options: Any,
) -> tuple[int, set[int]]:
    """Compare every step of both environments for an agent with random actions, of which some are not legal.

    close: how far values may differ. options: those of the environments.
    Returns: the number of rounds, and the actions that were legal.
    """
    fast = gym.BlackjackVectorEnv(tables, game, mode, **options)
    one_table = partial(gym.BlackjackEnv, game, **options)
    readable = gymnasium.vector.SyncVectorEnv([one_table] * tables, autoreset_mode=mode)
    rng, rounds, legal = np.random.default_rng(seed), 0, set()
    (one, info), (other, expected) = fast.reset(seed=seed), readable.reset(seed=seed)
    for _ in range(steps):
        np.testing.assert_array_equal(one, other)
        np.testing.assert_array_equal(info["action_mask"], expected["action_mask"])
        assert info["action_mask"].dtype == expected["action_mask"].dtype and one.dtype == other.dtype
        for key in ("values", "advantage") if options.get("values") else ():
            np.testing.assert_allclose(info[key], expected[key], rtol=100 * close, atol=close)
            assert (np.isneginf(info[key]) == (info["action_mask"] == 0)).all()
        legal |= set(np.flatnonzero(info["action_mask"].any(axis=0)).tolist())
        weights = info["action_mask"] + 0.02
        weights[:, favourite] *= favour
        actions = (rng.random(weights.shape) * weights).argmax(axis=1)
        one, reward, ended, _, info = fast.step(actions)
        other, expected_reward, expected_ended, _, expected = readable.step(actions)
        np.testing.assert_array_equal(reward, expected_reward)
        np.testing.assert_array_equal(ended, expected_ended)
        rounds += int(ended.sum())
        if mode is SAME_STEP and ended.any():
            np.testing.assert_array_equal(info["_final_obs"], expected["_final_obs"])
            np.testing.assert_array_equal(info["final_obs"][ended], np.stack(expected["final_obs"][ended]))
        if mode is NEXT_STEP:
            np.testing.assert_array_equal(info["illegal"], expected.get("illegal", np.zeros(tables, bool)))
    return rounds, legal
