"""The value of a split as a linear form in the values of single split hands.

Let U(a, b) be the value of one split hand about to draw its second card, after the removal of `a` further pair cards
and `b` further cards that are known not to be pair cards. Let F(a, b) be the same if the second card is also known not
to be a pair card. Let v(a, b) be the probability that the next card is a pair card. Total expectation over it gives

    U(a, b) = [U(a, b-1) - v(a, b-1) U(a+1, b-1)] / [1 - v(a, b-1)]
    F(a, b) = [F(a, b-1) - v(a, b) F(a+1, b-1)] / [1 - v(a, b)]

so only U(a, 0) and F(a, 0) require the evaluation of hands. Second cards are drawn until every hand has one or the
limit is reached; cards are exchangeable, so the order does not matter. The value of n hands without a pair is
n F(n-2, n-1). At the limit of m hands, where b have a second card, it is b F(m-2, b-1) + (m-b) U(m-2, b).
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from bjsim.arrays import Floats
from bjsim.strategies.shoe.hands import Tree

NOTHING = 1e-14
FEW_HANDS = 6  # up to this limit, keep all weights


@dataclass(frozen=True)
class SplitForm:
    """The value of a split as a linear form: the sum of weight x value over nodes.

    weight: shape (limit - 1, A, 10), by number of hands (n - 2), further pair cards removed, and second card.
    """

    tree: Tree
    weight: Floats

    def value(self, weight: Floats, values: Floats) -> float:
        """Return the sum of weight x value for a part of the form, (A, 10). values: by node."""
        seconds = [values[self.tree.second(gone)] for gone in range(len(weight))]
        return float((weight * np.array(seconds)).sum())


@lru_cache(maxsize=1024)
def split_weights(pairs: float, cards: float, limit: int, first_hand: bool = False) -> tuple[Floats, Floats]:
    """Return the weights of U(a, 0) and F(a, 0) in the value of a split, each of shape (limit - 1, A).

    Row n - 2 is the contribution of rounds that end with n hands. `pairs` is the pair cards left, after the pair
    itself and the dealer's known cards, `cards` all cards left, `limit` the maximum number of hands of a seat;
    `first_hand` values the first hand only.
    """
    chance = _chances(pairs, cards, limit)
    ways = _ways(chance, limit)
    whole, other = _forms(chance, 0), _forms(chance, 1)
    first, second = np.zeros((2, limit - 1, len(chance)))
    for hands in range(2, min(limit, len(chance) + 1) + 1):
        gone = hands - 2
        if hands < limit:
            second[gone] = ways[hands, hands] * (1 if first_hand else hands) * other[hands - 1][gone]
            continue
        for done in range(hands):
            if done == 0 or not first_hand:
                first[gone] += ways[hands, done] * (1 if first_hand else hands - done) * whole[done][gone]
            if done:
                second[gone] += ways[hands, done] * (1 if first_hand else done) * other[done - 1][gone]
    return first, second


@lru_cache(maxsize=1024)
def product_weights(pairs: float, cards: float, limit: int) -> Floats:
    """Return the weights in the expected sum of products of profits over ordered pairs of split hands, (3, A).

    The axes are the number of the two hands whose second card is a pair card (0, 1 or 2; for 1, the second of the
    two hands) and further pair cards removed. The arguments are those of `split_weights`.
    """
    chance = _chances(pairs, cards, limit)
    ways = _ways(chance, limit)
    whole, mixed, other = (_forms(chance, shift) for shift in range(3))
    unknown, single, known = np.zeros((3, len(chance)))  # neither, one or both second cards known not to be pair cards
    for hands in range(2, min(limit, len(chance) + 1) + 1):
        gone = hands - 2
        if hands < limit:
            known += ways[hands, hands] * hands * (hands - 1) * other[hands - 2][gone]
            continue
        for done in range(hands):
            left = hands - done
            unknown += ways[hands, done] * left * (left - 1) * whole[done][gone]
            if done > 0:
                single += ways[hands, done] * 2 * done * left * mixed[done - 1][gone]
            if done > 1:
                known += ways[hands, done] * done * (done - 1) * other[done - 2][gone]
    once = 1 - chance[:, 0]
    twice = once * (1 - chance[:, 1])
    single = np.divide(single, once, out=np.zeros_like(single), where=once > 0)
    known = np.divide(known, twice, out=np.zeros_like(known), where=twice > 0)
    return np.array([unknown + single + known, 2 * unknown + single, unknown])


def _chances(pairs: float, cards: float, limit: int) -> Floats:
    most = min(2 * (limit - 2), int(pairs))
    chance = np.zeros((most + 1, limit + 2))
    for gone in range(most + 1):
        for known in range(limit + 2):
            if cards - gone - known > 0:
                chance[gone, known] = min((pairs - gone) / (cards - gone - known), 1.0)
    return chance


def _ways(chance: Floats, limit: int) -> Floats:
    """Return the probability of ever having n hands, b of them with a second card; shape (limit + 1, limit + 1)."""
    ways = np.zeros((limit + 1, limit + 1))
    ways[2, 0] = 1.0
    for hands in range(2, min(limit - 1, len(chance) + 1) + 1):
        for done in range(hands):
            ways[hands + 1, done] += ways[hands, done] * chance[hands - 2, done]
            ways[hands, done + 1] += ways[hands, done] * (1 - chance[hands - 2, done])
    return ways


@lru_cache(maxsize=256)
def most_gone(pairs: int, cards: float, limit: int) -> int:
    """Return the largest number of further pair cards whose weight exceeds rounding error."""
    if limit <= FEW_HANDS:
        return min(2 * (limit - 2), pairs)
    weights = sum(np.abs(form).sum(axis=0) for form in split_weights(pairs, cards, limit))
    return int(np.flatnonzero(weights > NOTHING)[-1])


def _forms(chance: Floats, shift: int) -> list[Floats]:
    """Return for each b the matrix that maps U(., 0) to U(., b), or F if `shift` is 1; shape (A, A)."""
    forms = [np.eye(len(chance))]
    for known in range(chance.shape[1] - 1 - shift):
        again = chance[:, known + shift][:, None]
        further = np.vstack([forms[-1][1:], np.zeros((1, len(chance)))])
        with np.errstate(divide="ignore", invalid="ignore"):
            form = (forms[-1] - again * further) / (1 - again)
        forms.append(np.where(again < 1, form, 0.0))
    return forms
