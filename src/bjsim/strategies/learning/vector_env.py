"""A fast Gymnasium vector environment for every game: `gymnasium.make_vec("bjsim/Easy-v0", num_envs=4096)`."""

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from bjsim.arrays import Array
from bjsim.sim.game.presets import RulesLike, load_rules
from bjsim.strategies.learning.gym_env import MAX_SEED
from bjsim.strategies.learning.observations import LUCK_ADJUSTED, PAYOFF, Encoder, Observation, environment_values
from bjsim.strategies.learning.vector_tables import STANDS, Outputs, VectorTables

MODES = (AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP)
Step = tuple[Observation, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]


class BlackjackVectorEnv(VectorEnv[Observation, NDArray[np.int64], NDArray[np.float64]]):  # type: ignore[misc, unused-ignore]
    """Many tables with one seat each, stepped together in NumPy.

    Actions, observations, rewards and episodes are those of `BlackjackEnv`. Table i, reset with the seed s, plays
    the same cards as a `BlackjackEnv` reset with the seed s + i, so a step returns the same arrays as that of a
    `gymnasium.vector.SyncVectorEnv`, except that `info` has no views.

    `info["action_mask"]` is int8 (num_envs, actions), and `info["illegal"]`, after a step, bool (num_envs,). With
    `values`, `info` has the exact values and advantages of the actions, float64 (num_envs, actions). Every step
    returns new arrays, which are not written to again. `reward` is "payoff" or "luck-adjusted", as in
    `BlackjackEnv`.

    Autoreset modes: NEXT_STEP, the default as in Gymnasium: the step after the last of an episode deals the next
    round, ignores the action, and rewards 0; before it the mask is zeros. SAME_STEP: the step that ends an episode
    deals the next round, so no step is lost; `info["final_obs"]`, an array, has the last observations in the rows of
    `info["_final_obs"]`, and nothing of use in others.
    """

    def __init__(
        self,
        num_envs: int = 1,
        rules: RulesLike = "easy",
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        render_mode: None = None,
        values: bool = False,
        reward: str = PAYOFF,
    ) -> None:
        if num_envs < 1:
            raise ValueError(f"num_envs = {num_envs}; accepted are whole numbers from 1")
        mode = AutoresetMode(autoreset_mode)
        if mode not in MODES:
            raise ValueError(f"autoreset_mode = {mode.value}; accepted are {', '.join(mode.value for mode in MODES)}")
        if render_mode is not None:
            raise ValueError(f"render_mode = {render_mode!r}; a vector environment accepts None")
        self.rules = load_rules(rules)
        self.num_envs, self.render_mode = num_envs, None
        self.metadata = {"autoreset_mode": mode, "render_modes": []}
        self._same_step = mode is AutoresetMode.SAME_STEP
        encoder = Encoder(self.rules)
        self.single_observation_space, self.single_action_space = encoder.spaces()
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._actions = len(encoder.letters)
        self._tables = VectorTables(encoder, num_envs)
        self._gives_values, self._adjusts = values, reward == LUCK_ADJUSTED
        self._values = environment_values(self.rules, values, reward)
        self._is_reset = False

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Deal a round at every table, from new shoes with seeds `seed` + i or those listed; None keeps them."""
        if seed is not None or not self._is_reset:
            seeds: Sequence[int | None] = [None] * self.num_envs
            if seed is not None:
                seeds = seed if isinstance(seed, Sequence) else [seed + i for i in range(self.num_envs)]
            if len(seeds) != self.num_envs:
                raise ValueError(f"{len(seeds)} seeds were given for {self.num_envs} tables; give one for each, or one")
            super().reset(seed=seeds[0])
            at = [table for table, each in enumerate(seeds) if each is not None or not self._is_reset]
            self._tables.cards.open(at, [int(seeding.np_random(seeds[table])[0].integers(MAX_SEED)) for table in at])
            self._is_reset = True
        self._tables.abandon()
        outputs = self._tables.step(np.zeros(self.num_envs, np.int64), self._same_step)
        return outputs.observation, {"action_mask": outputs.mask} | self._look_up(outputs)

    def step(self, actions: NDArray[np.int64]) -> Step:  # type: ignore[override, unused-ignore]
        """Play an action at every table, integers (num_envs,); rewards are in initial bets."""
        if not self._is_reset:
            raise gymnasium.error.ResetNeeded("no round is in progress; call reset() first")
        chosen = np.asarray(actions)
        if chosen.shape != (self.num_envs,) or chosen.dtype.kind not in "iu":
            raise gymnasium.error.InvalidAction(
                f"actions are {chosen.dtype} {chosen.shape}; accepted are integers ({self.num_envs},)"
            )
        if chosen.min() < 0 or chosen.max() >= self._actions:
            wrong = chosen[(chosen < 0) | (chosen >= self._actions)][0]
            raise gymnasium.error.InvalidAction(f"unknown action {wrong}; actions are 0 to {self._actions - 1}")
        chosen, stakes = chosen.astype(np.int64, copy=False), self._tables.stakes
        outputs = self._tables.step(chosen, self._same_step)
        reward = self._adjusted(outputs, chosen, stakes) if self._adjusts else outputs.reward
        truncated = np.zeros(self.num_envs, np.bool_)
        return outputs.observation, reward, outputs.ended, truncated, self._info(outputs)

    def _adjusted(self, outputs: Outputs, chosen: Array, stakes: Array) -> NDArray[np.float64]:
        """The advantages of the actions, and at the end of an episode the value of the game."""
        assert self._values is not None
        played = np.where(outputs.illegal, STANDS, chosen)
        advantage = self._advantage[np.arange(self.num_envs), played]
        reward: Array = stakes * np.where(stakes > 0, advantage, 0.0) + outputs.ended * self._values.start
        return reward

    def _look_up(self, outputs: Outputs) -> dict[str, Any]:
        if self._values is None:
            return {}
        values, self._advantage = self._tables.look_up(self._values, outputs.mask)
        return {"values": values, "advantage": self._advantage} if self._gives_values else {}

    def _info(self, outputs: Outputs) -> dict[str, Any]:
        info = {"action_mask": outputs.mask, "illegal": outputs.illegal} | self._look_up(outputs)
        if self._same_step:
            info |= {"final_obs": outputs.final, "_final_obs": outputs.ended}
        return info
