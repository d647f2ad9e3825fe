"""Number the states of a contest hand, so that their values fit into arrays.

A state is a node of the automaton, or a hand that is being dealt, and the dealer's cards.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bjsim.sim.game.automaton import Automaton, Decision, Finished, Node, PendingHands
from bjsim.sim.game.cards import RANKS, TEN
from bjsim.sim.game.hand_states import BUST, DEALER_NATURAL, SURRENDERED, DealerState, HandState
from bjsim.sim.game.rules import Rules

Ints = npt.NDArray[np.int64]
N_RANKS = TEN + 1  # ranks with different values: all ten-valued cards count as one
SETTLED = (Finished(BUST), Finished(SURRENDERED))  # hands that do not depend on the dealer's cards
Hand = Node | HandState  # a HandState has fewer than two cards
NOTHING = 0  # the number of an absent hand


class StateIndex:
    """The numbers of hands and dealers under one set of rules; a state is dealer * len(hands) + hand.

    Args:
        rules: The rules, with a limit on hands.

    Attributes:
        hands: Every hand; the first is NOTHING, an absent one.
        number_of: The number of each hand.
        legal: For each hand the codes of its legal actions, "" if there are none.
        dealers: Dealer 0 has no card, 1 to 10 have one, 11 to 110 two in the order dealt, 111 and up three or more.
        columns: For each dealer the chart column, "" if the player sees no column.
        after: (hands, N_RANKS, 2) int64, the hands after one more card: of pending hands the first and the rest; the
            second is 0 if there is none.
        doubled: (hands, N_RANKS) int64, the finished hand after that card.
        ended: For each dealer whether it ends the round before anyone acts.
        dealer_after: (dealers, N_RANKS) int64, the dealer after one more card.
    """

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.automaton = automaton = Automaton(rules)
        self.hands: list[Hand | None] = [None]
        self.number_of: dict[Hand, int] = {}
        self.surrendered = self._number(Finished(SURRENDERED))
        self._number(HandState())
        rows, doubled = [[[NOTHING, NOTHING]] * N_RANKS], [[NOTHING] * N_RANKS]
        for hand in self.hands:  # grows during the iteration
            if hand is None:
                continue
            rows.append([self._follow(hand, rank) for rank in range(N_RANKS)])
            doubled.append([self._double(hand, rank) for rank in range(N_RANKS)])
            if isinstance(hand, Decision):
                self._number(Finished(automaton.result(hand.state)))
                if "P" in hand.legal(automaton):
                    self._add_pending(automaton.split(hand.state))
        self.after, self.doubled = np.array(rows), np.array(doubled)
        self.settled = frozenset(self.number_of[end] for end in SETTLED if end in self.number_of)
        self.legal = [hand.legal(automaton) if isinstance(hand, Decision) else "" for hand in self.hands]
        self.stood = [
            self.number_of[Finished(automaton.result(hand.state))] if isinstance(hand, Decision) else number
            for number, hand in enumerate(self.hands)
        ]
        self.dealers: list[DealerState] = [DealerState()]
        self.columns = [""]
        self._add_dealers()
        self.ended = [rules.peek and automaton.dealer_outcome(dealer) == DEALER_NATURAL for dealer in self.dealers]
        self.columns = ["" if ended else label for label, ended in zip(self.columns, self.ended, strict=True)]
        # Plain lists are faster for single look-ups.
        self.after_list: list[list[list[int]]] = self.after.tolist()
        self.dealer_after_list: list[list[int]] = self.dealer_after.tolist()

    def _number(self, hand: Hand) -> int:
        if hand not in self.number_of:
            self.number_of[hand] = len(self.hands)
            self.hands.append(hand)
        return self.number_of[hand]

    def _add_pending(self, split_hand: HandState) -> None:
        """Every number of pending hands, and every second card, also where a bot does not split again."""
        for rank in range(N_RANKS):
            for may_split in (True, False):
                self._number(self.automaton.reached(self.automaton.add(split_hand, rank), may_split))
        for held in range(2, int(self.rules.max_hands) + 1):
            for pending in range(1, held + 1):
                self._number(PendingHands(split_hand, pending, held))

    def _follow(self, hand: Hand, rank: int) -> list[int]:
        if isinstance(hand, HandState):
            after = self.automaton.add(hand, rank)
            return [self._number(self.automaton.reached(after) if after.cards == 2 else after), NOTHING]
        if isinstance(hand, Finished):
            return [self.number_of[hand], NOTHING]
        node = self.automaton.move(hand.state, "H") if isinstance(hand, Decision) else hand
        first, *rest = map(self._number, self.automaton.follow(node, rank))
        return [first, *(rest or [NOTHING])]

    def _double(self, hand: Hand, rank: int) -> int:
        if not isinstance(hand, Decision):
            return NOTHING
        after = self.automaton.add(self.automaton.bare(hand.state), rank)
        return self._number(Finished(self.automaton.result(after)))  # its stake is counted in chips

    def _add_dealers(self) -> None:
        states, both = self.automaton, self.rules.dealer_shows == "both"
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
