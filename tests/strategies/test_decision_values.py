"""Values and advantages of the environments: against the exact solver, and what they make of rewards."""

from __future__ import annotations

import math
import warnings
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest
from support.environments import NEXT_STEP, SAME_STEP, gym, gymnasium, played
from support.games import ASKED, few

from bjsim.arrays import Array
from bjsim.errors import InputError
from bjsim.sim.game.actions import View
from bjsim.sim.game.hand_states import WHOLE
from bjsim.sim.game.presets import PRESETS
from bjsim.sim.game.rules import Rules
from bjsim.strategies.exact.solver import Solver
from bjsim.strategies.learning.observations import DecisionValues, Encoder
from bjsim.strategies.mdp.blackjack import game_mdp
from bjsim.strategies.mdp.solve import evaluate, start_value

GAMES = {name: PRESETS[name].rules.replace(decks="inf") for name in ASKED} | {
    "early": PRESETS["vegas-s17"].rules.replace(insurance=True, surrender="early", decks="inf"),
    "original": PRESETS["european"].rules.replace(no_hole_loses="original", max_hands=4, decks="inf"),
    "five hands": Rules(decks=math.inf, ten_probability=Fraction(4, 5), max_hands=5),
    "endless": Rules(decks=math.inf, ten_probability=Fraction(45, 100), max_hands=math.inf),
}
BOTH: dict[str, Any] = {"values": True, "reward": "luck-adjusted"}


def at_random(rng: np.random.Generator, mask: Array, split: float = 3.0) -> Array:
    """Random legal actions, with a preference for splits."""
    weights = mask.astype(float)
    weights[:, 3] *= split
    actions: Array = (rng.random(weights.shape) * weights).argmax(axis=1)
    return actions


def start_total(values: DecisionValues, solver: Solver) -> float:
    """The value of the game from those of its first decisions."""
    table, number, starts = values._table, values.number, solver.states.starts
    total, ended = 0.0, 1.0
    for column, case in enumerate(solver.columns.values()):
        odds = float(case.natural_odds)  # of rounds that look alike, where the seat acts before the dealer looks
        ended -= float(case.probability) * (1 + odds)
        for hand, p in starts.items():
            best, lost = table[number[hand], column].max(), table[number[hand], values.peeked, 0]
            value = best * (1 + odds) if solver.states.legal(hand) else best + odds * lost
            total += float(case.probability * p) * value
    total += ended * sum(float(p) * table[number[hand], values.peeked, 0] for hand, p in starts.items())
    if solver.rules.insurance:
        offered = sum(float(case.probability) for case in solver.cases if case.insurable)
        total += offered * max(0.0, (3 * float(solver.rules.ten_probability) - 1) / 2)
    return total


@pytest.mark.parametrize("name", few(GAMES))
def test_the_first_decisions_add_up_to_the_value_of_the_game(name: str) -> None:
    values, solver = DecisionValues(GAMES[name]), Solver(GAMES[name])
    assert values.start == float(solver.value)
    assert start_total(values, solver) == pytest.approx(values.start, abs=1e-13)


@pytest.mark.parametrize("name", few(GAMES))
def test_values_are_those_of_the_solver(name: str) -> None:
    """Except for wrong splits, after which best play does not split again, and decisions before the dealer looks."""
    values, solver, more = DecisionValues(GAMES[name]), Solver(GAMES[name]), 0
    letters = Encoder(GAMES[name]).letters
    for column, (label, means) in enumerate(solver.best.items()):
        for hand in solver.states.reachable():
            if solver.columns[label].natural_odds and hand.cards == 2 and hand.split == WHOLE:
                continue
            found = values._table[values.number[hand], column]
            for letter in solver.states.legal(hand):
                value, exact = found[letters.index(letter)], float(means.act(hand, letter))
                if letter != "P":
                    assert value == exact
                elif hand.split == WHOLE:
                    assert value >= exact - 1e-15
                    more += value > exact + 1e-12
                    assert value <= exact + 1e-12 or found.max() > value  # only where it is wrong
    assert more == 0 or solver.rules.most_hands > 2


