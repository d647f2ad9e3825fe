"""Expected values of all states under a chart, with their slopes in the composition of the shoe, as arrays.

Values are per chip staked in an infinite shoe, computed by the backward pass of `bjsim.sim.values.slopes`. A state has
the value V + sum over q of g(q) c(q) in a shoe of composition c, to first order.
"""

import numpy as np
import numpy.typing as npt

from bjsim.arrays import Floats
from bjsim.bots.contest.luck.state_index import StateIndex
from bjsim.sim.game.automaton import Decision, Finished
from bjsim.sim.values.slopes import Slopes
from bjsim.strategies.exact.values import Policy

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
