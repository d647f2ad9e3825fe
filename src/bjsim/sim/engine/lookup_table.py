"""The lookup table: the rounds of one seat as a finite automaton, in which every card takes one lookup.

The compiled rules are followed over all possible cards. Each undecided state of a round becomes a row, and each card
leads to another row. Equal rows are merged, which leaves about a thousand, or ten times as many with splits, few enough
for the processor's cache. This module implements no rules.

The end of each hand and of each round is logged as a byte, and the payoffs are computed from this log. A round without
splits logs one byte. Each split hand logs a byte for its payoffs by the dealer's outcome, and the last byte of the
round has that outcome. If splits have no limit, or take too many rows, they leave the table, and `play` replays such a
round from its first card by the compiled rules.

Where the chart depends on the count, the rows of hands that it plays differently ask for the action: their entries are
those of actions instead of cards.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bjsim.sim.engine.kernels.count_layout import BET
from bjsim.sim.engine.kernels.layout import CHOICE, INSURE, NO_LIMIT, CompiledRules
from bjsim.sim.engine.kernels.table_layout import (
    ACTED,
    ASKS,
    OVER,
    CountLookup,
    Logs,
    LookupNumbers,
    LookupTable,
    TableSeats,
    Work,
)
from bjsim.sim.game.cards import RANKS, TEN

Array = np.ndarray[Any, Any]

WAITING = len(RANKS)  # offset of the row for rounds that have left the table; rounds begin in the row at 0
SKIPPED = 255  # log entry of a card drawn in the row WAITING
MAX_CLASSES = SKIPPED // 2  # of the ends of hands and rounds
LONGEST = 52  # cards, above the most that one hand and the dealer can draw
MIN_CARDS = 16  # cards of a shoe below which the table gains nothing
MAX_HANDS = 31  # of one seat, for splits within the table
MAX_CHOICES = 255  # by the count: their numbers are stored as logged bytes are
MAX_ROWS = 1 << 15  # 1.7 MB
MAX_COUNT_ROWS = 1 << 17  # with choices by the count
DEEPEST = 1024  # cards in a round
WIDEST = (1 << 14, 1 << 8, 1 << 8)  # states of a hand, of the dealer, and columns


def make_lookup_table(compiled: CompiledRules, most_rows: int = MAX_ROWS) -> LookupTable | None:
    """Build the lookup table of a single seat, with splits if possible.

    Args:
        compiled: The compiled rules.
        most_rows: The largest number of rows.

    Returns:
        The table; None for several seats, short shoes, too many different payoffs, or too many rows.
    """
    numbers = compiled.numbers
    sizes = (len(compiled.add), len(compiled.dealer_add), compiled.act.shape[3])
    if len(compiled.act) > 1 or any(n > most for n, most in zip(sizes, WIDEST, strict=True)):
        return None
    vectors, vector = _payoff_vectors(compiled)
    codes, code = np.unique(vectors, return_inverse=True)
    insured = bool((compiled.act == INSURE).any())  # such rounds leave the table
    for leave in (False, True) if numbers.most_hands <= MAX_HANDS and not insured else (True,):
        # a round that may leave the table must end in the shoe in which it began, so that it can be replayed
        last = min(numbers.cut, numbers.shoe_size - leave * LONGEST) if numbers.shoe_size else NO_LIMIT
        if last < MIN_CARDS:
            return None
        outcomes = np.arange(1 if leave else vectors.shape[1])
        ends = np.stack(np.meshgrid(codes, outcomes), axis=-1).reshape(-1, 2)
        hands = vectors[:0] if leave else vectors
        if len(ends) + len(hands) <= MAX_CLASSES:
            end = 1 + 2 * code.reshape(vectors.shape)
            after = end + 2 * len(codes) * np.arange(vectors.shape[1])
            over = 1 + 2 * (len(ends) + np.arange(len(vectors)))
            over[0] = 0
            rows = _rows(compiled, leave, vector, (end, after, over), most_rows)
            if rows is not None:
                return LookupTable(*rows, ends, hands, LookupNumbers(len(compiled.deal), WAITING, SKIPPED, last))
    return None


def make_table_seats(compiled: CompiledRules) -> TableSeats | None:
    """Build the lookup tables of several seats that act one after another.

    Args:
        compiled: The compiled rules.

    Returns:
        The seats and their tables; None if rounds of a seat would leave its table, or if turns are round-robin.
    """
    if compiled.numbers.round_robin:
        return None
    charts, chart = np.unique(compiled.act, axis=0, return_inverse=True)
    tables = [make_lookup_table(compiled._replace(act=charts[t : t + 1])) for t in range(len(charts))]
    complete = [table for table in tables if table is not None and len(table.hands)]
    if len(complete) < len(charts):
        return None
    begins = np.cumsum([0, *(len(table.table) for table in complete)])
    entries = []
    for begin, table in zip(begins.tolist(), complete, strict=False):
        row = table.table >> 8
        over = np.where(row == 0, OVER | ACTED, 0) | np.where(table.kind[row // len(RANKS)], ACTED, 0)
        entries.append((row + begin) << 8 | table.table & 255 | over)
    seats = len(compiled.act)
    return TableSeats(
        table=np.concatenate(entries).astype(np.uint32),
        start=begins[chart.ravel()] << 8,
        ends=complete[0].ends,
        hands=complete[0].hands,
        entry=np.zeros(seats, np.int64),
        split=np.zeros((seats, MAX_HANDS + 1), np.int64),
        splits=np.zeros(seats, np.int64),
        acting=np.zeros(seats + 1, np.int64),
    )


def make_count_lookup(compiled: CompiledRules) -> CountLookup | None:
    """Build the lookup table of a single seat whose chart depends on the count.

    Args:
        compiled: The compiled rules, with a row of `act` for each chart.

    Returns:
        The table; None if rounds would leave it, or if there are too many choices.
    """
    act, answers = merge_charts(compiled.act)
    merged = count_bets(compiled)._replace(act=act)
    lookup = make_lookup_table(merged, MAX_COUNT_ROWS) if len(answers) <= MAX_CHOICES else None
    if lookup is None or not len(lookup.hands):
        return None
    asks = np.where(lookup.kind[(lookup.table >> 8) // len(RANKS)] == 2, ASKS, 0)
    return CountLookup((lookup.table | asks).astype(np.uint32), lookup.ends, lookup.hands, answers)


def count_bets(compiled: CompiledRules) -> CompiledRules:
    """Add to the payoffs of a hand the number of its bets, see BET. No bets may tie."""
    return compiled._replace(pay=compiled.pay + BET * np.array([[1], [2]]))


def merge_charts(act: Array) -> tuple[Array, Array]:
    """Merge charts into one that has a choice wherever they differ.

    Args:
        act: Action codes, see `CompiledRules.act`, with the chart as first axis.

    Returns:
        The merged chart, (1, 2, S, C + E + 1): where not all charts have the same code, CHOICE times the number of the
        choice plus one, plus 1 << code for each of their codes; and the codes by choice and chart, int64 (V, charts).
    """
    cells = act.reshape(len(act), -1)
    differs = (cells != cells[0]).any(axis=0)
    answers, number = np.unique(cells[:, differs].T, axis=0, return_inverse=True)
    merged = cells[0].copy()
    merged[differs] = (CHOICE * (1 + np.arange(len(answers))) + np.bitwise_or.reduce(1 << answers, axis=1))[number]
    return merged.reshape(1, *act.shape[1:]), answers


def _payoff_vectors(compiled: CompiledRules) -> tuple[Array, Array]:
    """The distinct payoffs of a hand by the dealer's outcome, (H, O), zeros first; and the row by result and stake."""
    results, stakes, outcomes = compiled.pay.shape
    distinct, row = np.unique(compiled.pay.reshape(-1, outcomes), axis=0, return_inverse=True)
    return np.concatenate([np.zeros((1, outcomes), np.int64), distinct]), 1 + row.reshape(results, stakes)


