"""Number the states of a contest hand, so that their values under a chart, with their slopes, fit into arrays.

A state is a node of the automaton and the dealer's hand. Values are per chip staked in an infinite shoe, computed by
the backward pass of `bjsim.sim.values.slopes`. A state has the value V + sum over q of g(q) c(q) in a shoe of
composition c, to first order.
"""

import numpy as np
import numpy.typing as npt

from bjsim.arrays import Floats
from bjsim.sim.game.automaton import DOUBLE, START, Automaton, Decision, Draw, Finished, Node
from bjsim.sim.game.cards import TEN
from bjsim.sim.game.hand_states import BUST, SURRENDERED, HandState
from bjsim.sim.game.rules import Rules
from bjsim.sim.values.slopes import DealerIndex, Slopes
from bjsim.strategies.exact.values import Policy
from bjsim.sums import add_up

N_RANKS = TEN + 1  # ranks with different values: all ten-valued cards count as one
SETTLED = (Finished(BUST), Finished(SURRENDERED))  # hands that do not depend on the dealer's cards
NOTHING = 0  # the number of an absent hand


class StateIndex:
    """The numbers of hands and dealers under one set of rules; a state is dealer * len(hands) + hand.

    Insurance is not valued, nor what a hand may do once it has doubled, nor that a dealer's natural may take less
    than all bets: luck has the mean 0 with any values. `rules` must limit the number of hands.
    """

    def __init__(self, rules: Rules) -> None:
        self.rules = rules = rules.replace(no_hole_loses="all", surrender_after_double=False, max_doubles=1)
        self.automaton = automaton = Automaton(rules)
        self.hands: list[Node | None] = [None]  # the first is NOTHING
        self.number_of: dict[Node, int] = {}
        self.surrendered = self._number(Finished(SURRENDERED))
        self._number(START)
        rows, doubled = [[[NOTHING, NOTHING]] * N_RANKS], [[NOTHING] * N_RANKS]
        for hand in self.hands:  # grows during the iteration
            if hand is None:
                continue
            rows.append([self._follow(hand, rank) for rank in range(N_RANKS)])
            doubled.append([self._double(hand, rank) for rank in range(N_RANKS)])
            if isinstance(hand, Decision):
                self._number(Finished(automaton.result(hand.state)))
                if "P" in hand.legal(automaton):
                    first = automaton.split(hand.state)
                    for split_hand in dict.fromkeys((first, automaton.covered(first))):
                        self._add_split_hands(split_hand)
        # (hands, N_RANKS, 2): the hand after one more card, and those of a split that then still wait, or NOTHING.
        self.after = np.array(rows)
        self.doubled = np.array(doubled)  # (hands, N_RANKS): the finished hand after that card
        self.settled = frozenset(self.number_of[end] for end in SETTLED if end in self.number_of)
        self.stood = [
            self.number_of[Finished(automaton.result(hand.state))] if isinstance(hand, Decision) else number
            for number, hand in enumerate(self.hands)
        ]
        self.columns = automaton.columns  # of the chart, and the first index of an action table
        self.legal = [  # the codes of the legal actions by column
            {column: hand.legal(automaton.against(column)) for column in self.columns}
            if isinstance(hand, Decision)
            else {}
            for hand in self.hands
        ]
        probabilities = [float(p) for p in rules.card_probabilities]
        tens = add_up(probabilities[N_RANKS - 1 :])
        self.dealers = DealerIndex(automaton, np.array([*probabilities[: N_RANKS - 1], tens]))
        # Plain lists are faster for single lookups.
        self.after_list: list[list[list[int]]] = self.after.tolist()
        self.dealer_after_list: list[list[int]] = self.dealers.after.tolist()

    def _number(self, hand: Node) -> int:
        if hand not in self.number_of:
            self.number_of[hand] = len(self.hands)
            self.hands.append(hand)
        return self.number_of[hand]

    def _add_split_hands(self, one_card: HandState) -> None:
        """Split hands with every second card, and before it, also where a bot does not split again."""
        for rank in range(N_RANKS):
            for may_split in (True, False):
                self._number(self.automaton.reached(self.automaton.add(one_card, rank), may_split))
        for node in self.automaton.all_pending(one_card):
            self._number(node)

    def _follow(self, hand: Node, rank: int) -> list[int]:
        if isinstance(hand, Finished):
            return [self.number_of[hand], NOTHING]
        node = self.automaton.move(hand.state, "H") if isinstance(hand, Decision) else hand
        first, *rest = map(self._number, self.automaton.follow(node, rank))
        return [first, *(rest or [NOTHING])]

    def _double(self, hand: Node, rank: int) -> int:
        if not isinstance(hand, Decision):
            return NOTHING
        doubling = self.automaton.bare(self.automaton.doubling(hand.state))
        (after,) = self.automaton.follow(Draw(doubling, DOUBLE), rank)
        assert isinstance(after, Finished)
        return self._number(after._replace(stake=1))  # its stake is counted in chips


# --- Expected values of all states under a chart.


ActionTable = npt.NDArray[np.bytes_]


class _TableValues(Slopes):
    def __init__(self, index: StateIndex, actions: ActionTable) -> None:
        super().__init__(index.automaton, index.dealers)
        self.number_of = index.number_of
        shown = index.dealers.columns[index.dealers.acting]
        self.actions = actions[[index.columns.index(label) if label else 0 for label in shown]]

    def letters(self, node: Decision) -> ActionTable:
        return self.actions[:, self.number_of[node]]


def tabulate(index: StateIndex, policy: Policy) -> ActionTable:
    """(columns, hands) S1: the action of a policy in every state; "" where it has no choice.

    Hands that may double differ from hands of the same total that may not, so a policy can hit one and double the
    other.
    """
    actions = np.full((len(index.columns), len(index.hands)), b"", "S1")
    for number, hand in enumerate(index.hands):
        if isinstance(hand, Decision):
            actions[:, number] = [policy(hand.state, *each) for each in index.legal[number].items()]
    return actions


def evaluate(index: StateIndex, actions: ActionTable) -> Floats:
    """(states, 1 + N_RANKS): values and slopes if the seat plays by this action table from each state on."""
    dealers, values = index.dealers, _TableValues(index, actions)
    evs = np.zeros((len(dealers.hands), len(index.hands), 1 + len(dealers.probabilities)))
    for number, hand in enumerate(index.hands):
        if isinstance(hand, Finished):
            evs[:, number] = values.settled(hand)
        elif hand is not None:
            evs[dealers.acting, number] = values.at(hand)
    evs[: dealers.acting.stop] = dealers.before_acting(evs[dealers.acting])
    return evs.reshape(-1, evs.shape[-1])
