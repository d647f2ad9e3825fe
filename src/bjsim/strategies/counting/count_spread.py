"""How often decisions are made at each count, under all conventions of a system."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from bjsim.arrays import Floats
from bjsim.sim.game.rules import Rules
from bjsim.strategies.counting.system import CountingSystem
from bjsim.strategies.counting.typical import tag_moments

DEPTHS = 24  # depths of the shoe over which counts are averaged: the middles of as many layers
WIDEST = 6  # standard deviations
MOST_DEALT = 0.95  # share of the shoe; of an empty one, nothing can be computed
NEARLY = 1e-9  # a quotient this close below a whole number is that number


@dataclass(frozen=True)
class CountSpread:
    """The distribution of the count, at M depths that are equally likely from the full shoe to the cut.

    Attributes:
        true: True counts at the decision, not rounded, shape (M,).
        count: The counts when the decision is made: rounded true counts, or running counts.
        before: The counts before the round, which decide the bets.
    """

    true: Floats
    count: Floats
    before: Floats
    chance: Floats


def dealt_share(rules: Rules) -> float:
    """Return the share of the shoe over whose depths counts are averaged."""
    return min(float(rules.cut), MOST_DEALT)


def mean_unseen(cards: int, dealt: float) -> int:
    """Return the number of unseen cards at the mean depth of a shoe that is dealt to a share of its cards."""
    return round(cards * (1 - dealt / 2))


def count_spread(
    system: CountingSystem,
    decks: int,
    dealt: float,
    cards: float = 0,
    tags: float = 0,
    tag_variance: float = 0,
    drawn: int = 0,
) -> CountSpread:
    """Return the distribution of the count when a decision is made, normal at each depth.

    The system's timing says whether the cards of the round count: `cards` is the mean number of those seen at
    the decision, `tags` the mean sum of their tags, `tag_variance` its variance apart from the `drawn` cards.
    These may be any of the unseen ones. Where many of these are low, so are they, and the count varies as that of
    a shoe with this many cards less. `dealt` is the share of the shoe before the cut card.
    """
    deck, scale = system.deck_size, system.scale
    size = deck * decks
    pivot, imbalance = float(system.pivot(decks)), float(system.imbalance)
    mean, variance = tag_moments(system, system.in_deck)
    columns: list[Floats] = []
    layers = (np.arange(DEPTHS) + 0.5) / DEPTHS
    for unseen in np.unique((size * (1 - dealt * layers)).astype(int)).tolist():
        left, other = max(round(unseen - cards), 1), max(unseen - drawn, 1)
        sd = math.sqrt(other * variance * (size - other) / (size - 1) + tag_variance)
        centre = pivot - unseen * mean + tags
        low, high = math.floor((centre - WIDEST * sd) * scale), math.ceil((centre + WIDEST * sd) * scale)
        running = np.arange(low, high + 1) / scale
        chance = np.exp(-(((running - centre) / max(sd, 0.1)) ** 2) / 2)
        before = _counts(system, running - tags, running - tags - pivot, unseen)
        true = (running - pivot) * deck / left + imbalance
        if system.timing == "round":
            true = (running - tags - pivot) * deck / unseen + imbalance
        count = _counts(system, running, running - pivot, left) if system.timing == "decision" else before
        columns.append(np.array([true, count, before, chance / chance.sum()]))
    true, count, before, chance = np.concatenate(columns, axis=1)
    return CountSpread(true, count, before, chance / chance.sum())


def _counts(system: CountingSystem, running: Floats, over_pivot: Floats, unseen: int) -> Floats:
    """Return the counts for decisions; those that are not rounded, in steps of 0.1."""
    if not system.uses_true_count:
        return running
    quotient = over_pivot * system.deck_size / system.divisor_cards(unseen) + float(system.imbalance)
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
