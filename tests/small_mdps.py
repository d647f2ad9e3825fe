"""Decision processes with known solutions from textbooks, for the tests of the solver and the learner."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bjsim.strategies.mdp.model import FiniteMDP, Outcome, mdp_from_dict
from bjsim.strategies.mdp.solve import EVALUATED, SolvedMDP, check_ends, error_bound, evaluate, steps_to_end


@dataclass(frozen=True)
class ParsedTable:
    """Russell and Norvig, "Artificial Intelligence", chapter 17: 4 x 3 cells, (1, 1) below left, a wall at (2, 2).

    A move goes where it aims with probability 0.8 and to either side of that with 0.1; against a wall one stays. Each
    move costs 0.04. (4, 3) pays +1 and (4, 2) pays -1, and both end play. Undiscounted.
    """

    cost: float = 0.04

    def start(self) -> dict[tuple[int, int], float]:
        return {(1, 1): 1.0}

    def terminal(self, state: tuple[int, int]) -> bool:
        return state in EXITS

    def actions(self, state: tuple[int, int]) -> list[str]:
        return list(MOVES)

    def outcomes(self, state: tuple[int, int], action: str) -> list[Outcome]:
        dx, dy = MOVES[action]
        turns = ((0.8, dx, dy), (0.1, -dy, dx), (0.1, dy, -dx))
        ends = [(p, self._to(state, x, y)) for p, x, y in turns]
        return [Outcome(p, cell, EXITS.get(cell, 0.0) - self.cost) for p, cell in ends]

    def _to(self, state: tuple[int, int], dx: int, dy: int) -> tuple[int, int]:
        x, y = state[0] + dx, state[1] + dy
        return (x, y) if 1 <= x <= 4 and 1 <= y <= 3 and (x, y) != (2, 2) else state


MOVES = {"up": (0, 1), "left": (-1, 0), "down": (0, -1), "right": (1, 0)}
EXITS = {(4, 3): 1.0, (4, 2): -1.0}
GRID_UTILITIES = {  # to three digits, as printed
    (1, 3): 0.812, (2, 3): 0.868, (3, 3): 0.918,
    (1, 2): 0.762, (3, 2): 0.660,
    (1, 1): 0.705, (2, 1): 0.655, (3, 1): 0.611, (4, 1): 0.388,
}  # fmt: skip


@dataclass(frozen=True)
class Gambler:
    """Sutton and Barto, "Reinforcement Learning", example 4.3: stake any part of the capital until 0 or `goal`.

    heads: the probability of winning the stake. Reaching the goal pays 1, so a value is a probability of success.
    """

    heads: float = 0.4
    goal: int = 100

    def start(self) -> dict[int, float]:
        return {self.goal // 2: 1.0}

    def terminal(self, state: int) -> bool:
        return state in (0, self.goal)

    def actions(self, state: int) -> list[str]:
        return [f"stake {stake}" for stake in range(1, min(state, self.goal - state) + 1)]

    def outcomes(self, state: int, action: str) -> list[Outcome]:
        stake = int(action.split()[1])
        wins = state + stake
        return [Outcome(self.heads, wins, float(wins == self.goal)), Outcome(1 - self.heads, state - stake)]


def bold_play(share: float, heads: float) -> float:
    """Probability of reaching the goal from a share of it by bold play, which is optimal when heads <= 1/2.

    Source: Dubins and Savage (1965), "How to Gamble If You Must": f(x) = p f(2x) up to 1/2, p + (1-p) f(2x-1) beyond.
    """
    value, weight = 0.0, 1.0
    for _ in range(200):
        if share in (0.0, 1.0):
            return value + weight * share
        if share < 0.5:
            share, weight = 2 * share, weight * heads
        else:
            value, share, weight = value + weight * heads, 2 * share - 1, weight * (1 - heads)
    return value


# Puterman (1994), example 3.1.1: s1 may stay (pays 5, half the time falling to s2) or leave (pays 10), s2 costs 1. With
# discount g: v(s2) = -1 / (1 - g); staying in s1 has the value (5 + g/2 v(s2)) / (1 - g/2), leaving 10 + g v(s2). Play
# never ends, so a value exists only with g < 1.
CHAIN = {
    "gamma": 0.9,
    "states": {
        "s1": {
            "stay": [{"to": "s1", "p": 0.5, "reward": 5}, {"to": "s2", "p": 0.5, "reward": 5}],
            "leave": [{"to": "s2", "reward": 10}],
        },
        "s2": {"stay": [{"to": "s2", "reward": -1}]},
    },
}


def chain(gamma: float) -> FiniteMDP:
    return mdp_from_dict(CHAIN | {"gamma": gamma})


def proper_policy(mdp: FiniteMDP) -> np.ndarray:
    """A proper policy: the row of each state, int64 (S,), that gets closer to the end; -1 in terminal states."""
    steps = steps_to_end(mdp)
    nearer = (mdp.probability > 0) & (steps[mdp.next_state] < steps[mdp.row_state[mdp.outcome_row]])
    nearer |= (mdp.probability > 0) & (mdp.gamma * mdp.weight < 1)
    rows = mdp.outcome_row[nearer]
    policy = np.full(len(mdp.states), -1, dtype=np.int64)
    policy[mdp.row_state[rows][::-1]] = rows[::-1]
    return policy


def policy_iteration(mdp: FiniteMDP) -> SolvedMDP:
    """Solve a process by other means than value iteration, up to rounding errors; `bound` bounds them."""
    check_ends(mdp)
    policy = proper_policy(mdp)
    for _ in range(1000):
        values = evaluate(mdp, policy)
        q = mdp.backup(values)
        better = mdp.greedy(q)
        gains = (policy >= 0) & (q[better] > q[policy] + 10 * EVALUATED * (1 + np.abs(values).max()))
        if not gains.any():
            return SolvedMDP(values, q, policy, error_bound(mdp, values))
        policy = np.where(gains, better, policy)
    raise AssertionError("policy iteration did not converge")
