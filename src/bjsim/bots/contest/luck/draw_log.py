"""Record the draws and decisions of a table as integer arrays, to compute luck and opponent models.

Every draw changes the composition of the shoe, and so affects the expected value of every seat. There is one row per
draw; `stakes_by_seat` expands it into one row for each seat that the draw affects.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bjsim.arrays import Ints
from bjsim.bots.contest.config import HOUSE
from bjsim.bots.contest.config import LARGEST_TABLE as SEATS
from bjsim.bots.contest.luck.state_index import N_RANKS, StateIndex
from bjsim.sim.game.actions import Action
from bjsim.sim.game.automaton import START, Decision, PendingHands
from bjsim.sim.game.cards import DECKS, RANKS
from bjsim.sim.game.events import DEALER, Acted, Dealt, Event, HandEnded, Shuffled
from bjsim.sim.game.rules import Rules

KINDS = ("first", "second", "upcard", "hole", "hit", "double", "dealer")
DEALER_KINDS = tuple(map(KINDS.index, ("upcard", "hole", "dealer")))
FIRST, SECOND, HIT, DOUBLE = map(KINDS.index, ("first", "second", "hit", "double"))
OTHER_SEAT, OWN, OWN_LAST, DEALER_CARD = range(4)  # who receives a card, from a seat's point of view
RANK = {code: min(rank, N_RANKS - 1) for rank, code in enumerate(RANKS)}
NO_HAND = -1  # the hand of an empty seat, or of one whose result no card can change
DRAW_COLUMNS = 2 + N_RANKS


class DrawLog(NamedTuple):
    """The rounds of one table of a match, as int64 arrays."""

    # A row per draw: rank, kind, cards of each rank left before it; then the table before it: the slot that draws (or
    # DEALER), the dealer, and for all slots the hands (or NO_HAND), the stakes in chips and the bots
    draws: Ints
    decisions: Ints  # A row per decision: bot, hand, dealer, character code of the action


class Stakes(NamedTuple):
    """Who had what at stake in each draw: a row for each draw and each seat that it affects, as int64 columns."""

    draw: Ints  # its row number
    bot: Ints
    chips: Ints
    dealer: Ints  # a number in the state index, as of the hand, before the draw
    hand: Ints
    recipient: Ints  # OTHER_SEAT, OWN, OWN_LAST or DEALER_CARD


def stakes_by_seat(draws: Ints) -> Stakes:
    """Expand rows of draws into one row per affected seat, in the same order."""
    kind, taker, dealer = draws[:, 1], draws[:, DRAW_COLUMNS], draws[:, DRAW_COLUMNS + 1]
    hands, chips, bots = np.split(draws[:, DRAW_COLUMNS + 2 :], 3, axis=1)
    recipient = np.full(hands.shape, OTHER_SEAT)
    recipient[taker == DEALER] = DEALER_CARD
    own = taker[:, None] == np.arange(hands.shape[1])
    recipient[own] = np.where(kind == DOUBLE, OWN_LAST, OWN)[taker != DEALER]
    affected = hands != NO_HAND
    draw = np.nonzero(affected)[0]
    return Stakes(draw, bots[affected], chips[affected], dealer[draw], hands[affected], recipient[affected])


class _Round:
    """The hands of a round. A seat's first hand has the slot of its number; others, and pending ones, free slots."""

    def __init__(self, index: StateIndex, bots: Sequence[int], slots: int) -> None:
        self.index = index
        self.dealer = self.dealer_cards = 0  # the state of the dealer's hand, and how many cards it has
        # By slot, as in a draw log.
        self.hands = [index.number_of[START]] * len(bots) + [NO_HAND] * (slots - len(bots))
        self.stakes = [index.rules.buy_in] * slots
        self.bots = [*bots, *[HOUSE] * (slots - len(bots))]
        self.kinds = [FIRST] * slots  # of the next draw
        # By seat.
        self.slots = [[seat] for seat in range(len(bots))]  # of its hands, NO_HAND for one that is pending
        self.pending = [NO_HAND] * len(bots)  # the slot of its pending hands, if it has some

    def place(self, seat: int, hand: int) -> int:
        """The slot of a hand, which for a pending one is that of all pending hands."""
        slot = self.slots[seat][hand]
        return self.pending[seat] if slot == NO_HAND else slot

    def draw(self, seat: int, hand: int, rank: int) -> None:
        slot = self.place(seat, hand)
        node = self.index.hands[self.hands[slot]]
        if isinstance(node, PendingHands):
            self._second_card(seat, hand, slot, node, rank)
        else:
            self.hands[slot] = self.index.after_list[self.hands[slot]][rank][0]
        self.kinds[slot] = SECOND if self.kinds[slot] == FIRST else HIT

    def _second_card(self, seat: int, hand: int, slot: int, node: PendingHands, rank: int) -> None:
        automaton, number_of = self.index.automaton, self.index.number_of
        state = automaton.add(node.split_hand, rank)
        self.slots[seat][hand] = slot
        self.hands[slot] = number_of[automaton.reached(state, node.hands < automaton.hand_limit(node.split_hand))]
        self.pending[seat] = NO_HAND
        if node.pending > 1:
            rest = self.pending[seat] = self.hands.index(NO_HAND, len(self.slots))
            after = automaton.covered(node.split_hand)
            self.hands[rest] = number_of[node._replace(split_hand=after, pending=node.pending - 1)]
            self.stakes[rest], self.bots[rest], self.kinds[rest] = self.stakes[slot], self.bots[slot], SECOND

    def split(self, seat: int, hand: int) -> None:
        slot, pending = self.slots[seat][hand], 2
        pair, others = self.index.hands[self.hands[slot]], self.pending[seat]
        assert isinstance(pair, Decision)
        if others != NO_HAND:
            before = self.index.hands[self.hands[others]]
            assert isinstance(before, PendingHands)
            pending += before.pending
            self.hands[others] = NO_HAND
        self.slots[seat].insert(hand + 1, NO_HAND)
        node = PendingHands(self.index.automaton.split(pair.state), pending, len(self.slots[seat]))
        self.hands[slot], self.pending[seat], self.kinds[slot] = self.index.number_of[node], slot, SECOND


