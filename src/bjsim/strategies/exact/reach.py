"""How often play reaches each decision when a chart is followed, in an infinite shoe.

The hands of a round form a tree: a draw continues a branch, a split starts two. The expected number of visits to every
decision is computed by a forward pass over the same moves as in `values.py`, in topological order.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

from bjsim.sim.game.hand_states import HandState
from bjsim.sim.game.states import States
from bjsim.strategies.charts.chart import Chart
from bjsim.strategies.exact.values import Column, Policy


def find_endless_split(chart: Chart) -> tuple[str, str] | None:
    """Find a pair whose repeated splitting may keep a round from ending.

    That requires rules without a limit on hands, and a pair again in at least every second split hand.

    Returns:
        The row of the pair and the dealer's column; None if there is no such pair.
    """
    states = chart.states
    if states.rules.max_hands != math.inf:
        return None
    for state in sorted(states.starts):
        legal = states.legal(state)
        if "P" in legal and 2 * _again(states, states.split(state)) >= 1:
            for column in states.columns:
                if chart.policy(state, column, legal) == "P":
                    return states.rows_of(state)[0], column
    return None


def _again(states: States, split_hand: HandState) -> Fraction:
    """Probability that the second card of a split hand makes a pair that may be split."""
    return sum((p for p, state in states.draws(split_hand) if "P" in states.legal(state)), start=Fraction(0))


class Decision(NamedTuple):
    """A hand to decide on; `may_split` is false for a pair if the limit of hands is reached."""

    state: HandState
    may_split: bool = True

    def legal(self, states: States) -> str:
        """The letters of the actions allowed here."""
        letters = states.legal(self.state)
        return letters if self.may_split else letters.replace("P", "")


class PendingHands(NamedTuple):
    """`pending` split hands that need their second card, of a seat that holds `hands` hands; see `Values.pending`."""

    split_hand: HandState
    pending: int = 2
    hands: int = 2


Node = Decision | PendingHands


class Reach:
    """Expected visits per round to the decisions against one column of the dealer.

    Visits are infinite where the strategy splits pairs that multiply without end.

    Args:
        states: The states of the game.
        column: What the dealer shows.
        policy: The strategy that is followed.
    """

    def __init__(self, states: States, column: Column, policy: Policy) -> None:
        self.states = states
        self.column = column
        self.policy = policy

    def visits(self) -> dict[Decision, float]:
        """Expected visits to each decision per round in which the dealer shows this column."""
        starts: dict[Node, float] = {Decision(state): float(p) for state, p in self.states.starts.items()}
        visits = dict.fromkeys(self._in_order(starts), 0.0) | starts
        for node in list(visits):
            for weight, following in self._moves(node):
                visits[following] += visits[node] * weight
        return {node: n for node, n in visits.items() if isinstance(node, Decision) and node.legal(self.states)}

    def _in_order(self, starts: dict[Node, float]) -> list[Node]:
        """Every reachable node, in topological order."""
        postorder: dict[Node, None] = {}

        def visit(node: Node) -> None:
            if node not in postorder:
                for _, following in self._moves(node):
                    visit(following)
                postorder[node] = None

        for start in starts:
            visit(start)
        return list(reversed(postorder))

    def _moves(self, node: Node) -> Iterator[tuple[float, Node]]:
        """The nodes that follow a node, each with the expected number of times it is reached."""
        if isinstance(node, PendingHands):
            yield from self._second_cards(node)
            return
        legal = node.legal(self.states)
        action = self.policy(node.state, self.column.label, legal) if legal else ""
        if action == "H":
            yield from ((p, Decision(state)) for p, state in self.states.draws(node.state, float))
        elif action == "P":
            yield 1.0, PendingHands(self.states.split(node.state))

    def _second_cards(self, node: PendingHands) -> Iterator[tuple[float, Node]]:
        split_hand, pending, hands = node
        draws = self.states.draws(split_hand, float)
        again = float(_again(self.states, split_hand))
        if self.states.rules.max_hands == math.inf:
            # Each split hand becomes two more with probability `again`: 2 + 4 again + 8 again² + … split hands in all.
            times = 2 / (1 - 2 * again) if 2 * again < 1 else math.inf
            yield from ((times * p, Decision(state)) for p, state in draws if "P" not in self.states.legal(state))
            return
        more = hands < self.states.rules.max_hands
        for p, state in draws:
            pair = "P" in self.states.legal(state)
            if not (pair and more):
                yield p, Decision(state, may_split=not pair)
        if again and more:
            yield again, PendingHands(split_hand, pending + 1, hands + 1)
        if pending > 1:
            yield 1 - again * more, PendingHands(split_hand, pending - 1, hands)
