"""The values that luck is computed from, in whole numbers: engines that add in any order agree to the bit."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from bjsim.sim.engine.kernels.layout import CompiledRules
from bjsim.sim.engine.kernels.table_layout import SCALE, STEP
from bjsim.sim.engine.row_moves import RowMoves
from bjsim.sim.engine.row_values import RowValues, after_cards, find_slopes, second_order

Array = np.ndarray[Any, Any]

STEEPEST = (1 << 15) - 1  # slope; kernels hold 16 bits, and 8 decks of them are exact in single precision


class LuckTable(NamedTuple):
    """What luck needs of the rows of one chart's table: whole numbers, in 1 / SCALE initial bets.

    Q ranks are distinguished, and the dealer has O outcomes. `outcome` (rows,), `outcome_after` (rows, Q) and
    `chances` (S + O, O) are `row`, `after` and `chances` of `Outcomes`, `tilts` the slopes of `chances`,
    float32 (S + O, O, Q), and `hands` is `RowValues.hand_pay`, (1 + H, O).

    Attributes:
        value: Value of a round per settled bet, in initial bets.
        paid: Value of the payoff that was not logged before a card, after the card, (rows, Q).
        slopes, own: Its slopes, float32 (rows, Q of the slope, Q of the card), and that in the card's rank,
            (rows, Q).
        row_slopes: Slopes of the values of rows, float32 (rows, Q).
        curvature: Half the second-order slopes of a round, (Q, Q).
    """

    value: float
    moves: RowMoves
    paid: Array
    slopes: Array
    own: Array
    row_slopes: Array
    outcome: Array
    outcome_after: Array
    chances: Array
    tilts: Array
    hands: Array
    curvature: Array

    @property
    def drift(self) -> Array:
        """The slopes of a round, (Q,)."""
        drift: Array = self.row_slopes[0]
        return drift


class Luck(NamedTuple):
    """How the luck of a table is counted.

    `chart` is that of each seat, (seats,); `full` the cards of a full shoe by distinguished rank, (Q,);
    `depths` how often in a shoe the drift is computed; `rounds_per_depth` the typical number of rounds that
    start between two depths; `bet` the payoff quantum, as a share of an initial bet; `expected` the
    expectation of the drift summed over the first depths, by chart and their number, (charts, depths + 1).
    """

    tables: list[LuckTable]
    chart: Array
    full: Array
    depths: int
    rounds_per_depth: float
    bet: float
    expected: Array


def make_luck(values: list[RowValues], chart: Array, compiled: CompiledRules, unit: Fraction, cards: float) -> Luck:
    """Make a finite shoe's luck tables; `chart` (seats,) is each seat's, `cards` the typical number in a round."""
    made = [make_luck_table(one) for one in values]
    ranks = len(values[0].moves.weights[0])
    full = np.bincount(np.minimum(compiled.unshuffled, ranks - 1), minlength=ranks).astype(float)
    depths = (compiled.numbers.cut - 1) // STEP
    left = full.sum() - STEP * np.arange(1, depths + 1)
    linear = [one.drift @ full / full.sum() for one in made]  # which rounding has left
    square = [_expect(one.curvature, full, left) / left**2 for one in made]
    expected = np.stack([np.cumsum(np.append(0, one + two)) for one, two in zip(linear, square, strict=True)])
    return Luck(made, chart, full, depths, STEP / cards, float(unit), expected)


def make_luck_table(values: RowValues) -> LuckTable:
    """Round the values of rows, and arrange them by card."""
    slopes, tilts = find_slopes(values)
    paid, later = after_cards(values, slopes, tilts)
    whole = whole_slopes(later)
    return LuckTable(
        value=values.value,
        moves=values.moves,
        paid=np.rint(SCALE * paid),
        slopes=np.swapaxes(whole, 1, 2).astype(np.float32, order="C"),
        own=np.diagonal(whole, axis1=1, axis2=2).copy(),
        row_slopes=whole_slopes(slopes).astype(np.float32),
        outcome=values.outcomes.row,
        outcome_after=values.outcomes.after,
        chances=np.rint(SCALE * values.outcomes.chances),
        tilts=whole_slopes(tilts).astype(np.float32),
        hands=np.rint(SCALE * values.hand_pay),
        curvature=np.rint(SCALE / 2 * second_order(values, later)),
    )


def whole_slopes(slopes: Array) -> Array:
    """Slopes as whole numbers of 1 / SCALE initial bets."""
    whole: Array = np.rint(SCALE * slopes)
    whole.clip(-STEEPEST, STEEPEST, out=whole)
    return whole


def _expect(matrix: Array, full: Array, left: Array) -> Array:
    """Expectation of c'Mc for the composition c of a full shoe's cards that are left after others were dealt."""
    pairs = np.outer(full, full) - np.diag(full)
    size = full.sum()
    one, two = np.diagonal(matrix) @ full, (matrix * pairs).sum()
    expectation: Array = left / size * one + left * (left - 1) / (size * (size - 1)) * two
    return expectation
