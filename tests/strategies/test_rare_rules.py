"""Rules that seldom meet. The figures are those of an evaluator of rounds that is not part of bjsim."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import pytest
from support.command import bjsim as command
from support.command import refusal
from support.table import play_script

import bjsim
from bjsim.errors import InputError
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.seats import Cards, PlayedHand, Seat, settle_hands
from bjsim.strategies.exact.solver import Solver

VEGAS = bjsim.load_rules("vegas-s17").replace(decks="inf", cut=1)


def test_a_bonus_at_once_where_nobody_looks_for_a_natural() -> None:
    """Five cards of 21 win 2:1 before the dealer's natural is turned over; in a finite shoe that is not solved."""
    game = VEGAS.replace(peek=False, bonuses="super-fun", insurance=False, max_hands=3, no_hole_loses="original")
    result, _ = play_script(game, "2 A 3 T 4 5 7", ["H, H, H"])
    assert result.net == (2,)
    assert Solver(game).value == pytest.approx(-0.002106, abs=5e-7)


def test_what_a_natural_takes_of_a_bonus_at_once_is_refused_in_a_finite_shoe() -> None:
    game = VEGAS.replace(peek=False, no_hole_loses="original", bonuses="super-fun", decks=8)
    assert bjsim.solve(game).value == pytest.approx(bjsim.solve(game.replace(decks="inf")).value)
    assert bjsim.solve(game).refusal == (
        "no_hole_loses = original: what hands lose to a natural has no exact value in a finite shoe; "
        "use no_hole_loses = all, or decks = inf"
    )


@pytest.mark.parametrize("changes", [{"player_21_wins": True}, {"charlie": 5}, {"bonuses": "super-fun"}])
def test_a_known_hole_card_is_refused_where_a_hand_wins_at_once_against_a_natural(changes: dict[str, object]) -> None:
    with pytest.raises(
        InputError, match=f"peek = false with {next(iter(changes))} = .* has no value with a known hole"
    ):
        bjsim.known(VEGAS.replace(peek=False, **changes), "hole")
    assert bjsim.known(VEGAS.replace(**changes), "hole").value > 0.1


@pytest.mark.parametrize(
    ("game", "chart", "best"),
    [
        (Rules(decks=math.inf, peek=True, ten_probability=Fraction(2, 5), free_splits="T"), 0.081812, 0.086999),
        (bjsim.load_rules("free-bet").replace(decks="inf", free_splits="A23456789T"), -0.001741, -0.001108),
        (bjsim.load_rules("free-bet").replace(decks="inf"), -0.009937, -0.009937),
        (VEGAS.replace(double_cards="any", max_doubles=3, charlie=6, player_21_wins=True), 0.008312, 0.012775),
        (bjsim.load_rules("blackjack-p").replace(ten_probability=Fraction(3, 5)), math.inf, math.inf),
    ],
)
def test_best_play_may_know_more_than_a_chart(game: Rules, chart: float, best: float) -> None:
    """Own tens are kept while those of the house are split; doubled hands of five cards may make a Charlie."""
    solved = Solver(game)
    assert (solved.value, solved.best_value) == pytest.approx((chart, best), abs=5e-7)
    assert solved.value == solved.value_of(solved.chart) == bjsim.evaluate(solved.chart).best
    assert bool(solved.beyond_chart) == (best > chart)


def test_the_value_below_a_chart_is_that_of_the_chart() -> None:
    options = ["--rules", "vegas-s17", "--decks", "inf", "--set", "double_cards=any", "--set", "max_doubles=3"]
    out = command("solve", "advantage", *options, "--set", "charlie=6", "--set", "player_21_wins=true").out
    assert out.splitlines() == [
        "Player Advantage: 0.8312%",
        "That is the chart's. Best play, which also knows how many cards a hand has: 1.2775%",
    ]


@pytest.mark.parametrize("pays", ["6/5", "1", "2"])
def test_half_of_a_doubled_hand_is_a_whole_number_of_units(pays: str) -> None:
    game = VEGAS.replace(surrender="none", surrender_after_double=True, blackjack_pays=pays)
    (found,) = bjsim.play(game, ["optimal"], hands=300, workers=1).results
    assert found.exact == pytest.approx(bjsim.solve(game).value, abs=1e-12)


def test_a_policy_refuses_what_it_cannot_say() -> None:
    said = refusal("solve", "--rules", "double-attack", "--decks", "inf", "--format", "policy")
    assert said == "optimal: a policy cannot say when it attacks; use the format chart or csv"
    said = refusal("solve", "--rules", "neller-v1", "--format", "policy")
    assert said == "optimal: a policy cannot say that it plays H with 13:67 against 2; use the format chart or csv"


@pytest.mark.parametrize("beats", [True, False], ids=["beats", "ties"])
@pytest.mark.parametrize("loses", ["all", "original", "original-and-busted", "busted-plus-one"])
def test_a_known_natural_is_not_valued_where_aces_are_split_against_it(loses: str, beats: bool) -> None:
    """Each of two hands is a natural with the chance of a ten; what is paid then is that of the readable round."""
    game = VEGAS.replace(peek=False, no_hole_loses=loses, natural_beats_natural=beats, split_aces_blackjack=True)
    ten, played = Fraction(4, 13), Fraction(0)
    for hands in itertools.product([[0, 9], [0, 8]], repeat=2):
        finished = [PlayedHand(game.buy_in, cards, split_from=0) for cards in hands]
        for hand in finished:
            hand.ending = "natural" if hand.points == 21 else "stood"
        settled = settle_hands(game, Seat(0, 0, finished), Cards([0, 12]), special=True)
        naturals = hands.count([0, 9])
        played += ten**naturals * (1 - ten) ** (2 - naturals) * sum(each.net for each in settled)
    assert (played > -1) == (beats or loses == "busted-plus-one")
    if played > -1:
        with pytest.raises(InputError, match="split_aces_blackjack = true has no value with a known hole card"):
            bjsim.known(game, "hole")
    else:
        assert bjsim.known(game, "hole").value > 0


@pytest.mark.parametrize(
    ("changes", "shoe"),
    [
        ({"blackjack_pays": "7"}, None),
        ({}, {**dict.fromkeys("23456789", 2), "A": 20, "T": 20}),
        ({"natural_beats_natural": False, "free_splits": "T"}, None),
    ],
)
def test_tens_are_split_against_a_natural_if_another_pays_well_or_is_likely_or_free(
    changes: dict[str, object], shoe: dict[str, int] | None
) -> None:
    game = VEGAS.replace(peek=False, natural_beats_natural=True, split_tens_blackjack=True)
    with pytest.raises(InputError, match="split_tens_blackjack = true has no value with a known hole card"):
        bjsim.known(game.replace(decks=1 if shoe else "inf", **changes), "hole", shoe=shoe)
    assert bjsim.known(bjsim.load_rules("blackjack-p"), "hole").value > 0
