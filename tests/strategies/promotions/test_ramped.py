"""A ramp on the lattice of payoffs: next to a counting run, and next to flat bets."""

from __future__ import annotations

from fractions import Fraction

import pytest

import bjsim
from bjsim.errors import InputError
from bjsim.strategies.promotions.bank import best_payoffs
from bjsim.strategies.promotions.ramped import ramp_payoffs

GAME = bjsim.load_rules("vegas-s17")
TWO_HANDS = GAME.replace(max_hands=2)  # sooner solved


@pytest.mark.slow
def test_profit_and_deviation_are_those_of_a_counting_run() -> None:
    """Within what the lattice neglects: a few per cent."""
    played = bjsim.count(GAME, ramp="1-12", indices="none", rounds=300_000)
    found = bjsim.bank(GAME, 1_000, 500, ramp="1-12")
    assert found.ev == pytest.approx(played["ev_per_round"].value, abs=0.002)
    assert found.sd == pytest.approx(played["sd_per_round"].value, rel=0.05)
    assert found.mean == pytest.approx(500 * found.ev)


def test_a_flat_ramp_is_almost_a_flat_bet() -> None:
    """The mean over a shoe is near that of a fresh shoe, and so is the distribution."""
    ramp, flat = ramp_payoffs(TWO_HANDS, "0:2", "hilo"), best_payoffs(TWO_HANDS)
    assert set(ramp) == {2 * profit for profit in flat}
    for profit, p in flat.items():
        assert ramp[2 * profit] == pytest.approx(p, abs=5e-4)
    assert sum(ramp.values()) == pytest.approx(1)


def test_bets_of_nothing_keep_the_bank() -> None:
    chances = ramp_payoffs(TWO_HANDS, "0:0 3:1", "hilo")
    assert chances[Fraction(0)] > 0.85


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"ramp": "x"}, "ramp"),
        ({"ramp": "0:1 2:4x2"}, "on several spots"),
        ({"ramp": "1-4", "system": "none"}, "system"),
        ({"ramp": "1-4", "system": 5}, "system: an int is not accepted"),
        ({"ramp": "1-4", "rules": "easy"}, "decks"),
    ],
)
def test_errors(arguments: dict[str, str], says: str) -> None:
    with pytest.raises(InputError, match=says):
        bjsim.bank(**{"rules": GAME, "bankroll": 100, "rounds": 10, **arguments})  # type: ignore[arg-type]
