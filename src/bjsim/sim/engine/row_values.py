"""The values of a round table's rows, and their slopes in the composition of the shoe, by a backward pass.

The value of a row is the expected payoff that is not logged yet, when cards are drawn from a full shoe. A logged split
hand is paid by the dealer's outcome, whose distribution is known for each row too. The slopes are first-order: if the
share of rank q exceeds its probability by d(q), the value changes by the sum of slope(q) d(q).
"""

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import NamedTuple

import numpy as np

from bjsim.arrays import Array
from bjsim.sim.engine.kernels.layout import payoff_parts
from bjsim.sim.engine.round_table import ASKS, LEFT, RoundTable, count_ranks, distinct_rows

CONVERGED, SLOPES_CONVERGED = 1e-13, 1e-4  # initial bets; slopes are rounded to 1/1024, and any serve
MOST_SWEEPS = 1000
AT_ONCE = 2000  # rows
NEVER = 1 << 30


class RowMoves(NamedTuple):
    """What cards do, by row and rank, (rows, Q) but for `asks`; Q ranks are distinguished."""

    # The next row, the row itself if the card leaves the table, or R + e at end e; R is the number of rows.
    place: Array
    hand: Array  # 1 + the number of the split hand that the card ends, 0 for none
    weights: Array  # the probability of each card if none leaves the table
    asks: Array  # whether a row asks for an action, to which it has one answer


def find_moves(table: RoundTable, probabilities: Array, answers: Array | None) -> RowMoves:
    ranks = count_ranks(table.after, table.log)
    share = np.append(probabilities[: ranks - 1], probabilities[ranks - 1 :].sum())
    weights, asks = share * (table.after[:, :ranks] != LEFT), table.kind == ASKS
    total = weights.sum(axis=1, keepdims=True)
    weights /= np.where(total > 0, total, 1)  # all cards may leave the table
    if answers is not None:
        weights[asks] = np.arange(ranks) == answers[table.choice[asks], None]
    after, log, ends = table.after[:, :ranks], table.log[:, :ranks], len(table.ends)
    after = np.where(after == LEFT, np.arange(len(after))[:, None], after)
    over = (log > 0) & (log <= ends)
    place = np.where(over, len(after) + log - 1, after)
    hand = np.maximum(log - ends, 0)
    # in C order: `take` would first copy any other array as a whole
    return RowMoves(place.astype(np.intp, "C"), hand.astype(np.int32, "C"), np.ascontiguousarray(weights), asks)


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

    def sweep(self, values: Array, find: Callable[[Array], Array], least: float) -> None:
        """Set the values of all rows, (rows, ..), to what is found for them, (m, ..).

        Those from which a round may come back are found again until no change is as large as `least`.
        """
        for rows in self.all:
            values[rows] = find(rows)
        again = [rows[self.again[rows]] for rows in self.all if self.again[rows].any()]
        for _ in range(MOST_SWEEPS if again else 0):
            changes = []
            for rows in again:
                new = find(rows)
                changes.append(np.abs(new - values.take(rows, axis=0)).max())
                values[rows] = new
            if max(changes) < least:
                break


def _in_order(*keys: Array) -> list[Array]:
    """Rows by ascending keys, the last of which comes first: pieces of equal ones."""
    order = np.lexsort(keys)
    cuts = np.flatnonzero(np.any([np.diff(key[order]) for key in keys], axis=0)) + 1
    return [rows[i : i + AT_ONCE] for rows in np.split(order, cuts) for i in range(0, len(rows), AT_ONCE)]


def values_after(moves: RowMoves, rows: Array, values: Array) -> Array:
    """Values after each card, (m, Q, ..), from those of rows and ends, (R + E, ..)."""
    return values.take(moves.place.take(rows, axis=0), axis=0)  # quicker than indexing


