"""`Rules`: the rules of a game as one frozen value. docs/reference/rules.md has the rulings and their sources.

The docstring has the meaning of each field, and its metadata the accepted values; listings, TOML files and error
messages use them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from functools import cached_property
from inspect import cleandoc
from typing import Any

from bjsim.arguments import a_type
from bjsim.errors import shorten
from bjsim.sim.game import rule_text as parsers
from bjsim.sim.game.cards import DECKS, NORMAL_TENS, RANKS, SPANISH_TENS, TEN, rank_probabilities
from bjsim.sim.game.hand_states import BONUSES, BonusScheme
from bjsim.sim.game.rule_text import (
    RulesError,
    choice,
    expand_words,
    find_contradictions,
    flag,
    html_table,
    name_unknown_fields,
    plain,
    rule,
    unknown_field,
)

# --- Values that follow from the fields of `Rules`.


class RuleValues:
    """The part of `Rules` that is computed from its fields."""

    decks: float
    deck: str
    ten_probability: Fraction
    cut: Fraction
    deal: str
    blackjack_pays: Fraction
    double_on: str
    double_cards: str
    max_doubles: int
    free_doubles: str
    free_double_cards: str
    free_splits: str
    surrender: str
    surrender_cards: str
    surrender_after_double: bool
    insurance: bool
    split_by: str
    max_hands: float
    max_ace_hands: float | str
    bonuses: str
    exchange: str
    raises: bool
    buy_in: int

    @property
    def infinite(self) -> bool:
        """Whether cards are drawn with replacement."""
        return self.decks == math.inf

    @property
    def cut_cards(self) -> int:
        """Cards dealt until the shoe is shuffled before the next round, at least 1; 0 if the shoe is infinite."""
        return 0 if self.infinite else max(math.ceil(self.cut * self.shoe_size), 1)

    @property
    def shoe_size(self) -> int:
        """Cards of a full shoe; 0 if it is infinite."""
        return sum(self.shoe_counts)

    @property
    def shoe_counts(self) -> tuple[int, ...]:
        """Cards of each of the 13 ranks in a full shoe; 0 if it is infinite."""
        return tuple(0 if self.infinite else int(self.decks) * count for count in DECKS[self.deck])

    @property
    def fresh(self) -> bool:
        """Whether every round has a freshly shuffled shoe, since the deal alone reaches the cut, or an infinite one."""
        return self.cut_cards <= len(self.deal)

    @cached_property
    def card_probabilities(self) -> tuple[Fraction, ...]:
        """Probability of each of the 13 ranks in a full shoe."""
        return rank_probabilities(self.ten_probability, self.deck)

    @cached_property
    def unit(self) -> Fraction:
        """The payoff quantum: all payoffs are integer multiples of this share of an initial bet."""
        raised = math.lcm(  # divisors of a stake that may have been raised
            *self.scheme.denominators(self.decks),
            2 if self.surrender_cards == "any" or self.surrender_after_double else 1,
        )
        parts = [
            self.blackjack_pays.denominator,
            2 if self.free_bets or self.surrender != "none" or self.insurance else 1,
            raised * (self.buy_in if self.raises else 1),
        ]
        return Fraction(1, math.lcm(*parts) * self.bets)

    @cached_property
    def bets(self) -> int:
        """The equal bets of a seat, each with a hand of its own."""
        return 1 if self.exchange == "none" else 2

    @property
    def scheme(self) -> BonusScheme:
        """What its bonuses pay."""
        return BONUSES[self.bonuses]

    def hand_limit(self, aces: bool) -> float:
        """Hands that a seat may hold after splits of aces, or of other pairs."""
        return self.max_hands if not aces or isinstance(self.max_ace_hands, str) else self.max_ace_hands

    @property
    def most_hands(self) -> float:
        """Hands that a seat may hold after splits of any pair."""
        return 1 if self.split_by == "never" else max(self.hand_limit(aces) for aces in (False, True))

    def doubles(self, points: int, soft: bool, first: bool = True) -> bool:
        """Whether a hand may double as its first or a later action, apart from splits and chips."""
        if not first and self.double_cards == "two":
            return False
        if self.double_on in ("any", "never"):
            return self.double_on == "any"
        return not soft and _within(points, self.double_on)

    def doubles_again(self, points: int, soft: bool, times: int) -> bool:
        """Whether a hand that has doubled so many times may double again, with any number of cards."""
        return times < self.max_doubles and self.doubles(points, soft)

    def doubles_free(self, points: int, soft: bool, first: bool = True) -> bool:
        """Whether the house pays for the double of a hand, apart from splits."""
        if self.free_doubles == "none" or soft or not (first or self.free_double_cards == "any"):
            return False
        return _within(points, self.free_doubles)

    @property
    def free_bets(self) -> bool:
        """Whether the house pays for some doubles or splits."""
        return {self.free_doubles, self.free_splits} != {"none"}

    def splits_free(self, rank: int) -> bool:
        return self.free_splits != "none" and RANKS[min(rank, TEN)] in self.free_splits


def _within(points: int, totals: str) -> bool:
    low, high = map(int, totals.split("-"))
    return low <= points <= high


LONGEST_NAME = 100  # characters

__all__ = ["RULE_FIELDS", "Rules", "RulesError", "parse_field", "plain"]


@name_unknown_fields
@dataclass(frozen=True)
class Rules(RuleValues):
    """The rules of one game. Money is counted in initial bets.

    Every field may be given as its value or as text ("3/2", "inf", "true"). `bjsim rules NAME` shows what each accepts.

    Attributes:
        name: The name of this game.
        decks: Decks in the shoe; inf draws with replacement.
        deck: Cards of a deck: all 52, or 48 without T; J, Q and K remain.
        ten_probability: Probability of a ten-valued card; all others share the rest.
        cut: Share of the shoe dealt before it is shuffled; 1 = to the last card, 0 = a fresh shoe for every round.
        deal: Order of the deal: p gives every seat a card, d the dealer; the first d is open; one d: no hole card.
        dealer_stands_on: The dealer draws below this total.
        hit_soft_17: The dealer draws on soft 17.
        dealer_shows: Dealer's cards seen before the seats act.
        peek: A dealer's natural ends the round before anyone acts.
        blackjack_pays: What a player's natural wins.
        naturals: Whose ace and ten in two cards is special.
        natural_beats_natural: A player's natural wins even against the dealer's (else they tie).
        natural_beats_21: A dealer's natural beats a drawn 21 (else they tie).
        no_hole_loses: What a seat loses to a dealer's natural where there is no peek: all bets, its original bet,
            busted bets and one for each other hand, or busted bets and one more (exact in an infinite shoe only).
        ties: Equal scores: bet back, bet lost, or the same bet replayed.
        double_on: Hands that may double.
        double_cards: How many cards a hand that doubles may have.
        double_after_split: Split hands may double.
        max_doubles: How often a hand may double, for a card each time.
        free_doubles: Hard totals whose double the house pays for: the second bet can win, but cannot lose.
        free_double_cards: How many cards a hand that doubles free may have.
        free_splits: Pairs whose split the house pays for: bets of all hands but the first can win, but cannot lose.
        surrender: Half the bet may be given up; early (or only against that card): before the peek.
        surrender_after_split: Split hands may surrender too.
        surrender_cards: How many cards a hand that surrenders may have.
        surrender_after_double: A hand that has doubled may give up half of its stake (rescue).
        insurance: Against an ace, half the bet may be staked on a dealer's natural, which pays 2:1.
        attack: Against the dealer's open card, a seat may double its bet before its own are dealt.
        exchange: Second cards of two bets may be exchanged; what ace and ten are.
        split_by: Pairs that may be split: equal value, equal rank.
        max_hands: Hands a seat may hold after splits.
        max_ace_hands: Hands a seat may hold after splits of aces; none: as for other pairs.
        resplit_aces: A pair of aces from split aces may be split again.
        hit_split_aces: Split aces play on; else one card each.
        split_tens_blackjack: Ace and ten after splitting tens is a natural.
        split_aces_blackjack: Ten and ace after splitting aces is a natural.
        stand_on_21: A total of 21 stands by itself.
        bonuses: Five cards and 8-7-6 win double, six and 7-7-7 triple: if they win, at once, or as in Spanish or Super
            Fun 21.
        player_21_wins: A player's 21 wins at once, even against the dealer's.
        dealer_22_pushes: A dealer's 22 returns the bets of all hands that would win by it.
        charlie: So many cards in a hand win its bet at once.
        raises: Seats may add chips to their stake (B n) before standing.
        buy_in: Chips of the initial bet.
        chips: Chips a seat starts with.
        turns: Each seat finishes in turn, or one move each, round and round.
        move_cap: Moves of a hand, raises included, until it stands.
        seats: Seats of a table that share its shoe.

    Raises:
        InputError: A value is not accepted, or the rules are inconsistent. The message names the field.
    """

    name: str = field(default="custom", compare=False)
    decks: float = rule(math.inf, "1 to 8, or inf", parsers.or_inf(parsers.whole(1, 8)))
    deck: str = choice("standard", "standard", "spanish")
    ten_probability: Fraction = rule(
        NORMAL_TENS, "a number between 0 and 1, such as 4/13", parsers.share(lambda x: 0 < x < 1)
    )
    cut: Fraction = rule(Fraction(1), "0 to 1, such as 3/4 or 75%, or csm for 0", parsers.cut)
    deal: str = rule("pdpd", "two p and one or two d, such as pdpd, ddpp, pdp", parsers.deal)
    dealer_stands_on: int = rule(17, "17 or 18", parsers.whole(17, 18))
    hit_soft_17: bool = flag(False)
    dealer_shows: str = choice("up", "up", "both")
    peek: bool = flag(False)
    blackjack_pays: Fraction = rule(
        Fraction(3, 2), "a number of bets above 0, to 100, such as 3/2 or 3:2", parsers.odds
    )
    naturals: str = choice("both", "player", "both", "none")
    natural_beats_natural: bool = flag(False)
    natural_beats_21: bool = flag(True)
    no_hole_loses: str = choice("all", "all", "original", "original-and-busted", "busted-plus-one")
    ties: str = choice("push", "push", "lose", "replay")
    double_on: str = rule(
        "any", "any, never, or hard totals such as 9-11", parsers.or_word(parsers.totals, "any", "never")
    )
    double_cards: str = choice("two", "two", "any")
    double_after_split: bool = flag(True)
    max_doubles: int = rule(1, "1 to 3", parsers.whole(1, 3))
    free_doubles: str = rule("none", "none, or hard totals such as 9-11", parsers.or_word(parsers.totals, "none"))
    free_double_cards: str = choice("two", "two", "any")
    free_splits: str = rule("none", "none, or ranks such as A2356789", parsers.or_word(parsers.ranks, "none"))
    surrender: str = rule("none", "none, late, early, early-ten or early-ace (true is late)", parsers.surrender)
    surrender_after_split: bool = flag(False)
    surrender_cards: str = choice("two", "two", "any")
    surrender_after_double: bool = flag(False)
    insurance: bool = flag(False)
    attack: bool = flag(False)
    exchange: str = choice("none", "none", "21", "natural")
    split_by: str = choice("value", "value", "rank", "never")
    max_hands: float = rule(4, "2 to 16, or inf", parsers.or_inf(parsers.whole(2, 16)))
    max_ace_hands: float | str = rule(
        "none", "none, 2 to 16, or inf", parsers.or_word(parsers.or_inf(parsers.whole(2, 16)), "none")
    )
    resplit_aces: bool = flag(False)
    hit_split_aces: bool = flag(False)
    split_tens_blackjack: bool = flag(False)
    split_aces_blackjack: bool = flag(False)
    stand_on_21: bool = flag(True)
    bonuses: str = choice("none", *BONUSES)
    player_21_wins: bool = flag(False)
    dealer_22_pushes: bool = flag(False)
    charlie: int | str = rule("none", "none, or 5 to 7", parsers.or_word(parsers.whole(5, 7), "none"))
    raises: bool = flag(False)
    buy_in: int = rule(10, "1 to 1e9 chips", parsers.amount(1, 10**9))
    chips: int = rule(200, "twice the buy-in, to 1e12 chips", parsers.amount(2, 10**12))
    turns: str = choice("in-turn", "in-turn", "round-robin")
    move_cap: int = rule(100, "20 (no hand draws more cards) to 1000000", parsers.whole(20, 10**6))
    seats: int = rule(1, "1 to 7", parsers.whole(1, 7))

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.isprintable() or len(self.name) > LONGEST_NAME:
            shown = repr(shorten(self.name))
            raise RulesError(f"name = {shown} is not accepted; use one line of at most {LONGEST_NAME} characters")
        by_default = self.ten_probability is NORMAL_TENS  # if 4/13 is given, it is another object
        for name in RULE_FIELDS:
            object.__setattr__(self, name, parse_field(name, getattr(self, name)))
        if self.deck == "spanish" and by_default:
            object.__setattr__(self, "ten_probability", SPANISH_TENS)
        for message in find_contradictions(self):
            raise RulesError(message)

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        values = [(f.name, getattr(self, f.name), f.default) for f in fields(self) if f.name != "name"]
        changed = [f"{name}={plain(value)}" for name, value, default in values if value != default]
        return f"Rules({', '.join([repr(self.name), *changed])})"

    def _repr_html_(self) -> str:
        rows = ((name, getattr(self, name), field["meaning"]) for name, field in RULE_FIELDS.items())
        return html_table(self.name, rows)

    def replace(self, /, **changes: object) -> Rules:
        """Copy these rules with some fields changed.

        Args:
            **changes: Values by field, which may be text; or true by a word of the trade, such as `h17` or `das`.
                Insurance is no longer offered where they exclude it, unless they ask for it.

        Returns:
            The changed rules.

        Raises:
            InputError: As for the constructor, or a field is unknown.
        """
        changes = expand_words(changes.items(), RULE_FIELDS)
        if "deck" in changes and (self.deck == "spanish" or self.ten_probability == NORMAL_TENS):
            changes = {"ten_probability": NORMAL_TENS, **changes}
        if not self.insurance or "insurance" in changes:
            return replace(self, **changes)  # type: ignore[arg-type]
        changed = replace(self, **{**changes, "insurance": False})  # type: ignore[arg-type]
        offered = changed.dealer_shows == "up" and changed.naturals == "both" and not changed.raises
        return replace(changed, insurance=offered)

    def to_dict(self) -> dict[str, object]:
        """All fields as plain values.

        Returns:
            JSON values by field, with fractions and `inf` as text.
        """
        return {name: plain(getattr(self, name)) for name in ("name", *RULE_FIELDS)}

    @staticmethod
    def from_dict(values: Mapping[str, object]) -> Rules:
        """Make rules from plain values.

        Args:
            values: Values by field, as `to_dict` returns them; missing fields have their defaults.

        Returns:
            The rules.

        Raises:
            InputError: As for the constructor, or a field is unknown.
        """
        return Rules().replace(**values)


def _read_meanings(docstring: str) -> dict[str, str]:
    """What a docstring says of each attribute, without the capital and the full stop of a sentence."""
    said = re.findall(r"^ {4}(\w+): (.*?)\.\n(?=$| {4}\w)", cleandoc(docstring), re.MULTILINE | re.DOTALL)
    return {name: " ".join((text[0].lower() + text[1:]).split()) for name, text in said}


_MEANINGS = _read_meanings(Rules.__doc__ or "")  # empty where docstrings are gone (python -OO)
RULE_FIELDS = {
    f.name: {**f.metadata, "meaning": _MEANINGS.get(f.name, "")} for f in fields(Rules) if "parse" in f.metadata
}


def need_rules(rules: object) -> None:
    """Raises: RulesError: The object is not `Rules`; the message says how to get them."""
    if not isinstance(rules, Rules):
        name = rules if isinstance(rules, str) and len(rules) < LONGEST_NAME else "easy"
        raise RulesError(f"rules: {a_type(rules)} is not accepted; give Rules, such as load_rules({name!r})")


def parse_field(name: str, value: object) -> Any:
    """Parse the value of field `name` from a value or its text. Raises: RulesError, with the accepted values."""
    if name not in RULE_FIELDS:
        raise unknown_field(name, RULE_FIELDS)
    try:
        return RULE_FIELDS[name]["parse"](str(value).strip())
    except (ValueError, KeyError, ZeroDivisionError):
        raise RulesError(f"{name} = {shorten(value)} is not accepted; use {RULE_FIELDS[name]['accepts']}") from None
