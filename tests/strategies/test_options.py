"""Every option in the page on rules has a field, and solver and simulation agree on it.

Error rate: 25 runs, each with a limit of 4.5 standard errors, so a correct program fails in fewer than 2 of 10,000
seeds; the seed is fixed.
"""

import pytest
from support.games import ONE_HAND, few

from bjsim.request import play
from bjsim.sim.game.presets import PRESETS
from bjsim.strategies.exact.solver import Solver

OPTIONS = [
    ("blackjack-p", {"hit_soft_17": "true"}),
    ("blackjack-p", {"split_tens_blackjack": "false", "ten_probability": "0.45"}),
    ("blackjack-p", {"ten_probability": "0.05"}),
    ("cardshark", {"raises": "false"}),
    ("cardshark", {"dealer_stands_on": "18"}),
    ("cardshark", {"turns": "in-turn"}),
    ("cardshark", {"stand_on_21": "false"}),
    ("neller", {"naturals": "both", "peek": "true"}),
    ("neller", {"naturals": "both"}),
    ("neller", {"naturals": "none"}),
    ("neller", {"ties": "push"}),
    ("neller-v1", {"bonuses": "at-once"}),
    ("neller-v1", {"ties": "push", "naturals": "both", "peek": "true"}),
    ("neller-v2", {"ties": "push", "naturals": "none"}),
    ("neller-v2", {"naturals": "both", "peek": "true"}),
    ("neller-v3", {"naturals": "both"}),
    ("vegas-s17", {"max_hands": "inf"}),
    *few((name for name in ONE_HAND if name not in ("cardshark",)), {}),
]


@pytest.mark.parametrize(("name", "changes"), OPTIONS)
def test_solver_and_simulation_agree(name, changes):
    rules = PRESETS[name].rules.replace(**{**changes, "decks": "inf"})
    # some rounds have hundreds of hands if half of the cards are tens
    hands = 20_000_000 if changes.get("ten_probability") == "0.45" else 200_000
    (result,) = play(rules, ["optimal"], hands=hands, seed=11)
    assert result.exact == pytest.approx(float(Solver(rules).value), abs=1e-12)
    assert abs(result.z) < 4.5
    assert result.tally.sd == pytest.approx(result.exact_sd, rel=0.03)


def test_a_wrong_value_is_refused():
    """Negative control: this sample size distinguishes standing on soft 17 from hitting it."""
    rules = PRESETS["neller"].rules
    (result,) = play(rules.replace(ties="lose"), ["optimal"], hands=200_000, seed=11)
    wrong = float(Solver(rules).value)
    assert abs(result.tally.mean - wrong) / result.tally.se > 4.5


def test_a_dealers_natural_at_once_changes_nothing_where_stakes_are_fixed():
    """In neller the only actions are hit and stand, so the time at which the dealer's natural shows does not matter."""
    rules = PRESETS["neller"].rules.replace(naturals="both")
    assert Solver(rules).value == pytest.approx(Solver(rules.replace(peek=True)).value, abs=1e-12)
    doubling = PRESETS["neller-v3"].rules.replace(naturals="both")
    assert Solver(doubling).value < Solver(doubling.replace(peek=True)).value
