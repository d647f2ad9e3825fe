"""The exact standard deviation per round of any chart, in an infinite shoe.

The hands of a split share one dealer, so they are dependent, but they are independent given the dealer's outcome. The
first two moments of each hand are therefore computed for each outcome of the dealer, and mixed over the outcomes last.
"""

from __future__ import annotations

import math

import numpy as np

from bjsim.arrays import Array
from bjsim.sim.game.automaton import Automaton, Decision, Finished
from bjsim.sim.game.hand_states import SURRENDERED
from bjsim.sim.values.backward import MergedBackward
from bjsim.strategies.exact.values import Column, Dealer, Number, Policy, round_nodes


class Moments(MergedBackward[Array]):
    """Values are float64 (2, outcomes): mean and mean square of the profit in initial bets, by dealer's outcome."""

    def __init__(self, automaton: Automaton, column: Column, policy: Policy, tie_value: Number) -> None:
        super().__init__(automaton.against(column.label), tie_value=float(tie_value))
        self.column = column
        self.policy = policy

    def leaf(self, node: Finished) -> Array:
        evs = self.profits(node, self.column.probabilities)
        moments = np.array([evs, [ev * ev for ev in evs]])
        if node.result == SURRENDERED:  # where the dealer has a natural, the profit is -1/2 instead of -1
            moments += np.array([[1 / 2], [-3 / 4]]) * float(self.column.natural_odds)
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
