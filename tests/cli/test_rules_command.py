"""`bjsim rules` as its users call it."""

import pytest
from support.command import bjsim, refusal

from bjsim.sim.game.presets import PRESETS, load_rules
from bjsim.sim.game.rule_text import CONTRADICTIONS
from bjsim.sim.game.rules import RULE_FIELDS


def squeezed(text):
    return " ".join(text.split())


def test_all_games_are_listed():
    text = bjsim("rules").out
    assert all(f" {name} " in text for name in PRESETS)


@pytest.mark.parametrize("name", PRESETS)
def test_a_game_is_shown_with_every_field_and_its_source(name, monkeypatch):
    monkeypatch.setenv("COLUMNS", "400")
    text = squeezed(bjsim("rules", name).out)
    assert squeezed(PRESETS[name].source) in text
    for field, metadata in RULE_FIELDS.items():
        assert field in text and squeezed(metadata["meaning"]) in text and squeezed(metadata["accepts"]) in text


@pytest.mark.parametrize("name", PRESETS)
def test_the_file_to_start_from_is_the_game(name, tmp_path):
    path = tmp_path / "game.toml"
    path.write_text(bjsim("rules", name, "--toml").out, encoding="utf-8")
    game = load_rules(str(path))
    assert game == PRESETS[name].rules and game.name == name
    assert bjsim("rules", path, "--toml").out.count("\n") >= len(RULE_FIELDS)


def test_changed_rules(tmp_path):
    text = bjsim("rules", "easy", "--set", "decks=2", "--set", "blackjack_pays=6/5", "--toml").out
    assert PRESETS["easy"].about not in text and PRESETS["easy"].about in bjsim("rules", "easy", "--toml").out
    path = tmp_path / "mine.toml"
    path.write_text(text, encoding="utf-8")
    assert load_rules(str(path)) == PRESETS["easy"].rules.replace(decks=2, blackjack_pays="6/5")


def test_every_field_and_every_contradiction_is_explained():
    text = bjsim("rules", "--fields").out
    assert all(field in text for field in RULE_FIELDS)
    assert all(text.count(f"{' and '.join(each.fields)}: {each.text}\n") == 1 for each in CONTRADICTIONS)
    assert "give it alone" in refusal("rules", "easy", "--fields")


def test_words_of_the_trade(tmp_path):
    words = ["h17", "ndas", "ls", "rsa", "6:5", "75%", "chips=10M"]
    text = bjsim("rules", "vegas-s17", *[part for word in words for part in ("--set", word)], "--toml").out
    path = tmp_path / "mine.toml"
    path.write_text(text, encoding="utf-8")
    meant = PRESETS["vegas-s17"].rules.replace(
        hit_soft_17=True, double_after_split=False, surrender=True, resplit_aces=True, blackjack_pays="6/5", cut="3/4",
        chips=10_000_000,
    )  # fmt: skip
    assert load_rules(str(path)) == meant
    path.write_text(
        'preset = "vegas-s17"\nh17 = true\ndas = false\nls = true\nnrsa = false\n"6:5" = true\nchips = "1e7"\n'
    )
    assert load_rules(str(path)) == meant


def test_a_file_of_rules_needs_a_game():
    assert "--toml needs a game" in refusal("rules", "--toml")
