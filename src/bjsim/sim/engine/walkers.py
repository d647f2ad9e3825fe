"""The walkers of the round table: arrays, which need no compiler, and kernels for long jobs.

Which of them plays does not change a bit of any result.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress
from fractions import Fraction
from functools import cached_property
from typing import Any

from bjsim.sim.engine.array_play import Played, PlayRound, play_blocks
from bjsim.sim.engine.kernels.layout import CompiledRules
from bjsim.sim.engine.kernels.table_layout import LookupTable, RowLuck, SeatRows, TableSeats
from bjsim.sim.engine.lockstep import seat_rows
from bjsim.sim.engine.luck_tables import Luck, make_luck
from bjsim.sim.engine.packed_tables import pack_luck, pack_seats, pack_table
from bjsim.sim.engine.round_table import LeftTable, make_round_tables
from bjsim.sim.engine.row_values import RowValues, make_row_values
from bjsim.sim.engine.table_room import rank_probabilities
from bjsim.sim.game.random_stream import stream_key

WORTH_LOADING = 2_000_000  # rounds of one seat that arrays play about as quickly as kernels are loaded from the cache
WORTH_COMPILING = 50_000_000  # rounds of one seat that arrays play about as quickly as kernels are compiled
LUCK_COSTS = 10  # times as much of the time of arrays
WORTH_COMPILING_LUCK = 5_000_000  # the same for luck-adjusted rounds

PILOT, PILOT_TABLE = 1 << 14, 2**32  # rounds, and a table number that no run uses


class Walkers:
    """The walkers of one table; `play_round` plays a round that leaves the round table."""

    def __init__(self, compiled: CompiledRules, play_round: PlayRound) -> None:
        self.compiled = compiled
        self.play_round = play_round
        self._seats = len(compiled.act)
        self.tables = make_round_tables(compiled)
        self._adjusted: dict[Fraction, AdjustedWalkers] = {}
        self._by_arrays = 0
        self.loaded = set[str]()  # kernels, which play from now on

    @cached_property
    def rows(self) -> SeatRows:
        return seat_rows(*self.tables)

    @cached_property
    def _lanes(self) -> LookupTable | None:
        return pack_table(self.compiled, self.tables[0][0]) if self._seats == 1 else None

    @cached_property
    def packed_seats(self) -> TableSeats | None:
        return pack_seats(*self.tables)

    @cached_property
    def cards_in_round(self) -> float:
        """The typical number of cards in a round, estimated on a separate stream; 0 for an infinite shoe."""
        if not self.compiled.numbers.shoe_size:
            return 0.0
        return float(self.trace(stream_key(0, PILOT_TABLE, 0), PILOT).traces[0][-1, -1] / PILOT)

    def adjusted(self, unit: Fraction) -> AdjustedWalkers:
        """The same walkers with luck, for a payoff quantum of `unit` initial bets."""
        if unit not in self._adjusted:
            self._adjusted[unit] = AdjustedWalkers(self, unit)
        return self._adjusted[unit]

    @property
    def kernel(self) -> str:
        """The kernel that plays long runs, or an empty string."""
        return "run_table" if self._lanes else "seats_table" if self.packed_seats else ""

    def compile(self) -> None:
        from bjsim.sim.engine.rounds import play_lanes, play_seats  # imports numba

        nothing = [(0, 0)], [0]
        if self._lanes:
            play_lanes(self.compiled, self._lanes, *nothing)
        elif self.packed_seats:
            play_seats(self.compiled, self.packed_seats, *nothing)
        self.loaded.add(self.kernel)

    def expect(self, rounds: float) -> None:
        """Load the kernel if it is compiled and pays for this many rounds of one seat, which will follow."""
        if self.kernel and _are_ready(self.kernel, rounds):
            self.loaded.add(self.kernel)

    def play(self, keys: Sequence[tuple[int, int]], rounds: Sequence[int]) -> Played:
        """Play blocks from the beginnings of their keys' streams; EndlessSplitting at the limit on hands."""
        with suppress(LeftTable):
            ready = self.kernel and self.are_ready(self.kernel, sum(rounds) * self._seats)
            if ready and self._lanes:
                from bjsim.sim.engine.rounds import play_lanes  # imports numba

                return Played(*play_lanes(self.compiled, self._lanes, keys, rounds), [])
            if ready and self.packed_seats:
                from bjsim.sim.engine.rounds import play_seats  # imports numba

                return Played(*play_seats(self.compiled, self.packed_seats, keys, rounds)[:2], [], [])
        return play_blocks(self.compiled, self.rows, self.play_round, keys, rounds)

    def are_ready(self, kernel: str, rounds: int) -> bool:
        """Whether a kernel should play this many rounds of one seat, even if it must be compiled first.

        A run to a given precision cannot know its length in advance, so the kernel is loaded, or compiled, once arrays
        have played enough rounds.
        """
        if kernel in self.loaded:
            return True
        self._by_arrays += rounds
        long = self._by_arrays >= WORTH_COMPILING and kernel in have_kernels()
        if long or _are_ready(kernel, self._by_arrays):
            self.loaded.add(kernel)
        return kernel in self.loaded

    def trace(self, key: tuple[int, int], rounds: int) -> Played:
        if self.packed_seats and "numba" in sys.modules and _are_ready("seats_table", WORTH_LOADING):
            from bjsim.sim.engine.rounds import play_seats

            with suppress(LeftTable):
                counts, outside, trace, _ = play_seats(self.compiled, self.packed_seats, [key], [rounds], rounds)
                return Played(counts, outside, [trace], [])
        return play_blocks(self.compiled, self.rows, self.play_round, [key], [rounds], traced=True)


