"""Plays shoes with the counting round: makes the arrays of its kernel.

Import this module only where rounds are played: importing numba takes a third of a second.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bjsim.errors import EndlessSplitting
from bjsim.sim.engine.counting_table import CountingTable, CountSums, UnitSums, count_quantum
from bjsim.sim.engine.kernels.count_layout import COUNT, PRODUCTS, RAW, Counter, CountLanes, CountTally
from bjsim.sim.engine.kernels.count_table import LANES, count_by_table
from bjsim.sim.engine.kernels.counting import play_counting
from bjsim.sim.engine.kernels.layout import ENDLESS, CompiledRules
from bjsim.sim.engine.kernels.play import RAN_AWAY
from bjsim.sim.engine.packed_tables import count_bets
from bjsim.sim.engine.rounds import make_seats, make_shoe, open_ledger

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
    play(shoes)
    return CountSums(tally.raw, tally.shoes, tally.sums, tally.products), tally.trace[: tally.rounds[0]]


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


def _open_table(table: CountingTable, key: tuple[int, int], traced: int) -> tuple[Callable[[int], None], CountTally]:
    """Make a function that plays the next shoes, and the tally to which it adds."""
    compiled, lookup, tally = count_bets(table.compiled), table.lookup, _make_tally(table, traced)
    seats = table.counter.seat + len(tally.paid)
    state = np.zeros(1, COUNT)
    state["chunk"] = -1
    counter = table.counter._replace(state=state, unseen=np.zeros_like(table.counter.full))
    at_table = compiled._replace(act=compiled.act[np.zeros(seats, np.int64)])  # whose length is the number of seats
    shoe, hands = make_shoe(compiled, key), make_seats(at_table)
    luck_model = ledger = None
    if table.adjusted:
        luck_model = table.luck_model._replace(chart=np.zeros(seats, np.int64))
        ledger = open_ledger(at_table, luck_model, float(table.unit), 0)
    control = table.control._replace(left=table.control.full.copy())
    lanes = _make_lanes(compiled, counter) if lookup else None

    def play(shoes: int) -> None:
        while shoes:
            if lookup and shoe.read[0] >= compiled.numbers.cut:
                shoes -= count_by_table(compiled, shoe, shoes, lookup, counter, lanes, tally)
            now = min(shoes, 1) if lookup else shoes  # one that runs out during a round, and the rest of the next
            if now:
                end = play_counting(compiled, shoe, now, hands, counter, luck_model, ledger, control, tally)
                if end == RAN_AWAY:
                    raise EndlessSplitting(ENDLESS)
                shoes -= now

    return play, tally


def _make_tally(table: CountingTable, traced: int) -> CountTally:
    buckets, spots, quantum = len(table.counter.model), int(table.counter.spots.max()), count_quantum(table.unit)
    size = (PRODUCTS + (spots > 1)) * buckets
    return CountTally(
        quantum=float(quantum),
        times=int(table.unit / quantum),
        bet=float(table.unit),
        raw=np.zeros((buckets, RAW), np.int64),
        now=np.zeros(size),
        used=np.zeros(size, np.int64),
        shoes=np.zeros(2, np.int64),
        sums=np.zeros((2, size)),
        products=np.zeros((2, size, size)),
        paid=np.zeros(spots, np.int64),
        rounds=np.zeros(1, np.int64),
        trace=np.zeros((traced, 3 + spots), np.int64),
    )


def _make_lanes(compiled: CompiledRules, counter: Counter) -> CountLanes:
    size, opening = compiled.numbers.shoe_size, compiled.deal.tolist()
    ready, chunk, row, logged = np.zeros((4, LANES), np.int64)
    log = np.zeros((LANES, size + 2), np.uint32)
    log[:, 0] = 1
    return CountLanes(
        open=opening.index(1),
        hole=len(opening) - 1 - counter.after if counter.after >= 0 else -1,
        cards=np.zeros((LANES, size), np.uint8),
        ready=ready,
        chunk=chunk,
        running=np.zeros((LANES, size + 1), np.int64),
        row=row,
        log=log,
        logged=logged,
    )
