"""Parsing the names of chart rows: `16`, `88`, `A6`; where the rules count cards `15/4` and `14:77`; doubled, `16x2`.

`States.rows_of` in `sim/game/states.py` makes these names, from the codes of [Easy].
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from bjsim.sim.game.cards import RANKS, TEN
from bjsim.sim.game.hand import soft_code
from bjsim.sim.game.hand_states import HandState

HARD, PAIR, SOFT = range(3)  # the kinds of rows, in the order of [Easy]


class Row(NamedTuple):
    """The parsed name of a row.

    Attributes:
        kind: HARD, PAIR or SOFT; a pair of aces is a PAIR, and soft.
        rank: The rank index of a pair, else -1.
        counted: The part after `/` or `:` in a row for hands whose cards are counted, else empty.
        stake: Bets on a hand that has doubled and still has a choice, else 1.
    """

    kind: int
    points: int
    soft: bool
    rank: int = -1
    counted: str = ""
    stake: int = 1

    @property
    def fresh(self) -> bool:
        """Whether the row includes hands of two cards: `15` and `15:78` do, `15/4` does not."""
        return self.stake == 1 and (not self.counted or len(self.counted) == 2)

    @property
    def plain(self) -> bool:
        """Whether the row is for a total or a pair, however many cards it has."""
        return not self.counted and self.stake == 1

    @property
    def total(self) -> str:
        """The name of the row for hands of this total that are not pairs and whose cards are not counted."""
        return soft_code(self.points) if self.soft else str(self.points)

    @property
    def hand(self) -> HandState:
        """A hand of two cards with this total that is not a pair."""
        return HandState(self.points, self.soft, 2)

    @property
    def cards(self) -> tuple[int, int]:
        """Rank indices of two cards with this total: the pair, an ace first if soft, else the highest card first."""
        if self.kind == PAIR:
            return self.rank, self.rank
        high = 1 if self.soft else min(self.points - 2, 10)
        return high - 1, self.points - high - (11 if self.soft else 1)

    @property
    def order(self) -> tuple[int, int, int, str]:
        """Sort key: hard totals, pairs (22 .. TT, AA), soft hands; then those that have doubled."""
        return self.stake, self.kind, (self.rank or len(RANKS)) if self.kind == PAIR else self.points, self.counted


@cache
def parse_row(name: str) -> Row:
    """Parse the name of a row, which must be one that `rows_of` makes."""
    base, _, stake = name.partition("x")
    if stake:
        points, soft = (
            (12, True) if base == "AA" else (11 + int(base[1:]), True) if base[0] == "A" else (int(base), False)
        )
        return Row(SOFT if soft else HARD, points, soft, stake=int(stake))
    base, *rest = re.split("[:/]", name, maxsplit=1)
    counted = "".join(rest)
    if base == "AA":
        return Row(PAIR, 12, True, 0, counted)
    if base[0] == "A":
        return Row(SOFT, 11 + int(base[1:]), True, counted=counted)
    if base == "TT":
        return Row(PAIR, 20, False, TEN, counted)
    if len(base) == 2 and base[0] == base[1] and base != "11":
        return Row(PAIR, 2 * int(base[0]), False, int(base[0]) - 1, counted)
    return Row(HARD, int(base), False, counted=counted)


def row_order(name: str) -> tuple[int, int, int, str]:
    """Sort key for names of rows, in the order of [Easy]."""
    return parse_row(name).order
