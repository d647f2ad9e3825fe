"""Learning a `FiniteMDP` from samples: tabular Q-learning, or every-visit Monte Carlo, compiled.

The learner knows only which actions each state has. It plays episodes and moves Q(s, a) of every visited row towards a
target, with step size (k+1) / (n+k) at the n-th visit:

    q    Q-learning (Watkins 1989): the reward + gamma * weight * max Q(next state, .)
    mc   every-visit Monte Carlo (Sutton and Barto 2018, section 5.3): the return that followed, back to the last action
         that was not greedy, so that returns of exploring play do not count for the greedy policy

With k = 0 Q is the plain average of all targets. A larger k averages with weights that grow as n^k, which discounts
early targets, computed when the value of the next state was poorly known (Shamir and Zhang 2013, "polynomial-decay
averaging"). The default is 1 for undiscounted play, and gamma / (1 - gamma) rounded up for discounted play, which gives
the rescaled linear step size 1 / (1 + (1 - gamma) (n - 1)); with k = 0 the early targets would fade only as
n^(gamma - 1) (Even-Dar and Mansour 2003; Wainwright 2019, "Stochastic approximation with cone-contractive operators").

Exploration uses exploring starts (Sutton and Barto, section 5.3): an episode begins with a random action in a random
state, all equally likely, and continues greedily. Rare hands are therefore learned as well as common ones.

Draws. With "independent" draws, as at a card table, the error of a mean of n draws is about 1 / sqrt(n). With "even"
draws, every row takes its outcomes from its own low-discrepancy sequence with a random offset (the Kronecker sequence
of the golden ratio; Niederreiter 1992, chapter 3): each draw still has the row's distribution, but the error of a mean
of n draws is about 1 / n. That suffices for Q-learning, since a target involves a single draw. A return involves
several draws, whose joint distribution would be wrong, so Monte Carlo takes independent draws only.

The last share of the episodes is played greedily, with independent draws and without learning. Their mean return is the
learned value: an unbiased estimate for the learned policy with a valid interval, unlike the maximum of a Q table.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from math import ceil, isfinite, lgamma, log, nan, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from bjsim.arguments import argument
from bjsim.arrays import Floats, Ints
from bjsim.report.data import Described
from bjsim.report.parts import (
    Axis,
    Curves,
    DataColumn,
    DataTable,
    Figures,
    Line,
    Notes,
    Only,
    Panel,
    Report,
    Value,
    short_count,
)
from bjsim.sim.engine.compile_notice import ONE_THREAD
from bjsim.sim.stats.estimate import Z95
from bjsim.strategies.mdp.model import FiniteMDP, MDPError
from bjsim.strategies.mdp.solve import SolvedMDP, check_ends, regret, start_value, value_iteration
from bjsim.sums import add_up

if TYPE_CHECKING:
    from bjsim.strategies.learning.kernel import Sampler


# --- Learning a decision process, and comparing the result with the exact solution.
#
# Unlike the learner, the comparison uses the probabilities: the regret of the learned policy is computed, not sampled,
# and so is the cost of every state in which it takes a worse action.


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


LISTED = 20  # states printed; the JSON has all of them
FLOOR = 1e-7  # smaller regrets are drawn here
SUBOPTIMAL = (
    DataColumn("state", "state", lambda one: one.state, is_text=True),
    DataColumn("learned", "learned", lambda one: one.learned, is_text=True),
    DataColumn("best", "best", lambda one: one.best, is_text=True),
    DataColumn("cost", "cost in it", lambda one: one.cost, "{:.6f}".format),
)


@dataclass(frozen=True)
class Study(Described):
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
            if cost > 10 * max(TOLERANCE, self.best.bound):
                disagreements.append(Disagreement(mdp.states[state], mdp.actions[taken], mdp.actions[best], cost))
        return tuple(sorted(disagreements, key=lambda each: -each.cost))

    def describe(self) -> Report:
        """The learned policy, its suboptimal states, its regret and its values."""
        parts = [
            *self._policy_parts(),
            DataTable("disagreements", SUBOPTIMAL, self.disagreements, "suboptimal states", LISTED),
            Notes([] if self.disagreements else ["every state has an optimal action"]),
            Figures(self._figures()),
            Only("page", lambda: convergence([self])),
            Only("terminal", lambda: [Notes(self._remarks())]),
        ]
        lines = [f"{self.episodes:,} episodes, seed {self.seed}"]
        return Report(f"Learned with {self.schedule.text}", lines, parts, data=self._data)

    def _policy_parts(self) -> list[Any]:
        mdp, learned = self.mdp, self.learned
        columns = [
            DataColumn("", "state", lambda one: mdp.states[one[0]], is_text=True),
            DataColumn("", "action", lambda one: mdp.actions[one[1]], is_text=True),
            DataColumn("", "learned value", lambda one: learned.q[one[1]], "{:+.4f}".format),
            DataColumn("", "exact value", lambda one: self.best.values[one[0]], "{:+.4f}".format),
        ]
        rows = [(state, row) for state, row in enumerate(learned.policy) if row >= 0]
        more = [f"the first {LISTED} of {len(mdp.states):,} states"] if len(rows) > LISTED else []
        return [DataTable("", columns, rows[:LISTED]), Notes(more, "dim")]

    def _figures(self) -> list[Value]:
        low, high = self.learned.value_ci95
        ends = f"; 95% interval {low:+.6f} … {high:+.6f}, {self.learned.value_episodes:,} greedy episodes"
        return [
            Value("regret", "regret, exact", self.regret, "{:.6f}".format),
            Value("value_learned", "value, learned", self.learned.value, lambda value: f"{value:+.6f}{ends}"),
            Value("value_exact", "value of the best policy", self.value_exact, "{:+.6f}".format),
        ]

    def _remarks(self) -> list[str]:
        lines = [f"{self.episodes:,} episodes in {self.seconds:.1f} s, {self.speed / 1e6:.2f} million episodes/s"]
        if self.learned.cut_short and self.mdp.gamma**self.schedule.longest > NEGLIGIBLE:
            lines.append(f"{self.learned.cut_short:,} episodes were truncated after {self.schedule.longest:,} steps")
        return lines

    def _data(self) -> dict[str, Any]:
        return {
            "states": len(self.mdp.states),
            "episodes": self.episodes,
            "gamma": self.mdp.gamma,
            "value_learned_ci95": list(self.learned.value_ci95),
            "curve": [point._asdict() for point in self.curve],
            "seconds": self.seconds,
            "algorithm": self.schedule.algorithm,
            "draws": self.schedule.draws,
            "seed": self.seed,
            "workers": self.workers,
            "episodes_valued": self.learned.value_episodes,
            "cut_short": self.learned.cut_short,
        }


@dataclass(frozen=True)
class Studies(Described):
    """Studies of one process, which is called `title`, by one or several algorithms."""

    title: str
    studies: Sequence[Study]

    def describe(self) -> Report:
        """The study, or a line for each of several, with their convergence."""
        first, *others = self.studies
        if not others:
            report = first.describe()
            return replace(report, lines=[self.title, *report.lines])
        columns = [
            DataColumn("", "algorithm", lambda one: one.schedule.text, is_text=True),
            DataColumn("", "regret", lambda one: one.regret, "{:.6f}".format),
            DataColumn("", "suboptimal states", lambda one: len(one.disagreements), "{:,}".format),
            DataColumn("", "value, learned", lambda one: one.learned.value, "{:+.6f}".format),
            DataColumn("", "seconds", lambda one: one.seconds, "{:.1f}".format),
        ]
        note = f"value, exact {first.value_exact:+.6f}, of the best policy; regrets are exact"
        parts = [
            DataTable("", columns, self.studies),
            Notes([note], "dim"),
            Only("page", lambda: convergence(self.studies)),
        ]
        lines = [self.title, f"{first.episodes:,} episodes, seed {first.seed}"]
        return Report(f"{len(self.studies)} algorithms compared", lines, parts)

    def to_json(self) -> dict[str, Any]:
        """The study, or all of several, as `bjsim learn --json` writes them."""
        found = [each.to_json() for each in self.studies]
        return {"algorithms": found} if len(found) > 1 else found[0]


def convergence(studies: Sequence[Study]) -> list[Curves]:
    """The greedy policy's exact value, and its regret on a logarithmic axis, for each algorithm; none if infinite."""
    values, regrets = [], []
    for each, colour in zip(studies, ("raw", "adjusted"), strict=False):
        points = [point for point in each.curve if isfinite(point.regret)]
        episodes, lost = [point.episodes for point in points], [point.regret for point in points]
        values.append(Line(each.schedule.text, episodes, [each.value_exact - one for one in lost], colour=colour))
        regrets.append(Line(each.schedule.text, episodes, [max(one, FLOOR) for one in lost], colour=colour))
    if not any(line.x for line in values):
        return []
    exact = studies[0].value_exact
    axis = Axis("exact regret per episode", "{:g}".format, is_log=True)
    below = Panel("exact regret per episode", regrets, {f"regret {FLOOR:g} or less": FLOOR}, y=axis)
    panel = Panel("value of the policy", values, {f"exact optimum, {exact:+.4f}": exact}, below=below)
    return [Curves([panel], Axis("episodes", short_count, is_log=True), Axis("value of the policy"))]


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

    def on_round(played: int, policy: Ints) -> None:
        curve.append(LearningPoint(played, max(0.0, regret(mdp, best, policy))))
        on_point(curve[-1])

    learned = learn(mdp, episodes, schedule, seed, workers, on_round)
    seconds = time.perf_counter() - began
    return Study(mdp, episodes, schedule, seed, workers, best, learned, tuple(curve), seconds)


