"""Plays blocks of rounds of seats that play charts: by kernels where that pays, else in arrays.

Which of them plays does not change a bit of any result.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

import numpy as np

from bjsim.arrays import Array
from bjsim.sim.engine.array_cards import AT_ONCE, Segments
from bjsim.sim.engine.counts import Played, count_codes
from bjsim.sim.engine.kernels.arrays import Drift, Luck, PlainTable, WalkedTable
from bjsim.sim.engine.kernels.layout import NO_LIMIT, CompiledRules, payoff_parts
from bjsim.sim.engine.lanes import PlayRound, Rounds, Walked, walk_streams
from bjsim.sim.engine.luck_values import Model, count_drift, make_drift, make_luck, solve_rows
from bjsim.sim.engine.pack import for_kernel, make_deal, pack_moves, pack_plain
from bjsim.sim.engine.round_table import LeftTable, make_round_tables
from bjsim.sim.engine.transitions import rank_probabilities
from bjsim.sim.game.shoe import stream_key

Key = tuple[int, int]  # of a random stream


class Threshold(NamedTuple):
    """Rounds of one seat that arrays play about as quickly as a kernel is loaded from the cache, and compiled."""

    loading: int
    compiling: int


_PLAIN = Threshold(800_000, 6_000_000)
THRESHOLDS = {
    "plain": _PLAIN,
    "walk": _PLAIN,
    "walk in turns": _PLAIN,
    "adjusted": Threshold(150_000, 3_000_000),
    "count": Threshold(600_000, 8_000_000),
    "count adjusted": Threshold(100_000, 2_500_000),
}
PILOT, PILOT_TABLE = 1 << 14, 2**32  # rounds, and a table number that no run uses

LANES, LUCK_LANES = 1 << 14, 1 << 12  # about as many side by side: more are not faster
LEAST, MOST = 64, 2048  # cards of a segment of an infinite shoe
ENDLESS_LEAST = 512  # if splits have no limit
MARGIN = 1.02  # of the cards that the rounds probably need
CARDS = 5.4  # in a round of one seat


class Walkers:
    """The walkers of one table; `play_round` plays a round that leaves the round table.

    With `unit`, the payoff quantum in initial bets, they count luck, unless the shoe is infinite: none would be left in
    it.
    """

    def __init__(self, compiled: CompiledRules, play_round: PlayRound, unit: Fraction | None = None) -> None:
        self.compiled = compiled
        self.play_round = play_round
        self.unit = unit
        self._seats = len(compiled.act)
        self._adjusts = unit is not None and compiled.numbers.shoe_size > 0
        self.tables = make_round_tables(compiled)
        self._by_arrays = 0  # rounds of one seat that the kernel did not play
        self.loaded = False  # whether the kernel plays from now on

    @property
    def rows(self) -> int:
        """Of the round tables; what is made of a row takes hundreds of bytes."""
        return sum(len(table.height) for table in self.tables[0])

    @cached_property
    def layout(self) -> WalkedTable:
        layout = WalkedTable(pack_moves(*self.tables), make_deal(self.compiled, self._seats))
        if not self._adjusts:
            return layout
        model = np.zeros(1, np.int64)
        return layout._replace(luck=make_luck([self.solved], model, model, self.compiled, self.rows))

    @cached_property
    def plain(self) -> PlainTable:
        """The table of a single seat."""
        return pack_plain(self.tables[0][0])

    @cached_property
    def packed(self) -> WalkedTable | None:
        return for_kernel(self.layout)

    @cached_property
    def cards_in_round(self) -> float:
        """The typical number of cards in a round, estimated on a separate stream; 0 for an infinite shoe."""
        if not self.compiled.numbers.shoe_size:
            return 0.0
        key, layout = stream_key(0, PILOT_TABLE, 0), self.layout._replace(luck=None)
        played = play_blocks(self.compiled, layout, self.play_round, [key], [PILOT], traced=True)
        return float(played.traces[0][-1, -1] / PILOT)

    @cached_property
    def solved(self) -> list[Model]:
        assert self.unit is not None
        probabilities = rank_probabilities(self.compiled)
        return [solve_rows(table, probabilities, self.unit, curved=self._adjusts) for table in self.tables[0]]

    @cached_property
    def values(self) -> list[float]:
        """The value of a round per settled bet for each seat's chart, in initial bets; nan if it is not finite."""
        return [self.solved[chart].value for chart in self.tables[1].tolist()]

    @cached_property
    def rounds_in_shoe(self) -> int:
        """The typical number of rounds that start in one shoe; 1 for an infinite shoe."""
        if not (cards := self.cards_in_round):
            return 1
        cut = self.compiled.numbers.cut
        return max(round(cut / cards + 0.5), 1)  # the round in which the cut card appears is played

    @cached_property
    def drift(self) -> Drift | None:
        if not self._adjusts or self.unit is None:
            return None
        return make_drift(self.solved, self.tables[1], self.compiled, self.unit, self.cards_in_round)

    @property
    def kernel(self) -> str:
        """The kernel that plays long runs, unless the round table is too large for it."""
        if self._adjusts:
            return "adjusted"
        if self._seats == 1:
            return "plain"
        return "walk in turns" if self.compiled.numbers.round_robin else "walk"

    def play(self, keys: Sequence[Key], rounds: Sequence[int]) -> Played:
        """Play blocks from the beginnings of their keys' streams; EndlessSplitting at the limit on hands."""
        with suppress(LeftTable):
            if not self.loaded:  # a run to a given precision cannot know its length in advance
                self._by_arrays += sum(rounds) * self._seats
                self.load(self._by_arrays)
            if self.loaded:
                from bjsim.sim.engine.rounds import play_plain, play_seats  # imports numba

                if self.kernel == "plain":
                    return Played(*play_plain(self.compiled, self.plain, keys, rounds), [], [])
                if self.packed:
                    return play_seats(self.compiled, self.packed, keys, rounds, self.drift)
        return play_blocks(self.compiled, self.layout, self.play_round, keys, rounds, drift=self.drift)

    def load(self, rounds: float) -> bool:
        """Let the kernel play from now on if it pays for this many rounds of one seat; returns if compiling it pays."""
        pays = rounds >= THRESHOLDS[self.kernel].compiling and have_kernels()
        self.loaded = self.loaded or pays or is_ready(self.kernel, rounds)
        return pays


