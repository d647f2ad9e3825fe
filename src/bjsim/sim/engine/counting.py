"""Plays shoes with the counting round: makes the arrays of its kernel.

Import this module only where rounds are played: importing numba takes a third of a second.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bjsim.errors import EndlessSplitting
from bjsim.sim.engine.counting_table import CountingTable, CountSums, UnitSums, count_quantum
from bjsim.sim.engine.kernels.count_layout import COUNT, PRODUCTS, RAW, CountTally
from bjsim.sim.engine.kernels.counting import play_counting
from bjsim.sim.engine.kernels.play import RAN_AWAY
from bjsim.sim.engine.rounds import ENDLESS, make_seats, make_shoe, open_ledger

Array = np.ndarray[Any, Any]


def play_shoes(table: CountingTable, key: tuple[int, int], shoes: int, traced: int = 0) -> tuple[CountSums, Array]:
    """Play whole shoes.

    Args:
        table: The table.
        key: The key of the random stream, which is read from its beginning.
        shoes: The number of shoes.
        traced: The number of first rounds to trace.

    Returns:
        The sums, and a trace of the first rounds, see `CountTally.trace`.

    Raises:
        EndlessSplitting: A seat reached the limit on hands.
    """
    play, tally = _open_table(table, key, traced)
    rounds = play(shoes)
    return CountSums(tally.raw, tally.shoes, tally.sums, tally.products), tally.trace[:rounds]


def play_units(table: CountingTable, key: tuple[int, int], shoes: int, unit: int) -> tuple[CountSums, UnitSums]:
    """Play whole shoes, the same as `play_shoes`, and keep the sums of a few shoes each.

    Args:
        table: The table.
        key: The key of the random stream, which is read from its beginning.
        shoes: The number of shoes.
        unit: The shoes of a unit, an even number. The last one has what is left.

    Returns:
        The sums, and those by unit.

    Raises:
        EndlessSplitting: A seat reached the limit on hands.
    """
    play, tally = _open_table(table, key, 0)
    numbers, sums = [tally.shoes.copy()], [tally.sums.copy()]
    for begun in range(0, shoes, unit):
        play(min(unit, shoes - begun))
        numbers.append(tally.shoes.copy())
        sums.append(tally.sums.copy())
    units = UnitSums(np.diff(np.array(numbers), axis=0), np.diff(np.array(sums), axis=0))
    return CountSums(tally.raw, tally.shoes, tally.sums, tally.products), units


def _open_table(table: CountingTable, key: tuple[int, int], traced: int) -> tuple[Callable[[int], int], CountTally]:
    """Make a function that plays the next shoes and returns the number of rounds, and the tally to which it adds."""
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
    shoe, at_seats, model = make_shoe(compiled, key), make_seats(at_table), luck_model if table.adjusted else None

    def play(shoes: int) -> int:
        rounds = play_counting(compiled, shoe, shoes, at_seats, counter, model, ledger, control, tally)
        if rounds == RAN_AWAY:
            raise EndlessSplitting(ENDLESS)
        return int(rounds)

    return play, tally
