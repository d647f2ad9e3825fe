"""What the pages show of games in which one engine has no answer."""

from __future__ import annotations

import re

import pytest

from bjsim.app.work import ChosenGame, deviation, game_details, game_report, hand_report, value_change
from bjsim.errors import InputError

SWITCH = ChosenGame("blackjack-switch", ())


def text(fragment: str) -> str:
    return re.sub(r"\s+", " ", re.sub("<[^>]*>", " ", fragment))


def test_a_game_whose_shoe_is_not_solved_is_shown_in_an_infinite_one_and_says_so() -> None:
    shown, infinite = text(game_report(SWITCH)), text(game_report(SWITCH._replace(settings=("decks=inf",))))
    for page in (shown, infinite):
        assert "−0.714599% of the bet, first round of an endless shoe" in page
    assert "All values are for an infinite shoe, since exchange = 21" in shown
    assert "All values" not in infinite and "not known: one of these shoes is not solved" in infinite
    assert deviation(SWITCH) == "0.854929 bets" and "The closest decisions" in game_details(SWITCH)
    assert value_change(SWITCH, "hit_soft_17=false") == "+0.4013%"
    assert value_change(SWITCH, "decks=8").startswith("not known")


def test_two_hands_are_valued_as_dealt_and_exchanged() -> None:
    """The figures of `bjsim solve --hand`; cards that are gone would be ignored, and are refused."""
    assert "T6 and 92 against T" in hand_report(SWITCH, "T,6/9,2 v T")
    assert "-0.483769861" in hand_report(SWITCH, "T,6/9,2 v T")
    with pytest.raises(InputError, match="gone: two hands are valued in a full shoe"):
        hand_report(SWITCH, "T,6/9,2 v T", "5")
