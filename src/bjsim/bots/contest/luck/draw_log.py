"""Record the draws and decisions of a table as integer arrays, from which luck and opponent models are computed.

Every draw changes the composition of the shoe, and so affects the expected value of every seat. There is one row per
draw; `stakes_by_seat` expands it into one row for each seat that the draw affects.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bjsim.bots.contest.config import HOUSE
from bjsim.bots.contest.luck.state_index import N_RANKS, Ints, StateIndex
from bjsim.bots.contest.schedule.pairings import LARGEST_TABLE as SEATS
from bjsim.sim.game.actions import Action
from bjsim.sim.game.cards import RANKS
from bjsim.sim.game.events import DEALER, Acted, Dealt, Event, HandEnded, Shuffled
from bjsim.sim.game.rules import Rules

KINDS = ("first", "second", "upcard", "hole", "hit", "double", "dealer")
DEALER_KINDS = tuple(map(KINDS.index, ("upcard", "hole", "dealer")))
HIT, DOUBLE = map(KINDS.index, ("hit", "double"))
OTHER_SEAT, OWN, OWN_LAST, DEALER_CARD = range(4)  # who receives a card, from a seat's point of view
RANK = {code: min(rank, N_RANKS - 1) for rank, code in enumerate(RANKS)}
NO_HAND = -1  # the hand of an empty seat, or of one whose result no card can change
DRAW_COLUMNS, TABLE_COLUMNS, DECISION_COLUMNS = 2 + N_RANKS, 2 + 3 * SEATS, 4


class DrawLog(NamedTuple):
    """The rounds of one table of a match, as bytes of int64 arrays that can be sent between processes.

    Attributes:
        draws: A row per draw: rank, kind, cards of each rank left before it; then the table before it: the seat that
            draws (or DEALER), the dealer, and for all seats the hands (or NO_HAND), the stakes in chips and the bots.
        decisions: A row per decision: bot, hand, dealer, character code of the action.
    """

    draws: bytes
    decisions: bytes

    def arrays(self) -> tuple[Ints, Ints]:
        """Draws, (n, DRAW_COLUMNS + TABLE_COLUMNS) int64, and decisions, (n, DECISION_COLUMNS) int64."""
        columns = zip(self, (DRAW_COLUMNS + TABLE_COLUMNS, DECISION_COLUMNS), strict=True)
        draws, decisions = (np.frombuffer(rows, np.int64).reshape(-1, width) for rows, width in columns)
        return draws, decisions


class Stakes(NamedTuple):
    """Who had what at stake in each draw: a row for each draw and each seat that it affects, as int64 columns.

    Attributes:
        draw: Row number of the draw.
        bot: Number of the bot in the seat.
        chips: Its stake.
        dealer: Number of the dealer's cards before the draw, in the state index.
        hand: Number of the seat's hand before the draw, in the state index.
        recipient: Who receives the card: OTHER_SEAT, OWN, OWN_LAST or DEALER_CARD.
    """

    draw: Ints
    bot: Ints
    chips: Ints
    dealer: Ints
    hand: Ints
    recipient: Ints


def stakes_by_seat(draws: Ints) -> Stakes:
    """Expand rows of draws into one row per affected seat, in the same order."""
    kind, taker, dealer = draws[:, 1], draws[:, DRAW_COLUMNS], draws[:, DRAW_COLUMNS + 1]
    hands, chips, bots = (draws[:, DRAW_COLUMNS + 2 + part * SEATS :][:, :SEATS] for part in range(3))
    recipient = np.full(hands.shape, OTHER_SEAT)
    recipient[taker == DEALER] = DEALER_CARD
    own = taker[:, None] == np.arange(SEATS)
    recipient[own] = np.where(kind == DOUBLE, OWN_LAST, OWN)[taker != DEALER]
    affected = hands != NO_HAND
    draw = np.nonzero(affected)[0]
    return Stakes(draw, bots[affected], chips[affected], dealer[draw], hands[affected], recipient[affected])


class DrawLogger:
    """Writes the draw log of a table, round after round."""

    def __init__(self, rules: Rules, state_index: StateIndex) -> None:
        self.rules = rules
        self.state_index = state_index
        settled, stood = state_index.settled, state_index.stood.tolist()
        self._stood = [NO_HAND if number in settled else number for number in stood]
        deck = [0] * N_RANKS
        for rank in RANKS:
            deck[RANK[rank]] += 1
        self.deck = deck if rules.infinite else [4 * int(rules.decks) * n for n in deck]
        self.infinite = rules.infinite
        self._left = list(self.deck)
        self._draws: list[int] = []
        self._decisions: list[int] = []

    def add(self, events: Sequence[Event], bots: Sequence[int]) -> None:
        """Log the next round.

        Args:
            events: The events of the round.
            bots: The bot in each seat.
        """
        index = self.state_index
        after, dealer_after = index.after_list, index.dealer_after_list
        empty = SEATS - len(bots)
        hands = [0] * len(bots) + [NO_HAND] * empty
        stakes = [self.rules.buy_in] * SEATS
        seated = [*bots, *[HOUSE] * empty]
        cards = [0] * len(bots)
        doubled = [False] * len(bots)
        dealer = dealer_cards = 0
        left, draws = self._left, self._draws
        for event in events:
            match event:
                case Dealt(card, seat):
                    rank = RANK[card]
                    if not any(left):  # the shoe ran out in the middle of the round, and a fresh one follows
                        left = list(self.deck)
                    if seat == DEALER:
                        kind = DEALER_KINDS[min(dealer_cards, 2)]
                    else:
                        kind = cards[seat] if cards[seat] < 2 else DOUBLE if doubled[seat] else HIT
                    draws += (rank, kind, *left, seat, dealer, *hands, *stakes, *seated)
                    if seat == DEALER:
                        dealer = dealer_after[dealer][rank]
                        dealer_cards += 1
                    else:
                        hands[seat] = after[hands[seat]][rank]
                        cards[seat] += 1
                    if not self.infinite:
                        left[rank] -= 1
                case Acted(seat, action=Action("B", chips)):
                    stakes[seat] += chips
                case Acted(seat, action=action):
                    self._decisions += (bots[seat], hands[seat], dealer, ord(action.letter))
                    if action.letter == "D":
                        stakes[seat] *= 2
                        doubled[seat] = True
                    elif action.letter == "R":
                        hands[seat] = index.surrendered
                case HandEnded(seat):
                    hands[seat] = self._stood[hands[seat]]
                case Shuffled():
                    left = list(self.deck)
        self._left = left

    def draw_log(self) -> DrawLog:
        """The log of all rounds so far."""
        rows = (self._draws, self._decisions)
        return DrawLog(*(array("q", numbers).tobytes() for numbers in rows))