def _rows(
    compiled: CompiledRules, leave: bool, vector: Array, codes: tuple[Array, Array, Array], most: int
) -> tuple[Array, Array] | None:
    """`LookupTable.table` and `LookupTable.kind`; None if there are too many rows."""
    from bjsim.sim.engine.kernels.rows import TOO_LARGE, compile_rows, weigh  # imports numba

    tens_alike = all((array[:, TEN:] == array[:, TEN:][:, :1]).all() for array in (compiled.add, compiled.dealer_add))
    table = np.zeros((most, len(RANKS) + 1), np.uint32)
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
    rows = compile_rows(compiled, Logs(vector, *codes, int(leave)), TEN + 1 if tens_alike else len(RANKS), table, work)
    if rows == TOO_LARGE:
        return None
    table = table[:rows]  # frequent rows should be close together
    weights = np.zeros(rows)
    weigh(table, weights)
    weights[:2] = 3, 2  # these two stay first; no other row is visited more than once in a round
    order = np.argsort(-weights, kind="stable")
    begins = np.empty(rows, np.uint32)
    begins[order] = np.arange(rows) * len(RANKS)
    table[1] = 1 << 8 | SKIPPED
    table[0] = table[rows - 1]
    entries = table[order, :-1]
    return (begins[entries >> 8] << 8 | entries & 255).ravel(), table[order, -1]
