"""Tables: seats that share a shoe, played a block at a time."""

import logging
import time
from collections.abc import Sequence
from typing import Protocol

from bjsim.errors import RunFailed
from bjsim.sim.running.blocks import Span, make_spans
from bjsim.sim.stats.tally import Tally

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
    spans = make_spans(first, last, until)
    tallies = table.play(seed, number, spans)
    rounds = sum(span.rounds for span in spans)
    if any(tally.rounds != rounds for tally in tallies):
        raise RunFailed(f"blocks of {rounds} rounds returned tallies of {[tally.rounds for tally in tallies]} rounds")
    log.info("table %d blocks %d-%d: %d rounds in %.3f s", number, first, last, rounds, time.perf_counter() - began)
    return tallies
