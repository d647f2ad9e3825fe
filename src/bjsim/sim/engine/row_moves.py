"""A backward pass over the rows of a round table: values of rows from those after each card, and their slopes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from bjsim.sim.engine.round_table import ASKS, LEFT, RoundTable
from bjsim.sim.game.cards import RANKS, TEN

Array = np.ndarray[Any, Any]

CONVERGED, SLOPES_CONVERGED = 1e-13, 1e-4  # initial bets; slopes are rounded to 1/1024, and any serve
MOST_SWEEPS = 1000
AT_ONCE = 2000  # rows
NEVER = 1 << 30


class RowMoves(NamedTuple):
    """What cards do, by row and rank, (rows, Q) but for `asks`; Q ranks are distinguished.

    `after` is the next row, the row itself if the card leaves the table; `end` the number of the end, 0 for
    none; `hand` 1 + the number of the split hand that the card ends, 0 for none; `weights` the probability of
    each card if none leaves the table. A row that asks for an action has one answer.
    """

    after: Array
    ends: Array
    end: Array
    hand: Array
    weights: Array
    asks: Array


def find_moves(table: RoundTable, probabilities: Array, answers: Array | None) -> RowMoves:
    alike = all((array[:, TEN:] == array[:, TEN:][:, :1]).all() for array in (table.after, table.log))
    ranks = TEN + 1 if alike else len(RANKS)
    share = np.append(probabilities[: ranks - 1], probabilities[ranks - 1 :].sum())
    weights, asks = share * (table.after[:, :ranks] != LEFT), table.kind == ASKS
    weights /= np.maximum(weights.sum(axis=1, keepdims=True), share.min())
    if answers is not None:
        weights[asks] = np.arange(ranks) == answers[table.choice[asks], None]
    after, log, ends = table.after[:, :ranks], table.log[:, :ranks], len(table.ends)
    after = np.where(after == LEFT, np.arange(len(after))[:, None], after).astype(np.int32)
    over = (log > 0) & (log <= ends)
    end, hand = np.where(over, log - 1, 0).astype(np.int32), np.maximum(log - ends, 0).astype(np.int32)
    return RowMoves(after, over, end, hand, weights, asks)


class Levels:
    """Rows in an order in which nearly all come after those that they lead to, some thousand at a time."""

    def __init__(self, height: Array, moves: RowMoves) -> None:
        self.all = _in_order(height)
        goes_on = ~moves.ends & (moves.weights > 0)
        back = goes_on & (height[moves.after] >= height[:, None])
        self.again: Array = np.asarray(back.any(axis=1))  # the rows from which a round may come back
        if self.again.any():
            for rows in self.all:  # whatever leads there comes back, too
                self.again[rows] |= (goes_on[rows] & self.again[moves.after[rows]]).any(axis=1)
            self.all = _in_order(height, self.again + self._turns(moves, back))

    def _turns(self, moves: RowMoves, back: Array) -> Array:
        """How often a round at least goes through rows to which it may come back, from each row on."""
        turns = np.where(self.again, NEVER, 0)
        repeated = np.zeros(len(turns), np.int64)
        repeated[moves.after[back]] = 1
        rest = [rows[self.again[rows]] for rows in self.all if self.again[rows].any()]
        while rest:
            count = sum(map(len, rest))
            for rows in rest:
                later = turns[moves.after[rows]] + repeated[moves.after[rows]]
                turns[rows] = np.where(moves.ends[rows], 0, later).min(axis=1).clip(max=NEVER)
            rest = [left for rows in rest if len(left := rows[turns[rows] == NEVER])]
            if sum(map(len, rest)) == count:
                break
        return turns

    def sweep(self, update: Callable[[Array], float], least: float) -> None:
        """Update all rows, and those from which a round may come back, until no change is as large as `least`."""
        for rows in self.all:
            update(rows)
        again = [rows[self.again[rows]] for rows in self.all if self.again[rows].any()]
        for _ in range(MOST_SWEEPS if again else 0):
            if max(update(rows) for rows in again) < least:
                break


def _in_order(*keys: Array) -> list[Array]:
    """Rows by ascending keys, the last of which comes first: pieces of equal ones."""
    order = np.lexsort(keys)
    cuts = np.flatnonzero(np.any([np.diff(key[order]) for key in keys], axis=0)) + 1
    return [rows[i : i + AT_ONCE] for rows in np.split(order, cuts) for i in range(0, len(rows), AT_ONCE)]


def values_after(moves: RowMoves, rows: Array, ends: Array, values: Array) -> Array:
    """Values (rows, K) after each card, and of ends (E, K): (m, Q, K)."""
    after: Array = np.where(moves.ends[rows][..., None], ends[moves.end[rows]], values[moves.after[rows]])
    return after


def value_rows(moves: RowMoves, levels: Levels, find_after: Callable[[Array, Array], Array], kinds: int) -> Array:
    """The values of rows, (rows, K), from those after each card, (m, Q, K)."""
    values = np.zeros((len(moves.after), kinds))

    def update(rows: Array) -> float:
        new = np.einsum("mr,mrk->mk", moves.weights[rows], find_after(rows, values))
        change = float(np.abs(new - values[rows]).max())
        values[rows] = new
        return change

    levels.sweep(update, CONVERGED)
    return values


def slope_rows(
    moves: RowMoves,
    levels: Levels,
    values: Array,
    values_after: Callable[[Array], Array],
    slopes_after: Callable[[Array, Array], Array],
) -> Array:
    """The slopes of values (rows, K), (rows, K, Q), from values (m, Q, K) and slopes (m, Q, K, Q) after each card."""
    slopes = np.zeros((*values.shape, moves.after.shape[1]))

    def update(rows: Array) -> float:
        direct = np.swapaxes(values_after(rows) - values[rows][:, None], 1, 2) * ~moves.asks[rows][:, None, None]
        new = direct + np.einsum("mr,mrkq->mkq", moves.weights[rows], slopes_after(rows, slopes))
        change = float(np.abs(new - slopes[rows]).max())
        slopes[rows] = new
        return change

    levels.sweep(update, SLOPES_CONVERGED)
    return slopes
