"""The exact distribution of the profit of a round of any chart, in an infinite shoe.

As in `moments.py`, the hands of a split are independent given the dealer's outcome, so the distributions of their
profits are convolved for each outcome, and mixed over the outcomes last. Bonuses that go by suits are paid as they are,
not by their means.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from bjsim.errors import InputError
from bjsim.sim.game.automaton import Automaton, Decision, Finished
from bjsim.sim.game.hand_states import MELDS, SURRENDERED, spanish_meld, spanish_melds
from bjsim.sim.values.backward import MergedBackward
from bjsim.strategies.charts.chart import Chart
from bjsim.strategies.exact.solver import Solver
from bjsim.strategies.exact.values import Column, Dealer, Number, Policy, round_nodes

Array = np.ndarray[Any, Any]


class Payoffs(MergedBackward[Array]):
    """Values are float64 (outcomes, 2 W + 1): probabilities of profits of -W to W units, by dealer's outcome."""

    def __init__(self, automaton: Automaton, column: Column, policy: Policy, unit: Fraction) -> None:
        super().__init__(automaton.against(column.label), Fraction)
        self.column, self.policy, self.unit = column, policy, unit
        self.bonuses = {}  # by their mean
        if (rules := automaton.rules).bonuses == "spanish":
            self.bonuses = {spanish_meld(meld, rules.decks): spanish_melds(meld, rules.decks) for meld in MELDS}

    def leaf(self, node: Finished) -> Array:
        paid = [self.bonuses.get(each, {each: 1}) for each in self.profits(node, self.column.probabilities)]
        width = max((abs(self._units(profit)) for each in paid for profit in each), default=0)
        value = np.zeros((len(paid), 2 * width + 1))
        for row, each in zip(value, paid, strict=True):
            for profit, p in each.items():
                row[width + self._units(profit)] += float(p)
        if node.result == SURRENDERED:  # where the dealer has a natural, the profit is -1/2 instead of -1
            odds, lost = float(self.column.natural_odds), self._units(Fraction(1))
            if odds:
                value = _widen(value, lost)
                centre = value.shape[1] // 2
                value[:, centre - lost // 2] += odds
                value[:, centre - lost] -= odds
        return value

    def _units(self, profit: Fraction) -> int:
        units = profit / self.unit
        assert units.denominator == 1
        return int(units)

    def mix(self, parts: list[tuple[Number, Array]]) -> Array:
        width = max(value.shape[1] // 2 for _, value in parts)
        return sum((float(p) * _widen(value, width) for p, value in parts), start=np.zeros(1))

    def plus(self, one: Array, other: Array) -> Array:
        return np.stack([np.convolve(*pair) for pair in zip(one, other, strict=True)])

    def endless(self, again: Number, done: Array, whole: Array) -> Array:
        raise InputError("max_hands: without a limit, the profit of a round is not bounded; give a whole number")

    def choose(self, node: Decision, legal: str) -> Array:
        return self.act(node.state, self.policy(node.state, self.column.label, legal))


def _widen(value: Array, width: int) -> Array:
    more = max(width - value.shape[1] // 2, 0)
    return np.pad(value, ((0, 0), (more, more)))


def round_payoffs(solver: Solver, chart: Chart) -> dict[Fraction, float]:
    """Return profit in initial bets -> probability of a round in an infinite shoe, ascending.

    The number of hands must have a limit, and ties must not be replayed.
    """
    solver.rules.need_one_hand("are not covered by the distribution of profits")
    if solver.rules.ties == "replay":
        raise InputError(
            "ties: a tied bet is replayed, so a single round has no profit distribution; use a game where ties push"
        )
    rules = solver.rules.replace(bonuses="none") if solver.rules.bonuses == "spanish" else solver.rules
    unit = Fraction(1, math.lcm(rules.unit.denominator, 4))
    total = np.zeros((1, 1))
    for column in Dealer(solver.states).cases():
        found = Payoffs(solver.states, column, chart.policy, unit)
        value = found.together(round_nodes(column, solver.rules, chart.policy))
        outcomes = np.array([float(p) for p in column.probabilities.values()])
        part = float(column.probability) * (outcomes @ value)[None]
        if column.bets(chart.policy) == 2:
            doubled = np.zeros((1, 2 * part.shape[1] - 1))
            doubled[:, ::2] = part
            part = doubled
        width = max(total.shape[1], part.shape[1]) // 2
        total = _widen(total, width) + _widen(part, width)
    centre = total.shape[1] // 2
    return {unit * (place - centre): float(p) for place, p in enumerate(total[0]) if abs(p) > 1e-18}
