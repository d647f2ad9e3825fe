"""Counted side bets: the best tags against all others, and gains against a plain simulation."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from bjsim.sim.game.presets import load_rules
from bjsim.strategies.sidebets.bets import load_bet
from bjsim.strategies.sidebets.counted import best_tags, count_bet
from bjsim.strategies.sidebets.kinds import SuitedShoe

RULES = load_rules("vegas-s17")


@pytest.mark.parametrize("seed", range(5))
def test_no_tags_correlate_better(seed: int) -> None:
    """Against all tags of level 2 for five values."""
    rng = np.random.default_rng(seed)
    weights = np.array([4, 4, 4, 4, 16])
    effects = rng.normal(size=5)
    effects -= np.average(effects, weights=weights)
    every = np.array([tags for tags in product(range(-2, 3), repeat=5) if any(tags)])
    merits = (every * effects * weights).sum(axis=1) / np.sqrt((every**2 * weights).sum(axis=1))
    best = np.array(best_tags([*effects], [*weights.tolist()], 2))
    assert (best * effects * weights).sum() / np.sqrt((best**2 * weights).sum()) == pytest.approx(merits.max())


def test_gain_of_over_13_agrees_with_shuffled_shoes() -> None:
    """Two decks, cut at 75. Fails by chance once in 15,000 runs: four standard errors of 20,000 shoes."""
    found = count_bet(load_bet("over-13"), SuitedShoe.whole(2), RULES, 75, rounds=20_000)
    rng = np.random.default_rng(31)
    deck = np.tile(np.minimum(np.repeat(np.arange(1, 14), 4), 10), 2)
    shoes = rng.permuted(np.tile(deck, (20_000, 1)), axis=1)
    gains = np.zeros(len(shoes))
    depths = [int(5.4 * place) for place in range(14)]
    for depth in depths:
        left = np.stack([(shoes[:, depth:] == value).sum(axis=1) for value in range(1, 11)], axis=1)
        over = sum(left[:, i] * (left[:, j] - (i == j)) for i in range(10) for j in range(10) if i + j + 2 > 13)
        size = 104 - depth
        gains += np.maximum(2 * over / (size * (size - 1)) - 1, 0)
    mean, error = 100 * gains.mean() / len(depths), 100 * gains.std() / len(depths) / len(shoes) ** 0.5
    assert abs(found.units - mean) < 4 * np.hypot(error, found.half_width / 1.96)


def test_tags_gain_less_than_the_exact_value_and_more_than_wrong_ones() -> None:
    """The gap to the wrong tags is over ten half-widths; the seed is fixed."""
    bet, shoe = load_bet("over-13"), SuitedShoe.whole(6)
    good, bad = (
        count_bet(bet, shoe, RULES, 260, rounds=5000, level=2),
        count_bet(bet, shoe, RULES, 260, rounds=5000, tags=[0, 1, -1, 1, -1, 1, -1, 1, -1, 0]),
    )
    assert bad.units + good.half_width < good.units <= good.perfect
