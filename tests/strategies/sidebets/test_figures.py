"""Side bets: figures that are not on the page of agreement, conditions, and refusals."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import bjsim
from bjsim.errors import InputError
from bjsim.sim.game.presets import PRESETS
from bjsim.strategies.exact.solver import Solver
from bjsim.strategies.sidebets.bets import EACH, FINISHED, BetRules, Event


def test_a_table_may_list_more_cards_than_the_built_in_one() -> None:
    """Its largest number takes all larger ones."""
    found = bjsim.sidebet("buster", 6, rules="vegas-h17", pays="3=2,4=2,5=4,6=12,7=50,8=250,9=250")
    assert found.events[-1].event == "9 or more cards"
    assert f"{float(found.events[-1].probability):.1e}" == "4.2e-07"
    exactly = bjsim.sidebet("buster", 6, rules="vegas-h17", pays="8=1,9=1,10=1").events[1]
    assert f"{float(exactly.probability):.1e}" == "4.1e-07"


def test_the_deck_of_a_game_is_that_of_its_bets() -> None:
    found = bjsim.sidebet("match-the-dealer", rules="spanish-21", decks=6)
    assert found == bjsim.sidebet("match-the-dealer", 6, deck="spanish")


BUST_OR_22 = BetRules("bust", FINISHED, (Event("bust", Fraction(1), {"bust": "3+"}),))


def test_push_22(tmp_path: Path) -> None:
    """discountgambling.net, Push 22 in six decks, soft 17 hit: -5.854%, and a total of 22 in 7.3537% of hands."""
    path = tmp_path / "push-22.toml"
    path.write_text(
        """looks_at = "dealer's hand"
        events = [
          { name = "22 of one suit", pays = 50, total = "22", suited = true },
          { name = "22 of one colour", pays = 20, total = "22", one_colour = true },
          { name = "22", pays = 8, total = "22" },
        ]"""
    )
    found = bjsim.sidebet(path, 6, rules="vegas-h17")
    assert (f"{100 * float(found.ev):.3f}", f"{float(found.hit_frequency):.6f}") == ("-5.854", "0.073536")
    with pytest.raises(InputError, match=r"22\+.* can never happen: earlier events"):
        bjsim.sidebet(replace(BUST_OR_22, events=(*BUST_OR_22.events, Event("22+", Fraction(1), {"total": "22+"}))))


@pytest.mark.parametrize("upcard", "A23456789T")
def test_a_bust_paid_by_upcard_is_as_likely_as_the_solver_says(upcard: str) -> None:
    """An independent recursion, over the dealer's states in an infinite shoe that does not peek."""
    rules = PRESETS["vegas-s17"].rules.replace(decks="inf", peek=False)
    event = Event("bust", Fraction(2), {"bust": "3+", "upcard": upcard})
    found = bjsim.sidebet(BetRules("b", FINISHED, (event,)), rules=rules).events[0].probability
    alone = bjsim.sidebet(BetRules("b", FINISHED, (event,), upcard=upcard), rules=rules).events[0].probability
    assert found == alone * (Fraction(4, 13) if upcard == "T" else Fraction(1, 13))
    assert float(alone) == pytest.approx(float(Solver(rules).dealer(upcard)[0]), abs=1e-12)


