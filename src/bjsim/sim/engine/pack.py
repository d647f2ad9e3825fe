"""Round tables packed for the walkers; see `kernels/arrays.py`."""

import math
from collections.abc import Sequence

import numpy as np

from bjsim.arrays import Array
from bjsim.sim.engine.kernels.arrays import (
    ASKED,
    BITS,
    FREE,
    HALF_BET,
    INSURES,
    LEAVES,
    LOGGED,
    OVER,
    STRIDE,
    WAITS,
    DealOrder,
    PlainTable,
    SeatRows,
    WalkedTable,
)
from bjsim.sim.engine.kernels.layout import CHOICE, INSURE, WIDE, CompiledRules
from bjsim.sim.engine.round_table import ASKS, LEFT, RoundTable, count_ranks, explore, make_round_tables

NEVER_LEFT = 1e-13  # probability with which splits may make a counter's round leave the table: it cannot be played
MOST_ROWS = 1 << (32 - BITS - 4)  # of entries with 32 bits
LINE = 64  # bytes in a line of the cache


def pack_moves(tables: Sequence[RoundTable], chart: Array, answers: Array | None = None) -> SeatRows:
    """Put the tables of charts, whose ends and hands are alike, one after another; `chart` (seats,) is each seat's."""
    begins = np.cumsum([0, *(len(table.kind) for table in tables)])
    ends, hands = len(tables[0].ends), len(tables[0].hands)
    entries, logs = [], []
    if answers is None or not len(answers):
        answers = np.zeros((1, 1), np.int64)  # nothing is asked
    insures = (answers == INSURE).any(axis=1)
    for number, (begin, table) in enumerate(zip(begins.tolist(), tables, strict=False)):
        log, after, leaves = table.log, table.after, table.after == LEFT
        split = ends * len(tables) + hands * number - ends
        flags = LOGGED * ((log > 0) | leaves) | LEAVES * leaves | ASKED * (table.kind[after] == ASKS)
        flags |= INSURES * ((table.kind == ASKS) & insures[table.choice])[after]
        over = ((log > 0) & (log <= ends)) | leaves
        flags |= OVER * over | WAITS * ((table.kind[after] == 1) | over) | FREE * ~table.forced
        entries.append((begin + after) * STRIDE << BITS | flags)
        logs.append(np.where(log > ends, log + split, log + ends * number * (log > 0)))
    wide = ((0, 0), (0, STRIDE - entries[0].shape[1]))
    return SeatRows(
        entries=np.pad(np.concatenate(entries), wide).ravel(),
        log=np.pad(np.concatenate(logs), wide).ravel(),
        question=np.concatenate([np.where(table.kind == ASKS, 1 + table.choice, 0) for table in tables]),
        answers=np.ascontiguousarray(answers),
        ends=np.concatenate([table.ends for table in tables]),
        hands=np.concatenate([table.hands for table in tables]),
        start=begins[chart] * STRIDE,
    )


