"""The vector environments: step by step what Gymnasium's own vector of readable environments returns."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from support.environments import NEXT_STEP, SAME_STEP, chart_policy, gym, gymnasium, played
from support.games import ASKED, few, rules

from bjsim.errors import EndlessSplitting, InputError
from bjsim.sim.engine.kernels.layout import RUNAWAY
from bjsim.sim.game.presets import PRESETS
from bjsim.sim.game.rules import Rules
from bjsim.strategies.exact.solver import Solver


@pytest.mark.parametrize("name", few(ASKED))
def test_a_step_is_that_of_readable_rounds(name: str) -> None:
    rounds, legal = played(name, SAME_STEP, 40, seed=5)
    assert rounds > 350 and {0, 1} <= legal


@pytest.mark.slow
@pytest.mark.parametrize("mode", [NEXT_STEP, SAME_STEP])
@pytest.mark.parametrize("name", ASKED)
def test_many_steps_are_those_of_readable_rounds(name: str, mode: Any) -> None:
    assert played(name, mode, 400, seed=6)[0] > 2400


@pytest.mark.parametrize("name", ["vegas-s17", "neller-v3"])
def test_the_step_after_the_last_deals(name: str) -> None:
    assert played(name, NEXT_STEP, 40, seed=7)[0] > 200


@pytest.mark.slow
@given(rules(attack=False))
@settings(max_examples=100)
def test_many_random_rules_give_the_same_steps(game: Rules) -> None:
    try:
        rounds, _ = played(game, SAME_STEP, 60, seed=8, tables=4)
    except InputError as error:  # bonuses in small steps and many hands
        assert "too many amounts to count" in str(error)
    else:
        assert rounds > 0


def test_a_spanish_deck_may_be_split_by_rank() -> None:
    """The automaton includes a pair of tens, which a Spanish deck cannot deal."""
    game = PRESETS["vegas-s17"].rules.replace(deck="spanish", split_by="rank", insurance=False)
    assert played(game, SAME_STEP, 100, seed=9)[1] == set(range(4))


def test_insurance_and_early_surrender_are_asked_for() -> None:
    game = PRESETS["vegas-s17"].rules.replace(insurance=True, surrender="early")
    assert played(game, SAME_STEP, 100, seed=9)[1] == set(range(6))


@pytest.mark.parametrize("limit", [2, 5, 16, math.inf])
def test_hands_may_be_split_any_number_of_times(limit: float) -> None:
    game = Rules(decks=math.inf, ten_probability=Fraction(9, 10), max_hands=limit)
    assert played(game, SAME_STEP, 150, seed=3, tables=4, favourite=3, favour=8.0)[1] == {0, 1, 2, 3}


def test_other_cards_are_distinguished() -> None:
    """Negative control: with other seeds, the environments differ."""
    one, other = (gym.BlackjackVectorEnv(16).reset(seed=seed)[0] for seed in (1, 2))
    assert (one != other).any()
    assert (one[1:] == other[:-1]).all()  # table i has the cards of the seed s + i


def test_made_by_gymnasium() -> None:
    env = gymnasium.make_vec("bjsim/Easy-v0", num_envs=8, rules="neller-v3", autoreset_mode=SAME_STEP)
    assert isinstance(env, gym.BlackjackVectorEnv) and env.rules == PRESETS["neller-v3"].rules
    assert env.metadata["autoreset_mode"] is SAME_STEP
    assert gymnasium.make_vec("bjsim/Easy-v0").metadata["autoreset_mode"] is NEXT_STEP
    assert env.single_observation_space == gym.BlackjackEnv("neller-v3").observation_space
    observation, _ = env.reset(seed=[3] * 8)
    assert env.observation_space.contains(observation) and (observation == observation[0]).all()
    assert not env.reset(seed=None)[1].keys() - {"action_mask"}
    recorded = gymnasium.wrappers.vector.RecordEpisodeStatistics(env)
    recorded.reset(seed=1)
    assert "episode" in recorded.step(np.zeros(8, np.int64))[4]


def test_arrays_are_new_at_every_step() -> None:
    env = gym.BlackjackVectorEnv(4)
    first, info = env.reset(seed=1)
    kept = first.copy(), info["action_mask"].copy()
    for _ in range(5):
        env.step(np.ones(4, np.int32))
    assert (first == kept[0]).all() and (info["action_mask"] == kept[1]).all()


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        ([0, 0, 0, 5], "unknown action 5; actions are 0 to 4"),
        ([0, -1, 0, 0], "unknown action -1"),
        ([0, 0, 0], r"actions are int64 \(3,\); accepted are integers \(4,\)"),
        ([0.0] * 4, "actions are float64"),
    ],
)
def test_wrong_actions_are_refused(actions: list[float], message: str) -> None:
    env = gym.BlackjackVectorEnv(4)
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(np.zeros(4, int))
    env.reset(seed=1)
    with pytest.raises(gymnasium.error.InvalidAction, match=message):
        env.step(np.array(actions))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_envs": 0}, "num_envs = 0; accepted are whole numbers from 1"),
        ({"autoreset_mode": "Disabled"}, "autoreset_mode = Disabled; accepted are NextStep, SameStep"),
        ({"render_mode": "ansi"}, "render_mode = 'ansi'"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        gym.BlackjackVectorEnv(**options)
    with pytest.raises(ValueError, match="2 seeds were given for 3 tables"):
        gym.BlackjackVectorEnv(3).reset(seed=[1, 2])
    for seed in (3.0, np.array([1, 2]), "ab"):
        with pytest.raises((gymnasium.error.Error, ValueError)):
            gym.BlackjackVectorEnv(2).reset(seed=seed)  # type: ignore[arg-type]


def test_endless_splits_are_stopped() -> None:
    game = Rules(decks=math.inf, ten_probability=Fraction(98, 100), max_hands=math.inf)
    env = gym.BlackjackVectorEnv(8, game)
    _, info = env.reset(seed=1)
    assert info["action_mask"][:, 3].any()
    env._tables._held[:] = RUNAWAY  # as if all of them had split so often
    with pytest.raises(EndlessSplitting):
        env.step(np.full(8, 3))


def mean_return(name: str, chart: Any, steps: int) -> tuple[float, float]:
    """The mean return of a chart's play, and its standard error."""
    env = gym.BlackjackVectorEnv(2048, name, SAME_STEP)
    decide, cache = chart_policy(chart), dict[bytes, int]()
    returns: list[float] = []
    observation, info = env.reset(seed=4)
    for _ in range(steps):
        actions = np.zeros(2048, np.int64)
        for i, (row, mask) in enumerate(zip(observation, info["action_mask"], strict=True)):
            key = row.tobytes() + mask.tobytes()
            if key not in cache:
                cache[key] = decide(row, mask)
            actions[i] = cache[key]
        observation, reward, ended, _, info = env.step(actions)
        returns += reward[ended].tolist()
    return float(np.mean(returns)), float(np.std(returns) / np.sqrt(len(returns)))


def test_a_chart_earns_its_exact_value() -> None:
    """Within 4 standard errors over 80,000 rounds, fixed seed (error rate 6e-5); a rough bound separates charts."""
    solver = Solver(PRESETS["easy"].rules)
    mean, error = mean_return("easy", solver.chart, 60)
    assert error < 0.006 and abs(mean - float(solver.value)) < 4 * error
    assert abs(mean - float(Solver(PRESETS["neller"].rules).value)) > 4 * error  # negative control


def test_a_table_without_a_seed_stays_in_its_shoe() -> None:
    """As in Gymnasium's SyncVectorEnv; it used to get a new shoe without a seed."""
    env = gym.BlackjackVectorEnv(2)
    sync: Any = gymnasium.make_vec("bjsim/Easy-v0", 2, vectorization_mode="sync")
    every: list[Any] = [[1, 2], [5, None], (None, 7)]
    for seeds in every:
        ours, theirs = env.reset(seed=seeds)[0], sync.reset(seed=list(seeds))[0]
        np.testing.assert_array_equal(ours, theirs)
        for _ in range(4):
            ours, theirs = env.step(np.zeros(2, np.int64))[0], sync.step(np.zeros(2, np.int64))[0]
            np.testing.assert_array_equal(ours, theirs)
