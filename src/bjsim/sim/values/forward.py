"""The forward pass: how often play reaches each node of the automaton, from the deal to the ends of hands."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from bjsim.sim.game.automaton import START, Automaton, Decision, Ended, Finished, Node
from bjsim.sim.game.hand_states import HandState
from bjsim.sums import add_up


def count_visits(automaton: Automaton, choose: Callable[[HandState, str], str]) -> dict[Node, float]:
    """Expected visits per round to every node that play reaches; `choose` is the strategy against one column.

    They are infinite where pairs are split that multiply without end.
    """

    def following(node: Node) -> Iterator[tuple[float, Node]]:
        if isinstance(node, Decision):
            yield 1.0, automaton.move(node.state, choose(node.state, node.legal(automaton)))
        elif isinstance(node, Ended):
            yield from ((1.0, after) for after in node)
        elif not isinstance(node, Finished):
            yield from ((p, after) for p, nodes in automaton.branches(node, float) for after in nodes)

    postorder: dict[Node, None] = {}

    def explore(node: Node) -> None:
        for _, after in following(node):
            if after not in postorder and after != node:
                explore(after)
        postorder[node] = None

    explore(START)
    visits = dict.fromkeys(reversed(postorder), 0.0) | {START: 1.0}
    for node in visits:
        moves = list(following(node))
        returns = add_up(p for p, after in moves if after == node)  # 2 + 4 p + 8 p² + … split hands without a limit
        if returns:
            visits[node] = visits[node] / (1 - returns) if returns < 1 else math.inf
        for p, after in moves:
            if after != node:
                visits[after] += visits[node] * p
    return visits
