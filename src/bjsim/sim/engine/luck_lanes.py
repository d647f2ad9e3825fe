"""The luck of a counter's cards: it is the value after a card less its expectation before it.

The rows of the table know the hole card, given which two actions of about the same value differ much. Where the counter
takes another action than the model's chart, the difference less its expectation over the hole cards that are possible
for those who see the open cards is luck too. So every spot has shadows: rows that its round would be in with other hole
cards.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bjsim.sim.engine.count_lanes import CounterLanes
from bjsim.sim.engine.count_rows import CountRows
from bjsim.sim.engine.counted_shoes import ACE, CountedShoes
from bjsim.sim.engine.kernels.count_layout import Counter, CountLuck
from bjsim.sim.engine.kernels.layout import CompiledRules
from bjsim.sim.engine.kernels.table_layout import SCALE
from bjsim.sim.engine.round_table import LEFT
from bjsim.sim.game.cards import RANKS, TEN

Array = np.ndarray[Any, Any]

LONG = 16  # cards for each hand that a round hardly ever draws before the dealer's second card
DEAD = LEFT * len(RANKS)  # the row of a shadow whose round would be over


def cards_needed(compiled: CompiledRules, counter: Counter, hands: Any) -> Any:
    """The cards that nearly no round of so many hands needs before the dealer's second card."""
    dealt = int(compiled.deal.sum())
    return dealt + (len(compiled.deal) - dealt + (0 if counter.after >= 0 else LONG)) * hands


