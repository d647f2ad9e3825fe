"""The values that luck is counted by, in whole numbers: walkers that add in any order agree to the bit.

A place has one number, whatever leads there and whatever follows, so that the luck of a round telescopes.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from bjsim.arrays import Array
from bjsim.sim.engine.compile_notice import ONE_THREAD
from bjsim.sim.engine.kernels.arrays import SCALE, STEP, Drift, Luck
from bjsim.sim.engine.kernels.layout import CompiledRules, payoff_parts
from bjsim.sim.engine.round_table import RoundTable
from bjsim.sim.engine.row_values import AT_ONCE, find_slopes, make_row_values, second_order

STEEPEST = (1 << 15) - 1  # kernels hold 16 bits, and 8 decks of them are exact in single precision


class Model(NamedTuple):
    """The values of a table's rows and their slopes, in whole numbers: a fifth of the memory of `RowValues`."""

    table: RoundTable
    place: Array  # of `RowMoves`, as is `hand`
    hand: Array
    values: Array  # of rows
    end_pay: Array
    hand_pay: Array
    slopes: Array
    outcome: Array  # the state of the dealer's outcome, by row
    chances: Array  # of the outcomes, and their slopes
    tilts: Array
    value: float  # of a round, not rounded
    curvature: Array | None  # its second-order slopes, not rounded; None if they were not asked for


def solve_rows(
    table: RoundTable, probabilities: Array, unit: Fraction, answers: Array | None = None, curved: bool = False
) -> Model:
    """Solve a table for the probabilities of the 13 ranks; see `make_row_values`. `curved`: in second order, too."""
    values = make_row_values(table, probabilities, unit, answers)
    slopes, tilts = find_slopes(values)
    return Model(
        table, values.moves.place, values.moves.hand, np.rint(SCALE * values.values), np.rint(SCALE * values.end_pay),
        np.rint(SCALE * values.hand_pay[1:]), whole(slopes), values.outcomes.row,
        np.rint(SCALE * values.outcomes.chances), whole(tilts).astype(np.float32), values.value,
        second_order(values, slopes, tilts) if curved else None,
    )  # fmt: skip


def solve_models(table: RoundTable, answers: Array, points: Sequence[tuple[int, Array]], unit: Fraction) -> list[Model]:
    """Solve a counter's table for charts and the probabilities of the ranks at which they are played."""
    ends = np.stack([payoff_parts(table.ends[:, 0])[0], table.ends[:, 1]], axis=1)
    table = table._replace(ends=ends, hands=payoff_parts(table.hands)[0])  # without stakes

    def solve(point: tuple[int, Array]) -> Model:
        return solve_rows(table, point[1], unit, answers[:, point[0]])

    if ONE_THREAD:
        return list(map(solve, points))
    with ThreadPoolExecutor(os.cpu_count()) as threads:  # NumPy lets others run while it gathers rows
        return list(threads.map(solve, points))


def make_luck(
    models: Sequence[Sequence[Model]], model: Array, chart: Array, compiled: CompiledRules, frequent: int
) -> Luck:
    """Put the values of models together, each of which has the tables of the seats' charts, one after another.

    `model` is by bucket, (B,); `chart` that of each model; `frequent` the number of rows for which there are forms.
    """
    tables = models[0]
    ranks, outcomes = tables[0].place.shape[1], tables[0].table.hands.shape[1]
    begins = np.cumsum([0, *(len(one.table.kind) for one in tables)])
    rows, ends, hands = int(begins[-1]), len(tables[0].table.ends), len(tables[0].table.hands)
    after, hand = [], []
    for number, (begin, one) in enumerate(zip(begins.tolist(), tables, strict=False)):
        place, count = one.place, len(one.table.kind)
        after.append(np.where(place < count, begin + place, rows + ends * number + place - count))
        hand.append(np.where(one.hand > 0, hands * number + one.hand, 0))
    values, slopes, states, chances, tilts = [], [], [], [], []
    seen = 0
    for parts in models:
        values += [*(one.values for one in parts), *(one.end_pay for one in parts)]
        slopes += [*(one.slopes for one in parts), np.zeros((ends * len(parts), ranks))]
        of_ends = []
        for one in parts:
            states.append(seen + one.outcome)
            chances.append(one.chances)
            tilts.append(one.tilts)
            seen += len(one.tilts)
            of_ends.append(seen - outcomes + one.table.ends[:, 1])  # the last states are of rounds that have ended
        states += of_ends
    luck = Luck(
        ranks=ranks,
        places=rows + ends * len(tables),
        frequent=min(frequent, rows),
        model=model,
        chart=chart,
        after=np.concatenate(after).astype(np.intp),
        hand=np.concatenate(hand).astype(np.intp),
        slow=np.zeros(0),
        values=np.concatenate(values),
        slopes=np.concatenate(slopes),
        outcome=np.concatenate(states).astype(np.intp),
        chances=np.concatenate(chances),
        tilts=np.concatenate(tilts),
        pay=np.concatenate([np.zeros((1, outcomes)), *(one.hand_pay for one in tables)]),
        full=full_shoe(compiled, ranks),
        form=np.zeros(0),
    )
    return with_forms(luck)


