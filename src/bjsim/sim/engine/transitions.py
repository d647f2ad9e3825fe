"""The rounds of one seat as a finite automaton over cards: its states, and what each card leads to, in NumPy.

A state is one number, so that thousands of states follow their cards at once. This is the only place where compiled
rules become the flow of a round; `round_table.py` numbers the states, and everything else walks its rows, but for the
environments, see `asked_table.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bjsim.arrays import Array
from bjsim.sim.engine.kernels.layout import (
    ATTACK,
    CHOICE,
    DOUBLE,
    HIT,
    INSURE,
    NO_LIMIT,
    SPLIT,
    CompiledRules,
)

DEAL, DRAW, DEALER, ASK = range(4)  # purpose of the next card; ASK waits for an action instead
OVER, LEAVES = -1, -2  # what a card may lead to instead of a state
UNLIKELY = 1e-9  # probability that splits of a pair make a round leave the table, about


MOST_PENDING = 200  # within the table


def hands_within(compiled: CompiledRules, act: Array, unlikely: float) -> tuple[Array, Array]:
    """By split hand, the numbers of hands, and of pending hands, above which a round leaves the table."""
    again = np.logical_or.reduce(may_take(act[1], SPLIT), axis=1)[compiled.add] @ rank_probabilities(compiled)
    rare = unlikely / np.maximum(again, unlikely) ** 2  # of rounds with this split
    endless = compiled.hand_limit == NO_LIMIT
    n = np.arange(2, np.where(endless, 2, compiled.hand_limit).max() + 1)
    trees = np.cumprod(np.append([1.0], 2 * (2 * n[:-1] - 1) / (n[:-1] + 1)))  # Catalan numbers
    ends = trees * np.power.outer(again, n - 2) * np.power.outer(1 - again, n)  # probability of n hands in all
    most = 2 + (1 - np.cumsum(ends, axis=1) > rare[:, None]).sum(axis=1)
    hands = np.where(endless, NO_LIMIT, np.minimum(most, compiled.hand_limit))
    pending = np.full(len(again), MOST_PENDING, np.int64)
    falls = (again > 0) & (again < 0.5)  # the number pending is a random walk
    pending[falls] = np.ceil(np.log(rare[falls]) / np.log(again[falls] / (1 - again[falls]))).clip(1, MOST_PENDING)
    return hands, np.minimum(pending, hands - 1)


def rank_probabilities(compiled: CompiledRules) -> Array:
    """Probabilities of the 13 ranks in a full shoe."""
    if compiled.numbers.normal_tens and not compiled.numbers.shoe_size:
        return np.full(13, 1 / 13)
    cards = compiled.numbers.shoe_size or 1 << 32
    return -np.diff(compiled.above, prepend=cards, append=0) / cards


@dataclass(frozen=True)
class PayoffVectors:
    """The distinct payoffs of hands by the dealer's outcome."""

    codes: Array  # zeros in row 0, and a second half with an insurance bet, if any is made, (V, O)
    number: Array  # the row of a result at one bet, two, and as many more as it may double, (R, B)
    insured: int  # what insurance adds to it
    attack: int  # what it adds that the bets were doubled before the deal

    @classmethod
    def of(cls, compiled: CompiledRules) -> PayoffVectors:
        results, stakes, outcomes = compiled.pay.shape
        distinct, row = np.unique(compiled.pay.reshape(-1, outcomes), axis=0, return_inverse=True)
        codes = np.concatenate([np.zeros((1, outcomes), np.int64), distinct])
        number = 1 + row.reshape(results, stakes)
        insured = len(codes) if may_take(compiled.act, INSURE).any() else 0
        if insured:
            codes = np.concatenate([codes, codes + compiled.pay[compiled.numbers.insured, 0]])
        attack = len(codes) if (compiled.act[:, :, 0] == ATTACK).any() else 0
        return cls(np.concatenate([codes, 2 * codes]) if attack else codes, number, insured, attack)


