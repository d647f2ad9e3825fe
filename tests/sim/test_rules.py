"""Rules: accepted and refused values of each field, inconsistent combinations, and conversion to plain values."""

from __future__ import annotations

import copy
import itertools
import json
import math
import re
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.games import rules

from bjsim.sim.game.presets import PRESETS, the_rules
from bjsim.sim.game.rule_text import ALIASES, CONTRADICTIONS, WORDS, unknown_field
from bjsim.sim.game.rules import RULE_FIELDS, Rules, RulesError, parse_field

F = Fraction
FLAGS: dict[str, list[Any]] = {
    "takes": [(True, True), (False, False), ("true", True), ("FALSE", False), ("yes", True), ("no", False), ("1", True),
              ("0", False), (" true ", True)],
    "refuses": ["", "maybe", "2", 2, None, "truefalse", 1.0],
}  # fmt: skip
# field: what it takes (as given, as kept) and what it refuses
FIELDS: dict[str, dict[str, list[Any]]] = {
    "decks": {
        "takes": [
            (1, 1),
            (8, 8),
            ("6", 6),
            ("inf", math.inf),
            (math.inf, math.inf),
            ("infinite", math.inf),
            (" 2 ", 2),
        ],
        "refuses": [0, 9, -1, "", "two", 1.5, "1.5", math.nan, -math.inf, "1e1", None, True, [6]],
    },
    "deck": {"takes": [(word, word) for word in ("standard", "spanish")], "refuses": ["", "48", "Spanish"]},
    "ten_probability": {
        "takes": [("4/13", F(4, 13)), (0.25, F(1, 4)), ("0.3", F(3, 10)), (F(1, 2), F(1, 2)), ("1e-3", F(1, 1000))],
        "refuses": [0, 1, -0.1, "5/4", "nan", math.inf, "", "1/0", "p", None],
    },
    "cut": {
        "takes": [(0, F(0)), (1, F(1)), ("3/4", F(3, 4)), (0.5, F(1, 2)), ("1e-6", F(1, 10**6)), ("75%", F(3, 4))],
        "refuses": ["-1/2", 1.01, "101%", "%", "75%%", "nan", "1/0"],
    },
    "deal": {
        "takes": [("pdpd", "pdpd"), ("ddpp", "ddpp"), ("pdp", "pdp"), ("dpp", "dpp")],
        "refuses": ["", "pd", "ppp", "pddd", "pdpdp", "pdpx", "PDPD", "pdpddd", "dd", 12],
    },
    "dealer_stands_on": {"takes": [(17, 17), ("18", 18)], "refuses": [16, 19, "17.0", "soft", ""]},
    "dealer_shows": {"takes": [("up", "up"), ("both", "both")], "refuses": ["", "none", "UP", 1]},
    "blackjack_pays": {
        "takes": [("3/2", F(3, 2)), ("6/5", F(6, 5)), (1, F(1)), (1.5, F(3, 2)), ("1e-2", F(1, 100)), ("6:5", F(6, 5))],
        "refuses": [0, -1, "3:2:1", "150%", "nan", "inf", "1/0", ""],
    },
    "naturals": {"takes": [(word, word) for word in ("player", "both", "none")], "refuses": ["", "dealer", True]},
    "no_hole_loses": {
        "takes": [(word, word) for word in ("all", "original", "original-and-busted", "busted-plus-one")],
        "refuses": ["", "none", True],
    },
    "ties": {"takes": [(word, word) for word in ("push", "lose", "replay")], "refuses": ["", "win", "Push", 0]},
    "double_on": {
        "takes": [
            *(("any", "any"), ("never", "never"), ("9-11", "9-11"), ("4-20", "4-20"), ("10-10", "10-10")),
            (" 09 - 11", "9-11"),
        ],
        "refuses": ["", "11", "11-9", "3-11", "9-21", "9-", "-9", "9-10-11", "9,10,11", True, "a-b"],
    },
    "double_cards": {"takes": [("two", "two"), ("any", "any")], "refuses": ["", "2", "three", True]},
    "max_doubles": {"takes": [(1, 1), ("3", 3)], "refuses": [0, 4, "", "two", 1.5, True]},
    "free_doubles": {
        "takes": [("none", "none"), ("9 - 11", "9-11"), ("4-20", "4-20")],
        "refuses": ["", "any", "never", "11", "11-9", "3-11", True],
    },
    "free_double_cards": {"takes": [("two", "two"), ("any", "any")], "refuses": ["", "2", "three", True]},
    "free_splits": {
        "takes": [("none", "none"), ("9a2", "A29"), ("A23456789T", "A23456789T")],
        "refuses": ["", "any", "AA", "K", "10", True],
    },
    "surrender": {
        "takes": [
            *((word, word) for word in ("none", "late", "early", "early-ten", "early-ace")),
            *((True, "late"), ("yes", "late"), (False, "none"), ("0", "none")),
        ],
        "refuses": [*FLAGS["refuses"], "always", "early-9"],
    },
    "surrender_cards": {"takes": [("two", "two"), ("any", "any")], "refuses": ["", "2", "three", True]},
    "exchange": {"takes": [(word, word) for word in ("none", "21", "natural")], "refuses": ["", True, "20"]},
    "split_by": {"takes": [(word, word) for word in ("value", "rank", "never")], "refuses": ["", "suit", "points", 10]},
    "max_hands": {
        "takes": [(2, 2), ("16", 16), ("inf", math.inf), (math.inf, math.inf)],
        "refuses": [1, 0, 17, "", 2.5, math.nan, "four"],
    },
    "max_ace_hands": {
        "takes": [("none", "none"), (2, 2), ("16", 16), ("inf", math.inf)],
        "refuses": ["", 1, 17, "2.5", "None"],
    },
    "bonuses": {
        "takes": [(word, word) for word in ("none", "win", "at-once", "spanish", "super-fun")],
        "refuses": ["", "at once", True],
    },
    "charlie": {"takes": [("none", "none"), (5, 5), ("7", 7)], "refuses": [4, 8, 0, "", "inf", "5.0", True, None]},
    "buy_in": {"takes": [(1, 1), ("100", 100)], "refuses": [0, -5, 2.5, "", "inf", "ten"]},
    "chips": {"takes": [(20, 20), ("1000", 1000)], "refuses": [1, -200, 20.5, "", "inf"]},
    "turns": {"takes": [(word, word) for word in ("in-turn", "round-robin")], "refuses": ["", "round robin", 1]},
    "move_cap": {"takes": [(20, 20), ("1000000", 1000000)], "refuses": [0, 19, -1, "inf", "", 20.5]},
    "seats": {"takes": [(1, 1), ("7", 7)], "refuses": [0, 8, -1, "", 1.0, "four"]},
    **{name: FLAGS for name, field in RULE_FIELDS.items() if field["accepts"] == "true or false"},
}