def full_shoe(compiled: CompiledRules, ranks: int) -> Array:
    """Cards of a full shoe by distinguished rank."""
    return -np.diff(compiled.above[: ranks - 1], prepend=compiled.numbers.shoe_size, append=0).astype(float)


def with_forms(luck: Luck) -> Luck:
    """With the forms of the frequent rows: V after cards r and then q, less V, added up for both orders.

    V includes the pay of a split hand that r ends, but not that of earlier ones, which changes in proportion to the
    chances of the outcomes: where all cards lead to the same chances, its mean after a card is what it is before.
    """
    frequent, ranks, begins = luck.frequent, luck.ranks, range(0, len(luck.values), luck.places)
    form = np.empty((len(begins), frequent, ranks, ranks + 1), np.float32)
    slow = np.where(np.arange(len(luck.after)) < frequent, 0, 2)
    steepest = min(STEEPEST, (1 << 31) / luck.full.sum() ** 2)  # kernels add up in 32 bits
    for number, begin in enumerate(begins):
        values, slopes, state = (of[begin : begin + luck.places] for of in (luck.values, luck.slopes, luck.outcome))
        total = values[:, None] + slopes
        for rows in np.split(np.arange(frequent), range(AT_ONCE, frequent, AT_ONCE)):
            after, to = total[luck.after[rows]], state[luck.after[rows]]
            row, rank = np.nonzero(luck.hand[rows])
            pay, ended = luck.pay[luck.hand[rows[row], rank]] / SCALE, to[row, rank]
            after[row, rank] += np.einsum("no,no->n", pay, luck.chances[ended])[:, None]
            after[row, rank] += np.einsum("no,noq->nq", pay, luck.tilts[ended])
            after -= total[rows][:, None]
            of_pairs = np.triu(after) + np.swapaxes(np.tril(after, -1), 1, 2)
            slow[rows] |= (to != state[rows, None]).any(axis=1)
            slow[rows] |= 2 * ((np.abs(of_pairs) > steepest) | (of_pairs != np.rint(of_pairs))).any(axis=(1, 2))
            form[number, rows, :, :ranks] = of_pairs.clip(-STEEPEST, STEEPEST)
    form[..., ranks] = np.diagonal(form[..., :ranks], axis1=2, axis2=3)
    return luck._replace(form=form.reshape(-1, ranks, ranks + 1), slow=slow)


def whole(slopes: Array) -> Array:
    """Slopes as whole numbers of 1 / SCALE initial bets."""
    found: Array = np.rint(SCALE * slopes)
    return found.clip(-STEEPEST, STEEPEST, out=found)


def make_drift(models: Sequence[Model], chart: Array, compiled: CompiledRules, unit: Fraction, cards: float) -> Drift:
    """Make the drift of a finite shoe; `chart` (seats,) is each seat's, `cards` the typical number in a round."""
    slopes = np.stack([one.slopes[0] for one in models])
    curvature = np.rint(SCALE / 2 * np.stack([one.curvature for one in models if one.curvature is not None]))
    full = full_shoe(compiled, slopes.shape[1])
    depths = (compiled.numbers.cut - 1) // STEP
    left = full.sum() - STEP * np.arange(1, depths + 1)
    linear = [one @ full / full.sum() for one in slopes]  # which rounding has left
    square = [_expect(one, full, left) / left**2 for one in curvature]
    return Drift(
        slopes=slopes,
        curvature=curvature,
        expected=np.stack([np.cumsum(np.append(0, one + two)) for one, two in zip(linear, square, strict=True)]),
        depths=depths,
        rounds_per_depth=STEP / cards,
        bet=float(unit),
        value=np.array([models[number].value for number in chart.tolist()]),
        chart=chart,
    )


def _expect(matrix: Array, full: Array, left: Array) -> Array:
    """Expectation of c'Mc for the composition c of a full shoe's cards that are left after others were dealt."""
    pairs = np.outer(full, full) - np.diag(full)
    size = full.sum()
    one, two = np.diagonal(matrix) @ full, (matrix * pairs).sum()
    return np.asarray(left / size * one + left * (left - 1) / (size * (size - 1)) * two)


def count_drift(drift: Drift, full: Array, cards: Array, depths: Array) -> Array:
    """The drift of shoes, in initial bets, (charts, shoes): what a round's value exceeds a full shoe's by.

    It is summed over `depths` (shoes,), a function of the shuffled `cards` alone, rank indices (p, shoes),
    and its mean is 0 whatever is played.
    """
    ranks, shoes = len(full), cards.shape[1]
    counts, found = np.repeat(full[:, None], shoes, axis=1), np.zeros((len(drift.slopes), shoes))
    for depth in range(int(depths.max(initial=0))):
        for card in cards[depth * STEP : (depth + 1) * STEP]:
            counts[np.minimum(card, ranks - 1), np.arange(shoes)] -= 1
        left = full.sum() - (depth + 1) * STEP
        counted = depth < depths
        for slopes, curvature, sums in zip(drift.slopes, drift.curvature, found, strict=True):
            linear, square = slopes @ counts, (counts * (curvature @ counts)).sum(axis=0)
            sums += np.where(counted, linear / left + square / left**2, 0)
    return (found - drift.expected[:, depths]) * (drift.rounds_per_depth / SCALE)
