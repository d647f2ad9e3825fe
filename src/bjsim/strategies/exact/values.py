"""The value of every hand, by dynamic programming over the states of `bjsim.sim.game.states`, in an infinite shoe.

One recursion answers every question. The subclasses of `Values` define the value of a finished hand (a number, or
moments for each outcome of the dealer), how values mix over the next card, and how those of two split hands add:

    value(s)  = leaf(result(s))                          if no action is left
              = value of the action that `choose` takes  otherwise
    hit(s)    = mix over ranks r of p(r) value(s + r)
    double(s) = mix over ranks r of p(r) leaf(result(s + r), stake 2)
    split(s)  = pending(2, 2)

`pending(k, m)` is the value of k split hands that still need their second card, when the seat holds m hands. The next
card makes either a pair, which is split again while m is below the limit, or a hand that is played out. The hands
left to play depend on the past only through m, so this is exact for any limit. Without a limit the split hands are
independent, and their value is the fixed point that `endless` solves. Splitting a pair again whenever allowed loses
nothing: in an infinite shoe a split that is right the first time is right every time ([Easy] asks for this policy).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Generic, TypeVar

from bjsim.sim.game.hand_states import DEALER_NATURAL, DealerState, HandState, Result
from bjsim.sim.game.states import States

Number = float | Fraction
V = TypeVar("V")
Policy = Callable[[HandState, str, str], str]  # (state, column label, legal action letters) -> action letter


@dataclass(frozen=True)
class Column:
    """A column of a chart: what the dealer shows.

    Attributes:
        label: The column's label in charts.
        probability: Probability of the column, without rounds that end because the dealer peeks at a natural.
        probabilities: Distribution of the dealer's outcome given the column: outcome -> probability.
    """

    label: str
    probability: Number
    probabilities: dict[int, Number]


class Dealer:
    """Probabilities of the dealer's play in an infinite shoe.

    Args:
        states: The states of the game.
        number: The type of all probabilities: `float` or `Fraction`.
    """

    def __init__(self, states: States, number: type = float) -> None:
        self.states = states
        self.number = number
        self.ranks = [(rank, number(p)) for rank, p in states.ranks]
        self._outcomes: dict[DealerState, dict[int, Number]] = {}

    def outcome_probabilities(self, state: DealerState) -> dict[int, Number]:
        """Distribution of the dealer's outcome from `state` on.

        Returns:
            Outcome -> probability; the probabilities sum to 1.

        Source:
            [Easy], "Dealer Table".
        """
        if state in self._outcomes:
            return self._outcomes[state]
        if self.states.dealer_done(state):
            probabilities = {self.states.dealer_outcome(state): self.number(1)}
        else:
            probabilities = {}
            for rank, p in self.ranks:
                for outcome, q in self.outcome_probabilities(self.states.dealer_add(state, rank)).items():
                    probabilities[outcome] = probabilities.get(outcome, 0) + p * q
        self._outcomes[state] = probabilities
        return probabilities

    def columns(self) -> dict[str, Column]:
        """The columns of the game's charts, by label, in order."""
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
        """Probability that a dealer's natural ends the round before a player acts."""
        ten: Number = self.number(self.states.rules.ten_probability)
        return 2 * ten * self.ranks[0][1] if self.states.rules.peek else ten * 0


