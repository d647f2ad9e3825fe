"""`bjsim known`: what it prints and writes, and its one-line errors."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.command import bjsim, refusal

GAME = ("--rules", "vegas-s17", "--decks", "inf")


def test_a_first_card(tmp_path: Path) -> None:
    args = ("known", "first", *GAME, "--html", tmp_path / "page.html")
    assert bjsim(*args, "--json", "-").json["values"]["A"] == pytest.approx(0.504019, abs=1e-6)
    assert ["A", "7.6923%", "+50.4019%"] in [line.split() for line in bjsim(*args).out.splitlines()]
    assert "bjsim known first --rules vegas-s17 --decks inf<" in (tmp_path / "page.html").read_text()


def test_the_hole_card_prints_its_chart() -> None:
    text = bjsim("known", "hole", *GAME).out
    assert "with the hole card known  +13.0043%" in text
    assert "\n   TT S  S  S  S  S  S  S  S  S  P  P  P  P  S" in text


def test_the_cards_that_come_next() -> None:
    """The value of the game is that of `solve --shoe`."""
    given = ("--rules", "vegas-s17", "--shoe", "A=8,2=2,3=2,4=2,5=2,6=2,7=4,8=4,9=4,T=30")
    done = bjsim("known", "first", *given, "--json", "-")
    text, found = done.err, done.json
    value = float(bjsim("solve", "value", *given).out)
    assert f"the game                            {100 * value:+.4f}%" in text
    assert text.startswith(f"vegas-s17: shoe {given[-1]}, S17") and found["rules"]["name"] == "vegas-s17"
    assert found["what"] == "first" and found["shoe"]["T"] == 30 and found["chances"]["T"] == 0.5


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ("first --decks inf --shoe T=30", "--shoe counts the cards of a finite shoe, and decks = inf has none"),
        ("next", "'next' is not one of 'first', 'up', 'hole'"),
        ("first --shoe A=3,T=3", "the shoe may run out during a round"),
    ],
)
def test_errors(args: str, says: str) -> None:
    assert says in refusal("known", args.split()[0], *GAME[:2], *args.split()[1:])
