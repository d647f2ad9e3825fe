"""Learning a decision process, and comparing the result with the exact solution.

Unlike the learner, the comparison uses the probabilities: the regret of the learned policy is computed, not sampled,
and so is the cost of every state in which it takes a worse action.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from bjsim.strategies.learning.learn import Learned, LearningProgress, Schedule, learn
from bjsim.strategies.mdp.model import FiniteMDP
from bjsim.strategies.mdp.solve import SolvedMDP, regret, start_value, value_iteration
from bjsim.strategies.tabular import html_table

TOLERANCE = 1e-10  # of the exact values; actions that differ by at most ten times this are equally good


class LearningPoint(NamedTuple):
    """The regret of the greedy policy after a number of learning episodes; `inf` if play under it never ends."""

    episodes: int
    regret: float


class Disagreement(NamedTuple):
    """A state whose learned action is not the best; `cost` is its loss, taken once, in units of reward."""

    state: str
    learned: str
    best: str
    cost: float


@dataclass(frozen=True)
class Study:
    """A learned decision process with its exact solution.

    Attributes:
        mdp: The process.
        episodes: The number of episodes played.
        schedule: The settings of the learner.
        seed: The seed of the learner.
        workers: The number of threads.
        best: The exact solution.
        learned: The result of learning.
        curve: The exact regret as learning proceeded.
        seconds: Wall time of the solution and of learning.
    """

    mdp: FiniteMDP
    episodes: int
    schedule: Schedule
    seed: int
    workers: int
    best: SolvedMDP
    learned: Learned
    curve: tuple[LearningPoint, ...]
    seconds: float

    def __repr__(self) -> str:
        size = f"{len(self.mdp.states):,} states, {self.episodes:,} episodes"
        return f"{type(self).__name__}({size}, regret {self.regret:.6f})"

    def _repr_html_(self) -> str:
        return html_table(Disagreement._fields, self.disagreements, repr(self))

    @property
    def value_exact(self) -> float:
        """The value of the process under the best policy, in units of reward."""
        return start_value(self.mdp, self.best.values)

    @cached_property
    def regret(self) -> float:
        """The exact value of the process less that of the learned policy, in units of reward."""
        return max(0.0, regret(self.mdp, self.best, self.learned.policy))

    @property
    def speed(self) -> float:
        """Episodes per second."""
        return self.episodes / max(self.seconds, 1e-9)

    @cached_property
    def disagreements(self) -> tuple[Disagreement, ...]:
        """The reachable states whose learned action is worse than the best one, the most expensive first."""
        mdp, disagreements = self.mdp, []
        for state in np.flatnonzero(mdp.reachable() & ~mdp.terminal).tolist():
            taken, best = self.learned.policy[state], self.best.policy[state]
            cost = float(self.best.values[state] - self.best.q[taken])
            if cost > 10 * TOLERANCE:
                disagreements.append(Disagreement(mdp.states[state], mdp.actions[taken], mdp.actions[best], cost))
        return tuple(sorted(disagreements, key=lambda each: -each.cost))

    def to_json(self) -> dict[str, object]:
        """The study as `bjsim learn --json` writes it.

        Returns:
            JSON values, in units of reward.
        """
        return {
            "states": len(self.mdp.states),
            "episodes": self.episodes,
            "gamma": self.mdp.gamma,
            "regret": self.regret,
            "value_exact": self.value_exact,
            "value_learned": self.learned.value,
            "value_learned_ci95": list(self.learned.value_ci95),
            "disagreements": [each._asdict() for each in self.disagreements],
            "curve": [point._asdict() for point in self.curve],
            "seconds": self.seconds,
            "algorithm": self.schedule.algorithm,
            "draws": self.schedule.draws,
            "seed": self.seed,
            "workers": self.workers,
            "episodes_valued": self.learned.value_episodes,
            "cut_short": self.learned.cut_short,
        }


def study(
    mdp: FiniteMDP,
    episodes: int,
    schedule: Schedule | None = None,
    seed: int = 1,
    workers: int = 1,
    on_point: Callable[[LearningPoint], object] = lambda point: None,
) -> Study:
    """Solve a process, learn it, and compute the exact regret as learning proceeds."""
    schedule = schedule or Schedule()
    began = time.perf_counter()
    best = value_iteration(mdp, TOLERANCE)
    curve: list[LearningPoint] = []

    def on_round(progress: LearningProgress) -> None:
        curve.append(LearningPoint(progress.episodes, max(0.0, regret(mdp, best, progress.policy))))
        on_point(curve[-1])

    learned = learn(mdp, episodes, schedule, seed, workers, on_round)
    seconds = time.perf_counter() - began
    return Study(mdp, episodes, schedule, seed, workers, best, learned, tuple(curve), seconds)
