"""`bjsim known`: what it prints and writes, and its one-line errors."""

from __future__ import annotations

import pytest
from support.command import bjsim, refusal

GAME = ("--rules", "vegas-s17", "--decks", "inf")


def test_a_first_card_and_a_prediction() -> None:
    args = ("known", "first", *GAME, "--card", "A", "--chance", "40%")
    found, text = bjsim(*args, "--json", "-").json, bjsim(*args).out
    assert found["values"]["A"] == pytest.approx(0.504019, abs=1e-6)
    assert f"a bet on the prediction of A: {100 * found['prediction']['value']:+.4f}%" in text
    assert f"from a probability of {100 * found['prediction']['break_even']:.4f}% on" in text
    assert "A         7.6923%  +50.4019%" in text
    never = bjsim("known", "first", *GAME, "--card", "6", "--chance", "90%").out
    assert "a bet gains at no probability" in never


def test_the_hole_card_prints_its_chart() -> None:
    text = bjsim("known", "hole", *GAME).out
    assert "with the hole card known: +10.6374%" in text
    assert "\nTT  S  S  S  S  S  S  S  S  S  P  P  P  P  S" in text


def test_the_next_card_prints_the_chart_of_one() -> None:
    text = bjsim("known", "next", *GAME, "--card", "5").out
    assert "\n16 Dh Dh Dh Dh Dh Dh Dh Dh Dh Dh\n" in text
    assert "Dh" not in bjsim("known", "next", *GAME).out


def test_the_cards_that_come_next() -> None:
    """The value of the game is that of `solve --shoe`."""
    shoe = "A=8,2=2,3=2,4=2,5=2,6=2,7=4,8=4,9=4,T=30"
    text = bjsim("known", "first", "--rules", "vegas-s17", "--shoe", shoe).out
    value = float(bjsim("solve", "value", "--rules", "vegas-s17", "--shoe", shoe).out)
    assert f"the game: {100 * value:+.4f}%" in text


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ("up --card A", "--card is for first and next"),
        ("hole --chance 5%", "--chance and --to-dealer are for a predicted first card; write bjsim known first"),
        ("first --card A", "a predicted first card needs --card and --chance, such as --card A --chance 40%"),
        ("first --to-dealer 5%", "a predicted first card needs --card and --chance"),
        ("first --card A --chance 140%", "140% is not accepted; give a percentage above 0%, up to 100%"),
        ("first --card K --chance 5%", "--card: 'K' is not accepted; use one of A, 2"),
        ("next --card K", "--card: K is not accepted; use one of A, 2"),
        ("next --decks 6", "next needs decks = inf"),
        ("first --shoe A=3,T=3", "the shoe may run out during a round"),
    ],
)
def test_errors(args: str, says: str) -> None:
    assert says in refusal("known", args.split()[0], *GAME, *args.split()[1:])
