"""The compiled rules and one seat's chart as an automaton, and the values of its nodes with slopes.

The flow of a round is that of `sim/game/automaton.py`; here the states of hands and of the dealer, and results, are
numbers in the arrays of the compiled rules. This module implements no rules. The luck model knows the hole card as soon
as it is dealt; the chart's decisions stay fixed.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from bjsim.sim.engine.kernels.layout import INSURE, NO_LIMIT, CompiledRules, payoff_parts
from bjsim.sim.game.actions import CODES
from bjsim.sim.game.automaton import DEAL, START, Automaton, Chance, Decision, Draw, Finished, Node
from bjsim.sim.game.hand_states import INSURED, ORIGINAL_BET, SURRENDERED, DealerState, HandState, Result
from bjsim.sim.game.rules import Rules
from bjsim.sim.values.dealer_index import DealerIndex
from bjsim.sim.values.slopes import Slopes

Array = np.ndarray[Any, Any]
WITH_INSURANCE = "with insurance"  # the purpose of a draw: none, the hand is dealt and takes insurance against an ace
LETTERS = np.array(["S", *CODES], np.bytes_)  # by code; a hand without a choice stands


def draw_probabilities(rules: Rules, compiled: CompiledRules) -> Array:
    """Probabilities of the ranks that the compiled rules distinguish, (Q,).

    The ten-valued ranks are combined if the rules treat them alike.
    """
    probabilities = [float(p) for p in rules.card_probabilities]
    alike = all((rows[:, 9:] == rows[:, 9:10]).all() for rows in (compiled.add, compiled.dealer_add))
    return np.array([*probabilities[:9], sum(probabilities[9:])] if alike else probabilities)


class CompiledAutomaton(Automaton):
    """The automaton of compiled rules and a chart.

    The `points` of a state and the `score` of a result are their numbers. The actions of a state are those that the
    chart takes, against any of the dealer's hands.

    Args:
        rules: The rules of the game.
        compiled: The compiled rules and charts.
        seat: The seat whose chart is played.
    """

    def __init__(self, rules: Rules, compiled: CompiledRules, seat: int) -> None:
        super().__init__(rules)
        self.compiled = compiled
        self.act = compiled.act[seat]

    def _add(self, state: HandState, rank: int) -> HandState:
        return state._replace(points=int(self.compiled.add[state.points, rank]), cards=min(state.cards + 1, 2))

    def _bare(self, state: HandState) -> HandState:
        return state

    def split(self, state: HandState) -> HandState:
        return self._split_hand(int(self.compiled.split_to[state.points]))

    def pending(self, split_hand: HandState, result: Result) -> HandState:
        return self._split_hand(int(self.compiled.pending[self._number(result), split_hand.points]))

    def _split_hand(self, number: int) -> HandState:
        return HandState(number, cards=1, covered=bool((self.compiled.pending[:, number] == number).all()))

    def hand_limit(self, split_hand: HandState) -> float:
        limit = int(self.compiled.hand_limit[split_hand.points])
        return math.inf if limit == NO_LIMIT else limit

    def _legal(self, state: HandState) -> str:
        return "".join(letter for letter, code in CODES.items() if (self.act[:, state.points] == code).any())

    def _drawn(self, state: HandState, purpose: str) -> Node:
        insured = purpose == DEAL and state.cards == 2 and self.act[1, state.points, -1] == INSURE
        return Draw(state, WITH_INSURANCE) if insured else super()._drawn(state, purpose)

    def _result(self, state: HandState) -> Result:
        return Result("", int(self.compiled.result[state.points]))

    def _number(self, result: Result) -> int:
        numbers = self.compiled.numbers
        by_result = {SURRENDERED: numbers.surrendered, INSURED: numbers.insured, ORIGINAL_BET: numbers.original}
        return by_result.get(result, result.score)

    def _settle(self, result: Result, stake: int, dealer: int) -> tuple[Fraction, int]:
        code = int(self.compiled.pay[self._number(result), stake - 1, self.dealer_outcomes.index(dealer)])
        units, tied = payoff_parts(code)
        return units * self.rules.unit, tied

    def _dealer_add(self, state: DealerState, rank: int) -> DealerState:
        return DealerState(int(self.compiled.dealer_add[state.points, rank]), cards=min(state.cards + 1, 3))

    def dealer_done(self, state: DealerState) -> bool:
        return bool(self.compiled.dealer_done[state.points])

    def dealer_outcome(self, state: DealerState) -> int:
        return self.dealer_outcomes[int(self.compiled.dealer_out[state.points])]

    def shown(self, state: DealerState) -> str:
        shows = state.cards == (1 if self.rules.dealer_shows == "up" else 2)
        return str(self.compiled.column[state.cards - 1, state.points]) if shows else ""

    def surrenders_early(self, column: str) -> bool:
        return bool(column) and bool(self.compiled.ended_column[int(column)] >= 0)


class StateValues(Slopes):
    """The values of one seat's chart, in initial bets, by node and context.

    A context is the number of one of the dealer's hands, up to those against which the seats act.

    Args:
        automaton: The compiled rules and the chart.
        dealers: The dealer's hands, with the probabilities of the ranks, as from `draw_probabilities`.
        tie_value: The value of a tied bet that is replayed.

    Attributes:
        aces: Whether insurance is offered against each of the dealer's hands against which the seats act.
        columns: Column index for each of the dealer's hands against which the seats act; -1 for those that end the
            round before anyone acts, even to surrender.
    """

    automaton: CompiledAutomaton

    def __init__(self, automaton: CompiledAutomaton, dealers: DealerIndex, tie_value: float = 0.0) -> None:
        super().__init__(automaton, dealers, tie_value)
        columns = np.array([int(label or 0) for label in dealers.columns[dealers.acting]])
        self.aces = columns == automaton.compiled.numbers.ace
        self.columns = np.where(dealers.ended, automaton.compiled.ended_column[columns], columns)

    def codes(self, state: HandState, may_split: bool) -> Array:
        """The codes of the actions taken with a hand, 0 where it has no choice."""
        codes = self.automaton.act[int(may_split), state.points, self.columns]
        return np.where(self.columns < 0, 0, codes)

    def letters(self, node: Decision) -> Array:
        return LETTERS[self.codes(node.state, node.may_split)]

    def chance(self, node: Chance) -> Array:
        if isinstance(node, Draw) and node.purpose == WITH_INSURANCE:
            bet = self.leaf(Finished(INSURED)) * self.aces[:, None]
            return self.plus(self.at(self.automaton.reached(node.state)), bet)
        return super().chance(node)

    @property
    def start(self) -> Array:
        """Value of a round before its first card, (1 + Q,)."""
        ev: Array = self.dealers.before_acting(self.at(START))[0]
        return ev


def value_chart(automaton: CompiledAutomaton, dealers: DealerIndex) -> tuple[float, StateValues]:
    """Compute the exact value of a chart in the infinite shoe.

    Returns:
        The profit per settled bet, in initial bets, which is nan if the chart ties at least as many bets as it is
        dealt; and the values in which a tied bet has this value.
    """
    values = StateValues(automaton, dealers)
    net = float(values.start[0])
    if automaton.rules.ties != "replay":
        return net, values
    tied = float(StateValues(automaton, dealers, 1.0).start[0]) - net
    value = net / (1 - tied) if tied < 1 else math.nan
    return value, StateValues(automaton, dealers, value)
