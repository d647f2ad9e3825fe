"""Differences between counting runs, with errors that make use of the cards that they have in common.

Shoe number k of block b has the same cards in all runs of one seed and number of decks, whatever is played and however
deep it is dealt. Errors of estimates are sums over shoes (`CountRun.errors`); runs keep them for units of a few shoes.
The variance of a difference is the sum over the units of the squared differences of the errors. Units that only one of
the runs has, or that have fewer shoes there, count as independent.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bjsim.arrays import Floats
from bjsim.strategies.counting.count_run import CountRun


def has_common_cards(one: CountRun, other: CountRun) -> bool:
    """Whether two runs were dealt the same shoes, and kept the sums by unit that a comparison needs."""
    same = one.seed == other.seed and one.game.rules.decks == other.game.rules.decks
    return same and one.units is not None and other.units is not None


def difference_error(one: CountRun, slopes: Floats, other: CountRun, other_slopes: Floats) -> float:
    """Compute the standard error of the difference between the figures of two runs.

    `slopes` are the derivatives of a figure by the estimates of its run's table, one for each row of
    `returns.error`. The error is that of independent runs if the cards are not in common.
    """
    if not has_common_cards(one, other):
        return math.hypot(_own_error(one, slopes), _own_error(other, other_slopes))
    (first, shoes), (second, other_shoes) = _unit_errors(one, slopes), _unit_errors(other, other_slopes)
    width, other_width = shoes[0, 0], other_shoes[0, 0]
    while width < other_width:  # the longer run has added up neighbouring blocks
        first, shoes, width = _add_neighbours(first), _add_neighbours(shoes), 2 * width
    while other_width < width:
        second, other_shoes, other_width = _add_neighbours(second), _add_neighbours(other_shoes), 2 * other_width
    size = np.maximum(shoes.shape, other_shoes.shape)
    first, shoes, second, other_shoes = (_pad(part, size) for part in (first, shoes, second, other_shoes))
    return math.sqrt(np.where(shoes == other_shoes, (second - first) ** 2, first**2 + second**2).sum())


def _own_error(run: CountRun, slopes: Floats) -> float:
    assert run.returns.error is not None
    return math.sqrt(slopes @ run.returns.error @ slopes)


def _unit_errors(run: CountRun, slopes: Floats) -> tuple[Floats, Floats]:
    """The error of a figure by unit, and the shoes of the units, both (rows, U)."""
    assert run.units is not None
    forms, constants = run.errors
    errors = np.einsum("ruhd,hd->ru", run.units.sums, slopes @ forms) + run.units.shoes @ (constants @ slopes)
    return errors, run.units.shoes.sum(axis=2).astype(float)


def _add_neighbours(rows: Floats) -> Floats:
    even = _pad(rows, np.array([len(rows) + len(rows) % 2, rows.shape[1]]))
    return even[::2] + even[1::2]


def _pad(rows: Floats, size: NDArray[np.int64]) -> Floats:
    return np.pad(rows, [(0, int(more)) for more in size - rows.shape])
