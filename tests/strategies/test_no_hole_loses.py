"""What a dealer's natural takes without a peek: one bet in any case, as with one; or busted bets and one more."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from support.endless_shoe import EndlessShoe
from support.engines import never
from support.games import splits_everything
from support.tiny_shoe import follow

from bjsim.errors import InputError
from bjsim.sim.engine.compiled_rules import compile_rules
from bjsim.sim.engine.play import Walkers
from bjsim.sim.game.automaton import Automaton
from bjsim.sim.game.presets import PRESETS, named_rules
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.seats import Cards, PlayedHand, Seat, settle_hands
from bjsim.sim.game.shoe import stream_key
from bjsim.strategies.exact.solver import Solver
from bjsim.strategies.exact.values import round_sd
from bjsim.strategies.shoe.solver import ShoeSolver

SPLITS = {"max_hands": "inf", "resplit_aces": True, "hit_split_aces": True, "split_tens_blackjack": True}
GAMES = {
    **{
        name: preset.rules
        for name, preset in PRESETS.items()
        if preset.rules.naturals == "both"
        and not preset.rules.free_bets
        and not preset.rules.attack
        and preset.rules.bets == 1
        and preset.rules.double_on != "never"  # else no bet is added
    },
    "endless splits": named_rules("vegas-s17").replace(**SPLITS, double_cards="any"),
    "replayed ties": named_rules("vegas-h17").replace(ties="replay", double_after_split=False),
}


def pair(name: str, **fields: object) -> tuple[Rules, Rules]:
    """A game in which only the original bet is lost, and the same with a peek."""
    fields = {"surrender": "none", "player_21_wins": False, "bonuses": "none", "dealer_shows": "up", **fields}
    fields |= {"surrender_cards": "two", "surrender_after_double": False, "surrender_after_split": False}
    game = GAMES[name].replace(**{"charlie": "none", **fields}, peek=False, no_hole_loses="all")
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
        assert original.value_of(strategy) == pytest.approx(peeked.value_of(strategy), abs=1e-13)
    assert original.chart.cells == peeked.chart.cells


def test_late_surrender_saves_half_a_bet_from_the_natural() -> None:
    original, peeked = pair("vegas-h17", surrender="late", decks="inf")
    assert Solver(original).value == pytest.approx(Solver(peeked.replace(surrender="early")).value, abs=1e-13)
    assert Solver(original).value > Solver(peeked).value + 1e-3


@pytest.mark.parametrize("fields", [{"charlie": 5}, {"player_21_wins": True}, {"bonuses": "at-once"}])
def test_the_finite_shoe_refuses_hands_that_win_at_once(fields: dict[str, object]) -> None:
    with pytest.raises(InputError, match="no_hole_loses = original: what hands lose to a natural has no exact value"):
        ShoeSolver(pair("european", decks=6, **fields)[0])


# --- busted bets and one more

BUSTED = named_rules("vegas-s17").replace(decks="inf", peek=False, no_hole_loses="busted-plus-one", max_hands=3)


@pytest.mark.parametrize("wins_21", [False, True])
@pytest.mark.parametrize("loses", ["busted-plus-one", "original"])
def test_rounds_of_all_cards(loses: str, wins_21: bool) -> None:
    """All finished hands of a seat together, without the automaton's order of hands, up to three."""
    rules = BUSTED.replace(no_hole_loses=loses, player_21_wins=wins_21)
    solver, chart = Solver(rules), splits_everything(rules)
    profits = EndlessShoe(rules).profits(follow(chart))
    mean, square = (math.fsum(float(net) ** power * p for net, p in profits.items()) for power in (1, 2))
    assert solver.value_of(chart) == pytest.approx(mean, abs=1e-12)
    assert float(Solver(rules, Fraction).value_of(chart)) == pytest.approx(mean, abs=1e-12)
    assert solver.sd_of(chart) == pytest.approx(math.sqrt(square - mean**2), abs=1e-12)
    for other in {"all", "busted-plus-one", "original"} - {loses}:  # negative control
        assert abs(Solver(rules.replace(no_hole_loses=other)).value_of(chart) - mean) > 1e-4


@pytest.mark.parametrize(
    ("loses", "hands", "lost"),
    [
        ("busted-plus-one", ["stood 2"], [-1]),
        ("busted-plus-one", ["bust 2"], [-2]),
        ("busted-plus-one", ["bust 2", "stood 2", "stood 1"], [-2, -1, 0]),
        ("busted-plus-one", ["stood 1", "bust 1", "stood 2"], [-1, -1, 0]),
        ("busted-plus-one", ["bust 1", "bust 2"], [-1, -2]),
        ("busted-plus-one", ["natural 1", "stood 2", "natural 1"], [0, -1, 0]),
        ("busted-plus-one", ["surrendered 1", "charlie 1", "stood 1", "stood 1"], [Fraction(-1, 2), 1, -1, 0]),
        ("original-and-busted", ["stood 2"], [-1]),
        ("original-and-busted", ["bust 2", "stood 2", "stood 1"], [-2, -1, -1]),
        ("original-and-busted", ["natural 1", "stood 2"], [0, -1]),
        ("original", ["stood 2"], [-1]),
        ("original", ["natural 1"], [0]),
        ("original", ["bust 2", "stood 2", "stood 1"], [-1, 0, 0]),
        ("original", ["surrendered 1", "stood 1"], [Fraction(-3, 2), 0]),
        ("all", ["bust 2", "stood 2", "natural 1"], [-2, -2, 0]),
    ],
)
def test_settlement_by_hand(loses: str, hands: list[str], lost: list[Fraction]) -> None:
    """The profits of split hands against a natural."""
    rules = BUSTED.replace(no_hole_loses=loses, buy_in=10, chips=200, split_tens_blackjack=True)
    cards = {"stood": [8, 9], "bust": [9, 9, 9], "natural": [0, 9], "surrendered": [8, 6], "charlie": [1, 1, 1, 1, 1]}
    played = []
    for end, stake in map(str.split, hands):
        hand = PlayedHand(10 * int(stake), cards[end], split_from=9)
        hand.ending = end  # type: ignore[assignment]
        played.append(hand)
    settled = settle_hands(rules, Seat(0, 0, played), Cards([0, 12]), special=True)
    assert [each.net for each in settled] == lost


def test_values_for_luck_are_exact_and_move_no_mean() -> None:
    """The value before the first card is exact, and the mean is within 4 standard errors of it."""
    rules = BUSTED.replace(surrender="late", surrender_after_split=True, insurance=True)
    best = Solver(rules).chart
    compiled = compile_rules(rules, [best.policy])
    played = Walkers(compiled, never, rules.unit)
    exact = Solver(rules).ev(best.policy).value
    assert played.values == pytest.approx([exact], abs=1e-12)
    counts = played.play([stream_key(14, 0, 0)], [400_000]).counts
    units = np.arange(counts.shape[2]) - compiled.numbers.width
    mean = float((counts[0, 0] * units).sum()) * float(rules.unit) / 400_000
    assert mean == pytest.approx(exact, abs=4 * 1.15 / 400_000**0.5)


def test_between_the_two_others() -> None:
    values = [Solver(BUSTED.replace(no_hole_loses=word)).value for word in ("all", "busted-plus-one", "original")]
    assert values == sorted(values) and values[0] < values[1] - 1e-4 < values[2] - 1e-4
