"""Policies over observations as charts: their value and regret are those of the solver."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.environments import chart_policy
from support.games import ASKED, few

from bjsim.errors import InputError
from bjsim.sim.game.presets import PRESETS
from bjsim.strategies.charts.chart import Chart
from bjsim.strategies.evaluation.compare import evaluate_chart
from bjsim.strategies.exact.solver import Solver
from bjsim.strategies.learning.observations import judge_policy
from bjsim.strategies.players.catalogue import find_player

STAND, HIT, DOUBLE, SPLIT, SURRENDER, INSURE = range(6)


@pytest.mark.parametrize("name", few(ASKED))
def test_the_best_chart_has_no_regret(name: str) -> None:
    rules = PRESETS[name].rules.replace(decks="inf")
    judged = judge_policy(rules, chart_policy(Solver(rules).chart), batched=False)
    assert judged.exceptions == () and judged.evaluation.cells == ()
    assert judged.regret == 0 and judged.value == pytest.approx(float(Solver(rules).value), abs=1e-14)


def test_answers_that_are_not_legal_stand_and_are_counted() -> None:
    """As a policy without masks gives them: surrender, which easy allows as the first decision alone."""
    rules = PRESETS["easy"].rules
    stand, surrender = (
        judge_policy(rules, lambda seen, masks, move=move: np.full(len(seen), move)) for move in (STAND, SURRENDER)
    )
    assert stand.illegal == 0 < surrender.illegal and stand.value > surrender.value
    legal = judge_policy(rules, lambda seen, masks: np.where(masks[:, SURRENDER], SURRENDER, STAND))
    assert (legal.value, legal.illegal) == (surrender.value, 0)


def test_wrong_cells_cost_what_the_evaluation_says() -> None:
    """Also with insurance, and with the codes Dh, Ds, Rh and Rs distinguished."""
    rules = PRESETS["two-deck"].rules.replace(decks="inf", insurance=True, surrender="late")
    cells = dict(Solver(rules).chart.cells)
    cells |= {("16", "T"): "Rs", ("15", "T"): "Rh", ("18", "9"): "H", ("A7", "3"): "Ds", ("11", "A"): "Dh"}
    chart = Chart("wrong", rules, cells, insurance="I")
    judged = judge_policy(rules, chart_policy(chart), batched=False, name="mine")
    assert judged.chart.name == "mine" and judged.chart.insurance == "I" and judged.exceptions == ()
    expected = evaluate_chart(chart)
    assert judged.value == expected.value and judged.regret == expected.difference > 0
    assert judged.evaluation.cells == expected.cells


def test_a_batch_is_asked_at_once() -> None:
    asked = []

    def stands_on_17(observations: Any, masks: Any) -> Any:
        asked.append(observations.shape)
        assert len(masks) == len(observations) and (masks[:, STAND] == 1).all()
        return np.where(observations[:, 0] < 17, HIT, STAND)

    judged = judge_policy("easy", stands_on_17)
    assert len(asked) == 1 and asked[0][1] == 8
    rules = PRESETS["easy"].rules
    lim17 = find_player("lim17", rules)
    assert isinstance(lim17, Chart)
    assert judged.value == pytest.approx(float(Solver(rules).ev(lim17.policy).value), abs=1e-14)
    assert judged.regret > 0.05


def test_what_a_chart_cannot_say_is_reported() -> None:
    """A policy that stands on split hands, and one that insures some hands only."""
    best = chart_policy(Solver(PRESETS["vegas-s17"].rules.replace(decks="inf")).chart)
    rules = PRESETS["vegas-s17"].rules.replace(decks="inf")
    judged = judge_policy(rules, lambda o, m: STAND if o[5] else best(o, m), batched=False)
    assert judged.regret == 0 and "11 v 6 (split hand)" in judged.exceptions
    rules = rules.replace(insurance=True)
    best = chart_policy(Solver(rules).chart)
    insured = judge_policy(rules, lambda o, m: INSURE if m[INSURE] and o[0] == 20 else best(o, m), batched=False)
    assert insured.regret == 0 and set(insured.exceptions) == {"insurance with TT", "insurance with A9"}


def test_an_action_that_is_not_legal_stands() -> None:
    assert set(judge_policy("neller", lambda o, m: np.full(len(o), DOUBLE)).chart.cells.values()) == {"S"}


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        (lambda o, m: np.zeros((3, 2), int), r"the policy returned int64 \(3, 2\) for \d+ observations"),
        (lambda o, m: np.zeros(len(o)), "the policy returned float64"),
        (lambda o, m: np.full(len(o), 5), "the policy returned the action 5; accepted are 0 to 4"),
    ],
)
def test_what_is_no_policy_is_refused(policy: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        judge_policy("easy", policy)


@pytest.mark.parametrize("double", [True, False])
def test_a_split_stays_one_whatever_split_hands_may_do(double: bool) -> None:
    """Ph, Pd and Ps split only where split hands may double; the policy stands where it cannot split."""
    rules = PRESETS["downtown"].rules.replace(double_after_split=double)
    judged = judge_policy(rules, lambda seen, masks: np.where(masks[:, SPLIT], SPLIT, STAND))
    pair = next(state for state in judged.chart.states.starts if judged.chart.states.rows_of(state)[0] == "AA")
    assert judged.chart.policy(pair, "6", "SHDP") == "P"
