"""Checks that play of a decision process ends, without which an undiscounted value (gamma = 1) may not exist.

A policy is proper if play under it ends with probability 1. Undiscounted values are well defined if every state has
a proper policy and every improper one loses without bound (Bertsekas and Tsitsiklis 1991, "An Analysis of Stochastic
Shortest Path Problems"). Both conditions are checked here, so that every solver terminates.

An outcome releases play if its state is terminal or if gamma * weight < 1. Play can be kept from ending exactly in the
greatest set X of states in which some row has no outcome that releases play or leaves X; within X the greatest mean
reward per step must be negative. Any function h bounds that mean from above by max over X of (T h - h), where T is the
Bellman backup within X (Puterman 1994, section 8.5), so an h with a negative bound is a proof.
"""

from __future__ import annotations

import numpy as np

from bjsim.arrays import Bools, Ints
from bjsim.strategies.mdp.model import FiniteMDP, MDPError

SWEEPS = 5000  # limit of the iterations that push the bound on the mean reward below 0


def check_ends(mdp: FiniteMDP) -> None:
    """Check that play ends, or loses without bound if it does not; an MDPError names a state."""
    if mdp.gamma < 1 and (mdp.gamma * mdp.weight < 1).all():
        return
    stuck = np.flatnonzero((steps_to_end(mdp) < 0) & ~mdp.terminal)
    if stuck.size:
        raise MDPError(f"state {mdp.states[stuck[0]]}: play never ends from here; it needs gamma below 1")
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
    for _ in range(SWEEPS):
        gain = np.maximum.reduceat(mdp.backup(h)[chosen], first) - h[states]
        if gain.max() < 0:
            return
        h[states] += gain / 2  # half steps, since full steps may oscillate between two states
    worst = mdp.states[states[gain.argmax()]]
    raise MDPError(f"state {worst}: play can continue forever without a cost; it needs gamma below 1")
