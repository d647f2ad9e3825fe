"""Best play of a game in an infinite shoe, and the expected value of any strategy, by dynamic programming.

    value = sum over columns, starts of P(column) P(start) value(start | column)

where a dealer's natural found by peeking is one more column.

The same code computes with `float` or `fractions.Fraction`. Where ties are replayed the value of the game is
V = net / (1 - tied), since a tied bet has the value V per stake. The best policy for that objective is the solution of
an outer fixed point: solve with the tie value V, take the V of the resulting policy, and repeat until V is constant
([Dinkelbach]; the iteration ends because V only grows and policies are finite in number). Split hands may tie more
than the bet they came from: under a policy with tied >= 1 the number of bets never falls, and its value is infinite.

Sources: [Easy]; [Griffin], chapter 11.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property

from bjsim.sim.game.actions import ATTACK, INSURANCE
from bjsim.sim.game.automaton import Automaton
from bjsim.sim.game.hand_states import HandState
from bjsim.sim.game.rules import Rules
from bjsim.strategies.charts.chart import Chart, full_code
from bjsim.strategies.charts.rows import row_order
from bjsim.strategies.exact.exchange import ExchangeAutomaton
from bjsim.strategies.exact.values import BestMeans, Column, Dealer, ExpectedValue, Means, Number, Policy
from bjsim.sums import add_up


class BestPlay:
    """The values of hands and strategies in an infinite shoe, computed on demand, of type `number`.

    The number of decks in `rules` is ignored, but for the suits of three sevens in Spanish 21. `cases` are what
    the dealer may have before the first decision, dealt naturals included, with probabilities.
    """

    def __init__(self, rules: Rules, number: type = float) -> None:
        self.rules = rules
        self.number = number
        self.states = Automaton(rules) if rules.exchange == "none" else ExchangeAutomaton(rules)
        self.dealers_play = Dealer(self.states, number)
        self.cases = self.dealers_play.cases()
        self.columns = {column.label: column for column in self.cases if column.label}
        self._best_means: dict[tuple[type, str, bool, Number], Means] = {}

    def means(
        self, column: Column, tie_value: Number, policy: Policy | None = None, kind: type[Means] = Means
    ) -> Means:
        """Return the value of every hand against one column, in initial bets.

        `tie_value` is per unit of the tied stake; without a `policy`, the best one at that tie value is followed: with
        `BestMeans` best play, else that of players who split every pair again, as charts do.
        """
        if policy is not None:
            return Means(self.states, column, tie_value, policy)
        key = kind, column.label, column.insurable, tie_value
        if key not in self._best_means:
            self._best_means[key] = kind(self.states, column, tie_value)
        return self._best_means[key]

    def column_total(self, column: Column, tie_value: Number, policy: Policy | None) -> Number:
        """Expected profit against one column times its probability; arguments as for `means`."""
        bets = column.bets(policy) if policy else 1 + (column.upcard in self.attacked)
        means = self.means(column, tie_value, policy, BestMeans)
        total: Number = bets * column.probability * means.round_value()
        return total

    @cached_property
    def upcards(self) -> dict[str, tuple[Number, Number]]:
        """Where a bet may be doubled before the deal: the probability of each upcard, and that times what it wins."""
        found: dict[str, tuple[Number, Number]] = {}
        for case in self.cases if self.rules.attack else ():
            total = case.probability * self.means(case, self.number(0)).round_value()
            before = found.get(case.upcard, (0, 0))
            found[case.upcard] = before[0] + case.probability, before[1] + total
        return found

    @cached_property
    def attacked(self) -> tuple[str, ...]:
        """The upcards against which it is best to double the bet before the deal."""
        return tuple(upcard for upcard, (_, total) in self.upcards.items() if total > 0)

    def _total(self, tie_value: Number, policy: Policy | None) -> Number:
        return add_up(self.column_total(column, tie_value, policy) for column in self.cases)

    def ev(self, policy: Policy) -> ExpectedValue:
        """Expected profit and tied stake per round of a strategy, such as `chart.policy`."""
        net = self._total(self.number(0), policy)
        if self.rules.ties != "replay" or not math.isfinite(net):  # an infinite profit has no finite tied part
            return ExpectedValue(net, self.number(0))
        return ExpectedValue(net, self._total(self.number(1), policy) - net)

    @cached_property
    def value(self) -> Number:
        """The value of the best chart: expected profit per settled bet, in initial bets; it may be `inf`."""
        return self.ev(self.chart.policy).value

    @cached_property
    def best_value(self) -> Number:
        """The value of best play, which may tell apart hands that share a row of a chart; see `beyond_chart`.

        It may be `inf`. Where ties are replayed, the best strategy may differ between one replay and the next, so there
        are games of infinite value in which no single chart reaches that value.
        """
        return self._replayed[1] if self.rules.ties == "replay" else self._total(self.number(0), None)

    @cached_property
    def chart(self) -> Chart:
        """The best chart of the game in an infinite shoe."""
        return self._best_chart(self.tie_value)

    @cached_property
    def tie_value(self) -> Number:
        """Value of a tied bet under best play: `best_value` if ties are replayed, else 0.

        If that is infinite, a finite tie value at which best play ties at least as many bets as are
        dealt.
        """
        zero: Number = self.number(0)
        return self._replayed[0] if self.rules.ties == "replay" else zero

    @cached_property
    def _replayed(self) -> tuple[Number, Number]:
        """Where ties are replayed: `tie_value`, and the value of the game.

        Let f(v) be the best expected profit of a round with the tie value v; its slope is the stake tied by that play.
        If ties are replayed at most n times, the value of the game is f(f(.. f(0))), so without that limit it is the
        first fixed point of f from 0 in the direction of f(0). As f is convex, each step goes to the fixed point of a
        tangent, which is the value of one strategy and never overshoots. A tangent above v with slope 1 or more shows
        that there is no fixed point.
        """
        value, is_reached = self.number(0), False  # is_reached: some strategy has this value, so f(value) >= value
        while True:
            excess = self._total(value, None) - value
            rounding = 0 if self.number is Fraction else 1e-15 * max(1, abs(value))
            if abs(excess) <= rounding or (is_reached and excess < 0):  # excess < 0 can only be rounding
                return value, value
            if excess == math.inf:
                return value, excess
            best = self.ev(self._best_policy(value))
            if best.tied < 1:
                if is_reached and best.value <= value:  # again rounding
                    return value, value
                value, is_reached = best.value, True
            elif excess > 0:
                return value, math.inf
            else:  # these ties cost more than they return: continue at a lower tie value
                value = 2 * value - 1

    def _best_policy(self, tie_value: Number) -> Policy:
        def policy(state: HandState, label: str, legal: str) -> str:
            if legal == ATTACK:
                return "A" if label in self.attacked else "S"
            if legal == INSURANCE:
                return "I" if 3 * self.rules.ten_probability > 1 else "S"
            means = self.means(self.columns[label], tie_value)
            return max(legal, key=lambda action: means.act(state, action))

        return policy

    @cached_property
    def best(self) -> dict[str, Means]:
        """The value of every hand under the best strategy, by column label."""
        return {label: self.means(each, self.tie_value, None, BestMeans) for label, each in self.columns.items()}

    @property
    def followed(self) -> dict[str, Means]:
        """The value of every hand under the best play of those who split every pair again, by column label."""
        return {label: self.means(column, self.tie_value) for label, column in self.columns.items()}

    def _best_chart(self, tie_value: Number) -> Chart:
        cells = {}
        for label, column in self.columns.items():
            means = self.means(column, tie_value)
            for row, state in self.situations.items():
                cells[row, label] = best_code(means, state)
        insurance = "I" if self.rules.insurance and 3 * self.rules.ten_probability > 1 else "S"
        source = "computed by dynamic programming (bjsim.strategies.exact.solver)"
        return Chart("optimal", self.rules, cells, source, insurance, "".join(self.attacked))

    @cached_property
    def situations(self) -> dict[str, HandState]:
        """For every row of a chart, in order, the hand with the most legal actions among those looked up there."""
        choices: dict[str, HandState] = {}
        for state in self.states.reachable():
            for known in (state, state._replace(rank=-1)):
                row = self.states.rows_of(known)[0]
                letters = self.states.legal(known)
                if letters and (row not in choices or len(letters) > len(self.states.legal(choices[row]))):
                    choices[row] = known
        return {row: choices[row] for row in sorted(choices, key=row_order)}

    @cached_property
    def infinite_because(self) -> str:
        """Why the value of the game is infinite, as a message; empty if it is finite."""
        for label, means in self.best.items() if self.rules.most_hands == math.inf else ():
            for row, state in self.situations.items():
                if means.value(state) == math.inf and "P" in self.states.legal(state):
                    return f"the value is infinite: resplitting {row} against {label} pays without limit"
        if self.best_value == math.inf:
            return "the value is infinite: split hands tie more bets than were dealt, and ties are replayed"
        return ""


def best_code(means: Means, state: HandState) -> str:
    """The chart code of the best action for a hand; the first of S H D P R where some are equally good."""
    legal = means.automaton.legal(state)
    ev = {action: means.act(state, action) for action in legal}
    return full_code(max(legal, key=ev.__getitem__), ev)
