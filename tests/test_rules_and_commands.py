"""Rules by commands: whatever computes takes every rule into account, or refuses it by name."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from fractions import Fraction

import pytest
from support.fronts import decision_process, exact
from support.unusual import PLAIN, UNUSUAL

import bjsim
from bjsim.errors import InputError
from bjsim.sim.game.rules import Rules
from bjsim.strategies.learning.observations import decision_values
from bjsim.strategies.mdp.solve import start_value, value_iteration

# For each rule another value, and other rules with which it matters, in both of two games that are compared.
VALUES: dict[str, object] = {name: values[0] for name, values in UNUSUAL.items()} | {
    "decks": 1, "deck": "spanish", "ten_probability": "2/5", "cut": "1/2", "deal": "ddpp", "peek": False,
    "naturals": "none", "exchange": "21", "split_by": "never", "max_ace_hands": 3, "raises": True, "buy_in": 5,
    "chips": 400, "turns": "round-robin", "move_cap": 50, "seats": 2,
}  # fmt: skip
WITH: dict[str, dict[str, object]] = {
    "ten_probability": {"decks": "inf"},
    **{name: {"peek": False} for name in ("naturals", "natural_beats_21", "no_hole_loses")},
    "free_double_cards": {"free_doubles": "9-11"},
    **{name: {"surrender": "late"} for name in ("surrender_after_split", "surrender_cards")},
    "attack": {"deal": "dppd"},
    "max_ace_hands": {"resplit_aces": True, "max_hands": 4},
    "split_tens_blackjack": {"free_splits": "A23456789T"},  # then tens are split
    "stand_on_21": {"charlie": 5},  # a soft 21 of four cards hits
    "raises": {"chips": 1000},
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


def games(name: str, decks: object) -> tuple[Rules, Rules]:
    """A game, and the same with another value of one rule."""
    game = PLAIN.replace(**{"decks": decks, **WITH.get(name, {})})
    return game, game.replace(**{name: VALUES[name]})


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
    assert set(VALUES) == {field.name for field in dataclasses.fields(Rules)} - {"name"}


@pytest.mark.parametrize("name", VALUES)
def test_a_rule_is_computed_with_or_refused(name: str) -> None:
    found = {command: outcome(command, name) for command in COMMANDS}
    refused = REFUSED.get(name, set())
    assert found == {command: "refuses" if command in refused else "computes" for command in COMMANDS}