ALGORITHMS = ("q", "mc")  # in the order of Q_LEARNING and MONTE_CARLO
DRAWS = ("even", "independent")
NEGLIGIBLE = 1e-6  # a discounted episode is cut when the discount of a reward is below this

MANY_FACTORS = 1000  # of a weight; more are not multiplied one by one
T = TypeVar("T")


@dataclass(frozen=True)
class Schedule:
    """The settings of the learner; a value that is not accepted raises an MDPError that names the field."""

    algorithm: str = "q"  # "q" or "mc"
    draws: str = ""  # "even" or "independent"; by default even if the algorithm allows it
    power: int | None = None  # k of the step size; None for the default described above
    # share of the learning episodes that begin with an exploring start; the others begin with the process's
    # distribution of the first state
    explore_start: float = 1.0
    explore_action: float = 0.0  # probability of a random action at any other step
    rounds: int = 40  # the number of times that the workers' tables are pooled and progress is reported
    value_share: float = 0.1  # share of the episodes that are played greedily at the end
    longest: int = 1000  # the most steps of an episode, which is cut there

    @property
    def text(self) -> str:
        """The algorithm and its draws, in words."""
        return f"{self.algorithm}, {self.draws} draws"

    def power_for(self, gamma: float) -> int:
        """The k of the step size for a process with the discount factor `gamma`."""
        if self.power is not None:
            return self.power
        return 1 if gamma == 1 else ceil(gamma / (1 - gamma))

    def __post_init__(self) -> None:
        if not self.draws:
            object.__setattr__(self, "draws", "even" if self.algorithm == "q" else "independent")
        for name, accepted in (("algorithm", ALGORITHMS), ("draws", DRAWS)):
            if getattr(self, name) not in accepted:
                raise MDPError(f"{argument(name, getattr(self, name))} is not accepted; use {' or '.join(accepted)}")
        if (self.algorithm, self.draws) == ("mc", "even"):
            needed = f"{argument('draws', 'even')} needs {argument('algorithm', 'q')}"
            raise MDPError(f"{needed}: a return depends on several draws at once")
        for name in ("explore_start", "explore_action", "value_share"):
            if not 0 <= getattr(self, name) <= 1:
                raise MDPError(f"{argument(name, getattr(self, name))} is not accepted; use a number from 0 to 1")
        for name, least in (("power", 0), ("rounds", 1), ("longest", 1)):
            if getattr(self, name) is not None and getattr(self, name) < least:
                raise MDPError(
                    f"{argument(name, getattr(self, name))} is not accepted; use a whole number from {least}"
                )


