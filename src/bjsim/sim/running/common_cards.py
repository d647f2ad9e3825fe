"""Tables that are dealt the same cards, as one: the seats of all, and the difference of every pair of them.

Each table plays the same streams alone, so that its cards are those of the others, in the same order. Two that play
alike most of the time fall back into step by themselves: who is a card ahead in the shoe soon begins a round at the
same card as the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil

from bjsim.sim.engine.kernels.layout import TIED
from bjsim.sim.game.rules import Rules
from bjsim.sim.running.table import Span, TracedTable, WatchedTable
from bjsim.sim.stats.paired import PairedTally, Rounds
from bjsim.sim.stats.tally import Tally


@dataclass(frozen=True)
class CommonCards:
    """Tables of the same game dealt the same cards; its seats are all of theirs, in order."""

    tables: Sequence[TracedTable]
    size: int  # cards of a shoe, 0 for an infinite one
    cut: int  # cards of it dealt before it is shuffled

    @staticmethod
    def of(rules: Rules, tables: Sequence[TracedTable]) -> CommonCards:
        """These tables, all of the game `rules`."""
        size = 0 if rules.infinite else 52 * int(rules.decks)
        return CommonCards(tables, size, ceil(rules.cut * size))

    @property
    def seats(self) -> int:
        return sum(table.seats for table in self.tables)

    @property
    def blocks_at_once(self) -> int:
        return min(table.blocks_at_once for table in self.tables)

    def play(self, seed: int, table: int, spans: Sequence[Span]) -> list[Tally]:
        played = [self._play(seed, table, span) for span in spans]
        return [sum(tallies, start=Tally()) for tallies in zip(*played, strict=True)]

    def so_far(self, table: int, block: int) -> list[Tally]:
        """As `WatchedTable` says; without differences, since the tables of a block are played one after another."""
        return [
            tally
            for one in self.tables
            for tally in (one.so_far(table, block) if isinstance(one, WatchedTable) else [Tally()] * one.seats)
        ]

    def _play(self, seed: int, table: int, span: Span) -> list[Tally]:
        tallies, seats = [], []
        for one in self.tables:
            its, trace = one.play_traced(seed, table, span)
            tallies += its
            tied = (trace + TIED // 2) // TIED
            net = trace - tied * TIED
            seats += [Rounds(net[:, seat], tied[:, seat], trace[:, -1]) for seat in range(one.seats)]
        unit = tallies[0].unit
        pairs = [
            tuple(PairedTally.of(unit, seat, other, self.size, self.cut) for other in seats[number + 1 :])
            for number, seat in enumerate(seats)
        ]
        return [replace(tally, pairs=its) for tally, its in zip(tallies, pairs, strict=True)]
