"""The backward pass with slopes: values of a chart's hands, and their derivatives by the probabilities of the cards.

A value is an array (dealers, 1 + Q): for each of the dealer's hands the value V, and for each of Q ranks the derivative
dV/dp. For a mixture over the next card

    V = sum over r of p(r) V(r),    dV/dp(q) = V(q) + sum over r of p(r) dV(r)/dp(q).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from bjsim.sim.game.automaton import Automaton, Decision, Draw, Finished, PendingHands
from bjsim.sim.values.backward import Backward

Floats = npt.NDArray[np.float64]


def mix(parts: Floats, probabilities: Floats) -> Floats:
    """Values before a card, (..., 1 + Q), from those after each rank, (..., Q, 1 + Q)."""
    mixed: Floats = np.einsum("r,...rk->...k", probabilities, parts)
    mixed[..., 1:] += parts[..., 0]
    return mixed


class Slopes(Backward[Floats]):
    """The values of one chart.

    Args:
        automaton: The automaton of the game.
        probabilities: (Q,) probabilities of the ranks.
        finished: Returns the value of a finished hand.
        actions: Returns the letter that the chart takes against each of the dealer's hands, as bytes.
        ended: (dealers,) whether the dealer's hand ends the round before anyone acts.
    """

    def __init__(
        self,
        automaton: Automaton,
        probabilities: Floats,
        finished: Callable[[Finished], Floats],
        actions: Callable[[Decision], npt.NDArray[np.bytes_]],
        ended: npt.NDArray[np.bool_],
    ) -> None:
        super().__init__(automaton)
        self.probabilities = probabilities
        self._finished = finished
        self._actions = actions
        self._ended = ended

    def leaf(self, node: Finished) -> Floats:
        return self._finished(node)

    def plus(self, one: Floats, other: Floats) -> Floats:
        return one + other

    def choose(self, node: Decision, legal: str) -> Floats:
        letters = self._actions(node)
        value = np.where(self._ended[:, None], self.act(node.state, "S"), 0)
        for letter in legal:
            taken = ~self._ended & (letters == letter.encode())
            if taken.any():
                value[taken] = self.act(node.state, letter)[taken]
        return value

    def chance(self, node: Draw | PendingHands) -> Floats:
        ranks = range(len(self.probabilities))
        after = [self.together(self.automaton.follow(node, rank)) for rank in ranks]
        return mix(np.stack(after, axis=1), self.probabilities)
