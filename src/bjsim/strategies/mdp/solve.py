"""Solving a `FiniteMDP`: value iteration with a proven bound, and policy evaluation.

Notation as in `mdp`; T is the Bellman backup, (T V)(s) = max over a of Q(s, a), and T_pi the same for a policy pi.

* Value iteration: V <- T V (Puterman 1994, section 6.3; undiscounted: Bertsekas and Tsitsiklis 1991).
* Policy evaluation: V = T_pi V, a linear system (Puterman 6.1.3).

The bound. Let u(s) > 0 and kappa >= 0. If T(V + kappa u) <= V + kappa u then no policy that ends has a value above
V + kappa u; if T_g(V - kappa u) >= V - kappa u for the greedy policy g, then the value of g is at least V - kappa u,
and so is the optimum. Both conditions are checked row by row, which proves |V - V*| <= kappa u. The function u is the
greatest expected number of steps, u = 1 + max over a of sum p w gamma u, found by iteration: over all rows if every
policy ends, else over those that are nearly greedy. With gamma < 1, u is at most 1 / (1 - gamma) and the bound
is the standard |T V - V| / (1 - gamma), Puterman theorem 6.3.1 and its remark.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from bjsim.arrays import Bools, Floats, Ints
from bjsim.strategies.mdp.model import FiniteMDP, MDPError, starts

# --- Checks that play of a decision process ends, without which an undiscounted value (gamma = 1) may not exist.
#
# A policy is proper if play under it ends with probability 1. Undiscounted values are well defined if every state has
# a proper policy and every improper one loses without bound (Bertsekas and Tsitsiklis 1991, "An Analysis of Stochastic
# Shortest Path Problems"). Both conditions are checked here, so that every solver terminates.
#
# An outcome releases play if its state is terminal or if gamma * weight < 1. Play can be kept from ending exactly in
# the greatest set X of states in which some row has no outcome that releases play or leaves X; within X the greatest
# mean reward per step must be negative. Any function h bounds that mean from above by max over X of (T h - h), where T
# is the Bellman backup within X (Puterman 1994, section 8.5), so an h with a negative bound is a proof.


BOUND_SWEEPS = 5000  # limit of the iterations that push the bound on the mean reward below 0


def check_ends(mdp: FiniteMDP) -> None:
    """Check that play ends, or loses without bound if it does not; an MDPError names a state."""
    if mdp.gamma < 1 and (mdp.gamma * mdp.weight < 1).all():
        return
    stuck = np.flatnonzero((steps_to_end(mdp) < 0) & ~mdp.terminal)
    if stuck.size:
        discount = "gamma times weight" if (mdp.weight > 1).any() else "gamma"
        raise MDPError(f"state {mdp.states[stuck[0]]}: play never ends from here; it needs {discount} below 1")
    rows = endless_rows(mdp)
    if rows.any():
        _check_costs(mdp, rows)


def steps_to_end(mdp: FiniteMDP) -> Ints:
    """The smallest number of steps to the end of play, int64 (S,); -1 where it cannot."""
    steps = np.where(mdp.terminal, 0, -1)
    releases = (mdp.probability > 0) & (mdp.gamma * mdp.weight < 1)
    changed = True
    while changed:
        ends = (mdp.probability > 0) & (steps[mdp.next_state] >= 0) | releases
        states = mdp.row_state[mdp.outcome_row[ends]]
        fresh = states[steps[states] < 0]
        steps[fresh] = steps.max() + 1
        changed = bool(fresh.size)
    return steps


def endless_rows(mdp: FiniteMDP, among: Bools | None = None) -> Bools:
    """Return the rows, bool (A,), that let a policy keep play from ending with certainty.

    Only the rows `among`, bool (A,), may be taken; None for all. All are false if every policy is proper.
    """
    kept = ~mdp.terminal
    possible = mdp.probability > 0
    releases = possible & (mdp.gamma * mdp.weight < 1)
    while True:
        leaves = releases | (possible & ~kept[mdp.next_state])
        rows = kept[mdp.row_state] & (True if among is None else among)
        rows[mdp.outcome_row[leaves]] = False
        still = np.zeros_like(kept)
        still[mdp.row_state[rows]] = True
        if (still == kept).all():
            return rows
        kept = still


def _check_costs(mdp: FiniteMDP, rows: Bools) -> None:
    """Check that the mean reward per step is negative under every policy over `rows`."""
    chosen = np.flatnonzero(rows)
    example = mdp.states[mdp.row_state[chosen[0]]]
    if (mdp.weight[rows[mdp.outcome_row] & (mdp.probability > 0)] > 1).any():
        raise MDPError(f"state {example}: play can multiply forever; it needs gamma times weight below 1")
    states, first = np.unique(mdp.row_state[chosen], return_index=True)
    h = np.zeros(len(mdp.states))
    for _ in range(BOUND_SWEEPS):
        gain = np.maximum.reduceat(mdp.backup(h)[chosen], first) - h[states]
        if gain.max() < 0:
            return
        h[states] += gain / 2  # half steps, since full steps may oscillate between two states
    worst = mdp.states[states[gain.argmax()]]
    raise MDPError(f"state {worst}: play can continue forever without a cost; it needs gamma below 1")


DENSE = 200  # most states for evaluating a policy by a dense linear system
EVALUATED = 1e-12  # tolerance for more states; rounding may prevent it
SWEEPS = 200_000  # limit of value iteration; enough for a discount of 0.9999
HUGE = 1e12  # values and expected steps above this count as unbounded
NEARLY_GREEDY = (np.inf, 1e-3, 1e-6, 1e-9)  # rows that u covers, by their distance from the best


class SolvedMDP(NamedTuple):
    """The solution of a decision process.

    `values` are float64 (S,); `q`, float64 (A,), has the value of each row; `policy`, int64 (S,), the row of each
    state, -1 in terminal ones. `bound` is a proven bound on the error of `values`, over all states.
    """

    values: Floats
    q: Floats
    policy: Ints
    bound: float


def value_iteration(mdp: FiniteMDP, tolerance: float = 1e-9) -> SolvedMDP:
    """Solve a process by value iteration; errors are at most `tolerance`, in units of reward, or of a larger value.

    An MDPError says that play may continue forever without a cost, that the values do not converge, or that
    rounding errors prevent a bound as small as `tolerance`.
    """
    check_ends(mdp)
    solution = _iterate(mdp, tolerance)
    if solution.bound > tolerance * max(1.0, float(np.abs(solution.values).max())):
        raise MDPError(f"tolerance = {tolerance:.2g} is too small; 64-bit numbers give {solution.bound:.2g}")
    return solution


def evaluate(mdp: FiniteMDP, policy: Ints | Floats) -> Floats:
    """Return the values of a policy, float64 (S,).

    `policy` is int (S,), the row taken in each state, -1 where terminal; or float (A,), the probability of each
    row. Up to DENSE states the values solve a linear system, exact up to rounding; beyond that they are found by
    iteration, to within EVALUATED. Play that never ends or multiplies without bound is an MDPError.
    """
    share = as_shares(mdp, policy)
    chain = _restricted(mdp, share)
    if len(mdp.states) > DENSE:
        check_ends(chain)
        return _iterate(chain, EVALUATED).values
    return _solved(chain)


def _solved(chain: FiniteMDP) -> Floats:
    """The values of a process with one action in each state, by a dense linear system."""
    n = len(chain.states)
    matrix = np.eye(n)
    np.subtract.at(matrix, (chain.row_state[chain.outcome_row], chain.next_state), chain.factor)
    reward = np.zeros(n)
    reward[chain.row_state] = chain.expected_reward
    try:
        values, steps = np.linalg.solve(matrix, np.stack([reward, np.ones(n)], axis=1)).T
    except np.linalg.LinAlgError:
        values = steps = np.full(n, np.nan)
    # `steps`, the expected number of steps, is at least 1 wherever it exists.
    if not (np.isfinite(steps).all() and (steps > 1 - 1e-6).all() and steps.max() < HUGE):
        check_ends(chain)
        raise MDPError(f"state {chain.states[int(steps.argmin())]}: play under this policy multiplies without bound")
    return np.asarray(values)


def start_value(mdp: FiniteMDP, values: Floats) -> float:
    """The expected value of the first state, from the values of the states, float64 (S,)."""
    return float(mdp.start @ values)


def regret(mdp: FiniteMDP, best: SolvedMDP, policy: Ints | Floats) -> float:
    """The loss of a policy against `best`, from the distribution of the first state; `inf` if its play never ends."""
    try:
        return start_value(mdp, best.values) - start_value(mdp, evaluate(mdp, policy))
    except MDPError:
        return float("inf")


def as_shares(mdp: FiniteMDP, policy: Ints | Floats) -> Floats:
    """Return a policy, in either form that `evaluate` accepts, as each row's probability, float64 (A,)."""
    if policy.dtype.kind == "f":
        share = np.asarray(policy, dtype=np.float64)
    else:
        share = np.zeros(len(mdp.actions))
        share[policy[policy >= 0]] = 1
    total = np.bincount(mdp.row_state, weights=share, minlength=len(mdp.states))
    wrong = np.flatnonzero(~mdp.terminal & ~(np.abs(total - 1) < 1e-9))
    if wrong.size:
        raise MDPError(f"state {mdp.states[wrong[0]]}: the policy's probabilities sum to {total[wrong[0]]:.10g}")
    return share


