"""Plays a counter: blocks of shoes on any number of workers, merged in order."""

import math
import os
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np

from bjsim.errors import InputError
from bjsim.sim.engine.counting import pays, play_units
from bjsim.sim.engine.counts import CountSums, UnitSums
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.shoe import stream_key
from bjsim.sim.running.checkpoint import Checkpoint, keeping
from bjsim.sim.running.pieces import Pieces
from bjsim.sim.running.workers import find_backend, usable_cores
from bjsim.strategies.counting.count_files import describe_game, known_of, resumed_count
from bjsim.strategies.counting.count_run import CountRun
from bjsim.strategies.counting.tables import CountingGame, ready_table

MOST_ROWS = 64  # blocks whose units are kept apart; of more, those of neighbouring blocks are added up
CARDS_IN_BLOCK = 1 << 18
DECKS_IN_UNIT = 48  # at any cut, so that equal units have the same cards
ROUNDS_IN_BLOCK = 48_000  # at a table with one seat, about
MOST_BLOCKS = 7  # of a job, which are played side by side
MIN_SHOES = 64
COUNTING_TABLE = 0  # number of the table in the random streams


def block_shoes(rules: Rules) -> int:
    return max(CARDS_IN_BLOCK // max(rules.cut_cards, 5), MIN_SHOES)


def play_blocks(
    game: CountingGame, seed: int, first: int, count: int = 1, keep_units: bool = False, kernel: bool = False
) -> list[tuple[CountSums, UnitSums]]:
    """Play `count` blocks of whole shoes side by side, from the block number `first` on.

    `keep_units` keeps the sums of units, else each block is one. `kernel`: see `play_units`.
    """
    shoes = block_shoes(game.rules)
    unit = -(-DECKS_IN_UNIT // int(game.rules.decks)) if keep_units else shoes
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
    game: CountingGame,
    rounds: float = 1e6,
    seed: int = 1,
    workers: int | None = 1,
    enough: Callable[[CountRun], bool] | None = None,
    keep_units: bool = False,
    checkpoint: str | os.PathLike[str] | None = None,
    resume: bool = False,
) -> Generator[CountRun, None, None]:
    """Play a counter who bets one unit on every spot; yield the result so far after every block, in order.

    Every bet ramp on the game's spots is computed from the result, the same for a seed on any number of `workers`
    (None: one for each core). The players of all other seats play the chart, and act first. The last block is
    played to its end; `enough` gets the result so far and says whether to stop. The cards are the same with luck
    adjustment or without, and rounds after the counter left are neither seen nor counted. `keep_units` keeps the sums
    of a few shoes each, for differences to runs on the same cards. What is known is kept in the file `checkpoint`; with
    `resume` play goes on from there.
    Raises EndlessSplitting where a seat reached the limit on hands.
    """
    if keep_units and resume:  # the units of the blocks played before are not known
        raise InputError("resume: a comparison plays its games from the beginning; leave it out")
    kept = Checkpoint(Path(checkpoint), describe_game(game, seed)) if checkpoint else None
    run = resumed_count(kept) if kept and resume else None
    ready = ready_table(game)  # before workers are forked, which share it
    kernel = pays(ready.table, rounds / (workers or usable_cores()), known=enough is None)
    backend, rows = find_backend(None, workers), UnitRows()
    began = time.perf_counter() - (run.seconds if run else 0)

    def jobs() -> Iterator[tuple[int, int] | None]:
        """The first block of each job and how many it has, by what is known of the number that is needed."""
        begun = run.blocks if run else 0
        while True:
            per_block = run.rounds / run.blocks if run else ROUNDS_IN_BLOCK
            count = math.ceil((rounds / per_block - begun) / backend.in_flight)
            if enough and count > 0:  # which may be soon
                count = min(count, max(begun // backend.in_flight, 1))
            if count <= 0 and begun > (run.blocks if run else 0):  # those under way may be enough
                yield None
                continue
            yield begun, (count := min(max(count, 1), MOST_BLOCKS))
            begun += count

    pieces: Pieces[tuple[int, int], list[tuple[CountSums, UnitSums]]] = Pieces(
        backend,
        jobs(),
        lambda job: (play_blocks, game, seed, *job, keep_units, kernel),
        lambda job: f"blocks {job[0]} to {sum(job) - 1}",
    )
    with keeping(kept, lambda: known_of(run) if run else None) as save, closing(pieces.results()) as results:
        played = (block for _, blocks in results for block in blocks)
        if run:
            yield run
        while run is None or (run.rounds < rounds and not (enough and enough(run))):
            sums, units = next(played)
            if keep_units:
                rows.add(units)
            sums, blocks = (run.sums.plus(sums), run.blocks + 1) if run else (sums, 1)
            run = CountRun(game, ready.first, sums, blocks, seed, time.perf_counter() - began)
            yield run
            save()  # which may fail, and then the caller has it
    if keep_units:
        yield replace(run, units=rows.whole())
