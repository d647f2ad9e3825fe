"""A table that kills its workers, in a module that all kinds of workers can import."""

import contextlib
import os
import signal
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bjsim.sim.running.table import Span, Table
from bjsim.sim.stats.tally import Tally


@dataclass(frozen=True)
class MortalTable:
    """Plays like `table`, but each file in `deaths` makes one worker that plays block `block` die by SIGKILL."""

    table: Table
    deaths: Path
    block: int = 3

    @property
    def seats(self) -> int:
        return self.table.seats

    @property
    def blocks_at_once(self) -> int:
        return self.table.blocks_at_once

    def play(self, seed: int, table: int, spans: Sequence[Span]) -> list[Tally]:
        if any(block == self.block for block, _ in spans):
            for file in self.deaths.iterdir():
                with contextlib.suppress(FileNotFoundError):  # another worker took this file
                    file.unlink()
                    os.kill(os.getpid(), signal.SIGKILL)
        return self.table.play(seed, table, spans)