def test_every_field_is_listed_here() -> None:
    assert FIELDS.keys() == RULE_FIELDS.keys()


@pytest.mark.parametrize(
    ("field", "given", "kept"),
    [(name, given, kept) for name, field in FIELDS.items() for given, kept in field["takes"]],
)
def test_a_field_takes_its_values_and_their_text(field: str, given: object, kept: object) -> None:
    value = parse_field(field, given)
    assert value == kept
    assert type(value) is type(kept)
    assert parse_field(field, value) == kept, "a value that was read is not taken again"


@pytest.mark.parametrize(
    ("field", "given"), [(name, given) for name, field in FIELDS.items() for given in field["refuses"]]
)
def test_a_field_refuses_all_else_and_says_what_it_takes(field: str, given: Any) -> None:
    with pytest.raises(RulesError) as caught:
        Rules(**{field: given})
    assert str(caught.value) == f"{field} = {given} is not accepted; use {RULE_FIELDS[field]['accepts']}"
    assert "\n" not in str(caught.value)


def test_every_field_says_what_it_means_and_takes() -> None:
    for name, field in RULE_FIELDS.items():
        meaning = field["meaning"]  # of this attribute alone
        assert meaning and field["accepts"], name
        assert not (meaning[0].isupper() or meaning.endswith(".") or ": The" in meaning), name
    assert RULE_FIELDS["seats"]["meaning"] == "seats of a table that share its shoe"  # the last, and one of two lines:
    assert RULE_FIELDS["bonuses"]["meaning"].endswith("if they win, at once, or as in Spanish or Super Fun 21")


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"decks": 6, "ten_probability": "1/3"}, ["ten_probability = 1/3", "decks = inf"]),
        ({"deck": "spanish", "ten_probability": "1/3"}, ["ten_probability = 1/3", "deck = standard", "1/4"]),
        ({"deck": "spanish", "ten_probability": "4/13"}, ["ten_probability = 4/13", "deck = standard", "1/4"]),
        ({"dealer_shows": "both", "deal": "pdp", "naturals": "none"}, ["dealer_shows = both", "deal", "pdp"]),
        ({"peek": True, "deal": "pdp"}, ["peek = true", "deal", "pdp"]),
        ({"peek": True, "naturals": "player"}, ["peek = true", "naturals = player"]),
        ({"peek": True, "naturals": "none"}, ["peek = true", "naturals = none"]),
        ({"dealer_shows": "both"}, ["dealer_shows = both", "peek = true"]),
        ({"surrender_after_split": True}, ["surrender_after_split = true", "surrender = late", "none"]),
        ({"surrender_after_split": True, "surrender": "early"}, ["surrender_after_split = true", "surrender = early"]),
        ({"no_hole_loses": "original", "peek": True}, ["no_hole_loses = original", "peek = false"]),
        ({"no_hole_loses": "original", "naturals": "player"}, ["no_hole_loses = original", "naturals = both"]),
        ({"no_hole_loses": "original", "dealer_shows": "both"}, ["no_hole_loses = original", "dealer_shows = up"]),
        (
            {"no_hole_loses": "original", "surrender": "late", "surrender_after_split": True},
            ["no_hole_loses = original", "surrender_after_split = false"],
        ),
        ({"no_hole_loses": "busted-plus-one", "max_hands": "inf"}, ["needs a limit of hands", "max_hands = inf"]),
        ({"surrender": "early-ten"}, ["surrender = early-ten", "peek = true"]),
        ({"surrender": "early", "peek": True, "dealer_shows": "both"}, ["surrender = early", "dealer_shows = up"]),
        ({"max_ace_hands": 3}, ["max_ace_hands = 3", "resplit_aces = true"]),
        ({"max_ace_hands": 2, "resplit_aces": True}, ["max_ace_hands = 2", "resplit_aces = false"]),
        ({"insurance": True, "naturals": "player"}, ["insurance = true", "naturals = player"]),
        ({"insurance": True, "dealer_shows": "both", "peek": True}, ["insurance = true", "dealer_shows = up"]),
        ({"insurance": True, "raises": True}, ["insurance = true", "raises = false"]),
        ({"charlie": 5, "bonuses": "win"}, ["charlie = 5", "bonuses = win"]),
        ({"buy_in": 10, "chips": 19}, ["chips = 19", "buy_in of 10"]),
        (
            {"raises": True, "buy_in": 10, "chips": 79},
            ["raises = true", "79", "4 hands", "max_hands", "split_by = never"],
        ),
        (
            {"raises": True, "max_ace_hands": 16, "resplit_aces": True, "chips": 200},
            ["raises = true", "16 hands", "200"],
        ),
        ({"raises": True, "max_hands": "inf"}, ["raises = true", "max_hands = inf"]),
        ({"raises": True, "resplit_aces": True, "max_ace_hands": "inf"}, ["raises = true", "max_ace_hands = inf"]),
        ({"raises": True, "ties": "replay"}, ["raises = true", "ties = replay"]),
    ],
)
def test_inconsistent_rules_are_refused_by_name(fields: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(RulesError) as caught:
        Rules(**fields)
    assert all(word in str(caught.value) for word in words), caught.value
    with pytest.raises(RulesError):
        Rules().replace(**fields)


def test_every_pair_of_fields() -> None:
    """Every value with every value of every other field: each refusal occurs, and names its fields."""
    seen: set[str] = set()
    values = {field: {kept for _, kept in cases["takes"]} for field, cases in FIELDS.items()}
    alone = Rules()
    for (one, ones), (other, others) in itertools.combinations(values.items(), 2):
        for value, second in itertools.product(ones, others):
            fields = {one: value, other: second}
            changed = _changed(alone, fields)
            seen |= {each.message for each in CONTRADICTIONS if each.broken(changed)}
    assert seen == {each.message for each in CONTRADICTIONS}
    for each in CONTRADICTIONS:
        assert all(re.search(rf"\b{field}\b", each.text) for field in each.fields), each.text


def _changed(rules: Rules, fields: dict[str, Any]) -> Rules:
    """Rules with other values, unchecked."""
    changed = copy.copy(rules)
    for field, value in fields.items():
        object.__setattr__(changed, field, value)
    return changed


@pytest.mark.parametrize(
    "fields",
    [
        {"decks": 6, "ten_probability": "4/13"},
        {"decks": 6, "deck": "spanish", "ten_probability": "1/4"},
        {"dealer_shows": "both", "peek": True},
        {"dealer_shows": "both", "naturals": "none"},
        {"peek": True, "deal": "ddpp"},
        {"buy_in": 10, "chips": 20},
        {"max_ace_hands": 2},
        {"max_ace_hands": 8, "resplit_aces": True},
        {"raises": True, "buy_in": 10, "chips": 80},
        {"raises": True, "split_by": "never", "max_hands": "inf", "chips": 20},
    ],
)
def test_consistent_rules_are_accepted(fields: dict[str, Any]) -> None:
    Rules(**fields)


def test_a_spanish_deck() -> None:
    """Its probability of a ten comes and goes with it."""
    six = PRESETS["vegas-s17"].rules.replace(deck="spanish")
    assert (six.shoe_size, six.cut_cards, six.ten_probability) == (288, 216, Fraction(1, 4))
    assert six.shoe_counts == (*(24,) * 9, 0, 24, 24, 24) and sum(six.card_probabilities) == 1
    assert six.replace(deck="standard") == PRESETS["vegas-s17"].rules
    assert Rules.from_dict(six.to_dict()) == six == six.replace(deck="spanish")


@pytest.mark.parametrize(
    ("word", "fields"),
    [
        ("s17", {"hit_soft_17": False}),
        ("H17", {"hit_soft_17": True}),
        ("das", {"double_after_split": True}),
        ("ndas", {"double_after_split": False}),
        ("ls", {"surrender": "late"}),
        ("es", {"surrender": "early"}),
        ("rsa", {"resplit_aces": True}),
        ("nrsa", {"resplit_aces": False}),
        ("hsa", {"hit_split_aces": True}),
        ("enhc", {"deal": "pdp", "peek": False}),
        ("obo", {"no_hole_loses": "original", "peek": False}),
        ("bb+1", {"no_hole_loses": "busted-plus-one", "peek": False}),
        ("csm", {"cut": 0}),
        ("6:5", {"blackjack_pays": "6/5"}),
        ("75%", {"cut": "3/4"}),
    ],
)
def test_words_of_the_trade(word: str, fields: dict[str, Any]) -> None:
    base = PRESETS["vegas-h17"].rules
    assert base.replace(**{word: True}) == base.replace(**fields)
    if all(isinstance(value, bool) for value in fields.values()):
        assert base.replace(**{word: "no"}) == base.replace(**{field: not value for field, value in fields.items()})
    elif "surrender" in fields:
        assert base.replace(**{word: True}).replace(**{word: "no"}) == base.replace(surrender="none")
    else:
        with pytest.raises(RulesError, match=re.escape(f"{word} = False is not accepted; use true")):
            base.replace(**{word: False})


def test_a_field_has_one_value() -> None:
    assert Rules().replace(enhc=True, obo=True, peek="false") == Rules(deal="pdp", no_hole_loses="original")
    with pytest.raises(RulesError, match="hit_soft_17 is given twice, as h17 and as s17"):
        Rules(h17=True, s17=True)  # type: ignore[call-arg]
    with pytest.raises(RulesError, match="did you mean h17"):
        Rules().replace(h71=True)


SAME = {  # settings that mean one value of a field
    "peek": ["peek=no", "enhc", "obo", "peek=0", "PEEK=false"],
    "blackjack_pays": ["bj=3:2", "blackjack_pays=3/2", "3:2", "bj=1.5"],
    "cut": ["75%", "cut=3/4", "pen=0.75", "penetration=75%"],
    "hit_soft_17": ["h17", "hit_soft_17=yes", "s17=no"],
    "surrender": ["ls", "surrender=true", "surrender=late"],
    "decks": ["decks=inf", "decks=infinite"],
    "chips": ["chips=1e6", "chips=1M"],
    "name": ["name=a", "name=a"],
}
OTHER = {
    "peek": ["peek=yes", "obo"],
    "blackjack_pays": ["bj=3:2", "6:5"],
    "cut": ["csm", "75%"],
    "hit_soft_17": ["h17", "h17=no"],
    "surrender": ["ls", "es"],
    "decks": ["decks=6", "decks=8"],
    "chips": ["chips=many", "chips=1M"],
    "name": ["name=a", "name=b"],
}


@pytest.mark.parametrize("field", SAME)
def test_what_agrees_in_value_is_not_given_twice(field: str) -> None:
    for one, other in itertools.permutations(SAME[field], 2):
        assert getattr(the_rules("european", (one, other)), field) == getattr(the_rules("european", (one,)), field)
    for one, other in itertools.permutations(OTHER[field], 2):
        with pytest.raises(RulesError, match=f"{field} is given twice, as {one} and as {other}"):
            the_rules("european", (one, other))


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("deks", "did you mean decks?"),
        ("hit_soft17", "did you mean hit_soft_17?"),
        ("Surender", "did you mean surrender?"),
        ("dbl", "did you mean double_on?"),
        ("stands_on", "did you mean dealer_stands_on?"),
        ("foo", "`bjsim rules --fields` lists all"),
        ("zzz", "`bjsim rules --fields` lists all"),
    ],
)
def test_an_unknown_field_brings_the_nearest_name(name: str, hint: str) -> None:
    for change in (
        lambda: Rules().replace(**{name: 1}),
        lambda: Rules.from_dict({name: 1}),
        lambda: parse_field(name, 1),
    ):
        with pytest.raises(RulesError) as caught:
            change()
        assert str(caught.value).startswith(f"no rule is called {name!r}; {hint}")


