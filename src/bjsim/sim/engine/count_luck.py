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
from bjsim.sim.engine.luck_tables import whole_slopes
from bjsim.sim.engine.round_table import RoundTable
from bjsim.sim.engine.row_values import RowValues, find_slopes, make_row_values

Array = np.ndarray[Any, Any]


class CountLuck(NamedTuple):
    """Values of the rows of a counter's round table, for T pairs of a chart and a composition: the models.

    A place is a row, or R + e for end e of a round; there are R + E of them. Q ranks are distinguished, and the dealer
    has O outcomes; see `Outcomes` for their states, of which there are S in all models. Values and slopes are whole
    numbers, in 1 / SCALE initial bets; see `row_values.py`.

    Attributes:
        model: The model by bucket, (B,).
        chart: The chart of each model, (T,).
        after: The place after each card, or after the code of an action, (R, Q).
        hand: 1 + the split hand that it ends, or 0, (R, Q).
        splits: Whether it ever ends one, bool (R,).
        values: Payoff that is not logged yet, (T, R + E).
        slopes: Its slopes, float32 (T, R + E, Q).
        outcome: The state of the dealer's outcome, (T, R + E).
        chances: Probabilities of the outcomes, (S, O).
        tilts: Their slopes, float32 (S, O, Q).
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
    outcome: Array
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
        after=np.where(moves.ends, len(moves.after) + moves.end, moves.after),
        hand=moves.hand,
        splits=np.any(moves.hand, axis=1),
        values=np.stack([np.rint(SCALE * np.append(one.values, one.end_pay)) for one in found]),
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
