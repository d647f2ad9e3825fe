"""The backward pass: values of the nodes of the automaton, from the ends of hands to the deal.

One recursion serves every question. Subclasses define what a value is: a number, or moments for each outcome of the
dealer, or numbers with slopes for each of the dealer's hands.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, TypeVar

from bjsim.sim.game.automaton import PAIR, START, Automaton, Chance, Decision, Draw, Ended, Finished, Node
from bjsim.sim.game.hand_states import HandState
from bjsim.sums import add_up

V = TypeVar("V")


class Backward(ABC, Generic[V]):
    """Values of type V, computed on demand; `number` is the type of probabilities, `float` or `Fraction`.

    `tie_value` is the value of a tied stake that is replayed, per unit of the stake.
    """

    def __init__(self, automaton: Automaton, number: type = float, tie_value: Any = 0) -> None:
        self.automaton = automaton
        self.number = number
        self.tie_value = tie_value
        self._values: dict[Node, V] = {}

    @abstractmethod
    def leaf(self, node: Finished) -> V:
        """Value of a finished hand."""

    @abstractmethod
    def plus(self, one: V, other: V) -> V:
        """Value of two hands together, which are independent given the dealer's outcome."""

    @abstractmethod
    def choose(self, node: Decision, legal: str) -> V:
        """Value of a decision under the action that the strategy takes, one of the letters in `legal`."""

    @abstractmethod
    def chance(self, node: Chance) -> V:
        """Value of a chance event."""

    def profits(self, node: Finished, outcomes: Iterable[int]) -> list[Any]:
        """Profit of a finished hand for each outcome of the dealer, a tied stake included, as `number`s."""
        paid = [self.automaton.settle(*node, outcome) for outcome in outcomes]
        return [self.number(net) + tied * self.tie_value for net, tied in paid]

    def value(self, state: HandState, may_split: bool = True) -> V:
        """Value of a hand from here on; `may_split` is false if the limit of hands is reached."""
        return self.at(self.automaton.reached(state, may_split))

    def act(self, state: HandState, letter: str) -> V:
        """Value of taking the action with this letter now, and following the strategy afterwards."""
        return self.at(self.automaton.move(state, letter))

    def waiting(self, pair: HandState, pending: int, hands: int) -> Any:
        """Value of split hands of a pair that need their second card, of a seat that holds `hands` hands in all."""
        if not pending:
            return 0
        node = self.automaton.waiting(pair, pending, hands)
        value: Any = self.at(node)
        return value if node.pending == pending else pending * value

    def split_again(self, pair: HandState, pending: int, hands: int) -> Any:
        """What a split adds for a seat of `hands` hands of which `pending` more need their second card.

        More hands also leave less room for the pairs that those may become.
        """
        return self.waiting(pair, pending + 2, hands + 1) - self.waiting(self.automaton.covered(pair), pending, hands)

    def at(self, node: Node) -> V:
        if node not in self._values:
            self._values[node] = self._compute(node)
        return self._values[node]

    def _compute(self, node: Node) -> V:
        if isinstance(node, Decision):
            return self.choose(node, node.legal(self.automaton))
        if isinstance(node, Finished):
            return self.leaf(node)
        if isinstance(node, Ended):
            return self.together(node)
        for later in self.automaton.later(node):
            self.at(later)  # now, as the recursion would be deep
        return self.chance(node)

    def together(self, nodes: tuple[Node, ...]) -> V:
        """Value of nodes that continue separately."""
        value = self.at(nodes[0])
        for node in nodes[1:]:
            value = self.plus(value, self.at(node))
        return value


class MergedBackward(Backward[V]):
    """The pass that merges equal outcomes of a card."""

    @abstractmethod
    def mix(self, parts: list[tuple[Any, V]]) -> V:
        """Value of a chance event, from (probability, value) pairs; the probabilities may sum to less than 1."""

    @abstractmethod
    def endless(self, again: Any, done: V, whole: V) -> V:
        """Value of a split hand where the number of hands has no limit.

        `again` is the probability that the second card makes a pair, split into two such hands; `done` the
        value of all other second cards, weighted with their probability; `whole` that of the pair if it were
        not split.
        """

    def chance(self, node: Chance) -> V:
        branches = self.automaton.branches(node, self.number)
        if self.automaton.repeats(node) and len(branches) > 1:
            (again, _), (rest, (other,)) = branches
            assert isinstance(other, Draw)
            whole = self.at(other._replace(purpose=PAIR))
            return self.endless(again, self.mix([(rest, self.at(other))]), whole)
        return self.mix([(p, self.together(nodes)) for p, nodes in branches])


# --- The forward pass: how often play reaches each node of the automaton, from the deal to the ends of hands.


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
