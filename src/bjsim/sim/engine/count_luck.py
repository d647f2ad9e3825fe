"""What the luck of a counter is counted by: values of the rows of the round table, for each of several counts."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from bjsim.sim.engine.count_rows import CountRows
from bjsim.sim.engine.kernels.layout import payoff_parts
from bjsim.sim.engine.kernels.table_layout import SCALE
from bjsim.sim.engine.luck_tables import STEEPEST
from bjsim.sim.engine.round_table import RoundTable
from bjsim.sim.engine.row_values import RowMoves, find_slopes, make_row_values

Array = np.ndarray[Any, Any]


class CountLuck(NamedTuple):
    """Values of the rows of a counter's round table, for T pairs of a chart and a composition: the models.

    A place is a row, or R + e for end e of a round; there are R + E of them. Q ranks are distinguished, and the dealer
    has O outcomes. Values and slopes are whole numbers, in 1 / SCALE initial bets; see `row_values.py`.

    Attributes:
        model: The model by bucket, (B,).
        chart: The chart of each model, (T,).
        after: The place after each card, or after the code of an action, (R, Q).
        hand: 1 + the split hand that it ends, or 0, (R, Q).
        splits: Whether it ever ends one, bool (R,).
        values: Payoff that is not logged yet, (T, R + E).
        slopes: Its slopes, float32 (T, R + E, Q).
        chances: Probabilities of the dealer's outcomes, (T, R + E, O).
        tilts: Their slopes, float32 (T, R + E, O, Q).
        pay: Payoff of split hands by outcome, 0 for none, (1 + H, O).
        full: Cards of a full shoe by rank, (Q,).
        start: The exact value of a round, and its slopes, (T, 1 + Q).
    """

    model: Array
    chart: Array
    after: Array
    hand: Array
    splits: Array
    values: Array
    slopes: Array
    chances: Array
    tilts: Array
    pay: Array
    full: Array
    start: Array


def make_count_luck(
    rows: CountRows, model: Array, points: Sequence[tuple[int, Array]], unit: Fraction, unshuffled: Array
) -> CountLuck:
    """Compute the values of the rows.

    Args:
        rows: The round table.
        model: The model by bucket, (B,).
        points: For each model the chart, and the probabilities of the 13 ranks.
        unit: The payoff quantum, as a share of an initial bet.
        unshuffled: Rank indices of the cards of a shoe.
    """
    table = _without_bets(rows.table)

    def value(point: tuple[int, Array]) -> tuple[RowMoves, Array, Array, Array, Array]:
        found = make_row_values(table, point[1], unit, rows.answers[:, point[0]])
        steep = find_slopes(found)
        values = np.rint(SCALE * np.concatenate([found.values, found.end_pay]))
        places = np.zeros((len(values), *steep.shape[1:]), np.float32)
        np.rint(SCALE * steep, out=places[: len(steep)], casting="same_kind")
        places.clip(-STEEPEST, STEEPEST, out=places)
        return found.moves, np.rint(SCALE * found.hand_pay), values, places, np.append(found.value, steep[0, 0])

    with ThreadPoolExecutor() as threads:  # NumPy lets others run while it gathers rows
        (moves, *_), (pay, *_), values, slopes, start = zip(*threads.map(value, points), strict=True)
    ranks = slopes[0].shape[2]
    after = np.where(moves.ends, len(moves.after) + moves.end, moves.after)
    return CountLuck(
        model=model,
        chart=np.array([chart for chart, _ in points]),
        after=after,
        hand=moves.hand,
        splits=np.any(moves.hand, axis=1),
        values=np.stack([one[:, 0] for one in values]),
        slopes=np.stack([one[:, 0] for one in slopes]),
        chances=np.stack([one[:, 1:] for one in values]),
        tilts=np.stack([one[:, 1:] for one in slopes]),
        pay=pay,
        full=np.bincount(np.minimum(unshuffled, ranks - 1), minlength=ranks).astype(float),
        start=np.array(start),
    )


def _without_bets(table: RoundTable) -> RoundTable:
    """The table without the numbers of bets in its payoff codes."""
    ends = np.stack([payoff_parts(table.ends[:, 0])[0], table.ends[:, 1]], axis=1)
    return table._replace(ends=ends, hands=payoff_parts(table.hands)[0])
