"""The fold: the rounds of one seat as one table, in which every card is a look-up.

A plan (`plan.py`) is followed over all cards that can come: what is undecided in a round becomes a row, and each card
leads to another row. Rows that lead to the same are one row, however they came about, which leaves a thousand, and ten
times as many with splits: few enough to stay close to the processor. No rule is written down here.

How hands and rounds end is logged, a byte each; the log says what a round pays. A round without splits logs one byte;
of split hands each logs its own and what it is worth by the dealer's outcome, and the round's last byte names that.
Where splits have no limit, or take too many rows, they lead out of the table, and `play` plays such a round
again from its first card, by the plan.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bjsim.sim.engine.kernels.layout import NO_LIMIT, Plan
from bjsim.sim.engine.kernels.table_layout import Fold, FoldNumbers, Logs, Work
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


def fold(plan: Plan, most_rows: int = MOST_ROWS) -> Fold | None:
    """The plan of a single seat as a table of `most_rows` rows at most, with splits where that is possible.

    None for several seats, short shoes, too many different payoffs, or too many rows.
    """
    numbers = plan.numbers
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
            table = _table(plan, leave, vector, (end, after, over), most_rows)
            if table is not None:
                last = stop if leave or not numbers.decks else numbers.cut  # what never leaves may end in the next shoe
                return Fold(table, ends, hands, FoldNumbers(len(plan.deal), WAITING, SKIPPED, last))
    return None


def _evs(plan: Plan) -> tuple[Array, Array]:
    """What a hand may be worth by the dealer's outcome, (H, O), nothing first; and the row for result and stake."""
    results, stakes, outcomes = plan.pay.shape
    different, row = np.unique(plan.pay.reshape(-1, outcomes), axis=0, return_inverse=True)
    return np.concatenate([np.zeros((1, outcomes), np.int64), different]), 1 + row.reshape(results, stakes)


def _table(plan: Plan, leave: bool, vector: Array, codes: tuple[Array, Array, Array], most: int) -> Array | None:
    from bjsim.sim.engine.kernels.rows import TOO_LARGE, fold_rows, weigh  # imports numba

    tens_alike = all((array[:, TEN:] == array[:, TEN:][:, :1]).all() for array in (plan.add, plan.dealer_add))
    table = np.empty((most, len(RANKS)), np.uint32)
    size = 1 << (8 * most).bit_length()
    work = Work(
        words=np.zeros(size, np.int64),
        row_of=np.zeros(size, np.int32),
        numbers=np.full(size, -1, np.int32),
        path=np.zeros(DEEPEST, np.int64),
        places=np.zeros(DEEPEST, np.uint64),
        ranks=np.zeros(DEEPEST, np.int64),
        entries=np.zeros((DEEPEST, len(RANKS)), np.uint32),
    )
    rows = fold_rows(plan, Logs(vector, *codes, int(leave)), TEN + 1 if tens_alike else len(RANKS), table, work)
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
