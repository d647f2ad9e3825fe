"""Vector instructions, against the same in plain NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bjsim.sim.engine.jit import compiled
from bjsim.sim.engine.kernels.layout import WIDE
from bjsim.sim.engine.kernels.vectors import dot, quadratic, remove_card
from bjsim.sim.engine.pack import LINE, padded


@compiled(_nrt=False)
def form_of(form: Any, own: Any, counts: Any) -> Any:
    return quadratic(form, own, counts)


@compiled(_nrt=False)
def dot_of(rows: Any, row: Any, counts: Any) -> Any:
    return dot(rows, row, counts)


@compiled(_nrt=False)
def remove(counts: Any, card: Any) -> None:
    """Remove a card."""
    remove_card(counts, card)


@pytest.mark.parametrize("ranks", [10, 13])
@pytest.mark.parametrize("counts", ["fresh", "used", "two left", "one left"])
def test_a_form_is_a_sum_over_pairs_of_different_cards(ranks: int, counts: str) -> None:
    """By listing all pairs, in whole numbers as large as eight decks make them; and a product by its definition."""
    rng, eye = np.random.default_rng(ranks), np.eye(ranks, dtype=int)
    form = rng.integers(-32_767, 32_767, (ranks, ranks))
    cards = {
        "fresh": np.full(ranks, 32),
        "used": np.arange(ranks) % 4,
        "two left": eye[0] + eye[-1],
        "one left": eye[3],
    }[counts]
    hand = np.repeat(np.arange(ranks), cards)
    expected = form[hand[:, None], hand].sum() - form[hand, hand].sum()
    counted = padded(cards.astype(np.int32))
    assert form_of(padded(form.astype(np.int16)), padded(np.diagonal(form).astype(np.int16)), counted) == expected
    assert (expected != 0) == (counts != "one left")
    for row in range(ranks):
        assert dot_of(padded(form.astype(np.int16)), row, counted) == form[row] @ cards


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
