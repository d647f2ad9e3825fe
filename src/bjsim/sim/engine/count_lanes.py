"""The array walker of a counter: shoes side by side, in which the count before a round and at every choice decides."""

from __future__ import annotations

from typing import Any

import numpy as np

from bjsim.sim.engine.count_rows import CountRows
from bjsim.sim.engine.counted_shoes import ACE, CountedShoes
from bjsim.sim.engine.kernels.count_layout import CountedRounds, Counter
from bjsim.sim.engine.kernels.layout import CompiledRules
from bjsim.sim.engine.lockstep import Lockstep, opening
from bjsim.sim.game.cards import TEN

Array = np.ndarray[Any, Any]


class CounterLanes(Lockstep):
    """Lanes (n,) in lockstep, each from card `begins` (n,) on, with which a round begins.

    The counter's seats are the last; those not played in a round are over when it begins. `dealt` (n,) is the
    cards of each lane up to the end of its last round.
    """

    def __init__(
        self, compiled: CompiledRules, table: CountRows, counter: Counter, shoes: CountedShoes, lanes: Array,
        begins: Array,
    ) -> None:  # fmt: skip
        seats = len(table.rows.start)
        order = opening(compiled._replace(act=compiled.act[np.zeros(seats, np.int64)]))
        super().__init__(table.rows, order, bool(compiled.numbers.round_robin), len(lanes))
        self.table, self.counter, self.shoes = table, counter, shoes
        hands, present = np.arange(seats + 1)[:, None], (order == seats)
        deal = present | (order < hands)  # which cards are dealt, by the number of hands
        self._length = deal.sum(axis=1)
        place = np.where(deal, np.arange(len(order)), len(order))
        following = np.minimum.accumulate(place[:, ::-1], axis=1)[:, ::-1]
        self._following = np.pad(following, ((0, 0), (0, 1)), constant_values=len(order))
        dealer = np.flatnonzero(present)
        self._open = deal[:, : dealer[0]].sum(axis=1)
        self._hole = deal[:, : dealer[-1]].sum(axis=1)
        self.insurable, self.hides = counter.ace >= 0, counter.after >= 0
        self.alone = plays_alone(counter, seats)
        self.dealt = begins.copy()
        number = np.flatnonzero(begins < shoes.cut)
        super().keep(number)
        self.number, self.lane, self.p = number, lanes[number], begins[number]
        self.begin, self.bucket, self.hands, self.id, self.second, self.insured = np.zeros((6, len(number)), np.int64)
        self._begun: list[Array] = []
        self._ended: list[Array] = []
        self._logged: list[Array] = []
        self._adjusted: list[Array] = []
        self._rounds = 0
        leaves = self._start(np.arange(len(number)))
        self.keep(~np.isin(np.arange(len(number)), leaves))

    def walk(self) -> CountedRounds:
        """Walk all lanes to their ends. Returns: their rounds, in order."""
        while len(self.p):
            self.give_card()
        lane, begin, bucket = _joined(self._begun, 3)
        number, end, won = _joined(self._ended, 3)
        order = np.argsort(number)
        luck, expected = np.concatenate([np.zeros((2, 0)), *self._adjusted], axis=1)[:, order]
        rounds = CountedRounds(lane, begin, end[order], bucket, won[order], self._payoffs(len(lane)), luck, expected)
        return rounds.at(np.lexsort((begin, lane)))

    def give_card(self) -> None:
        """Give every lane a card, and answer what is asked."""
        cards = self.shoes.cards_at(self.p, self.lane)
        place = self.row + cards
        entry = self.rows.entries.take(place)
        self.p += 1
        if self.alone:
            self.row = entry >> self.rows.bits
            self._note(np.zeros(1, np.int64), np.arange(len(self.p)), (entry & self.mask)[0])
            asking = np.flatnonzero(self.table.question.take(self.row[0]))
            self._answer(np.zeros_like(asking), asking)
            if self.insurable:
                self._insure()
            over = self.row[0] == 0
        else:
            over = self._seat_cards(entry, place)
        if over.any():
            self._end(np.flatnonzero(over))

    def _seat_cards(self, entry: Array, place: Array) -> Array:
        """Give the cards to those who take them. Returns: whether rounds are over."""
        takes = self.takes
        deal, late = len(self.opening), (self.who == self.seats) & (self.drawn >= len(self.opening))
        self.second = np.where(late & (self.second < 0), self.p - 1, self.second)
        log = np.where(takes, entry & self.mask, 0)
        self.row = np.where(takes, entry >> self.rows.bits, self.row)
        self.done |= (log > 0) & (log <= len(self.rows.ends))
        following = self._following[self.hands, np.minimum(self.drawn + 1, deal)]
        self.drawn = np.where(self.drawn < deal, following, self.drawn + 1)
        seat, lane = np.nonzero(log)
        self._note(seat, lane, log[seat, lane])
        if self.insurable:
            self._insure()
        self._find_next(self.rows.forced.take(place))
        asking = self._asking(np.arange(len(self.p)))
        while len(asking):
            self._answer(self.who[asking], asking)
            self._find_next(np.ones((self.seats, len(asking)), np.bool_), asking)
            asking = self._asking(asking)
        over: Array = self.done.all(axis=0) & (self.drawn >= deal)
        if not self.hides:  # insurance waits for the dealer's second card
            over &= (self.insured == 0) | (self.second >= 0)
        return over

    def _asking(self, at: Array) -> Array:
        """The lanes of `at` in which the acting seat is asked."""
        who = self.who[at]
        asks = self.table.question.take(self.row[np.minimum(who, self.seats - 1), at]) > 0
        found: Array = at[asks & (who < self.seats) & (self.drawn[at] >= len(self.opening))]
        return found

    def _note(self, seat: Array, at: Array, log: Array) -> None:
        kept = np.flatnonzero((log > 0) & (seat >= self.counter.seat))
        if len(kept):
            spot = np.broadcast_to(seat, log.shape)[kept] - self.counter.seat
            self._logged.append(np.stack([self.id[at[kept]], spot, log[kept]]))

    def _answer(self, seat: Array, at: Array) -> None:
        if not len(at):
            return
        row = self.row[seat, at]
        chart = np.where(seat < self.counter.seat, self.counter.other, self.counter.chart[self.cell(at)])
        code = self.table.answers[self.table.question.take(row) - 1, chart]
        entry = self.rows.entries.take(row + code)
        log = entry & self.mask
        self.row[seat, at] = entry >> self.rows.bits
        if not self.alone:
            self.done[seat, at] |= (log > 0) & (log <= len(self.rows.ends))
        self._note(seat, at, log)

    def cell(self, at: Array) -> Array:
        """The cell of the count by which lanes decide."""
        counter, lane, p = self.counter, self.lane[at], self.p[at]
        if counter.before_round:
            seen = self.begin[at]
            cells: Array = counter.cells[seen, self.shoes.running[seen, lane] - counter.lowest]
            return cells
        shoe = (p - 1) // self.shoes.size
        seen, lane = p - shoe * self.shoes.size, lane + shoe
        running = self.shoes.running[seen, lane]
        if self.hides:
            hole = self.hole(at)
            hidden = hole // self.shoes.size == shoe
            running = running - hidden * counter.tags[self.shoes.cards_at(hole, self.lane[at])]
            seen = seen - hidden
        cells = counter.cells[seen, running - counter.lowest]
        return cells

    def hole(self, at: Array) -> Array:
        """The position of the hole card."""
        place: Array = self.begin[at] + self._hole[self.hands[at]]
        return place

    def _insure(self) -> None:
        """Decide on insurance where the deal has just ended."""
        at = np.flatnonzero(self.p - self.begin == self._length[self.hands])
        opened = self.shoes.cards_at(self.begin[at] + self._open[self.hands[at]], self.lane[at])
        if (opened == ACE).any():
            self._decide_insurance(at[opened == ACE])

    def _decide_insurance(self, at: Array) -> None:
        """Decide on insurance of lanes in which the dealer shows an ace."""
        self.insured[at] = self.counter.insures[self.cell(at)]

    def _end(self, at: Array) -> None:
        won = np.zeros(len(at), np.int64)
        insured = np.flatnonzero(self.insured[at]) if self.insurable else at[:0]
        if len(insured):
            lanes = at[insured]
            second = self.hole(lanes) if self.hides else self.second[lanes]
            won[insured] = np.where(self.shoes.cards_at(second, self.lane[lanes]) >= TEN, 2, -1)
        self._ended.append(np.stack([self.id[at], self.p[at], won]))
        self._adjusted.append(self._adjust(at, won))
        last = self.p[at] >= self.shoes.cut
        leaves = self._start(at[~last])
        gone = np.concatenate([at[last], leaves])
        if len(gone):
            kept = np.ones(len(self.p), np.bool_)
            kept[gone] = False
            self.dealt[self.number[at[last]]] = self.p[at[last]]
            self.keep(kept)

    def _adjust(self, at: Array, won: Array) -> Array:
        """The luck of rounds that end, and the profit of insurance, (2, n)."""
        adjusted: Array = np.stack([np.zeros(len(at)), 0.5 * won])
        return adjusted

    def _start(self, at: Array) -> Array:
        """Begin rounds. Returns: the lanes that the counter leaves instead."""
        bucket = self.shoes.bucket[self.p[at], self.lane[at]].astype(np.int64)
        stays = bucket > self.counter.leave
        leaves, at, bucket = at[~stays], at[stays], bucket[stays]
        self.dealt[self.number[leaves]] = self.shoes.cut
        self.begin[at], self.bucket[at] = self.p[at], bucket
        self.id[at] = self._rounds + np.arange(len(at))
        self._rounds += len(at)
        self._begun.append(np.stack([self.lane[at], self.p[at], bucket]))
        self.hands[at] = hands = self.counter.seat + self.counter.spots[bucket]
        self.insured[at], self.second[at], self.row[:, at] = 0, -1, 0
        if not self.alone:
            self.done[:, at] = np.arange(self.seats)[:, None] >= hands
            self.drawn[at] = self._following[hands, 0]
            self.who[at] = self.opening[self.drawn[at]]
        left: Array = leaves
        return left

    def keep(self, kept: Array) -> None:
        super().keep(kept)
        for name in ("number", "lane", "p", "begin", "bucket", "hands", "id", "second", "insured"):
            setattr(self, name, getattr(self, name)[kept])

    def _payoffs(self, rounds: int) -> Array:
        """The payoff codes of the counter's spots by round."""
        codes = np.zeros((rounds, self.seats - self.counter.seat), np.int64)
        outcome = np.zeros_like(codes)
        number, spot, log = _joined(self._logged, 3)
        ends, over = self.rows.ends, log <= len(self.rows.ends)
        codes[number[over], spot[over]], outcome[number[over], spot[over]] = ends[log[over] - 1].T
        number, spot, hand = number[~over], spot[~over], log[~over] - 1 - len(ends)
        np.add.at(codes, (number, spot), self.rows.hands[hand, outcome[number, spot]])
        return codes


def plays_alone(counter: Counter, seats: int) -> bool:
    """Whether one seat draws all cards, so that its row alone says what comes next."""
    return seats == 1 and (counter.after >= 0 or counter.ace < 0)


def _joined(parts: list[Array], rows: int) -> Array:
    joined: Array = np.concatenate([np.zeros((rows, 0), np.int64), *parts], axis=1)
    return joined
