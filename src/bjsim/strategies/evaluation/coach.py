"""`Coach`: the exact cost of single decisions, made by anyone.

A hand has the values of `Solution.view_values`. A finite shoe is full except for the cards of the hand and what the
dealer shows, and play afterwards is best for all cards of the hand.

A decision before the dealer looks for a natural (insurance, and those of `precedes_look`) has its value with that
natural included; all others are given that there is none, where the dealer looks.

The best chart may play a hand of a finite shoe differently from what is best for exactly its cards. It is not a mistake
to follow it.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from bjsim.errors import InputError
from bjsim.sim.game.actions import ATTACK, EXCHANGE, INSURANCE, Action, View
from bjsim.sim.game.cards import TEN
from bjsim.sim.game.events import format_decks
from bjsim.sim.game.rules import Rules
from bjsim.strategies.evaluation.compare import solve
from bjsim.strategies.shoe.exchange import exchange_values, seat_values
from bjsim.strategies.shoe.present import unseen_of
from bjsim.sums import add_up

TIE = 1e-12  # initial bets; a smaller difference is rounding


@dataclass(frozen=True)
class Judgement:
    """A decision compared with the best one; `action` and `chart` (the best chart's action) are letters.

    `values` are the expected profits of every legal action with best play afterwards, in initial bets, by
    letter. `cell` is the row and column of the chart; None for insurance, attacks and exchanges.
    """

    view: View
    action: str
    values: Mapping[str, float]
    chart: str
    cell: tuple[str, str] | None = None

    @property
    def best(self) -> str:
        """Letter of the best action: that of the chart, or the decision, where they are equally good."""
        highest = max(self.values.values())
        order = [self.chart, self.action, *self.values]
        return next(letter for letter in order if _loss(highest, self.values[letter]) <= TIE)

    @property
    def cost(self) -> float:
        """What the action loses compared with the best one, in initial bets; 0 if it is as good."""
        loss = _loss(max(self.values.values()), self.values[self.action])
        return loss if loss > TIE else 0.0

    @property
    def lost(self) -> float:
        """What the action loses with the stake on the hand, in initial bets."""
        return self.cost * self.view.stake / self.view.rules.buy_in

    @property
    def margin(self) -> float:
        """What the best action gains over the second best, in initial bets; `inf` if there is no other."""
        highest, *others = sorted(self.values.values(), reverse=True)
        return _loss(highest, others[0]) if others else math.inf

    @property
    def is_mistake(self) -> bool:
        """Whether the action costs something and is not that of the best chart."""
        return self.cost > 0 and self.action != self.chart


def _loss(highest: float, value: float) -> float:
    return 0.0 if highest == value else highest - value  # both may be infinite


class Coach:
    """Judges decisions by their exact values.

    A shoe that has no exact value is replaced by the infinite one; see `Solution.refusal`.
    """

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.solution = solve(rules)
        self.chart = self.solution.chart
        self.two_in_shoe = rules.bets > 1 and not rules.infinite

    @property
    def basis(self) -> str:
        """What the values are for, in words."""
        if not self.solution.infinite or self.two_in_shoe:
            return f"a full shoe of {format_decks(self.rules)} without your cards and the dealer's"
        refusal = self.solution.refusal
        return "an infinite shoe" + (f", as the finite one is not solved: {refusal}" if refusal else "")

    def judge(self, view: View, action: Action) -> Judgement | None:
        """Compare a decision with the best legal one; None if the decision or the hand has no exact value."""
        now = self.chart.states.situation(view)
        if view.legal == ATTACK:
            _, value = self.solution.attack_values()[now.column]
            return Judgement(view, action.letter, {"S": value, "A": 2 * value}, self.chart.policy(*now))
        if view.legal == INSURANCE:
            seen = view.hand + view.others + view.dealer
            left = unseen_of(self.rules, seen) if self.two_in_shoe else self.solution.unseen(view)
            return Judgement(view, action.letter, self._insurance_values(left), self.chart.insurance)
        if action.letter not in view.legal:
            return None
        try:
            if view.legal == EXCHANGE:
                values = exchange_values(self.rules, view.hand, view.others, view.dealer)
                return Judgement(view, action.letter, values, max("SX", key=values.__getitem__))
            found = seat_values(self.rules, view) if self.two_in_shoe else self.solution.view_values(view)
            values = {letter: float(ev) / now.bets for letter, ev in found.items()}
        except InputError:  # such as more cards of a rank than the shoe has, in a scripted one
            return None
        if action.letter not in values:
            return None
        chart = self.chart.policy(now.state, now.column, "".join(values))
        cell = self.chart.states.rows_of(now.state, "P" in values)[0], now.column
        return Judgement(view, action.letter, values, chart if chart in values else action.letter, cell)

    def _insurance_values(self, unseen: Sequence[float | Fraction]) -> dict[str, float]:
        """What insurance of all bets of a seat wins, given the unseen cards."""
        return {"S": 0.0, "I": self.rules.bets * float(3 * add_up(unseen[TEN:]) / add_up(unseen) - 1) / 2}
