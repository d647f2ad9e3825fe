"""Tables of one seat that wait at their decisions, and are stepped together in NumPy."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bjsim.arrays import Array
from bjsim.errors import EndlessSplitting
from bjsim.sim.engine.array_cards import Segments
from bjsim.sim.engine.compiled_rules import number_hands
from bjsim.sim.engine.kernels.layout import ENDLESS, RUNAWAY, CompiledRules, payoff_parts
from bjsim.sim.game.actions import SPLIT
from bjsim.sim.game.shoe import stream_key
from bjsim.strategies.learning.asked_table import WIDE_BITS, ask_everywhere, make_asked_table
from bjsim.strategies.learning.observations import DecisionValues, Encoder

# --- Cards of many shoes that advance on their own: a buffer for each, and all of them are refilled together.


SEGMENT = 64  # cards of a segment of an infinite shoe
AHEAD = 64  # draws until buffers may have to be refilled
LEAST = 128  # cards of half a buffer
TOGETHER = 8192  # segments made together, at least


class CardBuffers:
    """The shoes of `number` tables.

    Half a buffer has whole segments. A shoe that runs out during a round goes on with the next segment.
    """

    def __init__(self, rules: CompiledRules, number: int) -> None:
        self._segments = Segments(rules, SEGMENT)
        size = self._segments.size
        self._count = max(-(-LEAST // size), -(-TOGETHER // number))
        self._half = self._count * size
        self._cards = np.zeros((number, 2 * self._half), np.uint8)
        self._flat = self._cards.ravel()
        self._base = 2 * self._half * np.arange(number)
        self._next = self._base.copy()
        self._keys, self._segment = np.zeros((number, 2), np.uint64), np.zeros(number, np.int64)
        self._whole_decks = rules.numbers.shoe_size > 0

    def open(self, at: Sequence[int], seeds: Sequence[int]) -> None:
        """Open new shoes at these tables, for the cards of `Stream(seed)`; at all of them first."""
        self._keys[at] = np.array([stream_key(seed, 0, 0) for seed in seeds], np.uint64).reshape(-1, 2)
        self._segment[at] = -self._count
        self._next[at] = self._base[at] + 2 * self._half
        self._refill()

    def begin_rounds(self, at: Array) -> None:
        """Shuffle the shoes of these tables that have reached the cut."""
        if self._whole_decks:
            size = self._segments.size
            read = (self._next[at] - self._base[at]) % size
            cut = read >= self._segments.cut
            self._next[at[cut]] += size - read[cut]
            self._refill()

    def deal(self, at: Array, count: int) -> Array:
        """Draw cards at each of these tables: rank indices, uint8 (count, n)."""
        if self._left < count:
            self._refill()
        self._left -= count
        place = self._next.take(at)
        self._next[at] = place + count
        return self._flat.take(place + np.arange(count)[:, None])

    def draw(self, at: Array) -> Array:
        """Draw a card at each of these tables: rank indices, uint8 (n,)."""
        if not self._left:
            self._refill()
        self._left -= 1
        place = self._next.take(at)
        self._next[at] = place + 1
        return self._flat.take(place)

    def _refill(self) -> None:
        """Make sure that AHEAD cards can be drawn at every table."""
        while (read := self._next - self._base).max() > 2 * self._half - AHEAD:
            at = np.flatnonzero(read >= self._half)
            self._cards[at, : self._half] = self._cards[at, self._half :]
            self._segment[at] += self._count
            new = self._segments.cards(self._keys[at], self._segment[at], self._count)
            lanes = new.reshape(-1, len(at), self._count).transpose(1, 2, 0)
            self._cards[at, self._half :] = lanes.reshape(len(at), -1)
            self._next[at] -= self._half
        self._left = AHEAD


STANDS = 0  # the action that is always legal


class Outputs(NamedTuple):
    """What a step returns, for each of N tables."""

    observation: Array  # features, column and number of hands, int64 (N, F + 2)
    mask: Array  # legal actions, int8 (N, A)
    reward: Array  # profit in initial bets, float64 (N,)
    ended: Array  # whether an episode ended, bool (N,)
    illegal: Array  # whether the action was not legal, bool (N,)
    final: Array  # the last observation of an episode that ended, int64 (N, F + 2)


class VectorTables:
    """N = `number` tables of one seat that wait at their decisions."""

    def __init__(self, encoder: Encoder, number: int) -> None:
        rules = ask_everywhere(encoder.states, encoder.letters)
        self._table = make_asked_table(rules, encoder.states, encoder.letters)
        self.cards = CardBuffers(rules, number)
        self._deals = len(rules.deal)
        self._unit = encoder.rules.unit.as_integer_ratio()
        self._most_hands = encoder.most_hands
        features = [(*encoder.features(hand), 0, 1) for hand in number_hands(encoder.states)[0]]
        self._signs = np.array(features, np.int64)
        actions = np.arange(len(encoder.letters))
        self._masks = (np.arange(1 << len(actions))[:, None] >> actions & 1).astype(np.int8)
        self._may_be_unasked = bool(self._table.unasked.any())
        self._insures = encoder.rules.insurance
        self._replays = encoder.rules.ties == "replay"
        self._split = encoder.letters.index(SPLIT.letter)
        self._all = np.arange(number)
        self._row, self._hand, self._dealer, self._column, self._stake = np.zeros((5, number), np.int64)
        self._held, self._pending, self._need = np.zeros((3, number), np.int64)
        self._payoff = np.zeros((number, self._table.codes.shape[1]), np.int64)
        self._legal = np.zeros(number, np.uint8)  # a bit for each action; 0 where an episode is over

    def abandon(self) -> None:
        """Leave the rounds in progress; the next step deals at every table."""
        self._legal[:] = 0

    def step(self, actions: Array, same_step: bool) -> Outputs:
        """Play one action at every table, int64 (N,); at one whose episode is over, deal instead.

        With `same_step`, the step that ends an episode deals the next round. The arrays returned are new.
        """
        waits = self._legal > 0
        illegal = waits & (self._legal >> actions.astype(np.uint8) & 1 == 0)
        reward, ended = np.zeros(len(actions)), np.zeros(len(actions), np.bool_)
        fresh = np.flatnonzero(~waits)
        at = np.flatnonzero(waits) if len(fresh) else self._all
        place = self._row[at] + np.where(illegal, STANDS, actions)[at]
        while len(at):
            paid = self._play(at, place, reward)
            over = self._stake[paid] == 0
            ended[paid[over]] = True
            again = paid[~over]  # bets that tied are replayed in the same episode
            if not len(again):
                break
            self._deal(again)
            at = again[self._table.legal[self._row[again] >> WIDE_BITS] == 1]
            place = self._row[at] + STANDS
        final = np.empty((len(actions), self._signs.shape[1]), np.int64)
        if same_step and ended.any():
            done = np.flatnonzero(ended)
            final[done] = self._observe(done)
            fresh = np.concatenate([fresh, done])
        if len(fresh):
            self._stake[fresh] = 1
            self._deal(fresh)
        self._find_legal()
        return Outputs(self._observe(self._all), self._masks.take(self._legal, axis=0), reward, ended, illegal, final)

    def look_up(self, values: DecisionValues, mask: Array) -> tuple[Array, Array]:
        """The values of the legal actions, and their advantages, as `DecisionValues.look_up`."""
        column, row = self._column, self._row >> WIDE_BITS
        if self._insures:
            column = np.where(self._table.insures.take(row), values.insurance, column)
        stand = np.flatnonzero(self._legal == 1)
        peeked = stand[self._table.peeked.take(self._dealer.take(stand))]
        if len(peeked):
            column = column.copy()
            column[peeked] = values.peeked
        pending = self._pending + self._table.pending.take(row)  # the first is known to the row
        return values.look_up(self._hand, column, self._held, pending, mask)

    @property
    def stakes(self) -> Array:
        """The replayed bets of the episodes in initial bets, 1 in the first round and 0 once they are over, (N,)."""
        stakes: Array = self._stake.copy()
        return stakes

    def _deal(self, at: Array) -> None:
        self.cards.begin_rounds(at)
        row = np.zeros(len(at), np.int64)
        for cards in self.cards.deal(at, self._deals):
            row = self._table.deal.take(row + cards)
        dealt = self._table.dealt.take(row >> WIDE_BITS, axis=0)
        self._row[at], self._hand[at], self._dealer[at], self._column[at] = dealt.T
        split = at[self._held.take(at) != 1]
        self._held[split], self._pending[split], self._need[split], self._payoff[split] = 1, 0, 0, 0

    def _play(self, at: Array, place: Array, reward: Array) -> Array:
        """Follow entries, and draw cards until the next decisions. Returns: the tables whose rounds end."""
        table, ends = self._table, []
        while len(at):
            to = table.after.take(place)
            if to.min() < 0:
                self._split_hands(at, to)
            self._row[at] = to
            over = to == 0
            ends.append((at[over], place[over]))
            draws = np.flatnonzero((to < table.first_ask) & ~over)
            stood = self._unasked(at, to)
            drawn, place = at.take(draws), to.take(draws)
            place += self.cards.draw(drawn)
            self._hand[drawn] = table.hand.take(place)
            at = np.concatenate([drawn, at[stood]])
            place = np.concatenate([place, to[stood] + STANDS])
        at, place = (np.concatenate(parts) for parts in zip(*ends, strict=True))
        reward[at] += self._pay(at, place)
        return at

    def _split_hands(self, at: Array, to: Array) -> None:
        """Split hands, or finish one of several; `to` gets the next rows."""
        some = np.flatnonzero(to < 0)
        tables = at[some]
        after, more, payoff, need, split, pending = self._table.events.take(-1 - to[some], axis=0).T
        another = (self._pending[tables] > 0) & (more >= 0)
        to[some] = np.where(another, more, after)
        self._pending[tables] += pending - another
        self._held[tables] += split
        self._payoff[tables] += self._table.codes[payoff]
        self._need[tables] = np.maximum(self._need[tables], need)
        if self._held[tables].max() > RUNAWAY:
            raise EndlessSplitting(ENDLESS)

    def _unasked(self, at: Array, row: Array) -> Array:
        """Which of the tables hold too many hands to be asked in their rows."""
        if not self._may_be_unasked:
            return np.zeros(0, np.int64)
        return np.flatnonzero(self._table.unasked.take(row >> WIDE_BITS) & self._cannot_split(at, row))

    def _cannot_split(self, at: Array, row: Array) -> Array:
        cannot: Array = self._held.take(at) >= self._table.limit.take(row >> WIDE_BITS)
        return cannot

    def _pay(self, at: Array, place: Array) -> Array:
        """Play the dealer's hands, and pay the rounds. Returns: the profits, (n,)."""
        table, outcomes = self._table, self._table.codes.shape[1]
        need = np.maximum(table.need.take(place), self._need.take(at))
        row = table.settled.ravel().take(need * table.settled.shape[1] + self._dealer.take(at))
        drawing, first = np.flatnonzero(row >> WIDE_BITS >= outcomes), outcomes << WIDE_BITS
        while len(drawing):
            after = table.dealer.take(row.take(drawing) + self.cards.draw(at.take(drawing)))
            row[drawing] = after
            drawing = drawing[after >= first]
        outcome = row >> WIDE_BITS
        code = table.codes.ravel().take(table.payoff.take(place) * outcomes + outcome)
        split = np.flatnonzero(self._held.take(at) > 1)
        code[split] += self._payoff[at[split], outcome[split]]
        units, tied = payoff_parts(code) if self._replays else (code, 0)
        profit: Array = self._stake[at] * (units * self._unit[0] / self._unit[1])
        self._stake[at] *= tied
        return profit

    def _find_legal(self) -> None:
        self._legal = self._table.legal.take(self._row >> WIDE_BITS)
        split = np.flatnonzero((self._held > 1) & (self._legal >> self._split & 1 > 0))
        cannot = split[self._cannot_split(split, self._row[split])]
        self._legal[cannot] &= ~np.uint8(1 << self._split)

    def _observe(self, at: Array) -> Array:
        observation: Array = self._signs.take(self._hand.take(at), axis=0)
        observation[:, -2] = self._column.take(at)
        observation[:, -1] = np.minimum(self._held.take(at), self._most_hands)
        if self._insures:
            observation[self._table.insures.take(self._row.take(at) >> WIDE_BITS), -1] = 0
        return observation
