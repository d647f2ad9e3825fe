"""Does play of a decision process end? With gamma = 1 a value exists only where it does, or where going on costs.

A policy is proper if play under it ends with probability 1. Undiscounted values are well defined if every state has
a proper policy and every improper one loses without bound (Bertsekas and Tsitsiklis 1991, "An Analysis of Stochastic
Shortest Path Problems"). Both halves are checked here, so that no solver runs for ever.

An outcome lets go of play if its state is terminal or if gamma * weight < 1. Play can be held for ever exactly in the
greatest set X of states in which some row has no outcome that lets go or leaves X; inside X the greatest mean reward
per step must be negative. Any function h bounds that mean from above by max over X of (T h - h), where T is the
Bellman backup within X (Puterman 1994, section 8.5), so one h with a negative bound proves it.
"""

from __future__ import annotations

import numpy as np

from bjsim.strategies.mdp.model import Bools, FiniteMDP, Ints, MDPError

SWEEPS = 5000  # steps taken to push the bound on the mean reward below 0


def check_ends(mdp: FiniteMDP) -> None:
    """Refuses a process that may go on for ever without paying for it. Raises: MDPError naming a state."""
    if mdp.gamma < 1 and (mdp.gamma * mdp.weight < 1).all():
        return
    stuck = np.flatnonzero((steps_to_end(mdp) < 0) & ~mdp.terminal)
    if stuck.size:
        raise MDPError(f"state {mdp.states[stuck[0]]}: play never ends from here; it needs gamma below 1")
    rows = endless_rows(mdp)
    if rows.any():
        _check_costs(mdp, rows)


def steps_to_end(mdp: FiniteMDP) -> Ints:
    """The least number of steps in which play may end, int64 (S,); -1 where it never does."""
    steps = np.where(mdp.terminal, 0, -1)
    lets_go = (mdp.probability > 0) & (mdp.gamma * mdp.weight < 1)
    found = True
    while found:
        ends = (mdp.probability > 0) & (steps[mdp.next_state] >= 0) | lets_go
        states = mdp.row_state[mdp.outcome_row[ends]]
        fresh = states[steps[states] < 0]
        steps[fresh] = steps.max() + 1
        found = bool(fresh.size)
    return steps


def proper_policy(mdp: FiniteMDP) -> Ints:
    """A policy, row of each state, int64 (S,), that draws nearer to the end with every step; -1 in terminal states."""
    steps = steps_to_end(mdp)
    nearer = (mdp.probability > 0) & (steps[mdp.next_state] < steps[mdp.row_state[mdp.outcome_row]])
    nearer |= (mdp.probability > 0) & (mdp.gamma * mdp.weight < 1)
    rows = mdp.outcome_row[nearer]
    policy = np.full(len(mdp.states), -1, dtype=np.int64)
    policy[mdp.row_state[rows][::-1]] = rows[::-1]
    return policy


def endless_rows(mdp: FiniteMDP, among: Bools | None = None) -> Bools:
    """Rows, of those in `among` (A,), by which play can be held for ever with certainty, bool (A,).

    There are none if every policy that keeps to these rows is proper.
    """
    held = ~mdp.terminal
    possible = mdp.probability > 0
    lets_go = possible & (mdp.gamma * mdp.weight < 1)
    while True:
        leaves = lets_go | (possible & ~held[mdp.next_state])
        rows = held[mdp.row_state] & (True if among is None else among)
        rows[mdp.outcome_row[leaves]] = False
        still = np.zeros_like(held)
        still[mdp.row_state[rows]] = True
        if (still == held).all():
            return rows
        held = still


def _check_costs(mdp: FiniteMDP, rows: Bools) -> None:
    """Raises: MDPError unless every policy that keeps to `rows` pays for each step in the long run."""
    chosen = np.flatnonzero(rows)
    example = mdp.states[mdp.row_state[chosen[0]]]
    if (mdp.weight[rows[mdp.outcome_row] & (mdp.probability > 0)] > 1).any():
        raise MDPError(f"state {example}: play can multiply for ever; it needs gamma times weight below 1")
    states, first = np.unique(mdp.row_state[chosen], return_index=True)
    h = np.zeros(len(mdp.states))
    for _ in range(SWEEPS):
        variance_reduction = np.maximum.reduceat(mdp.backup(h)[chosen], first) - h[states]
        if variance_reduction.max() < 0:
            return
        h[states] += variance_reduction / 2  # half a step: a whole one may swing for ever between two states
    worst = mdp.states[states[variance_reduction.argmax()]]
    raise MDPError(f"state {worst}: play can go on for ever without paying for it; it needs gamma below 1")
