"""Playing blocks with the array walker: the payoffs of their rounds, read from the logs of lanes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from bjsim.sim.engine.array_cards import PER_WORD, Segments
from bjsim.sim.engine.array_luck import ShoeLuck
from bjsim.sim.engine.array_walker import NeedsMoreCards, Replayed, Walk
from bjsim.sim.engine.kernels.layout import NO_LIMIT, CompiledRules, payoff_parts
from bjsim.sim.engine.kernels.table_layout import SeatRows
from bjsim.sim.engine.luck_tables import Luck

Array = np.ndarray[Any, Any]
Key = tuple[int, int]  # of a random stream
PlayRound = Callable[[Iterator[int]], tuple[Sequence[int], int]]  # takes cards; payoff codes by seat, number of cards

LANES = 1 << 13  # about as many side by side
AFTER_CUT = 40  # cards that nearly no round needs after the cut card
LEAST, MOST = 64, 2048  # cards of a segment of an infinite shoe
ENDLESS_LEAST = 512  # if splits have no limit
MARGIN = 1.02  # of the cards that the rounds probably need
CARDS = 5.4  # in a round of one seat


def _batched(items: list[Any], most: int) -> Iterator[list[Any]]:
    return (items[i : i + most] for i in range(0, len(items), most))


class Played(NamedTuple):
    """The payoffs of blocks.

    `counts`, int64 (seats, ties + 1, 2 width + 1), is the frequency of each payoff by bets tied and units
    won; `outside` has rows of (seat, payoff code) outside that window, int64 (n, 2). `traces` are each
    block's payoff codes by seat and cards dealt so far, int64 (rounds, seats + 1), none if not traced;
    `shoes` each block's sums over shoes, float64 (seats, 6), see `ShoeLuck`, none without luck.
    """

    counts: Array
    outside: Array
    traces: list[Array]
    shoes: list[Array]


def play_blocks(
    compiled: CompiledRules,
    rows: SeatRows,
    play_round: PlayRound,
    keys: Sequence[Key],
    rounds: Sequence[int],
    traced: bool = False,
    luck: Luck | None = None,
) -> Played:
    """Play blocks side by side, each from the beginning of the random stream of its key.

    `play_round` plays a round that leaves the tables. EndlessSplitting: a seat reached the limit on hands.
    """
    tally = _Tally(compiled, rows)
    traces: list[Array] = []
    shoes: list[Array] = []
    for number, some in groupby(zip(rounds, keys, strict=True), key=itemgetter(0)):
        for group in _batched([key for _, key in some], max(int(LANES * 256 / (number * CARDS + 1)), 1)):
            sums = ShoeLuck(luck, len(group), number) if luck else None
            traces += _play_group(compiled, rows, play_round, np.array(group, np.uint64), number, tally, traced, sums)
            shoes += sums.total() if sums else []
    return Played(tally.counts, np.concatenate(tally.outside), traces, shoes)


def _play_group(
    compiled: CompiledRules, rows: SeatRows, play_round: PlayRound, keys: Array, rounds: int, tally: _Tally,
    traced: bool, shoes: ShoeLuck | None,
) -> list[Array]:  # fmt: skip
    seats, streams = len(rows.start), len(keys)
    each = CARDS * (1 + seats) / 2  # cards in a round, about
    least = ENDLESS_LEAST if compiled.numbers.most_hands == NO_LIMIT else LEAST  # rounds longer than that are replayed
    size = int(np.clip(0.4 * math.sqrt(rounds * streams * each), least, MOST)) // PER_WORD * PER_WORD
    segments = Segments(compiled, size)
    over, dealt, begins = (np.zeros(streams, np.int64) for _ in range(3))
    first = 0  # segment
    pieces: list[list[Array]] = [[] for _ in keys]
    while (needed := rounds - int(over.min())) > 0:
        count = min(math.ceil(needed * each * MARGIN / segments.cut), max(LANES // streams, 1))
        lanes = np.arange(streams * (count + 1)).reshape(streams, -1)
        starts = np.full(lanes.size, -1)
        starts[lanes[:, 0]] = begins

        def replay(lane: int, card: int, first: int = first, count: int = count) -> tuple[Sequence[int], int]:
            stream, number = divmod(lane, count + 1)
            return play_round(segments.read(keys[stream : stream + 1], first + number, card))

        walk, replayed = _walk(
            rows,
            compiled,
            segments,
            partial(segments.cards, keys, first, count + 1),
            starts,
            partial(_replay, lanes=lanes, wanted=rounds - over, replay=replay),
        )
        walk.log[:, :, lanes[:, -1]], walk.over[:, lanes[:, -1]] = 0, False
        played = np.cumsum(np.insert(walk.over.sum(axis=0), 0, 0))
        before = played[lanes[:, 0]]
        new = np.minimum(played[lanes[:, -1]] - before, rounds - over)
        by_round = traced or shoes is not None
        codes = [tally.add(seat, walk.log[seat], before, new, replayed[:, seat], by_round) for seat in range(seats)]
        if traced:
            piles = _piles(walk, segments.size, lanes, dealt)
            for stream, (begin, number) in enumerate(zip(before.tolist(), new.tolist(), strict=True)):
                columns = [*(code[stream] for code in codes), piles[begin : begin + number]]
                pieces[stream].append(np.stack(columns, axis=1))
        if shoes:
            for stream in range(streams):
                own = [code[stream] for code in codes]
                shoes.add(stream, walk, lanes[stream, :-1], np.array(own), int(rounds - over[stream]))
        used = np.minimum(walk.dealt, segments.size)[lanes[:, :-1]].sum(axis=1)
        begins = np.maximum(walk.dealt[lanes[:, -2]] - segments.size, 0)
        over, dealt, first = over + new, dealt + used, first + count
        each = max(float(used.sum()) / max(int(new.sum()), 1), 1.0)
    return [np.concatenate(parts) if parts else np.zeros((0, seats + 1), np.int64) for parts in pieces]


def _walk(
    rows: SeatRows, compiled: CompiledRules, segments: Segments, cards: Any, starts: Array,
    replay: Callable[[Walk], Array],
) -> tuple[Walk, Array]:  # fmt: skip
    stop = min(segments.size, (segments.cut + AFTER_CUT * len(rows.start) + 3) // 4 * 4)
    try:
        walk = Walk(rows, compiled, segments, cards(stop), starts)
        return walk, replay(walk)
    except NeedsMoreCards:
        walk = Walk(rows, compiled, segments, cards(segments.size), starts)
        return walk, replay(walk)


def _replay(walk: Walk, lanes: Array, wanted: Array, replay: Callable[[int, int], tuple[Sequence[int], int]]) -> Array:
    """Play the rounds that left the table, and walk on behind them; return their payoff codes, (n, seats).

    What comes before the first of each stream is certain, so that no other is played. A stream's last lane
    only ends rounds of the one before. `wanted` (B,) is the number of rounds that count; the codes are in the
    order of lanes and cards. `replay` plays the round that begins with this card of a lane.
    """
    codes: dict[Replayed, Sequence[int]] = {}
    while (left := walk.left[lanes[:, :-1]]).any():
        stream, number = np.flatnonzero(left.any(axis=1)), left.argmax(axis=1)
        before = walk.over.sum(axis=0)[lanes].cumsum(axis=1)
        stream = stream[(before[np.arange(len(lanes)), number] < wanted)[stream]]
        if not len(stream):
            break
        at = lanes[stream, number[stream]]
        paid, cards = zip(*map(replay, at.tolist(), walk.dealt[at].tolist()), strict=True)
        walk.resume(at, np.array(cards))
        codes |= zip(walk.replayed[-len(at) :], paid, strict=True)
    return np.array([codes[each] for each in sorted(codes)], np.int64).reshape(-1, len(walk.log))


def _piles(walk: Walk, size: int, lanes: Array, dealt: Array) -> Array:
    """Cards dealt from the stream up to the end of each round of all lanes."""
    used = np.minimum(walk.dealt, size)[lanes]
    before = dealt[:, None] + np.cumsum(np.insert(used, 0, 0, axis=1), axis=1)[:, :-1]
    lane, p = walk.over.T.nonzero()
    end = np.where(p + 1 < len(walk.over), p + 1, walk.dealt[lane])
    piles: Array = before.ravel()[lane] + end
    return piles


class _Tally:
    """Counts payoffs. Attributes: see `Played`."""

    def __init__(self, compiled: CompiledRules, rows: SeatRows) -> None:
        numbers = compiled.numbers
        self.ends, self.hands = rows.ends, rows.hands
        self.counts = np.zeros((len(rows.start), numbers.ties + 1, 2 * numbers.width + 1), np.int64)
        self.outside = [np.zeros((0, 2), np.int64)]

    def add(self, seat: int, log: Array, before: Array, new: Array, replayed: Array, traced: bool) -> list[Array]:
        """Count a seat's payoffs of `new` (B,) rounds of each stream; if `traced`, return codes by stream.

        `log` is what its lanes logged, (p, lanes); `before` (B,) the rounds of all lanes before the first of
        each stream; `replayed` (n,) the payoff codes of the replayed rounds of all lanes.
        """
        by_lane = np.ascontiguousarray(log.T).ravel()
        logged = by_lane[by_lane > 0].astype(np.int64)
        last = np.flatnonzero(logged <= len(self.ends))  # of each round
        begin = np.insert(last + 1, 0, 0)
        chosen = [slice(begin[b], begin[b + n]) for b, n in zip(before.tolist(), new.tolist(), strict=True)]
        if len(replayed):
            at = np.flatnonzero(logged == len(self.ends))
            replayed = np.concatenate([replayed[(at >= part.start) & (at < part.stop)] for part in chosen])
        codes = self._count(seat, np.concatenate([logged[part] for part in chosen]), replayed)
        return np.split(codes, np.cumsum(new)[:-1]) if traced else []

    def _count(self, seat: int, logged: Array, replayed: Array) -> Array:
        last = np.flatnonzero(logged <= len(self.ends))
        end, alone = logged[last] - 1, np.diff(last, prepend=-1) == 1
        outside = end == len(self.ends) - 1 if len(replayed) else np.zeros_like(alone)
        alone &= ~outside
        self._add(seat, self.ends[:, 0], np.bincount(end[alone], minlength=len(self.ends)))
        code: Array = self.ends[end, 0]
        hands = np.flatnonzero(logged > len(self.ends))
        if len(hands):
            owner = np.searchsorted(last, hands)
            number, outcome = logged[hands] - 1 - len(self.ends), self.ends[end[owner], 1]
            np.add.at(code, owner, self.hands[number, outcome])
        if not alone.all():
            code[outside] = replayed
            self._add(seat, *np.unique(code[~alone], return_counts=True))
        return code

    def _add(self, seat: int, codes: Array, times: Array) -> None:
        outside = count_codes(self.counts[seat], codes, times)
        self.outside.append(np.stack([np.full_like(outside, seat), outside], axis=1))


def count_codes(dense: Array, codes: Array, times: Array) -> Array:
    """Count payoff codes (n,), each `times` often, in `dense`; return those outside its window, repeated."""
    units, tied = payoff_parts(codes)
    column = units + dense.shape[1] // 2
    fits = (column >= 0) & (column < dense.shape[1]) & (tied < dense.shape[0])
    np.add.at(dense, (tied[fits], column[fits]), times[fits])
    outside: Array = np.repeat(codes[~fits], times[~fits])
    return outside
