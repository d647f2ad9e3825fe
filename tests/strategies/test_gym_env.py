"""The Gymnasium environments: conformance over the whole registry, and what a step returns."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.games import ASKED

from bjsim.errors import InputError
from bjsim.sim.game.presets import PRESETS
from bjsim.sim.game.rules import Rules

gymnasium = pytest.importorskip("gymnasium", reason="needs the extra bjsim[gym]")
gym_env = pytest.importorskip("bjsim.strategies.learning.gym_env")


def made(name: str, **options: Any) -> Any:
    return gymnasium.make(gym_env.env_id(name), **options).unwrapped


@pytest.mark.parametrize("name", ASKED)
def test_every_preset_passes_the_checker(name: str) -> None:
    from gymnasium.utils.env_checker import check_env

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(made(name))


def trace(env: Any, seed: int, episodes: int = 50) -> list[object]:
    """The observations of an agent with random legal actions, as a function of the seed."""
    rng, seen = np.random.default_rng(seed), []
    observation, info = env.reset(seed=seed)
    for _ in range(episodes):
        ended = False
        while not ended:
            seen.append((observation.tolist(), info["action_mask"].tolist()))
            observation, reward, ended, _, info = env.step(int(rng.choice(np.flatnonzero(info["action_mask"]))))
            assert env.observation_space.contains(observation)
            seen.append((reward, ended, info["illegal"]))  # type: ignore[arg-type]
        observation, info = env.reset()
    return seen  # type: ignore[return-value]


@pytest.mark.parametrize("name", ASKED)
def test_the_same_seed_plays_the_same(name: str) -> None:
    assert trace(made(name), 7) == trace(made(name), 7)
    assert trace(made(name), 7) != trace(made(name), 8)


def test_ids_and_documentation_have_their_form() -> None:
    assert gym_env.env_id("easy") == "bjsim/Easy-v0"
    assert gym_env.env_id("vegas-s17") == "bjsim/VegasS17-v0"
    assert {name for name in gymnasium.registry if name[:6] == "bjsim/"} == {*map(gym_env.env_id, ASKED)}
    headings = re.findall(r"^    ## (.+)$", gym_env.BlackjackEnv.__doc__, re.MULTILINE)
    assert headings == [
        "Description",
        "Action Space",
        "Observation Space",
        "Starting State",
        "Rewards",
        "Episode End",
        "Arguments",
        "Version History",
    ]


def test_made_by_its_name_with_any_rules(tmp_path: Path) -> None:
    assert made("neller").rules is PRESETS["neller"].rules
    assert made("easy", rules="vegas-s17").rules is PRESETS["vegas-s17"].rules
    env = gymnasium.make("bjsim.gym:bjsim/Easy-v0", rules=Rules(hit_soft_17=True))
    assert env.unwrapped.rules.hit_soft_17
    (tmp_path / "mine.toml").write_text('preset = "easy"\nhit_soft_17 = true\n')
    assert made("easy", rules=tmp_path / "mine.toml").rules.hit_soft_17
    with pytest.raises(InputError, match="rules: an int is not accepted; Rules, a preset's name or a TOML file"):
        made("easy", rules=5)


def test_masks_are_the_rounds_and_any_other_action_stands() -> None:
    env = made("easy")
    seen = set()
    for seed in range(300):
        _, info = env.reset(seed=seed)
        legal = info["view"].legal
        assert "".join(letter for letter, on in zip("SHDPR", info["action_mask"], strict=True) if on) in (legal, "S")
        seen.add(legal)
        if "P" not in legal:
            _, _, ended, truncated, after = env.step(3)
            assert ended and not truncated and after["illegal"]
    assert {"SHDR", "SHDPR", "S"} <= seen


@pytest.mark.parametrize("action", [5, -1, 1.5])
def test_no_number_of_an_action_is_refused(action: float) -> None:
    env = made("easy")
    env.reset(seed=1)
    with pytest.raises(gymnasium.error.InvalidAction, match=f"unknown action {action}; actions are 0 to 4"):
        env.step(action)


def test_a_round_must_be_going_on() -> None:
    env = made("easy")
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(0)
    env.reset(seed=1)
    assert env.step(0)[2]  # standing ends it
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(0)


def test_no_action_is_legal_once_the_round_is_over() -> None:
    env = made("easy")
    for seed in range(40):  # also rounds without a decision
        _, info = env.reset(seed=seed)
        assert (env.action_masks() == info["action_mask"]).all()
        _, _, ended, _, info = env.step(0)
        assert ended and not info["action_mask"].any() and not env.action_masks().any()


def test_split_hands_are_played_one_after_the_other() -> None:
    env = made("neller-v2")
    for seed in range(2000):
        observation, info = env.reset(seed=seed)
        if info["view"].hand == "88":
            break
    assert observation[:4].tolist() == [16, 0, 2, 8]
    first, reward, ended, _, info = env.step(3)
    assert (reward, ended, info["view"].hands, info["view"].split) == (0.0, False, 2, True)
    assert first[2] == 2 and first[5] == 1 and first[7] == 2
    second, reward, ended, _, info = env.step(0)
    assert (reward, ended) == (0.0, False) and info["view"].hand[0] == "8"
    assert second[6] == first[6]  # the same dealer
    _, reward, ended, _, _ = env.step(0)
    assert ended or info["view"].rules.ties == "replay"
    assert reward in (-2, -1, 0, 1, 2)


def test_render_lists_the_events() -> None:
    env = made("easy", render_mode="ansi")
    env.reset(seed=3)
    env.step(0)
    assert re.search(r"^dealer: [A2-9TJQK]$", env.render(), re.MULTILINE)
    assert made("easy").render() is None
