"""Values that follow from the fields of `Rules`."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property

from bjsim.sim.game.cards import DECKS, RANKS, TEN, rank_probabilities
from bjsim.sim.game.hand_states import MELDS, spanish_meld
from bjsim.sim.game.rule_fields import RulesError


class RuleValues:
    """The part of `Rules` that is computed from its fields."""

    decks: float
    deck: str
    ten_probability: Fraction
    cut: Fraction
    deal: str
    blackjack_pays: Fraction
    double_on: str
    free_doubles: str
    free_splits: str
    surrender: str
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
        parts = [
            self.blackjack_pays.denominator,
            2 if self.free_bets else 1,
            *[spanish_meld(meld, self.decks).denominator for meld in MELDS if self.bonuses == "spanish"],
            2 if self.surrender != "none" or self.surrender_after_double or self.insurance else 1,
            self.buy_in if self.raises else 1,
        ]
        return Fraction(1, math.lcm(*parts) * self.bets)

    @cached_property
    def bets(self) -> int:
        """The equal bets of a seat, each with a hand of its own."""
        return 1 if self.exchange == "none" else 2

    @property
    def pays_at_once(self) -> bool:
        """Whether a hand with a bonus wins before the dealer plays."""
        return self.bonuses in ("at-once", "super-fun")

    def need_one_hand(self, why: str, use: str = "exchange = none") -> None:
        """Raise RulesError if seats have two hands; `why` is such as `are not counted`, `use` what helps."""
        if self.bets > 1:
            raise RulesError(f"exchange = {self.exchange}: two hands of a seat {why}; use {use}")

    def hand_limit(self, aces: bool) -> float:
        """Hands that a seat may hold after splits of aces, or of other pairs."""
        return self.max_hands if not aces or isinstance(self.max_ace_hands, str) else self.max_ace_hands

    @property
    def most_hands(self) -> float:
        """Hands that a seat may hold after splits of any pair."""
        return 1 if self.split_by == "never" else max(self.hand_limit(aces) for aces in (False, True))

    def doubles(self, points: int, soft: bool) -> bool:
        """Whether `double_on` lets a hand double, apart from its number of cards, splits and chips."""
        if self.double_on in ("any", "never"):
            return self.double_on == "any"
        return not soft and _within(points, self.double_on)

    def doubles_free(self, points: int, soft: bool) -> bool:
        """Whether the house pays for the double of a hand, apart from its number of cards and splits."""
        return not soft and self.free_doubles != "none" and _within(points, self.free_doubles)

    @property
    def free_bets(self) -> bool:
        """Whether the house pays for some doubles or splits."""
        return {self.free_doubles, self.free_splits} != {"none"}

    def splits_free(self, rank: int) -> bool:
        return self.free_splits != "none" and RANKS[min(rank, TEN)] in self.free_splits


def _within(points: int, totals: str) -> bool:
    low, high = map(int, totals.split("-"))
    return low <= points <= high
