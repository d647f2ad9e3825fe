"""Common random numbers: several tables dealt the same cards, as one table, with a comparison of every pair of seats.

Each table plays the same random streams separately, so all are dealt the same cards in the same order. Two tables that
mostly play alike realign by themselves: a table that is a card ahead in the shoe soon begins a round at the same card
as the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from bjsim.sim.engine.kernels.layout import payoff_parts
from bjsim.sim.game.rules import Rules
from bjsim.sim.running.blocks import Span
from bjsim.sim.running.table import TracedTable, WatchedTable
from bjsim.sim.stats.paired import PairedTally, Rounds
from bjsim.sim.stats.tally import Tally


@dataclass(frozen=True)
class CommonCards:
    """Tables of one game that are dealt the same cards, whose seats, in order, are this table's.

    `size` is the cards of a shoe, 0 for an infinite one; `cut` those dealt before the shuffle.
    """

    tables: Sequence[TracedTable]
    size: int
    cut: int

    @staticmethod
    def of(rules: Rules, tables: Sequence[TracedTable]) -> CommonCards:
        return CommonCards(tables, rules.shoe_size, rules.cut_cards)

    @property
    def seats(self) -> int:
        return sum(table.seats for table in self.tables)

    @property
    def blocks_at_once(self) -> int:
        return min(table.blocks_at_once for table in self.tables)

    def play(self, seed: int, table: int, spans: Sequence[Span]) -> list[Tally]:
        played = [self._play(seed, table, span) for span in spans]
        return [sum(tallies, start=Tally()) for tallies in zip(*played, strict=True)]

    def partial_tallies(self, table: int, block: int) -> list[Tally]:
        """See `WatchedTable`. Without paired tallies, since the tables of a block are played one after another."""
        return [
            tally
            for one in self.tables
            for tally in (one.partial_tallies(table, block) if isinstance(one, WatchedTable) else [Tally()] * one.seats)
        ]

    def _play(self, seed: int, table: int, span: Span) -> list[Tally]:
        tallies, seats = [], []
        for one in self.tables:
            played, trace = one.play_traced(seed, table, span)
            tallies += played
            net, tied = payoff_parts(trace)
            seats += [Rounds(net[:, seat], tied[:, seat], trace[:, -1]) for seat in range(one.seats)]
        unit = tallies[0].unit
        pairs = [
            tuple(PairedTally.of(unit, seat, other, self.size, self.cut) for other in seats[number + 1 :])
            for number, seat in enumerate(seats)
        ]
        return [replace(tally, pairs=others) for tally, others in zip(tallies, pairs, strict=True)]