def value_rows(moves: RowMoves, levels: Levels, ends: Array, find_after: Callable[[Array, Array], Array]) -> Array:
    """The values of rows, (R, K), from those of ends, (E, K).

    `find_after` gets rows (m,) and values (R + E, K), and gives those after each card, (m, Q, K).
    """
    count = len(moves.place)
    values = np.concatenate([np.zeros((count, ends.shape[1])), ends])

    def find(rows: Array) -> Array:
        new: Array = np.einsum("mr,mrk->mk", moves.weights.take(rows, axis=0), find_after(rows, values))
        return new

    levels.sweep(values, find, CONVERGED)
    return values[:count]


def slope_rows(
    moves: RowMoves,
    levels: Levels,
    values: Array,
    find_after: Callable[[Array, Array], Array],
    find_slopes: Callable[[Array, Array], Array],
) -> Array:
    """The slopes, (R + E, .., Q), of values (R + E, ..); the ends have none.

    `find_after` gives the values (m, Q, ..) after each card, from rows and all values; `find_slopes` their slopes
    (m, Q, .., Q), from rows and all slopes so far.
    """
    slopes = np.zeros((*values.shape, moves.place.shape[1]))

    def find(rows: Array) -> Array:
        direct = np.moveaxis(find_after(rows, values) - values.take(rows, axis=0)[:, None], 1, -1)
        direct[moves.asks.take(rows)] = 0
        new: Array = direct + np.einsum("mr,mr...->m...", moves.weights.take(rows, axis=0), find_slopes(rows, slopes))
        return new

    levels.sweep(slopes, find, SLOPES_CONVERGED)
    return slopes


class Outcomes(NamedTuple):
    """The dealer's outcome, by which logged split hands are paid. Rows it does not distinguish share a state.

    There are S states of a round that goes on; one that has ended with outcome o is in state S + o.
    """

    row: Array  # the states of rows, (rows,)
    after: Array  # and after cards, (rows, Q)
    moves: RowMoves  # those of the first S states, whose ends are the outcomes
    levels: Levels  # the order of the pass over them
    chances: Array  # the probabilities of outcomes, (S + O, O)


class RowValues(NamedTuple):
    """Values of the rows of a table, in initial bets. O is the number of the dealer's outcomes."""

    moves: RowMoves
    levels: Levels  # the order of the pass
    end_pay: Array  # the payoff of each end without earlier split hands, (E,)
    hand_pay: Array  # that of split hands by outcome, row 0 zeros, (1 + H, O)
    values: Array  # payoff that is not logged yet, (rows,)
    outcomes: Outcomes
    value: float  # of a round per settled bet, and also of a bet that ties and is replayed

    @property
    def with_ends(self) -> Array:
        """The values of rows and ends, (rows + E,)."""
        return np.append(self.values, self.end_pay)


def make_row_values(table: RoundTable, probabilities: Array, unit: Fraction, answers: Array | None = None) -> RowValues:
    """Compute the values of rows from the probabilities of the 13 ranks in a full shoe.

    `unit` is the payoff quantum in initial bets; `answers` the code of each choice's action, for rows that ask.
    """
    moves = find_moves(table, probabilities, answers)
    levels = Levels(table.height, moves)
    outcomes = _find_outcomes(moves, levels, table)
    (units, tied), (hand_units, hand_tied) = (payoff_parts(codes) for codes in (table.ends[:, 0], table.hands))
    ends = np.stack([units * float(unit), tied], axis=1)
    hands = np.stack([hand_units * float(unit), hand_tied], axis=1)
    hands = np.concatenate([np.zeros((1, *hands.shape[1:])), hands])
    values = value_rows(moves, levels, ends, partial(paid_after, moves, outcomes, hands, outcomes.chances))
    value = float(values[0, 0] / (1 - values[0, 1])) if values[0, 1] < 1 else np.nan
    replayed = np.nan_to_num(value)  # the value of a bet that ties
    return RowValues(
        moves=moves,
        levels=levels,
        end_pay=ends @ [1, replayed],
        hand_pay=hands[:, 0] + replayed * hands[:, 1],
        values=values @ [1, replayed],
        outcomes=outcomes,
        value=value,
    )


