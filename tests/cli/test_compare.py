"""`bjsim compare` as its users call it, and what one rule is worth."""

import pytest
from support.command import bjsim, refusal

from bjsim.sim.presets import PRESETS
from bjsim.strategies.compare import compare


def games(*args):
    return bjsim("compare", *args, "--json", "-").json["games"]


def test_presets_beside_the_first():
    vegas, h17, city, easy = games("--rules", "vegas-s17,vegas-h17,atlantic-city,easy")
    assert vegas["value"] == pytest.approx(-0.00511734, abs=1e-8) and vegas["difference"] == 0
    assert h17["difference"] == pytest.approx(h17["value"] - vegas["value"])
    changed = [f"{change['row']} v {change['column']}" for change in h17["changes"]]
    assert changed == ["A7 v 2", "A4 v 4", "A8 v 6", "11 v A"]
    assert {change["after"] for change in city["changes"]} == {"Rh"}
    assert easy["changes"] is None  # its columns are the dealer's whole hands


def test_one_rule_at_three_values():
    results = games("--rules", "vegas-s17", "--vary", "blackjack_pays=3/2,6/5,1")
    assert [one["name"] for one in results] == ["blackjack_pays=3/2", "blackjack_pays=6/5", "blackjack_pays=1"]
    # a natural is paid in 2/13 · 4/13 of the rounds, unless the dealer has one too
    paid = 8 / 169 * (1 - 8 / 169)
    assert results[1]["difference"] == pytest.approx(-0.3 * paid, rel=1e-9)
    assert results[2]["difference"] == pytest.approx(-0.5 * paid, rel=1e-9)
    assert results[1]["changes"] == []


def test_endless_resplitting_is_worth_what_is_published():
    one, endless = compare([PRESETS["vegas-s17"].rules, PRESETS["vegas-s17"].rules.with_(max_hands="inf")])
    assert 100 * one.value == pytest.approx(-0.511734, abs=5e-7)
    assert 100 * endless.value == pytest.approx(-0.5093975, abs=5e-8)


def test_rows_that_only_one_game_has_and_an_infinite_value():
    variant = games("--rules", "neller,neller-v1")[1]
    assert "15/4" in variant["only"] and "14:77" in variant["only"]
    endless = games("--rules", "blackjack-p", "--vary", "ten_probability=4/13,1/2")[1]
    assert endless["value"] == endless["difference"] == endless["sd"] == "inf"


def test_what_is_shown():
    text = bjsim("compare", "--rules", "vegas-s17", "--vary", "hit_soft_17=false,true").out
    assert "hit_soft_17=true" in text and "-0.219362%" in text
    assert "A7 v 2 S → Ds, A4 v 4 H → Dh, A8 v 6 S → Ds, 11 v A H → Dh" in text


def test_bad_input_gets_one_line_and_status_2():
    assert refusal("compare").startswith("nothing to compare")
    assert refusal("compare", "--vary", "peek").startswith("--vary peek is not accepted; write FIELD=V1,V2")
    assert "did you mean peek?" in refusal("compare", "--vary", "pek=true,false")
    assert "decks takes 1 to 8, or inf" in refusal("compare", "--vary", "decks=1,99")
    assert "one game to start from" in refusal("compare", "--rules", "easy,neller", "--vary", "decks=1,2")
    assert "did you mean easy?" in refusal("compare", "--rules", "easy,eay")
