"""Combinations of rules that contradict each other."""

import math
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from bjsim.sim.game.cards import NORMAL_TENS, SPANISH_TENS
from bjsim.sim.game.rule_text import EARLY_SURRENDER


class Contradiction(NamedTuple):
    """A combination of values that is refused; `message` names the fields, with values as `{field}`."""

    fields: tuple[str, str]
    broken: Callable[[Any], bool]  # of a `Rules`, whose module imports this one
    message: str

    @property
    def text(self) -> str:
        """The message for any values."""
        return re.sub(r"\{\w+\}", "…", self.message)


CONTRADICTIONS = (
    Contradiction(
        ("ten_probability", "decks"),
        lambda r: r.deck == "standard" and r.decks != math.inf and r.ten_probability != NORMAL_TENS,
        "ten_probability = {ten_probability} needs decks = inf: a deck of cards has 4/13",
    ),
    Contradiction(
        ("ten_probability", "deck"),
        lambda r: r.deck == "spanish" and r.ten_probability != SPANISH_TENS,
        "ten_probability = {ten_probability} needs deck = standard: a Spanish deck has 1/4",
    ),
    Contradiction(
        ("dealer_shows", "deal"),
        lambda r: r.dealer_shows == "both" and r.deal.count("d") < 2,
        "dealer_shows = both needs two d in deal, not {deal}",
    ),
    Contradiction(
        ("peek", "deal"),
        lambda r: r.peek and r.deal.count("d") < 2,
        "peek = true needs a hole card: two d in deal, not {deal}",
    ),
    Contradiction(
        ("peek", "naturals"),
        lambda r: r.peek and r.naturals != "both",
        "peek = true needs naturals = both: with naturals = {naturals} there is nothing to peek for",
    ),
    Contradiction(
        ("natural_beats_21", "naturals"),
        lambda r: not r.natural_beats_21 and (r.naturals != "both" or r.peek or r.no_hole_loses != "all"),
        "natural_beats_21 = false needs naturals = both, peek = false and no_hole_loses = all",
    ),
    Contradiction(
        ("no_hole_loses", "dealer_shows"),
        lambda r: r.no_hole_loses != "all" and r.dealer_shows == "both",
        "no_hole_loses = {no_hole_loses} needs dealer_shows = up: no one plays on against a natural that all can see",
    ),
    Contradiction(
        ("dealer_shows", "peek"),
        lambda r: r.dealer_shows == "both" and r.naturals == "both" and not r.peek,
        "dealer_shows = both with naturals = both needs peek = true: a natural that all can see ends the round",
    ),
    Contradiction(
        ("no_hole_loses", "peek"),
        lambda r: r.no_hole_loses != "all" and r.peek,
        "no_hole_loses = {no_hole_loses} needs peek = false: with it, a dealer's natural takes one bet in any case",
    ),
    Contradiction(
        ("no_hole_loses", "naturals"),
        lambda r: r.no_hole_loses != "all" and r.naturals != "both",
        "no_hole_loses = {no_hole_loses} needs naturals = both: with naturals = {naturals} the dealer's is only a 21",
    ),
    Contradiction(
        ("no_hole_loses", "surrender_after_split"),
        lambda r: r.no_hole_loses == "original" and r.surrender_after_split,
        "no_hole_loses = {no_hole_loses} needs surrender_after_split = false: a natural takes one bet of split hands",
    ),
    Contradiction(
        ("no_hole_loses", "max_hands"),
        lambda r: r.no_hole_loses == "busted-plus-one" and r.most_hands == math.inf,
        "no_hole_loses = busted-plus-one needs a limit of hands, not max_hands = {max_hands} and "
        "max_ace_hands = {max_ace_hands}: what each loses depends on all before it",
    ),
    Contradiction(
        ("raises", "ties"),
        lambda r: r.raises and r.ties == "replay",
        "raises = true with ties = replay: a replayed bet would have to be raised again; use push or lose",
    ),
    Contradiction(
        ("surrender_after_split", "surrender"),
        lambda r: r.surrender_after_split and r.surrender != "late",
        "surrender_after_split = true needs surrender = late: with surrender = {surrender} no split hand may surrender",
    ),
    Contradiction(
        ("surrender_cards", "surrender"),
        lambda r: r.surrender_cards != "two" and r.surrender != "late",
        "surrender_cards = {surrender_cards} needs surrender = late, not {surrender}",
    ),
    Contradiction(
        ("surrender_after_double", "surrender"),
        lambda r: r.surrender_after_double and bool(EARLY_SURRENDER[r.surrender]),
        "surrender_after_double = true needs surrender = none or late, not {surrender}: it comes after the look",
    ),
    Contradiction(
        ("surrender_after_double", "no_hole_loses"),
        lambda r: r.surrender_after_double and r.no_hole_loses == "original",
        "surrender_after_double = true needs no_hole_loses other than original: a natural takes one bet of split hands",
    ),
    Contradiction(
        ("max_doubles", "raises"),
        lambda r: r.max_doubles > 1 and r.raises,
        "max_doubles = {max_doubles} needs raises = false, as no chips may be left to double again",
    ),
    Contradiction(
        ("surrender", "peek"),
        lambda r: bool(EARLY_SURRENDER[r.surrender]) and not r.peek,
        "surrender = {surrender} needs peek = true: without it, late surrender does the same",
    ),
    Contradiction(
        ("surrender", "dealer_shows"),
        lambda r: bool(EARLY_SURRENDER[r.surrender]) and r.dealer_shows == "both",
        "surrender = {surrender} needs dealer_shows = up: a natural that all can see ends the round",
    ),
    Contradiction(
        ("insurance", "dealer_shows"),
        lambda r: r.insurance and r.dealer_shows == "both",
        "insurance = true needs dealer_shows = up: nothing can be bet on a natural that all can see",
    ),
    Contradiction(
        ("insurance", "naturals"),
        lambda r: r.insurance and r.naturals != "both",
        "insurance = true needs naturals = both: with naturals = {naturals} the dealer's is only a 21",
    ),
    Contradiction(
        ("insurance", "raises"),
        lambda r: r.insurance and r.raises,
        "insurance = true needs raises = false: it is half of a bet in whole chips",
    ),
    *(
        Contradiction(
            (free, field),
            lambda r, free=free, field=field, value=value: (  # type: ignore[misc]
                getattr(r, free) != "none" and getattr(r, field) == value
            ),
            f"{free} = {{{free}}} with {field} = {{{field}}}: {reason}",
        )
        for free in ("free_doubles", "free_splits")
        for field, value, reason in (
            ("raises", True, "it is undefined who raises a bet of the house; use raises = false"),
            ("ties", "replay", "a bet of the house is not replayed; use push or lose"),
            ("no_hole_loses", "original", "it is undefined what a natural takes of free bets; use all"),
            ("no_hole_loses", "original-and-busted", "it is undefined what a natural takes of free bets; use all"),
            ("no_hole_loses", "busted-plus-one", "it is undefined what a natural takes of free bets; use all"),
            (
                "surrender_after_double",
                True,
                "half of a free bet cannot be given up; use surrender_after_double = false",
            ),
            ("max_doubles", 2, "the house pays for one double; use max_doubles = 1"),
            ("max_doubles", 3, "the house pays for one double; use max_doubles = 1"),
            ("surrender_after_split", True, "half of a free bet cannot be given up; use surrender_after_split = false"),
        )
    ),
    Contradiction(
        ("attack", "deal"),
        lambda r: r.attack and r.deal[0] != "d",
        "attack = true needs a deal that begins with the dealer's card, such as dppd, not {deal}",
    ),
    *(
        Contradiction(
            ("attack", field),
            lambda r, field=field, needed=needed: r.attack and getattr(r, field) != needed,  # type: ignore[misc]
            f"attack = true needs {field} = {str(needed).lower()}, not {{{field}}}: {reason}",
        )
        for field, needed, reason in (
            ("dealer_shows", "up", "the bet is doubled against one open card"),
            ("raises", False, "chips would have to last for doubled bets"),
            ("no_hole_loses", "all", "it is undefined whether the attack is part of the original bet"),
        )
    ),
    *(
        Contradiction(
            ("exchange", field),
            lambda r, field=field, value=value: r.exchange != "none" and getattr(r, field) == value,  # type: ignore[misc]
            f"exchange = {{exchange}} with {field} = {{{field}}}: {reason}",
        )
        for field, value, reason in (
            ("raises", True, "it is undefined which of two hands is raised; use raises = false"),
            ("ties", "replay", "it is undefined how one of two hands is replayed; use push or lose"),
            ("stand_on_21", False, "ace and ten after an exchange stand; use stand_on_21 = true"),
            ("attack", True, "two hands are not attacked; use attack = false"),
        )
    ),
    Contradiction(
        ("exchange", "surrender"),
        lambda r: r.exchange != "none" and bool(EARLY_SURRENDER[r.surrender]),
        "exchange = {exchange} needs surrender = none or late, not {surrender}: cards are exchanged after the look",
    ),
    Contradiction(
        ("exchange", "no_hole_loses"),
        lambda r: r.exchange != "none" and r.no_hole_loses != "all",
        "exchange = {exchange} needs no_hole_loses = all, not {no_hole_loses}: there are two original bets",
    ),
    Contradiction(
        ("attack", "ties"),
        lambda r: r.attack and r.ties == "replay",
        "attack = true with ties = replay: it is undefined whether the attack is replayed; use push or lose",
    ),
    Contradiction(
        ("free_splits", "max_hands"),
        lambda r: r.free_splits != "none" and r.most_hands == math.inf,
        "free_splits = {free_splits} needs a limit of hands, not max_hands = {max_hands} and "
        "max_ace_hands = {max_ace_hands}",
    ),
    Contradiction(
        ("max_ace_hands", "resplit_aces"),
        lambda r: r.max_ace_hands not in ("none", 2) and not r.resplit_aces,
        "max_ace_hands = {max_ace_hands} needs resplit_aces = true: with false, aces make two hands",
    ),
    Contradiction(
        ("max_ace_hands", "resplit_aces"),
        lambda r: r.max_ace_hands == 2 and r.resplit_aces,
        "max_ace_hands = 2 needs resplit_aces = false: with true, aces may make more hands",
    ),
    Contradiction(
        ("charlie", "bonuses"),
        lambda r: r.charlie != "none" and r.bonuses not in ("none", "super-fun"),
        "charlie = {charlie} with bonuses = {bonuses}: both say what a hand of many cards wins; set one to none",
    ),
    Contradiction(
        ("chips", "buy_in"),
        lambda r: r.chips < 2 * r.buy_in,
        "chips = {chips} must be at least twice the buy_in of {buy_in}",
    ),
    Contradiction(
        ("raises", "chips"),
        lambda r: r.raises and r.split_by != "never" and r.chips < 2 * r.buy_in * r.most_hands < math.inf,
        "raises = true needs chips to double every split hand: {chips} are fewer than twice the buy_in of {buy_in} for "
        "each of {most_hands} hands (max_hands, max_ace_hands); or split_by = never",
    ),
    Contradiction(
        ("raises", "max_hands"),
        lambda r: r.raises and r.split_by != "never" and r.most_hands == math.inf,
        "raises = true needs a limit of hands: no chips double every split hand with max_hands = {max_hands} and "
        "max_ace_hands = {max_ace_hands}; or split_by = never",
    ),
)


class _Values(dict[str, object]):
    def __init__(self, rules: Any) -> None:
        super().__init__()
        self.rules = rules

    def __missing__(self, name: str) -> object:
        return getattr(self.rules, name)


def find_contradictions(rules: Any) -> list[str]:
    return [each.message.format_map(_Values(rules)) for each in CONTRADICTIONS if each.broken(rules)]
