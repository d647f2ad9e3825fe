"""The luck of one card in vector instructions, against the same in plain numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bjsim.sim.engine.jit import compiled
from bjsim.sim.engine.kernels.layout import WIDE
from bjsim.sim.engine.kernels.surprise import remove_card, surprise
from bjsim.sim.engine.packed_tables import LINE, padded

Array = np.ndarray[Any, Any]


@compiled(_nrt=False)
def all_surprises(ev: Any, own: Any, slopes: Any, counts: Any, left: Any, result: Any) -> None:
    """The luck of every rank."""
    for card in range(len(result)):
        result[card] = surprise(ev, own, slopes, counts, left, np.int64(card))


@compiled(_nrt=False)
def remove(counts: Any, card: Any) -> None:
    """Remove a card."""
    remove_card(counts, card)


def random_node(ranks: int) -> tuple[Array, Array]:
    """Values after each rank, and their slopes at [q, r], in the single precision in which they are kept."""
    rng = np.random.default_rng(ranks)
    return rng.normal(size=ranks), rng.normal(size=(ranks, ranks)).astype(np.float32)


@pytest.mark.parametrize("ranks", [10, 13])
@pytest.mark.parametrize("counts", ["fresh", "used", "two left", "infinite"])
def test_the_luck_of_a_card_is_its_value_less_the_expectation(ranks: int, counts: str) -> None:
    """As `surprise` defines it, but for the single precision of a sum; its mean over the cards left is exactly 0.

    The luck is .1 and more for such values, so that the tolerances would reveal any other formula.
    """
    ev, slopes = random_node(ranks)
    cards = {
        "fresh": np.full(ranks, 32.0),
        "used": np.arange(ranks) % 4.0,
        "two left": np.eye(ranks)[0] + np.eye(ranks)[-1],
        "infinite": np.full(ranks, 1 / ranks),
    }[counts]
    left = cards.sum()
    share = 0.0 if counts == "infinite" else 1 / (left - 1)
    after = ev + share * (cards @ slopes.astype(float) - np.diagonal(slopes))
    found = np.zeros(ranks)
    own = padded(np.diagonal(slopes).astype(float))
    all_surprises(padded(ev), own, padded(slopes), padded(cards), 1.0 if share == 0 else left, found)
    assert found == pytest.approx(after - cards @ after / left, abs=3e-6)
    assert cards @ found / left == pytest.approx(0, abs=1e-14)
    assert abs(found).max() > 0.1


@pytest.mark.parametrize("card", [0, 7, 12])
def test_a_card_is_removed_from_its_own_count_alone(card: int) -> None:
    counts = padded(np.arange(4.0, 17.0))
    expected = counts.copy()
    expected[card] -= 1
    remove(counts, card)
    assert (counts == expected).all()


def test_padded_arrays_begin_a_line_of_the_cache() -> None:
    """So that no vector lies in two lines; every row of WIDE numbers of 4 or 8 bytes fills whole ones."""
    for dtype in (np.float32, np.float64):
        for shape in ((13,), (3, 10), (5, 10, 10)):
            wide = padded(np.ones(shape, dtype))
            assert wide.shape == (*shape[:-1], WIDE) and wide.dtype == dtype
            assert wide.ctypes.data % LINE == 0 and wide.flags.c_contiguous
            assert (wide[..., : shape[-1]] == 1).all() and not wide[..., shape[-1] :].any()
