"""The round table of a counter: it asks for an action wherever the charts differ between which the count chooses."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bjsim.sim.engine.kernels.layout import CompiledRules
from bjsim.sim.engine.kernels.table_layout import SeatRows
from bjsim.sim.engine.lockstep import seat_rows
from bjsim.sim.engine.packed_tables import count_bets, merge_charts
from bjsim.sim.engine.round_table import ASKS, RoundTable, make_round_tables
from bjsim.sim.game.cards import RANKS

Array = np.ndarray[Any, Any]

NEVER_LEFT = 1e-13  # probability with which splits may make a round leave the table: then it cannot be played


class CountRows(NamedTuple):
    """The round table of a counter, which asks for an action wherever charts differ.

    `rows` has the table once for each seat; payoffs in `table` count bets, see `count_bets`. `question` is 1
    + the number of the choice in a row that asks, by offset, else 0, (n,); `answers` are codes by choice and
    chart, (V, charts).
    """

    rows: SeatRows
    question: Array
    answers: Array
    table: RoundTable


def make_count_rows(compiled: CompiledRules, seats: int) -> CountRows:
    """Make a counter's round table from rules with a row of `act` per chart, for at most `seats` seats."""
    act, answers = merge_charts(compiled.act)
    made, _ = make_round_tables(count_bets(compiled)._replace(act=act), NEVER_LEFT)
    (table,) = made
    question = np.where(table.kind == ASKS, 1 + table.choice, 0)
    return CountRows(seat_rows([table], np.zeros(seats, np.int64)), np.repeat(question, len(RANKS)), answers, table)
