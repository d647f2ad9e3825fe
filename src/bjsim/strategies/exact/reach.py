"""How often play comes to each decision when a chart is followed, in an infinite shoe.

The hands of a round form a tree: a draw leads on, a split branches. The expected number of visits to every decision
is found by walking the same moves as `values.py` once forwards, each decision after all that lead to it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

from bjsim.sim.game.states import HandState, States
from bjsim.strategies.charts.chart import Chart
from bjsim.strategies.exact.values import Column, Policy


def splits_for_ever(chart: Chart) -> tuple[str, str] | None:
    """The pair and the dealer's card at which the chart splits hands that multiply without end, if there is one.

    That needs no limit on hands and at least every second half-hand a pair again: such a round may never end.
    """
    states = chart.states
    if states.rules.max_hands != math.inf:
        return None
    for state in sorted(states.starts):
        legal = states.legal(state)
        if "P" in legal and 2 * _again(states, states.split(state)) >= 1:
            for column in states.columns:
                if chart.letter(state, column, legal) == "P":
                    return states.rows_of(state)[0], column
    return None


def _again(states: States, half: HandState) -> Fraction:
    """Probability that the second card of a half-hand makes a pair that may be split."""
    return sum((p for p, state in states.draws(half) if "P" in states.legal(state)), start=Fraction(0))


class Decision(NamedTuple):
    """A hand to decide on; `may_split` is false for a pair where the limit of hands is reached."""

    state: HandState
    may_split: bool = True

    def legal(self, states: States) -> str:
        """The letters of the actions allowed here."""
        letters = states.legal(self.state)
        return letters if self.may_split else letters.replace("P", "")


class Halves(NamedTuple):
    """Half-hands waiting for their second card, of a seat that holds `hands`; see `Values.pending`."""

    half: HandState
    waiting: int = 2
    hands: int = 2


Node = Decision | Halves


class Reach:
    """Expected visits per round to the decisions of one column, under a strategy `letter`.

    Visits are infinite where the strategy splits pairs that multiply without end.
    """

    def __init__(self, states: States, column: Column, letter: Policy) -> None:
        self.states = states
        self.column = column
        self.letter = letter

    def visits(self) -> dict[Decision, float]:
        """Expected visits per round in which the dealer shows this column."""
        starts: dict[Node, float] = {Decision(state): float(p) for state, p in self.states.starts.items()}
        visits = dict.fromkeys(self._in_order(starts), 0.0) | starts
        for node in list(visits):
            for weight, following in self._moves(node):
                visits[following] += visits[node] * weight
        return {node: n for node, n in visits.items() if isinstance(node, Decision) and node.legal(self.states)}

    def _in_order(self, starts: dict[Node, float]) -> list[Node]:
        """Every node that can be reached, each after all that lead to it."""
        last_first: dict[Node, None] = {}

        def walk(node: Node) -> None:
            if node not in last_first:
                for _, following in self._moves(node):
                    walk(following)
                last_first[node] = None

        for start in starts:
            walk(start)
        return list(reversed(last_first))

    def _moves(self, node: Node) -> Iterator[tuple[float, Node]]:
        """Where play goes from a node, with the expected number of times."""
        if isinstance(node, Halves):
            yield from self._second_cards(node)
            return
        legal = node.legal(self.states)
        letter = self.letter(node.state, self.column.label, legal) if legal else ""
        if letter == "H":
            yield from ((p, Decision(state)) for p, state in self.states.draws(node.state, float))
        elif letter == "P":
            yield 1.0, Halves(self.states.split(node.state))

    def _second_cards(self, node: Halves) -> Iterator[tuple[float, Node]]:
        half, waiting, hands = node
        draws = self.states.draws(half, float)
        again = float(_again(self.states, half))
        if self.states.rules.max_hands == math.inf:
            # each half-hand becomes two more with probability `again`: 2 + 4 again + 8 again² + … half-hands
            times = 2 / (1 - 2 * again) if 2 * again < 1 else math.inf
            yield from ((times * p, Decision(state)) for p, state in draws if "P" not in self.states.legal(state))
            return
        more = hands < self.states.rules.max_hands
        for p, state in draws:
            pair = "P" in self.states.legal(state)
            if not (pair and more):
                yield p, Decision(state, may_split=not pair)
        if again and more:
            yield again, Halves(half, waiting + 1, hands + 1)
        if waiting > 1:
            yield 1 - again * more, Halves(half, waiting - 1, hands)
