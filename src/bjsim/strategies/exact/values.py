"""Exact expected values in an infinite shoe: the dealer's play, and the backward pass with numbers as values.

Values are computed for each column of a chart, given which the hands of a split are independent.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

from bjsim.sim.game.actions import ATTACK, INSURANCE
from bjsim.sim.game.automaton import ENDED, START, Automaton, Chance, Decision, Draw, Finished, Node
from bjsim.sim.game.course import ACE, course
from bjsim.sim.game.hand_states import DEALER_NATURAL, INSURED, SURRENDERED, DealerState, HandState
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.states import States
from bjsim.sim.values.backward import MergedBackward
from bjsim.sums import add_up

Number = float | Fraction
Policy = Callable[[HandState, str, str], str]  # (state, column label, legal action letters) -> action letter


@dataclass(frozen=True)
class ExpectedValue:
    """The expected profit (`net`) and tied stake (0 unless ties are replayed) of a round, in initial bets."""

    net: Number
    tied: Number

    @property
    def value(self) -> Number:
        """Expected profit per settled bet: net / (1 - tied).

        If at least as many bets are tied as were dealt, their number never falls and each replay adds `net` per bet:
        the value is then infinite, with the sign of `net`.
        """
        if self.tied < 1:
            return self.net / (1 - self.tied) if self.tied else self.net
        return math.copysign(math.inf, self.net) if self.net else self.net


@dataclass(frozen=True)
class Column:
    """A column of a chart: what the dealer shows.

    Attributes:
        probability: Probability of the column, without rounds that end because the dealer peeks at a natural.
        probabilities: Distribution of the dealer's outcome given the column: outcome -> probability.
        start: The node that deals the seat's hand.
        natural_odds: Odds of a dealer's natural after which an early surrender still counts. It then saves half
            a bet, which is added to the surrenders without a natural.
        upcard: What the dealer shows when the bet may be doubled before the deal; empty if it may not be.
    """

    label: str
    probability: Number
    probabilities: dict[int, Number]
    start: Draw = START
    natural_odds: Number = 0
    insurable: bool = False
    upcard: str = ""

    def bets(self, policy: Policy) -> int:
        """Initial bets of a round: 2 if the strategy doubles its bet before the deal."""
        return 2 if self.upcard and policy(HandState(), self.upcard, ATTACK) == "A" else 1


class Dealer:
    """Probabilities of the dealer's play in an infinite shoe, of type `number`: `float` or `Fraction`."""

    def __init__(self, states: States, number: type = float) -> None:
        self.states = states
        self.number = number
        self.ranks = [(rank, number(p)) for rank, p in states.ranks]
        self._outcomes: dict[DealerState, dict[int, Number]] = {}

    def outcome_probabilities(self, state: DealerState) -> dict[int, Number]:
        """Return outcome -> probability of the dealer from `state` on, summing to 1; [Easy], "Dealer Table"."""
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
        """Return the columns of the game's charts, by label, in order."""
        states = self.states
        totals: dict[str, dict[int, Number]] = {label: {} for label in states.columns}
        for first, p in self.ranks:
            for second, q in self.ranks:
                up = states.dealer_add(DealerState(), first)
                state = states.dealer_add(up, second)
                if states.ends_round(states.dealer_outcome(state)):
                    continue
                total = totals[states.shown(up) or states.shown(state)]
                for outcome, chance in self.outcome_probabilities(state).items():
                    total[outcome] = total.get(outcome, 0) + p * q * chance
        columns = {}
        for label, total in totals.items():
            mass = add_up(total.values())
            probabilities = {o: total[o] / mass for o in sorted(total)}
            odds = self.peeked_natural() / 2 / mass if states.surrenders_early(label) else 0 / mass
            insurable = label in states.columns_before_look("I")
            upcard = label if states.rules.attack else ""
            columns[label] = Column(label, mass, probabilities, START, odds, insurable, upcard)
        return columns

    def peeked_natural(self) -> Number:
        """Probability that a dealer's natural ends the round before a player acts."""
        ten: Number = self.number(self.states.rules.ten_probability)
        return 2 * ten * self.ranks[ACE][1] if course(self.states.rules, ACE).looks else ten * 0

    def cases(self) -> list[Column]:
        """The columns and, with a peek, the case that a natural has ended the round: by upcard if that matters."""
        ended = Column("", self.peeked_natural(), {DEALER_NATURAL: self.number(1)}, ENDED)
        by_upcard = [ended] if ended.probability else []
        insurable, attack = bool(self.states.columns_before_look("I")), self.states.rules.attack
        if ended.probability and (insurable or attack):
            half = replace(ended, probability=ended.probability / 2, upcard="T" * attack)
            by_upcard = [half, replace(half, insurable=insurable, upcard="A" * attack)]
        return [*self.columns().values(), *by_upcard]


def round_nodes(column: Column, rules: Rules, policy: Policy | None) -> tuple[Node, ...]:
    """The nodes of a round in one case: the deal, and an insurance bet if the strategy takes it.

    A hand's cards carry no information in an infinite shoe, so the decision is the same for all hands; None: the best.
    """
    if not column.insurable:
        return (column.start,)
    takes = 3 * rules.ten_probability > 1 if policy is None else policy(HandState(), "A", INSURANCE) == "I"
    return (column.start, Finished(INSURED)) if takes else (column.start,)


class Means(MergedBackward[Number]):
    """Expected profit of each hand, in initial bets, under `policy`, or the best one if that is None.

    Values are `float` or `Fraction`, as the probabilities of the column; that of an endless split may be `inf`.
    `tie_value` is the value of a tied stake, per unit of it.
    """

    def __init__(
        self, automaton: Automaton, column: Column, tie_value: Number = 0, policy: Policy | None = None
    ) -> None:
        super().__init__(automaton.against(column.label), type(column.probability), tie_value)
        self.column = column
        self.policy = policy

    def round_value(self) -> Number:
        return self.together(round_nodes(self.column, self.automaton.rules, self.policy))

    def leaf(self, node: Finished) -> Number:
        probabilities = self.column.probabilities
        ev = self.mix(list(zip(probabilities.values(), self.profits(node, probabilities), strict=True)))
        return ev + self.column.natural_odds / 2 if node.result == SURRENDERED else ev

    def mix(self, parts: list[tuple[Number, Number]]) -> Number:
        total: Number = add_up([p * ev for p, ev in parts], start=self.number(0))
        return total

    def plus(self, one: Number, other: Number) -> Number:
        return one + other

    def endless(self, again: Number, done: Number, whole: Number) -> Number:
        # h = done + again * 2h. From again = 1/2 on the hands multiply without end, and h is the limit as the limit of
        # hands grows: each further hand adds again * (2h - whole), which never changes its sign.
        if 2 * again < 1:
            return done / (1 - 2 * again)
        more = 2 * (done + again * whole) - whole
        return math.inf if more > 0 else -math.inf if more < 0 else whole / 2

    def choose(self, node: Decision, legal: str) -> Number:
        if self.policy is None:
            return max(self.act(node.state, action) for action in legal)
        return self.act(node.state, self.policy(node.state, self.column.label, legal))


class BestMeans(Means):
    """Of best play that also chooses whether a pair is split again, which a chart says once for all hands."""

    def chance(self, node: Chance) -> Number:
        if not (kept := self.automaton.not_split_again(node)):
            return super().chance(node)
        (again, pair), (rest, other) = self.automaton.branches(node, self.number)
        return self.mix([(again, max(self.together(pair), self.together(kept))), (rest, self.together(other))])
