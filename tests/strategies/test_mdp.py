"""Building decision processes, and errors in them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small_mdps import Gambler, ParsedTable, chain

from bjsim.strategies.mdp.model import MDPError, Outcome, build_mdp, mdp_from_dict, read_mdp
from bjsim.strategies.mdp.solve import check_ends, endless_rows, steps_to_end

WAIT: dict[str, Any] = {
    "start": "wait",
    "terminal": ["end"],
    "states": {
        "wait": {
            "stay": [{"to": "wait", "reward": -1}],
            "leave": [{"to": "end", "p": 0.75, "reward": 5}, {"to": "wait", "p": 0.25}],
        }
    },
}


def changed(**changes: Any) -> dict[str, Any]:
    """The process WAIT with another action `leave`, or other keys."""
    data: dict[str, Any] = json.loads(json.dumps(WAIT))
    if "leave" in changes:
        data["states"]["wait"]["leave"] = changes.pop("leave")
    return data | changes


def test_json_becomes_flat_arrays(tmp_path: Path) -> None:
    file = tmp_path / "wait.json"
    file.write_text(json.dumps(WAIT), encoding="utf-8")
    mdp = read_mdp(file)
    assert mdp.states == ("wait", "end")
    assert mdp.actions == ("stay", "leave")
    assert mdp.action_start.tolist() == [0, 2, 2]
    assert mdp.outcome_start.tolist() == [0, 1, 3]
    assert mdp.probability.tolist() == [1, 0.75, 0.25]
    assert mdp.next_state.tolist() == [0, 1, 0]
    assert mdp.reward.tolist() == [-1, 5, 0]
    assert mdp.weight.tolist() == [1, 1, 1]
    assert mdp.terminal.tolist() == [False, True]
    assert mdp.start.tolist() == [1, 0]
    assert mdp.expected_reward.tolist() == [-1, 3.75]
    assert mdp.row("wait", "leave") == 1
    with pytest.raises(KeyError, match="state wait has no action fly"):
        mdp.row("wait", "fly")


def test_an_object_and_its_json_build_the_same() -> None:
    grid = build_mdp(ParsedTable())
    states: dict[str, dict[str, list[dict[str, object]]]] = {}
    for row, action in enumerate(grid.actions):
        outcomes = range(grid.outcome_start[row], grid.outcome_start[row + 1])
        states.setdefault(grid.states[grid.row_state[row]], {})[action] = [
            {"to": grid.states[grid.next_state[o]], "p": grid.probability[o], "reward": grid.reward[o]}
            for o in outcomes
        ]
    again = mdp_from_dict({"start": "(1, 1)", "terminal": ["(4, 2)", "(4, 3)"], "states": states})
    assert again.states == grid.states
    for name in ("action_start", "outcome_start", "probability", "next_state", "reward", "terminal"):
        assert np.array_equal(getattr(again, name), getattr(grid, name)), name


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([], 'expected an object with "states"'),
        ({"states": {}}, "unknown state ''; it is neither in"),
        (changed(discount=1), "unknown key 'discount'; keys are gamma, start, terminal, states"),
        (changed(gamma=1.5), "gamma = 1.5 is not accepted; use a number above 0, at most 1"),
        (changed(gamma="1"), "gamma = '1' is not a number"),
        (changed(terminal="end"), "terminal: expected a list of states"),
        (changed(terminal=[]), "unknown state 'end'; it is neither in"),
        (changed(terminal=["end", "wait"]), "state wait is terminal and has actions"),
        (changed(start="home"), "unknown state 'home'; it is neither in"),
        (changed(start="end"), "every state is terminal, so there is nothing to decide"),
        (changed(start={}), "start: no state is named"),
        (changed(gamma=10**400), "gamma: the number has too many digits"),
        (changed(leave=[{"to": "end", "reward": -(10**400)}]), "action leave: reward: the number has too many digits"),
        (changed(start={"wait": 0.5}), "start: probabilities must not be negative and must sum to 1, not 0.5"),
        (changed(states={"wait": {}}), "state wait is not terminal and has no action"),
        (changed(states={"wait": [1]}), "state wait: expected {ACTION: [outcomes]}"),
        (changed(leave={"to": "end"}), "state wait, action leave: expected a list of outcomes"),
        (changed(leave=[]), "state wait, action leave: no outcome"),
        (changed(leave=[{"p": 1}]), 'state wait, action leave: an outcome needs "to": STATE, "p" and "reward"'),
        (changed(leave=[{"to": "end", "prob": 1}]), "state wait, action leave: unknown key 'prob'; keys are to, p,"),
        (changed(leave=[{"to": "end", "p": "1"}]), "state wait, action leave: p = '1' is not a number"),
        (changed(leave=[{"to": "end", "p": 0.9}]), "state wait, action leave: probabilities sum to 0.9, not to 1"),
        (
            changed(leave=[{"to": "end", "p": 1.5}, {"to": "wait", "p": -0.5}]),
            "state wait, action leave: a probability is negative or not a number",
        ),
        (changed(leave=[{"to": "end", "p": float("nan")}]), "a probability is negative or not a number"),
        (changed(leave=[{"to": "end", "reward": float("inf")}]), "a reward is not a finite number"),
        (changed(leave=[{"to": "end", "weight": -1}]), "a weight is negative or not a finite number"),
    ],
)
def test_a_broken_process_gets_one_line_that_names_the_state(data: Any, message: str) -> None:
    with pytest.raises(MDPError) as error:
        mdp_from_dict(data)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_a_broken_file_is_named(tmp_path: Path) -> None:
    for name, text, message in (
        ("absent.json", None, "cannot read"),
        ("half.json", '{"states": ', "is not valid JSON"),
        ("long.json", '{"states": {}, "gamma": ' + "9" * 5000 + "}", "is not valid JSON: Exceeds the limit"),
        ("deep.json", "[" * 100_000, "nested too deeply"),
        ("twice.json", '{"states": {"a": {"go": []}, "a": {}}}', "duplicate key 'a' in an object"),
        ("wrong.json", json.dumps(changed(leave=[])), "state wait, action leave: no outcome"),
    ):
        file = tmp_path / name
        if text is not None:
            file.write_text(text, encoding="utf-8")
        with pytest.raises(MDPError, match=message) as error:
            read_mdp(file)
        assert name in str(error.value)


def test_arrays_that_do_not_fit_are_refused() -> None:
    mdp = mdp_from_dict(WAIT)
    for changes, message in (
        ({"next_state": np.array([0, 7, 0])}, "state wait, action leave: leads to a state that does not exist"),
        ({"weight": np.ones(2)}, r"weight must have shape \(3,\), not \(2,\)"),
        ({"states": ("wait", "wait")}, "different names"),
        ({"outcome_start": np.array([0, 4, 3])}, "outcome_start must rise from 0 to 3"),
        ({"terminal": np.array([False, False])}, "state end is not terminal and has no action"),
    ):
        with pytest.raises(MDPError, match=message):
            replace(mdp, **changes)


def test_reachability() -> None:
    mdp = mdp_from_dict(WAIT)
    assert mdp.reachable().tolist() == [True, True]
    unreached = replace(mdp, start=np.array([0.0, 1.0]))
    assert unreached.reachable().tolist() == [False, True]


def test_steps_to_the_end() -> None:
    gambler = build_mdp(Gambler(goal=8))
    steps = dict(zip(gambler.states, steps_to_end(gambler).tolist(), strict=True))
    assert steps["0"] == steps["8"] == 0
    assert steps["1"] == 1 and steps["7"] == 1
    grid = build_mdp(ParsedTable())
    assert steps_to_end(grid)[grid.states.index("(1, 1)")] == 4  # right, right, up slips right, into (4, 2)


class Loop:
    """Two states that lead to each other with rewards `there` and `back`, and an exit that costs 1."""

    def __init__(self, there: float, back: float, weight: float = 1) -> None:
        self.pay = {"there": (there, "b"), "back": (back, "a")}
        self.weight = weight

    def start(self) -> dict[str, float]:
        return {"a": 1}

    def terminal(self, state: str) -> bool:
        return state == "end"

    def actions(self, state: str) -> list[str]:
        return ["there", "leave"] if state == "a" else ["back"]

    def outcomes(self, state: str, action: str) -> list[Outcome]:
        if action == "leave":
            return [Outcome(1, "end", -1)]
        pay, to = self.pay[action]
        return [Outcome(1, to, pay, self.weight)]


@pytest.mark.parametrize(("there", "back"), [(-1, -1), (1, -1.01), (-3, 2)])
def test_going_round_for_ever_is_allowed_where_it_costs(there: float, back: float) -> None:
    mdp = build_mdp(Loop(there, back))
    assert endless_rows(mdp).tolist() == [True, False, True]
    check_ends(mdp)


@pytest.mark.parametrize(("there", "back"), [(0, 0), (1, -1), (2, -1), (-1, 1.01)])
def test_going_round_for_ever_is_refused_where_it_costs_nothing(there: float, back: float) -> None:
    with pytest.raises(MDPError, match=r"state [ab]: play can continue forever without a cost"):
        check_ends(build_mdp(Loop(there, back)))
    check_ends(build_mdp(Loop(there, back), gamma=0.99))


def test_what_never_ends_or_multiplies_is_refused() -> None:
    with pytest.raises(MDPError, match="state s1: play never ends from here; it needs gamma below 1"):
        check_ends(chain(1))
    with pytest.raises(MDPError, match="state a: play can multiply forever"):
        check_ends(build_mdp(Loop(-1, -1, weight=2)))
    with pytest.raises(MDPError, match="state a: play can multiply forever"):
        check_ends(build_mdp(Loop(-1, -1, weight=2), gamma=0.9))
    check_ends(build_mdp(Loop(1, 1, weight=0.9)))  # a weight below 1 discounts
