"""The value of every hand by dynamic programming over the states of `bjsim.sim.game.states`, in an infinite shoe.

One recursion serves every question. What differs is what a finished hand is worth (a number, or moments for each
dealer's outcome), how such worths mix over the next card, and how those of two split hands add:

    value(s)  = leaf(result(s))                          where the hand stands by itself
              = worth of the action that `choose` takes  otherwise
    hit(s)    = mix over ranks r of p(r) value(s + r)
    double(s) = mix over ranks r of p(r) leaf(result(s + r), stake 2)
    split(s)  = pending(2, 2)

`pending(k, m)` is the worth of k half-hands that wait for their second card while the seat holds m hands: the next
card makes a pair, which is split again while m is below the limit, or a hand that is played out. Hands left to play
depend on the past only through m, so this is exact for any limit; with no limit the half-hands are independent and
their worth is the fixed point that `endless` solves. Splitting a pair again whenever allowed loses nothing: in an
infinite shoe a split that is right once is right again (seed 000 asks for this policy).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Generic, TypeVar

from bjsim.sim.game.states import DEALER_NATURAL, DealerState, HandState, Result, States

Number = float | Fraction
W = TypeVar("W")
Policy = Callable[[HandState, str, str], str]  # a strategy: (state, column label, legal letters) -> letter


@dataclass(frozen=True)
class Column:
    """What the dealer shows: its chart label, its probability (a dealer's natural that is peeked at left out), and
    the law of the dealer's outcome given it."""

    label: str
    probability: Number
    probabilities: dict[int, Number]


class Dealer:
    """The dealer's play in an infinite shoe, over numbers of one type (`float` or `Fraction`)."""

    def __init__(self, states: States, number: type = float) -> None:
        self.states = states
        self.number = number
        self.ranks = [(rank, number(p)) for rank, p in states.ranks]
        self._laws: dict[DealerState, dict[int, Number]] = {}

    def outcome_probabilities(self, state: DealerState) -> dict[int, Number]:
        """Distribution of the dealer's outcome from `state` on; sums to 1. Source: seed 000, "Dealer Table"."""
        if state in self._laws:
            return self._laws[state]
        if self.states.dealer_done(state):
            probabilities = {self.states.dealer_outcome(state): self.number(1)}
        else:
            probabilities = {}
            for rank, p in self.ranks:
                for outcome, q in self.outcome_probabilities(self.states.dealer_add(state, rank)).items():
                    probabilities[outcome] = probabilities.get(outcome, 0) + p * q
        self._laws[state] = probabilities
        return probabilities

    def columns(self) -> dict[str, Column]:
        """Every column of the game's charts, in order."""
        states, rules = self.states, self.states.rules
        totals: dict[str, dict[int, Number]] = {label: {} for label in states.columns}
        for first, p in self.ranks:
            for second, q in self.ranks:
                up = states.dealer_add(DealerState(), first)
                state = states.dealer_add(up, second)
                if rules.peek and states.dealer_outcome(state) == DEALER_NATURAL:
                    continue
                label = states.dealer_code(state) if rules.dealer_shows == "both" else "A23456789T"[min(first, 9)]
                total = totals[label]
                for outcome, chance in self.outcome_probabilities(state).items():
                    total[outcome] = total.get(outcome, 0) + p * q * chance
        columns = {}
        for label, total in totals.items():
            mass = sum(total.values())
            columns[label] = Column(label, mass, {o: total[o] / mass for o in sorted(total)})
        return columns

    def peeked_natural(self) -> Number:
        """Probability that a dealer's natural ends the round before anybody acts."""
        ten: Number = self.number(self.states.rules.ten_probability)
        return 2 * ten * self.ranks[0][1] if self.states.rules.peek else ten * 0


class Values(ABC, Generic[W]):
    """The recursion above for one column of the chart; subclasses say what worths are and which action is chosen."""

    def __init__(self, states: States, column: Column) -> None:
        self.states = states
        self.column = column
        self.number: type = type(column.probability)
        self._values: dict[tuple[HandState, bool], W] = {}
        self._actions: dict[tuple[HandState, str], W] = {}
        self._leaves: dict[tuple[Result, int], W] = {}
        self._halves: dict[HandState, tuple[Number, W, W]] = {}
        self._pending: dict[tuple[HandState, int, int], W] = {}

    @abstractmethod
    def leaf(self, result: Result, stake: int) -> W:
        """Worth of a finished hand."""

    @abstractmethod
    def mix(self, parts: list[tuple[Number, W]]) -> W:
        """Worth of a chance event: probabilities and worths (the probabilities may sum to less than 1)."""

    @abstractmethod
    def plus(self, one: W, other: W) -> W:
        """Worth of two hands together, independent given the dealer's outcome."""

    @abstractmethod
    def endless(self, again: Number, done: W, whole: W) -> W:
        """Worth h of a half-hand that becomes two with probability `again`, else has the (mixed) worth `done`.

        whole: what the pair would be worth if it were not split.
        """

    @abstractmethod
    def choose(self, state: HandState, legal: str) -> W:
        """Worth of the hand under the action that this strategy takes, of the letters in `legal`."""

    def value(self, state: HandState, may_split: bool = True) -> W:
        """Worth of the hand from here on; `may_split` is false where the limit of hands is reached."""
        key = (state, may_split)
        if key not in self._values:
            legal = self.states.legal(state)
            if not may_split:
                legal = legal.replace("P", "")
            self._values[key] = self.choose(state, legal) if legal else self.done(self.states.result(state))
        return self._values[key]

    def done(self, result: Result, stake: int = 1) -> W:
        """Worth of a finished hand, remembered."""
        key = (result, stake)
        if key not in self._leaves:
            self._leaves[key] = self.leaf(result, stake)
        return self._leaves[key]

    def act(self, state: HandState, letter: str) -> W:
        """Worth of taking the action `letter` now and following the strategy after it."""
        if letter in "HD":
            state = self.states.bare(state)
        key = (state, letter)
        if key not in self._actions:
            self._actions[key] = self._act(state, letter)
        return self._actions[key]

    def _act(self, state: HandState, letter: str) -> W:
        result = self.states.result
        if letter == "S":
            return self.done(result(state))
        if letter == "R":
            return self.done(Result("surrendered"))
        if letter == "H":
            return self.mix([(p, self.value(after)) for p, after in self.states.draws(state, self.number)])
        if letter == "D":
            return self.mix([(p, self.done(result(after), 2)) for p, after in self.states.draws(state, self.number)])
        return self.pending(self.states.split(state), 2, 2)

    def pending(self, half: HandState, waiting: int, hands: int) -> W:
        """Worth of `waiting` half-hands `half` that still need their second card, of a seat that holds `hands`."""
        key = (half, waiting, hands)
        if key not in self._pending:
            self._pending[key] = self._split_on(half, waiting, hands)
        return self._pending[key]

    def _split_on(self, half: HandState, waiting: int, hands: int) -> W:
        again, whole, other = self._second_card(half)
        if self.states.rules.max_hands == math.inf:
            one = self.endless(again, self.mix([(1 - again, other)]), whole)  # the halves are independent
            return self.plus(one, one)
        if waiting > 1:
            rest = self.pending(half, waiting - 1, hands)
            whole, other = self.plus(whole, rest), self.plus(other, rest)
        if again and hands < self.states.rules.max_hands:
            whole = self.pending(half, waiting + 1, hands + 1)
        return self.mix([(again, whole), (1 - again, other)])

    def _second_card(self, half: HandState) -> tuple[Number, W, W]:
        """What the second card makes of a half-hand.

        Returns: the probability of a pair that may be split, the worth of such a pair if it is not, and that of
        all other hands (of the pair's place too where there is none).
        """
        if half not in self._halves:
            again: Number = 0 * self.column.probability
            pairs, others = [], []
            for p, state in self.states.draws(half, self.number):
                if "P" in self.states.legal(state):
                    again += p
                    pairs.append((p, self.value(state, may_split=False)))
                else:
                    others.append((p, self.value(state)))
            other = self.mix([(p / (1 - again), ev) for p, ev in others])
            whole = self.mix([(p / again, ev) for p, ev in pairs]) if pairs else other
            self._halves[half] = again, whole, other
        return self._halves[half]


class Means(Values[Number]):
    """Expected profit of each hand in initial bets, a tied stake being worth `tie_value` times itself.

    With a `letter` function it is the value of that strategy, without one that of the best.
    Worths are `float` or `Fraction`, as the column's law; an endless split may be worth `inf`.
    """

    def __init__(self, states: States, column: Column, tie_value: Number = 0, letter: Policy | None = None) -> None:
        super().__init__(states, column)
        self.tie_value = tie_value
        self.letter = letter

    def leaf(self, result: Result, stake: int) -> Number:
        ev: Number = self.number(0)
        for outcome, p in self.column.probabilities.items():
            net, tied = self.states.settle(result, stake, outcome)
            ev += p * (self.number(net) + tied * self.tie_value)
        return ev

    def mix(self, parts: list[tuple[Number, Number]]) -> Number:
        return sum([p * ev for p, ev in parts], start=self.number(0))

    def plus(self, one: Number, other: Number) -> Number:
        return one + other

    def endless(self, again: Number, done: Number, whole: Number) -> Number:
        # h = done + again * 2h. From again = 1/2 on the hands multiply without end, and h is the limit over rising
        # limits of hands: each one more adds again * (2h - whole), which never changes its sign
        if 2 * again < 1:
            return done / (1 - 2 * again)
        more = 2 * (done + again * whole) - whole
        return math.inf if more > 0 else -math.inf if more < 0 else whole / 2

    def choose(self, state: HandState, legal: str) -> Number:
        if self.letter is None:
            return max(self.act(state, letter) for letter in legal)
        return self.act(state, self.letter(state, self.column.label, legal))
