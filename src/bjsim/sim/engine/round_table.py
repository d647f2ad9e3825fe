"""The fold: the rounds of one seat as one table, in which every card is a look-up.

A plan (`plan.py`) is followed over all cards that can come: what is undecided in a round becomes a row, and each card
leads to another row. Rows that lead to the same are one row, however they came about, which leaves a thousand, and ten
times as many with splits: few enough to stay close to the processor. No rule is written down here.

How hands and rounds end is logged, a byte each; the log says what a round pays. A round without splits logs one byte;
of split hands each logs its own and what it is worth by the dealer's outcome, and the round's last byte names that.
Where splits have no limit, or take too many rows, they lead out of the table, and `kernel.py` plays such a round
again from its first card, by the plan.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bjsim.sim.engine.plan import NO_LIMIT, Numbers, Plan
from bjsim.sim.game.cards import RANKS, TEN

Array = np.ndarray[Any, Any]

WAITING = len(RANKS)  # where the row begins in which a round that leaves waits; the row in which a round begins is at 0
SKIPPED = 255  # in the log, a card that came while it waited
MOST_CLASSES = SKIPPED // 2  # of ends of hands and rounds
LONGEST = 52  # cards, more than one hand and the dealer ever draw
FEWEST = 32  # cards of a shoe for which walking it pays
MOST_HANDS = 31  # of one seat, where splits are folded
MOST_ROWS = 1 << 15  # 1.7 MB
DEEPEST = 1024  # cards in a round
WIDEST = (1 << 14, 1 << 8, 1 << 8)  # states of a hand, of the dealer, and columns


class Fold(NamedTuple):
    """A table of rounds.

    table (rows * 13,), uint32: the card of rank r in the row that begins at b has its entry at b + r. The bits of the
    entry from 8 up say where the following row begins; the low byte goes to the log. It is 0 where nothing ends,
    1 + 2 e where a round ends, 1 + 2 (E + h) where a split hand does that others follow.
    ends (E, 2), int64: payoff code (see `plan.py`) and the dealer's outcome. hands (H, O), int64: payoff code of a
    split hand by the dealer's outcome. numbers: see `FoldNumbers`, in that order.
    """

    table: Array
    ends: Array
    hands: Array
    numbers: Array


class FoldNumbers(NamedTuple):
    """Single numbers of a fold; the kernel reads them by position."""

    opening: int  # cards dealt in a round before anybody acts
    waiting: int = WAITING
    skipped: int = SKIPPED
    stop: int = NO_LIMIT  # cards of a shoe after which no round begins that is walked


def fold(plan: Plan, most_rows: int = MOST_ROWS) -> Fold | None:
    """The plan of a single seat as a table of `most_rows` rows at most, with splits where that is possible.

    None for several seats, short shoes, too many different payoffs, or too many rows.
    """
    numbers = Numbers(*plan.numbers.tolist())
    stop = min(numbers.cut, 52 * numbers.decks - LONGEST) if numbers.decks else NO_LIMIT
    sizes = (len(plan.add), len(plan.dealer_add), plan.act.shape[3])
    if len(plan.act) > 1 or stop < FEWEST or any(n > most for n, most in zip(sizes, WIDEST, strict=True)):
        return None
    vectors, vector = _evs(plan)
    codes, code = np.unique(vectors, return_inverse=True)
    for leave in (False, True) if numbers.max_hands <= MOST_HANDS else (True,):
        outcomes = np.arange(1 if leave else vectors.shape[1])
        ends = np.stack(np.meshgrid(codes, outcomes), axis=-1).reshape(-1, 2)
        hands = vectors[:0] if leave else vectors
        if len(ends) + len(hands) <= MOST_CLASSES:
            end = 1 + 2 * code.reshape(vectors.shape)
            after = end + 2 * len(codes) * np.arange(vectors.shape[1])
            over = 1 + 2 * (len(ends) + np.arange(len(vectors)))
            over[0] = 0
            table = _table(plan, numbers, leave, vector, (end, after, over), most_rows)
            if table is not None:
                last = stop if leave or not numbers.decks else numbers.cut  # what never leaves may end in the next shoe
                of_fold = np.array(FoldNumbers(opening=len(plan.deal), stop=last), np.int64)
                return Fold(table, ends, hands, of_fold)
    return None


def _evs(plan: Plan) -> tuple[Array, Array]:
    """What a hand may be worth by the dealer's outcome, (H, O), nothing first; and the row for result and stake."""
    results, stakes, outcomes = plan.pay.shape
    different, row = np.unique(plan.pay.reshape(-1, outcomes), axis=0, return_inverse=True)
    return np.concatenate([np.zeros((1, outcomes), np.int64), different]), 1 + row.reshape(results, stakes)


def _table(
    plan: Plan, numbers: Numbers, leave: bool, vector: Array, codes: tuple[Array, Array, Array], most: int
) -> Array | None:
    from bjsim.sim.fold_kernel import TOO_LARGE, FoldPlan, fold_rows, weigh  # imports numba

    asked = np.array([numbers.peek, numbers.natural_outcome, numbers.max_hands, numbers.surrendered, leave], np.int64)
    of_plan = FoldPlan(
        plan.add, plan.act[0], plan.half, plan.result, plan.waits, plan.dealer_add, plan.dealer_done, plan.dealer_out,
        plan.column, plan.deal, asked, vector, *codes,
    )  # fmt: skip
    tens_alike = all((array[:, TEN:] == array[:, TEN:][:, :1]).all() for array in (plan.add, plan.dealer_add))
    table = np.empty((most, len(RANKS)), np.uint32)
    size = 1 << (8 * most).bit_length()
    rows = fold_rows(
        of_plan, TEN + 1 if tens_alike else len(RANKS), table, np.zeros(size, np.int64), np.zeros(size, np.int32),
        np.full(size, -1, np.int32), np.zeros(DEEPEST, np.int64), np.zeros(DEEPEST, np.uint64),
        np.zeros(DEEPEST, np.int64), np.zeros((DEEPEST, len(RANKS)), np.uint32),
    )  # fmt: skip
    if rows == TOO_LARGE:
        return None
    table = table[:rows]  # what is often needed should lie close together
    weights = np.zeros(rows)
    weigh(table, weights)
    weights[:2] = 3, 2  # they stay where they are; no other row is met more than once in a round
    order = np.argsort(-weights, kind="stable")
    begins = np.empty(rows, np.uint32)
    begins[order] = np.arange(rows) * len(RANKS)
    table[1] = 1 << 8 | SKIPPED
    table[0] = table[rows - 1]
    ordered: Array = begins[table[order] >> 8] << 8 | table[order] & 255
    return ordered.ravel()
