"""States of a player's and of the dealer's hand, results of finished hands, and bonuses for some of them.

A `HandState` has only what can still affect play, so the number of states measures the size of a game. A finished hand
is a `Result`, which determines the payoff together with the dealer's final score.
"""

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple

from bjsim.sim.game.cards import VALUES

DEALER_NATURAL = 22  # a dealer's outcome, above all scores; 0 is a bust, 17..21 are totals
DEALER_22 = 23  # a dealer's outcome, a bust with 22, if the rules distinguish it

NOT_WAITING, WAITS_FOR_HOLE_CARD, WAITS_FOR_DEALER = 0, 1, 2
WHOLE, SPLIT_HAND, SPLIT_ACES = 0, 1, 2

HALF = Fraction(1, 2)


class HandState(NamedTuple):
    """A player's hand."""

    points: int = 0  # the best total; 22 for every bust
    soft: bool = False
    # number of cards, up to three; up to six or seven if the rules have bonuses, up to that of a Charlie
    cards: int = 0
    rank: int = -1  # rank index that its one or two cards share if it can matter for a split, else -1
    # the sorted rank indices so far while 7-7-7 or 8-7-6 is possible or complete, if there are bonuses
    meld: tuple[int, ...] = ()
    # WHOLE, SPLIT_HAND or SPLIT_ACES while it has at most two cards, then WHOLE; or SPLIT_HAND for all split hands if
    # hands of any number of cards may double, but not split hands, or if a dealer's natural does not take all bets
    split: int = WHOLE
    held: tuple[int, ...] = ()  # the sorted values of its cards (0 for an ace, 9 for ten) for `CardStates`, else empty
    # whether an earlier hand of the split already loses the one bet that a dealer's natural takes besides busted bets;
    # False once it has bust
    covered: bool = False
    # the share of its bet that it can lose: 0 if the house put it up; 1/2 once doubled if it put up one of two
    risk: Fraction | int = 1
    # the pending hands that follow, in the automaton, if they depend on how this hand ends, else empty
    rest: tuple[Any, ...] = ()
    doubled: int = 0  # how often it has doubled, where a hand that has doubled may have a choice; else 0


class Result(NamedTuple):
    """A finished hand: how it ended (`stood`, `bust`, `natural`, `charlie`, `surrendered`), its score, its bonus.

    An insurance bet (`insured`) is one more finished hand of the round. So is the bet that a seat loses to a dealer's
    natural once it has split (`original`), if that is all that it takes. From hands that are `split`, a natural then
    takes nothing, and nothing from those that an earlier hand has covered. Of its stake, only `risk` can be lost.
    """

    end: str
    score: int = 0
    bonus: Fraction | int = 1
    split: bool = False
    risk: Fraction | int = 1


BUST, NATURAL, SURRENDERED = Result("bust"), Result("natural", 21), Result("surrendered", risk=HALF)
CHARLIE, INSURED, ORIGINAL_BET = Result("charlie", 21), Result("insured"), Result("original")


class DealerState(NamedTuple):
    """The dealer's hand; `points` is the best total, 22 for a bust, or 23 if a dealer's 22 pushes.

    `cards` are counted up to three; `held`, of `CardStates`, has the sorted values of at most two cards if
    both are shown.
    """

    points: int = 0
    soft: bool = False
    cards: int = 0
    held: tuple[int, ...] = ()


def add_points(points: int, soft: bool, rank: int, bust: int = 22) -> tuple[int, bool]:
    """The points of a hand after a card, at most `bust`, and whether an ace counts 11."""
    points += VALUES[rank]
    if rank == 0 and points + 10 <= 21 and not soft:
        return points + 10, True
    if points > 21 and soft:
        return points - 10, False
    return min(points, bust), soft


# --- Bonuses: what hands win more by their cards, as data.
#
# All that is computed about a game reads this table. Only the readable round says it again, in `seats.py`.


Meld = tuple[int, ...]  # sorted rank indices
SEVENS, STRAIGHT = (6, 6, 6), (5, 6, 7)  # 7-7-7 and 6-7-8


@dataclass(frozen=True)
class BonusScheme:
    """The multiples of the bet that hands get if they win."""

    cards: dict[int, Fraction | int] = field(default_factory=dict)  # by number of cards; the last also of more
    melds: dict[Meld, Fraction | int] = field(default_factory=dict)  # which come before numbers of cards
    of_21: bool = False  # only totals of 21 get them
    at_once: bool = False  # they are won before the dealer plays
    doubled: bool = True  # hands that have doubled get them too
    suited: bool = False  # melds win what `melds` says, 2:1 if of one suit, and 3:1 in spades

    @property
    def counted(self) -> int:
        """The number of cards up to which hands differ, at least three."""
        return max((3, *self.cards))

    def begins(self, cards: Meld) -> bool:
        """Whether cards are part of a meld, or one."""
        return any(all(cards.count(rank) <= meld.count(rank) for rank in cards) for meld in self.melds)

    def multiple(self, points: int, cards: int, meld: Meld, decks: float) -> Fraction | int:
        """The multiple that a hand wins, its mean where suits matter; 1 without a bonus."""
        if self.of_21 and points != 21:
            return 1
        return self.mean(meld, decks) if meld in self.melds else self.cards.get(min(cards, self.counted), 1)

    def mean(self, meld: Meld, decks: float) -> Fraction:
        """The mean of `spread`, which is what rounds without suits pay."""
        if not self.suited:
            return Fraction(self.melds[meld])
        return sum((pays * p for pays, p in self.spread(meld, decks).items()), Fraction(0))

    def spread(self, meld: Meld, decks: float) -> dict[Fraction, Fraction]:
        """What a meld of a scheme by suits wins, with probabilities.

        Whatever the ranks of the other cards are, each of these is of any suit with equal probability; and of the
        sevens of a shoe, those of one suit become fewer.
        """
        one_suit = Fraction(1, 16)
        if decks != math.inf and len(set(meld)) == 1:
            each = int(decks)
            one_suit = Fraction((each - 1) * (each - 2), (4 * each - 1) * (4 * each - 2))
        return {Fraction(self.melds[meld]): 1 - one_suit, Fraction(2): one_suit * 3 / 4, Fraction(3): one_suit / 4}

    def denominators(self, decks: float) -> list[int]:
        """The denominators of all that is paid."""
        multiples = (*self.cards.values(), *(self.mean(meld, decks) for meld in self.melds))
        return [each.denominator for each in multiples]


HALF_MORE = Fraction(3, 2)
BONUSES = {
    "none": BonusScheme(),
    "win": BonusScheme({5: 2, 6: 3}, {SEVENS: 3, STRAIGHT: 2}),
    "at-once": BonusScheme({5: 2, 6: 3}, {SEVENS: 3, STRAIGHT: 2}, at_once=True),
    "spanish": BonusScheme(
        {5: HALF_MORE, 6: 2, 7: 3}, {SEVENS: HALF_MORE, STRAIGHT: HALF_MORE}, of_21=True, doubled=False, suited=True
    ),
    "super-fun": BonusScheme({5: 2}, of_21=True, at_once=True, doubled=False),
}
