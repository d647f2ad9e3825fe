"""Shoes of fractional counts: the composition expected at some count of the cards."""

from __future__ import annotations

import numpy as np
import pytest

from bjsim.sim.game.presets import named_rules
from bjsim.strategies.shoe.hands import Composition
from bjsim.strategies.shoe.solver import ShoeSolver

RULES = named_rules("vegas-s17")


def shoe(*low: float) -> ShoeSolver:
    """Six decks with these counts of A and 2..9, and 24 of each ten."""
    return ShoeSolver(RULES, Composition((*low, 24.0, 24.0, 24.0, 24.0)))


def test_probabilities_add_up_to_1() -> None:
    solver = shoe(23.3, 24.5, 24.1, 22.9, 23.7, 25.2, 24, 24, 24)
    for upcard in "23456789TA":
        assert sum(solver.dealer(upcard).values()) == pytest.approx(1, abs=1e-14)


def test_a_card_removed_in_proportion_leaves_the_value() -> None:
    """An unseen card changes nothing on average, and the value is linear in one card but for some 3e-6."""
    whole = ShoeSolver(RULES)
    value = whole.value_of(whole.chart)
    mean = ShoeSolver(RULES, Composition((24 * 311 / 312,) * 13)).value_of(whole.chart)
    assert mean == pytest.approx(value, abs=1e-5)
    five = shoe(24, 24, 24, 24, 23, 24, 24, 24, 24).value_of(whole.chart)
    assert abs(five - value) > 1e-3  # one five does change it


def test_values_and_splits_are_continuous_at_whole_counts() -> None:
    counts = np.array([24.0] * 9)
    whole = shoe(*counts)
    for step in (-1e-7, 1e-7):
        near = shoe(*(counts + step))
        assert near.value_of("cdz-") == pytest.approx(whole.value_of("cdz-"), abs=1e-8)
        for pair in ("88", "TT", "AA"):
            there, here = near.hand_values(pair, "6")["P"], whole.hand_values(pair, "6")["P"]
            assert there == pytest.approx(here, abs=1e-6)
