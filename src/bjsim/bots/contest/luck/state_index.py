"""Number the states of one contest hand, so that their values fit into arrays.

A state is a hand (or its result) and the dealer's cards. Split hands are not numbered.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from bjsim.sim.game.cards import RANKS, TEN
from bjsim.sim.game.hand_states import BUST, SURRENDERED, DealerState, HandState, Result
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.states import States

Ints = npt.NDArray[np.int64]
N_RANKS = TEN + 1  # ranks with different values: all ten-valued cards count as one
SETTLED = (BUST, SURRENDERED)  # results that do not depend on the dealer's cards


class StateIndex:
    """The numbers of hands and dealers under one set of rules; a state is dealer * len(hands) + hand.

    Args:
        rules: Rules under which no hand is split.

    Attributes:
        hands: Every hand and every result.
        number_of: The number of each hand and result.
        legal: For each hand the codes of its legal actions, "" if there are none.
        dealers: Dealer 0 has no card, 1 to 10 have one, 11 to 110 two in the order dealt, 111 and up three or more.
        columns: For each dealer the chart column, "" if the player sees no column.
        after: (hands, N_RANKS) int64, the hand after one more card.
        doubled: (hands, N_RANKS) int64, the result of standing after that card.
        stood: (hands,) int64, the result of standing.
        dealer_after: (dealers, N_RANKS) int64, the dealer after one more card.
    """

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.states = states = States(rules)
        self.hands: list[HandState | Result] = []
        self.number_of: dict[HandState | Result, int] = {}
        for initial in (HandState(), SURRENDERED):
            self._add_hand(initial)
        for hand in self.hands:  # grows during the iteration
            for successor in self._successors(hand):
                self._add_hand(successor)
        self.surrendered = self.number_of[SURRENDERED]
        self.settled = frozenset(self.number_of[result] for result in SETTLED if result in self.number_of)
        self.legal = [states.legal(h) if isinstance(h, HandState) and h.cards >= 2 else "" for h in self.hands]
        self.stood = np.array([self.number_of[states.result(h) if isinstance(h, HandState) else h] for h in self.hands])
        self.after = self._transitions(states.add)
        self.doubled = self._transitions(lambda hand, rank: states.result(states.add(hand, rank)))
        self.dealers: list[DealerState] = [DealerState()]
        self.columns = [""]
        self._add_dealers()
        # Plain lists are faster for single look-ups.
        self.after_list: list[list[int]] = self.after.tolist()
        self.dealer_after_list: list[list[int]] = self.dealer_after.tolist()

    def _add_hand(self, hand: HandState | Result) -> None:
        if hand not in self.number_of:
            self.number_of[hand] = len(self.hands)
            self.hands.append(hand)

    def _successors(self, hand: HandState | Result) -> list[HandState | Result]:
        """Hands and results that one action or card can lead to."""
        if isinstance(hand, Result):
            return []
        states = self.states
        result = states.result(hand)
        if hand.cards >= 2 and not states.legal(hand):
            return [result]
        hits = [states.add(hand, rank) for rank in range(N_RANKS)]
        bare = [states.bare(hand)] if hand.cards >= 2 else []
        return [result, *bare, *hits, *map(states.result, hits)]

    def _transitions(self, successor: Callable[[HandState, int], HandState | Result]) -> Ints:
        """(hands, N_RANKS): the number of `successor(hand, rank)`; a hand that takes no card maps to itself."""
        rows = []
        for number, hand in enumerate(self.hands):
            if isinstance(hand, Result) or (hand.cards >= 2 and not self.states.legal(hand)):
                rows.append([number] * N_RANKS)
            else:
                rows.append([self.number_of[successor(hand, rank)] for rank in range(N_RANKS)])
        return np.array(rows)

    def _add_dealers(self) -> None:
        states, both = self.states, self.rules.dealer_shows == "both"
        add = states.dealer_add
        for rank in range(N_RANKS):
            self.dealers.append(add(DealerState(), rank))
            self.columns.append("" if both else RANKS[rank])
        for up in range(N_RANKS):
            for hole in range(N_RANKS):
                self.dealers.append(add(add(DealerState(), up), hole))
                self.columns.append(states.dealer_code(self.dealers[-1]) if both else RANKS[up])
        numbers: dict[DealerState, int] = {}  # of dealers with three or more cards
        rows = [[1 + rank for rank in range(N_RANKS)]]
        rows += [[1 + N_RANKS + up * N_RANKS + hole for hole in range(N_RANKS)] for up in range(N_RANKS)]
        for number, dealer in enumerate(self.dealers):  # grows during the iteration
            if number < len(rows):
                continue
            if states.dealer_done(dealer):
                rows.append([number] * N_RANKS)
                continue
            row = []
            for rank in range(N_RANKS):
                successor = add(dealer, rank)
                if successor not in numbers:
                    numbers[successor] = len(self.dealers)
                    self.dealers.append(successor)
                    self.columns.append("")
                row.append(numbers[successor])
            rows.append(row)
        self.dealer_after = np.array(rows)
