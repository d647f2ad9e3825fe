"""The kernel of a counter who plays alone: the rounds of `CounterLanes` and `LuckLanes`, to the bit, for long runs."""

from __future__ import annotations

from typing import Any

import numpy as np

from bjsim.errors import EndlessSplitting
from bjsim.sim.engine.array_walker import NeedsMoreCards
from bjsim.sim.engine.counted_shoes import FURTHER, CountedRounds, CountedShoes
from bjsim.sim.engine.counting_table import CountingTable
from bjsim.sim.engine.depth_control import DepthControl
from bjsim.sim.engine.kernels.count_table import add_depths, walk_shoes
from bjsim.sim.engine.kernels.layout import ENDLESS
from bjsim.sim.engine.kernels.table_layout import TOO_FEW_CARDS, CountLog, CountWalk, DepthArrays
from bjsim.sim.engine.luck_lanes import DEAD, cards_needed
from bjsim.sim.game.cards import TEN

Array = np.ndarray[Any, Any]


class CountWalker:
    """The kernel over some shoes.

    Args:
        table: The table, of a counter who plays alone.
        shoes: The shoes.
    """

    def __init__(self, table: CountingTable, shoes: CountedShoes) -> None:
        self._shoes, self._deal = shoes, len(table.compiled.deal)
        self._walk = pack_walk(table, shoes)

    def walk(self, lanes: Array, begins: Array) -> tuple[CountedRounds, Array]:
        """Walk lanes to their ends.

        Args:
            lanes: The lanes, (n,).
            begins: The first card of each, (n,).

        Returns:
            The rounds in order, and the cards of each lane up to the end of its last round, (n,).

        Raises:
            NeedsMoreCards: A round needs a card that was not made.
            EndlessSplitting: A round is too long.
        """
        ends, most = begins.astype(np.int64), len(lanes) * (self._shoes.cut // self._deal + 1)
        log = CountLog(*np.zeros((6, most), np.int64), *np.zeros((2, most)))
        count = walk_shoes(self._walk, lanes.astype(np.int64), ends, log)
        if count < 0:
            raise NeedsMoreCards if count == TOO_FEW_CARDS else EndlessSplitting(ENDLESS)
        rounds = CountedRounds(*log)._replace(codes=log.codes[:, None])
        return rounds.at(slice(count)), ends

    def count_depths(self, control: DepthControl, chosen: Array) -> Array:
        """As `depth_control.count_depths`, to the bit."""
        sums = np.zeros((len(chosen), 2, len(control.values)))
        arrays = DepthArrays(control.step, np.ascontiguousarray(control.slopes), control.values, control.full)
        add_depths(self._walk, arrays, np.zeros(len(control.full)), chosen.astype(np.int64), sums)
        return sums


def pack_walk(table: CountingTable, shoes: CountedShoes) -> CountWalk:
    """The arrays of the kernel."""
    counter, rows, compiled, luck = table.counter, table.rows, table.compiled, table.luck
    ranks = len(luck.full) if luck else TEN + 1
    none, one = np.zeros((1, 1), np.int64), np.zeros((1, ranks), np.float32)
    dealer = np.flatnonzero(compiled.deal)
    return CountWalk(
        cards=np.ascontiguousarray(shoes.cards.T),
        running=np.ascontiguousarray(shoes.running.T),
        bucket=np.ascontiguousarray(shoes.bucket.T),
        size=shoes.size,
        cut=shoes.cut,
        further=FURTHER,
        entries=rows.rows.entries,
        bits=rows.rows.bits,
        question=rows.question,
        answers=np.ascontiguousarray(rows.answers),
        ends=rows.rows.ends,
        hands=rows.rows.hands,
        tags=counter.tags,
        lowest=counter.lowest,
        cells=counter.cells,
        chart=counter.chart,
        insures=np.asarray(counter.insures, np.int64),
        insurable=counter.insurable > 0,
        insurance=counter.ace >= 0,
        leave=counter.leave,
        before_round=bool(counter.before_round),
        hole=int(dealer[-1]) if counter.after >= 0 else -1,
        open=int(dealer[0]),
        dealt=len(compiled.deal),
        needed=cards_needed(compiled, counter, 1),
        dead=DEAD,
        adjusted=luck is not None,
        model=luck.model if luck else np.zeros(len(counter.spots), np.int64),
        usual=luck.chart if luck else none[0],
        places=luck.values.shape[1] if luck else 0,
        after=np.ascontiguousarray(luck.after if luck else none, np.int32),
        hand=np.ascontiguousarray(luck.hand if luck else none, np.int32),
        splits=luck.splits if luck else none[0] > 0,
        values=luck.values.ravel() if luck else np.zeros(1),
        slopes=luck.slopes.reshape(-1, ranks) if luck else one,
        outcome=luck.outcome.ravel() if luck else none[0],
        chances=luck.chances if luck else np.zeros((1, 1)),
        tilts=luck.tilts if luck else one[None],
        pay=luck.pay if luck else np.zeros((len(rows.rows.hands) + 1, rows.rows.hands.shape[1])),
        full=luck.full if luck else np.zeros(ranks),
        counts=np.zeros(ranks),
        left=np.zeros(1),
        unseen=np.zeros(TEN + 1),
        shadow=np.zeros(ranks, np.int64),
        logged=np.zeros(rows.rows.hands.shape[1]),
        split=np.zeros(rows.rows.hands.shape[1], np.int64),
    )
