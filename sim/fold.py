"""The fold: the rounds of one seat as one table, in which every card is a look-up.

A plan (`plan.py`) is followed over all cards that can come: what is undecided in a round becomes a row, and each card
leads to another row or ends the round with a payoff. Rows that lead to the same are one row, however they came about,
which leaves some hundreds: few enough to stay close to the processor. Splits are not folded: they lead out of the
table, and `kernel.py` plays such a round again from its first card, by the plan. No rule is written down here.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bjsim.sim.cards import RANKS, TEN
from bjsim.sim.plan import LETTERS, NO_LIMIT, Numbers, Plan

Array = np.ndarray[Any, Any]

WAITING = len(RANKS)  # where the row begins in which a round that splits waits; the row in which a round begins is at 0
APART, SKIPPED = 253, 255  # bytes of the log for a round that was not walked, and for a card that came while it waited
MOST_CLASSES = APART // 2  # of payoffs
LONGEST = 52  # cards, more than one hand and the dealer ever draw
FEWEST = 32  # cards of a shoe for which walking it pays
DOUBLE, SPLIT, SURRENDER = (LETTERS.index(letter) for letter in "DPR")
STAND = (0, LETTERS.index("S"))


class Fold(NamedTuple):
    """A table of rounds.

    table (rows * 13,), uint32: the card of rank r in the row that begins at b has its entry at b + r. The bits of the
    entry from 8 up say where the following row begins; the low byte, which goes to the log, is 0, or 1 + 2 * class of
    the payoff where the card ends the round. codes (classes,), int64: the payoff code (see `plan.py`) of each class.
    numbers: see `FoldNumbers`, in that order.
    """

    table: Array
    codes: Array
    numbers: Array


class FoldNumbers(NamedTuple):
    """Single numbers of a fold; the kernel reads them by position."""

    opening: int  # cards dealt in a round before anybody acts
    waiting: int = WAITING
    apart: int = APART
    skipped: int = SKIPPED
    stop: int = NO_LIMIT  # cards of a shoe after which no round begins that is walked


class _Deal(NamedTuple):
    """The opening, `dealt` cards on: states of the hand and the dealer, the column so far, the dealer's cards."""

    dealt: int = 0
    hand: int = 0
    dealer: int = 0
    column: int = 0
    shown: int = 0


class _Draw(NamedTuple):
    """The hand draws a card, its last if it is doubled."""

    doubled: bool
    hand: int
    dealer: int
    column: int
    shown: int


class _Dealer(NamedTuple):
    """The dealer draws; `pays` are the payoffs by his outcome, `need` as in `Plan.waits`."""

    pays: tuple[int, ...]
    need: int
    dealer: int
    shown: int


_Undecided = _Deal | _Draw | _Dealer


def fold(plan: Plan) -> Fold | None:
    """The plan of a single seat as a table; None for several seats, short shoes or too many different payoffs."""
    numbers = Numbers(*plan.numbers.tolist())
    stop = min(numbers.cut, 52 * numbers.decks - LONGEST) if numbers.decks else NO_LIMIT
    if len(plan.act) > 1 or stop < FEWEST:
        return None
    folder = _Folder(plan)
    start = folder.row(_Deal())
    if len(folder.classes) > MOST_CLASSES:
        return None
    waiting = (WAITING << 8 | SKIPPED,) * len(RANKS)
    table = np.array([start, waiting, *folder.rows], np.uint32)
    of_fold = FoldNumbers(opening=len(plan.deal), stop=stop)
    return Fold(table.ravel(), np.array([*folder.classes], np.int64), np.array(of_fold, np.int64))


class _Folder:
    def __init__(self, plan: Plan) -> None:
        self.plan = Plan(*(array.tolist() for array in plan))  # plain lists are quicker to ask one by one
        self.numbers = Numbers(*self.plan.numbers)
        self.act = self.plan.act[0][1 if self.numbers.max_hands > 1 else 0]
        self.rows: dict[tuple[int, ...], int] = {}  # every row, and where it begins
        self.classes: dict[int, int] = {}  # of payoff codes
        self._known: dict[_Undecided, int] = {}
        tens_alike = all((array[:, TEN:] == array[:, TEN:][:, :1]).all() for array in (plan.add, plan.dealer_add))
        self._different = TEN + 1 if tens_alike else len(RANKS)

    def row(self, undecided: _Undecided) -> tuple[int, ...]:
        """The entry of every rank."""
        entries = [self._entry(self._follow(undecided, rank)) for rank in range(self._different)]
        return (*entries, *entries[-1:] * (len(RANKS) - self._different))

    def _entry(self, what: _Undecided | int | None) -> int:
        if what is None:
            return WAITING << 8
        if isinstance(what, int):
            return 1 + 2 * self.classes.setdefault(what, len(self.classes))
        if what not in self._known:
            row = self.row(what)
            self._known[what] = self.rows.setdefault(row, (len(self.rows) + 2) * len(RANKS))
        return self._known[what] << 8

    def _follow(self, undecided: _Undecided, rank: int) -> _Undecided | int | None:
        """What a card makes of the round: something undecided again, a payoff code, or None for a split."""
        plan = self.plan
        if isinstance(undecided, _Dealer):
            pays, need, dealer, shown = undecided
            return self._dealer(pays, need, plan.dealer_add[dealer][rank], shown + 1)
        if isinstance(undecided, _Draw):
            doubled, hand, *table = undecided
            hand = plan.add[hand][rank]
            return self._end(plan.result[hand], True, *table) if doubled else self._decide(hand, *table)
        dealt, hand, dealer, column, shown = undecided
        if plan.deal[dealt]:
            dealer = plan.dealer_add[dealer][rank]
            column += plan.column[shown][dealer]
            shown += 1
        else:
            hand = plan.add[hand][rank]
        if dealt + 1 < len(plan.deal):
            return _Deal(dealt + 1, hand, dealer, column, shown)
        if self.numbers.peek and plan.dealer_out[dealer] == self.numbers.natural_outcome:
            return int(plan.pay[plan.result[hand]][0][plan.dealer_out[dealer]])
        return self._decide(hand, dealer, column, shown)

    def _decide(self, hand: int, dealer: int, column: int, shown: int) -> _Undecided | int | None:
        code = self.act[hand][column]
        if code == SPLIT:
            return None
        if code in STAND:
            return self._end(self.plan.result[hand], False, dealer, column, shown)
        if code == SURRENDER:
            return self._end(self.numbers.surrendered, False, dealer, column, shown)
        return _Draw(code == DOUBLE, hand, dealer, column, shown)

    def _end(self, result: int, doubled: bool, dealer: int, column: int, shown: int) -> _Undecided | int:
        return self._dealer(tuple(self.plan.pay[result][doubled]), self.plan.waits[result], dealer, shown)

    def _dealer(self, pays: tuple[int, ...], need: int, dealer: int, shown: int) -> _Undecided | int:
        hole = need > 0 and shown < 2
        if hole or (need == 2 and not self.plan.dealer_done[dealer]):
            return _Dealer(pays, need, dealer, min(shown, 2))
        return pays[int(self.plan.dealer_out[dealer])]