@pytest.mark.parametrize(
    ("change", "field", "value"),
    [
        ({"p": "0.4"}, "ten_probability", Fraction(2, 5)),
        ({"lsr": "true"}, "surrender", "late"),
        ({"Max-Hands": "2"}, "max_hands", 2),
    ],
)
def test_short_names_of_rules(change: dict[str, object], field: str, value: object) -> None:
    assert getattr(Rules().replace(**change), field) == value


@settings(max_examples=300)
@given(st.sampled_from([*WORDS, *ALIASES, *RULE_FIELDS]) | st.text("abdehlmnprstu_-10", min_size=1, max_size=12))
def test_a_suggestion_is_never_what_was_typed(name: str) -> None:
    for typed in (name, name.upper()):
        if typed not in RULE_FIELDS:
            suggested = re.search(r"did you mean (\S+)\?", str(unknown_field(typed, RULE_FIELDS)))
            assert not suggested or suggested[1] != typed


@settings(max_examples=200)
@given(rules())
def test_plain_values_there_and_back(game: Rules) -> None:
    text = json.dumps(game.to_dict())
    again = Rules.from_dict(json.loads(text))
    assert again == game
    assert again.name == game.name
    assert hash(again) == hash(game)
    assert Rules().replace(**{name: str(value) for name, value in game.to_dict().items()}) == game, "all as text"


