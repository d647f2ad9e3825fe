"""The exact solver: the best chart of a game in an infinite shoe, and the exact value of any chart.

    value = sum over columns, starts of P(column) P(start) value(start | column)  +  dealer's naturals peeked at

over `float` or `fractions.Fraction` by the same code. Where ties are replayed the value of the game is
V = net / (1 - tied): a tied bet is dealt again, so it is worth V per stake. The best policy for that objective is
found by an outer fixed point: solve with ties worth V, take the new policy's V, until V stays (Dinkelbach 1967;
it ends, since V only grows and policies are finite in number).

Sources: seed 000; Griffin, The Theory of Blackjack (1999), chapter 11.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from bjsim.sim.game.rules import Rules
from bjsim.sim.game.states import DEALER_NATURAL, HandState, States
from bjsim.strategies.charts.chart import Chart
from bjsim.strategies.charts.rows import row_order
from bjsim.strategies.exact.moments import round_sd
from bjsim.strategies.exact.values import Column, Dealer, Means, Number, Policy

FINITE_DECKS = (
    "Solver(rules).value is the value in an infinite shoe, and these rules have finite decks, where it differs; "
    "play(rules, ...) measures it there, and Solver.infinite_shoe_value does not warn"
)


@dataclass(frozen=True)
class Worth:
    """What a strategy is worth: expected profit and stake tied per round, and their value of the game, in initial
    bets. Only replayed ties count as tied."""

    net: Number
    tied: Number

    @property
    def value(self) -> Number:
        """Expected profit per settled bet: net / (1 - tied)."""
        return self.net / (1 - self.tied) if self.tied else self.net


class Solver:
    """All exact answers about one game in an infinite shoe, computed when asked for.

    number: `float` or `Fraction`.
    """

    def __init__(self, rules: Rules, number: type = float) -> None:
        self.rules = rules
        self.number = number
        self.states = States(rules)
        self.dealer = Dealer(self.states, number)
        self.columns = self.dealer.columns()
        self._starts = [(start, number(p)) for start, p in self.states.starts.items()]
        self._best_means: dict[tuple[str, Number], Means] = {}

    def __reduce__(self) -> tuple[type[Solver], tuple[Rules, type]]:
        return Solver, (self.rules, self.number)

    def __repr__(self) -> str:
        return f"Solver({self.rules}, {self.number.__name__})"

    def means(self, column: Column, tie_value: Number, letter: Policy | None = None) -> Means:
        """The value of every hand against one column; without `letter`, under the best strategy for that tie value."""
        if letter is not None:
            return Means(self.states, column, tie_value, letter)
        key = column.label, tie_value
        if key not in self._best_means:
            self._best_means[key] = Means(self.states, column, tie_value)
        return self._best_means[key]

    def column_total(self, column: Column, tie_value: Number, letter: Policy | None) -> Number:
        """What one column adds to the expected profit of a round, ties worth `tie_value`."""
        means = self.means(column, tie_value, letter)
        parts = [p * means.value(start) for start, p in self._starts]
        total: Number = column.probability * sum(parts, start=self.number(0))
        return total

    def _total(self, tie_value: Number, letter: Policy | None) -> Number:
        """Expected profit of a round, ties worth `tie_value`."""
        number, states = self.number, self.states
        total: Number = sum(self.column_total(column, tie_value, letter) for column in self.columns.values())
        ended = self.dealer.peeked_natural()
        for start, p in self._starts:
            net, tied = states.settle(states.result(start), 1, DEALER_NATURAL)
            total += ended * p * (number(net) + tied * tie_value)
        return total

    def worth(self, letter: Policy) -> Worth:
        """What the strategy `letter` (a chart's) is worth."""
        net = self._total(self.number(0), letter)
        tied = self._total(self.number(1), letter) - net if self.rules.ties == "replay" else self.number(0)
        return Worth(net, tied)

    def sd(self, letter: Policy, worth: Worth | None = None) -> float:
        """Standard deviation of a round under the strategy `letter`; see `round_sd`. worth: its worth, if known."""
        worth = self.worth(letter) if worth is None else worth
        return round_sd(self.states, letter, worth.value, worth.tied)

    @property
    def value(self) -> Number:
        """The value of the game in an infinite shoe; a warning says so where the rules have finite decks."""
        if not self.rules.infinite:
            warnings.warn(FINITE_DECKS, stacklevel=2)
        return self.infinite_shoe_value

    @cached_property
    def infinite_shoe_value(self) -> Number:
        """The value of the game: expected profit per bet under the best strategy. It may be `inf`."""
        return self.tie_value if self.rules.ties == "replay" else self._total(self.number(0), None)

    @cached_property
    def chart(self) -> Chart:
        """The best chart."""
        return self._best_chart(self.tie_value)

    @cached_property
    def tie_value(self) -> Number:
        """What a tied bet is worth under the best strategy: the value of the game if ties are replayed, else 0."""
        zero: Number = self.number(0)
        if self.rules.ties != "replay":
            return zero
        value = self.worth(self._best_letter(zero)).value
        rounding = 0 if self.number is Fraction else 1e-15
        while self._total(value, None) > value + rounding:  # a tied bet worth this much would win more than this
            better = self.worth(self._best_letter(value)).value
            if better <= value:
                break
            value = better
        return value

    def _best_letter(self, tie_value: Number) -> Policy:
        """The best strategy for ties worth `tie_value`, hand by hand."""

        def letter(state: HandState, label: str, legal: str) -> str:
            means = self.means(self.columns[label], tie_value)
            return max(legal, key=lambda action: means.act(state, action))

        return letter

    @cached_property
    def best(self) -> dict[str, Means]:
        """The value of every hand under the best strategy, by column label."""
        return {label: self.means(column, self.tie_value) for label, column in self.columns.items()}

    def _best_chart(self, tie_value: Number) -> Chart:
        cells = {}
        for label, column in self.columns.items():
            means = self.means(column, tie_value)
            for row, state in self.situations.items():
                cells[row, label] = best_code(means, state)
        return Chart(
            "optimal", self.rules, cells, source="computed by dynamic programming (bjsim.strategies.exact.solver)"
        )

    @cached_property
    def situations(self) -> dict[str, HandState]:
        """For every row of a chart, in order, the hand with the most choices that is looked up there."""
        choices: dict[str, HandState] = {}
        for state in self.states.reachable():
            for known in (state, state._replace(rank=-1)):
                row = self.states.rows_of(known)[0]
                letters = self.states.legal(known)
                if letters and (row not in choices or len(letters) > len(self.states.legal(choices[row]))):
                    choices[row] = known
        return {row: choices[row] for row in sorted(choices, key=row_order)}

    @cached_property
    def infinite_at(self) -> tuple[str, str] | None:
        """The hand and dealer's card at which endless splitting makes the value of the game infinite, if any."""
        if self.rules.max_hands != math.inf:
            return None
        for label, means in self.best.items():
            for row, state in self.situations.items():
                if means.value(state) == math.inf and "P" in self.states.legal(state):
                    return row, label
        return None


def best_code(means: Means, state: HandState) -> str:
    """The chart code of the best action for a hand; the first of S H D P R where some are equally good."""
    legal = means.states.legal(state)
    worth = {letter: means.act(state, letter) for letter in legal}
    best = max(legal, key=lambda letter: worth[letter])
    if best in "DR":
        return best + ("s" if worth["S"] >= worth["H"] else "h")
    return best
