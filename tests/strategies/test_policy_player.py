"""NumPy policies as players: the compiled round and the readable round play what they answer."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support.games import ASKED

import bjsim
from bjsim.sim.game.actions import INSURANCE, View
from bjsim.sim.game.hand_states import HandState
from bjsim.sim.game.presets import PRESETS
from bjsim.strategies.exact.solver import Solver
from bjsim.strategies.experiment import compile_players, make_table
from bjsim.strategies.learning.observations import Encoder, PolicyPlayer
from bjsim.strategies.players.catalogue import find_player


def stands_on_17(observations: Any, masks: Any) -> Any:
    return np.where(observations[:, 0] < 17, 1, 0)


def test_a_policy_plays_as_its_chart() -> None:
    """The same cards, so the same payoffs; `Solver` values it as it is, without a chart."""
    rules = PRESETS["vegas-s17"].rules
    player = PolicyPlayer(rules, stands_on_17, name="lim17")
    one, other = (bjsim.play(rules, each, hands=20_000, seed=3)[0] for each in (player, "lim17"))
    assert one.tally == other.tally and one.tally.rounds == 20_000
    lim17 = find_player("lim17", rules)
    solver = Solver(rules.replace(decks="inf"))
    assert solver.ev(player.policy) == solver.ev(lim17.policy)  # type: ignore[attr-defined]


def test_insurance_by_the_hand_is_not_valued_as_if_all_hands_took_it() -> None:
    rules = PRESETS["vegas-s17"].rules.replace(decks="inf")
    takes, mixed = (
        PolicyPlayer(rules, lambda o, m, least=least: np.where(m[:, -1] * (o[:, 0] >= least) == 1, 5, 0))
        for least in (0, 20)
    )
    lim17: Any = find_player("lim17", rules)
    chart = replace(lim17, insurance="I")
    assert takes.policy(HandState(), "A", INSURANCE) == chart.policy(HandState(), "A", INSURANCE) == "I"
    with pytest.raises(bjsim.InputError, match="policy insures some hands and not others; judge_policy makes a chart"):
        Solver(rules).ev(mixed.policy)


@pytest.mark.parametrize("name", ASKED)
def test_every_decision_of_every_game_is_asked_for(name: str) -> None:
    """Legal and other actions at random: those that are not legal stand."""
    rules = PRESETS[name].rules
    rng = np.random.default_rng(2)
    player = PolicyPlayer(rules, lambda o, m: rng.integers(0, m.shape[1], len(o)))
    assert make_table(rules, [player] * rules.seats).seats == rules.seats
    assert len(compile_players(rules, [player]).act) == 1


def test_a_view_is_answered_as_its_observation() -> None:
    rules = PRESETS["vegas-s17"].rules
    encoder = Encoder(rules)
    player = PolicyPlayer(rules, lambda o, m: int(m[3] and o[3] == 8) * 3 + int(o[6] == 9), batched=False)
    view = View(rules, 0, "88", "A", "A#88", 10, 190, "SHDP")
    assert encoder.observation(view)[3] == 8 and player.decide(view).letter == "S"  # 4 is a surrender, not split
    assert player.decide(view._replace(dealer="9")).letter == "P"
    assert player.decide(view._replace(hand="87", legal="SHD")).letter == "H"
    assert copy.deepcopy(player) is player


@pytest.mark.parametrize("name", ["cardshark", "vegas-s17"])
def test_a_decision_with_fewer_actions_is_answered_too(name: str) -> None:
    """Chips may not suffice to double or to split."""
    rules = PRESETS[name].rules
    player = PolicyPlayer(rules, lambda seen, masks: np.where(masks[:, 3], 3, np.where(masks[:, 2], 2, 0)))
    for state, column, legal in {key for key in player._answers if set("DP") & set(key[2])}:
        for fewer in ("SH", legal.replace("P", ""), legal.replace("D", "")):
            assert player.policy(state, column, fewer) in fewer
    hits = PolicyPlayer(rules, lambda seen, masks: np.where(masks[:, 3], 3, 1))  # splits what it can, else hits
    pairs = [key for key in hits._answers if "P" in key[2]]
    assert {hits.policy(state, column, "SH") for state, column, _ in pairs} == ({"H"} if pairs else set())