class DrawLogger:
    """Writes the draw log of a table, round after round."""

    def __init__(self, rules: Rules, state_index: StateIndex) -> None:
        self.state_index = state_index
        self.slots = SEATS * int(rules.most_hands)  # places for hands
        settled, stood = state_index.settled, state_index.stood
        self._stood = [NO_HAND if number in settled else number for number in stood]
        self.deck = [0] * N_RANKS
        counts = [count // 4 for count in DECKS[rules.deck]] if rules.infinite else rules.shoe_counts
        for rank, count in zip(RANKS, counts, strict=True):
            self.deck[RANK[rank]] += count
        self.infinite = rules.infinite
        self._left = list(self.deck)
        self._draws: list[int] = []
        self._decisions: list[int] = []

    def add(self, events: Sequence[Event], bots: Sequence[int]) -> None:
        table = _Round(self.state_index, bots, self.slots)
        for event in events:
            match event:
                case Dealt(card, seat, hand):
                    self._log_draw(table, seat, hand, RANK[card])
                case Acted(seat, hand, action):
                    self._log_action(table, seat, hand, action)
                case HandEnded(seat, hand):
                    slot = table.place(seat, hand)
                    table.hands[slot] = self._stood[table.hands[slot]]
                case Shuffled():
                    self._left = list(self.deck)

    def _log_draw(self, table: _Round, seat: int, hand: int, rank: int) -> None:
        dealer = seat == DEALER
        slot = DEALER if dealer else table.place(seat, hand)
        kind = DEALER_KINDS[min(table.dealer_cards, 2)] if dealer else table.kinds[slot]
        self._draws += (rank, kind, *self._left, slot, table.dealer, *table.hands, *table.stakes, *table.bots)
        if dealer:
            table.dealer = self.state_index.dealer_after_list[table.dealer][rank]
            table.dealer_cards += 1
        else:
            table.draw(seat, hand, rank)
        if not self.infinite:
            self._left[rank] -= 1

    def _log_action(self, table: _Round, seat: int, hand: int, action: Action) -> None:
        slot = table.place(seat, hand)
        if action.letter in "AB":
            table.stakes[slot] += action.amount if action.letter == "B" else table.stakes[slot]
            return
        self._decisions += (table.bots[slot], table.hands[slot], table.dealer, ord(action.letter))
        if action.letter == "D":
            table.stakes[slot] *= 2
            table.kinds[slot] = DOUBLE
        elif action.letter == "R":
            table.hands[slot] = self.state_index.surrendered
        elif action.letter == "P":
            table.split(seat, hand)

    def draw_log(self) -> DrawLog:
        draws, decisions = np.array(self._draws, np.int64), np.array(self._decisions, np.int64)
        return DrawLog(draws.reshape(-1, DRAW_COLUMNS + 2 + 3 * self.slots), decisions.reshape(-1, 4))
