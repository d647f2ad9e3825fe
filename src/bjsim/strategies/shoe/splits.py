"""The value of a split as a linear form in the values of single split hands.

Let U(a, b) be the value of one split hand about to draw its second card when `a` further pair cards and `b` further
cards that are known not to be pair cards are gone, and F(a, b) that of one whose second card is known not to be a pair
card either. With v(a, b) the chance that the next card is a pair card, total expectation over that card gives

    U(a, b) = [U(a, b-1) - v(a, b-1) U(a+1, b-1)] / [1 - v(a, b-1)]
    F(a, b) = [F(a, b-1) - v(a, b) F(a+1, b-1)] / [1 - v(a, b)]

so that only U(a, 0) and F(a, 0) need the hands themselves. Second cards are drawn until no hand waits for one or the
limit is met; cards are exchangeable, so the order does not matter. n hands without a pair among them are worth
n F(n-2, n-1); at the limit of m hands, of which b have their second card, b F(m-2, b-1) + (m-b) U(m-2, b).
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
NOTHING = 1e-14
FEW_HANDS = 6  # up to so many, every weight counts


@lru_cache(maxsize=1024)
def split_weights(pairs: int, cards: int, limit: int) -> tuple[Floats, Floats]:
    """Weights of U(a, 0) and F(a, 0) in the value of a split.

    Args:
        pairs: Pair cards left after the pair itself and the dealer's known cards.
        cards: All cards left.
        limit: Hands that a seat may hold.

    Returns:
        Two arrays of shape (limit - 1, A): row n - 2 holds what a round that comes to n hands adds.
    """
    chance = _chances(pairs, cards, limit)
    ways = _ways(chance, limit)
    whole, other = _forms(chance, 0), _forms(chance, 1)
    first, second = np.zeros((2, limit - 1, len(chance)))
    for hands in range(2, min(limit, len(chance) + 1) + 1):
        gone = hands - 2
        if hands < limit:
            second[gone] = ways[hands, hands] * hands * other[hands - 1][gone]
            continue
        for done in range(hands):
            first[gone] += ways[hands, done] * (hands - done) * whole[done][gone]
            if done:
                second[gone] += ways[hands, done] * done * other[done - 1][gone]
    return first, second


@lru_cache(maxsize=1024)
def product_weights(pairs: int, cards: int, limit: int) -> Floats:
    """Weights in the expected sum, over ordered pairs of a split's hands, of the product of their profits.

    Returns:
        Shape (3, A), of the parts of that product's expectation in which no, one, or each of the two hands has a pair
        card for its second card, by further pair cards gone. One: the second of the two hands.
    """
    chance = _chances(pairs, cards, limit)
    ways = _ways(chance, limit)
    whole, mixed, other = (_forms(chance, shift) for shift in range(3))
    unknown, half, known = np.zeros((3, len(chance)))  # second cards: neither, one or both known to be no pair card
    for hands in range(2, min(limit, len(chance) + 1) + 1):
        gone = hands - 2
        if hands < limit:
            known += ways[hands, hands] * hands * (hands - 1) * other[hands - 2][gone]
            continue
        for done in range(hands):
            left = hands - done
            unknown += ways[hands, done] * left * (left - 1) * whole[done][gone]
            if done > 0:
                half += ways[hands, done] * 2 * done * left * mixed[done - 1][gone]
            if done > 1:
                known += ways[hands, done] * done * (done - 1) * other[done - 2][gone]
    once = 1 - chance[:, 0]
    twice = once * (1 - chance[:, 1])
    half = np.divide(half, once, out=np.zeros_like(half), where=once > 0)
    known = np.divide(known, twice, out=np.zeros_like(known), where=twice > 0)
    return np.array([unknown + half + known, 2 * unknown + half, unknown])


def _chances(pairs: int, cards: int, limit: int) -> Floats:
    """v(a, b)."""
    most = min(2 * (limit - 2), pairs)
    chance = np.zeros((most + 1, limit + 2))
    for gone in range(most + 1):
        for known in range(limit + 2):
            if cards - gone - known > 0:
                chance[gone, known] = min((pairs - gone) / (cards - gone - known), 1.0)
    return chance


def _ways(chance: Floats, limit: int) -> Floats:
    """Probability that there are ever n hands of which b have their second card, shape (limit + 1, limit + 1)."""
    ways = np.zeros((limit + 1, limit + 1))
    ways[2, 0] = 1.0
    for hands in range(2, min(limit - 1, len(chance) + 1) + 1):
        for done in range(hands):
            ways[hands + 1, done] += ways[hands, done] * chance[hands - 2, done]
            ways[hands, done + 1] += ways[hands, done] * (1 - chance[hands - 2, done])
    return ways


@lru_cache(maxsize=256)
def most_gone(pairs: int, cards: int, limit: int) -> int:
    """How many further pair cards need be followed: beyond, the weights are below rounding."""
    if limit <= FEW_HANDS:
        return min(2 * (limit - 2), pairs)
    weights = sum(np.abs(form).sum(axis=0) for form in split_weights(pairs, cards, limit))
    return int(np.flatnonzero(weights > NOTHING)[-1])


def _forms(chance: Floats, shift: int) -> list[Floats]:
    """For each b the matrix that gives U(., b) from U(., 0), or F with `shift` 1; shape (A, A)."""
    forms = [np.eye(len(chance))]
    for known in range(chance.shape[1] - 1 - shift):
        again = chance[:, known + shift][:, None]
        further = np.vstack([forms[-1][1:], np.zeros((1, len(chance)))])
        with np.errstate(divide="ignore", invalid="ignore"):
            form = (forms[-1] - again * further) / (1 - again)
        forms.append(np.where(again < 1, form, 0.0))
    return forms