class AdjustedWalkers:
    """The walkers of one table that also count luck; `unit` is the payoff quantum, in initial bets."""

    def __init__(self, walkers: Walkers, unit: Fraction) -> None:
        self.walkers = walkers
        self.unit = unit

    @cached_property
    def row_values(self) -> list[RowValues]:
        probabilities = rank_probabilities(self.walkers.compiled)
        return [make_row_values(table, probabilities, self.unit) for table in self.walkers.tables[0]]

    @cached_property
    def values(self) -> list[float]:
        """The value of a round per settled bet for each seat's chart, in initial bets; nan if it is not finite."""
        return [self.row_values[chart].value for chart in self.walkers.tables[1].tolist()]

    @cached_property
    def rounds_in_shoe(self) -> int:
        """The typical number of rounds that start in one shoe; 1 for an infinite shoe."""
        if not (cards := self.walkers.cards_in_round):
            return 1
        cut = self.walkers.compiled.numbers.cut
        return max(round(cut / cards + 0.5), 1)  # the round in which the cut card appears is played

    @cached_property
    def luck(self) -> Luck:
        cards = self.walkers.cards_in_round
        return make_luck(self.row_values, self.walkers.tables[1], self.walkers.compiled, self.unit, cards)

    @cached_property
    def _packed(self) -> RowLuck:
        return pack_luck(self.luck)

    def compile(self) -> None:
        from bjsim.sim.engine.rounds import play_seats  # imports numba

        if not self.walkers.compiled.numbers.shoe_size:
            self.walkers.compile()
        elif self.walkers.packed_seats:
            play_seats(self.walkers.compiled, self.walkers.packed_seats, [(0, 0)], [0], 0, self._packed)
            self.walkers.loaded.add("adjusted")

    def expect(self, rounds: float) -> None:
        """As `Walkers.expect`."""
        if not self.walkers.compiled.numbers.shoe_size:
            self.walkers.expect(rounds)
        elif _are_ready("adjusted", LUCK_COSTS * rounds):
            self.walkers.loaded.add("adjusted")

    def play(self, keys: Sequence[tuple[int, int]], rounds: Sequence[int]) -> Played:
        """Play blocks, as `Walkers.play`, and count luck, unless the shoe is infinite: none would be left in it."""
        compiled, seats = self.walkers.compiled, self.walkers.packed_seats
        if not compiled.numbers.shoe_size:
            return self.walkers.play(keys, rounds)
        if seats and self.walkers.are_ready("adjusted", LUCK_COSTS * sum(rounds) * len(compiled.act)):
            from bjsim.sim.engine.rounds import play_seats  # imports numba

            with suppress(LeftTable):
                counts, outside, _, shoes = play_seats(compiled, seats, keys, rounds, 0, self._packed)
                return Played(counts, outside, [], shoes)
        return play_blocks(compiled, self.walkers.rows, self.walkers.play_round, keys, rounds, luck=self.luck)


def have_kernels() -> dict[str, Any]:
    """Load the kernels of runs, which takes half a second. Returns: them by name; empty if numba is missing."""
    try:
        from bjsim.sim.engine.kernels import adjusted_table, run_table, seats_table
    except ImportError:
        return {}
    return {
        "run_table": run_table.run_table,
        "seats_table": seats_table.run_seats,
        "adjusted": adjusted_table.run_adjusted,
    }


def _are_ready(kernel: str, rounds: float) -> bool:
    """Whether this many rounds of one seat pay for loading a kernel that need not be compiled."""
    if rounds < WORTH_LOADING or not (kernels := have_kernels()):
        return False
    from bjsim.sim.engine.jit import is_cached

    return is_cached(kernels[kernel])
