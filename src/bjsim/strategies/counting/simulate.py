"""Plays a counter: blocks of shoes on any number of workers, merged in order."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import replace
from typing import Any

import numpy as np

from bjsim.errors import InputError
from bjsim.sim.engine.counting_table import WORTH_COMPILING, WORTH_LOADING, CountSums, UnitSums
from bjsim.sim.game.random_stream import stream_key
from bjsim.sim.game.rules import Rules
from bjsim.sim.running.executors import find_backend
from bjsim.strategies.counting.count_run import CountRun
from bjsim.strategies.counting.departures import Departures
from bjsim.strategies.counting.ramp import ONE_SPOT, SpotSteps
from bjsim.strategies.counting.system import CountingSystem
from bjsim.strategies.counting.tables import CountingGame, ready_table

MOST_ROWS = 64  # blocks whose units are kept apart; of more, those of neighbouring blocks are added up
CARDS_IN_BLOCK = 1 << 18
ROUNDS_IN_BLOCK = 48_000  # at a table with one seat, about
MOST_BLOCKS = 7  # of a job, which are played side by side
MIN_SHOES = 64
COUNTING_TABLE = 0  # number of the table in the random streams


def block_shoes(rules: Rules) -> int:
    return max(CARDS_IN_BLOCK // max(rules.cut_cards, 5), MIN_SHOES)


def unit_shoes(rules: Rules) -> int:
    """The shoes of a unit: an even number, and the same at any cut, so that equal units have the same cards."""
    return 2 * -(-24 // int(rules.decks))


def play_blocks(
    game: CountingGame, seed: int, first: int, count: int = 1, keep_units: bool = False, kernel: bool = False
) -> list[tuple[CountSums, UnitSums]]:
    """Play `count` blocks of whole shoes side by side, from the block number `first` on.

    `keep_units` keeps the sums of units, else each block is one. `kernel`: see `play_units`.
    """
    from bjsim.sim.engine.counting import play_units

    shoes = block_shoes(game.rules)
    unit = unit_shoes(game.rules) if keep_units else shoes
    keys = np.array([stream_key(seed, COUNTING_TABLE, first + n) for n in range(count)], np.uint64)
    return play_units(ready_table(game).table, keys, shoes, unit, kernel)


class UnitRows:
    """The sums of units, in rows of `width` blocks each, the last of which may have fewer; `blocks` is of all."""

    def __init__(self) -> None:
        self.rows: list[UnitSums] = []
        self.width, self.blocks = 1, 0

    def add(self, block: UnitSums) -> None:
        if self.blocks == MOST_ROWS * self.width:
            self.rows = [one.plus(two) for one, two in zip(self.rows[::2], self.rows[1::2], strict=True)]
            self.width *= 2
        if self.blocks % self.width:
            self.rows[-1] = self.rows[-1].plus(block)
        else:
            self.rows.append(block)
        self.blocks += 1

    def whole(self) -> UnitSums:
        """All rows as arrays, with the row as first axis."""
        return UnitSums(*(np.array(part) for part in zip(*self.rows, strict=True)))


def count_blocks(
    rules: Rules,
    system: CountingSystem,
    departures: Departures,
    rounds: float = 1e6,
    seed: int = 1,
    workers: int | None = 1,
    counts: tuple[int, int] | None = None,
    enough: Callable[[CountRun], bool] | None = None,
    spots: SpotSteps = ONE_SPOT,
    adjusted: bool = True,
    span: tuple[int, int] = (0, 0),
    keep_units: bool = False,
    leave: int | None = None,
) -> Iterator[CountRun]:
    """Play a counter who bets one unit on every spot; yield the result so far after every block, in order.

    Every bet ramp on these `spots` is computed from the result, the same for a seed on any number of `workers`
    (None: one for each core). The players of all other seats play the chart, and act first. The last block is
    played to its end; `enough` gets the result so far and says whether to stop. `counts`, `adjusted`, `span` and
    `leave`: see `CountingGame`; the cards are the same with `adjusted` or without, and rounds after the counter
    left are neither seen nor counted. `keep_units` keeps the sums of a few shoes each, for differences to runs on
    the same cards.
    Raises EndlessSplitting where a seat reached the limit on hands.
    """
    if not 1 <= rounds < 1e15:
        raise InputError(f"rounds = {rounds} is not accepted; use 1 to 1e15")
    game = CountingGame(rules, system, departures, counts, spots, adjusted, span, leave)
    ready = ready_table(game)  # before workers are forked, which share it
    kernel = uses_kernel(game, rounds if enough is None else min(rounds, WORTH_COMPILING - 1))
    began, run, rows = time.perf_counter(), None, UnitRows()
    sums, blocks = None, 0
    with find_backend(None, workers).open(None) as backend:
        pool, begun = backend.open_pool(), 0  # blocks of all jobs
        jobs: list[Future[list[tuple[CountSums, UnitSums]]]] = []
        found: list[tuple[CountSums, UnitSums]] = []
        try:
            while run is None or (run.rounds < rounds and not (enough and enough(run))):
                most = backend.in_flight()
                while not found and len(jobs) < most:
                    per_block = ROUNDS_IN_BLOCK if run is None else run.rounds / blocks
                    count = min(math.ceil((rounds / per_block - begun) / (most - len(jobs))), MOST_BLOCKS)
                    if enough:  # which may be soon
                        count = min(count, max(begun // most, 1))
                    if jobs and count < 1:
                        break
                    jobs.append(pool.submit(play_blocks, game, seed, begun, max(count, 1), keep_units, kernel))
                    begun += max(count, 1)
                found = found or jobs.pop(0).result()
                block, units = found.pop(0)
                sums, blocks = block if sums is None else sums.plus(block), blocks + 1
                if keep_units:
                    rows.add(units)
                run = CountRun(game, ready.first, ready.expected, sums, seed, time.perf_counter() - began)
                yield run
        finally:
            pool.shutdown(cancel_futures=True)  # a worker killed while it sends a result would block this process
    if keep_units:
        yield replace(run, units=rows.whole())


def simulate_count(*game: Any, **options: Any) -> CountRun:
    """Play a counter to the end, as `count_blocks`, and return the result. Raises: as there."""
    return deque(count_blocks(*game, **options), maxlen=1).pop()


def uses_kernel(game: CountingGame, rounds: float) -> bool:
    """Whether so many rounds pay for the kernel; it is then compiled, if it must be."""
    if rounds < WORTH_LOADING:
        return False
    from bjsim.sim.engine.counting import pays

    return pays(ready_table(game).table, rounds)
