"""Where a dealer's natural takes one bet in any case, a game without a peek has the value of one with it."""

from __future__ import annotations

from fractions import Fraction

import pytest

from bjsim.bots.contest.config import ConfigError, Contest
from bjsim.errors import InputError
from bjsim.sim.game.automaton import Automaton
from bjsim.sim.game.presets import PRESETS, named_rules
from bjsim.sim.game.rules import Rules
from bjsim.strategies.exact.moments import round_sd
from bjsim.strategies.exact.solver import Solver
from bjsim.strategies.shoe.solver import ShoeSolver

SPLITS = {"max_hands": "inf", "resplit_aces": True, "hit_split_aces": True, "split_tens_blackjack": True}
GAMES = {
    **{name: preset.rules for name, preset in PRESETS.items() if preset.rules.naturals == "both"},
    "endless splits": named_rules("vegas-s17").replace(**SPLITS, double_cards="any"),
    "replayed ties": named_rules("vegas-h17").replace(ties="replay", double_after_split=False),
}


def pair(name: str, **fields: object) -> tuple[Rules, Rules]:
    """A game in which only the original bet is lost, and the same with a peek."""
    fields = {"surrender": "none", "player_21_wins": False, "bonuses": "none", "dealer_shows": "up", **fields}
    game = GAMES[name].replace(**fields, peek=False)
    return game.replace(deal="pdp", no_hole_loses="original"), game.replace(deal="pdpd", peek=True)


@pytest.mark.parametrize("name", GAMES)
def test_in_the_infinite_shoe(name: str) -> None:
    original, peeked = (Solver(rules) for rules in pair(name, decks="inf", cut=1))
    assert original.value == pytest.approx(peeked.value, abs=1e-13)
    assert original.chart.cells == peeked.chart.cells
    everything = Solver(original.rules.replace(no_hole_loses="all"))
    assert everything.value < original.value - 1e-4  # negative control
    chart = everything.chart  # another
    values = [solver.ev(chart.policy) for solver in (original, peeked)]
    assert values[0].value == pytest.approx(values[1].value, abs=1e-13)
    if values[0].tied == 0:
        sd = [round_sd(Automaton(solver.rules), chart.policy) for solver in (original, peeked)]
        assert sd[0] == pytest.approx(sd[1], abs=1e-12)


def test_in_exact_fractions() -> None:
    original, peeked = (Solver(rules, Fraction) for rules in pair("european", decks="inf", max_hands=2))
    assert original.value == peeked.value


@pytest.mark.parametrize("decks", [1, 6])
def test_in_a_finite_shoe(decks: int) -> None:
    original, peeked = (ShoeSolver(rules) for rules in pair("european", decks=decks, insurance=True))
    for strategy in ("td", "cdz-"):
        assert original.value(strategy) == pytest.approx(peeked.value(strategy), abs=1e-13)
    assert original.chart.cells == peeked.chart.cells


def test_late_surrender_saves_half_a_bet_from_the_natural() -> None:
    original, peeked = pair("vegas-h17", surrender="late", decks="inf")
    assert Solver(original).value == pytest.approx(Solver(peeked.replace(surrender="early")).value, abs=1e-13)
    assert Solver(original).value > Solver(peeked).value + 1e-3


@pytest.mark.parametrize("fields", [{"charlie": 5}, {"player_21_wins": True}, {"bonuses": "at-once"}])
def test_the_finite_shoe_refuses_hands_that_win_at_once(fields: dict[str, object]) -> None:
    (field, value), (game, _) = *fields.items(), pair("european", decks=6, **fields)
    with pytest.raises(InputError, match=f"no_hole_loses = original with {field} = {str(value).lower()} has no exact"):
        ShoeSolver(game)


def test_contests_refuse_it() -> None:
    with pytest.raises(ConfigError, match="no_hole_loses = original"):
        Contest(pair("european")[0])


def test_the_word_of_the_trade() -> None:
    assert named_rules("vegas-s17").replace(obo=True, enhc=True).no_hole_loses == "original"
