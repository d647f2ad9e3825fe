"""Merging the equivalent states of an automaton."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def merge_states(labels: Array, after: Array) -> tuple[Array, Array]:
    """Merge the states that no sequence of inputs distinguishes by their labels (Moore's algorithm).

    Only states that can be reached from state 0 are kept.

    Args:
        labels: The label of each state, int64 (S, n).
        after: The state after each input, int64 (S, m).

    Returns:
        One state of each class, in ascending order, (C,); and the class of each state, (S,), -1 if it cannot be
        reached. State 0 is in class 0.
    """
    reached = np.zeros(len(after), np.bool_)
    fresh = np.zeros(1, np.int64)
    while len(fresh):
        reached[fresh] = True
        fresh = np.setdiff1d(after[fresh], np.flatnonzero(reached))
    states = np.flatnonzero(reached)
    after = np.searchsorted(states, after[states])
    classes, count = _number(labels[states]), 0
    while classes.max() + 1 > count:
        count = classes.max() + 1
        classes = _number(np.concatenate([classes[:, None], classes[after]], axis=1))
    _, first = np.unique(classes, return_index=True)
    order = np.argsort(first)
    number = np.full(len(reached), -1)
    number[states] = np.argsort(order)[classes]
    return states[first[order]], number


def _number(rows: Array) -> Array:
    rows = np.ascontiguousarray(rows)
    joined = rows.view(np.dtype((np.void, rows.shape[1] * rows.itemsize))).ravel()
    return np.unique(joined, return_inverse=True)[1]
