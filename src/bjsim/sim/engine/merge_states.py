"""Merging the equivalent states of an automaton."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def merge_states(labels: Array, after: Array) -> tuple[Array, Array]:
    """Merge the states that no sequence of inputs distinguishes by their labels (Moore's algorithm).

    `labels` and `after`, the state after each input, are int64 (S, n) and (S, m). Return one state of each
    class, ascending, (C,), and the class of each state, (S,), -1 if state 0, which is in class 0, does not
    lead to it.
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
