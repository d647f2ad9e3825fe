"""The walker that needs no compiler: many shoes side by side, in NumPy.

A lane is a shoe, or a segment of an infinite one. Every step gives every lane a card. As a round may run on into the
next shoe, a lane should begin where the round of the lane before ended: all begin with their first card, and those that
should have begun later are walked again, up to the first round that begins where one of their last walk did.

State is by lane, (n,), or by seat and lane, flat (S n,): seat s of lane k is in place s n + k. Who takes a card is then
one array of places, whatever the number of seats. For luck see `kernels/luck.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from bjsim.arrays import Array
from bjsim.errors import EndlessSplitting
from bjsim.sim.engine.array_cards import Segments
from bjsim.sim.engine.kernels.arrays import (
    ASKED,
    BITS,
    FLAGS,
    FREE,
    FURTHER,
    INSURES,
    LEAVES,
    LOGGED,
    SCALE,
    STRIDE,
    WAITS,
    Counter,
    WalkedTable,
)
from bjsim.sim.engine.kernels.layout import ENDLESS
from bjsim.sim.engine.round_table import LEFT

Paid = tuple[Sequence[int], int]  # of a round: payoff codes by seat, number of cards
PlayRound = Callable[[Iterator[int]], Paid]  # takes cards
Replay = Callable[[int, int], Paid]  # takes the lane, and the first card of a round

ALL = slice(None)
ACE = 0  # its rank
DEAD = LEFT * STRIDE  # the place of the row of a shadow whose round would be over


class Rounds(NamedTuple):
    """Rounds of lanes, (n,) each: the lane, cards of it before the round and up to its end, those of the next lane
    included, and the counter's bucket before it; by seat, (n, S), payoff codes and luck in initial bets; (n, 0) if no
    luck is counted."""

    lane: Array
    begin: Array
    end: Array
    bucket: Array
    codes: Array
    luck: Array

    def at(self, chosen: Array | slice) -> Rounds:
        return Rounds(*(field[chosen] for field in self))


def join(parts: Sequence[Rounds]) -> Rounds:
    """Rounds in the order of lanes; those of a lane are in the order of its cards in the parts, one after another."""
    rounds = Rounds(*(np.concatenate(fields) for fields in zip(*parts, strict=True)))
    lane = rounds.lane.astype(np.min_scalar_type(int(rounds.lane.max(initial=0))))  # short numbers are sorted by radix
    order = np.argsort(lane, kind="stable")
    return Rounds(*(field.take(order, axis=0) for field in rounds))


class Shoes:
    """Shoes side by side: ranks, uint8 (p, lanes), of which no round begins after `cut` cards of one.

    For a counter: the running count after so many cards, and the bucket before a card.
    """

    def __init__(self, cards: Array, cut: int, count: Counter | None = None) -> None:
        self.cards, self.cut = cards, cut
        self.size, self.lanes = cards.shape
        if count is None:
            return
        self.running = np.empty((self.size + 1, self.lanes), np.int32)
        self.running[0] = count.initial
        self.running[1:] = count.tags.astype(np.int32)[cards]
        np.cumsum(self.running, axis=0, out=self.running)
        running = self.running[:cut] - count.lowest_bet
        if count.side_aces:
            running += count.side_aces * count.aces
            running[1:] -= count.side_aces * np.cumsum(cards[: cut - 1] == ACE, axis=0, dtype=np.int32)
        self.bucket = count.buckets[np.arange(cut)[:, None], running]

    def at(self, p: Array, lane: Array) -> Array:
        """The cards of lanes at positions, which may be those of later lanes, (n,)."""
        if p.max(initial=0) >= self.size:
            later, p = np.divmod(p, self.size)
            lane = lane + later
        return np.asarray(self.cards.take(p * self.lanes + lane).astype(np.intp))


class Lanes:
    """Lanes in lockstep, each from card `begins` (n,) on, with which a round begins.

    `replay` plays a round that leaves the table. `known` has the cards with which rounds of the lanes' last walk begin,
    bool (cut, lanes).

    Attributes:
        dealt: Cards of each lane up to the end of its last round, (n,).
        met: The card with which a round of the last walk began, at which this one stopped; -1 if there is none, (n,).
    """

    def __init__(
        self, layout: WalkedTable, shoes: Shoes, lanes: Array, begins: Array, replay: Replay, known: Array | None
    ) -> None:
        self.moves, self.deal, self.luck, self.count = layout
        self.shoes, self.replay, self.known = shoes, replay, known
        self.seats, n = len(self.moves.start), len(lanes)
        self.alone, self.bare = self.seats == 1, self.seats == 1 and not self.luck and not self.count
        self.hides = self.luck is not None and int(self.deal.hole.max()) >= 0
        self.dealt, self.met = begins.copy(), np.full(n, -1, np.intp)
        self.number, self.lane, self.p, self.begin = np.arange(n), lanes, begins.copy(), begins.copy()
        self.who, self.drawn, self.alive, self.bucket, self.cell, self.model = np.zeros((6, n), np.intp)
        self.hands, self.hole = np.full(n, self.seats, np.intp), np.full(n, -1, np.intp)
        self.free = np.zeros(n, np.bool_)
        self.rows, self.flags = np.zeros((2, self.seats * n), np.intp)
        self.code = np.zeros(self.seats * n, np.int64)
        self.split = np.zeros((self.seats * n, self.moves.hands.shape[1]), np.int64)
        self.splits = np.zeros(self.seats * n, np.bool_)
        self.by_lane = ["number", "lane", "p", "begin", "who", "drawn", "alive", "bucket", "cell", "model", "hands"]
        self.by_lane += ["hole", "free"]
        self.by_seat = ["rows", "flags", "code", "split", "splits"]
        if self.luck:
            self.counts, self.rest = np.zeros((n, self.luck.ranks)), np.zeros(n)
            self.expected, self.end = np.zeros((2, self.seats * n))
            self.logged = np.zeros(self.split.shape)
            self.by_lane += ["counts", "rest"]
            self.by_seat += ["expected", "end", "logged"]
            self.last = np.zeros(0, np.intp)
        if self.hides:
            self.shadow = np.zeros((self.seats * n, self.counts.shape[1]), np.intp)
            self.by_seat.append("shadow")
        self.n, self.every, self.leaving = n, np.arange(n), list[Array]()
        none, no_luck = np.zeros(0, np.int64), np.zeros((0, self.seats if self.luck else 0))
        self.found = [Rounds(none, none, none, none, np.zeros((0, self.seats), np.int64), no_luck)]
        if self.luck:
            self._compose(self.every)
        self._start(self.every)

    def walk(self) -> Rounds:
        """Walk all lanes to their ends. Returns: their rounds, in order."""
        while self.n:
            self._give_card()
        return join(self.found)

    # --- cards and turns

    def _give_card(self) -> None:
        far = self.p >= self.shoes.size * (1 + FURTHER)
        if far.any():
            self._finish(self._leave(np.flatnonzero(far)))
            return
        card = self.shoes.at(self.p, self.lane)
        i, lane = self._takers()
        if self.luck:
            self._weigh(i, lane, np.minimum(card, self.luck.ranks - 1))
        self.p += 1
        over = self._follow(i, self.rows[i] + card[lane])
        if not self.alone:
            self.drawn += 1
            self._next_turns()
        if self.luck and len(self.last):  # before answers, which add what they change by themselves
            self.expected[self.last] += self._value(self.last)
        if self.count:
            over = np.concatenate([over, self._ask()])
        if not self.alone:
            over = np.flatnonzero((self.alive == 0) & (self.drawn >= self.deal.dealt[self.hands]))
        if self.leaving:
            left = self._leave(np.unique(np.concatenate(self.leaving)))
            self.leaving.clear()
            over = np.union1d(over, left)
        if len(over):
            self._finish(over)

    def _takers(self) -> tuple[Any, Any]:
        """Who takes the card: places, and their lanes. The dealer's cards are everybody's."""
        if self.alone:
            return ALL, ALL
        seat, shared = np.flatnonzero(self.who < self.seats), np.flatnonzero(self.who == self.seats)
        s, k = np.nonzero(self.rows.reshape(self.seats, -1)[:, shared] >= 0)
        lane = np.concatenate([seat, shared[k]])
        return np.concatenate([self.who[seat], s]) * self.n + lane, lane

    def _follow(self, i: Any, place: Array) -> Array:
        """Follow entries, and log what ends. Returns: the places whose rounds are over."""
        entry = self.moves.entries.take(place)
        self.rows[i] = entry >> BITS
        if not self.bare:
            self.flags[i] = entry & FLAGS
        at = np.flatnonzero(entry & LOGGED)
        if not len(at):
            return at
        i, leaves = at if i is ALL else i[at], entry[at] & LEAVES > 0
        if leaves.any():
            self.leaving.append(i[leaves] % self.n)
            self.rows[i[leaves]] = place[at[leaves]] // STRIDE * STRIDE  # its value is that of the row that it is in
            i, at = i[~leaves], at[~leaves]
        return self._settle(i, self.moves.log.take(place[at]).astype(np.intp))

    def _settle(self, i: Array, log: Array) -> Array:
        moves, ends = self.moves, len(self.moves.ends)
        hand = log > ends
        if hand.any():
            j, number = i[hand], log[hand] - ends - 1
            self.split[j] += moves.hands[number]
            self.splits[j] = True
            if self.luck:
                self.logged[j] += self.luck.pay[1 + number]
            i, log = i[~hand], log[~hand]
        code, outcome = moves.ends[:, 0].take(log - 1), moves.ends[:, 1].take(log - 1)
        some = np.flatnonzero(self.splits[i])
        code[some] += self.split[i[some], outcome[some]]
        self.code[i] = code
        if self.luck:
            place = self.model[i % self.n] * self.luck.places + len(self.luck.after) + log - 1
            self.end[i] = self.luck.values.take(place)
            self.end[i[some]] += self.logged[i[some], outcome[some]]
        self.rows[i] = -1
        if not self.alone:
            np.subtract.at(self.alive, i % self.n, 1)
        return i

    def _next_turns(self) -> None:
        dealing = self.drawn < self.deal.dealt[self.hands]
        place = np.minimum(self.who, self.seats - 1) * self.n + self.every
        if self.deal.robin:
            self.free = (self.who == self.seats) | (self.flags[place] & FREE > 0) | (self.rows[place] < 0)
        drawing = np.flatnonzero(dealing)
        self.who[drawing] = self.deal.opening[self.hands[drawing], self.drawn[drawing]]
        ends = (self.who == self.seats) | (self.flags[place] & WAITS > 0) | (self.drawn == self.deal.dealt[self.hands])
        self._find_next(np.flatnonzero(~dealing & (ends | self.deal.robin)))

    def _find_next(self, at: Array) -> None:
        """Find who gets the next card after the deal: a seat that acts, or else the dealer."""
        acts, turn = self.flags.reshape(self.seats, -1)[:, at] & WAITS == 0, np.arange(self.seats)[:, None]
        if self.deal.robin:
            began = (self.drawn[at] > self.deal.dealt[self.hands[at]]) & (self.who[at] < self.seats)
            turn = np.where(began, (turn - self.who[at] - self.free[at]) % self.seats, turn)
        first = np.where(acts, turn, self.seats).argmin(axis=0)
        self.who[at] = np.where(acts.any(axis=0), first, self.seats)

    # --- the counter's answers

    def _ask(self) -> Array:
        """Answer what acting seats are asked. Returns: the places whose rounds are over."""
        assert self.count is not None
        over = [self.every[:0]]
        at = self.every if self.alone else np.flatnonzero(self.drawn >= self.deal.dealt[self.hands])
        while len(at):
            if not self.alone:  # all seats insure before anyone plays
                insures = self.flags.reshape(self.seats, -1)[:, at] & INSURES > 0
                self.who[at] = np.where(insures.any(axis=0), insures.argmax(axis=0), self.who[at])
            at = at[self.who[at] < self.seats]
            i = self.who[at] * self.n + at
            asked = np.flatnonzero(self.flags[i] & ASKED)
            at, i = at[asked], i[asked]
            if not len(at):
                break
            mine = self.who[at] >= self.count.seat
            chart = np.where(mine, self.count.chart[self._cells(at)], self.count.other)
            row = self.rows[i] // STRIDE
            number = self.moves.question.take(row) - 1
            code, own = self.moves.answers[number, chart].astype(np.intp), self.every[:0]
            if self.luck:
                # the model's own answer leaves the value as it is, but the pay of a split hand is rounded by itself
                usual = self.moves.answers[number, self.luck.chart[self.model[at]]]
                own = i[mine & ((code != usual) | (self.luck.hand[row, code] > 0))]
                self.expected[own] -= self._value(own)
                if self.hides:
                    self._judge(i[mine], at[mine], chart[mine])
            over.append(self._follow(i, self.rows[i] + code))
            if len(own):
                self.expected[own] += self._value(own)
            self.free[at] = False
            if not self.alone:
                self._find_next(at)
        return np.concatenate(over)

    def _cells(self, at: Array) -> Array:
        """The cells of the count by which lanes decide; the hidden card is not seen."""
        assert self.count is not None
        if self.count.before_round:
            return self.cell[at]
        shoe = (self.p[at] - 1) // self.shoes.size
        seen, lane = self.p[at] - shoe * self.shoes.size, self.lane[at] + shoe
        running = self.shoes.running[seen, lane]
        hole = self.hole[at]
        hidden = (hole >= 0) & (hole // self.shoes.size == shoe)
        if hidden.any():
            running = running - hidden * self.count.tags[self.shoes.at(np.maximum(hole, 0), self.lane[at])]
        return np.asarray(self.count.cells[seen - hidden, running - self.count.lowest].astype(np.intp))

    # --- luck

    def _compose(self, at: Array) -> None:
        """Find the composition of the shoes that lanes are in."""
        assert self.luck is not None
        later, p = np.divmod(self.p[at], self.shoes.size)
        self.counts[at], self.rest[at] = self.luck.full, self.luck.full.sum() - p
        lane = np.minimum(self.lane[at] + later, self.shoes.lanes - 1)
        for card in range(int(p.max(initial=0))):
            dealt = np.flatnonzero(p > card)
            rank = np.minimum(self.shoes.cards[card, lane[dealt]], self.luck.ranks - 1)
            self.counts[at[dealt], rank] -= 1

    def _weigh(self, i: Any, lane: Any, rank: Array) -> None:
        """Add E - V of the next card to what is expected of those who take it; move shadows; deal the card."""
        luck, counts, rest = self.luck, self.counts, self.rest
        assert luck is not None
        self.last = np.flatnonzero(rest == 1.0)
        if len(self.last):  # the last card of a shoe is certain, so it is no luck
            self.last = (np.arange(self.seats)[:, None] * self.n + self.last).ravel()
            self.last = self.last[self.rows[self.last] >= 0]
            self.expected[self.last] -= self._value(self.last)
        if self.count and self.count.seat:
            mine = i // self.n >= self.count.seat
            i, lane = i[mine], lane[mine]
        row, left = self.rows[i] // STRIDE, rest[lane]
        form = luck.form.take(self.model[lane] * luck.frequent + np.minimum(row, luck.frequent - 1), axis=0)
        now = counts[lane]
        product = np.matmul(now.astype(np.float32)[:, None, :], form)[:, 0]  # whole numbers below 2 ** 24
        gap = np.einsum("mk,mk->m", product[:, :-1], now)
        gap -= product[:, -1]
        gap /= left * np.maximum(left - 1.0, 1.0)
        some = np.flatnonzero(self.splits[i] + luck.slow.take(row) > 1)
        if len(some):
            j, at = (some, some) if i is ALL else (i[some], lane[some])
            gap[some] = np.where(rest[at] == 1.0, 0.0, self._expect(j, at) - self._value(j))
        self.expected[i] += gap
        if self.hides:
            ranks = np.repeat(rank[lane][:, None], luck.ranks, axis=1)
            ranks[(self.p == self.hole)[lane]] = np.arange(luck.ranks)
            self.shadow[i] = self._moved(self.shadow[i] + ranks)
        counts[self.every, rank] -= 1.0
        rest -= 1.0
        empty = np.flatnonzero(rest == 0.0)
        if len(empty):
            counts[empty], rest[empty] = luck.full, luck.full.sum()

    def _value(self, i: Array) -> Array:
        """V of places: of their rows, with split hands that were logged, or of their ends."""
        luck, lane = self.luck, i % self.n
        assert luck is not None
        place = self.model[lane] * luck.places + np.maximum(self.rows[i], 0) // STRIDE
        value, slope = luck.values.take(place), luck.slopes.take(place, axis=0)
        some = np.flatnonzero(self.splits[i])
        if len(some):
            pay, state = self.logged[i[some]] / SCALE, luck.outcome.take(place[some])
            value[some] += (pay * luck.chances.take(state, axis=0)).sum(axis=1)
            slope[some] += np.einsum("mo,moq->mq", pay, luck.tilts.take(state, axis=0))
        value += np.einsum("mq,mq->m", slope, self.counts[lane]) / self.rest[lane]
        return np.where(self.rows[i] < 0, self.end[i], value)

    def _expect(self, i: Array, lane: Array) -> Array:
        """E of places whose rows have no form, or one that is not enough."""
        luck, counts, left = self.luck, self.counts[lane], self.rest[lane]
        assert luck is not None
        row = self.rows[i] // STRIDE
        place = (self.model[lane] * luck.places)[:, None] + luck.after.take(row, axis=0)
        pay = (self.logged[i][:, None] + luck.pay.take(luck.hand.take(row, axis=0), axis=0)) / SCALE
        state = luck.outcome.take(place)
        value = luck.values.take(place) + (pay * luck.chances.take(state, axis=0)).sum(axis=2)
        slope = luck.slopes.take(place, axis=0)
        slope += np.matmul(pay[:, :, None], luck.tilts.take(state, axis=0).astype(float))[:, :, 0]
        after = value * (left - 1.0)[:, None] + np.matmul(slope, counts[:, :, None])[:, :, 0]
        after -= np.diagonal(slope, axis1=1, axis2=2)
        return np.asarray((after * counts).sum(axis=1) / (left * np.maximum(left - 1.0, 1.0)))

    def _moved(self, place: Array) -> Array:
        row: Array = self.moves.entries.take(place) >> BITS
        row[row == 0] = DEAD
        return row

    def _judge(self, i: Array, at: Array, chart: Array) -> None:
        """Count the luck of the hidden card where the answer is not the model's; and answer in the shadows."""
        luck, moves, shadow = self.luck, self.moves, self.shadow[i]
        assert luck is not None
        number = moves.question.take(shadow // STRIDE)
        asks, number = number > 0, np.maximum(number - 1, 0)
        code = moves.answers[number, chart[:, None]].astype(np.intp)
        usual = moves.answers[number, luck.chart[self.model[at], None]]
        known = self.hole[at] // self.shoes.size == self.p[at] // self.shoes.size
        some = np.flatnonzero((asks & (code != usual)).any(axis=1) & known)
        if len(some):
            lane, rows, each = at[some], shadow[some] // STRIDE, np.arange(len(some))

            def after(codes: Array) -> Array:
                place = (self.model[lane] * luck.places)[:, None] + luck.after[rows, codes]
                pay = (self.logged[i[some]][:, None] + luck.pay[luck.hand[rows, codes]]) / SCALE
                return np.asarray(luck.values[place] + (pay * luck.chances[luck.outcome[place]]).sum(axis=2))

            difference = np.where(asks[some], after(code[some]) - after(usual[some]), 0.0)
            hole = np.minimum(self.shoes.at(self.hole[lane], self.lane[lane]), luck.ranks - 1)
            unseen = self.counts[lane]
            unseen[each, hole] += 1.0
            unseen *= shadow[some] != DEAD
            self.expected[i[some]] -= difference[each, hole] - (unseen * difference).sum(axis=1) / unseen.sum(axis=1)
        self.shadow[i] = np.where(asks, self._moved(shadow + np.where(asks, code, 0)), shadow)

    # --- rounds

    def _leave(self, at: Array) -> Array:
        """Have rounds replayed that have left the table. Their luck is that of the cards so far. Returns: `at`."""
        i = (np.arange(self.seats)[:, None] * self.n + at).ravel()
        if self.luck:
            self.end[i] = self._value(i)
        rounds = map(self.replay, self.lane[at].tolist(), self.begin[at].tolist())
        codes, cards = zip(*rounds, strict=True)
        self.code[i], self.rows[i], self.alive[at] = np.array(codes).T.ravel(), -1, 0
        self.p[at] = self.begin[at] + cards
        if self.luck:
            self._compose(at)
        return at

    def _finish(self, at: Array) -> None:
        """Note the rounds of lanes, and begin the next ones."""
        codes = self.code.reshape(self.seats, -1)[:, at].T
        luck = np.zeros((len(at), 0))
        if self.luck:
            luck = ((self.end - self.expected).reshape(self.seats, -1)[:, at]).T / SCALE
        self.found.append(Rounds(self.lane[at], self.begin[at], self.p[at], self.bucket[at], codes, luck))
        if self.splits.any():
            i = (np.arange(self.seats)[:, None] * self.n + at).ravel()
            i = i[self.splits[i]]
            self.splits[i], self.split[i] = False, 0
            if self.luck:
                self.logged[i] = 0.0
        self._start(at)

    def _start(self, at: Array) -> None:
        """Begin rounds; drop the lanes that end instead."""
        p, lane, cut = self.p[at], self.lane[at], self.shoes.cut
        ends = p >= cut
        self.dealt[self.number[at[ends]]] = p[ends]
        if self.known is not None:
            met = ~ends
            met[met] = self.known[p[met], lane[met]]
            self.met[self.number[at[met]]] = p[met]
            ends |= met
        if self.count:
            bucket = self.shoes.bucket[np.minimum(p, cut - 1), lane].astype(np.intp)
            leaves = ~ends & (bucket <= self.count.leave)
            self.dealt[self.number[at[leaves]]] = cut
            ends |= leaves
            self.bucket[at] = bucket
        if ends.any():
            kept = np.ones(self.n, np.bool_)
            kept[at[ends]] = False
            at = (np.cumsum(kept) - 1)[at[~ends]]
            self._keep(kept)
        self.begin[at] = self.p[at]
        self._begin(at)

    def _begin(self, at: Array) -> None:
        start, count = self.moves.start[:, None], self.count
        if self.bare:
            self.rows[at] = start[0]
            return
        seats = np.arange(self.seats)[:, None] * self.n + at
        if count:
            p, lane, running = self.p[at], self.lane[at], self.shoes.running
            self.hands[at] = count.seat + count.spots[self.bucket[at]]
            self.cell[at] = count.cells[p, running[p, lane] - count.lowest]
            hole = self.deal.hole[self.hands[at]]
            self.hole[at] = np.where(hole >= 0, p + hole, -1)
            self.model[at] = self.luck.model[self.bucket[at]] if self.luck else 0
        playing = np.arange(self.seats)[:, None] < self.hands[at]
        self.rows[seats] = np.where(playing, start, -1)
        self.flags[seats] = np.where(playing, 0, WAITS)
        self.code[seats] = 0
        self.alive[at], self.drawn[at] = self.hands[at], 0
        self.who[at] = self.deal.opening[self.hands[at], 0] if not self.alone else 0
        if self.luck:
            place = self.model[at] * self.luck.places + start // STRIDE
            slope = np.einsum("smq,mq->sm", self.luck.slopes[place], self.counts[at])
            self.expected[seats] = np.where(playing, self.luck.values[place] + slope / self.rest[at], 0.0)
            self.end[seats] = 0.0
        if self.hides:
            self.shadow[seats] = 0

    def _keep(self, kept: Array) -> None:
        for name in self.by_seat:
            old = getattr(self, name)
            parts = old.reshape(self.seats, self.n, *old.shape[1:])[:, kept]
            setattr(self, name, parts.reshape(-1, *old.shape[1:]))
        for name in self.by_lane:
            setattr(self, name, getattr(self, name)[kept])
        self.n = int(kept.sum())
        self.every = np.arange(self.n)


def _walk_shoes(
    layout: WalkedTable, shoes: Shoes, streams: int, begin: Array, replay: Replay
) -> tuple[Rounds, Array, Array]:
    """Walk the lanes of streams, all of each but the last FURTHER, from card `begin` (B,) of its first on.

    Returns: their rounds in order; by stream and lane, (B, n), the cards before the first round and those up to the end
    of the last.
    """
    walked = np.arange(shoes.lanes).reshape(streams, -1)[:, :-FURTHER]
    again, begins, ends = walked.ravel(), *np.zeros((2, shoes.lanes), np.intp)
    begins[walked[:, 0]] = begin
    rounds, known = None, None
    while len(again):
        lanes = Lanes(layout, shoes, again, begins[again], replay, known)
        found = lanes.walk()
        if rounds is None:
            rounds = found
        else:
            from_, stays = np.full(shoes.lanes, -1, np.intp), np.ones(shoes.lanes, np.bool_)
            from_[again], stays[again] = lanes.met, lanes.met >= 0
            kept = stays[rounds.lane] & (rounds.begin >= from_[rounds.lane])
            rounds = join([found, rounds.at(kept)])
        ends[again] = np.where(lanes.met >= 0, ends[again], lanes.dealt)
        known = np.zeros((shoes.cut, shoes.lanes), np.bool_)
        known[rounds.begin, rounds.lane] = True
        later = np.maximum(np.roll(ends, 1) - shoes.size, 0)
        later[walked[:, 0]] = begin
        again, begins = walked[later[walked] != begins[walked]], later
    assert rounds is not None
    return rounds, begins[walked], ends[walked]


class Walked(NamedTuple):
    """What was walked of a stream at a time: lanes from number `lane` of `shoes` on.

    `rounds` have the numbers of lanes from 0; `dealt` are the cards of the stream up to the end of each, (n,). By lane,
    (m,): the cards before its first round, and those of it that were dealt.
    """

    stream: int
    shoes: Shoes
    lane: int
    rounds: Rounds
    dealt: Array
    begins: Array
    used: Array


def walk_streams(
    segments: Segments, layout: WalkedTable, keys: Array, wanted: Callable[[], Array], at_once: int,
    play_round: PlayRound | None = None,
) -> Iterator[list[Walked]]:  # fmt: skip
    """Walk streams from their beginnings, each while lanes of it are `wanted`, (B,), about `at_once` of all together.

    `keys` are uint64 (B, 2); `wanted` is asked before every step, of which each yield is one. `play_round` plays a
    round that leaves the table. EndlessSplitting: a round left it, and no `play_round` was given.
    """
    first, begin, dealt = np.zeros((3, len(keys)), np.int64)
    at, lanes = np.arange(len(keys)), 0

    def replay(lane: int, card: int) -> Paid:
        if play_round is None:
            raise EndlessSplitting(ENDLESS)
        number, segment = divmod(lane, lanes)
        stream = at[number]
        return play_round(segments.read(keys[stream : stream + 1], int(first[stream]) + segment, card))

    while (need := wanted()).any():
        at = np.flatnonzero(2 * need > need.max())  # shorter streams wait until as little is left of the others
        count = min(int(need.max()), max(at_once // len(at), 1))
        lanes = count + FURTHER
        shoes = Shoes(segments.cards(keys[at], first[at], lanes), segments.cut, layout.counter)
        rounds, begins, ends = _walk_shoes(layout, shoes, len(at), begin[at], replay)
        used, cuts = np.minimum(ends, shoes.size), np.searchsorted(rounds.lane, np.arange(len(at) + 1) * lanes)
        step = []
        for number, stream in enumerate(at.tolist()):
            own = rounds.at(slice(cuts[number], cuts[number + 1]))
            own = own._replace(lane=own.lane.astype(np.intp) - number * lanes)
            before = dealt[stream] + np.cumsum(used[number]) - used[number]
            step.append(
                Walked(stream, shoes, number * lanes, own, before[own.lane] + own.end, begins[number], used[number])
            )
        yield step
        first[at] += count
        begin[at] = np.maximum(ends[:, -1] - shoes.size, 0)
        dealt[at] += used.sum(axis=1)
