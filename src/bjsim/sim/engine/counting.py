"""Plays shoes with the counting round: makes the arrays of its kernel.

Import this module only where rounds are played: importing numba takes a third of a second.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bjsim.errors import EndlessSplitting
from bjsim.sim.engine.counting_table import CountingTable, CountSums, count_quantum
from bjsim.sim.engine.kernels.count_layout import COUNT, PRODUCTS, RAW, CountTally
from bjsim.sim.engine.kernels.counting import play_counting
from bjsim.sim.engine.kernels.play import RAN_AWAY
from bjsim.sim.engine.rounds import ENDLESS, make_seats, make_shoe, open_ledger

Array = np.ndarray[Any, Any]


def play_shoes(
    table: CountingTable, key: tuple[int, int], shoes: int, traced: int = 0, adjusted: bool = True
) -> tuple[CountSums, Array]:
    """Play whole shoes.

    Args:
        table: The table.
        key: The key of the random stream, which is read from its beginning.
        shoes: The number of shoes.
        traced: The number of first rounds to trace.
        adjusted: Whether profits are luck-adjusted. The cards are the same either way.

    Returns:
        The sums, and a trace of the first rounds, see `CountTally.trace`.

    Raises:
        EndlessSplitting: A seat reached the limit on hands.
    """
    compiled, counter, buckets = table.compiled, table.counter, len(table.counter.model)
    spots = int(counter.spots.max())
    seats = counter.seat + spots
    quantum, size = count_quantum(table.unit), (PRODUCTS + (spots > 1)) * buckets
    tally = CountTally(
        quantum=float(quantum),
        times=int(table.unit / quantum),
        raw=np.zeros((buckets, RAW), np.int64),
        now=np.zeros(size),
        used=np.zeros(size, np.int64),
        shoes=np.zeros(2, np.int64),
        sums=np.zeros((2, size)),
        products=np.zeros((2, size, size)),
        trace=np.zeros((traced, 3 + spots), np.int64),
    )
    state = np.zeros(1, COUNT)
    state["chunk"] = -1
    at_table = compiled._replace(act=compiled.act[np.zeros(seats, np.int64)])  # whose length is the number of seats
    luck_model = table.luck_model._replace(chart=np.zeros(seats, np.int64))
    counter = counter._replace(state=state, unseen=np.zeros_like(counter.full))
    ledger = open_ledger(at_table, luck_model, float(table.unit), 0)
    control = table.control._replace(left=table.control.full.copy())
    rounds = play_counting(
        compiled,
        make_shoe(compiled, key),
        shoes,
        make_seats(at_table),
        counter,
        luck_model if adjusted else None,
        ledger,
        control,
        tally,
    )
    if rounds == RAN_AWAY:
        raise EndlessSplitting(ENDLESS)
    return CountSums(tally.raw, tally.shoes, tally.sums, tally.products), tally.trace[:rounds]