def test_known_figures() -> None:
    """16 against ten; and insurance: (3 × 4/13 − 1) / 2 = −1/26."""
    solver, values = Solver(GAMES["vegas-s17"]), DecisionValues(GAMES["early"])
    env = gym.BlackjackEnv(GAMES["vegas-s17"], values=True)
    for seed in range(400):
        observation, info = env.reset(seed=seed)
        if observation[:2].tolist() == [16, 0] and info["view"].dealer == "T" and info["view"].legal == "SHD":
            break
    exact = solver.hand_values(info["view"].hand, "T")
    assert info["values"][:3].tolist() == [float(exact[letter]) for letter in "SHD"]
    assert np.isneginf(info["values"][3:]).all() and info["advantage"].max() == 0
    assert info["advantage"][0] == float(exact["S"] - exact["H"]) < 0
    assert values._table[-1, values.insurance, [0, -1]].tolist() == [0, pytest.approx(-1 / 26)]


@pytest.mark.parametrize("most", [4, 16, math.inf])
@pytest.mark.parametrize(("loses", "dealer"), [("all", "6"), ("original", "T")])  # against which 8s are split
def test_further_splits_are_those_of_the_solver(most: float, loses: str, dealer: str) -> None:
    """A natural takes the original bet once, however often a hand is split, with a limit of hands or without."""
    game = Rules(decks=math.inf, deal="pdp", no_hole_loses=loses, max_hands=most)
    solver, values = Solver(game), DecisionValues(game)
    hand, column = values.number[solver.states.hand([7, 7], True)], list(solver.columns).index(dealer)
    number, shown, held, pending = np.array([[hand], [column], [2], [1]])
    found, _ = values.look_up(number, shown, held, pending, np.ones((1, 5)))
    exact = solver.view_values(View(game, 0, "88", dealer, f"{dealer}88", 10, 90, "SHP", True, 2, 1))
    assert [found[0, i] for i in (0, 1, 3)] == pytest.approx([exact[letter] for letter in "SHP"], abs=1e-15)


@pytest.mark.parametrize(("name", "mode"), [*few(GAMES, SAME_STEP), ("neller-v2", NEXT_STEP), ("early", NEXT_STEP)])
def test_both_environments_give_the_same(name: str, mode: Any) -> None:
    assert played(GAMES[name], mode, 60, seed=1, tables=8, favourite=3, favour=3, **BOTH)[0] > 50


def returns(env: Any, other: Any, choose: Any, episodes: int) -> tuple[Array, Array]:
    """The returns of two environments with the same cards and actions, of the first episodes of each table."""
    tables = env.num_envs
    _, info = env.reset(seed=3)
    other.reset(seed=3)
    sums, found, count = np.zeros((2, tables)), [], np.zeros(tables, int)
    while count.min() < episodes:  # as many of each table: those that take long are not left out
        actions = choose(info)
        _, reward, ended, _, info = env.step(actions)
        sums += reward, other.step(actions)[1]
        found.append(sums[:, ended & (count < episodes)])
        sums[:, ended] = 0
        count += ended
    one, two = np.concatenate(found, axis=1)
    return one, two


def luck(name: str, values: DecisionValues | None = None) -> tuple[float, float]:
    """The mean luck of random play over 82,000 episodes, in errors, and the share of the deviation that is left."""
    plain = gym.BlackjackVectorEnv(2048, GAMES[name], SAME_STEP)
    adjusted = gym.BlackjackVectorEnv(2048, GAMES[name], SAME_STEP, reward="luck-adjusted")
    adjusted._values = values or adjusted._values
    rng = np.random.default_rng(2)
    one, two = returns(plain, adjusted, lambda info: at_random(rng, info["action_mask"]), 40)
    difference = one - two
    return float(difference.mean() / difference.std() * math.sqrt(len(difference))), float(two.std() / one.std())


@pytest.mark.slow
@pytest.mark.parametrize("name", GAMES)
def test_the_luck_of_random_play_has_mean_0_in_every_game(name: str) -> None:
    """Within 4 standard errors, fixed seed (error rate 6e-5 for each game)."""
    errors, spread = luck(name)
    assert abs(errors) < 4 and spread < 1.2


def test_wrong_values_leave_luck() -> None:
    """Negative control: with the values of a game in which the dealer draws to 18, the mean is 6 errors off."""
    wrong = DecisionValues(GAMES["vegas-s17"].replace(dealer_stands_on=18))
    assert abs(luck("vegas-s17", wrong)[0]) > 6


