"""Kinds of hands: what the rules make of them, and the codes that a chart may have for them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bjsim.sim.game.actions import CODES
from bjsim.sim.game.hand_states import HandState
from bjsim.strategies.shoe.passes import HIT, STAND

ACTIONS = max(CODES.values()) + 1  # length of arrays by code of the action; 0 is not used


class Kind(NamedTuple):
    """A class of hands with the same legal actions, the same chart row and the same result.

    legal: letters of the legal actions; empty if the hand stands automatically. row: its row in a chart.
    fixed: a pair of aces that may not be split again, without a row; it is played as if its row had the code P.
    """

    state: HandState
    legal: str
    row: str
    fixed: bool = False

    def act(self, code: str) -> int:
        """Return the action that a chart's code means for this kind, consistent with `Chart.policy`."""
        if not self.legal:
            return STAND
        if self.fixed:
            code = "P"
        if code[0] in self.legal:
            return CODES[code[0]]
        if "H" not in self.legal:
            return STAND
        return CODES[code[1].upper()] if len(code) > 1 else HIT


@dataclass(frozen=True)
class Options:
    """The possible codes of a chart's rows.

    names: (row, code), row by row. kinds, acts: the kinds that each code covers, and its action for each of them.
    """

    names: list[tuple[str, str]]
    kinds: list[NDArray[np.int64]]
    acts: list[NDArray[np.int8]]

    @cached_property
    def rows(self) -> dict[str, range]:
        rows: dict[str, range] = {}
        for index, (row, _) in enumerate(self.names):
            rows[row] = range(rows[row].start if row in rows else index, index + 1)
        return rows

    @cached_property
    def _flat(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        first = np.cumsum([0, *map(len, self.kinds)])[:-1]
        return np.concatenate(self.kinds) * ACTIONS + np.concatenate(self.acts), first

    def ev(self, by_action: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the value of each option. by_action: value by kind and action, shape (kinds, ACTIONS)."""
        flat, first = self._flat
        total: NDArray[np.float64] = np.add.reduceat(by_action.ravel()[flat], first)
        return total
