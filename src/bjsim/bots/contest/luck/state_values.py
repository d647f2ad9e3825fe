"""What every situation is worth under a chart, and how that changes with the composition of the shoe; as arrays.

Worths are of an infinite shoe, per chip staked, by the recursion of `bjsim.strategies.exact.values` (which the tests
hold them against), with their slopes carried along: for a mix over the next card

    W = sum over r of p(r) W(r),    dW/dp(q) = W(q) + sum over r of p(r) dW(r)/dp(q),

so that with the shoe's true composition c a situation is worth about W + sum over q of dW/dp(q) (c(q) - p(q)).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bjsim.bots.contest.luck.state_index import DRAWN, Ints, StateIndex
from bjsim.sim.game.states import HandState, Result
from bjsim.strategies.exact.values import Policy

Floats = npt.NDArray[np.float64]
Letters = npt.NDArray[np.bytes_]
WITH_SLOPES = 1 + DRAWN  # numbers of a worth: itself, and its slope by each rank
ONE, TWO = slice(1, 1 + DRAWN), slice(1 + DRAWN, 1 + DRAWN + DRAWN * DRAWN)  # dealers of one and of two cards


class StateValues:
    """Computes the worths of all situations under any strategy, for one set of rules.

    columns: labels of what the dealer shows, in the order of the first index of `letters`.
    """

    def __init__(self, space: StateIndex) -> None:
        self.space = space
        probabilities = [float(p) for p in space.rules.card_probabilities]
        self.card_probabilities = np.array([*probabilities[: DRAWN - 1], sum(probabilities[DRAWN - 1 :])])
        self.columns = list(dict.fromkeys(space.ups[TWO]))
        self._column_of = np.array([self.columns.index(label) for label in space.ups[TWO]])
        leaves = self._ev_of_results()
        self._doubles = 2 * self._mix(leaves[TWO][:, space.doubled])
        self._surrenders = leaves[TWO][:, [space.surrendered] * len(space.hands)]
        hands = [(n, hand) for n, hand in enumerate(space.hands) if isinstance(hand, HandState)]
        whole = [n for n, hand in hands if hand.cards >= 2]
        self._base = leaves  # what is worth the same under any strategy, every hand standing
        self._base[TWO][:, whole] = leaves[TWO][:, space.stood[whole]]
        self._bare = np.arange(len(space.hands))  # what only a first action asks for is forgotten with the next card
        for number, hand in hands:
            if hand.cards >= 2:
                self._bare[number] = space.number_of[space.states.bare(hand)]
        self._layers = self._by_depth()
        self._dealt = [np.array([n for n, hand in hands if hand.cards == cards]) for cards in (1, 0)]

    def letters_of(self, letter: Policy) -> Letters:
        """(columns, hands): what a strategy does with every hand against everything shown; "" where it has no choice.

        A strategy that hits where another doubles is told apart by the hand: one of two cards may double.
        """
        space = self.space
        letters = np.full((len(self.columns), len(space.hands)), b"", "S1")
        for number, hand in enumerate(space.hands):
            if legal := space.legal[number]:
                assert isinstance(hand, HandState)
                letters[:, number] = [letter(hand, column, legal) for column in self.columns]
        return letters

    def of_letters(self, letters: Letters) -> Floats:
        """(situations, WITH_SLOPES): worth and slopes, if the seat plays so from there on."""
        space = self.space
        evs = self._base.copy()
        two = evs[TWO]  # a view
        chosen = letters[self._column_of]
        for letter, taken in ((b"D", self._doubles), (b"R", self._surrenders)):
            if (here := chosen == letter).any():
                two[here] = taken[here]
        for layer in self._layers:
            hits = self._mix(two[:, space.after[self._bare[layer]]])
            two[:, layer] = np.where(chosen[:, layer, None] == b"H", hits, two[:, layer])
        for layer in self._dealt:
            two[:, layer] = self._mix(two[:, space.after[layer]])
        shape = (DRAWN, DRAWN, len(space.hands), WITH_SLOPES)
        evs[ONE] = self._mix(np.moveaxis(two.reshape(shape), 1, 2))
        evs[0] = self._mix(np.moveaxis(evs[ONE], 0, 1))
        return evs.reshape(-1, WITH_SLOPES)

    def _mix(self, parts: Floats) -> Floats:
        """(..., DRAWN, WITH_SLOPES) -> (..., WITH_SLOPES): the worth before a card, from those after each rank."""
        mixed: Floats = np.einsum("r,...rk->...k", self.card_probabilities, parts)
        mixed[..., 1:] += parts[..., 0]
        return mixed

    def _ev_of_results(self) -> Floats:
        """(dealers, hands, WITH_SLOPES); 0 for hands that have not ended."""
        space, states = self.space, self.space.states
        outcomes = states.dealer_outcomes
        laws = np.zeros((len(space.dealers), len(outcomes), WITH_SLOPES))
        known = [False] * len(space.dealers)

        def probabilities(number: int) -> None:
            if known[number]:
                return
            known[number] = True
            dealer = space.dealers[number]
            if states.dealer_done(dealer):
                laws[number, outcomes.index(states.dealer_outcome(dealer)), 0] = 1
                return
            following = space.dealer_after[number]
            for after in following:
                probabilities(int(after))
            laws[number] = self._mix(np.moveaxis(laws[following], 0, 1))

        for number in range(len(space.dealers)):
            probabilities(number)
        pays = np.zeros((len(space.hands), len(outcomes)))
        for number, hand in enumerate(space.hands):
            if isinstance(hand, Result):
                pays[number] = [float(states.settle(hand, 1, outcome)[0]) for outcome in outcomes]
        evs: Floats = np.einsum("ho,dok->dhk", pays, laws)
        return evs

    def _by_depth(self) -> list[Ints]:
        """The hands that may hit, in layers: each layer's become hands of earlier layers, or end."""
        space = self.space
        depths: dict[int, int] = {}

        def depth(number: int) -> int:
            if number not in depths:
                following = {int(n) for n in space.after[self._bare[number]]} if "H" in space.legal[number] else set()
                depths[number] = max((1 + depth(n) for n in following), default=0)
            return depths[number]

        hitting = [number for number, legal in enumerate(space.legal) if "H" in legal]
        return [np.array([n for n in hitting if depth(n) == d]) for d in sorted({depth(n) for n in hitting})]