@pytest.mark.parametrize("name", ["neller", "neller-v2", "neller-v3", "european"])
def test_random_play_earns_its_exact_value(name: str) -> None:
    """Within 4 standard errors of the decision process, over 82,000 episodes, fixed seed (error rate 6e-5)."""
    mdp = game_mdp(GAMES[name])
    exact = start_value(mdp, evaluate(mdp, 1 / np.diff(mdp.action_start)[mdp.row_state]))
    env = gym.BlackjackVectorEnv(2048, GAMES[name], SAME_STEP, reward="luck-adjusted")
    rng = np.random.default_rng(4)
    found, _ = returns(
        env,
        gym.BlackjackVectorEnv(2048, GAMES[name], SAME_STEP),
        lambda info: at_random(rng, info["action_mask"], 1.0),
        40,
    )
    assert abs(found.mean() - exact) < 4 * found.std() / math.sqrt(len(found))


@pytest.mark.parametrize("name", few(GAMES))
def test_the_best_policy_has_no_luck_left(name: str) -> None:
    """Every episode returns the value of the game; the plain returns do not."""
    env = gym.BlackjackVectorEnv(256, GAMES[name], SAME_STEP, **BOTH)
    plain = gym.BlackjackVectorEnv(256, GAMES[name], SAME_STEP)

    def best(info: dict[str, Any]) -> Array:
        actions: Array = info["advantage"].argmax(axis=1)
        return actions

    adjusted, paid = returns(env, plain, best, 5)
    assert abs(adjusted - float(Solver(GAMES[name]).value)).max() < 1e-12
    assert paid.std() > 0.5


def test_a_group_with_equal_decisions_has_equal_returns() -> None:
    """A policy of the points alone: what two rounds of the same questions and answers return is the same."""
    env = gym.BlackjackEnv("neller", reward="luck-adjusted")
    seen: dict[Any, float] = {}
    for seed in range(400):
        observation, info = env.reset(seed=seed)
        ended, total, asked = False, 0.0, []
        while not ended:
            action = int(observation[0] < 17)
            asked.append((*observation.tolist(), *info["action_mask"].tolist(), action))
            observation, reward, ended, _, info = env.step(np.int64(action))
            total += reward
        assert seen.setdefault(tuple(asked), total) == total
    assert len(set(seen.values())) > 30


@pytest.mark.parametrize("name", few(ASKED))
def test_the_checker_passes_with_values(name: str) -> None:
    from gymnasium.utils.env_checker import check_env

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(gymnasium.make(gym.env_id(name), values=True).unwrapped)
        check_env(gymnasium.make(gym.env_id(name), rules=GAMES[name], **BOTH).unwrapped)


def test_values_are_given_when_asked_for() -> None:
    for make in (gym.BlackjackEnv, partial(gym.BlackjackVectorEnv, 2)):
        assert "values" not in make(rules="easy").reset(seed=1)[1]
        assert "values" not in make(rules="easy", reward="luck-adjusted").reset(seed=1)[1]
        assert "values" in make(rules="vegas-s17", values=True).reset(seed=1)[1]
    env = gymnasium.make("bjsim/Easy-v0", values=True)
    assert env.reset(seed=1)[1]["values"].shape == (5,)
    assert gymnasium.make_vec("bjsim/Easy-v0", 3, values=True).reset(seed=1)[1]["advantage"].shape == (3, 5)


BUSTED = GAMES["european"].replace(no_hole_loses="busted-plus-one")
ENDLESS = Rules(decks=math.inf, ten_probability=Fraction(9, 10), max_hands=math.inf)


@pytest.mark.parametrize(
    ("rules", "options", "message"),
    [
        ("easy", {"reward": "regret"}, "reward = 'regret'; accepted are payoff and luck-adjusted"),
        (
            "vegas-s17",
            {"reward": "luck-adjusted"},
            r"reward = luck-adjusted needs decks = inf.*vegas-s17 has decks = 6",
        ),
        (BUSTED, {"values": True}, "busted-plus-one.*accepted are all, original, or max_hands = 1"),
        (ENDLESS, {"values": True}, "has no decision values: the value is infinite: resplitting"),
    ],
)
def test_what_has_no_values_is_refused(rules: Any, options: dict[str, Any], message: str) -> None:
    for make in (gym.BlackjackEnv, partial(gym.BlackjackVectorEnv, 2)):
        with pytest.raises(InputError, match=message):
            make(rules=rules, **options)
