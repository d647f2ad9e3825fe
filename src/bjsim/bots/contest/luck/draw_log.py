"""What a table's rounds were, as far as luck and habits go: rows of whole numbers, made where the table is played.

The luck of a seat can change with every card, its own, the dealer's and the other seats', which all change what is
left in the shoe. So there is a row for every draw, which the referee takes apart into one for each seat to whose hand
it matters.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bjsim.bots.contest.config import HOUSE
from bjsim.bots.contest.luck.state_index import DRAWN, Ints, StateIndex
from bjsim.bots.contest.schedule.pairings import LARGEST_TABLE as SEATS
from bjsim.sim.game.cards import RANKS
from bjsim.sim.game.round import DEALER, Event
from bjsim.sim.game.rules import Rules

KINDS = ("first", "second", "upcard", "hole", "hit", "double", "dealer")
DEALERS = tuple(map(KINDS.index, ("upcard", "hole", "dealer")))
HIT, DOUBLE = map(KINDS.index, ("hit", "double"))
DRAWS = ("card", "hidden")  # events in which a card leaves the shoe
OTHERS, OWN, LAST, DEALERS_CARD = range(4)  # whose card it is: another seat's, its own, its last one, the dealer's
RANK = {letter: min(rank, DRAWN - 1) for rank, letter in enumerate(RANKS)}
GONE = -1  # in the place of a hand that no card matters to any more, or of a seat that is empty
DRAW, BEFORE, DECISION = 2 + DRAWN, 2 + 3 * SEATS, 4  # columns: of a draw, of the table before it, of a decision


class DrawLog(NamedTuple):
    """The rounds of one table of a match; bytes of 64-bit whole numbers, to be sent from process to process.

    draws: rank, kind, cards left of each rank before it; the seat that draws (or DEALER), the dealer's cards before
    it, and of all seats the hands (or GONE), the chips staked and the bots. decisions: bot, hand, dealer, letter.
    """

    draws: bytes
    decisions: bytes

    def rows(self) -> tuple[Ints, Ints]:
        """draws and decisions as arrays."""
        columns = zip(self, (DRAW + BEFORE, DECISION), strict=True)
        draws, decisions = (np.frombuffer(rows, np.int64).reshape(-1, width) for rows, width in columns)
        return draws, decisions


class Stakes(NamedTuple):
    """What was at stake in the draws of a table: a row for each draw and each seat to whose hand it matters.

    draw: its number. bot, chips: whose, and how many are staked. dealer, hand: numbers of a Space, before the draw.
    whose: who takes the card, as the seat sees it (OTHERS, OWN, LAST, DEALERS_CARD).
    """

    draw: Ints
    bot: Ints
    chips: Ints
    dealer: Ints
    hand: Ints
    whose: Ints


def stakes_of(draws: Ints) -> Stakes:
    """Take rows of draws apart, in their order."""
    kind, taker, dealer = draws[:, 1], draws[:, DRAW], draws[:, DRAW + 1]
    hands, chips, bots = (draws[:, DRAW + 2 + part * SEATS :][:, :SEATS] for part in range(3))
    whose = np.full(hands.shape, OTHERS)
    whose[taker == DEALER] = DEALERS_CARD
    own = taker[:, None] == np.arange(SEATS)
    whose[own] = np.where(kind == DOUBLE, LAST, OWN)[taker != DEALER]
    there = hands != GONE
    draw = np.nonzero(there)[0]
    return Stakes(draw, bots[there], chips[there], dealer[draw], hands[there], whose[there])


class DrawLogger:
    """Writes the trace of a table, round after round."""

    def __init__(self, rules: Rules, space: StateIndex) -> None:
        self.rules = rules
        self.space = space
        self._stood = [GONE if number in space.settled else number for number in space.stood.tolist()]
        deck = [0] * DRAWN
        for rank in RANKS:
            deck[RANK[rank]] += 1
        self.deck = deck if rules.infinite else [4 * int(rules.decks) * n for n in deck]
        self.infinite = rules.infinite
        self._left = list(self.deck)
        self._draws: list[int] = []
        self._decisions: list[int] = []

    def add(self, events: Sequence[Event], bots: Sequence[int]) -> None:
        """The next round, of these bots."""
        space = self.space
        after, dealer_after = space.after_list, space.dealer_after_list
        empty = SEATS - len(bots)
        held = [0] * len(bots) + [GONE] * empty
        stakes = [self.rules.buy_in] * SEATS
        seated = [*bots, *[HOUSE] * empty]
        cards = [0] * len(bots)
        doubled = [False] * len(bots)
        dealer = dealt = 0
        left, draws = self._left, self._draws
        for what, seat, _, detail in events:
            if what in DRAWS:
                rank = RANK[detail]
                if not any(left):  # a shoe that ran out in the middle of the round is followed by a fresh one
                    left = list(self.deck)
                if seat == DEALER:
                    kind = DEALERS[min(dealt, 2)]
                else:
                    kind = cards[seat] if cards[seat] < 2 else DOUBLE if doubled[seat] else HIT
                draws += (rank, kind, *left, seat, dealer, *held, *stakes, *seated)
                if seat == DEALER:
                    dealer = dealer_after[dealer][rank]
                    dealt += 1
                else:
                    held[seat] = after[held[seat]][rank]
                    cards[seat] += 1
                if not self.infinite:
                    left[rank] -= 1
            elif what == "action":
                letter = detail[0]
                if letter == "B":
                    stakes[seat] += int(detail[2:])
                    continue
                self._decisions += (bots[seat], held[seat], dealer, ord(letter))
                if letter == "D":
                    stakes[seat] *= 2
                    doubled[seat] = True
                elif letter == "R":
                    held[seat] = space.surrendered
            elif what == "end":
                held[seat] = self._stood[held[seat]]
            elif what == "shuffle":
                left = list(self.deck)
        self._left = left

    def trace(self) -> DrawLog:
        """The rounds so far."""
        rows = (self._draws, self._decisions)
        return DrawLog(*(array("q", numbers).tobytes() for numbers in rows))