@pytest.mark.parametrize("name", PRESETS)
def test_presets_there_and_back(name: str) -> None:
    game = PRESETS[name].rules
    assert Rules.from_dict(game.to_dict()) == game
    assert Rules.from_dict(game.to_dict()).name == name == str(game)


def test_replace_changes_the_given_fields_only() -> None:
    game = PRESETS["easy"].rules
    changed = game.replace(surrender="false", decks=2)
    differing = {name for name in RULE_FIELDS if getattr(game, name) != getattr(changed, name)}
    assert differing == {"surrender", "decks"}
    assert (changed.surrender, changed.decks, changed.name) == ("none", 2, "easy")
    assert game.surrender == "late", "the rules themselves are frozen"


@pytest.mark.parametrize("fields", [{"dealer_shows": "both"}, {"naturals": "none", "peek": False}, {"raises": True}])
def test_insurance_gives_way_to_a_rule_that_excludes_it(fields: dict[str, Any]) -> None:
    game = PRESETS["vegas-s17"].rules
    assert game.insurance and not game.replace(**fields).insurance
    assert game.replace(hit_soft_17=True, insurance=True).insurance and not game.replace(insurance=False).insurance
    with pytest.raises(RulesError, match="insurance = true needs"):
        game.replace(insurance=True, **fields)


