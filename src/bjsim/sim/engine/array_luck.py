"""Luck of the cards of many shoes side by side, in NumPy: lanes that were walked are walked once more.

Luck is the value after a card less its expectation before, under the composition of the shoe that is left. All sums
are of whole numbers, so that only the division by the number of cards rounds.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bjsim.sim.engine.array_walker import Walk
from bjsim.sim.engine.kernels.layout import payoff_parts
from bjsim.sim.engine.kernels.table_layout import SCALE, STEP
from bjsim.sim.engine.luck_tables import Luck, LuckTable
from bjsim.sim.game.cards import RANKS

Array = np.ndarray[Any, Any]

AT_ONCE = 1 << 12  # lanes: their working memory stays in the cache


class ShoeLuck:
    """Sums of n, y, b, yy, yb and bb over shoes, in their order, of blocks of equally many rounds.

    Rounds of one shoe depend on each other, so the shoe is the unit of observation. Its y is its payoff less
    the value of its settled bets, less luck and drift; its b is the number of these bets.
    """

    def __init__(self, luck: Luck, streams: int, rounds: int) -> None:
        self.luck, self.rounds = luck, rounds
        self.parts: list[list[Array]] = [[np.zeros((2, len(luck.chart), 0))] for _ in range(streams)]

    def add(self, stream: int, walk: Walk, lanes: Array, codes: Array, left: int) -> None:
        """Add rounds of a stream, payoff `codes` (seats, rounds); `lanes` (n,) has one for each shoe.

        `left` is the number of rounds from the first of these on.
        """
        if not left:
            return
        luck, rounds = self.luck, codes.shape[1]
        lane, card = (place[:rounds] for place in walk.over[:, lanes].T.nonzero())
        stop = np.minimum(walk.dealt[lanes], walk.size + min(walk.size, len(walk.cards)))
        if rounds == left:  # the last shoe is left before its end
            lanes, stop = lanes[: lane[-1] + 1], stop[: lane[-1] + 1]
            stop[-1] = card[-1] + 1
        begun = np.searchsorted(lane, np.arange(len(lanes)))
        depths = np.minimum(luck.depths, ((left - begun) / luck.rounds_per_depth).astype(np.int64))
        gone = count_luck(luck, walk, lanes, stop) + count_drift(luck, walk.cards[:, lanes], depths)[luck.chart]
        units, tied = (
            np.stack([np.bincount(lane, part, len(lanes)) for part in parts]) for parts in payoff_parts(codes)
        )
        bets = np.bincount(lane, minlength=len(lanes)) - tied
        value = np.array([luck.tables[chart].value for chart in luck.chart.tolist()])[:, None]
        self.parts[stream].append(np.stack([units * luck.bet - bets * value - gone, bets]))

    def total(self) -> list[Array]:
        """The sums of each block, float64 (seats, 6)."""
        totals = []
        for parts in self.parts:
            y, b = np.concatenate(parts, axis=2)
            each = np.stack([np.ones_like(y), y, b, y * y, y * b, b * b], axis=1)
            totals.append(np.cumsum(each, axis=2)[..., -1] if each.size else np.zeros(each.shape[:2]))
        return totals


def count_luck(luck: Luck, walk: Walk, lanes: Array, stop: Array) -> Array:
    """The luck of the seats in `lanes` (n,), in initial bets, (seats, n).

    `stop` (n,) is the cards of each lane up to the end of its last round; `walk` has where rounds begin.
    """
    parts = [slice(i, i + AT_ONCE) for i in range(0, len(lanes), AT_ONCE)]
    counted = [_LuckWalk(luck, walk, lanes[part], stop[part]).count() for part in parts]
    return np.concatenate([np.zeros((len(luck.chart), 0)), *counted], axis=1)


class _LuckWalk:
    """Lanes in lockstep, each from its first round on; arguments as for `count_luck`."""

    def __init__(self, luck: Luck, walk: Walk, lanes: Array, stop: Array) -> None:
        self.luck, self.walk = luck, walk
        self.seats, self.ranks = len(luck.chart), len(luck.full)
        self.result = np.zeros((self.seats, len(lanes)))
        begins = walk.begins[lanes]
        self.number = np.flatnonzero(begins < stop)  # of the lanes in play, in the result
        self.lanes, self.stop, self.p = lanes[self.number], stop[self.number], begins[self.number]
        self.round = walk.new_lanes(len(self.number))
        self.counts = np.repeat(luck.full[None], len(self.number), axis=0)
        for p in range(int(self.p.max(initial=0))):  # of rounds that began in the lanes before
            dealt = np.flatnonzero(self.p > p)
            self.counts[dealt, self._rank(walk.cards_at(np.full(len(dealt), p), self.lanes[dealt]))] -= 1
        self.left = luck.full.sum() - self.p
        outcomes = luck.tables[0].hands.shape[1]
        self.logged = np.zeros((self.seats, len(self.number), outcomes))  # pay of split hands, by outcome
        self.split = np.zeros((self.seats, len(self.number)), np.bool_)  # whether any was logged

    def _rank(self, cards: Array) -> Array:
        rank: Array = np.minimum(cards, self.ranks - 1)
        return rank

    def count(self) -> Array:
        """Walk all lanes to their ends. Returns: the luck, (seats, lanes)."""
        while len(self.number):
            cards = self.walk.cards_at(self.p, self.lanes)
            rank = self._rank(cards).astype(np.int64)
            rows = (self.round.row - self.walk.rows.start[:, None]) // len(RANKS)
            takes, done = self.round.takes, self.round.done
            for seat, number in enumerate(self.luck.chart.tolist()):
                table = self.luck.tables[number]
                if takes[seat].all():
                    self.result[seat, self.number] += self._of_own_card(table, seat, rows[seat], slice(None), rank)
                    continue
                own, others = np.flatnonzero(takes[seat]), np.flatnonzero(~takes[seat] & ~done[seat])
                for at, find in ((own, self._of_own_card), (others, self._of_others_card)):
                    self.result[seat, self.number[at]] += find(table, seat, rows[seat, at], at, rank[at])
            self._remove(rank)
            log, over = self.round.step(cards)
            self._log(log, over)
            self.p += 1
            if self.walk.replayed:
                self._pass_replayed()
            self._keep(self.p < self.stop)
        return self.result

    def _of_own_card(self, table: LuckTable, seat: int, row: Array, at: Any, rank: Array) -> Array:
        counts, left = self.counts[at], self.left[at]
        total = np.matmul(counts.astype(np.float32)[:, None], table.slopes.take(row, axis=0))[:, 0]
        after = table.paid.take(row, axis=0)
        after *= (left - 1)[:, None]
        after += total
        after -= table.own.take(row, axis=0)
        surprise = after[np.arange(len(row)), rank] * left - np.einsum("lr,lr->l", after, counts)
        split = np.flatnonzero(self.split[seat, at])
        if len(split):
            lanes = split if isinstance(at, slice) else at[split]
            surprise[split] += self._of_logged(table, seat, row[split], lanes, rank[split]) / SCALE
        result: Array = surprise / (left * np.maximum(left - 1, 1)) / SCALE
        return result

    def _of_logged(self, table: LuckTable, seat: int, row: Array, at: Array, rank: Array) -> Array:
        """What split hands add that were logged before: they are paid by the dealer's outcome."""
        counts, left, pay, state = self.counts[at], self.left[at], self.logged[seat, at], table.outcome_after[row]
        slope = np.matmul(pay[:, None, None], table.tilts[state])[:, :, 0]
        after = np.einsum("mo,mro->mr", pay, table.chances[state]) * (left - 1)[:, None]
        after += np.einsum("mrq,mq->mr", slope, counts) - np.diagonal(slope, axis1=1, axis2=2)
        surprise: Array = after[np.arange(len(at)), rank] * left - (after * counts).sum(axis=1)
        return surprise

    def _of_others_card(self, table: LuckTable, seat: int, row: Array, at: Array, rank: Array) -> Array:
        """Luck of cards that others draw, by which the composition changes."""
        counts, left = self.counts[at], self.left[at]
        slope = table.row_slopes[row].astype(np.float64)
        split = np.flatnonzero(self.split[seat, at])
        tilts = table.tilts[table.outcome[row[split]]]
        slope[split] += np.einsum("mo,moq->mq", self.logged[seat, at[split]], tilts) / SCALE
        surprise = (slope * counts).sum(axis=1) - left * slope[np.arange(len(at)), rank]
        result: Array = surprise / (left * np.maximum(left - 1, 1)) / SCALE
        return result

    def _remove(self, rank: Array) -> None:
        self.counts[np.arange(len(rank)), rank] -= 1
        self.left -= 1
        empty = self.left == 0
        if empty.any():
            self.counts[empty], self.left[empty] = self.luck.full, self.luck.full.sum()

    def _log(self, log: Array, over: Array) -> None:
        ends = len(self.walk.rows.ends)
        seat, lane = np.nonzero(log > ends)
        if len(seat):
            hand = log[seat, lane] - ends
            for number, table in enumerate(self.luck.tables):
                mine = self.luck.chart[seat] == number
                self.logged[seat[mine], lane[mine]] += table.hands[hand[mine]]
            self.split[seat, lane] = True
        if self.split.any():
            self.logged[:, over], self.split[:, over] = 0, False

    def _pass_replayed(self) -> None:
        """Deal the later cards of rounds that have left the table. Their luck is not counted, and has the mean 0."""
        at = np.flatnonzero(self.round.left())
        self.round.restart(at)
        self.logged[:, at], self.split[:, at] = 0, False
        for i, lane, p in zip(at.tolist(), self.lanes[at].tolist(), self.p[at].tolist(), strict=True):
            ends = (r.first + r.cards for r in self.walk.replayed if r.lane == lane)
            self.p[i] = end = min(end for end in ends if end >= p)
            if end < self.stop[i]:
                cards = self._rank(self.walk.cards[p:end, lane])
                self.counts[i] -= np.bincount(cards, minlength=self.ranks)
                self.left[i] -= end - p

    def _keep(self, kept: Array) -> None:
        if kept.all():
            return
        self.round.keep(kept)
        self.number, self.lanes, self.stop, self.p = (
            array[kept] for array in (self.number, self.lanes, self.stop, self.p)
        )
        self.counts, self.left = self.counts[kept], self.left[kept]
        self.logged, self.split = self.logged[:, kept], self.split[:, kept]


def count_drift(luck: Luck, cards: Array, depths: Array) -> Array:
    """The drift of shoes, in initial bets, (charts, shoes): what a round's value exceeds a full shoe's by.

    It is summed over `depths` (shoes,), a function of the shuffled `cards` alone, rank indices (p, shoes),
    and its mean is 0 whatever is played.
    """
    ranks, shoes = len(luck.full), cards.shape[1]
    counts, drift = np.repeat(luck.full[:, None], shoes, axis=1), np.zeros((len(luck.tables), shoes))
    for depth in range(int(depths.max(initial=0))):
        for card in cards[depth * STEP : (depth + 1) * STEP]:
            counts[np.minimum(card, ranks - 1), np.arange(shoes)] -= 1
        left = luck.full.sum() - (depth + 1) * STEP
        counted = depth < depths
        for table, sums in zip(luck.tables, drift, strict=True):
            linear, square = table.drift @ counts, (counts * (table.curvature @ counts)).sum(axis=0)
            sums += np.where(counted, linear / left + square / left**2, 0)
    usual = luck.expected[:, depths]
    result: Array = (drift - usual) * (luck.rounds_per_depth / SCALE)
    return result
