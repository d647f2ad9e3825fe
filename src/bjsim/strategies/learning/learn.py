"""Learning a `FiniteMDP` from samples: tabular Q-learning, or every-visit Monte Carlo, compiled.

The learner knows which actions each state has and nothing else; it plays episodes and moves Q(s, a) of every visited
row towards a target, with step size (k+1) / (n+k) at the n-th visit:

    q    Q-learning (Watkins 1989): the reward + gamma * weight * max Q(next state, .)
    mc   every-visit Monte Carlo (Sutton and Barto 2018, section 5.3): the return that followed, back to the last action
         that was not greedy, so that returns of exploring play do not count for the greedy policy

k = 0 is the plain average of all targets. A larger k averages with weights that grow as n^k, and so forgets the targets
from when the next state's value was poorly known (Shamir and Zhang 2013, "polynomial-decay averaging"). Unless declared
it is 1 for undiscounted play, and gamma / (1 - gamma) rounded up for discounted play, which makes it the rescaled
linear step size 1 / (1 + (1 - gamma) (n - 1)): with k = 0 the early targets would fade as slowly as n^(gamma - 1)
(Even-Dar and Mansour 2003; Wainwright 2019, "Stochastic approximation with cone-contractive operators").

Exploration is by exploring starts (Sutton and Barto, section 5.3): an episode begins with any action in any state, all
with equal chances, and goes on greedily. So the rarest hand is as well known as the commonest.

Draws. "independent" is what a player at a table would see; means of n draws are off by about 1 / sqrt(n). "even" lets
every row take its outcomes in turn from an even sequence of its own, turned by a random angle (the Kronecker sequence
of the golden ratio; Niederreiter 1992, chapter 3): still samples with the row's law, but means of n of them are off by
about 1 / n. Q-learning asks for no more than that, since a target involves one draw. A return involves several, whose
joint law would be wrong, so Monte Carlo takes independent draws only.

The last share of the episodes is played greedily, with independent draws and without learning: their mean return is the
learned value, unbiased for the learned policy, with an interval that can be trusted; no table of maxima gives that.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, log, nan, sqrt
from typing import NamedTuple, TypeVar

import numpy as np

from bjsim.strategies.learning import kernel
from bjsim.strategies.learning.kernel import MONTE_CARLO, Q_LEARNING, Sampler, alias_tables
from bjsim.strategies.mdp.model import FiniteMDP, Floats, Ints, MDPError
from bjsim.strategies.mdp.termination import check_ends

ALGORITHMS = {"q": Q_LEARNING, "mc": MONTE_CARLO}
DRAWS = ("even", "independent")
NEGLIGIBLE = 1e-6  # a discounted episode is cut where a reward counts for less than this
NORMAL_95 = 1.959963984540054

T = TypeVar("T")


@dataclass(frozen=True)
class Schedule:
    """Everything that is declared before learning starts.

    algorithm: q or mc. draws: even or independent; if left out, even where the algorithm allows it. power: k of the
    step size; if left out, as said above. explore_start: share of the learning episodes that begin with an exploring
    start; the others begin from the process's own start law. explore_action: probability of a uniform action at any
    other step. rounds: how often progress is told and workers' tables are pooled. value_share: share of the episodes
    played greedily at the end. longest: steps after which an episode is cut.

    Raises: MDPError naming the field and what it accepts.
    """

    algorithm: str = "q"
    draws: str = ""
    power: int | None = None
    explore_start: float = 1.0
    explore_action: float = 0.0
    rounds: int = 40
    value_share: float = 0.1
    longest: int = 1000

    def power_for(self, gamma: float) -> int:
        """k of the step size for a process with this discount."""
        if self.power is not None:
            return self.power
        return 1 if gamma == 1 else ceil(gamma / (1 - gamma))

    def __post_init__(self) -> None:
        if not self.draws:
            object.__setattr__(self, "draws", "even" if self.algorithm == "q" else "independent")
        for name, accepted in (("algorithm", ALGORITHMS), ("draws", DRAWS)):
            if getattr(self, name) not in accepted:
                raise MDPError(f"{name} = {getattr(self, name)} is not accepted; it takes {' or '.join(accepted)}")
        if (self.algorithm, self.draws) == ("mc", "even"):
            raise MDPError("draws = even needs algorithm = q: a return depends on several draws at once")
        for name in ("explore_start", "explore_action", "value_share"):
            if not 0 <= getattr(self, name) <= 1:
                raise MDPError(f"{name} = {getattr(self, name)} is not accepted; it takes a number from 0 to 1")
        for name, least in (("power", 0), ("rounds", 1), ("longest", 1)):
            if getattr(self, name) is not None and getattr(self, name) < least:
                raise MDPError(f"{name} = {getattr(self, name)} is not accepted; it takes a whole number from {least}")


class Learned(NamedTuple):
    """What was learned.

    q: float64 (A,), in units of reward. visits: int64 (A,). policy: row of each state, int64 (S,), -1 where terminal.
    value: mean return of the policy over `value_episodes` episodes from the start law, and value_se its standard error;
    NaN where there were fewer than two. cut_short: episodes that were cut before they ended; with gamma below 1 that is
    the rule, where what would have followed is negligible.
    """

    q: Floats
    visits: Ints
    policy: Ints
    value: float
    value_se: float
    value_episodes: int
    cut_short: int

    @property
    def value_ci95(self) -> tuple[float, float]:
        """The usual 95% interval of the value."""
        return self.value - NORMAL_95 * self.value_se, self.value + NORMAL_95 * self.value_se


class LearningProgress(NamedTuple):
    """Where learning stands after a round: learning episodes played, and the greedy policy so far, int64 (S,)."""

    episodes: int
    policy: Ints


def learn(
    mdp: FiniteMDP,
    episodes: int,
    schedule: Schedule | None = None,
    seed: int = 1,
    workers: int = 1,
    on_round: Callable[[LearningProgress], object] = lambda progress: None,
) -> Learned:
    """Learns from `episodes` episodes; the same seed and number of workers give the same table to the bit.

    Workers are threads: each goes on from the common table in every round, and their tables are pooled after it.
    Rounds grow as i^2, so that the early ones show how fast learning starts.
    Raises: MDPError if play may go on for ever without paying for it, or if there are too few episodes.
    """
    plan = schedule or Schedule()
    check_ends(mdp)
    valued = round(plan.value_share * episodes)
    if workers < 1 or episodes - valued < workers:
        raise MDPError(f"{episodes:,} episodes are too few to learn from with {workers} workers")
    team = _Team(mdp, plan, seed, workers)
    done = 0
    for i in range(1, plan.rounds + 1):
        end = round((episodes - valued) * (i / plan.rounds) ** 3)
        if end > done:
            team.learn(end - done)
            done = end
            on_round(LearningProgress(done, mdp.greedy(team.q)))
    policy = mdp.greedy(team.q)
    value, error = team.play(policy, valued)
    return Learned(team.q, team.visits, policy, value, error, valued, team.cut_short)


class _Team:
    """The workers' common table, and what each worker needs to go on."""

    def __init__(self, mdp: FiniteMDP, plan: Schedule, seed: int, workers: int) -> None:
        self.plan = plan
        self.workers = workers
        self.sampler = sampler(mdp)
        self.power = plan.power_for(mdp.gamma)
        self.longest = plan.longest
        if mdp.gamma < 1:
            self.longest = min(self.longest, ceil(log(NEGLIGIBLE) / log(mdp.gamma)))
        rows = len(mdp.actions)
        self.q, self.visits, self.cut_short = np.zeros(rows), np.zeros(rows, dtype=np.int64), 0
        seeds = [np.random.SeedSequence((seed, worker)) for worker in range(workers)]
        self.streams = [each.generate_state(1, np.uint64) for each in seeds]
        self.turns = [np.random.default_rng(each).random(rows if plan.draws == "even" else 0) for each in seeds]

    def learn(self, episodes: int) -> None:
        """One round: every worker learns from its share, then the tables are pooled."""
        plan, tables = self.plan, [(self.q.copy(), self.visits.copy()) for _ in range(self.workers)]

        def one(worker: int, share: int) -> int:
            return kernel.learn_episodes(
                self.sampler, ALGORITHMS[plan.algorithm], self.power, plan.explore_start, plan.explore_action,
                self.longest, share, self.streams[worker], self.turns[worker], *tables[worker],
            )  # fmt: skip

        self.cut_short += sum(self._each(one, episodes))
        self.q, self.visits = pooled(self.q, self.visits, tables, self.power)

    def play(self, policy: Ints, episodes: int) -> tuple[float, float]:
        """Mean return of a policy and its standard error."""

        def one(worker: int, share: int) -> tuple[float, float, int]:
            return kernel.play_episodes(self.sampler, policy, self.longest, share, self.streams[worker])

        results = self._each(one, episodes)
        total, squares = sum(r[0] for r in results), sum(r[1] for r in results)
        self.cut_short += sum(r[2] for r in results)
        if episodes < 2:
            return nan, nan
        mean = total / episodes
        return mean, sqrt(max(0.0, squares / episodes - mean * mean) / (episodes - 1))

    def _each(self, work: Callable[[int, int], T], episodes: int) -> list[T]:
        """`work(worker, its share of the episodes)` of every worker, in order."""
        ends = [episodes * i // self.workers for i in range(self.workers + 1)]
        shares = [end - start for start, end in pairwise(ends)]
        with ThreadPoolExecutor(self.workers) as pool:
            return list(pool.map(work, range(self.workers), shares))


def sampler(mdp: FiniteMDP) -> Sampler:
    """A decision process as the kernel draws from it."""
    probabilities = _alias(mdp.outcome_start, mdp.probability)
    start = _alias(np.array([0, len(mdp.states)]), mdp.start)
    return Sampler(
        mdp.action_start, mdp.outcome_start, mdp.row_state, *probabilities,
        mdp.next_state, mdp.reward, mdp.weight, *start, mdp.gamma,
    )  # fmt: skip


def pooled(q: Floats, visits: Ints, tables: list[tuple[Floats, Ints]], power: int) -> tuple[Floats, Ints]:
    """The table of several workers who all went on from `q` and `visits`: the weighted mean of all their targets.

    With step size (k+1) / (n+k), the total weight of n targets is n (n+1) ... (n+k).
    """
    if len(tables) == 1:
        return tables[0]

    most = np.maximum.reduce([count for _, count in tables])

    def weight(n: Ints) -> Floats:
        """The total weight of n targets, as a share of that of the busiest worker, lest it overflow."""
        return np.asarray(np.prod([(n + i) / np.maximum(most + i, 1) for i in range(power + 1)], axis=0))

    before = weight(visits)
    total, mass = before * q, before.copy()
    for table, count in tables:
        total += weight(count) * table - before * q
        mass += weight(count) - before
    seen = visits + sum(count - visits for _, count in tables)
    return np.where(seen > visits, total / np.where(seen > visits, mass, 1), q), seen


def _alias(starts: Ints, probabilities: Floats) -> tuple[Floats, Ints]:
    keep, other = np.empty(len(probabilities)), np.empty(len(probabilities), dtype=np.int64)
    alias_tables(starts, probabilities, keep, other)
    return keep, other
