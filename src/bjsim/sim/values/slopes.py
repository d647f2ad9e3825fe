"""The backward pass with slopes: values of a chart's hands against all of the dealer's, and their slopes.

A value is an array (dealers, 1 + Q) over the dealer's hands that the seats act against; see `dealer_index.py`.
"""

from __future__ import annotations

import math
from abc import abstractmethod

import numpy as np
import numpy.typing as npt

from bjsim.arrays import Floats
from bjsim.sim.game.automaton import Automaton, Chance, Decision, Finished
from bjsim.sim.values.backward import Backward
from bjsim.sim.values.dealer_index import DealerIndex, mix
from bjsim.sums import add_up


class Slopes(Backward[Floats]):
    """The values of one chart, in initial bets; `tie_value` is that of a tied bet that is replayed."""

    def __init__(self, automaton: Automaton, dealers: DealerIndex, tie_value: float = 0.0) -> None:
        super().__init__(automaton, tie_value=tie_value)
        self.dealers = dealers

    @abstractmethod
    def letters(self, node: Decision) -> npt.NDArray[np.bytes_]:
        """The letter that the chart takes against each of the dealer's hands."""

    def settled(self, node: Finished) -> Floats:
        """Values of a finished hand against every dealer's hand, (hands, 1 + Q)."""
        values: Floats = np.array(self.profits(node, self.automaton.dealer_outcomes)) @ self.dealers.outcomes
        return values

    def leaf(self, node: Finished) -> Floats:
        return self.settled(node)[self.dealers.acting]

    def plus(self, one: Floats, other: Floats) -> Floats:
        return one + other

    def choose(self, node: Decision, legal: str) -> Floats:
        value = self.act(node.state, "S").copy()
        letters = self.letters(node)
        letters = np.where(self.dealers.ended & ~(self.dealers.early & (letters == b"R")), b"S", letters)
        for letter in legal.replace("S", ""):
            taken = letters == letter.encode()
            if taken.any():
                value[taken] = self.act(node.state, letter)[taken]
        return value

    def after(self, node: Chance) -> Floats:
        """Values after each rank, (dealers, Q, 1 + Q)."""
        ranks = range(len(self.dealers.probabilities))
        return np.stack([self.together(self.automaton.follow(node, rank)) for rank in ranks], axis=1)

    def chance(self, node: Chance) -> Floats:
        if self.automaton.repeats(node):
            return self._endless(node)
        return mix(self.after(node), self.dealers.probabilities)

    def _endless(self, node: Chance) -> Floats:
        """Value h of a split hand that becomes two with the probability a of a pair: h = rest + 2 a h, and likewise
        for its slopes; 0 if the hands would multiply without end."""
        shares = enumerate(self.dealers.probabilities)
        again = add_up(p for rank, p in shares if node in self.automaton.follow(node, rank))
        stays = 1 - 2 * again if again < 0.5 else math.inf
        self._values[node] = np.zeros((len(self.dealers.ended), 1 + len(self.dealers.probabilities)))
        value = mix(self.after(node), self.dealers.probabilities) / stays
        self._values[node] = np.where(np.arange(value.shape[1]), 0, value)  # no slopes yet
        value[:, 1:] = mix(self.after(node), self.dealers.probabilities)[:, 1:] / stays
        return value
