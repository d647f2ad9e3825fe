"""Tables whose seats all play charts, in the compiled round."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from bjsim.sim.engine.kernels.layout import CompiledRules, LuckModel, payoff_parts
from bjsim.sim.engine.kernels.table_layout import LookupTable, TableSeats
from bjsim.sim.engine.lookup_table import make_lookup_table, make_table_seats
from bjsim.sim.game.random_stream import stream_key
from bjsim.sim.running.blocks import Span
from bjsim.sim.stats.estimate import RatioSums
from bjsim.sim.stats.luck_tally import LuckTally
from bjsim.sim.stats.tally import Tally

Array = np.ndarray[Any, Any]

# a cache for each process: lookup tables are larger than the compiled rules, and quickly made
_lookup_tables: dict[tuple[object, ...], LookupTable | TableSeats | None] = {}


def _lookup_table(compiled: CompiledRules) -> LookupTable | TableSeats | None:
    key = tuple((a.shape, a.tobytes()) if isinstance(a, np.ndarray) else a for a in compiled)
    if key not in _lookup_tables:
        _lookup_tables[key] = make_lookup_table(compiled) or make_table_seats(compiled)
    return _lookup_tables[key]


@dataclass(frozen=True)
class CompiledTable:
    """A table whose seats all play charts, in the compiled round or, where possible, by a lookup table.

    Attributes:
        compiled: The compiled rules and charts.
        unit: The payoff quantum, as a share of an initial bet.
    """

    compiled: CompiledRules
    unit: Fraction
    blocks_at_once = 32  # two million rounds, some tenths of a second

    @property
    def seats(self) -> int:
        return len(self.compiled.act)

    def play(self, seed: int, table: int, spans: Sequence[Span]) -> list[Tally]:
        from bjsim.sim.engine.rounds import play_blocks, play_by_table, play_rounds  # imports numba

        keys, rounds = [stream_key(seed, table, span.block) for span in spans], [span.rounds for span in spans]
        lookup = _lookup_table(self.compiled)
        if isinstance(lookup, LookupTable):
            counts, outside, _ = play_blocks(self.compiled, lookup, keys, rounds)
            return make_tallies(self.unit, counts, outside)
        if lookup is not None:
            return make_tallies(self.unit, play_by_table(self.compiled, lookup, keys, rounds)[0], np.zeros((0, 2)))
        totals = [Tally()] * self.seats
        for key, span in zip(keys, spans, strict=True):
            counts, outside, _ = play_rounds(self.compiled, key, span.rounds)
            played = make_tallies(self.unit, counts, outside)
            totals = [total + one for total, one in zip(totals, played, strict=True)]
        return totals

    def play_traced(self, seed: int, table: int, span: Span) -> tuple[list[Tally], Array]:
        from bjsim.sim.engine.rounds import play_rounds  # imports numba

        key = stream_key(seed, table, span.block)
        counts, outside, trace = play_rounds(self.compiled, key, span.rounds, span.rounds)
        return make_tallies(self.unit, counts, outside), trace


@dataclass(frozen=True)
class AdjustedTable:
    """A table whose seats all play charts, with luck-adjusted returns. Attributes as for `CompiledTable`."""

    compiled: CompiledRules
    unit: Fraction
    luck_model: LuckModel
    blocks_at_once = 16  # about a second

    @property
    def seats(self) -> int:
        return len(self.compiled.act)

    def play(self, seed: int, table: int, spans: Sequence[Span]) -> list[Tally]:
        played = [self._play(stream_key(seed, table, span.block), span.rounds) for span in spans]
        return [sum(tallies, start=Tally()) for tallies in zip(*played, strict=True)]

    def play_traced(self, seed: int, table: int, span: Span) -> tuple[list[Tally], Array]:
        _, trace = CompiledTable(self.compiled, self.unit).play_traced(seed, table, span)
        return self.play(seed, table, [span]), trace

    def _play(self, key: tuple[int, int], rounds: int) -> list[Tally]:
        from bjsim.sim.engine.rounds import play_adjusted  # imports numba

        counts, outside, sums, usual = play_adjusted(self.compiled, self.luck_model, float(self.unit), key, rounds)
        tallies = make_tallies(self.unit, counts, outside)
        values = self.luck_model.value[self.luck_model.chart].tolist()
        lucks = [
            LuckTally(value, usual, RatioSums(int(n), *rest))
            for value, (n, *rest) in zip(values, sums.tolist(), strict=True)
        ]
        return [replace(tally, luck=luck) for tally, luck in zip(tallies, lucks, strict=True)]


def make_tallies(unit: Fraction, counts: Array, outside: Array) -> list[Tally]:
    """Make the tallies of all seats from the counts of a kernel.

    Args:
        unit: The payoff quantum, as a share of an initial bet.
        counts: Frequencies of payoffs, int64 (seats, ties + 1, 2 width + 1); see `Counts.dense`.
        outside: Payoffs outside that window, rows of (seat, payoff code), int64 (n, 2).
    """
    width = counts.shape[2] // 2
    tallies = []
    for seat in range(len(counts)):
        tied, column = counts[seat].nonzero()
        dense = {(int(p) - width, int(t)): int(counts[seat, t, p]) for t, p in zip(tied, column, strict=True)}
        codes, times = np.unique(outside[outside[:, 0] == seat, 1], return_counts=True)
        rare = {payoff_parts(code): count for code, count in zip(codes.tolist(), times.tolist(), strict=True)}
        tallies.append(Tally(unit, dense) + Tally(unit, rare))
    return tallies
