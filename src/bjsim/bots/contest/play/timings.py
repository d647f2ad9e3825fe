"""Times of moves. They differ from run to run, so they are stored in a file next to the journal, not in it."""

from __future__ import annotations

import json
from itertools import zip_longest
from pathlib import Path

from bjsim.files import append_line, read_json_lines
from bjsim.json_values import is_like

TIMINGS = "timings.jsonl"


class Timings:
    """Moves and seconds of every bot that runs in another process; more than `bots` may join."""

    def __init__(self, bots: int) -> None:
        self.moves = [0] * bots
        self.seconds = [0.0] * bots
        self._earlier = (list(self.moves), list(self.seconds))  # of earlier runs

    def join(self, bots: int) -> None:
        """Make room for more bots, up to this number of them."""
        missing = bots - len(self.moves)
        self.moves += [0] * missing
        self.seconds += [0.0] * missing

    def add(self, bot: int, seconds: float) -> None:
        if bot >= 0:
            self.moves[bot] += 1
            self.seconds[bot] += seconds

    def ms_per_move(self, bot: int) -> float | None:
        """Mean milliseconds per move; None if there are none."""
        return 1000 * self.seconds[bot] / self.moves[bot] if self.moves[bot] else None

    def save(self, folder: Path) -> None:
        """Append the moves of this run to the file in the contest's folder, if there are any."""
        moves = [total - earlier for total, earlier in zip_longest(self.moves, self._earlier[0], fillvalue=0)]
        seconds = [total - earlier for total, earlier in zip_longest(self.seconds, self._earlier[1], fillvalue=0.0)]
        if any(moves):
            append_line(folder / TIMINGS, json.dumps({"moves": moves, "seconds": seconds}))

    @staticmethod
    def load(folder: Path, bots: int) -> Timings:
        """The times of earlier runs of the contest in this folder; unreadable lines are skipped."""
        timings = Timings(bots)
        for run in read_json_lines(folder / TIMINGS):
            moves, seconds = run.get("moves"), run.get("seconds")
            if not is_like(moves, [0]) or not is_like(seconds, [0.0]):
                continue
            if len(moves) == len(seconds) <= bots:  # fewer, if bots have joined since
                timings.moves = [a + b for a, b in zip_longest(timings.moves, moves, fillvalue=0)]
                timings.seconds = [a + b for a, b in zip_longest(timings.seconds, seconds, fillvalue=0.0)]
        timings._earlier = (list(timings.moves), list(timings.seconds))
        return timings
