"""Plays blocks of rounds of seats that play charts: by kernels where that pays, else in arrays.

Which of them plays does not change a bit of any result.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import cached_property, partial
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from bjsim.arrays import Array
from bjsim.sim.engine.array_cards import AT_ONCE, Segments
from bjsim.sim.engine.counts import Played, count_codes
from bjsim.sim.engine.kernels.arrays import FURTHER, Drift, PlainTable, SeatRows, WalkedTable
from bjsim.sim.engine.kernels.layout import NO_LIMIT, CompiledRules, payoff_parts
from bjsim.sim.engine.lanes import Rounds, Shoes, Walked, walk_shoes
from bjsim.sim.engine.luck_values import Solved, count_drift, make_drift, make_luck, solve_rows
from bjsim.sim.engine.pack import for_kernel, luck_for_kernel, make_deal, pack_moves, pack_plain
from bjsim.sim.engine.round_table import LeftTable, make_round_tables
from bjsim.sim.engine.transitions import rank_probabilities
from bjsim.sim.game.shoe import stream_key

Key = tuple[int, int]  # of a random stream
PlayRound = Callable[[Iterator[int]], tuple[Sequence[int], int]]  # takes cards; payoff codes by seat, number of cards


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
    """The walkers of one table; `play_round` plays a round that leaves the round table."""

    def __init__(self, compiled: CompiledRules, play_round: PlayRound) -> None:
        self.compiled = compiled
        self.play_round = play_round
        self._seats = len(compiled.act)
        self.tables = make_round_tables(compiled)
        self._by_arrays = Counter[str]()  # rounds of one seat, by the kernel that did not play them
        self.loaded = set[str]()  # kernels, which play from now on

    @property
    def rows(self) -> int:
        """Of the round tables; what is made of a row takes hundreds of bytes."""
        return sum(len(table.height) for table in self.tables[0])

    @cached_property
    def layout(self) -> WalkedTable:
        return WalkedTable(pack_moves(*self.tables), make_deal(self.compiled, self._seats))

    @cached_property
    def plain(self) -> PlainTable:
        """The table of a single seat."""
        return pack_plain(self.tables[0][0])

    @cached_property
    def packed(self) -> SeatRows | None:
        return for_kernel(self.layout.moves)

    @cached_property
    def cards_in_round(self) -> float:
        """The typical number of cards in a round, estimated on a separate stream; 0 for an infinite shoe."""
        if not self.compiled.numbers.shoe_size:
            return 0.0
        key = stream_key(0, PILOT_TABLE, 0)
        played = play_blocks(self.compiled, self.layout, self.play_round, [key], [PILOT], traced=True)
        return float(played.traces[0][-1, -1] / PILOT)

    def adjusted(self, unit: Fraction) -> AdjustedWalkers:
        """The same walkers with luck, for a payoff quantum of `unit` initial bets."""
        return AdjustedWalkers(self, unit)

    @property
    def kernel(self) -> str:
        """The kernel that plays long runs, unless the round table is too large for it."""
        if self._seats == 1:
            return "plain"
        return "walk in turns" if self.compiled.numbers.round_robin else "walk"

    def play(self, keys: Sequence[Key], rounds: Sequence[int]) -> Played:
        """Play blocks from the beginnings of their keys' streams; EndlessSplitting at the limit on hands."""
        with suppress(LeftTable):
            if self.are_ready(self.kernel, sum(rounds) * self._seats):
                from bjsim.sim.engine.rounds import play_plain, play_seats  # imports numba

                if self.kernel == "plain":
                    return Played(*play_plain(self.compiled, self.plain, keys, rounds), [], [])
                if self.packed:
                    return play_seats(self.compiled, self.layout._replace(moves=self.packed), keys, rounds)
        return play_blocks(self.compiled, self.layout, self.play_round, keys, rounds)

    def are_ready(self, kernel: str, rounds: int) -> bool:
        """Whether a kernel should play this many rounds of one seat, even if it must be compiled first.

        A run to a given precision cannot know its length in advance, so the kernel is loaded, or compiled, once arrays
        have played enough rounds.
        """
        if kernel in self.loaded:
            return True
        self._by_arrays[kernel] += rounds
        long = self._by_arrays[kernel] >= THRESHOLDS[kernel].compiling and have_kernels()
        if long or is_ready(kernel, self._by_arrays[kernel]):
            self.loaded.add(kernel)
        return kernel in self.loaded