def may_take(act: Array, code: int) -> Array:
    """Whether cells of a chart are this action, or a choice that has it, bool (...)."""
    return np.asarray((act == code) | ((act >= CHOICE) & (act >> code & 1 > 0)))


class State(NamedTuple):
    """States of a round, an int64 array of each field."""

    what: Array  # purpose of the next card: DEAL, DRAW (by the hand) or DEALER; or ASK, for an action code in its place
    step: Array  # number of cards dealt, or whether the drawing hand doubles
    hand: Array  # state of the hand; while the dealer draws, the payoff vector of a hand that was never split
    split_hand: Array  # state of the pending split hands, and their number
    pending: Array
    hands: Array  # number of the seat's hands, as far as limits depend on it
    insured: Array  # whether an insurance bet is not logged yet
    need: Array  # maximum of `CompiledRules.waits` over the finished hands
    dealer: Array
    column: Array
    shown: Array  # number of the dealer's cards, at most two

    def where(self, mask: Array) -> State:
        at = np.flatnonzero(mask)  # faster than a mask for every field
        return State(*[field[at] for field in self])


class Moves(NamedTuple):
    """What cards lead to, (m,) each: the next state, OVER or LEAVES; a label, 0 for none; whether it decided."""

    word: Array
    label: Array
    decided: Array