class Values(ABC, Generic[V]):
    """The recursion above for one column of a chart, over values of type V.

    Subclasses define the values (`leaf`, `mix`, `plus`, `endless`) and the strategy (`choose`).
    """

    def __init__(self, states: States, column: Column) -> None:
        self.states = states
        self.column = column
        self.number: type = type(column.probability)
        self._values: dict[tuple[HandState, bool], V] = {}
        self._actions: dict[tuple[HandState, str], V] = {}
        self._leaves: dict[tuple[Result, int], V] = {}
        self._second_cards: dict[HandState, tuple[Number, V, V]] = {}
        self._pending: dict[tuple[HandState, int, int], V] = {}

    @abstractmethod
    def leaf(self, result: Result, stake: int) -> V:
        """Value of a finished hand."""

    @abstractmethod
    def mix(self, parts: list[tuple[Number, V]]) -> V:
        """Value of a chance event, from (probability, value) pairs; the probabilities may sum to less than 1."""

    @abstractmethod
    def plus(self, one: V, other: V) -> V:
        """Value of two hands together, which are independent given the dealer's outcome."""

    @abstractmethod
    def endless(self, again: Number, done: V, whole: V) -> V:
        """Value of a split hand where the number of hands has no limit.

        Args:
            again: Probability that the second card makes a pair, which is split into two such hands.
            done: Value of all other second cards, already weighted with their probability.
            whole: Value of the pair if it were not split.
        """

    @abstractmethod
    def choose(self, state: HandState, legal: str) -> V:
        """Value of the hand under the action that the strategy takes, one of the letters in `legal`."""

    def value(self, state: HandState, may_split: bool = True) -> V:
        """Value of the hand from here on; `may_split` is false if the limit of hands is reached."""
        key = (state, may_split)
        if key not in self._values:
            legal = self.states.legal(state)
            if not may_split:
                legal = legal.replace("P", "")
            self._values[key] = self.choose(state, legal) if legal else self.done(self.states.result(state))
        return self._values[key]

    def done(self, result: Result, stake: int = 1) -> V:
        """Value of a finished hand, cached."""
        key = (result, stake)
        if key not in self._leaves:
            self._leaves[key] = self.leaf(result, stake)
        return self._leaves[key]

    def act(self, state: HandState, action: str) -> V:
        """Value of taking the action with this letter now, and following the strategy afterwards."""
        if action in "HD":
            state = self.states.bare(state)
        key = (state, action)
        if key not in self._actions:
            self._actions[key] = self._act(state, action)
        return self._actions[key]

    def _act(self, state: HandState, action: str) -> V:
        result = self.states.result
        if action == "S":
            return self.done(result(state))
        if action == "R":
            return self.done(Result("surrendered"))
        if action == "H":
            return self.mix([(p, self.value(after)) for p, after in self.states.draws(state, self.number)])
        if action == "D":
            return self.mix([(p, self.done(result(after), 2)) for p, after in self.states.draws(state, self.number)])
        return self.pending(self.states.split(state), 2, 2)

    def pending(self, split_hand: HandState, count: int, hands: int) -> V:
        """Value of `count` split hands that still need their second card, of a seat that holds `hands` hands."""
        key = (split_hand, count, hands)
        if key not in self._pending:
            self._pending[key] = self._play_pending(split_hand, count, hands)
        return self._pending[key]

    def _play_pending(self, split_hand: HandState, count: int, hands: int) -> V:
        again, whole, other = self._second_card(split_hand)
        if self.states.rules.max_hands == math.inf:
            one = self.endless(again, self.mix([(1 - again, other)]), whole)  # the split hands are independent
            return self.plus(one, one)
        if count > 1:
            rest = self.pending(split_hand, count - 1, hands)
            whole, other = self.plus(whole, rest), self.plus(other, rest)
        if again and hands < self.states.rules.max_hands:
            whole = self.pending(split_hand, count + 1, hands + 1)
        return self.mix([(again, whole), (1 - again, other)])

    def _second_card(self, split_hand: HandState) -> tuple[Number, V, V]:
        """The possible second cards of a split hand.

        Returns:
            The probability of a pair that may be split; the value of such a pair if it is not split; the value of all
            other hands. If there is no such pair, the second value equals the third.
        """
        if split_hand not in self._second_cards:
            again: Number = 0 * self.column.probability
            pairs, others = [], []
            for p, state in self.states.draws(split_hand, self.number):
                if "P" in self.states.legal(state):
                    again += p
                    pairs.append((p, self.value(state, may_split=False)))
                else:
                    others.append((p, self.value(state)))
            other = self.mix([(p / (1 - again), ev) for p, ev in others])
            whole = self.mix([(p / again, ev) for p, ev in pairs]) if pairs else other
            self._second_cards[split_hand] = again, whole, other
        return self._second_cards[split_hand]


class Means(Values[Number]):
    """Expected profit of each hand, in initial bets.

    Values are `float` or `Fraction`, as the probabilities of the column; that of an endless split may be `inf`.

    Args:
        states: The states of the game.
        column: What the dealer shows.
        tie_value: Value of a tied stake, per unit of the stake.
        policy: The strategy to evaluate; None for the best one.
    """

    def __init__(self, states: States, column: Column, tie_value: Number = 0, policy: Policy | None = None) -> None:
        super().__init__(states, column)
        self.tie_value = tie_value
        self.policy = policy

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
        # h = done + again * 2h. From again = 1/2 on the hands multiply without end, and h is the limit as the limit of
        # hands grows: each further hand adds again * (2h - whole), which never changes its sign.
        if 2 * again < 1:
            return done / (1 - 2 * again)
        more = 2 * (done + again * whole) - whole
        return math.inf if more > 0 else -math.inf if more < 0 else whole / 2

    def choose(self, state: HandState, legal: str) -> Number:
        if self.policy is None:
            return max(self.act(state, action) for action in legal)
        return self.act(state, self.policy(state, self.column.label, legal))
