"""Decision processes with published answers, solved to the proven tolerance by three algorithms."""

from __future__ import annotations

import numpy as np
import pytest
from small_mdps import GRID_UTILITIES, Gambler, ParsedTable, bold_play, chain, policy_iteration

from bjsim.strategies.mdp import solve
from bjsim.strategies.mdp.model import FiniteMDP, MDPError, build_mdp, mdp_from_dict
from bjsim.strategies.mdp.solve import (
    error_bound,
    evaluate,
    regret,
    start_value,
    value_iteration,
)

PUBLISHED = {
    "chain": chain(0.95),
    "grid": build_mdp(ParsedTable()),
    "gambler": build_mdp(Gambler()),
}


def named(mdp: FiniteMDP, values: np.ndarray) -> dict[str, float]:
    return dict(zip(mdp.states, values.tolist(), strict=True))


@pytest.mark.parametrize("solve", [value_iteration, policy_iteration])
def test_the_two_state_chain(solve: object) -> None:
    """Puterman (1994), section 6.1: at 0.95 staying is better; below 10/11 leaving is."""
    best = solve(chain(0.95))  # type: ignore[operator]
    assert best.values == pytest.approx([-60 / 7, -20], abs=1e-9)
    assert best.policy.tolist() == [0, 2]
    best = solve(chain(0.9))  # type: ignore[operator]
    assert best.values == pytest.approx([10 - 9, -10], abs=1e-9)
    assert best.policy.tolist() == [1, 2]


@pytest.mark.parametrize("solve", [value_iteration, policy_iteration])
def test_the_grid_world(solve: object) -> None:
    mdp = PUBLISHED["grid"]
    values = named(mdp, solve(mdp).values)  # type: ignore[operator]
    for cell, utility in GRID_UTILITIES.items():
        assert round(values[str(cell)], 3) == utility, cell


@pytest.mark.parametrize("heads", [0.4, 0.25, 0.55])
def test_the_gambler(heads: float) -> None:
    """With heads below 1/2 bold play is best (Dubins and Savage); above, stakes of 1 are, and win as a random walk."""
    mdp = build_mdp(Gambler(heads))
    odds = (1 - heads) / heads
    best = value_iteration(mdp, 1e-10) if heads < 0.5 else policy_iteration(mdp)
    values = named(mdp, best.values)
    for capital in range(1, 100):
        timid = (1 - odds**capital) / (1 - odds**100)
        known = bold_play(capital / 100, heads) if heads < 0.5 else timid
        assert values[str(capital)] == pytest.approx(known, abs=1e-10), capital
    if heads < 0.5:
        assert values["50"] == pytest.approx(heads, abs=1e-10)


@pytest.mark.parametrize("name", PUBLISHED)
@pytest.mark.parametrize("tolerance", [1e-2, 1e-5, 1e-9])
def test_value_iteration_stops_within_its_tolerance_and_says_so(name: str, tolerance: float) -> None:
    mdp = PUBLISHED[name]
    exact = policy_iteration(mdp)
    found = value_iteration(mdp, tolerance)
    error = float(np.abs(found.values - exact.values).max())
    assert exact.bound < 1e-11
    assert error <= found.bound <= tolerance


def test_the_bound_holds_where_the_change_of_the_last_sweep_would_not() -> None:
    """Negative control: stopping when values change by less than the tolerance leaves an error above it."""
    mdp = PUBLISHED["chain"]
    exact, values = policy_iteration(mdp).values, np.zeros(2)
    while True:
        update = mdp.best(mdp.backup(values))
        change, values = np.abs(update - values).max(), update
        if change <= 1e-3:
            break
    error = np.abs(values - exact).max()
    assert error > 10 * change
    assert error <= error_bound(mdp, values)


def random_mdp(rng: np.random.Generator, gamma: float) -> FiniteMDP:
    """Up to 8 states with random actions, outcomes and weights, where every action may end play."""
    n = int(rng.integers(2, 9))
    states = {}
    for s in range(n):
        states[str(s)] = {
            str(a): [
                {"to": str(to), "p": p, "reward": float(rng.normal()), "weight": float(rng.choice([0.5, 1, 1, 1.1]))}
                for to, p in zip(
                    [*rng.integers(0, n, 3), "end"], [*(0.9 * rng.dirichlet(np.ones(3))), 0.1], strict=True
                )
            ]
            for a in range(int(rng.integers(1, 4)))
        }
    return mdp_from_dict({"start": "0", "gamma": gamma, "terminal": ["end"], "states": states})