class AdjustedWalkers:
    """The walkers of one table that also count luck; `unit` is the payoff quantum, in initial bets."""

    def __init__(self, walkers: Walkers, unit: Fraction) -> None:
        self.walkers = walkers
        self.unit = unit
        self.loaded = walkers.loaded

    @cached_property
    def solved(self) -> list[Solved]:
        probabilities = rank_probabilities(self.walkers.compiled)
        return [solve_rows(table, probabilities, self.unit) for table in self.walkers.tables[0]]

    @cached_property
    def values(self) -> list[float]:
        """The value of a round per settled bet for each seat's chart, in initial bets; nan if it is not finite."""
        return [self.solved[chart].values.value for chart in self.walkers.tables[1].tolist()]

    @cached_property
    def rounds_in_shoe(self) -> int:
        """The typical number of rounds that start in one shoe; 1 for an infinite shoe."""
        if not (cards := self.walkers.cards_in_round):
            return 1
        cut = self.walkers.compiled.numbers.cut
        return max(round(cut / cards + 0.5), 1)  # the round in which the cut card appears is played

    @cached_property
    def layout(self) -> WalkedTable:
        """With luck, that is, for a finite shoe."""
        compiled, model = self.walkers.compiled, np.zeros(1, np.int64)
        rows = sum(len(one.slopes) for one in self.solved)
        luck = make_luck([[one.model for one in self.solved]], model, model, compiled.unshuffled, rows)
        return self.walkers.layout._replace(luck=luck)

    @cached_property
    def drift(self) -> Drift:
        walkers = self.walkers
        return make_drift(self.solved, walkers.tables[1], walkers.compiled, self.unit, walkers.cards_in_round)

    @cached_property
    def packed(self) -> WalkedTable:
        """The layout for the kernel."""
        assert self.layout.luck is not None and self.walkers.packed is not None
        return self.layout._replace(moves=self.walkers.packed, luck=luck_for_kernel(self.layout.luck))

    @property
    def kernel(self) -> str:
        """As `Walkers.kernel`."""
        return "adjusted" if self.walkers.compiled.numbers.shoe_size else self.walkers.kernel

    def play(self, keys: Sequence[Key], rounds: Sequence[int]) -> Played:
        """Play blocks, as `Walkers.play`, and count luck, unless the shoe is infinite: none would be left in it."""
        walkers, compiled = self.walkers, self.walkers.compiled
        if not compiled.numbers.shoe_size:
            return walkers.play(keys, rounds)
        if walkers.are_ready(self.kernel, sum(rounds) * len(compiled.act)) and walkers.packed:
            from bjsim.sim.engine.rounds import play_seats  # imports numba

            with suppress(LeftTable):
                return play_seats(compiled, self.packed, keys, rounds, self.drift)
        return play_blocks(compiled, self.layout, walkers.play_round, keys, rounds, drift=self.drift)


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
    outside, traces, shoes = [np.zeros((0, 2), np.int64)], list[Array](), list[Array]()
    for number, some in groupby(zip(rounds, keys, strict=True), key=itemgetter(0)):
        group, most = [key for _, key in some], max(int(LANES * 256 / (number * CARDS + 1)), 1)
        for i in range(0, len(group), most):
            streams = _Streams(compiled, layout, play_round, np.array(group[i : i + most], np.uint64), number, drift)
            for codes in streams.play(traced):
                for seat, one in enumerate(codes.T):
                    rare = count_codes(counts[seat], one)
                    outside.append(np.stack([np.full_like(rare, seat), rare], axis=1))
            traces += [np.concatenate(parts) for parts in streams.pieces] if traced else []
            shoes += streams.sums() if drift else []
    return Played(counts, np.concatenate(outside), traces, shoes)


