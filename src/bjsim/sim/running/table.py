"""Tables: seats that share a shoe, played a block at a time."""

import copy
import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from enum import Flag, auto
from itertools import islice, pairwise
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np

from bjsim.arrays import Array
from bjsim.errors import RunFailed
from bjsim.sim.engine.compiled_rules import payoff_code
from bjsim.sim.engine.kernels.layout import payoff_parts
from bjsim.sim.game.actions import Player
from bjsim.sim.game.events import Dealt, RoundResult
from bjsim.sim.game.round import Round
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.shoe import CardStream, Stream, open_shoe
from bjsim.sim.stats.tally import Tally

# --- Backends, which play jobs, and the features they support.


class Need(Flag):
    """A feature that a player, or a way of playing, requires of a backend."""

    NOTHING = 0
    DECISIONS = auto()  # to run a player's code: it is not a chart
    MODULES = auto()  # modules that only this process and its forks have loaded
    OBJECTS = auto()  # objects of this process that cannot be pickled
    PROGRAMS = auto()  # programs that this process has started
    ANYTHING = DECISIONS | MODULES | OBJECTS | PROGRAMS


@dataclass(frozen=True)
class Backend:
    """A place where jobs are played.

    `open_pool` opens an executor, again after workers were lost (BrokenExecutor), and an error closes it at once.
    `in_flight` is the number of jobs that are submitted and unfinished at a time; `offers` are the needs that are met.
    """

    open_pool: Callable[[], AbstractContextManager[Executor]]
    in_flight: int
    offers: Need = Need.ANYTHING

    @property
    def is_this_process(self) -> bool:
        return Need.OBJECTS in self.offers


# --- Blocks: the units of work, runs of a table's rounds that have their own random streams.
#
# The size of a block depends only on its number, so a result depends only on (rules, players, seed, tables, hands).


FIRST_BLOCK = 1 << 10
LARGEST_BLOCK = 1 << 16
_DOUBLINGS = (LARGEST_BLOCK // FIRST_BLOCK).bit_length() - 1


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


log = logging.getLogger("bjsim")


class Table(Protocol):
    """Seats that share a shoe. Tables are sent to other processes, so they must be picklable."""

    @property
    def seats(self) -> int: ...

    @property
    def blocks_at_once(self) -> int:
        """The largest number of blocks of the largest size in one job."""
        ...

    def play(self, seed: int, table: int, spans: Sequence[Span]) -> list[Tally]:
        """Play blocks at table number `table`; `spans` are the blocks, and how many of their rounds to play."""
        ...


def play_blocks(table: Table, seed: int, number: int, first: int, last: int, until: int) -> list[Tally]:
    """Play consecutive blocks of a table, `first` to `last`; the driver submits this function to executors.

    `until` is the rounds that the table plays in all; later rounds of the last block are left out. Return a
    tally for each seat. RunFailed: a tally lacks rounds.
    """
    began = time.perf_counter()
    starts = [(block, block_start(block)) for block in range(first, last + 2)]
    spans = [Span(block, min(end, until) - start) for (block, start), (_, end) in pairwise(starts)]
    tallies = table.play(seed, number, spans)
    rounds = sum(span.rounds for span in spans)
    if any(tally.rounds != rounds for tally in tallies):
        raise RunFailed(f"blocks of {rounds} rounds returned tallies of {[tally.rounds for tally in tallies]} rounds")
    log.info("table %d blocks %d-%d: %d rounds in %.3f s", number, first, last, rounds, time.perf_counter() - began)
    return tallies


# --- Tables played in the readable round, by any players.


@runtime_checkable
class Guest(Protocol):
    """A player that takes a new seat for every block of rounds."""

    def take_seat(self, rules: Rules, seat: int, seats: int) -> AbstractContextManager[Player]: ...


@dataclass(frozen=True)
class ReadableTable:
    """A table played in the readable round, by any players, at up to thousands of rounds a second."""

    rules: Rules
    players: Sequence[Player]
    blocks_at_once = 1  # some seconds
    # by thread: table, block and trace so far of the block that it played last
    _at: dict[int, tuple[int, int, Array]] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def seats(self) -> int:
        return len(self.players)

    def results(self, seed: int, table: int, block: int) -> Iterator[RoundResult]:
        """Play the rounds of a block one after another, without end.

        Players are copied for each block, so the memory of a player never carries over from one block to another.
        """
        shoe = open_shoe(self.rules, Stream(seed, table, block))
        with ExitStack() as stack:
            players = [
                stack.enter_context(player.take_seat(self.rules, seat, self.seats))
                if isinstance(player, Guest)
                else copy.deepcopy(player)
                for seat, player in enumerate(self.players)
            ]
            while True:
                yield Round(self.rules, shoe, self.seats).play(players)

    def play_round(self, cards: Iterator[int]) -> tuple[list[int], int]:
        """Play a round of players without memories on rank indices; return payoff codes and cards dealt."""
        *codes, dealt = self._row(Round(self.rules, CardStream(cards), self.seats).play(self.players))
        return codes, dealt

    def _row(self, played: RoundResult) -> list[int]:
        """The payoff code of each seat, and the number of cards dealt."""
        payoffs = zip(played.net, played.tied, played.bets or (1,) * self.seats, strict=True)
        unit = self.rules.unit * self.rules.bets  # a payoff is that of one of a seat's equal bets
        codes = [payoff_code(net * bet, tied * bet, unit) for net, tied, bet in payoffs]
        return [*codes, sum(isinstance(event, Dealt) for event in played.events)]

    def replay(self, seed: int, table: int, number: int) -> RoundResult:
        """Replay round `number` (from 0) of a table, after the earlier rounds of its block."""
        block = block_number(number)
        return next(islice(self.results(seed, table, block), number - block_start(block), None))

    def play(self, seed: int, table: int, spans: Sequence[Span]) -> list[Tally]:
        played = [self.play_traced(seed, table, span)[0] for span in spans]
        return [sum(tallies, start=Tally()) for tallies in zip(*played, strict=True)]

    def play_traced(self, seed: int, table: int, span: Span) -> tuple[list[Tally], Array]:
        trace = np.empty((span.rounds, self.seats + 1), np.int64)
        dealt, thread = 0, threading.get_ident()
        for number, played in enumerate(islice(self.results(seed, table, span.block), span.rounds)):
            *codes, cards = self._row(played)
            dealt += cards
            trace[number] = [*codes, dealt]
            self._at[thread] = table, span.block, trace[: number + 1]
        return self._tallies(trace), trace

    def partial_tallies(self, table: int, block: int) -> list[Tally]:
        """The rounds of an unfinished block that any thread of this process has played; a tally for each seat."""
        traces = [trace for *position, trace in list(self._at.values()) if position == [table, block]]
        return self._tallies(traces[0]) if traces else [Tally()] * self.seats

    def _tallies(self, trace: Array) -> list[Tally]:
        return [Tally.of(self.rules.unit, map(payoff_parts, codes)) for codes in trace.T[:-1].tolist()]
