"""What a table's rounds were, as far as luck and habits go: rows of whole numbers, made where the table is played.

The luck of a seat can change with every card, its own, the dealer's and the other seats', which all change what is
left in the shoe. So there is a row for every draw, and one for each draw and each seat to whose hand it matters.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bjsim.bots.contest.space import DRAWN, Ints, Space
from bjsim.sim.cards import RANKS
from bjsim.sim.round import DEALER, Event
from bjsim.sim.rules import Rules

KINDS = ("first", "second", "upcard", "hole", "hit", "double", "dealer")
DEALERS = tuple(map(KINDS.index, ("upcard", "hole", "dealer")))
HIT, DOUBLE = map(KINDS.index, ("hit", "double"))
DRAWS = ("card", "hidden")  # events in which a card leaves the shoe
OTHERS, OWN, LAST, DEALERS_CARD = range(4)  # whose card it is: another seat's, its own, its last one, the dealer's
RANK = {letter: min(rank, DRAWN - 1) for rank, letter in enumerate(RANKS)}
DRAW, STAKE, DECISION = 2 + DRAWN, 5, 4  # columns of each array


class Trace(NamedTuple):
    """The rounds of one table of a match; bytes of 64-bit whole numbers, to be sent from process to process.

    draws: rank, kind, and cards left of each rank before it. stakes: draw, bot, situation before it (see Space), whose
    card it is, chips staked then. decisions: bot, hand, dealer, letter.
    """

    draws: bytes
    stakes: bytes
    decisions: bytes

    def rows(self) -> tuple[Ints, Ints, Ints]:
        """draws, stakes and decisions as arrays."""
        columns = zip(self, (DRAW, STAKE, DECISION), strict=True)
        draws, stakes, decisions = (np.frombuffer(rows, np.int64).reshape(-1, width) for rows, width in columns)
        return draws, stakes, decisions


class Tracer:
    """Writes the trace of a table, round after round."""

    def __init__(self, rules: Rules, space: Space) -> None:
        self.rules = rules
        self.space = space
        deck = [0] * DRAWN
        for rank in RANKS:
            deck[RANK[rank]] += 1
        self.deck = deck if rules.infinite else [4 * int(rules.decks) * n for n in deck]
        self.infinite = rules.infinite
        self._left = list(self.deck)
        self._draws: list[int] = []
        self._stakes: list[int] = []
        self._decisions: list[int] = []
        self._count = 0

    def add(self, events: Sequence[Event], bots: Sequence[int]) -> None:
        """The next round, of these bots."""
        space = self.space
        hands, after, settled = len(space.hands), space.after_list, space.settled
        held = [0] * len(bots)
        cards = [0] * len(bots)
        stakes = [self.rules.buy_in] * len(bots)
        doubled = [False] * len(bots)
        dealer = dealt = 0
        left = self._left
        draws, rows = self._draws, self._stakes
        for what, seat, _, detail in events:
            if what in DRAWS:
                rank = RANK[detail]
                if not any(left):  # a shoe that ran out in the middle of the round is followed by a fresh one
                    left = list(self.deck)
                if seat == DEALER:
                    kind = DEALERS[min(dealt, 2)]
                    for place, hand in enumerate(held):
                        if hand not in settled:
                            rows += (self._count, bots[place], dealer * hands + hand, DEALERS_CARD, stakes[place])
                    dealt += 1
                    dealer = space.dealer_after_list[dealer][rank]
                else:
                    kind = cards[seat] if cards[seat] < 2 else DOUBLE if doubled[seat] else HIT
                    for place, hand in enumerate(held):
                        if place == seat:
                            whose = LAST if doubled[seat] else OWN
                        elif hand in settled or self.infinite:
                            continue
                        else:
                            whose = OTHERS
                        rows += (self._count, bots[place], dealer * hands + hand, whose, stakes[place])
                    held[seat] = after[held[seat]][rank]
                    cards[seat] += 1
                draws += (rank, kind)
                draws += left
                self._count += 1
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
                held[seat] = space.stood_list[held[seat]]
            elif what == "shuffle":
                left = list(self.deck)
        self._left = left

    def trace(self) -> Trace:
        """The rounds so far."""
        rows = (self._draws, self._stakes, self._decisions)
        return Trace(*(array("q", numbers).tobytes() for numbers in rows))
