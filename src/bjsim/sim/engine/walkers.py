"""The walkers of the round table: arrays, which need no compiler, and kernels for long jobs.

Which of them plays does not change a bit of any result.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cached_property

from bjsim.sim.engine.array_play import LeftTable, Played, play_blocks
from bjsim.sim.engine.array_walker import SeatRows, seat_rows
from bjsim.sim.engine.kernels.layout import CompiledRules
from bjsim.sim.engine.kernels.table_layout import LookupTable, TableSeats
from bjsim.sim.engine.packed_tables import pack_seats, pack_table
from bjsim.sim.engine.round_table import make_round_tables
from bjsim.sim.game.random_stream import stream_key

WORTH_LOADING = 2_000_000  # rounds of one seat that arrays play about as quickly as kernels are loaded from the cache
WORTH_COMPILING = 50_000_000  # rounds of one seat that arrays play about as quickly as kernels are compiled

PILOT, PILOT_TABLE = 1 << 14, 2**32  # rounds, and a table number that no run uses


class Walkers:
    """The walkers of one table.

    Args:
        compiled: The compiled rules of its seats.
    """

    def __init__(self, compiled: CompiledRules) -> None:
        self.compiled = compiled
        self._seats = len(compiled.act)
        self._tables = make_round_tables(compiled)

    @cached_property
    def _rows(self) -> SeatRows:
        if self._tables is None:
            raise LeftTable
        return seat_rows(*self._tables)

    @cached_property
    def _lanes(self) -> LookupTable | None:
        return pack_table(self.compiled, self._tables[0][0]) if self._tables and self._seats == 1 else None

    @cached_property
    def _packed_seats(self) -> TableSeats | None:
        return pack_seats(*self._tables) if self._tables else None

    @cached_property
    def cards_in_round(self) -> float:
        """The typical number of cards in a round, estimated on a separate stream; 0 for an infinite shoe."""
        if not self.compiled.numbers.shoe_size:
            return 0.0
        return float(self.trace(stream_key(0, PILOT_TABLE, 0), PILOT).traces[0][-1, -1] / PILOT)

    def compile(self) -> None:
        """Have the kernels ready that play this table."""
        from bjsim.sim.engine.rounds import play_lanes, play_seats  # imports numba

        nothing = [(0, 0)], [0]
        if self._lanes:
            play_lanes(self.compiled, self._lanes, *nothing)
        elif self._packed_seats:
            play_seats(self.compiled, self._packed_seats, *nothing)

    def play(self, keys: Sequence[tuple[int, int]], rounds: Sequence[int]) -> Played:
        """Play blocks.

        Args:
            keys: The key of each block's random stream, which is read from its beginning.
            rounds: The number of rounds of each block.

        Raises:
            LeftTable: A round left the table, or there is none.
        """
        if self._lanes and _are_ready("run_table", sum(rounds)):
            from bjsim.sim.engine.rounds import play_lanes  # imports numba

            return Played(*play_lanes(self.compiled, self._lanes, keys, rounds), [])
        if not self._lanes and self._packed_seats and _are_ready("seats_table", sum(rounds) * self._seats):
            from bjsim.sim.engine.rounds import play_seats  # imports numba

            return Played(*play_seats(self.compiled, self._packed_seats, keys, rounds)[:2], [], [])
        return play_blocks(self.compiled, self._rows, keys, rounds)

    def trace(self, key: tuple[int, int], rounds: int) -> Played:
        """Play a block, and trace all its rounds. Raises: LeftTable."""
        if self._packed_seats and "numba" in sys.modules and _are_ready("seats_table", WORTH_LOADING):
            from bjsim.sim.engine.rounds import play_seats

            counts, outside, trace = play_seats(self.compiled, self._packed_seats, [key], [rounds], rounds)
            return Played(counts, outside, [trace], [])
        return play_blocks(self.compiled, self._rows, [key], [rounds], traced=True)


def _are_ready(kernel: str, rounds: int) -> bool:
    """Whether so many rounds of one seat pay for loading a kernel that need not be compiled."""
    if rounds < WORTH_LOADING:
        return False
    try:
        from bjsim.sim.engine.jit import is_cached
        from bjsim.sim.engine.kernels import run_table, seats_table
    except ImportError:  # numba is missing
        return False
    return is_cached({"run_table": run_table.run_table, "seats_table": seats_table.run_seats}[kernel])
