"""What every situation is worth under a chart, and how that changes with the composition of the shoe; as arrays.

Worths are of an infinite shoe, per chip staked, by the recursion of `bjsim.strategies.values` (which the tests hold
them against), with their slopes carried along: for a mix over the next card

    W = sum over r of p(r) W(r),    dW/dp(q) = W(q) + sum over r of p(r) dW(r)/dp(q),

so that with the shoe's true composition c a situation is worth about W + sum over q of dW/dp(q) (c(q) - p(q)).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bjsim.bots.contest.space import DRAWN, Space
from bjsim.sim.states import SURRENDERED, HandState, Result
from bjsim.strategies.values import LetterOf

Floats = npt.NDArray[np.float64]
WITH_SLOPES = 1 + DRAWN  # numbers of a worth: itself, and its slope by each rank
ONE, TWO = slice(1, 1 + DRAWN), slice(1 + DRAWN, 1 + DRAWN + DRAWN * DRAWN)  # dealers of one and of two cards


class Worths:
    """Computes the worths of all situations under any chart, for one set of rules."""

    def __init__(self, space: Space) -> None:
        self.space = space
        law = [float(p) for p in space.rules.law]
        self.law = np.array([*law[: DRAWN - 1], sum(law[DRAWN - 1 :])])
        self._leaves = self._worth_of_results()
        self._order = self._successors_first()

    def of_chart(self, letter: LetterOf) -> Floats:
        """(situations, WITH_SLOPES): worth and slopes, if the seat follows the strategy `letter` from there on."""
        space = self.space
        worths = np.zeros((len(space.dealers), len(space.hands), WITH_SLOPES))
        for number in self._order:
            hand = space.hands[number]
            if isinstance(hand, Result):
                worths[:, number] = self._leaves[:, number]
            elif hand.cards < 2:
                worths[TWO, number] = self._mix(worths[TWO][:, space.after[number]])
            else:
                worths[TWO, number] = self._decided(worths[TWO], number, hand, letter)
        shape = (DRAWN, DRAWN, len(space.hands), WITH_SLOPES)
        worths[ONE] = self._mix(np.moveaxis(worths[TWO].reshape(shape), 1, 2))
        worths[0] = self._mix(np.moveaxis(worths[ONE], 0, 1))
        return worths.reshape(-1, WITH_SLOPES)

    def _mix(self, parts: Floats) -> Floats:
        """(..., DRAWN, WITH_SLOPES) -> (..., WITH_SLOPES): the worth before a card, from those after each rank."""
        mixed: Floats = np.einsum("r,...rk->...k", self.law, parts)
        mixed[..., 1:] += parts[..., 0]
        return mixed

    def _worth_of_results(self) -> Floats:
        """(dealers, hands, WITH_SLOPES); 0 for hands that have not ended."""
        space, states = self.space, self.space.states
        outcomes = states.dealer_outcomes
        laws = np.zeros((len(space.dealers), len(outcomes), WITH_SLOPES))
        known = [False] * len(space.dealers)

        def law(number: int) -> None:
            if known[number]:
                return
            known[number] = True
            dealer = space.dealers[number]
            if states.dealer_done(dealer):
                laws[number, outcomes.index(states.dealer_outcome(dealer)), 0] = 1
                return
            following = space.dealer_after[number]
            for after in following:
                law(int(after))
            laws[number] = self._mix(np.moveaxis(laws[following], 0, 1))

        for number in range(len(space.dealers)):
            law(number)
        pays = np.zeros((len(space.hands), len(outcomes)))
        for number, hand in enumerate(space.hands):
            if isinstance(hand, Result):
                pays[number] = [float(states.settle(hand, 1, outcome)[0]) for outcome in outcomes]
        worths: Floats = np.einsum("ho,dok->dhk", pays, laws)
        return worths

    def _successors_first(self) -> list[int]:
        """The hands, each after all that it may become."""
        space = self.space
        order: list[int] = []
        seen: set[int] = set()

        def visit(number: int) -> None:
            if number in seen:
                return
            seen.add(number)
            hand = space.hands[number]
            if isinstance(hand, HandState):
                visit(int(space.stood[number]))
                for following in {*space.after[number], *space.after[self._bare(hand)], *space.doubled[number]}:
                    visit(int(following))
            order.append(number)

        for number in range(len(space.hands)):
            visit(number)
        return order

    def _bare(self, hand: HandState) -> int:
        return self.space.number_of[self.space.states.bare(hand) if hand.cards >= 2 else hand]

    def _decided(self, worths: Floats, number: int, hand: HandState, letter: LetterOf) -> Floats:
        """Worths of a hand against dealers of two cards; those of the hands it may become are there already."""
        space = self.space
        stands: Floats = self._leaves[TWO, space.stood[number]]
        legal = space.states.legal(hand)
        if not legal:
            return stands
        columns = space.ups[TWO]
        by_column = {column: letter(hand, column, legal) for column in set(columns)}
        letters = np.array([by_column[column] for column in columns])
        decided = stands.copy()
        bare = self._bare(hand)
        if (hits := letters == "H").any():
            decided[hits] = self._mix(worths[hits][:, space.after[bare]])
        if (doubles := letters == "D").any():
            decided[doubles] = 2 * self._mix(self._leaves[TWO][doubles][:, space.doubled[bare]])
        decided[letters == "R"] = self._leaves[TWO][letters == "R"][:, space.number_of[SURRENDERED]]
        return decided
