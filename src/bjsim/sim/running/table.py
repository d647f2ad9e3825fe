"""Tables: seats that share a shoe, played a block at a time.

A block is the unit of work: a run of rounds with its own random stream. The size of a block depends only on its number,
so a result depends only on (rules, players, seed, tables, hands).
"""

from __future__ import annotations

import copy
import logging
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import islice
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from bjsim.errors import RunFailed
from bjsim.sim.engine.compiled_rules import payoff_code
from bjsim.sim.engine.kernels.layout import TIED, CompiledRules, LuckModel
from bjsim.sim.engine.kernels.table_layout import LookupTable
from bjsim.sim.engine.lookup_table import make_lookup_table
from bjsim.sim.game.actions import Player
from bjsim.sim.game.random_stream import Stream, stream_key
from bjsim.sim.game.round import Round, RoundResult
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.shoe import open_shoe
from bjsim.sim.stats.luck_tally import LuckTally
from bjsim.sim.stats.tally import Tally

Array = np.ndarray[Any, Any]

FIRST_BLOCK = 1 << 10
LARGEST_BLOCK = 1 << 16
_DOUBLINGS = (LARGEST_BLOCK // FIRST_BLOCK).bit_length() - 1

log = logging.getLogger("bjsim")


def block_start(block: int) -> int:
    """The number of rounds before block `block` of a table: 0, 1024, 2048, 4096, .. 65536, then 65536 more each."""
    if block <= _DOUBLINGS + 1:
        return FIRST_BLOCK << (block - 1) if block else 0
    return LARGEST_BLOCK * (block - _DOUBLINGS)


def block_number(round_number: int) -> int:
    """The block that contains round `round_number` (from 0) of a table."""
    if round_number < LARGEST_BLOCK:
        return (round_number // FIRST_BLOCK).bit_length()
    return round_number // LARGEST_BLOCK + _DOUBLINGS


class Span(NamedTuple):
    """The first `rounds` rounds of a block."""

    block: int
    rounds: int


class Table(Protocol):
    """Seats that share a shoe. Tables are sent to other processes, so they must be picklable."""

    @property
    def seats(self) -> int:
        """The number of seats."""
        ...

    @property
    def blocks_at_once(self) -> int:
        """The largest number of blocks of the largest size in one job."""
        ...

    def play(self, seed: int, table: int, spans: Sequence[Span]) -> list[Tally]:
        """Play blocks.

        Args:
            seed: The seed of the random streams.
            table: The table's number.
            spans: The blocks, and how many of their rounds to play.

        Returns:
            A tally for each seat.
        """
        ...


class TracedTable(Table, Protocol):
    """A table that can return the payoffs of every round."""

    def play_traced(self, seed: int, table: int, span: Span) -> tuple[list[Tally], Array]:
        """Play a block.

        Args:
            seed: The seed of the random streams.
            table: The table's number.
            span: The block, and how many of its rounds to play.

        Returns:
            A tally for each seat, and the trace: for each round a row with each seat's payoff code (see
            `CompiledRules`) and the number of cards dealt so far, int64 (rounds, seats + 1).
        """
        ...


@runtime_checkable
class WatchedTable(Table, Protocol):
    """A table that can return the played part of an unfinished block."""

    def so_far(self, table: int, block: int) -> list[Tally]:
        """The rounds of this block played so far by any thread of this process; a tally for each seat."""
        ...


# a cache for each process: lookup tables are larger than the compiled rules, and quickly made
_lookup_tables: dict[tuple[object, ...], LookupTable | None] = {}


def _lookup_table(compiled: CompiledRules) -> LookupTable | None:
    """Return the lookup table of compiled rules, from the cache if it was made before."""
    key = tuple((a.shape, a.tobytes()) if isinstance(a, np.ndarray) else a for a in compiled)
    if key not in _lookup_tables:
        _lookup_tables[key] = make_lookup_table(compiled)
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
        from bjsim.sim.engine.rounds import play_blocks, play_rounds  # imports numba

        keys = [stream_key(seed, table, span.block) for span in spans]
        if lookup := _lookup_table(self.compiled):
            counts, outside, _ = play_blocks(self.compiled, lookup, keys, [span.rounds for span in spans])
            return make_tallies(self.unit, counts, outside)
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
            LuckTally(value, usual, int(n), *rest) for value, (n, *rest) in zip(values, sums.tolist(), strict=True)
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
        rare = {decode(code): count for code, count in zip(codes.tolist(), times.tolist(), strict=True)}
        tallies.append(Tally(unit, dense) + Tally(unit, rare))
    return tallies


def decode(code: int) -> tuple[int, int]:
    """Split a payoff code into payoff quanta won and initial bets tied."""
    tied = (code + TIED // 2) // TIED
    return code - tied * TIED, tied


@dataclass(frozen=True)
class ReadableTable:
    """A table played in the readable round, by any players, at up to thousands of rounds a second.

    Attributes:
        rules: The rules of the game.
        players: One player for each seat.
    """

    rules: Rules
    players: Sequence[Player]
    blocks_at_once = 1  # some seconds
    # by thread: table, block and trace so far of the block that it played last
    _at: dict[int, tuple[int, int, Array]] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def seats(self) -> int:
        return len(self.players)

    def rounds(self, seed: int, table: int, block: int) -> Iterator[Round]:
        """Yield the rounds of a block, ready to be played, without end.

        Players are copied for each block, so the memory of a player never carries over from one block to another.
        """
        shoe = open_shoe(self.rules, Stream(seed, table, block))
        players = [copy.deepcopy(player) for player in self.players]
        while True:
            yield Round(self.rules, shoe, players)

    def replay(self, seed: int, table: int, number: int) -> RoundResult:
        """Replay round `number` (from 0) of a table, after the earlier rounds of its block."""
        block = block_number(number)
        rounds = self.rounds(seed, table, block)
        for earlier in islice(rounds, number - block_start(block)):
            earlier.play()
        return next(rounds).play()

    def play(self, seed: int, table: int, spans: Sequence[Span]) -> list[Tally]:
        played = [self.play_traced(seed, table, span)[0] for span in spans]
        return [sum(tallies, start=Tally()) for tallies in zip(*played, strict=True)]

    def play_traced(self, seed: int, table: int, span: Span) -> tuple[list[Tally], Array]:
        trace = np.empty((span.rounds, self.seats + 1), np.int64)
        dealt, thread = 0, threading.get_ident()
        for number, game in enumerate(islice(self.rounds(seed, table, span.block), span.rounds)):
            played = game.play()
            dealt += sum(event.what in ("card", "hidden") for event in played.events)
            payoffs = zip(played.net, played.tied, strict=True)
            trace[number] = [*(payoff_code(net, tied, self.rules.unit) for net, tied in payoffs), dealt]
            self._at[thread] = table, span.block, trace[: number + 1]
        return self._tallies(trace), trace

    def so_far(self, table: int, block: int) -> list[Tally]:
        traces = [trace for *position, trace in list(self._at.values()) if position == [table, block]]
        return self._tallies(traces[0]) if traces else [Tally()] * self.seats

    def _tallies(self, trace: Array) -> list[Tally]:
        return [Tally.of(self.rules.unit, map(decode, codes)) for codes in trace.T[:-1].tolist()]


def play_blocks(table: Table, seed: int, number: int, first: int, last: int, until: int) -> list[Tally]:
    """Play consecutive blocks of a table. This is the function that the driver submits to executors.

    Args:
        table: The table.
        seed: The seed of the random streams.
        number: The table's number.
        first: The first block.
        last: The last block.
        until: Rounds that the table plays in all; later rounds of the last block are left out.

    Returns:
        A tally for each seat.

    Raises:
        RunFailed: A tally lacks rounds.
    """
    began = time.perf_counter()
    spans = make_spans(first, last, until)
    tallies = table.play(seed, number, spans)
    check_rounds(tallies, spans)
    rounds = sum(span.rounds for span in spans)
    log.info("table %d blocks %d-%d: %d rounds in %.3f s", number, first, last, rounds, time.perf_counter() - began)
    return tallies


def make_spans(first: int, last: int, until: int) -> list[Span]:
    """Blocks `first` .. `last`, up to round `until` of the table."""
    starts = [block_start(block) for block in range(first, last + 2)]
    return [Span(first + i, min(starts[i + 1], until) - start) for i, start in enumerate(starts[:-1])]


def check_rounds(tallies: Sequence[Tally], spans: Sequence[Span]) -> None:
    """Check that every seat's tally has all rounds of these blocks. Raises: RunFailed."""
    rounds = sum(span.rounds for span in spans)
    if any(tally.rounds != rounds for tally in tallies):
        raise RunFailed(f"blocks of {rounds} rounds returned tallies of {[tally.rounds for tally in tallies]} rounds")
