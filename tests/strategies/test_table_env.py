"""The PettingZoo table: conformance for every game, and the rounds that it plays."""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np
import pytest
from support.games import ASKED

from bjsim.errors import InputError
from bjsim.sim.game.actions import INSURANCE, Action, View
from bjsim.sim.game.presets import PRESETS
from bjsim.sim.game.random_stream import Stream
from bjsim.sim.game.round import Round
from bjsim.sim.game.shoe import open_shoe

pytest.importorskip("pettingzoo", reason="needs the extra bjsim[rl]")
table_env = pytest.importorskip("bjsim.strategies.learning.table_env")
gym = pytest.importorskip("bjsim.gym")


@pytest.mark.parametrize("name", ASKED)
def test_every_preset_passes_the_test_of_pettingzoo(name: str) -> None:
    from pettingzoo.test import api_test

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "Observation is not a NumPy array")  # it is a dict with the mask
        warnings.filterwarnings("ignore", "Observation space for each agent probably")
        api_test(table_env.table_env(name, 3), num_cycles=50)


def test_the_same_seed_plays_the_same() -> None:
    from pettingzoo.test import seed_test

    seed_test(lambda: table_env.table_env("european", 3), num_cycles=20)


class Limit:
    """Stands on 17 or more, the first seat on 14, and insures."""

    name = "limit"

    def decide(self, view: View) -> Action:
        if view.legal == INSURANCE:
            return Action("I")
        points = sum(min("A23456789TJQK".index(card) + 1, 10) for card in view.hand)
        return Action("S" if points >= (17 if view.seat else 14) else "H")


def play(env: Any, seed: int | None) -> dict[str, float]:
    """Play an episode with `Limit` at every seat. Returns: the return of each seat."""
    env.reset(seed=seed)
    returns = dict.fromkeys(env.possible_agents, 0.0)
    for agent in env.agent_iter():
        observation, reward, ended, _, _ = env.last()
        returns[agent] += reward
        assert env.observation_space(agent).contains(observation)
        if ended:
            env.step(None)
        else:
            mask, view = observation["action_mask"], env._round.view
            letter = Limit().decide(view).letter if view else "S"
            assert mask["SHDPRI".index(letter)] and env.observe(env.possible_agents[0]) is not None
            env.step("SHDPRI".index(letter))
    return returns


@pytest.mark.parametrize("name", ["vegas-s17", "cardshark", "double-exposure", "european"])
def test_a_table_pays_what_the_readable_round_pays(name: str) -> None:
    rules = PRESETS[name].rules.replace(raises=False, insurance=name == "vegas-s17")
    env = table_env.table_env(rules, 4)
    first = play(env, 9)
    cards = int(np.random.default_rng(9).integers(2**62))
    shoe = open_shoe(rules, Stream(cards))
    for returns in (first, *(play(env, None) for _ in range(60))):
        expected = Round(rules, shoe, len([Limit() for _ in range(4)])).play([Limit() for _ in range(4)])
        assert list(returns.values()) == [float(net) for net in expected.net]


def test_one_seat_is_the_gymnasium_environment() -> None:
    table, env = table_env.table_env("neller-v3", 1), gym.BlackjackEnv("neller-v3")
    rng = np.random.default_rng(3)
    for episode in range(200):
        seed = 5 if episode == 0 else None
        table.reset(seed=seed)
        observation, info = env.reset(seed=seed)
        ended, reward = False, 0.0
        while not ended:
            seen = table.observe("seat_0")
            assert (seen["observation"][:8] == observation).all()
            assert (seen["action_mask"] == info["action_mask"]).all()
            action = int(rng.choice(np.flatnonzero(info["action_mask"])))
            observation, reward, ended, _, info = env.step(action)
            table.step(action)
            assert table.rewards["seat_0"] == reward


def test_tied_bets_are_replayed_until_they_are_settled() -> None:
    env = table_env.table_env("neller", 3)
    returns = [play(env, seed) for seed in range(60)]
    assert all(abs(profit) in (1, 1.5) for each in returns for profit in each.values())
    assert len({tuple(each.values()) for each in returns}) > 5


def test_open_cards_are_counted() -> None:
    env = table_env.table_env("cardshark")  # four seats by its rules
    env.reset(seed=2)
    assert len(env.possible_agents) == 4
    assert env.observe("seat_0")["observation"][8:].sum() == 4 * 2 + 1
    assert not env.observe("seat_1")["action_mask"].any()  # it does not act now


def test_render_lists_the_events() -> None:
    env = table_env.table_env("easy", 2, render_mode="ansi")
    play(env, 1)
    assert re.search(r"^seat_1: [A2-9TJQK]", env.render(), re.MULTILINE)
    assert table_env.table_env("easy", 2).render() is None
    env.close()


def test_wrong_input_is_refused() -> None:
    with pytest.raises(InputError, match="seats = 8; accepted are 1 to 7"):
        table_env.table_env("easy", 8)
    env = table_env.table_env("easy", 2)
    env.reset(seed=1)
    with pytest.raises(InputError, match="unknown action 7; actions are 0 to 4"):
        env.step(7)
