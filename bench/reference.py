"""The references of `speed.py`: a plain scalar kernel in numba, the unit of its speeds, and one that feels memory.

In the plain kernel one seat plays like the dealer in an infinite shoe: no splits, doubles or naturals, one card and one
branch at a time. It is not one of bjsim's games, and its results are not used. Its speed shows what the machine can do
at the moment; all other speeds are ratios to it, measured alternately.

The plain kernel needs no memory. The other reference follows a chain through a table that is larger than the first
cache, as the lookup table is, so a slow mode of the machine's memory is not mistaken for slower code.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np


@numba.njit(cache=True)
def draw(state: Any) -> Any:
    """Points of the next card, and the generator's next state (Marsaglia's xorshift)."""
    state ^= state << np.uint64(13)
    state ^= state >> np.uint64(7)
    state ^= state << np.uint64(17)
    rank = ((state >> np.uint64(32)) * np.uint64(13)) >> np.uint64(32)
    return min(np.int64(rank) + 1, 10), state


@numba.njit(cache=True)
def draw_to_17(state: Any) -> Any:
    """Final points of a hand that draws to 16, and the generator's next state."""
    points, aces = 0, 0
    while True:
        card, state = draw(state)
        points += card
        aces += card == 1
        best = points + 10 if aces and points <= 11 else points
        if best >= 17:
            return best, state


@numba.njit(cache=True)
def play_reference(rounds: int, seed: int) -> int:
    """Bets won less bets lost in `rounds` rounds."""
    state = np.uint64(seed)
    won = 0
    for _ in range(rounds):
        hand, state = draw_to_17(state)
        if hand > 21:
            won -= 1
            continue
        dealer, state = draw_to_17(state)
        if dealer > 21 or hand > dealer:
            won += 1
        elif hand < dealer:
            won -= 1
    return won


CHAIN = 1 << 18  # links of 4 bytes: 1 MB


def make_chain() -> np.ndarray[Any, Any]:
    """A table in which every place names the next one of a single random cycle, uint32 (CHAIN,)."""
    order = np.random.default_rng(1).permutation(CHAIN).astype(np.uint32)
    chain = np.empty(CHAIN, np.uint32)
    chain[order] = np.roll(order, -1)
    return chain


@numba.njit(cache=True)
def follow_chain(chain: Any, steps: int) -> int:
    """The place after `steps` steps from place 0."""
    place = np.uint64(0)
    for _ in range(steps):
        place = np.uint64(chain[place])
    return int(place)
