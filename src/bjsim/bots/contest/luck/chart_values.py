"""Expected values of all states under a chart, with their derivatives by the composition of the shoe, as arrays.

Values are per chip staked in an infinite shoe, computed by the backward pass of `bjsim.sim.values.slopes`. A state has
the value V + sum over q of dV/dp(q) (c(q) - p(q)) in a shoe of composition c, to first order.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bjsim.bots.contest.luck.state_index import N_RANKS, StateIndex
from bjsim.sim.game.automaton import Decision, Finished
from bjsim.sim.game.hand_states import HandState
from bjsim.sim.values.slopes import Floats, Slopes, mix
from bjsim.strategies.exact.values import Policy

ActionTable = npt.NDArray[np.bytes_]
WITH_SLOPES = 1 + N_RANKS  # a value and its derivative by each rank's probability
ONE, TWO = slice(1, 1 + N_RANKS), slice(1 + N_RANKS, 1 + N_RANKS + N_RANKS * N_RANKS)  # dealers of one and two cards


class ChartValues:
    """Evaluates charts in all states, for one set of rules.

    Args:
        state_index: The states of the game.

    Attributes:
        columns: Chart columns, in the order of the first index of an action table.
        card_probabilities: (N_RANKS,) probabilities of the next card in an infinite shoe.
    """

    def __init__(self, state_index: StateIndex) -> None:
        self.state_index = index = state_index
        probabilities = [float(p) for p in index.rules.card_probabilities]
        self.card_probabilities = np.array([*probabilities[: N_RANKS - 1], sum(probabilities[N_RANKS - 1 :])])
        self._results = self._result_values()
        self._known = TWO if index.rules.deal.count("d") == 2 else ONE  # the dealers against whom the seats act
        labels = index.columns[self._known]
        self.columns = [label for label in dict.fromkeys(labels) if label]
        self._ended = np.array(index.ended[self._known])
        self._column_of = np.array([self.columns.index(label) if label else 0 for label in labels])

    def tabulate(self, policy: Policy) -> ActionTable:
        """(columns, hands) S1: the action of a policy in every state; "" where it has no choice.

        Hands that may double differ from hands of the same total that may not, so a policy can hit one and double the
        other.
        """
        index = self.state_index
        actions = np.full((len(self.columns), len(index.hands)), b"", "S1")
        for number, hand in enumerate(index.hands):
            if isinstance(hand, Decision):
                actions[:, number] = [policy(hand.state, column, index.legal[number]) for column in self.columns]
        return actions

    def evaluate(self, actions: ActionTable) -> Floats:
        """(states, WITH_SLOPES): values and derivatives if the seat plays by this action table from each state on."""
        index = self.state_index
        evs = self._results.copy()
        known = evs[self._known]  # a view
        values = Slopes(
            index.automaton,
            self.card_probabilities,
            lambda node: node.stake * known[:, index.number_of[node._replace(stake=1)]],
            lambda node: actions[self._column_of, index.number_of[node]],
            self._ended,
        )
        dealt = []
        for number, hand in enumerate(index.hands):
            if isinstance(hand, HandState):
                dealt.append((-hand.cards, number))
            elif hand is not None:
                known[:, number] = values.at(hand)
        for _, number in sorted(dealt):
            known[:, number] = mix(known[:, index.after[number, :, 0]], self.card_probabilities)
        if self._known == TWO:
            shape = (N_RANKS, N_RANKS, len(index.hands), WITH_SLOPES)
            evs[ONE] = mix(np.moveaxis(known.reshape(shape), 1, 2), self.card_probabilities)
        evs[0] = mix(np.moveaxis(evs[ONE], 0, 1), self.card_probabilities)
        return evs.reshape(-1, WITH_SLOPES)

    def _result_values(self) -> Floats:
        """(dealers, hands, WITH_SLOPES): values of finished hands; 0 for others."""
        index, states = self.state_index, self.state_index.automaton
        outcomes = states.dealer_outcomes
        distributions = np.zeros((len(index.dealers), len(outcomes), WITH_SLOPES))
        done = [False] * len(index.dealers)

        def compute(number: int) -> None:
            if done[number]:
                return
            done[number] = True
            dealer = index.dealers[number]
            if states.dealer_done(dealer):
                distributions[number, outcomes.index(states.dealer_outcome(dealer)), 0] = 1
                return
            successors = index.dealer_after[number]
            for successor in successors:
                compute(int(successor))
            distributions[number] = mix(np.moveaxis(distributions[successors], 0, 1), self.card_probabilities)

        for number in range(len(index.dealers)):
            compute(number)
        pays = np.zeros((len(index.hands), len(outcomes)))
        for number, hand in enumerate(index.hands):
            if isinstance(hand, Finished):
                pays[number] = [float(states.settle(*hand, outcome)[0]) for outcome in outcomes]
        evs: Floats = np.einsum("ho,dok->dhk", pays, distributions)
        return evs