def have_kernels() -> bool:
    """Load the kernels of runs, which takes half a second. Returns: whether numba is there."""
    try:
        from bjsim.sim.engine import rounds  # noqa: F401
    except ImportError:
        return False
    return True


def is_ready(kernel: str, rounds: float) -> bool:
    """Whether this many rounds of one seat pay for loading a kernel that need not be compiled."""
    if rounds < THRESHOLDS[kernel].loading or not have_kernels():
        return False
    from bjsim.sim.engine.rounds import is_compiled

    return is_compiled(kernel)


# --- blocks in arrays


def play_blocks(
    compiled: CompiledRules,
    layout: WalkedTable,
    play_round: PlayRound,
    keys: Sequence[Key],
    rounds: Sequence[int],
    traced: bool = False,
    drift: Drift | None = None,
) -> Played:
    """Play blocks side by side, each from the beginning of the random stream of its key; with `drift`, count luck.

    `play_round` plays a round that leaves the tables. EndlessSplitting: a seat reached the limit on hands.
    """
    numbers, seats = compiled.numbers, len(layout.moves.start)
    counts = np.zeros((seats, numbers.ties + 1, 2 * numbers.width + 1), np.int64)
    outside, left = [np.zeros((0, 2), np.int64)], np.array(rounds, np.int64)
    traces = [[np.zeros((0, seats + 1), np.int64)] for _ in keys]
    shoes = [[np.zeros((2, seats, 0))] for _ in keys]
    least = ENDLESS_LEAST if numbers.most_hands == NO_LIMIT else LEAST  # longer rounds are replayed
    each = CARDS * (1 + seats) / 2  # cards in a round, about
    size = int(np.clip(0.25 * math.sqrt(left.sum() * each), least, MOST)) // AT_ONCE * AT_ONCE
    segments, at_once = Segments(compiled, size), LUCK_LANES if drift else LANES

    def wanted() -> Array:
        return np.asarray(np.ceil(left * (each * MARGIN / segments.cut)).astype(np.int64))

    for step in walk_streams(segments, layout, np.array(keys, np.uint64).reshape(-1, 2), wanted, at_once, play_round):
        codes = []
        for walked in step:
            stream, most = walked.stream, int(left[walked.stream])
            new = walked.rounds.at(slice(most))
            codes.append(new.codes)
            if traced:
                traces[stream].append(np.column_stack([new.codes, walked.dealt[:most]]))
            if drift and layout.luck:
                shoes[stream].append(_sum_shoes(drift, layout.luck, walked, new, most))
            left[stream] -= len(new.lane)
        for seat, one in enumerate(np.concatenate(codes).T):
            rare = count_codes(counts[seat], one)
            outside.append(np.stack([np.full_like(rare, seat), rare], axis=1))
        each = max(sum(one.used.sum() for one in step) / max(sum(len(one.dealt) for one in step), 1), 1.0)
    return Played(
        counts,
        np.concatenate(outside),
        [np.concatenate(parts) for parts in traces] if traced else [],
        [_add_shoes(np.concatenate(parts, axis=2)) for parts in shoes] if drift else [],
    )


def _sum_shoes(drift: Drift, luck: Luck, walked: Walked, rounds: Rounds, left: int) -> Array:
    """The y and b, see `Played`, of the shoes of some rounds, (2, seats, n).

    The last shoe may be left before its end; `left` rounds are to be played from the first on.
    """
    lane = rounds.lane
    shoes = int(lane[-1]) + 1 if len(lane) == left else len(walked.used)
    begun = np.searchsorted(lane, np.arange(shoes))
    depths = np.minimum(drift.depths, ((left - begun) / drift.rounds_per_depth).astype(np.int64))
    gone = np.stack([np.bincount(lane, one, shoes) for one in rounds.luck.T])
    cards = walked.shoes.cards[:, walked.lane : walked.lane + shoes]
    gone += count_drift(drift, luck.full, cards, depths)[drift.chart]
    units, tied = (np.stack([np.bincount(lane, one, shoes) for one in part.T]) for part in payoff_parts(rounds.codes))
    bets = np.bincount(lane, minlength=shoes) - tied
    return np.stack([units * drift.bet - bets * drift.value[:, None] - gone, bets])


def _add_shoes(shoes: Array) -> Array:
    """The sums over shoes, see `Played`, in their order."""
    y, b = shoes
    each = np.stack([np.ones_like(y), y, b, y * y, y * b, b * b], axis=1)
    return np.cumsum(each, axis=2)[..., -1] if each.size else np.zeros(each.shape[:2])