@settings(max_examples=200)
@given(rules())
def test_the_distribution_of_the_ranks(game: Rules) -> None:
    assert sum(game.card_probabilities) == 1
    assert sum(game.card_probabilities[9:]) == game.ten_probability
    assert len(set(game.card_probabilities[:9])) == len(set(game.card_probabilities[10:])) == 1
    assert game.card_probabilities[9] == (0 if game.deck == "spanish" else game.card_probabilities[10])


@pytest.mark.parametrize(
    ("fields", "unit"),
    [
        ({}, F(1, 2)),
        ({"blackjack_pays": 1}, F(1)),
        ({"blackjack_pays": 1, "surrender": True}, F(1, 2)),
        ({"blackjack_pays": "6/5", "surrender": True}, F(1, 10)),
        ({"blackjack_pays": "6/5", "raises": True, "buy_in": 4}, F(1, 20)),
        ({"surrender": True, "raises": True, "buy_in": 4, "max_hands": 2}, F(1, 4)),
        ({"surrender": True, "surrender_cards": "any", "raises": True, "buy_in": 4}, F(1, 8)),  # of a raised stake
        ({"surrender_after_double": True, "raises": True, "buy_in": 4, "max_hands": 2}, F(1, 8)),
        ({"bonuses": "super-fun", "blackjack_pays": 1, "raises": True}, F(1, 10)),
        ({"bonuses": "spanish", "raises": True}, F(1, 640)),
    ],
)
def test_payoffs_are_counted_in_this_unit(fields: dict[str, Any], unit: Fraction) -> None:
    assert Rules(**fields).unit == unit


@pytest.mark.parametrize(
    ("double_on", "yes", "no"),
    [
        ("any", [(4, False), (20, False), (21, True), (13, True)], []),
        ("never", [], [(4, False), (11, False), (13, True)]),
        ("9-11", [(9, False), (10, False), (11, False)], [(8, False), (12, False), (11, True), (10, True)]),
    ],
)
def test_what_may_be_doubled(double_on: str, yes: list[tuple[int, bool]], no: list[tuple[int, bool]]) -> None:
    game = Rules(double_on=double_on)
    assert all(game.doubles(*hand) for hand in yes)
    assert not any(game.doubles(*hand) for hand in no)
