"""What is legal may depend on the dealer's card. No game has such a rule: here, hands double only against 2 to 6."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from bjsim.bots.contest.luck import StateIndex, tabulate
from bjsim.bots.contest.luck import evaluate as evaluate_states
from bjsim.bots.export import export
from bjsim.sim.engine.compiled_rules import compile_rules
from bjsim.sim.engine.round_table import make_round_tables
from bjsim.sim.engine.row_values import make_row_values
from bjsim.sim.game.actions import View
from bjsim.sim.game.automaton import START
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.states import States
from bjsim.strategies.charts.chart import Chart
from bjsim.strategies.evaluation.coach import Coach
from bjsim.strategies.exact.solver import Solver
from bjsim.strategies.learning.observations import DecisionValues, judge_policy
from bjsim.strategies.mdp.blackjack import game_mdp
from bjsim.strategies.mdp.solve import start_value, value_iteration
from bjsim.strategies.shoe.present import action_values
from bjsim.strategies.shoe.solver import ShoeSolver

WEAK = tuple("23456")
# No other test has these rules: what is known of a game is kept.
INFINITE = Rules(
    decks=math.inf, peek=True, blackjack_pays=Fraction(7, 5), max_hands=3, surrender="late", buy_in=14, name="weak"
)
EIGHT = INFINITE.replace(decks=8)


@pytest.fixture(autouse=True)
def doubles_against_weak_cards(monkeypatch: pytest.MonkeyPatch) -> None:
    known: dict[Any, Any] = {}

    def against(states: States, column: str) -> States:
        if column in ("", *WEAK) or states.rules.double_on == "never":
            return states
        if states not in known:
            known[states] = type(states)(states.rules.replace(double_on="never"))
        return known[states]

    monkeypatch.setattr(States, "against", against)


def doubled(chart: Chart) -> set[str]:
    return {column for (_, column), code in chart.cells.items() if code[0] == "D"}


def test_the_infinite_shoe_in_every_statement() -> None:
    solver = Solver(INFINITE)
    chart, value = solver.chart, float(solver.value)
    assert (
        doubled(chart) == set(WEAK)
        and "D" not in solver.hand_values("65", "T")
        and "D" in solver.hand_values("65", "6")
    )
    assert solver.value_of(chart) == pytest.approx(value, abs=1e-14) and not solver.costs(chart)
    mdp = game_mdp(INFINITE)
    assert start_value(mdp, value_iteration(mdp, 1e-12).values) == pytest.approx(value, abs=1e-11)
    index = StateIndex(INFINITE)
    evs = evaluate_states(index, tabulate(index, chart.policy))
    assert evs[index.number_of[START], 0] == pytest.approx(value, abs=1e-12)
    (table,), _ = make_round_tables(compile_rules(INFINITE, [chart.policy]))
    probabilities = np.array(list(map(float, INFINITE.card_probabilities)))
    assert make_row_values(table, probabilities, INFINITE.unit).value == pytest.approx(value, abs=1e-9)
    doubles = np.isfinite(DecisionValues(INFINITE)._table[:, : len(solver.columns), 2]).any(axis=0)
    assert [label for label, doubled in zip(solver.columns, doubles, strict=True) if doubled] == list(WEAK)


def test_a_finite_shoe() -> None:
    solver = ShoeSolver(EIGHT)
    assert doubled(solver.chart) == set(WEAK)
    assert solver.value == pytest.approx(float(Solver(INFINITE).value), abs=2e-3)
    assert solver.value <= solver.value_of("td-2c") <= solver.value_of("cdz-")
    assert "D" not in solver.hand_values("65", "T") and "D" in solver.hand_values("65", "6")
    left = [int(count) for count in solver.composition.ranks]
    now = action_values(View.alone(EIGHT, "65", "T", "SHD"), left)
    assert now["H"] == pytest.approx(solver.hand_values("65", "T")["H"], abs=1e-3)


def test_learned_policies_coach_and_exported_bots() -> None:
    judged = judge_policy(INFINITE, lambda observations, masks: np.where(masks[:, 2] > 0, 2, 0))
    assert doubled(judged.chart) == set(WEAK)
    assert Coach(INFINITE).chart == Solver(INFINITE).chart
    plain = INFINITE.replace(split_by="never", max_hands=2, surrender="none")
    assert '"hard 11": "DDDDDHHHHH"' in export(Solver(plain).chart)
