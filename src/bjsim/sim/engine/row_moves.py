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

    `place` is the next row, the row itself if the card leaves the table, or R + e at end e, where R is the
    number of rows; `hand` 1 + the number of the split hand that the card ends, 0 for none; `weights` the
    probability of each card if none leaves the table. A row that asks for an action has one answer.
    """

    place: Array
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
    after = np.where(after == LEFT, np.arange(len(after))[:, None], after)
    over = (log > 0) & (log <= ends)
    place = np.where(over, len(after) + log - 1, after)
    return make_moves(place, np.maximum(log - ends, 0), weights, asks)


def make_moves(place: Array, hand: Array, weights: Array, asks: Array) -> RowMoves:
    """Make the moves, in C order: `take` would first copy any other array as a whole."""
    return RowMoves(
        place=place.astype(np.intp, "C"),
        hand=hand.astype(np.int32, "C"),
        weights=np.ascontiguousarray(weights),
        asks=asks,
    )


class Levels:
    """Rows in an order in which nearly all come after those that they lead to, some thousand at a time."""

    def __init__(self, height: Array, moves: RowMoves) -> None:
        self.all = _in_order(height)
        ends = moves.place >= len(moves.place)
        after = np.where(ends, 0, moves.place)
        goes_on = ~ends & (moves.weights > 0)
        back = goes_on & (height[after] >= height[:, None])
        self.again: Array = np.asarray(back.any(axis=1))  # the rows from which a round may come back
        if self.again.any():
            for rows in self.all:  # whatever leads there comes back, too
                self.again[rows] |= (goes_on[rows] & self.again[after[rows]]).any(axis=1)
            self.all = _in_order(height, self.again + self._turns(after, ends, back))

    def _turns(self, after: Array, ends: Array, back: Array) -> Array:
        """How often a round at least goes through rows to which it may come back, from each row on."""
        turns = np.where(self.again, NEVER, 0)
        repeated = np.zeros(len(turns), np.int64)
        repeated[after[back]] = 1
        rest = [rows[self.again[rows]] for rows in self.all if self.again[rows].any()]
        while rest:
            count = sum(map(len, rest))
            for rows in rest:
                later = turns[after[rows]] + repeated[after[rows]]
                turns[rows] = np.where(ends[rows], 0, later).min(axis=1).clip(max=NEVER)
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


def values_after(moves: RowMoves, rows: Array, values: Array) -> Array:
    """Values after each card, (m, Q, ..), from those of rows and ends, (R + E, ..)."""
    after: Array = values.take(moves.place.take(rows, axis=0), axis=0)  # quicker than indexing
    return after


def value_rows(
    moves: RowMoves, levels: Levels, ends: Array, find_after: Callable[[Array, Array], Array] | None = None
) -> Array:
    """The values of rows, (R, K), from those of ends, (E, K).

    `find_after` gets rows (m,) and values (R + E, K), and gives those after each card, (m, Q, K), if they are others.
    """
    count = len(moves.place)
    values = np.concatenate([np.zeros((count, ends.shape[1])), ends])

    def update(rows: Array) -> float:
        after = find_after(rows, values) if find_after else values_after(moves, rows, values)
        new = np.einsum("mr,mrk->mk", moves.weights.take(rows, axis=0), after)
        change = float(np.abs(new - values.take(rows, axis=0)).max())
        values[rows] = new
        return change

    levels.sweep(update, CONVERGED)
    return values[:count]


def slope_rows(
    moves: RowMoves,
    levels: Levels,
    values: Array,
    find_after: Callable[[Array], Array],
    find_slopes: Callable[[Array, Array], Array],
    ends: int,
) -> Array:
    """The slopes of values (R, K) and of `ends`, which have none: (R + E, K, Q).

    `find_after` gives the values (m, Q, K) after each card from rows; `find_slopes` their slopes (m, Q, K, Q), from
    all slopes so far, too.
    """
    slopes = np.zeros((len(values) + ends, *values.shape[1:], moves.place.shape[1]))

    def update(rows: Array) -> float:
        direct = np.swapaxes(find_after(rows) - values.take(rows, axis=0)[:, None], 1, 2)
        direct *= ~moves.asks.take(rows)[:, None, None]
        new = direct + np.einsum("mr,mrkq->mkq", moves.weights.take(rows, axis=0), find_slopes(rows, slopes))
        change = float(np.abs(new - slopes.take(rows, axis=0)).max())
        slopes[rows] = new
        return change

    levels.sweep(update, SLOPES_CONVERGED)
    return slopes
