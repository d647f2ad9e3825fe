"""What a count says about the unseen cards: their expected composition.

The least-squares line of the composition in the mean tag m of the n unseen cards is, for N cards of which a share p(q)
has the value q and tag(q), with the mean tag T and the variance V of the tags of all N,

    E[unseen cards of value q] = n p(q) [1 + (tag(q) - T) (m - T) / V]

It does not depend on n beyond the factor. The true count t sets m = T - t / C for cards drawn from a full shoe whose
decks have C cards. The exact expectation differs in second order.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bjsim.arrays import Array, Floats
from bjsim.sim.game.cards import DECKS, TEN
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.support import need
from bjsim.strategies.counting.system import IN_DECK, CountingSystem, ScaledCount, card_counts
from bjsim.strategies.shoe.hands import Composition

# --- Exact expectations over the compositions of a shoe at fixed depths.
#
# After exactly n cards the composition of the shoe is a multivariate hypergeometric draw, whatever was played. Given
# the running count, the expected numbers of cards left are the same share of all ranks with the same tag.


class DepthDistribution(NamedTuple):
    """The distribution of the running count at every depth up to the cut."""

    probability: Array  # probability of each running count after n cards, from the lowest possible one, (n, R)
    # the expected number of cards left by value, A, 2..9, T, where the running count is this one, and 0 elsewhere:
    # E[cards left; running count], (10, n, R)
    left: Array
    unseen: Array  # cards left after n cards, (n,)

    def mean_by_bucket(self, bucket: Array, buckets: int) -> tuple[Array, Array]:
        """Mean over the depths: the share of each bucket, (B,), and the mean composition there, (B, 10)."""
        number = bucket[: len(self.probability)]
        share = np.bincount(number.ravel(), self.probability.ravel(), buckets)
        weights = self.left / self.unseen[:, None]
        composition = np.array([np.bincount(number.ravel(), one.ravel(), buckets) for one in weights]).T
        return share / len(self.probability), composition / np.maximum(share, 1e-300)[:, None]

    def expected_controls(self, bucket: Array, values: Array, slopes: Array, step: int = 1) -> tuple[Array, Array]:
        """Return exact expectations of the controls of one shoe at depths 0, step, 2 step .., by bucket.

        They are the expected first-order value of a round where the count is in the bucket (0 elsewhere), and
        the probability that it is there; both (depths, B). `bucket` is by cards seen and running count, `values`
        (B,) are of a round at the origin of its `slopes` (B, 10) in the composition.
        """
        number, buckets = bucket[: len(self.probability)], len(values)
        expected = self.probability * values[number]
        for q, left in enumerate(self.left):
            expected += slopes[:, q][number] * left / self.unseen[:, None]
        rows = range(0, len(number), step)
        value = np.array([np.bincount(number[n], expected[n], buckets) for n in rows])
        return value, np.array([np.bincount(number[n], self.probability[n], buckets) for n in rows])


def depth_distribution(scaled: ScaledCount, decks: int, cut: int) -> DepthDistribution:
    """Compute the distribution of the running count after 0, 1, .. cut - 1 cards of a full shoe.

    The numbers of ways to draw n cards with a running count are convolved over the ranks with equal tags, and
    with them the sums of the cards of each such class.
    """
    tags, cards = np.array(scaled.tags), decks * np.array(scaled.system.in_deck)
    classes = np.unique(tags)
    sizes = np.array([cards[tags == tag].sum() for tag in classes])
    low = int(np.minimum(classes * sizes, 0).sum())
    width = int(np.maximum(classes * sizes, 0).sum()) - low + 1
    ways = np.zeros((1 + len(classes), cut, width))  # the ways, and for each class the sum of its cards over these
    ways[0, 0, -low] = 1
    for number, (tag, size) in enumerate(zip(classes.tolist(), sizes.tolist(), strict=True)):
        ways[: 1 + number], ways[1 + number] = _draw(ways[: 1 + number], tag, size)
    total = ways[0].sum(axis=1)[:, None]
    probability = ways[0] / total
    left = np.empty((len(tags), cut, width))
    for q, tag in enumerate(tags):
        number = int(np.searchsorted(classes, tag))
        left[q] = cards[q] * (probability - ways[1 + number] / total / sizes[number])
    return DepthDistribution(probability, left, cards.sum() - np.arange(cut))


def _draw(ways: Array, tag: int, size: int) -> tuple[Array, Array]:
    """Convolve with draws from a class. Returns: the ways, and the sum of the class's cards over them."""
    drawn, own, binomial = np.zeros_like(ways), np.zeros_like(ways[0]), 1.0
    depths, width = ways.shape[1:]
    for k in range(min(size, depths - 1) + 1):
        shift = k * tag
        if abs(shift) >= width:
            break
        from_, to = slice(max(-shift, 0), width - max(shift, 0)), slice(max(shift, 0), width + min(shift, 0))
        part = binomial * ways[:, : depths - k, from_]
        drawn[:, k:, to] += part
        own[k:, to] += k * part[0]
        binomial *= (size - k) / (k + 1)
    return drawn, own


def decks_to_count(rules: Rules) -> int:
    """Return the number of decks of a game. Raises: InputError: Its cards cannot be counted by ten tags."""
    need(rules, "count")
    return int(rules.decks)


def remaining(decks: int, known: str = "", deck: str = "standard") -> tuple[int, ...]:
    """Return the ten counts of a shoe without the known cards, all of which it must hold."""
    return tuple(count * decks - gone for count, gone in zip(IN_DECK[deck], card_counts(known), strict=True))


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
    return np.asarray(unseen * shares / shares.sum())


def typical_shoe(system: CountingSystem, decks: int, unseen: float, true_count: float) -> Composition:
    """Return the expected composition of the unseen cards at a true count before the round."""
    mean_tag = (float(system.imbalance) - true_count) / system.deck_size
    expected = expected_counts(system, remaining(decks, deck=system.deck), unseen, mean_tag)
    return Composition(tuple(spread_tens(expected, system.deck).tolist()))


def spread_tens(by_value: Floats, deck: str) -> Floats:
    """The counts of all 13 ranks, given those of A, 2 to 9 and ten-valued cards. Spanish decks have no tens."""
    ranks = np.array(DECKS[deck][TEN:])
    return np.concatenate([by_value[:TEN], by_value[TEN] * ranks / ranks.sum()])