class Learned(NamedTuple):
    """The result of learning.

    `q` is float64 (A,), in units of reward; `visits`, int64 (A,), the number of updates of each row; `policy`,
    int64 (S,), the row of each state, -1 where terminal. `value` is the mean return of the policy over
    `value_episodes` episodes, NaN if there are fewer than two, and `value_se` its standard error. `cut_short`
    counts the episodes that were cut before they ended; with gamma below 1 most are, when the rest of their return
    is negligible.
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
        """The fixed-sample 95% interval of the value."""
        return self.value - Z95 * self.value_se, self.value + Z95 * self.value_se


def learn(
    mdp: FiniteMDP,
    episodes: int,
    schedule: Schedule | None = None,
    seed: int = 1,
    workers: int = 1,
    on_round: Callable[[int, Ints], object] = lambda played, policy: None,
) -> Learned:
    """Learn a decision process from samples; `episodes` include those played greedily at the end.

    `on_round` gets the learning episodes played so far, and the greedy policy after them, int64 (S,).
    Workers are threads: in every round each continues from the common table, and their tables are pooled at its
    end. Round lengths grow as i^2, so that the early rounds show how fast learning starts. The same seed and
    number of workers give the same table, bit for bit. Endless play without a cost is an MDPError.
    """
    schedule = schedule or Schedule()
    check_ends(mdp)
    valued = round(schedule.value_share * episodes)
    if workers < 1 or episodes - valued < workers:
        raise MDPError(f"{episodes:,} episodes are too few to learn from with {workers} workers")
    team = _Team(mdp, schedule, seed, workers)
    done = 0
    for i in range(1, schedule.rounds + 1):
        end = round((episodes - valued) * (i / schedule.rounds) ** 3)
        if end > done:
            team.learn(end - done)
            done = end
            on_round(done, mdp.greedy(team.q))
    policy = mdp.greedy(team.q)
    value, error = team.play(policy, valued)
    return Learned(team.q, team.visits, policy, value, error, valued, team.cut_short)


class _Team:
    """The workers: their common table, and the random streams of each."""

    def __init__(self, mdp: FiniteMDP, schedule: Schedule, seed: int, workers: int) -> None:
        self.schedule = schedule
        self.workers = workers
        self.sampler = sampler(mdp)
        self.power = schedule.power_for(mdp.gamma)
        self.longest = schedule.longest
        if mdp.gamma < 1:
            self.longest = min(self.longest, ceil(log(NEGLIGIBLE) / log(mdp.gamma)))
        rows = len(mdp.actions)
        self.q, self.visits, self.cut_short = np.zeros(rows), np.zeros(rows, dtype=np.int64), 0
        seeds = [np.random.SeedSequence((seed, worker)) for worker in range(workers)]
        self.streams = [each.generate_state(1, np.uint64) for each in seeds]
        self.turns = [np.random.default_rng(each).random(rows if schedule.draws == "even" else 0) for each in seeds]

    def learn(self, episodes: int) -> None:
        """Play one round: every worker learns from its share, then the tables are pooled."""
        from bjsim.strategies.learning.kernel import learn_episodes  # imports numba

        schedule, tables = self.schedule, [(self.q.copy(), self.visits.copy()) for _ in range(self.workers)]

        def learn_share(worker: int, share: int) -> int:
            return learn_episodes(
                self.sampler, ALGORITHMS.index(schedule.algorithm), self.power,
                schedule.explore_start, schedule.explore_action,
                self.longest, share, self.streams[worker], self.turns[worker], *tables[worker],
            )  # fmt: skip

        self.cut_short += int(sum(self._each(learn_share, episodes)))
        self.q, self.visits = pooled(self.q, self.visits, tables, self.power)

    def play(self, policy: Ints, episodes: int) -> tuple[float, float]:
        """Mean return of a policy and its standard error."""
        from bjsim.strategies.learning.kernel import play_episodes  # imports numba

        def play_share(worker: int, share: int) -> tuple[float, float, int]:
            return play_episodes(self.sampler, policy, self.longest, share, self.streams[worker])

        results = self._each(play_share, episodes)
        total, squares = add_up(r[0] for r in results), add_up(r[1] for r in results)
        self.cut_short += int(sum(r[2] for r in results))
        if episodes < 2:
            return nan, nan
        mean = total / episodes
        return mean, sqrt(max(0.0, squares / episodes - mean * mean) / (episodes - 1))

    def _each(self, work: Callable[[int, int], T], episodes: int) -> list[T]:
        """The results of `work(worker, share of the episodes)` for every worker, in order."""
        ends = [episodes * i // self.workers for i in range(self.workers + 1)]
        shares = [end - start for start, end in pairwise(ends)]
        if ONE_THREAD:
            return list(map(work, range(self.workers), shares))
        with ThreadPoolExecutor(self.workers) as pool:
            return list(pool.map(work, range(self.workers), shares))


def sampler(mdp: FiniteMDP) -> Sampler:
    """Prepare a decision process for the kernel, with its probabilities as alias tables."""
    from bjsim.strategies.learning.kernel import Sampler  # imports numba

    probabilities = _alias(mdp.outcome_start, mdp.probability)
    start = _alias(np.array([0, len(mdp.states)]), mdp.start)
    return Sampler(
        mdp.action_start, mdp.outcome_start, mdp.row_state, *probabilities,
        mdp.next_state, mdp.reward, mdp.weight, *start, mdp.gamma,
    )  # fmt: skip


def pooled(q: Floats, visits: Ints, tables: list[tuple[Floats, Ints]], power: int) -> tuple[Floats, Ints]:
    """Pool the tables of workers that continued from a common table: the weighted mean of all their targets.

    With step size (k+1) / (n+k), where k is `power`, the total weight of n targets is n (n+1) ... (n+k). The
    common table is `q`, float64 (A,), with `visits` targets, int64 (A,), which `tables`, the workers' q and
    visits, include.
    """
    if len(tables) == 1:
        return tables[0]

    most = np.maximum.reduce([count for _, count in tables])

    def weight(n: Ints) -> Floats:
        """The total weight of n targets, as a share of the largest among the workers to avoid overflow."""
        if power > MANY_FACTORS:
            log_gamma = np.vectorize(lgamma, otypes=[np.float64])
            some, most_some = np.maximum(n, 1), np.maximum(most, 1)
            logs = log_gamma(some + power + 1) - log_gamma(some)
            shares = np.exp(logs - log_gamma(most_some + power + 1) + log_gamma(most_some))
            return np.where(n > 0, shares, 0.0)
        return np.asarray(np.prod([(n + i) / np.maximum(most + i, 1) for i in range(power + 1)], axis=0))

    before = weight(visits)
    total, mass = before * q, before.copy()
    for table, count in tables:
        total += weight(count) * table - before * q
        mass += weight(count) - before
    seen = visits + sum(count - visits for _, count in tables)
    return np.where(seen > visits, total / np.where(seen > visits, mass, 1), q), seen


def _alias(starts: Ints, probabilities: Floats) -> tuple[Floats, Ints]:
    from bjsim.strategies.learning.kernel import alias_tables  # imports numba

    keep, other = np.empty(len(probabilities)), np.empty(len(probabilities), dtype=np.int64)
    alias_tables(starts, probabilities, keep, other)
    return keep, other
