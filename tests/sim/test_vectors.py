"""Vector instructions, against the same in plain NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bjsim.sim.engine.jit import compiled
from bjsim.sim.engine.kernels.layout import WIDE
from bjsim.sim.engine.kernels.vectors import dot, pairs, remove_card
from bjsim.sim.engine.luck_values import STEEPEST
from bjsim.sim.engine.pack import LINE, padded


@compiled(_nrt=False)
def form_of(forms: Any, form: Any, counts: Any) -> Any:
    return pairs(forms, form, counts)


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
    """By listing all pairs; and a product by its definition. The numbers are as large as forms and shoes may be."""
    rng, eye = np.random.default_rng(ranks), np.eye(ranks, dtype=int)
    cards = {
        "fresh": np.append(np.full(ranks - 1, 32), 416 - 32 * (ranks - 1)),
        "used": np.arange(ranks) % 4,
        "two left": eye[0] + eye[-1],
        "one left": eye[3],
    }[counts]
    most = min(STEEPEST, (1 << 31) // cards.sum() ** 2)
    # by the higher and the lower rank; the last one is the largest of all
    form = np.tril([*rng.choice([-most, most, 7], (2, ranks, ranks)), np.full((ranks, ranks), most)])
    hand = np.repeat(np.arange(ranks), cards)
    lower, higher = np.minimum.outer(hand, hand), np.maximum.outer(hand, hand)
    counted, (second, first) = padded(cards.astype(np.int16)), np.tril_indices(ranks)
    packed = padded(form[:, second, first].astype(np.int16))
    for number in range(3):
        of_pairs = form[number][higher, lower]
        # those of equal ranks count in both orders, the others once
        expected = np.triu(of_pairs, 1).sum() + np.tril(of_pairs, -1)[lower == higher].sum()
        assert form_of(packed, number, counted) == expected
        assert (expected != 0) == (counts != "one left")
    rows = form[0].astype(np.int16)
    for row in range(ranks):
        assert dot_of(padded(rows), row, counted) == form[0, row] @ cards


@pytest.mark.parametrize("card", [0, 7, 12])
def test_a_card_is_removed_from_its_own_count_alone(card: int) -> None:
    counts = padded(np.arange(4, 17, dtype=np.int16))
    expected = counts.copy()
    expected[card] -= 1
    remove(counts, card)
    assert (counts == expected).all()


def test_padded_arrays_begin_a_line_of_the_cache() -> None:
    """So that no vector lies in two lines; and rows are whole vectors of WIDE numbers."""
    for dtype in (np.int16, np.float64):
        for shape in ((13,), (3, 10), (5, 10, 10), (2, 16), (2, 55)):
            wide = padded(np.ones(shape, dtype))
            assert wide.shape == (*shape[:-1], WIDE * -(-shape[-1] // WIDE)) and wide.dtype == dtype
            assert wide.ctypes.data % LINE == 0 and wide.flags.c_contiguous
            assert (wide[..., : shape[-1]] == 1).all() and not wide[..., shape[-1] :].any()