@pytest.mark.parametrize("gamma", [1.0, 0.9])
def test_bounds_hold_from_anywhere_on_random_processes(gamma: float) -> None:
    rng = np.random.default_rng(5)
    for _ in range(40):
        mdp = random_mdp(rng, gamma)
        exact = policy_iteration(mdp)
        assert value_iteration(mdp, 1e-8).values == pytest.approx(exact.values, abs=1e-8)
        for scale in (1e-6, 1e-2, 1):
            values = np.where(mdp.terminal, 0, exact.values + scale * rng.normal(size=len(mdp.states)))
            assert np.abs(values - exact.values).max() <= error_bound(mdp, values)


def test_evaluation_of_policies_given_as_rows_or_as_probabilities(monkeypatch: pytest.MonkeyPatch) -> None:
    mdp = PUBLISHED["grid"]
    best = policy_iteration(mdp)
    even = np.full(len(mdp.actions), 0.25)
    dense = evaluate(mdp, even)
    assert evaluate(mdp, best.policy) == pytest.approx(best.values, abs=1e-12)
    assert regret(mdp, best, best.policy) == pytest.approx(0, abs=1e-12)
    assert regret(mdp, best, even) == pytest.approx(start_value(mdp, best.values - dense)) and dense[0] < -1
    monkeypatch.setattr(solve, "DENSE", 0)
    assert evaluate(mdp, even) == pytest.approx(dense, abs=1e-10)


def test_a_policy_that_never_ends_has_no_value() -> None:
    mdp = PUBLISHED["grid"]
    into_the_wall = np.array([mdp.action_start[s] + 1 if not end else -1 for s, end in enumerate(mdp.terminal)])
    with pytest.raises(MDPError, match="play never ends from here"):
        evaluate(mdp, into_the_wall)
    assert regret(mdp, policy_iteration(mdp), into_the_wall) == float("inf")
    with pytest.raises(MDPError, match=r"state \(1, 1\): the policy's probabilities sum to 0"):
        evaluate(mdp, np.zeros(len(mdp.actions)))


def test_two_hands_for_one_are_a_weight(monkeypatch: pytest.MonkeyPatch) -> None:
    """A state that doubles with probability p < 1/2 has the value done (1 - p) / (1 - 2 p); from 1/2 on it has none."""

    def splitting(again: float, done: float) -> FiniteMDP:
        half = [{"to": "half", "p": again, "weight": 2}, {"to": "end", "p": 1 - again, "reward": done}]
        return mdp_from_dict({"terminal": ["end"], "states": {"half": {"draw": half}}})

    assert value_iteration(splitting(0.25, 1)).values[0] == pytest.approx(0.75 / 0.5, abs=1e-9)
    assert evaluate(splitting(0.25, 1), np.array([0, -1]))[0] == pytest.approx(1.5)
    monkeypatch.setattr(solve, "SWEEPS", 1000)
    for again in (0.5, 0.6):
        with pytest.raises(MDPError, match="state half"):
            value_iteration(splitting(again, 1))
        with pytest.raises(MDPError, match="state half: play under this policy multiplies without bound"):
            evaluate(splitting(again, 1), np.array([0, -1]))


@pytest.mark.parametrize("gamma", [1.0, 0.9, 0.999])
@pytest.mark.parametrize("reward", [1e-3, 1.0, 1e6])
def test_values_of_any_size_are_solved(gamma: float, reward: float) -> None:
    ends = [{"to": "a", "reward": reward}] if gamma < 1 else [{"to": "end", "reward": reward}]
    mdp = mdp_from_dict({"gamma": gamma, "terminal": ["end"], "states": {"a": {"go": ends}}})
    value = reward / (1 - gamma) if gamma < 1 else reward
    assert value_iteration(mdp, 1e-10).values[0] == pytest.approx(value, rel=1e-9, abs=1e-10)