class _Streams:
    """Equally many rounds of several streams side by side, as many shoes of each at once as there is room for."""

    def __init__(
        self, compiled: CompiledRules, layout: WalkedTable, play_round: PlayRound, keys: Array, rounds: int,
        drift: Drift | None,
    ) -> None:  # fmt: skip
        self.layout, self.play_round, self.keys, self.rounds, self.drift = layout, play_round, keys, rounds, drift
        self.seats = len(layout.moves.start)
        self.each = CARDS * (1 + self.seats) / 2  # cards in a round, about
        least = ENDLESS_LEAST if compiled.numbers.most_hands == NO_LIMIT else LEAST  # longer rounds are replayed
        size = int(np.clip(0.25 * math.sqrt(rounds * len(keys) * self.each), least, MOST)) // AT_ONCE * AT_ONCE
        self.segments = Segments(compiled, size)
        self.pieces: list[list[Array]] = [[np.zeros((0, self.seats + 1), np.int64)] for _ in keys]
        self.of_shoes: list[list[Array]] = [[np.zeros((2, self.seats, 0))] for _ in keys]

    def play(self, traced: bool) -> Iterator[Array]:
        """Play the rounds. Returns: payoff codes, (n, seats), some at a time."""
        over, dealt, begin = np.zeros((3, len(self.keys)), np.int64)
        streams, cut, first = len(self.keys), self.segments.cut, 0  # segment
        while self.rounds > over.min():
            at_once = max((LUCK_LANES if self.drift else LANES) // streams, 1)
            count = min(math.ceil((self.rounds - int(over.min())) * self.each * MARGIN / cut), at_once)
            cards = self.segments.cards(self.keys, first, count + FURTHER, self.segments.size)
            replay = partial(self._replay, first, count + FURTHER)
            walked = walk_shoes(self.layout, Shoes(cards, cut), streams, begin, replay)
            cuts = np.searchsorted(walked.rounds.lane, np.arange(streams + 1) * (count + FURTHER))
            new = np.minimum(np.diff(cuts), self.rounds - over)
            chosen = [slice(start, start + n) for start, n in zip(cuts.tolist(), new.tolist(), strict=False)]
            for stream, part in enumerate(chosen):
                if traced:
                    self._note(stream, walked, walked.rounds.at(part), int(dealt[stream]))
                if self.drift:
                    self._add_shoes(stream, cards, walked, walked.rounds.at(part), int(self.rounds - over[stream]))
            yield np.concatenate([walked.rounds.codes[part] for part in chosen])
            used = np.minimum(walked.ends, self.segments.size).sum(axis=1)
            begin = np.maximum(walked.ends[:, -1] - self.segments.size, 0)
            over, dealt, first = over + new, dealt + used, first + count
            self.each = max(float(used.sum()) / max(int(new.sum()), 1), 1.0)

    def _replay(self, first: int, lanes: int, lane: int, card: int) -> tuple[Sequence[int], int]:
        stream, number = divmod(lane, lanes)
        return self.play_round(self.segments.read(self.keys[stream : stream + 1], first + number, card))

    def _note(self, stream: int, walked: Walked, rounds: Rounds, dealt: int) -> None:
        """Note payoff codes, and the cards dealt from the stream up to the end of each round."""
        used = np.minimum(walked.ends[stream], self.segments.size)
        before = dealt + np.cumsum(used) - used
        piles = before[rounds.lane - stream * (len(used) + FURTHER)] + rounds.end
        self.pieces[stream].append(np.column_stack([rounds.codes, piles]))

    def _add_shoes(self, stream: int, cards: Array, walked: Walked, rounds: Rounds, left: int) -> None:
        """Add shoes, the last of which may be left before its end; `left` rounds are to be played from the first on."""
        drift, luck = self.drift, self.layout.luck
        assert drift is not None and luck is not None
        if not left:
            return
        count = walked.ends.shape[1]
        lane, shoes = (rounds.lane - stream * (count + FURTHER)).astype(np.intp), count
        if len(rounds.lane) == left:
            shoes = int(lane[-1]) + 1
        begun = np.searchsorted(lane, np.arange(shoes))
        depths = np.minimum(drift.depths, ((left - begun) / drift.rounds_per_depth).astype(np.int64))
        own = stream * (count + FURTHER) + np.arange(shoes)
        gone = np.stack([np.bincount(lane, one, shoes) for one in rounds.luck.T])
        gone += count_drift(drift, luck.full, cards[:, own], depths)[drift.chart]
        units, tied = (
            np.stack([np.bincount(lane, one, shoes) for one in part.T]) for part in payoff_parts(rounds.codes)
        )
        bets = np.bincount(lane, minlength=shoes) - tied
        self.of_shoes[stream].append(np.stack([units * drift.bet - bets * drift.value[:, None] - gone, bets]))

    def sums(self) -> list[Array]:
        """The sums over shoes of each stream, see `Played`."""
        totals = []
        for parts in self.of_shoes:
            y, b = np.concatenate(parts, axis=2)
            each = np.stack([np.ones_like(y), y, b, y * y, y * b, b * b], axis=1)
            totals.append(np.cumsum(each, axis=2)[..., -1] if each.size else np.zeros(each.shape[:2]))
        return totals
