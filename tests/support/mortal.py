"""A table whose workers die on it, in a module that workers of any kind can import."""

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
    """Plays as `table` does, but each file in `deaths` kills one worker, by SIGKILL, that plays block `block`."""

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
                with contextlib.suppress(FileNotFoundError):  # another worker died of it
                    file.unlink()
                    os.kill(os.getpid(), signal.SIGKILL)
        return self.table.play(seed, table, spans)
