"""The payoffs of hands by the dealer's outcome, numbered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bjsim.sim.engine.kernels.layout import ATTACK, CHOICE, INSURE, CompiledRules

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class PayoffVectors:
    """The distinct payoffs of hands by the dealer's outcome.

    `codes` (V, O) has zeros in row 0, and a second half with an insurance bet, if any is made. `number` (R,
    B) is the row of a result at one bet, two, and as many more as it may double; `insured` is what insurance
    adds to it, `attack` what it adds that the bets were doubled before the deal.
    """

    codes: Array
    number: Array
    insured: int
    attack: int

    @classmethod
    def of(cls, compiled: CompiledRules) -> PayoffVectors:
        results, stakes, outcomes = compiled.pay.shape
        distinct, row = np.unique(compiled.pay.reshape(-1, outcomes), axis=0, return_inverse=True)
        codes = np.concatenate([np.zeros((1, outcomes), np.int64), distinct])
        number = 1 + row.reshape(results, stakes)
        insured = len(codes) if may_take(compiled.act, INSURE).any() else 0
        if insured:
            codes = np.concatenate([codes, codes + compiled.pay[compiled.numbers.insured, 0]])
        attack = len(codes) if (compiled.act[:, :, 0] == ATTACK).any() else 0
        return cls(np.concatenate([codes, 2 * codes]) if attack else codes, number, insured, attack)


def may_take(act: Array, code: int) -> Array:
    """Whether cells of a chart are this action, or a choice that has it, bool (...)."""
    return np.asarray((act == code) | ((act >= CHOICE) & (act >> code & 1 > 0)))
