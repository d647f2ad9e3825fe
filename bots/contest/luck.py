"""The luck in a contest's rounds: what each card was worth to each seat, against what it could be expected to be.

Before every draw the referee knows the hands, the dealer's cards (the hole card too, from the moment it is dealt: one
information set throughout) and the cards left in the shoe, so the law of the next card. The luck of the draw is

    stake now * (V(the card that came) - sum over r of p(r) V(r)),

V(r) being the exact worth, in an infinite shoe, of the hand when card r comes and the seat then plays a fixed
reference chart. Its expectation is 0 whatever V is and however the bot plays, so profit minus luck has the mean of the
profit, with much less variance. Method: advantage sums, as in Burch et al., "AIVAT" (AAAI 2018).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from operator import mul

from bjsim.sim.cards import RANKS
from bjsim.sim.round import DEALER, Event
from bjsim.sim.rules import Rules
from bjsim.sim.states import BUST, SURRENDERED, DealerState, HandState, Result
from bjsim.strategies.exact import Solver
from bjsim.strategies.named import CATALOGUE
from bjsim.strategies.values import Column, Means

KINDS = ("first", "second", "upcard", "hole", "hit", "double", "dealer")
DEALERS = tuple(map(KINDS.index, ("upcard", "hole", "dealer")))
HIT, DOUBLE = map(KINDS.index, ("hit", "double"))
SETTLED = (BUST, SURRENDERED)  # the dealer's cards do not matter to them any more
# Between the cautious and the bold: the variance for lim17 falls 15-fold by it and for the best chart 11-fold, against
# 11 and 15 by the best chart itself (six players, 250 matches, seed 6).
REFERENCE = "hoyle"
DIGITS = 6  # of a chip, that records keep
Ranks = tuple[int, ...]


def has_luck(rules: Rules) -> bool:
    """Whether luck is computed under these rules: not where hands are split, or a peek ends the round."""
    return rules.split_by == "never" and not rules.peek and rules.deal.count("d") == 2 and rules.bonuses == "none"


class Luck:
    """Computes the luck of rounds under one set of rules, by the reference chart."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.solver = Solver(rules)
        self.states = self.solver.states
        self.letter = CATALOGUE[REFERENCE].chart(rules).letter
        self.law = [float(p) for p in rules.law]
        self.worth = cache(self._worth)
        self.after_card = cache(self._after_card)
        self.after_dealer = cache(self._after_dealer)

    # --- what a hand is worth, per chip staked

    @cache  # noqa: B019 - a Luck lives as long as the process
    def _means(self, up: int, hole: int) -> Means:
        """Worths under the reference chart against these dealer's cards; hole = -1: not dealt yet."""
        label = self.states.column(RANKS[up]) if self.rules.dealer_shows == "up" else ""
        if hole < 0:
            column = self.solver.columns[label]
        else:
            dealer = self._dealer((up, hole))
            if not label:
                label = self.states.dealer_code(dealer)
            column = Column(label, 1.0, self.solver.dealer.law(dealer))
        return Means(self.states, column, 0.0, self.letter)

    def _dealer(self, cards: Ranks) -> DealerState:
        state = DealerState()
        for rank in cards:
            state = self.states.dealer_add(state, rank)
        return state

    def _worth(self, hand: HandState | Result, dealer: Ranks) -> float:
        """Worth of a hand, or of what it ended as, when the dealer has these cards (in the order dealt)."""
        if hand in SETTLED:
            return float(self.states.settle(hand, 1, 0)[0])
        if isinstance(hand, Result):
            law = self.solver.dealer.law(self._dealer(dealer))
            return sum(p * float(self.states.settle(hand, 1, outcome)[0]) for outcome, p in law.items())
        if hand.cards < 2:
            return sum(p * self.worth(self.states.add(hand, rank), dealer) for rank, p in enumerate(self.law) if p)
        if not dealer or (len(dealer) == 1 and self.rules.dealer_shows == "both"):
            return sum(p * self.worth(hand, (*dealer, rank)) for rank, p in enumerate(self.law))
        up, hole = (*dealer, -1)[:2]
        return float(self._means(up, hole).value(hand))

    # --- what each rank would make of it

    def _after_card(self, hand: HandState, dealer: Ranks, stands: bool) -> tuple[float, ...]:
        """By rank: the worth after the seat gets it; `stands`: the hand ends then, as after a double."""
        hands = [self.states.add(hand, rank) for rank in range(len(RANKS))]
        return tuple(self.worth(self.states.result(h) if stands else h, dealer) for h in hands)

    def _after_dealer(self, hand: HandState | Result, dealer: Ranks) -> tuple[float, ...]:
        """By rank: the worth after the dealer gets it."""
        return tuple(self.worth(hand, (*dealer, rank)) for rank in range(len(RANKS)))

    # --- a round

    def of_round(self, events: Sequence[Event], seats: int, left: Sequence[int] | None) -> list[list[float]]:
        """Luck in chips, by seat and kind of draw (KINDS).

        left: cards left of each rank before the round; None in an infinite shoe.
        """
        total = [[0.0] * len(KINDS) for _ in range(seats)]
        hands: list[HandState | Result] = [HandState()] * seats
        stakes = [self.rules.buy_in] * seats
        doubled = [False] * seats
        dealer: Ranks = ()
        deck = _Deck(self.rules, left)
        for what, seat, _, detail in events:
            if what == "action":
                if detail[0] == "B":
                    stakes[seat] += int(detail[2:])
                elif detail[0] == "D":
                    stakes[seat] *= 2
                    doubled[seat] = True
                elif detail[0] == "R":
                    hands[seat] = SURRENDERED
            elif what == "end" and isinstance(hand := hands[seat], HandState):
                hands[seat] = self.states.result(hand)
            elif what in ("card", "hidden"):
                rank = RANKS.index(detail)
                deck.refill()
                if seat == DEALER:
                    kind = DEALERS[min(len(dealer), 2)]
                    seen = self._in_order(dealer)
                    for number, hand in enumerate(hands):
                        if hand not in SETTLED:
                            total[number][kind] += stakes[number] * deck.surprise(self.after_dealer(hand, seen), rank)
                    dealer = (*dealer, rank)
                else:
                    hand = hands[seat]
                    assert isinstance(hand, HandState)  # a hand that has ended gets no card
                    kind = hand.cards if hand.cards < 2 else DOUBLE if doubled[seat] else HIT
                    worths = self.after_card(hand, self._in_order(dealer), doubled[seat])
                    total[seat][kind] += stakes[seat] * deck.surprise(worths, rank)
                    hands[seat] = self.states.add(hand, rank)
                deck.take(rank)
        return [[round(luck, DIGITS) for luck in row] for row in total]

    @staticmethod
    def _in_order(dealer: Ranks) -> Ranks:
        """The dealer's cards as far as worths depend on them: ten-valued ones alike, those after two sorted."""
        same = tuple(min(rank, 9) for rank in dealer)
        return same[:2] + tuple(sorted(same[2:]))


class _Deck:
    """The law of the next card."""

    def __init__(self, rules: Rules, left: Sequence[int] | None) -> None:
        self.full = [float(p) for p in rules.law] if left is None else [4 * int(rules.decks)] * len(RANKS)
        self.infinite = left is None
        self.left = list(self.full if left is None else left)
        self.count = sum(self.left)

    def refill(self) -> None:
        """A shoe that ran out in the middle of the round is followed by a fresh one."""
        if not self.count:
            self.left, self.count = list(self.full), sum(self.full)

    def surprise(self, worths: Sequence[float], rank: int) -> float:
        """How far the worth at `rank` is above the expected one."""
        expected: float = sum(map(mul, self.left, worths)) / self.count
        return worths[rank] - expected

    def take(self, rank: int) -> None:
        if not self.infinite:
            self.left[rank] -= 1
            self.count -= 1
