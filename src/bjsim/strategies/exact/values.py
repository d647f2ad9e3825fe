"""Exact expected values in an infinite shoe: the dealer's play, and the backward pass with numbers as values.

Values are computed for each column of a chart, given which the hands of a split are independent.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from bjsim.arrays import Array
from bjsim.sim.game.actions import ATTACK, INSURANCE
from bjsim.sim.game.automaton import ENDED, START, Automaton, Chance, Decision, Draw, Finished, Node
from bjsim.sim.game.dealer import ACE, course
from bjsim.sim.game.hand_states import DEALER_NATURAL, INSURED, SURRENDERED, DealerState, HandState
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.states import States
from bjsim.sim.values.backward import MergedBackward, count_visits
from bjsim.strategies.charts.chart import Chart
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
    """A column of a chart: what the dealer shows."""

    label: str
    probability: Number  # probability of the column, without rounds that end because the dealer peeks at a natural
    probabilities: dict[int, Number]  # distribution of the dealer's outcome given the column: outcome -> probability
    start: Draw = START  # the node that deals the seat's hand
    # odds of a dealer's natural after which an early surrender still counts. It then saves half a bet, which is added
    # to the surrenders without a natural.
    natural_odds: Number = 0
    insurable: bool = False
    upcard: str = ""  # what the dealer shows when the bet may be doubled before the deal; empty if it may not be

    @property
    def natural_chance(self) -> Number:
        return self.natural_odds / (1 + self.natural_odds)

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


def best_insurance(rules: Rules) -> str:
    """The best decision on insurance, of which the cards of a hand tell nothing in an infinite shoe."""
    return "I" if rules.insurance and 3 * rules.ten_probability > 1 else "S"


def takes_insurance(column: Column, rules: Rules, policy: Policy | None) -> bool:
    """Whether a strategy insures its hands in one case; None: the best one."""
    taken = best_insurance(rules) if policy is None else policy(HandState(), "A", INSURANCE)
    return column.insurable and taken == "I"


def round_nodes(column: Column, rules: Rules, policy: Policy | None) -> tuple[Node, ...]:
    """The nodes of a round in one case: the deal, and an insurance bet if the strategy takes it."""
    return (column.start, Finished(INSURED)) if takes_insurance(column, rules, policy) else (column.start,)


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


# --- How often play reaches each decision when a chart is followed, in an infinite shoe.


def natural_profits(column: Column, rules: Rules, policy: Policy) -> tuple[Fraction, Fraction]:
    """The profits, at a dealer's natural, of a hand surrendered early and of any other one, in initial bets.

    They replace each other where there is no natural, and insurance loses 1/2 there; so what it wins counts as 3/2.
    """
    won = Fraction(3, 2) if takes_insurance(column, rules, policy) else Fraction(0)
    return won - Fraction(1, 2), won - 1


def find_endless_split(chart: Chart) -> tuple[str, str] | None:
    """Find the row and column of a pair whose repeated splitting may keep a round from ending, or None.

    That requires rules without a limit on hands, and a pair again in at least every second split hand.
    """
    states = Automaton(chart.rules)
    if states.rules.most_hands != math.inf:
        return None
    for state in sorted(states.starts):
        legal = states.legal(state)
        endless = states.rules.hand_limit(aces=state.rank == 0) == math.inf
        if endless and "P" in legal and 2 * states.pair_again(states.split(state)) >= 1:
            for column in states.columns:
                if chart.policy(state, column, legal) == "P":
                    return states.rows_of(state)[0], column
    return None


def count_decisions(automaton: Automaton, column: Column, policy: Policy) -> dict[Decision, float]:
    """Return the expected visits to each decision per round where the dealer shows this column.

    Visits are infinite where the strategy splits pairs that multiply without end.
    """
    visits = count_visits(automaton.against(column.label), lambda state, legal: policy(state, column.label, legal))
    return {node: n for node, n in visits.items() if isinstance(node, Decision)}


# --- The exact standard deviation per round of any chart, in an infinite shoe.
#
# The hands of a split share one dealer, so they are dependent, but they are independent given the dealer's outcome. The
# first two moments of each hand are therefore computed for each outcome of the dealer, and mixed over the outcomes
# last.


class Moments(MergedBackward[Array]):
    """Values are float64 (2, outcomes): mean and mean square of the profit in initial bets, by dealer's outcome."""

    def __init__(self, automaton: Automaton, column: Column, policy: Policy, tie_value: Number) -> None:
        super().__init__(automaton.against(column.label), tie_value=float(tie_value))
        self.column = column
        self.policy = policy
        self.at_natural = natural_profits(column, automaton.rules, policy)

    def leaf(self, node: Finished) -> Array:
        evs = self.profits(node, self.column.probabilities)
        moments = np.array([evs, [ev * ev for ev in evs]])
        if node.result == SURRENDERED:
            kept, lost = map(float, self.at_natural)
            moments += np.array([[kept - lost], [kept**2 - lost**2]]) * float(self.column.natural_odds)
        return moments

    def mix(self, parts: list[tuple[Number, Array]]) -> Array:
        return sum((p * ev for p, ev in parts), start=np.zeros((2, len(self.column.probabilities))))

    def plus(self, one: Array, other: Array) -> Array:
        return np.array([one[0] + other[0], one[1] + 2 * one[0] * other[0] + other[1]])

    def endless(self, again: Number, done: Array, whole: Array) -> Array:
        if 2 * again >= 1:
            return np.full_like(done, math.inf)
        mean = done[0] / (1 - 2 * again)
        return np.array([mean, (done[1] + 2 * again * mean * mean) / (1 - 2 * again)])

    def choose(self, node: Decision, legal: str) -> Array:
        return self.act(node.state, self.policy(node.state, self.column.label, legal))


def round_sd(automaton: Automaton, policy: Policy, tie_value: Number = 0, tied: Number = 0) -> float:
    """Return the standard deviation per round of the profit of a strategy, in initial bets.

    Where ties are replayed, it is that of the ratio net / (1 - tied) times the square root of the number of
    rounds (the delta method), as the standard error of a simulated value requires. `tie_value` is then the value
    of the game, per unit of the tied stake, and `tied` the mean stake tied per round; both are 0 else. The result
    is infinite if the value of the strategy is.
    """
    if tied >= 1 or not math.isfinite(tie_value):
        return math.inf
    mean = square = 0.0
    for column in Dealer(automaton).cases():
        nodes = round_nodes(column, automaton.rules, policy)
        outcomes = np.array([float(p) for p in column.probabilities.values()])
        first, second = Moments(automaton, column, policy, tie_value).together(nodes) @ outcomes
        bets = column.bets(policy)
        mean += float(column.probability) * float(first) * bets
        square += float(column.probability) * float(second) * bets**2
    if not math.isfinite(square):
        return math.inf  # endless splitting
    return math.sqrt(max(square - mean * mean, 0.0)) / (1 - float(tied))
