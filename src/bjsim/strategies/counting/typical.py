"""What a count says about the unseen cards: their expected composition.

The least-squares line of the composition in the mean tag m of the n unseen cards is, for N cards of which a share p(q)
has the value q and tag(q), with the mean tag T and the variance V of the tags of all N,

    E[unseen cards of value q] = n p(q) [1 + (tag(q) - T) (m - T) / V]

It does not depend on n beyond the factor. The true count t sets m = T - t / C for cards drawn from a full shoe whose
decks have C cards. The exact expectation differs in second order.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bjsim.arrays import Floats
from bjsim.errors import InputError
from bjsim.sim.game.cards import DECKS, TEN
from bjsim.sim.game.rules import Rules
from bjsim.strategies.counting.system import IN_DECK, CountingSystem, card_counts
from bjsim.strategies.shoe.composition import Composition

VALUES = TEN + 1


def decks_to_count(rules: Rules) -> int:
    """Return the number of decks of a game. Raises: InputError: Its cards cannot be counted by ten tags."""
    if rules.infinite:
        raise InputError("decks = inf: cards cannot be counted in an infinite shoe; use 1 to 8 decks")
    if rules.attack:
        raise InputError("attack = true: a counter is not asked between the dealer's card and its own; use false")
    rules.need_one_hand("are not counted")
    return int(rules.decks)


def remaining(decks: int, known: str | Sequence[int] = "", deck: str = "standard") -> tuple[int, ...]:
    """Return the ten counts of a shoe without known cards. Raises: InputError: The shoe lacks them."""
    counts = tuple(count * decks - gone for count, gone in zip(IN_DECK[deck], card_counts(known), strict=True))
    if min(counts) < 0:
        raise InputError(f"cards: {known!r} cannot all come from {decks} decks")
    return counts


def tag_moments(system: CountingSystem, counts: Sequence[float]) -> tuple[float, float]:
    """Return the mean and the variance of the tags of these cards."""
    shares, tags = np.array(counts, float) / sum(counts), np.array(system.tags, float)
    mean = float(shares @ tags)
    return mean, float(shares @ (tags - mean) ** 2)


def expected_counts(system: CountingSystem, counts: Sequence[float], unseen: float, mean_tag: float) -> Floats:
    """Return the expected unseen cards of each value, none below 0, by the least-squares line.

    `counts` are the cards among which the unseen ones are drawn, A, 2..9, T; `mean_tag` is of the unseen ones.
    """
    mean, variance = tag_moments(system, counts)
    tags = np.array(system.tags, float)
    shares = np.array(counts, float) / sum(counts) * (1 + (tags - mean) * (mean_tag - mean) / variance)
    shares = np.maximum(shares, 0)
    expected: Floats = unseen * shares / shares.sum()
    return expected


def typical_shoe(system: CountingSystem, decks: int, unseen: float, true_count: float) -> Composition:
    """Return the expected composition of the unseen cards at a true count before the round."""
    mean_tag = (float(system.imbalance) - true_count) / system.deck_size
    expected = expected_counts(system, remaining(decks, deck=system.deck), unseen, mean_tag)
    return Composition(tuple(spread_tens(expected, system.deck).tolist()))


def spread_tens(by_value: Floats, deck: str) -> Floats:
    """The counts of all 13 ranks, given those of A, 2 to 9 and ten-valued cards. Spanish decks have no tens."""
    ranks = np.array(DECKS[deck][TEN:])
    spread: Floats = np.concatenate([by_value[:TEN], by_value[TEN] * ranks / ranks.sum()])
    return spread
