"""The luck of one card in vector instructions, against the same in plain numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bjsim.sim.engine.jit import compiled
from bjsim.sim.engine.kernels.layout import WIDE
from bjsim.sim.engine.kernels.surprise import remove_card, weigh_cards
from bjsim.sim.engine.packed_tables import LINE, padded

Array = np.ndarray[Any, Any]


@compiled(_nrt=False)
def weigh_all(paid: Any, own: Any, slopes: Any, counts: Any, left: Any, result: Any) -> None:
    """The luck of every rank."""
    for card in range(len(result)):
        result[card] = weigh_cards(paid, own, slopes, counts, left, np.int64(card))


@compiled(_nrt=False)
def remove(counts: Any, card: Any) -> None:
    """Remove a card."""
    remove_card(counts, card)


@pytest.mark.parametrize("ranks", [10, 13])
@pytest.mark.parametrize("counts", ["fresh", "used", "two left"])
def test_the_luck_of_a_card_is_its_value_less_the_expectation(ranks: int, counts: str) -> None:
    """As `weigh_cards` defines it, in whole numbers; its mean over the cards left is exactly 0."""
    rng = np.random.default_rng(ranks)
    paid, slopes = rng.integers(-9000, 9000, ranks), rng.integers(-30_000, 30_000, (ranks, ranks))
    cards = {
        "fresh": np.full(ranks, 32),
        "used": np.arange(ranks) % 4,
        "two left": np.eye(ranks, dtype=int)[0] + np.eye(ranks, dtype=int)[-1],
    }[counts]
    left = int(cards.sum())
    after = paid * (left - 1) + cards @ slopes - np.diagonal(slopes)
    found = np.zeros(ranks)
    own = padded(np.diagonal(slopes).astype(np.int16))
    counted = padded(cards.astype(np.int32))
    weigh_all(padded(paid.astype(np.float32)), own, padded(slopes.astype(np.int16)), counted, float(left), found)
    assert (found == after * left - cards @ after).all()
    assert cards @ found == 0 and found.any()


@pytest.mark.parametrize("card", [0, 7, 12])
def test_a_card_is_removed_from_its_own_count_alone(card: int) -> None:
    counts = padded(np.arange(4, 17, dtype=np.int32))
    expected = counts.copy()
    expected[card] -= 1
    remove(counts, card)
    assert (counts == expected).all()


def test_padded_arrays_begin_a_line_of_the_cache() -> None:
    """So that no vector lies in two lines; every row of WIDE numbers of 4 or 8 bytes fills whole ones."""
    for dtype in (np.int32, np.float32, np.float64):
        for shape in ((13,), (3, 10), (5, 10, 10)):
            wide = padded(np.ones(shape, dtype))
            assert wide.shape == (*shape[:-1], WIDE) and wide.dtype == dtype
            assert wide.ctypes.data % LINE == 0 and wide.flags.c_contiguous
            assert (wide[..., : shape[-1]] == 1).all() and not wide[..., shape[-1] :].any()
