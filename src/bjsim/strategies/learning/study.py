"""Learning a decision process and judging what was learned against the exact solution.

The judge knows the probabilities, the learner does not: the regret of the learned policy is computed, not sampled, and
every state in which it takes a worse action is named with what that costs there.
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
from bjsim.strategies.mdp.solve import Solution, regret, start_value, value_iteration

TOLERANCE = 1e-10  # of the exact values; actions closer to each other than ten times this are equally good


class LearningPoint(NamedTuple):
    """The regret of the greedy policy after so many learning episodes; `inf` where play under it never ends."""

    episodes: int
    regret: float


class Disagreement(NamedTuple):
    """A state in which the learned action is not the best one, and what taking it once costs there."""

    state: str
    learned: str
    best: str
    cost: float


@dataclass(frozen=True)
class Study:
    """What was learned from `episodes` episodes, beside the exact solution `best`. seconds: wall time of it all."""

    mdp: FiniteMDP
    episodes: int
    schedule: Schedule
    seed: int
    workers: int
    best: Solution
    learned: Learned
    curve: tuple[LearningPoint, ...]
    seconds: float

    @property
    def value_exact(self) -> float:
        """The value of the process: what the best policy earns from the start law."""
        return start_value(self.mdp, self.best.values)

    @cached_property
    def regret(self) -> float:
        """How much less than that the learned policy earns."""
        return max(0.0, regret(self.mdp, self.best, self.learned.policy))

    @property
    def speed(self) -> float:
        """Episodes a second."""
        return self.episodes / max(self.seconds, 1e-9)

    @cached_property
    def disagreements(self) -> tuple[Disagreement, ...]:
        """Where the learned policy is worse than the best one, the dearest first; states play cannot reach left out."""
        mdp, found = self.mdp, []
        for state in np.flatnonzero(mdp.reachable() & ~mdp.terminal).tolist():
            taken, best = self.learned.policy[state], self.best.policy[state]
            cost = float(self.best.values[state] - self.best.q[taken])
            if cost > 10 * TOLERANCE:
                found.append(Disagreement(mdp.states[state], mdp.actions[taken], mdp.actions[best], cost))
        return tuple(sorted(found, key=lambda each: -each.cost))

    def to_json(self) -> dict[str, object]:
        """What `bjsim learn --json` writes; values in units of reward."""
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
    """Solves the process, learns it, and follows the exact regret as learning goes on.

    Raises: MDPError if the process has no solution or there are too few episodes.
    """
    plan = schedule or Schedule()
    began = time.perf_counter()
    best = value_iteration(mdp, TOLERANCE)
    curve: list[LearningPoint] = []

    def follow(progress: LearningProgress) -> None:
        curve.append(LearningPoint(progress.episodes, max(0.0, regret(mdp, best, progress.policy))))
        on_point(curve[-1])

    learned = learn(mdp, episodes, plan, seed, workers, follow)
    seconds = time.perf_counter() - began
    return Study(mdp, episodes, plan, seed, workers, best, learned, tuple(curve), seconds)
