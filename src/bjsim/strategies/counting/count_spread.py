"""How often decisions are made at each count, under all conventions of a system."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bjsim.strategies.counting.system import DECK, IN_DECK, CountingSystem
from bjsim.strategies.counting.typical import tag_moments

Floats = NDArray[np.float64]
DEPTHS = 24  # depths of the shoe over which counts are averaged
WIDEST = 6  # standard deviations
NEARLY = 1e-9  # a quotient this close below a whole number is that number


@dataclass(frozen=True)
class CountSpread:
    """The distribution of the count, at depths that are equally likely from the full shoe to the cut.

    Attributes:
        true: True counts at the decision, not rounded, shape (M,).
        count: The counts by which the decision is made: rounded true counts, or running counts.
        before: The counts before the round, by which bets are made.
        chance: Their probabilities.
    """

    true: Floats
    count: Floats
    before: Floats
    chance: Floats


def count_spread(
    system: CountingSystem, decks: int, dealt: float, cards: float = 0, tags: float = 0, tag_variance: float = 0
) -> CountSpread:
    """Return the distribution of the count when a decision is made, normal at each depth.

    Args:
        system: The counting system; its timing says whether the cards of the round count.
        decks: The decks of the shoe.
        dealt: The share of the shoe before the cut card.
        cards: Mean number of cards of the round that are seen at the decision.
        tags: Mean sum of their tags.
        tag_variance: Variance of that sum.
    """
    size, scale = DECK * decks, system.scale
    pivot, imbalance = float(system.pivot(decks)), float(system.imbalance)
    mean, variance = tag_moments(system, IN_DECK)
    columns: list[Floats] = []
    for unseen in np.unique(np.linspace(size, size * (1 - dealt), DEPTHS).astype(int)).tolist():
        left = max(round(unseen - cards), 1)
        sd = math.sqrt(unseen * variance * (size - unseen) / (size - 1) + tag_variance)
        centre = pivot - unseen * mean + tags
        low, high = math.floor((centre - WIDEST * sd) * scale), math.ceil((centre + WIDEST * sd) * scale)
        running = np.arange(low, high + 1) / scale
        chance = np.exp(-(((running - centre) / max(sd, 0.1)) ** 2) / 2)
        before = _counts(system, running - tags, running - tags - pivot, unseen)
        true = (running - pivot) * DECK / left + imbalance
        if system.timing == "round":
            true = (running - tags - pivot) * DECK / unseen + imbalance
        count = _counts(system, running, running - pivot, left) if system.timing == "decision" else before
        columns.append(np.array([true, count, before, chance / chance.sum()]))
    true, count, before, chance = np.concatenate(columns, axis=1)
    return CountSpread(true, count, before, chance / chance.sum())


def _counts(system: CountingSystem, running: Floats, over_pivot: Floats, unseen: int) -> Floats:
    """Return the counts by which decisions are made; those that are not rounded, in steps of 0.1."""
    if not system.uses_true_count:
        return running
    quotient = over_pivot * DECK / system.divisor_cards(unseen) + float(system.imbalance)
    if system.rounding == "floor":
        counts = np.floor(quotient + NEARLY)
    elif system.rounding == "truncate":
        counts = np.trunc(quotient + np.copysign(NEARLY, quotient))
    elif system.rounding == "round":
        counts = np.copysign(np.floor(np.abs(quotient) + 0.5 + NEARLY), quotient)
    else:
        counts = np.floor(10 * quotient + NEARLY) / 10
    found: Floats = counts + 0.0  # without negative zeros
    return found
