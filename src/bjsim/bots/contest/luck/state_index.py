"""The situations of one hand in a contest, numbered, so that what they are worth fits into arrays.

A situation is a hand (or what it ended as) and the dealer's cards. Only hands that are never split are numbered.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from bjsim.sim.game.cards import RANKS, TEN
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.states import BUST, SURRENDERED, DealerState, HandState, Result, States

Ints = npt.NDArray[np.int64]
DRAWN = TEN + 1  # ranks that differ in worth: ten-valued cards are alike
SETTLED = (BUST, SURRENDERED)  # the dealer's cards do not matter to them any more


class StateIndex:
    """Numbers of hands and of dealers; a situation's number is dealer * hands + hand.

    hands: every hand and every result. legal: letters of the actions that each may take, "" if none. dealers: dealer 0
    has no card, 1 to 10 have one, 11 to 110 two in the order they were dealt, and from 111 on three or more. ups: of
    each dealer the column of a chart, "" where none is seen. after, doubled: (hands, DRAWN), the hand after a card, and
    what it ends as if it stands then. dealer_after: (dealers, DRAWN). stood: (hands), what a hand ends as.
    """

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.states = states = States(rules)
        self.hands: list[HandState | Result] = []
        self.number_of: dict[HandState | Result, int] = {}
        for known in (HandState(), SURRENDERED):
            self._number(known)
        for hand in self.hands:  # grows while it is walked
            for following in self._following(hand):
                self._number(following)
        self.surrendered = self.number_of[SURRENDERED]
        self.settled = frozenset(self.number_of[result] for result in SETTLED if result in self.number_of)
        self.legal = [states.legal(h) if isinstance(h, HandState) and h.cards >= 2 else "" for h in self.hands]
        self.stood = np.array([self.number_of[states.result(h) if isinstance(h, HandState) else h] for h in self.hands])
        self.after = self._table(states.add)
        self.doubled = self._table(lambda hand, rank: states.result(states.add(hand, rank)))
        self.dealers: list[DealerState] = [DealerState()]
        self.ups = [""]
        self._deal_dealers()
        # plain lists, for those who look up one at a time
        self.after_list: list[list[int]] = self.after.tolist()
        self.dealer_after_list: list[list[int]] = self.dealer_after.tolist()

    def _number(self, hand: HandState | Result) -> None:
        if hand not in self.number_of:
            self.number_of[hand] = len(self.hands)
            self.hands.append(hand)

    def _following(self, hand: HandState | Result) -> list[HandState | Result]:
        """What a hand may be next."""
        if isinstance(hand, Result):
            return []
        states = self.states
        ended = states.result(hand)
        if hand.cards >= 2 and not states.legal(hand):
            return [ended]
        nexts = [states.add(hand, rank) for rank in range(DRAWN)]
        bare = [states.bare(hand)] if hand.cards >= 2 else []
        return [ended, *bare, *nexts, *map(states.result, nexts)]

    def _table(self, after: Callable[[HandState, int], HandState | Result]) -> Ints:
        """(hands, DRAWN): the number of `after(hand, rank)`; a hand that gets no card stays."""
        rows = []
        for number, hand in enumerate(self.hands):
            if isinstance(hand, Result) or (hand.cards >= 2 and not self.states.legal(hand)):
                rows.append([number] * DRAWN)
            else:
                rows.append([self.number_of[after(hand, rank)] for rank in range(DRAWN)])
        return np.array(rows)

    def _deal_dealers(self) -> None:
        states, both = self.states, self.rules.dealer_shows == "both"
        add = states.dealer_add
        for rank in range(DRAWN):
            self.dealers.append(add(DealerState(), rank))
            self.ups.append("" if both else RANKS[rank])
        for up in range(DRAWN):
            for hole in range(DRAWN):
                self.dealers.append(add(add(DealerState(), up), hole))
                self.ups.append(states.dealer_code(self.dealers[-1]) if both else RANKS[up])
        more: dict[DealerState, int] = {}
        rows = [[1 + rank for rank in range(DRAWN)]]
        rows += [[1 + DRAWN + up * DRAWN + hole for hole in range(DRAWN)] for up in range(DRAWN)]
        for number, dealer in enumerate(self.dealers):  # grows while it is walked
            if number < len(rows):
                continue
            if states.dealer_done(dealer):
                rows.append([number] * DRAWN)
                continue
            row = []
            for rank in range(DRAWN):
                following = add(dealer, rank)
                if following not in more:
                    more[following] = len(self.dealers)
                    self.dealers.append(following)
                    self.ups.append("")
                row.append(more[following])
            rows.append(row)
        self.dealer_after = np.array(rows)