def _find_outcomes(moves: RowMoves, levels: Levels, table: RoundTable) -> Outcomes:
    """Give rows the same state if the same states follow them, or if one state follows them whatever is drawn."""
    count, again = table.hands.shape[1], np.flatnonzero(levels.again)
    state = np.full(len(moves.place), -1, np.int64)  # -1 - o if the outcome is certain, or if all cards leave the table
    state[again] = np.arange(len(again))  # each of its own
    first, known = [again], dict[bytes, int]()

    ended = -1 - table.ends[:, 1]

    def after(rows: Array) -> Array:
        return values_after(moves, rows, np.append(state, ended))

    for rows in levels.all:
        rows = rows[~levels.again[rows] & moves.weights[rows].any(axis=1)]
        following = np.where(moves.weights[rows] > 0, after(rows), -1 - count)
        asks = np.flatnonzero(moves.asks[rows])
        following[asks] = following[asks, moves.weights[rows[asks]].argmax(axis=1), None]
        state[rows] = following[:, 0]
        several = np.flatnonzero((following != following[:, :1]).any(axis=1))
        one, kind = distinct_rows(following[several])
        before = len(known)
        number = np.array([known.setdefault(key.tobytes(), len(known)) for key in following[several[one]]], np.int64)
        first.append(rows[several[one[number >= before]]])
        state[rows[several]] = len(again) + number[kind]
    rows = np.concatenate(first)
    to = after(rows)
    place = np.where(to < 0, len(rows) - 1 - to, to).astype(np.intp, "C")
    own = RowMoves(place, np.zeros_like(place, np.int32), moves.weights[rows], moves.asks[rows])
    order, certain = Levels(table.height[rows], own), np.eye(count)
    chances = value_rows(own, order, certain, partial(values_after, own))
    both = (np.where(of < 0, len(rows) - 1 - of, of) for of in (state, after(np.arange(len(state)))))
    row, following = (of.astype(np.intp) for of in both)  # what they are taken by
    return Outcomes(row, following, own, order, np.concatenate([chances, certain]))


def paid_after(moves: RowMoves, outcomes: Outcomes, pay: Array, chances: Array, rows: Array, values: Array) -> Array:
    """Values after each card, as `values_after`, with what `pay` (1 + H, .., O) is for the split hand that it ends.

    `chances` are the probabilities of outcomes by state, (S + O, O); or their slopes, (S + O, O, Q), if `values` are.
    """
    after, hand = values_after(moves, rows, values), moves.hand.take(rows, axis=0)
    row, rank = np.nonzero(hand)
    paid, state = pay.take(hand[row, rank], axis=0), outcomes.after[rows[row], rank]
    after[row, rank] += np.einsum("n...o,no...->n...", paid, chances.take(state, axis=0))
    return after


def find_slopes(row_values: RowValues) -> tuple[Array, Array]:
    """The slopes of the values of rows, (rows, Q), and of the chances of outcomes, (S + O, O, Q)."""
    moves, outcomes = row_values.moves, row_values.outcomes
    following = partial(values_after, outcomes.moves)
    tilts = slope_rows(outcomes.moves, outcomes.levels, outcomes.chances, following, following)
    paid = partial(paid_after, moves, outcomes, row_values.hand_pay)
    after, steep = partial(paid, outcomes.chances), partial(paid, tilts)
    slopes = slope_rows(moves, row_values.levels, row_values.with_ends, after, steep)
    return slopes[: len(row_values.values)], tilts


def second_order(values: RowValues, slopes: Array, tilts: Array) -> Array:
    """The second-order slopes of a round in the composition, (Q, Q); see `find_slopes` for the arguments."""
    moves, ranks = values.moves, slopes.shape[1]
    slopes = np.concatenate([slopes, np.zeros((len(values.end_pay), ranks))])
    second = np.zeros((len(slopes), ranks, ranks))
    for rows in values.levels.all:
        after = paid_after(moves, values.outcomes, values.hand_pay, tilts, rows, slopes)
        weights = moves.weights.take(rows, axis=0)
        tilted = after - np.einsum("mr,mrq->mq", weights, after)[:, None]
        later = np.einsum("mr,mrqs->mqs", weights, values_after(moves, rows, second))
        second[rows] = tilted + np.swapaxes(tilted, 1, 2) + later
    return np.asarray(second[0])