def test_a_condition_that_takes_an_upcard() -> None:
    """A suited pair of cards pays by upcard: 1/13 of suited hands (12/51 in one deck) have an ace up."""
    event = Event("suited, ace up", Fraction(5), {"suited": True, "upcard": "A"})
    with pytest.raises(InputError, match="upcard Z is not accepted; write a card or several"):
        bjsim.sidebet(BetRules("s", "player and upcard", (replace(event, conditions={"upcard": "Z"}),)), 1)
    found = bjsim.sidebet(BetRules("s", "player and upcard", (event,)), 1).events[0].probability
    three = Fraction(12 * 11, 51 * 50)  # of one suit
    assert found == three / 13
    twice = bjsim.sidebet(BetRules("e", EACH, (event,)), 1).events[1]  # both cards have the suit of the ace
    assert (twice.event, twice.probability) == ("suited, ace up + suited, ace up", three / 13)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"shoe": 5}, "shoe: an int is not accepted"),
        ({"shoe": {1: 4}}, "shoe: 1 is not a card"),
        ({"pays": [("flush", 5)]}, "pays: a list is not accepted"),
    ],
)
def test_wrong_types(arguments: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        bjsim.sidebet("21+3", **arguments)


def test_a_bet_of_many_events() -> None:
    """Match the Dealer with events of its own for each rank: two that win together make 377 outcomes."""
    ranks = "A23456789TJQK"
    suited = [Event(f"suited {rank}", Fraction(11), {"ranks": 2 * rank, "suited": True}) for rank in ranks]
    found = bjsim.sidebet(BetRules("many", EACH, (*suited, *(Event(r, Fraction(4), {"ranks": 2 * r}) for r in ranks))))
    assert len(found.events) == 377
    assert found.ev == bjsim.sidebet("match-the-dealer").ev
    assert found.variance == bjsim.sidebet("match-the-dealer").variance


@pytest.mark.parametrize(("total", "most"), [("31", 31), ("22+", 31), ("22", 22), ("30+", 31)])
def test_soft_totals_up_to_31(total: str, most: int) -> None:
    """Over all three cards of an infinite shoe; with an ace as 11, they total 31 only as A-T-T."""
    least, won = int(total.strip("+")), Fraction(0)
    chances = [(value, Fraction(1 if value < 10 else 4, 13)) for value in range(1, 11)]
    for cards in itertools.product(chances, repeat=3):
        hard = sum(value for value, _ in cards)
        totals = {hard, hard + 10} if 1 in {value for value, _ in cards} else {hard}
        won += math.prod(p for _, p in cards) * any(least <= each <= most for each in totals)
    event = Event("made", Fraction(1), {"total": total})
    assert bjsim.sidebet(BetRules("soft", "player and upcard", (event,)), "inf").events[0].probability == won


def test_cards_without_which_no_bet_can_be_made_have_no_effect_of_removal() -> None:
    """Without the only ace there is nothing to insure; without either of two cards there is no pair."""
    shoe = {"A": 1, "T": 5, "5": 4}
    assert list(bjsim.sidebet("insurance", shoe=shoe).removal) == ["5", "T"]
    two = bjsim.sidebet("perfect-pairs", shoe={"Ah": 1, "Ad": 1, "As": 0})
    assert (two.removal, two.hit_frequency) == ({}, 1)


def test_a_game_of_other_tens_has_no_whole_decks() -> None:
    """Side bets are of cards; the share of tens of a game was ignored."""
    rules = bjsim.Rules(ten_probability=Fraction(2, 5))
    with pytest.raises(InputError, match="ten_probability: a side bet is dealt from whole decks; give decks"):
        bjsim.sidebet("insurance", rules=rules)
    assert bjsim.sidebet("insurance", "inf", rules=rules).ev == bjsim.sidebet("insurance", "inf").ev


def test_a_dealers_hand_below_the_only_ace_has_no_effect_of_its_removal() -> None:
    shoe = {"A": 1, "T": 5, "5": 4}
    below_an_ace = replace(BUST_OR_22, upcard="A")
    assert list(bjsim.sidebet(below_an_ace, shoe=shoe).removal) == list(bjsim.sidebet("insurance", shoe=shoe).removal)


@pytest.mark.parametrize(
    ("name", "bust", "paid"),
    [
        ("bust", "3+", "bust"),
        ("up to 4 cards", "4-", "up to 4 cards"),
        ("4", "4-", "4"),  # not four cards alone
        ("3 cards", "3", "three"),  # another name
    ],
)
def test_a_bust_of_any_name_may_be_paid_otherwise(name: str, bust: str, paid: str) -> None:
    event = Event(name, Fraction(3), {"bust": bust}, ("three",))
    bet = BetRules("b", FINISHED, (event,), tables={"6": {paid: Fraction(4)}})
    usual = bjsim.sidebet(replace(bet, tables={}), 6)
    for found in (bjsim.sidebet(bet, 6), bjsim.sidebet(bet, 6, pays={paid: 4})):
        expected = "3 or more cards" if paid == "three" else name
        assert [(one.event, one.pays) for one in found.events] == [(expected, 4)]
        assert paid == "three" or found.hit_frequency == usual.hit_frequency


def test_ranks_may_be_small_letters() -> None:
    small, large = (BetRules("r", "player", (Event("kq", Fraction(9), {"ranks": ranks}),)) for ranks in ("kq", "KQ"))
    assert bjsim.sidebet(small, 1) == bjsim.sidebet(large, 1)
    assert "K" in bjsim.sidebet(small, 1).removal
