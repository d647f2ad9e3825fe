"""The values of a round table's rows, and their slopes in the composition of the shoe, by a backward pass.

The value of a row is the expected payoff that is not logged yet, when cards are drawn from a full shoe. A logged split
hand is paid by the dealer's outcome, whose distribution is known for each row too. The slopes are first-order: if the
share of rank q exceeds its probability by d(q), the value changes by the sum of slope(q) d(q).
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from bjsim.sim.engine.kernels.layout import payoff_parts
from bjsim.sim.engine.round_table import ASKS, LEFT, RoundTable
from bjsim.sim.game.cards import RANKS, TEN

Array = np.ndarray[Any, Any]

CONVERGED, SLOPES_CONVERGED = 1e-13, 1e-4  # initial bets; slopes are rounded to 1/1024, and any serve
MOST_SWEEPS = 1000
AT_ONCE = 2000  # rows
NEVER = 1 << 30


class RowMoves(NamedTuple):
    """What cards do, by row and rank; Q ranks are distinguished.

    Attributes:
        after: The next row, (rows, Q); the row itself if the card leaves the table.
        ends: Whether the card ends the round, bool (rows, Q).
        end: The number of that end, (rows, Q); 0 for none.
        hand: 1 + the number of the split hand that the card ends, (rows, Q); 0 for none.
        weights: Probability of each card, (rows, Q). A row that asks for an action has one answer.
        asks: Whether the row asks, bool (rows,).
    """

    after: Array
    ends: Array
    end: Array
    hand: Array
    weights: Array
    asks: Array


class RowValues(NamedTuple):
    """Values of the rows of a table, in initial bets. O is the number of the dealer's outcomes.

    Attributes:
        moves: See `RowMoves`.
        levels: The order of the pass.
        end_pay: Payoff of each end without earlier split hands, and 1 at the dealer's outcome, (E, 1 + O).
        hand_pay: Payoff of split hands by outcome, (1 + H, O); row 0 is zeros.
        values: Payoff that is not logged yet, and the probability of each outcome, (rows, 1 + O).
        value: Value of a round per settled bet, which is also that of a bet that ties and is replayed.
    """

    moves: RowMoves
    levels: Levels
    end_pay: Array
    hand_pay: Array
    values: Array
    value: float


def make_row_values(table: RoundTable, probabilities: Array, unit: Fraction, answers: Array | None = None) -> RowValues:
    """Compute the values of rows.

    Args:
        table: The table.
        probabilities: Of the 13 ranks in a full shoe.
        unit: The payoff quantum, as a share of an initial bet.
        answers: The code of the action for each choice, for a table with rows that ask.
    """
    moves = _find_moves(table, probabilities, answers)
    levels = Levels(table.height, moves)
    (units, tied), (hand_units, hand_tied) = (payoff_parts(codes) for codes in (table.ends[:, 0], table.hands))
    outcome = np.zeros((len(table.ends), table.hands.shape[1]))
    outcome[np.arange(len(outcome)), table.ends[:, 1]] = 1

    parts = np.stack([units * float(unit), tied], axis=1), np.stack([hand_units * float(unit), hand_tied], axis=1)
    hands = np.concatenate([np.zeros((1, *parts[1].shape[1:])), parts[1]])
    values = _value_rows(moves, levels, np.concatenate([parts[0], outcome], axis=1), hands)
    value = float(values[0, 0] / (1 - values[0, 1])) if values[0, 1] < 1 else np.nan
    replayed = np.nan_to_num(value)  # the value of a bet that ties
    ends = np.concatenate([parts[0] @ [[1], [replayed]], outcome], axis=1)
    hands = hands[:, 0] + replayed * hands[:, 1]
    values = np.concatenate([values[:, :2] @ [[1], [replayed]], values[:, 2:]], axis=1)
    return RowValues(moves, levels, ends, hands, values, value)


def _find_moves(table: RoundTable, probabilities: Array, answers: Array | None) -> RowMoves:
    alike = all((array[:, TEN:] == array[:, TEN:][:, :1]).all() for array in (table.after, table.log))
    ranks = TEN + 1 if alike else len(RANKS)
    share = np.append(probabilities[: ranks - 1], probabilities[ranks - 1 :].sum())
    weights, asks = np.broadcast_to(share, (len(table.kind), ranks)), table.kind == ASKS
    if answers is not None:
        weights = weights.copy()
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
        back = ~moves.ends & (height[moves.after] >= height[:, None])
        self._again: Array = np.asarray(back.any(axis=1))
        if self._again.any():
            for rows in self.all:  # whatever leads there comes back, too
                self._again[rows] |= (~moves.ends[rows] & self._again[moves.after[rows]]).any(axis=1)
            self.all = _in_order(height, self._turns(moves, back))

    def _turns(self, moves: RowMoves, back: Array) -> Array:
        """How often a round at least goes through rows to which it may come back, from each row on."""
        turns = np.full(len(moves.after), NEVER)
        repeated = np.zeros(len(turns), np.int64)
        repeated[moves.after[back]] = 1
        rest = self.all
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
        again = [rows[self._again[rows]] for rows in self.all if self._again[rows].any()]
        for _ in range(MOST_SWEEPS if again else 0):
            if max(update(rows) for rows in again) < least:
                break


def _in_order(*keys: Array) -> list[Array]:
    """Rows by ascending keys, the last of which comes first: pieces of equal ones."""
    order = np.lexsort(keys)
    cuts = np.flatnonzero(np.any([np.diff(key[order]) for key in keys], axis=0)) + 1
    return [rows[i : i + AT_ONCE] for rows in np.split(order, cuts) for i in range(0, len(rows), AT_ONCE)]


def _value_rows(moves: RowMoves, levels: Levels, ends: Array, hands: Array) -> Array:
    """The values of rows, (rows, P + O), for P kinds of payoffs: of ends (E, P + O), of hands (1 + H, P, O)."""
    values = np.zeros((len(moves.after), ends.shape[1]))

    def update(rows: Array) -> float:
        new = np.einsum("mr,mrk->mk", moves.weights[rows], _values_after(moves, rows, ends, hands, values))
        change = float(np.abs(new - values[rows]).max())
        values[rows] = new
        return change

    levels.sweep(update, CONVERGED)
    return values


def _values_after(moves: RowMoves, rows: Array, ends: Array, hands: Array, values: Array) -> Array:
    """Values after each card, with what it pays, (m, Q, P + O)."""
    after = np.where(moves.ends[rows][..., None], ends[moves.end[rows]], values[moves.after[rows]])
    row, rank = np.nonzero(moves.hand[rows])
    pay, kinds = hands[moves.hand[rows][row, rank]], hands.shape[1]
    after[row, rank, :kinds] += np.einsum("npo,no->np", pay, after[row, rank, kinds:])
    return after


def find_slopes(row_values: RowValues) -> Array:
    """The slopes of the values of rows, (rows, 1 + O, Q)."""
    moves, values = row_values.moves, row_values.values
    slopes = np.zeros((*values.shape, moves.after.shape[1]))

    def update(rows: Array) -> float:
        after = _values_after(moves, rows, row_values.end_pay, row_values.hand_pay[:, None], values)
        direct = np.swapaxes(after - values[rows][:, None], 1, 2) * ~moves.asks[rows][:, None, None]
        later = _slopes_after(row_values, slopes, rows)
        new = direct + np.einsum("mr,mrkq->mkq", moves.weights[rows], later)
        change = float(np.abs(new - slopes[rows]).max())
        slopes[rows] = new
        return change

    row_values.levels.sweep(update, SLOPES_CONVERGED)
    return slopes


def _slopes_after(row_values: RowValues, slopes: Array, rows: Array) -> Array:
    """The slopes of values after each card, (m, Q, 1 + O, Q)."""
    moves = row_values.moves
    later: Array = slopes[moves.after[rows]]
    later[moves.ends[rows]] = 0
    row, rank = np.nonzero(moves.hand[rows])
    pay = row_values.hand_pay[moves.hand[rows][row, rank]]
    later[row, rank, 0] += np.einsum("no,noq->nq", pay, later[row, rank, 1:])
    return later


def after_cards(row_values: RowValues, slopes: Array) -> tuple[Array, Array]:
    """The values after each card, with what it pays, (rows, Q), and their slopes, (rows, Q, Q)."""
    values, tilts = np.empty(row_values.moves.after.shape), np.empty((*row_values.moves.after.shape, slopes.shape[2]))
    moves, ends, hands = row_values.moves, row_values.end_pay, row_values.hand_pay[:, None]
    for rows in row_values.levels.all:
        values[rows] = _values_after(moves, rows, ends, hands, row_values.values)[..., 0]
        tilts[rows] = _slopes_after(row_values, slopes, rows)[:, :, 0]
    return values, tilts


def second_order(values: RowValues, tilts: Array) -> Array:
    """The second-order slopes of a round in the composition, (Q, Q), from the slopes after each card."""
    moves, ranks = values.moves, tilts.shape[2]
    second = np.zeros((len(tilts), ranks, ranks))
    for rows in values.levels.all:
        after = tilts[rows]
        tilted = after - np.einsum("mr,mrq->mq", moves.weights[rows], after)[:, None]
        later = np.where(moves.ends[rows][..., None, None], 0, second[moves.after[rows]])
        second[rows] = tilted + np.swapaxes(tilted, 1, 2) + np.einsum("mr,mrqs->mqs", moves.weights[rows], later)
    start: Array = second[0]
    return start
