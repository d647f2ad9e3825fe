"""How long moves took. No two runs agree in that, so it is kept beside the journal and not in it."""

from __future__ import annotations

import json
from pathlib import Path

from bjsim.bots.contest.config import HOUSE
from bjsim.errors import naming

TIMINGS = "timings.jsonl"


class Timings:
    """Seconds and moves of every bot in another process. They are no part of the journal: no two runs agree in them."""

    def __init__(self, bots: int) -> None:
        self.moves = [0] * bots
        self.seconds = [0.0] * bots
        self._earlier = (list(self.moves), list(self.seconds))  # of earlier runs

    def add(self, bot: int, seconds: float) -> None:
        """Count a move."""
        if bot != HOUSE:
            self.moves[bot] += 1
            self.seconds[bot] += seconds

    def ms_per_move(self, bot: int) -> float | None:
        """Mean milliseconds; None without a move."""
        return 1000 * self.seconds[bot] / self.moves[bot] if self.moves[bot] else None

    def save(self, folder: Path) -> None:
        """Add a line for this run to the file in the contest's folder, if a move was made."""
        moves = [now - then for now, then in zip(self.moves, self._earlier[0], strict=True)]
        seconds = [now - then for now, then in zip(self.seconds, self._earlier[1], strict=True)]
        if any(moves):
            with naming(folder / TIMINGS), (folder / TIMINGS).open("a", encoding="utf-8") as file:
                file.write(json.dumps({"moves": moves, "seconds": seconds}) + "\n")

    @staticmethod
    def load(folder: Path, bots: int) -> Timings:
        """What earlier runs of a contest in this folder measured; lines that cannot be read are passed over."""
        timings = Timings(bots)
        path = folder / TIMINGS
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines() if path.exists() else ():
            try:
                run = json.loads(line)
                moves, seconds = [int(n) for n in run["moves"]], [float(s) for s in run["seconds"]]
            except (ArithmeticError, KeyError, RecursionError, TypeError, ValueError):
                continue
            if len(moves) == len(seconds) == bots:
                timings.moves = [a + b for a, b in zip(timings.moves, moves, strict=True)]
                timings.seconds = [a + b for a, b in zip(timings.seconds, seconds, strict=True)]
        timings._earlier = (list(timings.moves), list(timings.seconds))
        return timings
