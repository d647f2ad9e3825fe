"""The kernel of a counter who plays alone: the rounds of `CounterLanes` and `LuckLanes`, to the bit, for long runs."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from bjsim.errors import EndlessSplitting
from bjsim.sim.engine.count_rows import CountRows
from bjsim.sim.engine.count_tally import quanta
from bjsim.sim.engine.counting_table import CountingTable
from bjsim.sim.engine.kernels.count_layout import (
    ASKED,
    FLAGS,
    FURTHER,
    LOGGED,
    PRODUCTS,
    RAW,
    SPLITS,
    CountDeck,
    CountLuck,
    CountMoves,
    CountWalk,
    PackedLuck,
)
from bjsim.sim.engine.kernels.count_table import play_counter
from bjsim.sim.engine.kernels.layout import ENDLESS, WIDE
from bjsim.sim.engine.kernels.table_layout import ROW
from bjsim.sim.engine.luck_lanes import DEAD, cards_needed
from bjsim.sim.game.cards import TEN

Array = np.ndarray[Any, Any]

FREQUENT = 1 << 12  # rows, at most


class _Identity:
    """The key of a table in a cache, which is equal only for the same table."""

    def __init__(self, table: CountingTable) -> None:
        self.table = table

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Identity) and other.table is self.table

    def __hash__(self) -> int:
        return id(self.table)


def play_stream(table: CountingTable, key: Array, shoes: int) -> tuple[Array, Array]:
    """Play so many shoes from the beginning of the random stream of a key, uint64 (2,); see `CountTable` for sums."""
    buckets = len(table.counter.spots)
    raw, now = np.zeros((buckets, RAW), np.int64), np.zeros((shoes, PRODUCTS, buckets))
    if play_counter(_fresh(_pack(_Identity(table)), key), raw, now) < 0:
        raise EndlessSplitting(ENDLESS)
    return raw, now


def _fresh(walk: CountWalk, key: Array) -> CountWalk:
    """The walk of a stream, with working memory of its own, as several threads may play at once."""

    def emptied(part: Any, *names: str) -> Any:
        return part._replace(**{name: np.zeros_like(getattr(part, name)) for name in names})

    deck = emptied(walk.deck._replace(key=key), "cards", "running", "ready", "number")
    luck = emptied(walk.luck, "counts", "left", "logged")
    fresh: CountWalk = emptied(walk._replace(deck=deck, luck=luck), "bucket", "unseen", "shadow", "split")
    return fresh


@lru_cache(maxsize=1)
def _pack(of: _Identity) -> CountWalk:
    """Pack a table for the kernel."""
    table = of.table
    counter, compiled = table.counter, table.compiled
    dealer, outcomes = np.flatnonzero(compiled.deal), table.rows.rows.hands.shape[1]
    size, cut = compiled.numbers.shoe_size, compiled.numbers.cut
    luck = _pack_luck(table.luck or _no_luck(len(counter.spots), table.rows.rows.hands.shape))
    return CountWalk(
        deck=CountDeck(
            key=np.zeros(2, np.uint64),
            unshuffled=compiled.unshuffled,
            tags=counter.tags,
            initial=counter.initial,
            size=size,
            cards=np.zeros((1 + FURTHER, size), np.uint8),
            running=np.zeros((1 + FURTHER, size + 1), np.int32),
            ready=np.zeros(1 + FURTHER, np.int64),
            number=np.zeros(1 + FURTHER, np.int64),
        ),
        rows=_pack_rows(table.rows, table.luck),
        luck=luck,
        counter=counter,
        control=table.control._replace(slopes=np.ascontiguousarray(table.control.slopes)),
        adjusted=table.luck is not None,
        cut=cut,
        hole=int(dealer[-1]) if counter.after >= 0 else -1,
        open=int(dealer[0]),
        dealt=len(compiled.deal),
        needed=cards_needed(compiled, counter, 1),
        quanta=(*quanta(table.unit), float(table.unit)),
        bucket=np.zeros(cut, np.uint16),
        unseen=np.zeros(TEN + 1),
        shadow=np.zeros(luck.ranks, np.int64),
        split=np.zeros(outcomes, np.int64),
    )


def _pack_rows(counted: CountRows, luck: CountLuck | None) -> CountMoves:
    rows, question = counted.rows, counted.question[::ROW]
    offset, log = rows.entries >> rows.bits, rows.entries & ((1 << rows.bits) - 1)
    splits = luck.splits if luck else np.zeros(len(question), np.bool_)
    flags = LOGGED * (log > 0) | ASKED * (question[offset // ROW] > 0) | SPLITS * splits[offset // ROW]
    return CountMoves(
        entries=(offset << FLAGS | flags).astype(np.uint32),
        log=log.astype(np.uint16),
        question=question.astype(np.int32),
        answers=np.ascontiguousarray(counted.answers),
        ends=rows.ends,
        hands=rows.hands,
        dead=DEAD,
    )


def _pack_luck(luck: CountLuck) -> PackedLuck:
    ranks, frequent = len(luck.full), min(FREQUENT, len(luck.after))
    following = luck.after[:frequent]
    steep = luck.slopes[:, following].swapaxes(2, 3)
    return PackedLuck(
        ranks=ranks,
        places=luck.values.shape[1],
        frequent=frequent,
        model=luck.model,
        chart=luck.chart,
        pay=luck.pay,
        full=luck.full,
        after=luck.after.astype(np.int32),
        hand=luck.hand.astype(np.int32),
        values=luck.values.ravel(),
        outcome=luck.outcome.astype(np.int32).ravel(),
        slopes=_padded(luck.slopes),
        paid=_padded(luck.values[:, following], np.float32),
        own=_padded(np.diagonal(steep, axis1=2, axis2=3)),
        steep=_padded(steep).reshape(-1, ranks, WIDE),
        chances=luck.chances.ravel(),
        tilts=_padded(luck.tilts),
        counts=np.zeros(WIDE, np.int32),
        left=np.zeros(1),
        logged=np.zeros(luck.pay.shape[1]),
    )


def _padded(by_rank: Array, kind: Any = np.int16) -> Array:
    """The same whole numbers by rank in the last axis, (n, WIDE)."""
    padded = np.zeros((*by_rank.shape[:-1], WIDE), kind)
    padded[..., : by_rank.shape[-1]] = by_rank
    return padded.reshape(-1, WIDE)


def _no_luck(buckets: int, hands: tuple[int, ...]) -> CountLuck:
    """Arrays of the kinds that are packed, for a counter whose luck is not counted."""
    ranks, whole = TEN + 1, np.zeros((1, 1), np.int64)
    slopes = np.zeros((1, 1, ranks), np.float32)
    return CountLuck(
        model=np.zeros(buckets, np.int64), chart=whole[0], after=whole, hand=whole, splits=np.zeros(1, np.bool_),
        values=np.zeros((1, 1)), slopes=slopes, outcome=whole, chances=np.zeros((1, 1)), tilts=slopes,
        pay=np.zeros((1 + hands[0], hands[1])), full=np.zeros(ranks), start=np.zeros((1, 1)),
    )  # fmt: skip
