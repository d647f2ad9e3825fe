"""Games without a peek where a dealer's natural takes one bet, however the seat plays.

In a finite shoe they are solved as games with a peek: the natural costs the same, and all other rounds are alike.
"""

from __future__ import annotations

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
    needs: dict[str, object] = {"charlie": "none", "player_21_wins": False, "surrender_cards": "two"}
    if rules.bonuses == "at-once":
        needs["bonuses"] = "none, win or spanish"
    if rules.split_tens_blackjack or rules.split_aces_blackjack:
        needs["natural_beats_natural"] = False
    for name, needed in needs.items():
        if getattr(rules, name) != needed:
            value = plain(getattr(rules, name))
            raise InputError(
                f"no_hole_loses = {rules.no_hole_loses} with {name} = {str(value).lower()} has no exact value in a "
                f"finite shoe; use {name} = {str(needed).lower()}, or decks = inf"
            )
    surrender = "none" if rules.surrender == "none" else "early"
    return rules.replace(no_hole_loses="all", peek=True, deal="pdpd", surrender=surrender)
