"""Tables whose seats all play charts, by the round table."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from bjsim.arrays import Array
from bjsim.sim.engine.counts import Played
from bjsim.sim.engine.kernels.layout import CompiledRules, payoff_parts
from bjsim.sim.engine.lanes import PlayRound
from bjsim.sim.engine.play import PILOT, PILOT_TABLE, Walkers
from bjsim.sim.game.shoe import stream_key
from bjsim.sim.running.table import ReadableTable, Span
from bjsim.sim.stats.estimate import RatioSums
from bjsim.sim.stats.luck_tally import LuckTally
from bjsim.sim.stats.tally import Tally

# What each process keeps: round tables are not sent to others, as they are large (2 kB a row), and quickly made.
MOST_WALKERS, MOST_ROWS = 16, 300_000
_walkers: dict[tuple[object, ...], Walkers] = {}  # by compiled rules, and the payoff quantum where luck is counted


def find_walkers(
    compiled: CompiledRules, play_round: PlayRound, tables: int = 1, unit: Fraction | None = None
) -> Walkers:
    key = unit, *((a.shape, a.tobytes()) if isinstance(a, np.ndarray) else a for a in compiled)
    if key not in _walkers:
        while len(_walkers) >= tables and (
            len(_walkers) >= MOST_WALKERS or sum(one.rows for one in _walkers.values()) > MOST_ROWS
        ):
            del _walkers[next(iter(_walkers))]
        _walkers[key] = Walkers(compiled, play_round, unit)
    return _walkers[key]


@dataclass(frozen=True)
class CompiledTable:
    """A table whose seats all play charts.

    `readable` is the same table, for rounds that the round table has no room for. `tables` are played in turn, this one
    among them, so the walkers of as many are kept.
    """

    compiled: CompiledRules
    readable: ReadableTable
    tables: int = 1
    blocks_at_once = 32  # two million rounds, some hundredths of a second

    @property
    def seats(self) -> int:
        return len(self.compiled.act)

    def prepare(self, rounds: float) -> None:
        """Have the kernel ready if it pays for so many rounds of one seat; compile it if that pays."""
        if self.walkers.load(rounds):
            self.walkers.play([(0, 0)], [0])

    def play(self, seed: int, table: int, spans: Sequence[Span]) -> list[Tally]:
        return self._play(seed, table, spans)[1]

    def _play(self, seed: int, table: int, spans: Sequence[Span]) -> tuple[Played, list[Tally]]:
        keys, rounds = [stream_key(seed, table, span.block) for span in spans], [span.rounds for span in spans]
        played = self.walkers.play(keys, rounds)
        return played, make_tallies(self.readable.rules.unit, played.counts, played.outside)

    @property
    def walkers(self) -> Walkers:
        return find_walkers(self.compiled, self.readable.play_round, self.tables)


@dataclass(frozen=True)
class AdjustedTable(CompiledTable):
    """A table whose seats all play charts, with luck-adjusted returns."""

    blocks_at_once = 16  # about a second

    @property
    def walkers(self) -> Walkers:
        return find_walkers(self.compiled, self.readable.play_round, self.tables, self.readable.rules.unit)

    def play(self, seed: int, table: int, spans: Sequence[Span]) -> list[Tally]:
        (played, tallies), walkers = self._play(seed, table, spans), self.walkers
        for seat, tally in enumerate(tallies):
            shoes = [block[seat] for block in played.shoes] if self.compiled.numbers.shoe_size else [_all_rounds(tally)]
            sums = [RatioSums(int(n), *rest) for n, *rest in np.array(shoes).tolist()]
            lucks = (LuckTally(walkers.values[seat], walkers.rounds_in_shoe, one) for one in sums)
            tallies[seat] = replace(tally, luck=sum(lucks, start=LuckTally()))
        return tallies

    def pilot_variance(self) -> float:
        """The variance per round of the luck-adjusted return, of the seat with the largest, about.

        It comes from rounds that no run plays.
        """
        tallies = self.play(0, PILOT_TABLE, [Span(0, PILOT)])
        return max((tally.rounds * tally.luck.se**2 for tally in tallies if tally.luck.settled), default=0.0)


def _all_rounds(tally: Tally) -> list[float]:
    """The sums over rounds from an infinite shoe, in which luck and the value of the bets are all there is: y is 0."""
    bets = [(1 - tied, times) for (_, tied), times in tally.counts.items()]
    return [tally.rounds, 0, sum(b * n for b, n in bets), 0, 0, sum(b * b * n for b, n in bets)]


def make_tallies(unit: Fraction, counts: Array, outside: Array) -> list[Tally]:
    """Make the tallies of all seats from a kernel's counts; see `Counts.dense` for `counts`, int64.

    `outside` has rows of (seat, payoff code), int64 (n, 2); `unit` is the payoff quantum, as a share of an
    initial bet.
    """
    width = counts.shape[2] // 2
    tallies = []
    for seat in range(len(counts)):
        tied, column = counts[seat].nonzero()
        dense = {(int(p) - width, int(t)): int(counts[seat, t, p]) for t, p in zip(tied, column, strict=True)}
        codes, times = np.unique(outside[outside[:, 0] == seat, 1], return_counts=True)
        rare = {payoff_parts(code): count for code, count in zip(codes.tolist(), times.tolist(), strict=True)}
        tallies.append(Tally(unit, dense) + Tally(unit, rare))
    return tallies