class LuckLanes(CounterLanes):
    """Lanes whose luck is counted by `luck`; other arguments as for `CounterLanes`."""

    def __init__(
        self, compiled: CompiledRules, table: CountRows, counter: Counter, shoes: CountedShoes, lanes: Array,
        begins: Array, luck: CountLuck,
    ) -> None:  # fmt: skip
        self.values, self.ranks = luck, len(luck.full)
        n, spots = int((begins < shoes.cut).sum()), len(table.rows.start) - counter.seat
        self.model = np.zeros(n, np.int64)
        self.luck, self.expected, self.guess = np.zeros((3, n))
        self.sure = np.zeros(n, np.bool_)
        self.counts, self.remaining = np.repeat(luck.full[None], n, axis=0), np.full(n, luck.full.sum())
        self.logged = np.zeros((spots, n, luck.pay.shape[1]))
        self.split = np.zeros((spots, n), np.bool_)
        self.shadow = np.zeros((spots, n, self.ranks), table.rows.entries.dtype)
        place, lane = np.nonzero(np.arange(begins.max(initial=0))[:, None] < begins[begins < shoes.cut])
        np.subtract.at(self.counts, (lane, self._rank(shoes.cards[place, lanes[begins < shoes.cut][lane]])), 1)
        self.remaining -= begins[begins < shoes.cut]
        self._needed = cards_needed(compiled, counter, np.arange(len(table.rows.start) + 1))
        super().__init__(compiled, table, counter, shoes, lanes, begins)

    def _rank(self, cards: Array) -> Array:
        rank: Array = np.minimum(cards, self.ranks - 1).astype(np.int64)
        return rank

    def give_card(self) -> None:
        """Give every lane a card, and count its luck."""
        rank, takes = self._rank(self.shoes.cards_at(self.p, self.lane)), self.takes
        for spot in range(len(self.logged)):
            seat = self.counter.seat + spot
            if self.alone:
                self._count_own(spot, slice(None), rank)
                self._move_shadows(spot, slice(None), rank)
                continue
            own, others = np.flatnonzero(takes[seat]), np.flatnonzero(~takes[seat] & ~self.done[seat])
            self._count_own(spot, own, rank[own])
            self._move_shadows(spot, own, rank[own])
            self._count_others(spot, others, rank[others])
        self.counts[np.arange(len(rank)), rank] -= 1
        self.remaining -= 1
        empty = self.remaining == 0
        if empty.any():
            self.counts[empty], self.remaining[empty] = self.values.full, self.values.full.sum()
        super().give_card()

    def _after(self, model: Array, row: Array, logged: Array | None) -> tuple[Array, Array]:
        """Values after each card in rows, (n, Q), and their slopes, (n, Q, Q), with what logged split hands add."""
        luck = self.values
        place = (model * luck.values.shape[1])[:, None] + luck.after.take(row, axis=0)
        value, slope = luck.values.take(place), luck.slopes.reshape(-1, self.ranks).take(place, axis=0)
        if logged is not None:
            pay = (logged[:, None] + luck.pay.take(luck.hand.take(row, axis=0), axis=0)) / SCALE
            state = luck.outcome.take(place)
            value = value + (pay * luck.chances.take(state, axis=0)).sum(axis=2)
            slope = slope + np.matmul(pay[:, :, None], luck.tilts.take(state, axis=0))[:, :, 0]
        return value, slope

    def _count_own(self, spot: int, at: Any, rank: Array) -> None:
        row = self.row[self.counter.seat + spot, at] // len(RANKS)
        self.luck[at] += self._surprise(self.model[at], row, None, self.counts[at], self.remaining[at], rank)
        split = np.flatnonzero(self.split[spot, at] | self.values.splits[row])
        if len(split):
            lanes = split if isinstance(at, slice) else at[split]
            arguments = self.model[lanes], row[split]
            rest = self.counts[lanes], self.remaining[lanes], rank[split]
            whole = self._surprise(*arguments, self.logged[spot, lanes], *rest)
            self.luck[lanes] += whole - self._surprise(*arguments, None, *rest)

    def _surprise(
        self, model: Array, row: Array, logged: Array | None, counts: Array, left: Array, rank: Array
    ) -> Array:
        value, slope = self._after(model, row, logged)
        after = value * (left - 1)[:, None]
        after += np.matmul(slope, counts.astype(slope.dtype)[:, :, None])[:, :, 0]
        after -= np.diagonal(slope, axis1=1, axis2=2)
        surprise = after[np.arange(len(rank)), rank] * left - np.einsum("lr,lr->l", after, counts)
        result: Array = surprise / (left * np.maximum(left - 1, 1)) / SCALE
        return result

    def _count_others(self, spot: int, at: Array, rank: Array) -> None:
        """Count the luck of cards that others draw, by which the composition changes."""
        luck, counts, left = self.values, self.counts[at], self.remaining[at]
        place = self.model[at] * luck.values.shape[1] + self.row[self.counter.seat + spot, at] // len(RANKS)
        slope = luck.slopes.reshape(-1, self.ranks)[place].astype(np.float64)
        split = np.flatnonzero(self.split[spot, at])
        if len(split):
            logged = self.logged[spot, at[split]] / SCALE
            slope[split] += np.einsum("mo,moq->mq", logged, luck.tilts[luck.outcome.take(place[split])])
        surprise = (slope * counts).sum(axis=1) - left * slope[np.arange(len(at)), rank]
        self.luck[at] += surprise / (left * np.maximum(left - 1, 1)) / SCALE

    def _move_shadows(self, spot: int, at: Any, rank: Array) -> None:
        if not self.hides:
            return
        rank = np.repeat(rank[:, None], self.ranks, axis=1)
        rank[self.p[at] == self.hole(at)] = np.arange(self.ranks)
        self._set_shadows(spot, at, self.rows.entries.take(self.shadow[spot, at] + rank))

    def _set_shadows(self, spot: int, at: Any, entry: Array) -> None:
        row = entry >> self.rows.bits
        row[row == 0] = DEAD
        self.shadow[spot, at] = row

    def _answer(self, seat: Array, at: Array) -> None:
        for spot in range(len(self.logged)) if self.hides else ():
            mine = at[seat == self.counter.seat + spot]
            if len(mine):
                self._judge(spot, mine, self.counter.chart[self.cell(mine)])
        super()._answer(seat, at)

    def _judge(self, spot: int, at: Array, chart: Array) -> None:
        """Count the luck of the hole card where the counter answers otherwise than the model, and move the shadows."""
        luck, shadow, lane = self.values, self.shadow[spot, at], np.arange(len(at))
        number = self.table.question.take(shadow)
        asks, number = number > 0, np.maximum(number - 1, 0)
        code, usual = (
            self.table.answers[number, chart[:, None]],
            self.table.answers[number, luck.chart[self.model[at], None]],
        )
        differs = (asks & (code != usual)).any(axis=1)
        differs &= self.hole(at) // self.shoes.size == (self.p[at] - 1) // self.shoes.size
        some = np.flatnonzero(differs)
        if len(some):
            lanes, rows = at[some], (shadow[some] // len(RANKS)).ravel()
            logged = np.repeat(self.logged[spot, lanes], self.ranks, axis=0)
            value = self._after(np.repeat(self.model[lanes], self.ranks), rows, logged)[0]
            cell = np.arange(len(rows))
            difference = value[cell, code[some].ravel()] - value[cell, usual[some].ravel()]
            difference = np.where(asks[some], difference.reshape(len(some), -1), 0.0)
            hole = self._rank(self.shoes.cards_at(self.hole(lanes), self.lane[lanes]))
            unseen = self.counts[lanes]
            unseen[lane[: len(some)], hole] += 1
            unseen *= shadow[some] != DEAD
            mean = (unseen * difference).sum(axis=1) / unseen.sum(axis=1)
            self.luck[lanes] += (difference[lane[: len(some)], hole] - mean) / SCALE
        entry = self.rows.entries.take(shadow + np.where(asks, code, 0))
        self._set_shadows(spot, at, np.where(asks, entry, shadow << self.rows.bits))

    def _note(self, seat: Array, at: Array, log: Array) -> None:
        super()._note(seat, at, log)
        hand = np.flatnonzero((log > len(self.rows.ends)) & (seat >= self.counter.seat))
        if len(hand):
            seat = np.broadcast_to(seat, log.shape)
            spot = seat[hand] - self.counter.seat
            self.logged[spot, at[hand]] += self.values.pay[log[hand] - len(self.rows.ends)]
            self.split[spot, at[hand]] = True

    # --- insurance

    def _unseen(self, at: Array) -> Array:
        """The cards left by value, (n, 10)."""
        counts = self.counts[at]
        return np.concatenate([counts[:, :TEN], counts[:, TEN:].sum(axis=1, keepdims=True)], axis=1)

    def _insured_after(self, at: Array, seen: int, change: Array) -> Array:
        """Whether insurance is taken with so many more cards seen that change the running count so, (n, m)."""
        counter, begin = self.counter, self.begin[at, None]
        running = self.shoes.running[begin, self.lane[at, None]] - counter.lowest
        if not counter.before_round:
            rows, columns = counter.cells.shape
            begin, running = np.minimum(begin + seen, rows - 1), (running + change).clip(0, columns - 1)
        insured: Array = counter.insures[counter.cells[begin, running]] * np.ones_like(change)
        return insured

    def _foresee(self, at: Array) -> None:
        """The expected profit of insurance before a round, in bets; with one hand exact, else from the dealer's ace."""
        hands, unseen, left, tags = self.hands[at], self._unseen(at), self.remaining[at], self.counter.tags[: TEN + 1]
        self.sure[at] = left >= self._needed[hands]
        self.guess[at] = self.expected[at] = 0.0
        with np.errstate(divide="ignore", invalid="ignore"):
            value = 1.5 * unseen[:, TEN] / (left - 1) - 0.5
            guess = np.where(self._insured_after(at, 1, tags[:1][None])[:, 0] & (unseen[:, ACE] > 0), value, 0.0)
        many = hands > 1
        self.guess[at[many]] = guess[many]
        self.expected[at[many]] = (guess * unseen[:, ACE] / left)[many]
        begin = self.begin[at]
        can = self.counter.insurable[begin, self.shoes.running[begin, self.lane[at]] - self.counter.lowest] > 0
        one = np.flatnonzero(~many & can & self.sure[at])
        if len(one):
            self.expected[at[one]] = self._expect(at[one], unseen[one], left[one], tags)

    def _expect(self, at: Array, unseen: Array, left: Array, tags: Array) -> Array:
        """The expected profit of insurance with one hand: over an ace and two more open cards."""
        aces = unseen[:, ACE].copy()
        unseen[:, ACE] -= 1
        one, two = np.triu_indices(TEN + 1)
        twice = unseen[:, one] * np.where(one < two, 2 * unseen[:, two], unseen[:, two] - 1)
        insured = self._insured_after(at, 3, (tags[0] + tags[one] + tags[two])[None])
        tens = unseen[:, TEN, None] - (one == TEN) - (two == TEN)
        profit = np.where((twice > 0) & (insured > 0), twice * (3 * tens - (left - 3)[:, None]), 0.0).sum(axis=1)
        orders = 2 * left * (left - 1) * (left - 2) * (left - 3)
        result: Array = np.where(aces > 0, profit * aces / orders, 0.0)
        return result

    def _decide_insurance(self, at: Array) -> None:
        super()._decide_insurance(at)
        at = at[self.sure[at] & (self.hands[at] > 1)]
        unseen = self._unseen(at)
        if self.hides:
            hole = np.minimum(self.shoes.cards_at(self.hole(at), self.lane[at]), TEN)
            unseen[np.arange(len(at)), hole] += 1
        value = 1.5 * unseen[:, TEN] / unseen.sum(axis=1) - 0.5
        self.expected[at] += np.where(self.insured[at] > 0, value, 0.0) - self.guess[at]

    # --- rounds

    def _start(self, at: Array) -> Array:
        leaves = super()._start(at)
        at = np.setdiff1d(at, leaves) if len(leaves) else at
        self.model[at] = self.values.model[self.bucket[at]]
        self.luck[at] = self.expected[at] = 0.0
        self.logged[:, at], self.split[:, at], self.shadow[:, at] = 0.0, False, 0
        if self.insurable:
            self._foresee(at)
        return leaves

    def _adjust(self, at: Array, won: Array) -> Array:
        return np.stack([self.luck[at], np.where(self.sure[at], self.expected[at], 0.5 * won)])

    def keep(self, kept: Array) -> None:
        super().keep(kept)
        for name in ("model", "luck", "expected", "guess", "sure", "counts", "remaining"):
            setattr(self, name, getattr(self, name)[kept])
        self.logged, self.split, self.shadow = self.logged[:, kept], self.split[:, kept], self.shadow[:, kept]
