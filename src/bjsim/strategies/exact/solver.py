"""The exact solver: the best chart of a game in an infinite shoe, and the exact value of any chart.

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
import warnings
from fractions import Fraction
from functools import cached_property

from bjsim.errors import InputError
from bjsim.sim.game.actions import INSURANCE
from bjsim.sim.game.automaton import Automaton
from bjsim.sim.game.hand_states import HandState
from bjsim.sim.game.rules import Rules
from bjsim.strategies.charts.chart import Chart, full_code
from bjsim.strategies.charts.rows import row_order
from bjsim.strategies.exact.moments import round_sd
from bjsim.strategies.exact.values import Column, Dealer, ExpectedValue, Means, Number, Policy

FINITE_DECKS = (
    "Solver(rules).value is the value in an infinite shoe, but these rules have finite decks; "
    "ShoeSolver(rules).value is the value in finite decks, and Solver.infinite_shoe_value does not warn"
)


class Solver:
    """Exact values and best play of one game in an infinite shoe, computed on demand.

    Args:
        rules: The game; its number of decks is ignored.
        number: The type of all values: `float` or `fractions.Fraction`.

    Attributes:
        states: The hands of the game and their legal actions.
        dealer: The dealer's hands and their probabilities.
        cases: What the dealer may have before the first decision, dealt naturals included, with probabilities.
        columns: What the dealer may show, by label.
    """

    def __init__(self, rules: Rules, number: type = float) -> None:
        self.rules = rules
        self.number = number
        self.states = Automaton(rules)
        self.dealer = Dealer(self.states, number)
        self.cases = self.dealer.cases()
        self.columns = {column.label: column for column in self.cases if column.label}
        self._best_means: dict[tuple[str, bool, Number], Means] = {}

    def __reduce__(self) -> tuple[type[Solver], tuple[Rules, type]]:
        return Solver, (self.rules, self.number)

    def __repr__(self) -> str:
        return f"Solver({self.rules}, {self.number.__name__})"

    def means(self, column: Column, tie_value: Number, policy: Policy | None = None) -> Means:
        """The value of every hand against one column of the dealer.

        Args:
            column: What the dealer shows.
            tie_value: Value of a tied stake, per unit of the stake.
            policy: The strategy; None for the best one at that tie value.

        Returns:
            Values in initial bets, by hand.
        """
        if policy is not None:
            return Means(self.states, column, tie_value, policy)
        key = column.label, column.insurable, tie_value
        if key not in self._best_means:
            self._best_means[key] = Means(self.states, column, tie_value)
        return self._best_means[key]

    def column_total(self, column: Column, tie_value: Number, policy: Policy | None) -> Number:
        """The part of the expected profit of a round that one column contributes.

        Args:
            column: What the dealer shows.
            tie_value: Value of a tied stake, per unit of the stake.
            policy: The strategy; None for the best one at that tie value.

        Returns:
            Probability of the column times expected profit against it, in initial bets.
        """
        total: Number = column.probability * self.means(column, tie_value, policy).round_value()
        return total

    def _total(self, tie_value: Number, policy: Policy | None) -> Number:
        """Expected profit of a round; arguments as for `means`."""
        return sum(self.column_total(column, tie_value, policy) for column in self.cases)

    def ev(self, policy: Policy) -> ExpectedValue:
        """The exact expected value of a strategy.

        Args:
            policy: The strategy, such as `chart.policy`.

        Returns:
            Expected profit and tied stake per round; its `value` is the profit per settled bet.
        """
        net = self._total(self.number(0), policy)
        if self.rules.ties != "replay" or not math.isfinite(net):  # an infinite profit has no finite tied part
            return ExpectedValue(net, self.number(0))
        return ExpectedValue(net, self._total(self.number(1), policy) - net)

    def value_of(self, chart: Chart) -> Number:
        """The exact value of a chart: expected profit per settled bet, in initial bets.

        Args:
            chart: The strategy.

        Returns:
            The value; `inf` as `ExpectedValue.value` says.
        """
        return self.ev(chart.policy).value

    def sd_of(self, chart: Chart) -> float:
        """The exact standard deviation of a chart; where ties are replayed, that of the return per settled bet.

        Args:
            chart: The strategy.

        Returns:
            Standard deviation per round, in initial bets.
        """
        ev = self.ev(chart.policy)
        return round_sd(self.states, chart.policy, ev.value, ev.tied)

    def hand_values(self, cards: str, shown: str, *, pair: bool = True) -> dict[str, Number]:
        """Return the value of each action for one hand, followed by best play.

        Args:
            cards: The hand's cards, such as `"T6"`.
            shown: The dealer's upcard, or both cards if both are shown.
            pair: Whether two equal cards may be split.

        Returns:
            Expected profit in initial bets by letter of the action, given that no dealer's natural has ended the round.
            A hand that stands automatically has only `S`.

        Raises:
            InputError: The cards are not a hand to decide on, or the dealer cannot show these.
        """
        try:
            state, label = self.chart.find_state(cards, False), self.states.column(shown)
        except ValueError as error:
            raise InputError(str(error)) from None
        if len(cards) < 2 or state.points > 21:
            raise InputError(f"{cards} is not a hand to decide on; give two or more cards that total at most 21")
        if label not in self.columns or len(shown) != 1 + (self.rules.dealer_shows == "both"):
            raise InputError(f"the dealer cannot show {shown!r} before a decision in {self.rules}")
        state = state if pair else state._replace(rank=-1)
        return {letter: self.best[label].act(state, letter) for letter in self.states.legal(state) or "S"}

    @cached_property
    def sd(self) -> float:
        """The standard deviation of a round with the best chart, in initial bets."""
        return self.sd_of(self.chart)

    @property
    def value(self) -> Number:
        """The value of the game in an infinite shoe, in initial bets; warns if the rules have finite decks."""
        if not self.rules.infinite:
            warnings.warn(FINITE_DECKS, stacklevel=2)
        return self.infinite_shoe_value

    @cached_property
    def infinite_shoe_value(self) -> Number:
        """The value of the game: expected profit per settled bet under the best strategy, in initial bets.

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
        """Value of a tied bet under the best strategy: the value of the game if ties are replayed, else 0.

        If the value of the game is infinite, a finite tie value at which best play ties at least as many bets as are
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
        """The best strategy for that tie value, hand by hand."""

        def policy(state: HandState, label: str, legal: str) -> str:
            if legal == INSURANCE:
                return "I" if 3 * self.rules.ten_probability > 1 else "S"
            means = self.means(self.columns[label], tie_value)
            return max(legal, key=lambda action: means.act(state, action))

        return policy

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
        insurance = "I" if self.rules.insurance and 3 * self.rules.ten_probability > 1 else "S"
        source = "computed by dynamic programming (bjsim.strategies.exact.solver)"
        return Chart("optimal", self.rules, cells, source, insurance)

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
    def infinite_at(self) -> tuple[str, str] | None:
        """The row and column at which endless splitting makes the value of the game infinite; None if there is none."""
        if self.rules.most_hands != math.inf:
            return None
        for label, means in self.best.items():
            for row, state in self.situations.items():
                if means.value(state) == math.inf and "P" in self.states.legal(state):
                    return row, label
        return None

    @cached_property
    def infinite_because(self) -> str:
        """Why the value of the game is infinite, as a message; empty if it is finite."""
        if self.infinite_at:
            hand, shown = self.infinite_at
            return f"the value is infinite: resplitting {hand} against {shown} pays without limit"
        if self.infinite_shoe_value == math.inf:
            return "the value is infinite: split hands tie more bets than were dealt, and ties are replayed"
        return ""


def best_code(means: Means, state: HandState) -> str:
    """The chart code of the best action for a hand; the first of S H D P R where some are equally good."""
    legal = means.automaton.legal(state)
    ev = {action: means.act(state, action) for action in legal}
    return full_code(max(legal, key=ev.__getitem__), ev)
