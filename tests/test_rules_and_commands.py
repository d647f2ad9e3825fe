"""Rules by commands: whatever computes takes every rule into account, or refuses it by name."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from fractions import Fraction

import pytest
from support.fronts import decision_process, exact
from support.unusual import PLAIN

import bjsim
from bjsim.errors import InputError
from bjsim.sim.game.rules import Rules
from bjsim.strategies.learning.observations import decision_values
from bjsim.strategies.mdp.solve import start_value, value_iteration

NO_PEEK: dict[str, object] = {"peek": False}
LATE: dict[str, object] = {"surrender": "late"}
TENS: dict[str, object] = {"free_splits": "A23456789T"}  # then tens are split
# For each rule another value, and other rules with which it matters, in both of two games that are compared.
CHANGES: dict[str, tuple[object, dict[str, object]]] = {
    "decks": (1, {}),
    "deck": ("spanish", {}),
    "ten_probability": ("2/5", {"decks": "inf"}),
    "cut": ("1/2", {}),
    "deal": ("ddpp", {}),
    "dealer_stands_on": (18, {}),
    "hit_soft_17": (True, {}),
    "dealer_shows": ("both", {}),
    "peek": (False, {}),
    "blackjack_pays": ("6/5", {}),
    "naturals": ("none", NO_PEEK),
    "natural_beats_natural": (True, {}),
    "natural_beats_21": (False, NO_PEEK),
    "no_hole_loses": ("original", NO_PEEK),
    "ties": ("lose", {}),
    "double_on": ("10-11", {}),
    "double_cards": ("any", {}),
    "double_after_split": (False, {}),
    "max_doubles": (2, {}),
    "free_doubles": ("9-11", {}),
    "free_double_cards": ("any", {"free_doubles": "9-11"}),
    "free_splits": ("A2356789", {}),
    "surrender": ("late", {}),
    "surrender_after_split": (True, LATE),
    "surrender_cards": ("any", LATE),
    "surrender_after_double": (True, {}),
    "insurance": (True, {}),
    "attack": (True, {"deal": "dppd"}),
    "exchange": ("21", {}),
    "split_by": ("never", {}),
    "max_hands": (2, {}),
    "max_ace_hands": (3, {"resplit_aces": True, "max_hands": 4}),
    "resplit_aces": (True, {}),
    "hit_split_aces": (True, {}),
    "split_tens_blackjack": (True, TENS),
    "split_aces_blackjack": (True, {}),
    "stand_on_21": (False, {"charlie": 5}),  # a soft 21 of four cards hits
    "bonuses": ("win", {}),
    "player_21_wins": (True, {}),
    "dealer_22_pushes": (True, {}),
    "charlie": (5, {}),
    "raises": (True, {"chips": 1000}),
    "buy_in": (5, {}),
    "chips": (400, {}),
    "turns": ("round-robin", {}),
    "move_cap": (50, {}),
    "seats": (2, {}),
}
# No exact value of a fresh shoe depends on these; insurance is not taken in a full shoe.
SAME = {"cut", "deal", "insurance", "raises", "buy_in", "chips", "turns", "move_cap", "seats"}
BUST = {"decks", "deck", "dealer_stands_on", "hit_soft_17"}  # what a bet on the dealer's bust depends on


def counted(rules: Rules) -> object:
    """The mean of one unit at every count, and its variance, of few rounds of the same cards."""
    found = bjsim.count(rules.replace(cut=Fraction(1, 10)), ramp="1", indices="none", rounds=300)
    return found["ev_per_round"].value, found["sd_per_round"].value


def values_by_card(rules: Rules, what: str) -> object:
    return dict(bjsim.known(rules, what).values)


def learned(rules: Rules) -> float:
    mdp = decision_process(rules)[1]
    return start_value(mdp, value_iteration(mdp, 1e-9).values)


COMMANDS: dict[str, Callable[[Rules], object]] = {
    "solve": lambda rules: bjsim.solve(rules).value,
    "check": lambda rules: bjsim.evaluate(bjsim.solve(rules).chart).value,
    "compare": lambda rules: bjsim.compare(PLAIN.replace(decks="inf"), rules)[1].difference,
    "run": lambda rules: exact(bjsim.play(rules, ["optimal"], hands=100, workers=1, adjust_luck=False)[0]),
    "bank": lambda rules: bjsim.bank(rules, 100, 100).ev,
    "known first": lambda rules: values_by_card(rules, "first"),
    "known up": lambda rules: values_by_card(rules, "up"),
    "known hole": lambda rules: values_by_card(rules, "hole"),
    "sidebet": lambda rules: bjsim.sidebet("buster", rules=rules).ev,
    "learn": learned,
    "environment": lambda rules: decision_values(rules).start,
    "count": counted,
}
FINITE = {"count"}
EXCHANGE = {"bank", "known first", "known up", "known hole", "learn", "environment", "count"}
REFUSED = {
    "decks": {"learn"},
    "ten_probability": {"sidebet", "count"},
    "dealer_shows": {"known up", "known hole"},
    "natural_beats_21": {"known hole"},
    "attack": {"known first", "known up", "known hole", "environment", "count"},
    "exchange": EXCHANGE,
    "raises": {"count"},
}
BY_DESIGN = {
    ("environment", "decks"),  # its values are those of an infinite shoe, as its page says
    ("known hole", "peek"),  # who sees a natural loses one bet in any case
    ("known hole", "no_hole_loses"),
}
FAST = ("ten_probability", "dealer_shows", "attack", "exchange")  # the others are nightly


def games(name: str, decks: object) -> tuple[Rules, Rules]:
    """A game, and the same with another value of one rule."""
    value, others = CHANGES[name]
    game = PLAIN.replace(**{"decks": decks, **others})
    return game, game.replace(**{name: value})


def outcome(command: str, name: str) -> str:
    """What a command does with a rule: `computes` or `refuses`; `IGNORES` where its answer is that without the rule."""
    usual, unusual = games(name, 2 if command in FINITE else "inf")
    try:
        answer = COMMANDS[command](unusual)
    except InputError as error:
        named = name in str(error) or (name == "ten_probability" and "decks" in str(error))
        return "refuses" if named else f"refuses by another name: {error}"
    concerned = name in BUST if command == "sidebet" else name not in SAME and (command, name) not in BY_DESIGN
    return "computes" if not concerned or answer != COMMANDS[command](usual) else "IGNORES"


def test_every_rule_is_in_the_table() -> None:
    assert set(CHANGES) == {field.name for field in dataclasses.fields(Rules)} - {"name"}


@pytest.mark.parametrize("name", CHANGES)
def test_a_rule_is_computed_with_or_refused(name: str) -> None:
    found = {command: outcome(command, name) for command in COMMANDS}
    refused = REFUSED.get(name, set())
    assert found == {command: "refuses" if command in refused else "computes" for command in COMMANDS}