def error_bound(mdp: FiniteMDP, values: Floats) -> float:
    """A proven bound on |values - optimal values| over all states; `inf` if none is found."""
    q = mdp.backup(values)
    best = mdp.best(q)
    slack = values[mdp.row_state] - q
    worse = best[mdp.row_state] - q
    for limit in NEARLY_GREEDY:
        steps = _expected_steps(mdp, worse <= limit)
        if steps is None:
            continue
        ahead = np.add.reduceat(mdp.factor * steps[mdp.next_state], mdp.outcome_start[:-1])
        down = steps[mdp.row_state] - ahead  # the coefficient of kappa in the condition of each row
        uses = down > 0
        kappa = max(0.0, float((-slack[uses] / down[uses]).max()))
        if not (kappa * -down <= slack)[~uses].all():
            continue
        greedy = worse <= 0
        below = float((slack[greedy] / down[greedy]).max())
        rounding = 4 * np.finfo(float).eps * (1 + float(np.abs(values).max()))
        return float((max(kappa, below) + rounding) * steps.max())
    return float("inf")


def _expected_steps(mdp: FiniteMDP, rows: Bools) -> Floats | None:
    """Some u, float64 (S,), with u >= 1/2 + sum p w gamma u in all `rows`, bool (A,); None if none is found."""
    if endless_rows(mdp, rows).any():
        return None
    steps = np.ones(len(mdp.states))
    for _ in range(SWEEPS):
        ahead = np.add.reduceat(mdp.factor * steps[mdp.next_state], mdp.outcome_start[:-1])
        update = 1 + mdp.best(np.where(rows, ahead, -np.inf))
        if (update - steps).max() <= 0.5:
            return steps
        steps = update
        if steps.max() > HUGE:
            break
    return None


