"""The exact solver: the best chart of a game in an infinite shoe, and the exact value of any chart.

    value = sum over columns, starts of P(column) P(start) value(start | column)  +  dealer's naturals peeked at

over `float` or `fractions.Fraction` by the same code. Where ties are replayed the value of the game is
V = net / (1 - tied): a tied bet is dealt again, so it is worth V per stake. The best policy for that objective is
found by an outer fixed point: solve with ties worth V, take the new policy's V, until V stays (Dinkelbach 1967;
it ends, since V only grows and policies are finite in number). Split hands may tie more than the one bet they came
from: a policy with tied >= 1 begets bets without end, and its value is infinite.

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
class ExpectedValue:
    """What a strategy is worth: expected profit and stake tied per round, and their value of the game, in initial
    bets. Only replayed ties count as tied."""

    net: Number
    tied: Number

    @property
    def value(self) -> Number:
        """Expected profit per settled bet: net / (1 - tied).

        It is infinite, with the sign of `net`, where at least as many bets are tied as were dealt: their number never
        falls, and each round of them adds `net` for each.
        """
        if self.tied < 1:
            return self.net / (1 - self.tied) if self.tied else self.net
        return math.copysign(math.inf, self.net) if self.net else self.net


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

    def ev(self, letter: Policy) -> ExpectedValue:
        """What the strategy `letter` (a chart's) is worth."""
        net = self._total(self.number(0), letter)
        if self.rules.ties != "replay" or not math.isfinite(net):  # of an endless split's profit no part is told
            return ExpectedValue(net, self.number(0))
        return ExpectedValue(net, self._total(self.number(1), letter) - net)

    def sd(self, letter: Policy, ev: ExpectedValue | None = None) -> float:
        """Standard deviation of a round under the strategy `letter`; see `round_sd`. worth: its worth, if known."""
        ev = self.ev(letter) if ev is None else ev
        return round_sd(self.states, letter, ev.value, ev.tied)

    @property
    def value(self) -> Number:
        """The value of the game in an infinite shoe; a warning says so where the rules have finite decks."""
        if not self.rules.infinite:
            warnings.warn(FINITE_DECKS, stacklevel=2)
        return self.infinite_shoe_value

    @cached_property
    def infinite_shoe_value(self) -> Number:
        """The value of the game: expected profit per bet under the best strategy. It may be `inf`.

        Where ties are replayed it is what play may choose anew for every generation of bets, so there are games of
        infinite value in which no one chart reaches it.
        """
        return self._replayed[1] if self.rules.ties == "replay" else self._total(self.number(0), None)

    @cached_property
    def chart(self) -> Chart:
        """The best chart."""
        return self._best_chart(self.tie_value)

    @cached_property
    def tie_value(self) -> Number:
        """What the best strategy takes a tied bet to be worth: if ties are replayed the value of the game, else 0.

        Where that is infinite, it is a finite worth at which best play ties as many bets as it is dealt, or more.
        """
        zero: Number = self.number(0)
        return self._replayed[0] if self.rules.ties == "replay" else zero

    @cached_property
    def _replayed(self) -> tuple[Number, Number]:
        """Where ties are replayed: `tie_value`, and the value of the game.

        Let f(v) be the best profit of a round whose ties are worth v; its slope is what that play ties. With ties dealt
        again n times at most the game is worth f(f(.. f(0))), so its value is the first fixed point of f on the side of
        0 to which f(0) lies. f is convex, so each step goes to the fixed point of a tangent, which is a strategy's own
        value and never beyond; a tangent that rises as fast as v, above it, shows that there is no fixed point.
        """
        value, is_reached = self.number(0), False  # is_reached: some strategy has this value, so f(value) >= value
        while True:
            variance_reduction = self._total(value, None) - value
            rounding = 0 if self.number is Fraction else 1e-15 * max(1, abs(value))
            if abs(variance_reduction) <= rounding or (is_reached and variance_reduction < 0):
                return value, value
            if variance_reduction == math.inf:
                return value, variance_reduction
            best = self.ev(self._best_letter(value))
            if best.tied < 1:
                if is_reached and best.value <= value:  # for the same reason: rounding
                    return value, value
                value, is_reached = best.value, True
            elif variance_reduction > 0:
                return value, math.inf
            else:  # to tie so many costs more than it brings: look where ties cost more
                value = 2 * value - 1

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

    @cached_property
    def infinite_because(self) -> str:
        """Why the value of the game is infinite, in words; empty if it is not."""
        if self.infinite_at:
            hand, shown = self.infinite_at
            return f"splitting {hand} against {shown} again and again is worth more than any number"
        if self.infinite_shoe_value == math.inf:
            return "split hands tie more bets than they came from, all dealt again: it is worth more than any number"
        return ""


def best_code(means: Means, state: HandState) -> str:
    """The chart code of the best action for a hand; the first of S H D P R where some are equally good."""
    legal = means.states.legal(state)
    ev = {letter: means.act(state, letter) for letter in legal}
    best = max(legal, key=lambda letter: ev[letter])
    if best in "DR":
        return best + ("s" if ev["S"] >= ev["H"] else "h")
    return best
