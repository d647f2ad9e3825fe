"""Insurance in a finite shoe: half a bet that pays 2:1 if the card under an ace is ten-valued."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bjsim.arrays import Floats, Ints
from bjsim.sim.game.cards import TEN
from bjsim.strategies.charts.chart import Chart
from bjsim.strategies.shoe.passes import Nodes, Shown

ROUNDING = 1e-15


def chance_of_natural(nodes: Nodes, shown: Shown, start: int) -> Floats:
    """Return the probability of a ten-valued hole card, given the cards of each node, shape (N,)."""
    cards = np.maximum(shown.total[start] - nodes.sizes, 1)
    chance: Floats = np.clip((shown.left[start, TEN] - nodes.counts[TEN]) / cards, 0, 1)
    return chance


def profits(nodes: Nodes, shown: Shown, start: int) -> Floats:
    """Return the expected profit of an insurance bet at each node, in initial bets, shape (N,)."""
    return (3 * chance_of_natural(nodes, shown, start) - 1) / 2


def takes_insurance(strategy: str | Chart, profits: Floats, nodes: Ints, weights: Floats) -> NDArray[np.bool_]:
    """Return the nodes where a strategy takes insurance, as a mask (N,).

    A chart takes it with every hand or with none; td does what is better. The others decide by their cards.
    `profits` is the expected profit of insurance at each node, `nodes` those that are dealt, `weights` their
    probabilities.
    """
    if isinstance(strategy, Chart):
        return np.full(len(profits), strategy.insurance == "I")
    if strategy == "td":
        return np.full(len(profits), weights @ profits[nodes] > ROUNDING)
    better: NDArray[np.bool_] = profits > ROUNDING
    return better