def _iterate(mdp: FiniteMDP, tolerance: float) -> SolvedMDP:
    """Value iteration until the proven bound is within `tolerance`, or as small as rounding allows."""
    values = np.zeros(len(mdp.states))
    check_at = tolerance
    for sweep in range(1, SWEEPS + 1):  # noqa: B007 (an error has the last)
        q = mdp.backup(values)
        update = mdp.best(q)
        change = float(np.abs(update - values).max())
        values = update
        if change <= check_at:
            bound = error_bound(mdp, values)
            least = 8 * np.finfo(float).eps * (1 + float(np.abs(values).max()))
            if bound <= tolerance or change <= least:
                q = mdp.backup(values)
                return SolvedMDP(values, q, mdp.greedy(q), bound)
            check_at = max(change / 10, least)
        if not change < HUGE:
            break
    worst = mdp.states[int(np.abs(values).argmax())]
    reason = "it grows without bound, or play ends too slowly"
    raise MDPError(f"state {worst}: its value did not converge in {sweep:,} sweeps; {reason}")


def _restricted(mdp: FiniteMDP, share: Floats) -> FiniteMDP:
    keep = share[mdp.outcome_row] > 0
    outcomes = np.bincount(mdp.row_state[mdp.outcome_row[keep]], minlength=len(mdp.states))
    live = ~mdp.terminal
    return replace(
        mdp,
        actions=("policy",) * int(live.sum()),
        action_start=starts(live),
        outcome_start=starts(outcomes[live]),
        probability=(mdp.probability * share[mdp.outcome_row])[keep],
        next_state=mdp.next_state[keep],
        reward=mdp.reward[keep],
        weight=mdp.weight[keep],
    )
