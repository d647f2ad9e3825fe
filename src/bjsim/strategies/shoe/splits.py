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
    most = min(2 * (limit - 2), pairs)
    chance = np.zeros((most + 1, limit + 1))
    for gone in range(most + 1):
        for known in range(limit + 1):
            if cards - gone - known > 0:
                chance[gone, known] = min((pairs - gone) / (cards - gone - known), 1.0)
    whole = _forms(chance, 0)
    other = _forms(chance, 1)
    first, second = np.zeros((2, limit - 1, most + 1))
    ways = np.zeros((limit + 1, limit + 1))  # probability of n hands of which b have their second card
    ways[2, 0] = 1.0
    for hands in range(2, limit + 1):
        for done in range(hands + 1):
            weight = ways[hands, done]
            gone = hands - 2
            if weight == 0 or gone > most:
                continue
            if hands == limit:
                if done:
                    second[gone] += weight * done * other[done - 1][gone]
                first[gone] += weight * (hands - done) * whole[done][gone]
            elif done == hands:
                second[gone] += weight * hands * other[hands - 1][gone]
            else:
                ways[hands + 1, done] += weight * chance[gone, done]
                ways[hands, done + 1] += weight * (1 - chance[gone, done])
    return first, second


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