def pack_plain(table: RoundTable) -> PlainTable:
    """Pack the table of a single seat for the kernel of plain rounds.

    A round that leaves the table logs its last end, which is that of no other round, without an end.
    """
    ends, ranks = len(table.ends), count_ranks(table.after, table.log)
    after, log = table.after[:, :ranks], np.where(table.after == LEFT, ends, table.log)[:, :ranks]
    states, most, split = 2 * len(log), int(log.max()) + 1, np.arange(2)[:, None, None]  # rows, by whether hands ended
    kind = np.where(log > ends, 2, split)  # of what is logged: rounds without splits, with them, split hands
    kind[:, after == LEFT] = 0
    to = (np.where(log > ends, 1, np.where(log, 0, split)) * len(log) + after).reshape(states, -1)
    logs, key = np.tile(log > 0, (2, 1)), ((kind * most + log) * states).reshape(states, -1) + to
    copies = np.unique(key[logs])
    to = np.where(logs, np.searchsorted(copies, key), len(copies) + to)
    follows = np.concatenate([copies % states, np.arange(states)])  # the state of which each number is
    reached = explore(np.array([len(copies)]), lambda fresh: to[follows[fresh]])  # from row 0
    kind, label = np.divmod(copies[reached[reached < len(copies)]] // states, most)
    entries = np.searchsorted(reached, to[follows[reached]]).ravel()
    return PlainTable(
        entries=entries.astype(np.uint16 if len(reached) <= 1 << 16 else np.uint32),
        start=len(label),
        plain=int((kind == 0).sum()),
        over=int((kind < 2).sum()),
        label=np.where(kind < 2, label - 1, label - 1 - ends),
        ends=table.ends,
        hands=table.hands,
        ranks=(0,) * ranks,
    )


def make_deal(compiled: CompiledRules, seats: int, hides: bool = False) -> DealOrder:
    """The order of the deal for one to so many hands; `hides`: the dealer's last card of it is not seen."""
    opening = np.zeros((seats + 1, max(seats, 1) * len(compiled.deal) + 1), np.int64)
    dealt, hole = np.full((2, seats + 1), -1, np.int64)
    for hands in range(1, seats + 1):
        order = [seat for to_dealer in compiled.deal for seat in ([seats] if to_dealer else range(hands))]
        opening[hands, : len(order)], dealt[hands] = order, len(order)
        if hides:
            hole[hands] = len(order) - 1 - order[::-1].index(seats)
    return DealOrder(opening, dealt, hole, bool(compiled.numbers.round_robin))


def merge_charts(act: Array) -> tuple[Array, Array]:
    """Merge charts, the first axis of `act` (see `CompiledRules.act`), with a choice wherever they differ.

    Such a cell of it, (1, 2, S, C + E + 1), is CHOICE times the choice's number plus one, plus 1 << code for
    each of the charts' codes. Return also the codes by choice and chart, int64 (V, charts).
    """
    cells = act.reshape(len(act), -1)
    differs = (cells != cells[0]).any(axis=0)
    answers, number = np.unique(cells[:, differs].T, axis=0, return_inverse=True)
    merged = cells[0].copy()
    merged[differs] = (CHOICE * (1 + np.arange(len(answers))) + np.bitwise_or.reduce(1 << answers, axis=1))[number]
    return merged.reshape(1, *act.shape[1:]), answers


def make_count_table(compiled: CompiledRules) -> tuple[RoundTable, Array]:
    """A counter's round table, which asks wherever the charts of `act` differ, and the answers by choice and chart.

    The payoffs of a hand have its stakes too, see HALF_BET. No bets may tie.
    """
    act, answers = merge_charts(compiled.act)
    pay = compiled.pay + HALF_BET * compiled.own[..., None]
    (table,), _ = make_round_tables(compiled._replace(act=act, pay=pay), NEVER_LEFT)
    return table, answers


def for_kernel(layout: WalkedTable) -> WalkedTable | None:
    """The same in the types of the kernel, or None if there are too many rows.

    Axes over ranks are padded to the width of a vector operation.
    """
    moves, luck = layout.moves, layout.luck
    if len(moves.question) > MOST_ROWS or moves.log.max() >= 1 << 16:
        return None
    moves = moves._replace(
        entries=moves.entries.astype(np.uint32),
        log=moves.log.astype(np.uint16),
        question=moves.question.astype(np.int32),
    )
    if luck:
        tilts, (second, first) = luck.tilts.reshape(-1, luck.ranks), np.tril_indices(luck.ranks)
        luck = luck._replace(
            slow=luck.slow.astype(np.int8),
            after=luck.after.astype(np.int32),
            hand=luck.hand.astype(np.int32),
            outcome=luck.outcome.astype(np.int32),
            slopes=padded(luck.slopes.astype(np.int16)),
            tilts=padded(tilts.astype(np.int16)),
            form=padded(luck.form[:, first, second].astype(np.int16)),
        )
    return layout._replace(moves=moves, luck=luck)


def padded(ranks: Array) -> Array:
    """Pad the last axis, over ranks or pairs of them, with zeros to whole vectors, at an address that suits them."""
    shape = (*ranks.shape[:-1], -ranks.shape[-1] % WIDE + ranks.shape[-1])
    size = math.prod(shape) * ranks.itemsize
    memory = np.zeros(size + LINE, np.uint8)
    begin = -memory.ctypes.data % LINE  # a vector in two lines of the cache would take two loads
    result: Array = memory[begin : begin + size].view(ranks.dtype).reshape(shape)
    result[..., : ranks.shape[-1]] = ranks
    return result
