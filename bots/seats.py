"""Bots at the tables of a run: each table opens its bots for itself, so that tables are played side by side."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bjsim.bots.languages import ENDINGS
from bjsim.bots.player import BotPlayer, open_bot, time_per_move
from bjsim.sim.play import Action, Player, View
from bjsim.sim.rules import Rules
from bjsim.sim.table import ReadableTable, Table
from bjsim.sim.tally import Tally
from bjsim.strategies.experiment import table_of
from bjsim.strategies.players import find_player


@dataclass(frozen=True)
class BotOptions:
    """How bots are run; see `open_bot`."""

    sandbox: str = "auto"
    timeout: float = 1.0
    cold: bool = False
    strikes: int | None = None


class BotSeat:
    """A bot that will sit at one or more tables; opening it there gives a BotPlayer of its own to each.

    Raises: BuildError, at once, for a bot that cannot be built; BoxError when there is no box for it.
    """

    def __init__(self, path: str, rules: Rules, options: BotOptions) -> None:
        self.path, self.rules, self.options = path, rules, options
        self.name = Path(path).name
        self.opened: list[BotPlayer] = [self._open()]
        self._free = list(self.opened)

    def _open(self) -> BotPlayer:
        o = self.options
        return open_bot(
            self.path, self.rules, sandbox=o.sandbox, timeout=o.timeout, cold=o.cold, strikes=o.strikes, name=self.name
        )

    def open(self) -> BotPlayer:
        """The bot for one more table. (The first table has the one that was opened to see that it can be.)"""
        if self._free:
            return self._free.pop()
        self.opened.append(self._open())
        return self.opened[-1]

    def decide(self, view: View) -> Action:
        """The bot's move at the first table."""
        return self.opened[0].decide(view)

    @property
    def faults(self) -> Counter[str]:
        """How often each kind of fault happened, over all tables."""
        return sum((player.faults for player in self.opened), start=Counter())

    def ms_per_move(self) -> dict[str, float]:
        """Median and 99th percentile of the time per move, in milliseconds, over all tables."""
        return time_per_move([ns for player in self.opened for ns in player.nanoseconds])

    def close(self) -> None:
        """End its processes. Its figures stay."""
        for player in self.opened:
            player.close()


@dataclass(frozen=True)
class BotTable:
    """A table with at least one bot among its seats, played in threads of this process."""

    rules: Rules
    players: Sequence[Player]
    _at: dict[int, tuple[threading.Lock, list[Player]]] = field(default_factory=dict)
    _opening: threading.Lock = field(default_factory=threading.Lock)

    @property
    def seats(self) -> int:
        return len(self.players)

    def play(self, seed: int, table: int, block: int, rounds: int) -> list[Tally]:
        with self._opening:
            if table not in self._at:
                seated = [p.open() if isinstance(p, BotSeat) else p for p in self.players]
                self._at[table] = threading.Lock(), seated
        lock, seated = self._at[table]
        with lock:  # a table plays one block at a time
            return ReadableTable(self.rules, seated).play(seed, table, block, rounds)


def bot_table_of(rules: Rules, seated: Sequence[Player]) -> Table:
    """The table for these players: as `table_of`, but a BotTable where a bot is among them."""
    if any(isinstance(player, BotSeat) for player in seated):
        return BotTable(rules, list(seated))
    return table_of(rules, seated)


def is_program(text: str) -> bool:
    """Whether the text names a bot's file: one with a language's ending, or an executable one."""
    path = Path(text)
    return path.is_file() and (path.suffix.lower() in ENDINGS or bool(path.stat().st_mode & 0o111))


def find_any_player(text: str, rules: Rules, options: BotOptions) -> Player:
    """The player that `text` names: as `find_player`, or a bot where it is a program's file. Raises: as both do."""
    return BotSeat(text, rules, options) if is_program(text) else find_player(text, rules)
