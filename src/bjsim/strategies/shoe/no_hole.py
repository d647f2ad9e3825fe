"""Games without a peek where a dealer's natural takes one bet, however the seat plays.

In a finite shoe they are solved as games with a peek: the natural costs the same, and all other rounds are alike.
"""

from __future__ import annotations

from collections.abc import Mapping

from bjsim.errors import InputError
from bjsim.sim.game.rules import Rules, plain


def as_peeked(rules: Rules) -> Rules:
    """Return the rules with a peek that have the same values; `rules` if hands lose to a natural on their own.

    Late surrender, which saves half a bet from a natural, is early surrender with a peek. It is an InputError if
    what a seat loses to a natural depends on its play.
    """
    if rules.no_hole_loses in ("all", "original-and-busted"):
        return rules
    if rules.no_hole_loses == "busted-plus-one":
        raise InputError(
            "no_hole_loses = busted-plus-one has no exact value in a finite shoe; use all, original, or decks = inf"
        )
    needs: dict[str, object] = {"surrender_cards": "two"}
    if rules.split_tens_blackjack or rules.split_aces_blackjack:
        needs["natural_beats_natural"] = False
    why = "no_hole_loses = original with {} has no exact value in a finite shoe; use {}, or decks = inf"
    need_natural_to_count(rules, why, needs)
    surrender = "none" if rules.surrender == "none" else "early"
    return rules.replace(no_hole_loses="all", peek=True, deal="pdpd", surrender=surrender)


def need_natural_to_count(rules: Rules, why: str, more: Mapping[str, object] | None = None) -> None:
    """Raises: InputError: A hand may win at once, before a natural of the dealer counts, or rules are not `more`.

    `why` is the message, with {} for the rule and {} for the value that it needs.
    """
    needs = {"charlie": "none", "player_21_wins": False, **(more or {})}
    if rules.pays_at_once:
        needs["bonuses"] = "none, win or spanish"
    for name, needed in needs.items():
        if getattr(rules, name) != needed:
            values = (f"{name} = {value}".lower() for value in (plain(getattr(rules, name)), needed))
            raise InputError(why.format(*values))
