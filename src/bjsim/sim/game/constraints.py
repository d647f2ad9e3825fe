"""Combinations of rules that contradict each other."""

from __future__ import annotations

import math
from typing import Any

from bjsim.sim.game.cards import NORMAL_TENS, SPANISH_TENS


def find_contradictions(rules: Any) -> list[str]:  # a `Rules`, whose module imports this one
    """Return a message for each pair of fields that contradict each other, naming both."""
    name = "max_hands" if rules.most_hands == rules.max_hands else "max_ace_hands"
    checks = [
        (
            rules.deck == "standard" and rules.decks != math.inf and rules.ten_probability != NORMAL_TENS,
            f"ten_probability = {rules.ten_probability} needs decks = inf: a deck of cards has 4/13",
        ),
        (
            rules.deck == "spanish" and rules.ten_probability != SPANISH_TENS,
            f"ten_probability = {rules.ten_probability} needs deck = standard: a Spanish deck has 1/4",
        ),
        (
            rules.dealer_shows == "both" and rules.deal.count("d") < 2,
            f"dealer_shows = both needs two d in deal, not {rules.deal}",
        ),
        (
            rules.peek and rules.deal.count("d") < 2,
            f"peek = true needs a hole card: two d in deal, not {rules.deal}",
        ),
        (
            rules.peek and rules.naturals != "both",
            f"peek = true needs naturals = both: with naturals = {rules.naturals} there is nothing to peek for",
        ),
        (
            rules.dealer_shows == "both" and rules.naturals == "both" and not rules.peek,
            "dealer_shows = both with naturals = both needs peek = true: a natural that all can see ends the round",
        ),
        (
            rules.raises and rules.ties == "replay",
            "raises = true with ties = replay: a replayed bet would have to be raised again; use push or lose",
        ),
        (
            rules.surrender_after_split and not rules.surrender,
            "surrender_after_split = true needs surrender = true: with surrender = false no hand may surrender",
        ),
        (
            rules.max_ace_hands not in ("none", 2) and not rules.resplit_aces,
            f"max_ace_hands = {rules.max_ace_hands} needs resplit_aces = true: with false, aces make two hands",
        ),
        (
            rules.max_ace_hands == 2 and rules.resplit_aces,
            "max_ace_hands = 2 needs resplit_aces = false: with true, aces may make more hands",
        ),
        (
            rules.charlie != "none" and rules.bonuses != "none",
            f"charlie = {rules.charlie} with bonuses = {rules.bonuses}: both say what a hand of many cards wins; "
            "set one of them to none",
        ),
        (
            rules.chips < 2 * rules.buy_in,
            f"chips = {rules.chips} must be at least twice the buy_in of {rules.buy_in}",
        ),
        (
            rules.raises and rules.split_by != "never" and rules.chips < 2 * rules.buy_in * rules.most_hands,
            f"raises = true needs chips to double every split hand: {rules.chips} are fewer than twice the buy_in "
            f"of {rules.buy_in} for each of {name} = {rules.most_hands}; or split_by = never",
        ),
    ]
    return [message for broken, message in checks if broken]
