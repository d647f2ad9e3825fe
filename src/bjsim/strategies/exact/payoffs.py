"""The exact distribution of the profit of a round of any chart, in an infinite shoe.

As in `values.py`, the hands of a split are independent given the dealer's outcome, so the distributions of their
profits are convolved for each outcome, and mixed over the outcomes last. Bonuses that go by suits are paid as they are,
not by their means.
"""

import math
from collections import defaultdict
from fractions import Fraction

import numpy as np

from bjsim.arrays import Array
from bjsim.errors import InputError
from bjsim.sim.game.automaton import Automaton, Decision, Finished
from bjsim.sim.game.hand_states import SURRENDERED
from bjsim.sim.values.backward import MergedBackward
from bjsim.strategies.charts.chart import Chart
from bjsim.strategies.exact.solver import Solver
from bjsim.strategies.exact.values import Column, Dealer, Number, Policy, natural_profits, round_nodes


class Payoffs(MergedBackward[Array]):
    """Values are float64 (outcomes, 2 W + 1): probabilities of profits of -W to W units, by dealer's outcome."""

    def __init__(self, automaton: Automaton, column: Column, policy: Policy, unit: Fraction) -> None:
        super().__init__(automaton.against(column.label), Fraction)
        self.column, self.policy, self.unit = column, policy, unit
        self.at_natural = natural_profits(column, automaton.rules, policy)
        rules, scheme = automaton.rules, automaton.rules.scheme
        melds = scheme.melds if scheme.suited else ()
        self.spreads = {scheme.mean(meld, rules.decks): scheme.spread(meld, rules.decks) for meld in melds}

    def leaf(self, node: Finished) -> Array:
        profits, bonus = self.profits(node, self.column.probabilities), Fraction(node.result.bonus)
        spread = {pays * node.stake: p for pays, p in self.spreads.get(bonus, {bonus: Fraction(1)}).items()}
        paid = [spread if each == bonus * node.stake else {each: Fraction(1)} for each in profits]
        moved = [*map(self._units, self.at_natural)] if node.result == SURRENDERED else []
        width = max(map(abs, [*moved, *(self._units(profit) for each in paid for profit in each)]), default=0)
        value = np.zeros((len(paid), 2 * width + 1))
        for row, each in zip(value, paid, strict=True):
            for profit, p in each.items():
                row[width + self._units(profit)] += float(p)
        for place, sign in zip(moved, (1, -1), strict=False):
            value[:, width + place] += sign * float(self.column.natural_odds)
        return value

    def _units(self, profit: Fraction) -> int:
        units = profit / self.unit
        assert units.denominator == 1
        return int(units)

    def mix(self, parts: list[tuple[Number, Array]]) -> Array:
        total = np.zeros((len(self.column.probabilities), max(value.shape[1] for _, value in parts)))
        for p, value in parts:
            more = (total.shape[1] - value.shape[1]) // 2
            total[:, more : total.shape[1] - more] += float(p) * value
        return total

    def plus(self, one: Array, other: Array) -> Array:
        return np.stack([np.convolve(*pair) for pair in zip(one, other, strict=True)])

    def endless(self, again: Number, done: Array, whole: Array) -> Array:
        raise InputError("max_hands: without a limit, the profit of a round is not bounded; give a whole number")

    def choose(self, node: Decision, legal: str) -> Array:
        return self.act(node.state, self.policy(node.state, self.column.label, legal))


def round_payoffs(solver: Solver, chart: Chart) -> dict[Fraction, float]:
    """Return profit in initial bets -> probability of a round in an infinite shoe, ascending.

    The number of hands must have a limit, and ties must not be replayed.
    """
    rules = solver.rules.replace(bonuses="none") if solver.rules.scheme.suited else solver.rules
    unit = Fraction(1, math.lcm(rules.unit.denominator, 4))
    profits: dict[Fraction, float] = defaultdict(float)
    for column in Dealer(solver.states).cases():
        found = Payoffs(solver.states, column, chart.policy, unit)
        value = found.together(round_nodes(column, solver.rules, chart.policy))
        chances = np.array([float(p) for p in column.probabilities.values()]) @ value
        for place, p in enumerate(chances.tolist()):
            profits[column.bets(chart.policy) * unit * (place - len(chances) // 2)] += float(column.probability) * p
    return {profit: p for profit, p in sorted(profits.items()) if abs(p) > 1e-18}
