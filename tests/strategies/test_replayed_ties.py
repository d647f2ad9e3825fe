"""Replayed ties with splits: split hands may tie more bets than were dealt, without end."""

from __future__ import annotations

import json
import math
import random
from fractions import Fraction

import pytest
from support.command import bjsim, refusal

from bjsim.errors import InputError, RunFailed
from bjsim.request import play
from bjsim.sim.game.presets import named_rules
from bjsim.sim.game.rules import Rules
from bjsim.strategies.evaluation.compare import evaluate_chart
from bjsim.strategies.exact.solver import Solver
from bjsim.strategies.exact.values import ExpectedValue
from bjsim.strategies.players.catalogue import CATALOGUE
from bjsim.strategies.shoe.solver import ShoeSolver

NELLER = named_rules("neller-v2")
ENDS = NELLER.replace(split_tens_blackjack=False, split_aces_blackjack=False)  # ace and ten after a split: 21
BY_VALUE = ENDS.replace(split_by="value", max_hands=4)

# The value of each game, found by the evaluator of another author. A second derivation, the fixed point of the best
# profit of a round with the tie value v, gave the same ones, and the last digits of 0.3537.
VALUES = [
    (ENDS, "0.95", 3.554277165847668),
    (ENDS, "0.955", math.inf),
    (ENDS, "0.97", math.inf),
    (ENDS, "0.99", math.inf),
    (BY_VALUE, "0.75", 0.353736029122533),
    (BY_VALUE, "0.78", math.inf),
    (BY_VALUE, "0.8", math.inf),
    (BY_VALUE, "0.9", math.inf),
]


@pytest.mark.parametrize(("game", "p", "value"), VALUES)
def test_the_value_is_the_fixed_point_or_infinite(game: Rules, p: str, value: float) -> None:
    solver = Solver(game.replace(ten_probability=p))
    assert solver.value == pytest.approx(value, abs=1e-12)
    assert solver.ev(solver.chart.policy).value == pytest.approx(value, abs=1e-9)


def test_the_value_over_fractions() -> None:
    assert Solver(ENDS.replace(ten_probability="0.97"), Fraction).value == math.inf
    finite = BY_VALUE.replace(ten_probability="0.75")
    assert float(Solver(finite, Fraction).value) == pytest.approx(Solver(finite).value, abs=1e-15)


@pytest.mark.parametrize("seed", range(20))
def test_any_convex_profit_has_its_first_fixed_point_found(seed: int) -> None:
    """Solvers of games with a few policies (net, tied), against the limit of more and more replays."""
    rng = random.Random(seed)
    most = 0.2 if seed % 2 else -0.001  # if all policies lose, the one that loses least may tie more than it bets
    policies = [ExpectedValue(rng.uniform(-0.3, most), rng.uniform(0.0, 1.6)) for _ in range(4)]
    policies.append(ExpectedValue(-0.3, 0.1))  # one policy always ties little

    class Few(Solver):
        def _total(self, tie_value, policy):
            return max(policy.net + policy.tied * tie_value for policy in policies)

        def _best_policy(self, tie_value):
            return max(policies, key=lambda policy: policy.net + policy.tied * tie_value)

        def ev(self, policy):
            return policy

    limit = 0.0
    for _ in range(3000):
        limit = max(policy.net + policy.tied * limit for policy in policies)
        if limit > 1e6:
            limit = math.inf
            break
    assert Few(NELLER).best_value == pytest.approx(limit, abs=1e-6)


@pytest.mark.parametrize(
    ("net", "tied", "value"),
    [(0.1, 0.5, 0.2), (-0.1, 0.5, -0.2), (0.001, 1.0, math.inf), (-0.001, 1.2, -math.inf), (0.0, 1.2, 0.0)],
)
def test_a_strategy_that_ties_every_bet_has_an_infinite_value(net, tied, value) -> None:
    assert ExpectedValue(net, tied).value == value


def test_endless_splits_and_replayed_ties_together() -> None:
    solver = Solver(named_rules("blackjack-p").replace(ties="replay", ten_probability="0.6"))
    assert solver.value == math.inf and "resplitting TT against 2 " in solver.infinite_because
    assert solver.ev(solver.chart.policy).value == math.inf


ENDLESS = ("--rules", "neller-v2", "--set", "split_by=value", "--set", "max_hands=4", "--set", "ten_probability=0.9")
WORDS = "the value is infinite: split hands tie more bets than were dealt"


def test_it_is_said() -> None:
    status, out, _ = bjsim("solve", "value", "--rules", "neller-v2", "--ten-probability", "0.97")
    assert status == 0 and out.startswith("inf\n" + WORDS)
    checked = bjsim("check", "optimal", *ENDLESS).out
    assert WORDS in checked and "no cell differs" in checked
    luck = refusal("run", *ENDLESS, "--bots", "optimal", "--hands", "1e4", "--adjust-luck")
    assert "--adjust-luck needs charts of finite value" in luck


def test_a_chart_is_judged_against_an_infinite_best() -> None:
    game = BY_VALUE.replace(ten_probability="0.9")
    best = evaluate_chart(Solver(game).chart)
    assert best.value == best.best == math.inf and best.difference == 0 and not best.cells
    other = evaluate_chart(CATALOGUE["lim17"].chart(game))
    assert math.isfinite(other.value) and other.difference == math.inf and WORDS in other.solution.infinite_because


def test_run_has_a_row_or_a_reason_for_each_bot() -> None:
    game = [*ENDLESS, "--bots", "optimal,lim17", "--hands", "2000", "--workers", "1"]
    status, out, _ = bjsim("run", *game)
    assert status == 0 and "lim17 " in out
    assert "optimal: no return yet, as its 2,000 rounds tied " in out and "its exact value is inf" in out
    data = json.loads(bjsim("run", *game, "--json", "-").out)
    assert [bot["name"] for bot in data["bots"]] == ["lim17"] and data["missing"][0].startswith("optimal: ")
    alone = bjsim("run", *ENDLESS, "--bots", "optimal", "--hands", "2000")
    assert alone.status == 0 and "optimal: no return yet" in alone.out


def test_play_has_a_result_for_each_bot_or_fails_in_words() -> None:
    game = BY_VALUE.replace(ten_probability="0.9")
    assert len(play(game, ["lim17"], 2000)) == 1
    with pytest.raises(RunFailed, match="optimal: no return yet, as its 2,000 rounds tied"):
        play(game, ["lim17", "optimal"], 2000)
    with pytest.raises(RunFailed, match="lim17: no return yet, as its 1 rounds tied 1 bets"):
        for seed in range(1, 40):  # a single round is tied before long
            play("neller", ["lim17"], 1, seed=seed)


def test_a_finite_shoe_whose_value_is_infinite_is_refused() -> None:
    """Split tens tie 3.7 bets against 20; the search for the value of a tie never ended."""
    rules = named_rules("easy").replace(ties="replay", decks=1)
    solver = ShoeSolver(rules, {"T": 100, "9": 4})
    assert math.isfinite(solver.value_of(CATALOGUE["lim17"].chart(rules)))
    with pytest.raises(InputError, match="ties a bet or more, so its value is infinite"):
        print(solver.value)
