"""`bjsim coupon` and `bjsim bank --bonus`: what they print and write, and their one-line errors."""

from __future__ import annotations

import pytest
from support.command import bjsim, refusal


def test_the_text_and_the_json() -> None:
    args = ("coupon", "match", "--rules", "vegas-h17", "--set", "resplit_aces=true")
    found, text = bjsim(*args, "--json", "-").json, bjsim(*args).out
    assert text.startswith(f"value: {100 * found['value']:.4f}% of a bet\n")
    assert "99 v A: P instead of S" in text
    assert {"row": "11", "column": "A", "game": "Dh", "coupon": "H"} in found["changes"]
    assert "\n11 Dh Dh Dh Dh Dh Dh Dh Dh Dh  H\n" in text


def test_a_bonus() -> None:
    args = ("bank", "--rules", "vegas-s17", "--decks", "inf", "--bankroll", 20, "--bonus", 20, "--rounds", 100)
    found = bjsim(*args, "--json", "-").json["bonus"]
    assert f"bonus: gains {found['value']:+.6g}" in bjsim(*args).out


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ("coupon match --after-push x", "--after-push: x is not accepted; use a value from 0 to 1"),
        ("coupon match --rules neller", "ties: where ties are replayed"),
        ("bank --bankroll 9 --rounds 9 --sticky", "--sticky needs --bonus"),
        ("bank --bankroll 9 --rounds 9 --bonus 9 --goal 20", "--bonus: all rounds are played; leave out --goal and"),
    ],
)
def test_errors(args: str, says: str) -> None:
    assert says in refusal(*args.split())
