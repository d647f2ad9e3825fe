"""Expected values of all states under a chart, with their derivatives by the composition of the shoe, as arrays.

Values are per chip staked in an infinite shoe, computed by the recursion of `bjsim.strategies.exact.values` (the tests
compare the two). Derivatives are carried along: for a mixture over the next card

    V = sum over r of p(r) V(r),    dV/dp(q) = V(q) + sum over r of p(r) dV(r)/dp(q),

so that a state has the value V + sum over q of dV/dp(q) (c(q) - p(q)) in a shoe of composition c, to first order.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bjsim.bots.contest.luck.state_index import N_RANKS, Ints, StateIndex
from bjsim.sim.game.hand_states import HandState, Result
from bjsim.strategies.exact.values import Policy

Floats = npt.NDArray[np.float64]
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
        self.columns = list(dict.fromkeys(index.columns[TWO]))
        self._column_of = np.array([self.columns.index(label) for label in index.columns[TWO]])
        results = self._result_values()
        self._doubles = 2 * self._mix(results[TWO][:, index.doubled])
        self._surrenders = results[TWO][:, [index.surrendered] * len(index.hands)]
        hands = [(n, hand) for n, hand in enumerate(index.hands) if isinstance(hand, HandState)]
        complete = [n for n, hand in hands if hand.cards >= 2]
        self._base = results  # values that do not depend on the chart, with every hand standing
        self._base[TWO][:, complete] = results[TWO][:, index.stood[complete]]
        self._bare = np.arange(len(index.hands))  # the hand without the options that only a first action has
        for number, hand in hands:
            if hand.cards >= 2:
                self._bare[number] = index.number_of[index.states.bare(hand)]
        self._layers = self._by_depth()
        self._dealt = [np.array([n for n, hand in hands if hand.cards == cards]) for cards in (1, 0)]

    def tabulate(self, policy: Policy) -> ActionTable:
        """(columns, hands) S1: the action of a policy in every state; "" where it has no choice.

        Hands that may double differ from hands of the same total that may not, so a policy can hit one and double the
        other.
        """
        index = self.state_index
        actions = np.full((len(self.columns), len(index.hands)), b"", "S1")
        for number, hand in enumerate(index.hands):
            if legal := index.legal[number]:
                assert isinstance(hand, HandState)
                actions[:, number] = [policy(hand, column, legal) for column in self.columns]
        return actions

    def evaluate(self, actions: ActionTable) -> Floats:
        """(states, WITH_SLOPES): values and derivatives if the seat plays by this action table from each state on."""
        index = self.state_index
        evs = self._base.copy()
        two = evs[TWO]  # a view
        chosen = actions[self._column_of]
        for code, outcome in ((b"D", self._doubles), (b"R", self._surrenders)):
            if (here := chosen == code).any():
                two[here] = outcome[here]
        for layer in self._layers:
            hits = self._mix(two[:, index.after[self._bare[layer]]])
            two[:, layer] = np.where(chosen[:, layer, None] == b"H", hits, two[:, layer])
        for layer in self._dealt:
            two[:, layer] = self._mix(two[:, index.after[layer]])
        shape = (N_RANKS, N_RANKS, len(index.hands), WITH_SLOPES)
        evs[ONE] = self._mix(np.moveaxis(two.reshape(shape), 1, 2))
        evs[0] = self._mix(np.moveaxis(evs[ONE], 0, 1))
        return evs.reshape(-1, WITH_SLOPES)

    def _mix(self, parts: Floats) -> Floats:
        """(..., N_RANKS, WITH_SLOPES) -> (..., WITH_SLOPES): values before a card, from those after each rank."""
        mixed: Floats = np.einsum("r,...rk->...k", self.card_probabilities, parts)
        mixed[..., 1:] += parts[..., 0]
        return mixed

    def _result_values(self) -> Floats:
        """(dealers, hands, WITH_SLOPES): values of results; 0 for hands that have not ended."""
        index, states = self.state_index, self.state_index.states
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
            distributions[number] = self._mix(np.moveaxis(distributions[successors], 0, 1))

        for number in range(len(index.dealers)):
            compute(number)
        pays = np.zeros((len(index.hands), len(outcomes)))
        for number, hand in enumerate(index.hands):
            if isinstance(hand, Result):
                pays[number] = [float(states.settle(hand, 1, outcome)[0]) for outcome in outcomes]
        evs: Floats = np.einsum("ho,dok->dhk", pays, distributions)
        return evs

    def _by_depth(self) -> list[Ints]:
        """The hands that may hit, in layers: a hit leads to a hand of an earlier layer, or ends the hand."""
        index = self.state_index
        depths: dict[int, int] = {}

        def depth(number: int) -> int:
            if number not in depths:
                hits = {int(n) for n in index.after[self._bare[number]]} if "H" in index.legal[number] else set()
                depths[number] = max((1 + depth(n) for n in hits), default=0)
            return depths[number]

        hitting = [number for number, legal in enumerate(index.legal) if "H" in legal]
        return [np.array([n for n in hitting if depth(n) == d]) for d in sorted({depth(n) for n in hitting})]