class Transitions:
    """The automaton of compiled rules with the chart of `seat`.

    A label up to V - 1 is the payoff vector of a split hand that is over while the round goes on. V + c (O +
    1) is the end of a round of one hand with code number c; V + c (O + 1) + 1 + o is that of a round with
    splits, whose last code is number c, at the dealer's outcome o. `codes` ascend. Splits of a pair make a
    round leave the table with probability `unlikely`, about.
    """

    def __init__(self, compiled: CompiledRules, seat: int = 0, unlikely: float = UNLIKELY) -> None:
        self.compiled = compiled
        self.act = compiled.act[seat]
        self.vectors = PayoffVectors.of(compiled)
        self.codes, code = np.unique(self.vectors.codes, return_inverse=True)
        self._code = code.reshape(self.vectors.codes.shape)
        self._most_hands, self._most_pending = hands_within(compiled, self.act, unlikely)
        self._most_count = max(int(self._most_hands[self._most_hands < NO_LIMIT].max(initial=0)), 2)
        sizes = (
            4, max(len(compiled.deal), 2), max(len(compiled.add), len(self.vectors.codes)), len(compiled.add),
            int(self._most_pending.max()) + 1, self._most_count + 1, 2, 3, len(compiled.dealer_add),
            self.act.shape[2], 3,
        )  # fmt: skip
        self._bits = [(size - 1).bit_length() for size in sizes]
        assert sum(self._bits) < 64
        self.start = self.pack(State(*np.zeros((len(sizes), 1), np.int64))._replace(hands=np.ones(1, np.int64)))

    def pack(self, states: State) -> Array:
        """The numbers of states, (m,)."""
        word = np.zeros(len(states.what), np.int64)
        for field, bits in zip(states, self._bits, strict=True):
            word <<= bits
            word |= field
        return word

    def unpack(self, word: Array) -> State:
        fields = []
        for bits in reversed(self._bits):
            fields.append(word & ((1 << bits) - 1))
            word = word >> bits
        return State(*reversed(fields))

    def follow(self, words: Array, cards: Array) -> Moves:
        """What a card of each rank index leads to, or the code of an action where the state asks for it."""
        n = len(words)
        moves = Moves(np.full(n, OVER, np.int64), np.zeros(n, np.int64), np.zeros(n, np.bool_))
        states, at = self.unpack(words), np.arange(n)
        asks = states.what == ASK
        insures = asks & (states.step == 1)
        if insures.any():
            asked, taken = states.where(insures), (cards[insures] == INSURE).astype(np.int64)
            asked = asked._replace(step=np.zeros_like(taken), insured=taken)
            self._decide(moves, at[insures], asked, self._ended(asked))
        acts = asks & ~insures
        if acts.any():
            self._apply(moves, at[acts], states.where(acts), cards[acts])
        if not asks.all():
            self._draw(moves, at[~asks], states.where(~asks), cards[~asks])
        return moves

    def ends(self, labels: Array) -> Array:
        """Payoff code and dealer's outcome of these ends of rounds, (E, 2)."""
        code, outcome = np.divmod(labels - len(self.vectors.codes), self.vectors.codes.shape[1] + 1)
        return np.stack([self.codes[code], np.maximum(outcome - 1, 0)], axis=1)

    def asks(self, words: Array) -> Array:
        """Whether states ask for an action, (m,)."""
        return np.asarray(words >> sum(self._bits[1:]) == ASK)

    def repeats(self, words: Array) -> Array:
        """Whether a round may come back to states: those of split hands without a limit, (m,)."""
        states = self.unpack(words)
        hand = np.where(states.what == DRAW, states.hand, 0)  # of a state of the dealer it is a payoff vector
        return np.asarray((hand > 0) & (hand == states.split_hand) & (self.compiled.hand_limit[hand] == NO_LIMIT))

    def choices(self, words: Array) -> Array:
        """The cell of the chart of states that ask, (m,)."""
        states = self.unpack(words)
        return self._cell(states, np.where(states.step == 1, -1, states.column))  # insurance is in the last column

    def _cell(self, states: State, column: Array) -> Array:
        free = (states.hands < self.compiled.hand_limit[states.hand]).astype(np.int64)
        return np.asarray(self.act[free, states.hand, column])

    def _go(self, moves: Moves, at: Array, states: State, **changed: Any) -> None:
        fields = {name: np.broadcast_to(value, at.shape) for name, value in changed.items()}
        moves.word[at] = self.pack(states._replace(**fields))

    def _draw(self, moves: Moves, at: Array, states: State, card: Array) -> None:
        compiled, dealt, late = self.compiled, states.what == DEAL, states.what == DEALER
        most = len(compiled.deal)
        to_dealer = late | (dealt & (compiled.deal[np.minimum(states.step, most - 1)] == 1))
        dealer = np.where(to_dealer, compiled.dealer_add[states.dealer, card], states.dealer)
        shows = np.where(dealt & to_dealer, compiled.column[np.minimum(states.shown, 1), dealer], 0)
        hand = np.where(to_dealer, states.hand, compiled.add[np.where(late, 0, states.hand), card])
        shown = np.minimum(states.shown + to_dealer, 2)
        states = states._replace(hand=hand, dealer=dealer, column=states.column + shows, shown=shown)
        more, last = dealt & (states.step + 1 < most), dealt & (states.step + 1 == most)
        self._go(moves, at[more], states.where(more), step=states.step[more] + 1)
        self._settle(moves, at[late], states.where(late), states.hand[late])
        cell = np.where(last & (states.column == compiled.numbers.ace), self.act[1, np.where(late, 0, hand), -1], 0)
        insures = cell >= CHOICE
        self._go(moves, at[insures], states.where(insures), what=ASK, step=1)
        insured = np.where(last, cell == INSURE, states.insured)
        plays = dealt | (compiled.doubled[np.where(late, 0, hand)] > 0)
        states = states._replace(step=np.where(plays, 0, states.step), insured=insured)
        rest = ~(more | late | insures)
        self._decide(moves, at[rest], states.where(rest), (last & self._ended(states))[rest])

    def _ended(self, states: State) -> Array:
        """Whether the dealer's natural has ended rounds, once all cards are dealt."""
        return np.asarray(self.compiled.dealer_out[states.dealer] == self.compiled.numbers.ending_outcome)

    def _decide(self, moves: Moves, at: Array, states: State, ended: Array) -> None:
        """What the chart does with a hand; if the dealer's natural ended the round, only a surrender counts."""
        column = np.where(ended, self.compiled.ended_column[states.column], states.column)
        code = np.where((states.step > 0) | (column < 0), 0, self._cell(states, np.maximum(column, 0)))
        moves.decided[at] = (code != 0) & bool(self.compiled.numbers.round_robin)  # which alone asks
        asks = code >= CHOICE
        self._go(moves, at[asks], states.where(asks), what=ASK, step=0, column=column[asks])
        self._apply(moves, at[~asks], states.where(~asks), code[~asks])

    def _apply(self, moves: Moves, at: Array, states: State, code: Array) -> None:
        compiled = self.compiled
        splits, draws = code == SPLIT, (code == HIT) | (code == DOUBLE)
        self._split(moves, at[splits], states.where(splits))
        drawing, pending, doubles = states.where(draws), states.pending[draws] > 0, code[draws] == DOUBLE
        self._go(
            moves, at[draws], drawing, what=DRAW, step=doubles,
            hand=np.where(doubles, compiled.double_to[drawing.hand], drawing.hand),
            split_hand=np.where(pending, drawing.split_hand, 0),
            hands=np.where(pending, drawing.hands, np.minimum(drawing.hands, 2)),  # it cannot split again
        )  # fmt: skip
        ends = ~(splits | draws)
        states = states.where(ends)
        self._end_hand(moves, at[ends], states, compiled.ended[code[ends], states.hand])

    def _split(self, moves: Moves, at: Array, states: State) -> None:
        compiled, original = self.compiled, self.compiled.numbers.original
        split_hand, need = compiled.split_to[states.hand], states.need
        if original >= 0:  # what a dealer's natural takes of all hands
            first = states.hands == 1
            moves.label[at[first]] = self.vectors.number[original, 0]
            need = np.where(first, np.maximum(need, 1), need)
        pending, count = states.pending + 1, np.minimum(states.hands + 1, self._most_count)
        stays = (pending <= self._most_pending[split_hand]) & (states.hands < self._most_hands[split_hand])
        moves.word[at[~stays]] = LEAVES
        fields = {"hand": split_hand, "split_hand": split_hand, "pending": pending, "hands": count, "need": need}
        stayed = {name: field[stays] for name, field in fields.items()}
        self._go(moves, at[stays], states.where(stays), what=DRAW, step=0, **stayed)

    def _end_hand(self, moves: Moves, at: Array, states: State, result: Array) -> None:
        """A pending split hand follows, or it was the last."""
        compiled, insured = self.compiled, states.insured
        attack = self.vectors.attack * (self.act[1, 0, states.column] == ATTACK)
        bets = states.step + compiled.doubled[states.hand]
        vector = self.vectors.number[result, bets] + insured * self.vectors.insured + attack
        need = np.maximum(states.need, compiled.waits[result, bets])
        if self.vectors.insured:
            need = np.maximum(need, insured * compiled.waits[compiled.numbers.insured, 0])
        states = states._replace(need=need, insured=np.zeros_like(insured))
        more = states.pending > 0
        moves.label[at[more]] = vector[more]
        rest = states.where(more)
        split_hand = np.where(compiled.covers[result, bets][more], compiled.covered[rest.split_hand], rest.split_hand)
        self._go(
            moves, at[more], rest, what=DRAW, step=0, hand=split_hand, split_hand=split_hand, pending=rest.pending - 1
        )
        self._settle(moves, at[~more], states.where(~more), vector[~more])

    def _settle(self, moves: Moves, at: Array, states: State, vector: Array) -> None:
        """After the last hand: the dealer draws, or the round ends."""
        split = states.hands > 1
        draws = ((states.need > 0) & (states.shown < 2)) | (
            (states.need == 2) & (self.compiled.dealer_done[states.dealer] == 0)
        )
        moves.label[at[draws]] = np.where(split, vector, 0)[draws]
        drawing = states.where(draws)
        self._go(
            moves, at[draws], drawing, what=DEALER, step=0, hand=np.where(split, 0, vector)[draws], split_hand=0,
            pending=0, hands=np.minimum(drawing.hands, 2), column=0,
        )  # fmt: skip
        over, outcome = ~draws, self.compiled.dealer_out[states.dealer]
        end = self._code[vector, outcome] * (self.vectors.codes.shape[1] + 1) + np.where(split, 1 + outcome, 0)
        moves.label[at[over]] = len(self.vectors.codes) + end[over]
