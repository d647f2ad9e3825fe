"""Kelly: plays the best chart, and before it stands raises to the stake with the greatest expected growth."""

from __future__ import annotations

from fractions import Fraction

from bjsim.errors import InputError
from bjsim.sim.game.actions import STAND, Action, View, raise_by
from bjsim.sim.game.hand_states import Result
from bjsim.sim.game.presets import PRESETS
from bjsim.sim.game.rules import Rules
from bjsim.strategies.evaluation.best import best_chart
from bjsim.strategies.exact.solver import Solver


class Kelly:
    """A player for rules that let seats raise.

    Where its chart stands, standing wins b times the stake with probability p and loses it with probability q.
    Both are exact for the hand and the dealer's shown cards, in an infinite shoe. The expected logarithm of the
    chips is greatest if the share f = (p b - q) / (b (p + q)) of them is staked. The player raises to f times its
    chips and its stake on this hand, rounded down; if that is not more than its stake, it stands. Stakes on other
    hands of a split do not count.
    """

    name = "kelly"
    about = (
        "plays the chart of optimal, and raises by the exact chance to win before it stands; needs rules with raises"
    )
    source = "Kelly, A New Interpretation of Information Rate, Bell System Technical Journal 35 (1956)"

    def __init__(self, rules: Rules) -> None:
        if not rules.raises:
            games = ", ".join(name for name, preset in PRESETS.items() if preset.rules.raises)
            raise InputError(f"kelly raises its stake, which {rules.name} does not allow; games that do: {games}")
        self.rules = rules
        self.chart = best_chart(rules)
        self._columns = Solver(rules, Fraction).columns
        self._shares: dict[tuple[Result, str], Fraction] = {}

    def __deepcopy__(self, memo: object) -> Kelly:
        return self  # its only state is a cache

    def __reduce__(self) -> tuple[type[Kelly], tuple[Rules]]:
        return Kelly, (self.rules,)

    def decide(self, view: View) -> Action:
        """The chart's action, or a raise instead of a stand."""
        action = self.chart.decide(view)
        if action != STAND or "B" not in view.legal:
            return action
        result = self.chart.states.result(self.chart.find_state(view.hand, view.split, view.free))
        share = self.share(result, self.chart.states.column(view.dealer))
        extra = int(share * (view.stake + view.chips)) - view.stake
        return raise_by(extra) if extra > 0 else STAND

    def share(self, result: Result, column: str) -> Fraction:
        """The share of the chips to stake on a finished hand against a column; 0 or less means no raise."""
        key = result, column
        if key not in self._shares:
            wins = losses = paid = Fraction(0)
            for outcome, chance in self._columns[column].probabilities.items():
                profit, _ = self.chart.states.settle(result, 1, outcome)
                if profit > 0:
                    wins, paid = wins + Fraction(chance), profit
                elif profit < 0:
                    losses += Fraction(chance)
            self._shares[key] = (wins * paid - losses) / (paid * (wins + losses)) if wins else Fraction(-1)
        return self._shares[key]
