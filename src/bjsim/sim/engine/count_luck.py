"""What the luck of a counter is counted by: values of the rows of the round table, for each of several counts."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from typing import Any

import numpy as np

from bjsim.sim.engine.count_rows import CountRows
from bjsim.sim.engine.kernels.count_layout import CountLuck
from bjsim.sim.engine.kernels.layout import payoff_parts
from bjsim.sim.engine.kernels.table_layout import SCALE
from bjsim.sim.engine.luck_tables import whole_slopes
from bjsim.sim.engine.round_table import RoundTable
from bjsim.sim.engine.row_values import RowValues, find_slopes, make_row_values

Array = np.ndarray[Any, Any]


def make_count_luck(
    rows: CountRows, model: Array, points: Sequence[tuple[int, Array]], unit: Fraction, unshuffled: Array
) -> CountLuck:
    """Compute the values of the rows; `unit` is the payoff quantum, as a share of an initial bet.

    `model` is the model by bucket, (B,); `points` the chart and the probabilities of the 13 ranks of each
    model; `unshuffled` the rank indices of the cards of a shoe.
    """
    table = _without_bets(rows.table)

    def value(point: tuple[int, Array]) -> tuple[RowValues, Array, Array]:
        found = make_row_values(table, point[1], unit, rows.answers[:, point[0]])
        return found, *find_slopes(found)

    with ThreadPoolExecutor() as threads:  # NumPy lets others run while it gathers rows
        found, slopes, tilts = zip(*threads.map(value, points), strict=True)
    moves, ranks = found[0].moves, slopes[0].shape[1]
    ends = np.zeros((len(table.ends), ranks))
    states = np.cumsum([0, *(len(one) for one in tilts[:-1])]).tolist()
    count = tilts[0].shape[1]  # the states of ends are the last ones of each model
    outcome = [
        begin + np.append(one.outcomes.row, len(steep) - count + table.ends[:, 1])
        for one, steep, begin in zip(found, tilts, states, strict=True)
    ]
    return CountLuck(
        model=model,
        chart=np.array([chart for chart, _ in points]),
        after=np.ascontiguousarray(moves.place, np.int64),
        hand=np.ascontiguousarray(moves.hand, np.int64),
        splits=np.any(moves.hand, axis=1),
        values=np.stack([np.rint(SCALE * one.with_ends) for one in found]),
        slopes=np.stack([whole_slopes(np.concatenate([steep, ends])).astype(np.float32) for steep in slopes]),
        outcome=np.stack(outcome),
        chances=np.concatenate([np.rint(SCALE * one.outcomes.chances) for one in found]),
        tilts=np.concatenate([whole_slopes(steep).astype(np.float32) for steep in tilts]),
        pay=np.rint(SCALE * found[0].hand_pay),
        full=np.bincount(np.minimum(unshuffled, ranks - 1), minlength=ranks).astype(float),
        start=np.array([np.append(one.value, steep[0]) for one, steep in zip(found, slopes, strict=True)]),
    )


def _without_bets(table: RoundTable) -> RoundTable:
    """The table without the numbers of bets in its payoff codes."""
    ends = np.stack([payoff_parts(table.ends[:, 0])[0], table.ends[:, 1]], axis=1)
    return table._replace(ends=ends, hands=payoff_parts(table.hands)[0])
