"""Tables: seats that share a shoe, played a block at a time.

A block is a run of rounds with a random stream of its own: the unit of work. Block sizes depend on their number only,
so a result depends on (rules, players, seed, tables, hands) and on nothing else.
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
from bjsim.sim.engine.kernels.layout import TIED, LuckModel, Plan
from bjsim.sim.engine.kernels.table_layout import Fold
from bjsim.sim.engine.plan import payoff_code
from bjsim.sim.engine.round_table import fold
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
    """Number of rounds a table plays before block `block`: 0, 1024, 2048, 4096, .. 65536, then 65536 more each."""
    if block <= _DOUBLINGS + 1:
        return FIRST_BLOCK << (block - 1) if block else 0
    return LARGEST_BLOCK * (block - _DOUBLINGS)


def block_of(round_number: int) -> int:
    """The block in which a table plays its round `round_number` (from 0)."""
    if round_number < LARGEST_BLOCK:
        return (round_number // FIRST_BLOCK).bit_length()
    return round_number // LARGEST_BLOCK + _DOUBLINGS


class Span(NamedTuple):
    """The first `rounds` rounds of a block."""

    block: int
    rounds: int


class Table(Protocol):
    """Seats that share a shoe. Tables travel to other processes, so they can be pickled."""

    @property
    def seats(self) -> int:
        """How many seats are taken."""
        ...

    @property
    def blocks_at_once(self) -> int:
        """How many blocks of the largest size make up one job at most."""
        ...

    def play(self, seed: int, table: int, spans: Sequence[Span]) -> list[Tally]:
        """Play these blocks; one tally for each seat."""
        ...


class TracedTable(Table, Protocol):
    """A table that can tell round by round what was paid."""

    def play_traced(self, seed: int, table: int, span: Span) -> tuple[list[Tally], Array]:
        """Play a block; a tally for each seat, and the trace: for every round a row of each seat's payoff code (see
        `plan.py`) and the number of cards dealt so far. (rounds, seats + 1), int64."""
        ...


@runtime_checkable
class WatchedTable(Table, Protocol):
    """A table that can tell what it has played of a block before the block is done."""

    def so_far(self, table: int, block: int) -> list[Tally]:
        """The rounds of this block that were played here, by any thread; one tally for each seat."""
        ...


_folds: dict[tuple[object, ...], Fold | None] = {}  # of this process: folds are larger than plans, and quickly made


def _fold_of(plan: Plan) -> Fold | None:
    """The fold of a plan, made when it is first asked for."""
    what = tuple((a.shape, a.tobytes()) if isinstance(a, np.ndarray) else a for a in plan)
    if what not in _folds:
        _folds[what] = fold(plan)
    return _folds[what]


@dataclass(frozen=True)
class CompiledTable:
    """A table whose seats all play charts: a plan for the compiled round, folded where that is possible."""

    plan: Plan
    unit: Fraction
    blocks_at_once = 32  # two million rounds, some tenths of a second

    @property
    def seats(self) -> int:
        return len(self.plan.act)

    def play(self, seed: int, table: int, spans: Sequence[Span]) -> list[Tally]:
        from bjsim.sim.engine.rounds import play_blocks, play_rounds  # imports numba

        keys = [stream_key(seed, table, span.block) for span in spans]
        if folded := _fold_of(self.plan):
            counts, outside, _ = play_blocks(self.plan, folded, keys, [span.rounds for span in spans])
            return tallies_of(self.unit, counts, outside)
        totals = [Tally()] * self.seats
        for key, span in zip(keys, spans, strict=True):
            counts, outside, _ = play_rounds(self.plan, key, span.rounds)
            played = tallies_of(self.unit, counts, outside)
            totals = [total + one for total, one in zip(totals, played, strict=True)]
        return totals

    def play_traced(self, seed: int, table: int, span: Span) -> tuple[list[Tally], Array]:
        from bjsim.sim.engine.rounds import play_rounds  # imports numba

        key = stream_key(seed, table, span.block)
        counts, outside, trace = play_rounds(self.plan, key, span.rounds, span.rounds)
        return tallies_of(self.unit, counts, outside), trace


@dataclass(frozen=True)
class AdjustedTable:
    """A table whose seats all play charts, and whose luck a referee tells from their play."""

    plan: Plan
    unit: Fraction
    luck_model: LuckModel
    blocks_at_once = 16  # about a second

    @property
    def seats(self) -> int:
        return len(self.plan.act)

    def play(self, seed: int, table: int, spans: Sequence[Span]) -> list[Tally]:
        played = [self._play(stream_key(seed, table, span.block), span.rounds) for span in spans]
        return [sum(tallies, start=Tally()) for tallies in zip(*played, strict=True)]

    def play_traced(self, seed: int, table: int, span: Span) -> tuple[list[Tally], Array]:
        _, trace = CompiledTable(self.plan, self.unit).play_traced(seed, table, span)
        return self.play(seed, table, [span]), trace

    def _play(self, key: tuple[int, int], rounds: int) -> list[Tally]:
        from bjsim.sim.engine.rounds import play_adjusted  # imports numba

        counts, outside, sums, usual = play_adjusted(self.plan, self.luck_model, float(self.unit), key, rounds)
        tallies = tallies_of(self.unit, counts, outside)
        values = self.luck_model.value[self.luck_model.chart].tolist()
        lucks = [
            LuckTally(value, usual, int(n), *rest) for value, (n, *rest) in zip(values, sums.tolist(), strict=True)
        ]
        return [replace(tally, luck=luck) for tally, luck in zip(tallies, lucks, strict=True)]


def tallies_of(unit: Fraction, counts: Array, outside: Array) -> list[Tally]:
    """The tally of each seat from what the kernel counted."""
    width = counts.shape[2] // 2
    tallies = []
    for seat in range(len(counts)):
        tied, place = counts[seat].nonzero()
        dense = {(int(p) - width, int(t)): int(counts[seat, t, p]) for t, p in zip(tied, place, strict=True)}
        codes, times = np.unique(outside[outside[:, 0] == seat, 1], return_counts=True)
        rare = {decode(code): count for code, count in zip(codes.tolist(), times.tolist(), strict=True)}
        tallies.append(Tally(unit, dense) + Tally(unit, rare))
    return tallies


def decode(code: int) -> tuple[int, int]:
    """Units won and initial bets tied, from a payoff code."""
    tied = (code + TIED // 2) // TIED
    return code - tied * TIED, tied


@dataclass(frozen=True)
class ReadableTable:
    """A table played in the readable round: any players, at thousands of rounds a second; a slow bot's, at a few."""

    rules: Rules
    players: Sequence[Player]
    blocks_at_once = 1  # some seconds
    # thread -> table, block and the trace so far of what it played last
    _at: dict[int, tuple[int, int, Array]] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def seats(self) -> int:
        return len(self.players)

    def rounds(self, seed: int, table: int, block: int) -> Iterator[Round]:
        """The rounds of a block, one after another, ready to be played.

        A player that remembers starts each block anew, as a copy, so that what it did elsewhere changes nothing.
        """
        shoe = open_shoe(self.rules, Stream(seed, table, block))
        players = [copy.deepcopy(player) for player in self.players]
        while True:
            yield Round(self.rules, shoe, players)

    def deal_again(self, seed: int, table: int, number: int) -> RoundResult:
        """Round `number` (from 0) of a table, after playing the rounds of its block that came before it."""
        block = block_of(number)
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
        found = [trace for *where, trace in list(self._at.values()) if where == [table, block]]
        return self._tallies(found[0]) if found else [Tally()] * self.seats

    def _tallies(self, trace: Array) -> list[Tally]:
        return [Tally.of(self.rules.unit, map(decode, codes)) for codes in trace.T[:-1].tolist()]


def play_blocks(table: Table, seed: int, number: int, first: int, last: int, until: int) -> list[Tally]:
    """Play blocks `first` .. `last` of table number `number`, to round `until` at most; a tally for each seat."""
    began = time.perf_counter()
    spans = spans_of(first, last, until)
    tallies = table.play(seed, number, spans)
    check_rounds(tallies, spans)
    rounds = sum(span.rounds for span in spans)
    log.info("table %d blocks %d-%d: %d rounds in %.3f s", number, first, last, rounds, time.perf_counter() - began)
    return tallies


def spans_of(first: int, last: int, until: int) -> list[Span]:
    """Blocks `first` .. `last`, to round `until` of the table at most."""
    starts = [block_start(block) for block in range(first, last + 2)]
    return [Span(first + i, min(starts[i + 1], until) - start) for i, start in enumerate(starts[:-1])]


def check_rounds(tallies: Sequence[Tally], spans: Sequence[Span]) -> None:
    """Raises: RunFailed unless every seat's tally has all rounds of these blocks."""
    rounds = sum(span.rounds for span in spans)
    if any(tally.rounds != rounds for tally in tallies):
        raise RunFailed(f"blocks of {rounds} rounds came back with {[tally.rounds for tally in tallies]}")
