"""The kernel of a counter who plays alone: the rounds of `CounterLanes` and `LuckLanes`, to the bit, for long runs."""

from __future__ import annotations

from typing import Any

import numpy as np

from bjsim.errors import EndlessSplitting
from bjsim.sim.engine.array_walker import NeedsMoreCards
from bjsim.sim.engine.counted_shoes import FURTHER, CountedShoes
from bjsim.sim.engine.counting_table import CountingTable
from bjsim.sim.engine.kernels.count_layout import TOO_FEW_CARDS, CountedRounds, CountLuck, CountWalk, DepthControl
from bjsim.sim.engine.kernels.count_table import add_depths, walk_shoes
from bjsim.sim.engine.kernels.layout import ENDLESS
from bjsim.sim.engine.luck_lanes import DEAD, cards_needed
from bjsim.sim.game.cards import TEN

Array = np.ndarray[Any, Any]


class CountWalker:
    """The kernel over some shoes, at the table of a counter who plays alone."""

    def __init__(self, table: CountingTable, shoes: CountedShoes) -> None:
        self._shoes, self._deal = shoes, len(table.compiled.deal)
        self._walk = pack_walk(table, shoes)

    def walk(self, lanes: Array, begins: Array) -> tuple[CountedRounds, Array]:
        """Walk `lanes` (n,) to their ends, each from its card `begins` (n,) on.

        Return the rounds in order, and the cards of each lane up to the end of its last round, (n,).
        NeedsMoreCards: a round needs a card that was not made.
        """
        ends, most = begins.astype(np.int64), len(lanes) * (self._shoes.cut // self._deal + 1)
        lane, begin, end, bucket, won, codes = np.zeros((6, most), np.int64)
        rounds = CountedRounds(lane, begin, end, bucket, won, codes[:, None], *np.zeros((2, most)))
        count = walk_shoes(self._walk, lanes.astype(np.int64), ends, rounds)
        if count < 0:
            raise NeedsMoreCards if count == TOO_FEW_CARDS else EndlessSplitting(ENDLESS)
        return rounds.at(slice(count)), ends

    def count_depths(self, control: DepthControl, chosen: Array) -> Array:
        """As `depth_control.count_depths`, to the bit."""
        sums = np.zeros((len(chosen), 2, len(control.values)))
        control = control._replace(slopes=np.ascontiguousarray(control.slopes))
        add_depths(self._walk, control, np.zeros(len(control.full)), chosen.astype(np.int64), sums)
        return sums


def pack_walk(table: CountingTable, shoes: CountedShoes) -> CountWalk:
    counter, rows, compiled, dealer = table.counter, table.rows, table.compiled, np.flatnonzero(table.compiled.deal)
    outcomes = rows.rows.hands.shape[1]
    luck = table.luck or _no_luck(len(counter.spots), len(rows.rows.hands), outcomes)
    return CountWalk(
        cards=np.ascontiguousarray(shoes.cards.T),
        running=np.ascontiguousarray(shoes.running.T),
        bucket=np.ascontiguousarray(shoes.bucket.T),
        size=shoes.size,
        cut=shoes.cut,
        further=FURTHER,
        rows=rows.rows,
        question=rows.question,
        answers=np.ascontiguousarray(rows.answers),
        counter=counter,
        hole=int(dealer[-1]) if counter.after >= 0 else -1,
        open=int(dealer[0]),
        dealt=len(compiled.deal),
        needed=cards_needed(compiled, counter, 1),
        dead=DEAD,
        adjusted=table.luck is not None,
        luck=luck,
        counts=np.zeros(len(luck.full)),
        left=np.zeros(1),
        unseen=np.zeros(TEN + 1),
        shadow=np.zeros(len(luck.full), np.int64),
        logged=np.zeros(outcomes),
        split=np.zeros(outcomes, np.int64),
    )


def _no_luck(buckets: int, hands: int, outcomes: int) -> CountLuck:
    """Arrays of the kinds that the kernel takes, for a counter whose luck is not counted."""
    ranks, whole, slope = TEN + 1, np.zeros((1, 1), np.int64), np.zeros((1, 1, 1), np.float32)
    return CountLuck(
        model=np.zeros(buckets, np.int64), chart=whole[0], after=whole, hand=whole, splits=np.zeros(1, np.bool_),
        values=np.zeros((1, 1)), slopes=slope, outcome=whole, chances=np.zeros((1, 1)), tilts=slope,
        pay=np.zeros((1 + hands, outcomes)), full=np.zeros(ranks), start=np.zeros((1, 1)),
    )  # fmt: skip
