"""The presets have the rules of docs/reference/rules.md, and rules files are read, or refused in one line."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path

import pytest

from bjsim.sim.game.presets import PRESETS, load_rules, named_rules
from bjsim.sim.game.rules import Rules, RulesError

# The rules of each game, as stated in docs/reference/rules.md.
RULED: dict[str, dict[str, object]] = {
    "easy": {
        "decks": math.inf, "ten_probability": Fraction(4, 13), "dealer_shows": "both", "deal": "ddpp",
        "dealer_stands_on": 17, "hit_soft_17": True, "peek": True, "naturals": "both", "natural_beats_natural": False,
        "blackjack_pays": Fraction(3, 2), "ties": "push", "surrender": "late", "double_on": "any",
        "double_after_split": True, "split_by": "value", "max_hands": 4, "resplit_aces": False,
        "hit_split_aces": False, "split_tens_blackjack": False, "stand_on_21": True, "bonuses": "none",
    },
    "blackjack-p": {
        "decks": math.inf, "dealer_shows": "up", "dealer_stands_on": 17, "hit_soft_17": False, "peek": False,
        "naturals": "both", "natural_beats_natural": True, "blackjack_pays": Fraction(3, 2), "ties": "push",
        "max_hands": math.inf, "resplit_aces": False, "hit_split_aces": False, "split_tens_blackjack": True,
        "double_on": "any", "double_after_split": True, "surrender": "none", "split_by": "value",
    },
    "cardshark": {
        "decks": 1, "cut": Fraction(1), "seats": 4, "raises": True, "buy_in": 10, "chips": 200, "deal": "pdpd",
        "dealer_shows": "up", "turns": "round-robin", "stand_on_21": True, "dealer_stands_on": 17,
        "hit_soft_17": False, "ties": "lose", "naturals": "none", "split_by": "never", "surrender": "none",
        "double_on": "any",
    },
    "neller": {
        "decks": math.inf, "dealer_stands_on": 17, "hit_soft_17": False, "naturals": "player",
        "blackjack_pays": Fraction(1), "ties": "replay", "double_on": "never", "split_by": "never",
        "surrender": "none", "bonuses": "none",
    },
    "neller-v1": {"blackjack_pays": Fraction(3, 2), "bonuses": "win", "ties": "replay", "naturals": "player",
                  "split_by": "never", "double_on": "never"},
    "neller-v2": {"split_by": "rank", "max_hands": 2, "hit_split_aces": True, "ties": "replay", "double_on": "never",
                  "split_tens_blackjack": True, "split_aces_blackjack": True},
    "neller-v3": {"double_on": "any", "split_by": "never", "ties": "replay", "naturals": "player"},
    "sutton-barto": {"peek": False, "naturals": "both", "natural_beats_21": False, "blackjack_pays": 1, "ties": "push",
                     "double_on": "never", "split_by": "never", "hit_soft_17": False, "surrender": "none"},
    "vegas-s17": {
        "hit_soft_17": False, "double_after_split": True, "double_on": "any", "max_hands": 4, "resplit_aces": False,
        "hit_split_aces": False, "peek": True, "surrender": "none", "blackjack_pays": Fraction(3, 2), "ties": "push",
        "split_tens_blackjack": False, "naturals": "both", "insurance": True,
    },
    "vegas-h17": {"hit_soft_17": True, "peek": True},
    "downtown": {"peek": True},
    "atlantic-city": {"peek": True, "decks": 8},
    "european": {"deal": "pdp", "peek": False, "naturals": "both"},
    "single-deck": {"decks": 1, "hit_soft_17": True, "double_on": "10-11", "double_after_split": False, "peek": True},
    "two-deck": {"decks": 2, "hit_soft_17": True, "double_on": "any", "double_after_split": True},
    "double-exposure": {"dealer_shows": "both", "insurance": False, "ties": "lose", "blackjack_pays": 1,
                        "natural_beats_natural": True},
    "spanish-21": {"deck": "spanish", "bonuses": "spanish", "player_21_wins": True, "natural_beats_natural": True,
                   "double_cards": "any", "resplit_aces": True, "hit_split_aces": True, "surrender": "late",
                   "surrender_after_double": True, "max_doubles": 1, "hit_soft_17": True, "decks": 6},
    "spanish-21-s17": {"deck": "spanish", "bonuses": "spanish", "hit_soft_17": False, "surrender_after_double": True},
    "super-fun-21": {"decks": 1, "hit_soft_17": True, "double_cards": "any", "double_after_split": True,
                     "surrender_cards": "any", "surrender_after_double": True, "blackjack_pays": Fraction(17, 16),
                     "natural_beats_natural": True, "charlie": 6, "bonuses": "super-fun", "peek": True},
    "pontoon": {"decks": 8, "deck": "spanish", "peek": False, "no_hole_loses": "original-and-busted", "max_hands": 2,
                "player_21_wins": True, "double_cards": "any", "max_doubles": 1, "hit_soft_17": True,
                "surrender": "none"},
    "free-bet": {"decks": 6, "hit_soft_17": True, "dealer_22_pushes": True, "free_doubles": "9-11", "peek": True,
                 "free_double_cards": "two", "free_splits": "A23456789", "resplit_aces": True, "max_hands": 4},
    "double-attack": {"decks": 8, "deck": "spanish", "attack": True, "blackjack_pays": 1, "hit_soft_17": False,
                      "deal": "dppd", "peek": True},
    "blackjack-switch": {"decks": 6, "exchange": "21", "hit_soft_17": True, "dealer_22_pushes": True, "peek": True,
                         "blackjack_pays": 1, "double_after_split": True, "surrender": "none", "resplit_aces": False},
    "free-bet-2012": {"free_doubles": "9-11", "free_double_cards": "any", "free_splits": "A2356789"},
}  # fmt: skip


@pytest.mark.parametrize("name", RULED)
def test_a_preset_is_as_ruled(name: str) -> None:
    game = named_rules(name)
    assert {field: getattr(game, field) for field in RULED[name]} == RULED[name]


def test_every_preset_is_held_to_the_distribution_and_says_what_it_is() -> None:
    assert set(PRESETS) == set(RULED)
    for name, preset in PRESETS.items():
        assert preset.rules.name == name
        assert preset.about and preset.source


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("esy", "did you mean easy?"),
        ("Vegas-S17", "did you mean vegas-s17?"),
        ("vegas", "did you mean vegas-"),
        ("blackjack_p", "did you mean blackjack-p?"),
        ("xyzzy", "presets are easy, blackjack-p, cardshark"),
    ],
)
def test_an_unknown_preset_brings_the_nearest_name(name: str, hint: str) -> None:
    with pytest.raises(RulesError, match="no rule set is called") as caught:
        load_rules(name)
    assert hint in str(caught.value)


def rules_file(folder: Path, text: str | bytes) -> str:
    path = folder / "house.toml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return str(path)


def test_a_file_of_fields(tmp_path: Path) -> None:
    game = load_rules(rules_file(tmp_path, 'decks = 2\nblackjack_pays = "6/5"\nsurrender = true\ncut = 0.75\n'))
    assert game == Rules(decks=2, blackjack_pays="6/5", surrender=True, cut="3/4")  # type: ignore[arg-type]
    assert game.name == "house"


def test_a_file_may_start_from_a_preset_and_name_itself(tmp_path: Path) -> None:
    text = 'preset = "easy"\nname = "mine"\ndecks = inf\nten_probability = 0.3\n'
    game = load_rules(rules_file(tmp_path, text))
    assert game == named_rules("easy").replace(ten_probability="3/10")
    assert game.name == "mine"
    assert load_rules(rules_file(tmp_path, 'preset = "neller"')) == named_rules("neller")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("decks = 0", ["decks = 0 is not accepted", "1 to 8, or inf"]),
        ("dekcs = 1", ["no rule is called 'dekcs'", "did you mean decks?"]),
        ('preset = "esay"', ["no rule set is called 'esay'", "did you mean easy?"]),
        ("preset = 7", ["no rule set is called '7'"]),
        ("decks = 6\nten_probability = 0.5", ["ten_probability = 1/2", "decks = inf"]),
        ("decks = [1, 2]", ["decks = [1, 2] is not accepted"]),
        ("[easy]\ndecks = 1", ["no rule is called 'easy'"]),
        ("self = 1", ["no rule is called 'self'"]),
        ("decks = \nseats = 1\n", ["is not valid TOML", "line 1"]),
        ("decks = 1\ndecks = 2\n", ["is not valid TOML", "line 2"]),
        (b"name = '\xff\xfe'", ["is not valid TOML"]),
        (b"\x00\x01\x02", ["is not valid TOML"]),
    ],
)
def test_a_bad_file_is_refused_in_one_line_that_names_it(tmp_path: Path, text: str | bytes, words: list[str]) -> None:
    path = rules_file(tmp_path, text)
    with pytest.raises(RulesError) as caught:
        load_rules(path)
    message = str(caught.value)
    assert all(word in message for word in [path, *words]), message
    assert "\n" not in message


@pytest.mark.parametrize("stem", ["x" * 101, "tab\there", "bell\a", "\u00e9t\u00e9", "\u202e", "\udce9"])
def test_rules_may_be_in_a_file_of_any_name(tmp_path: Path, stem: str) -> None:
    (tmp_path / f"{stem}.toml").write_text("decks = 2")
    game = load_rules(tmp_path / f"{stem}.toml")
    assert game == Rules(decks=2) and game.name.isprintable()


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(RulesError, match=r"cannot read the rules file .*none\.toml: No such file"):
        load_rules(str(tmp_path / "none.toml"))
    (tmp_path / "folder.toml").mkdir()
    with pytest.raises(RulesError, match="cannot read the rules file"):
        load_rules(str(tmp_path / "folder.toml"))
