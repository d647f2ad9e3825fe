"""Plays rounds with the kernels: makes the arrays that they need, and reads what they have counted.

Import this module only where rounds are played: importing numba takes a third of a second.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bjsim.errors import EndlessSplitting
from bjsim.sim.engine.kernels.layout import (
    DRAW,
    NO_LIMIT,
    NOTES,
    STATE,
    TIED,
    Counts,
    Ledger,
    LuckModel,
    Plan,
    Seats,
    Shoe,
)
from bjsim.sim.engine.kernels.play import RAN_AWAY, RUNAWAY, play
from bjsim.sim.engine.kernels.run_table import LANES, LOG, run_table
from bjsim.sim.engine.kernels.shoe import BUFFER, KEPT
from bjsim.sim.engine.kernels.table_layout import Blocks, Fold, Lanes
from bjsim.sim.engine.luck_model import filled_up
from bjsim.sim.game.random_stream import stream_key

Array = np.ndarray[Any, Any]

ENDLESS = f"a seat held {RUNAWAY:,} hands in one round, and no more are played: its splits end very late, or never"
PILOT_TABLE = 2**32  # number of a table that nobody plays at


def open_ledger(plan: Plan, luck_model: LuckModel, bet: float, usual: int) -> Ledger:
    """A ledger for a plan whose payoffs count in shares `bet`, with `usual` rounds to a shoe."""
    seats, kinds = len(plan.act), 2 * len(plan.pay)
    state = np.zeros(1, STATE)
    state["left"] = 1
    return Ledger(
        counts=filled_up(luck_model.full),
        state=state,
        draws=np.zeros(NOTES + 2 + seats * (kinds + 1), DRAW),
        usual=usual,
        finite=int(plan.numbers.decks > 0),
        bet=bet,
        profit=np.zeros(seats),
        bets=np.zeros(seats),
        sums=np.zeros((seats, 6)),
        finished=np.zeros((seats, kinds), np.int64),
        kinds=np.zeros((seats, kinds), np.int64),
        different=np.zeros(seats, np.int64),
    )


def make_shoe(plan: Plan, key: tuple[int, int]) -> Shoe:
    """The shoe of a table, before the first card of the stream with this key is made."""
    size = 52 * plan.numbers.decks
    return Shoe(
        cards=np.zeros(size or KEPT + BUFFER, np.uint8),
        key=np.array(key, np.uint64),
        read=np.array([size], np.int64),
        ready=np.array([size], np.int64),
        chunk=np.array([-1], np.int64),
        before=np.array([-size], np.int64),
        size=size,
        normal_tens=plan.numbers.normal_tens,
        threshold=plan.threshold,
        other=plan.other,
    )


def make_seats(plan: Plan) -> Seats:
    """The seats of a table."""
    seats, outcomes = len(plan.act), plan.pay.shape[2]
    hand, half, pending, held, acting = np.zeros((5, seats), np.int64)
    return Seats(hand, half, pending, held, acting, np.zeros((seats, outcomes), np.int64))


def make_counts(plan: Plan, rounds: int, traced: int) -> Counts:
    """Counts of no payoff yet, with room for those of `rounds` rounds, and a trace of `traced` rounds."""
    numbers, seats = plan.numbers, len(plan.act)
    return Counts(
        dense=np.zeros((seats, numbers.ties + 1, 2 * numbers.width + 1), np.int64),
        overflow=np.zeros((rounds * seats if numbers.max_hands == NO_LIMIT else 0, 2), np.int64),
        trace=np.zeros((traced, seats + 1), np.int64),
    )


def play_rounds(
    plan: Plan, key: tuple[int, int], rounds: int, traced: int = 0,
    luck_model: LuckModel | None = None, ledger: Ledger | None = None,
) -> tuple[Array, Array, Array]:  # fmt: skip
    """Play `rounds` rounds of a plan at one table, from the beginning of the stream with this key.

    With a referee the cards are the same, and the luck in them is noted in the ledger.

    Returns: counts (seats, ties + 1, 2 width + 1), how often each payoff came, by stake tied and units won; the payoffs
    that fall outside it, rows of (seat, code); trace (traced, seats + 1), for the first rounds each seat's payoff code
    and the number of cards dealt so far. All int64.
    Raises: EndlessSplitting.
    """
    counts = make_counts(plan, rounds, traced)
    overflow = play(plan, make_shoe(plan, key), rounds, make_seats(plan), counts, luck_model, ledger)
    if overflow == RAN_AWAY:
        raise EndlessSplitting(ENDLESS)
    return counts.dense, counts.overflow[:overflow], counts.trace


def rounds_in_shoe(plan: Plan) -> int:
    """The usual number of rounds that start in one shoe, found on a stream of its own; 1 for an infinite shoe."""
    if not plan.numbers.decks:
        return 1
    pilot = 1 << 14
    cards = play_rounds(plan, stream_key(0, PILOT_TABLE, 0), pilot, pilot)[2][-1, -1] / pilot
    rounds = plan.numbers.cut / float(cards) + 0.5  # it is cut after the round in which the cut comes
    return max(round(rounds), 1)


def play_adjusted(
    plan: Plan, luck_model: LuckModel, bet: float, key: tuple[int, int], rounds: int
) -> tuple[Array, Array, Array, int]:
    """Play rounds as `play_rounds` does, and tell the luck in them.

    Returns: counts and outside, as there; sums (seats, 6) over shoes, see `Ledger`; the usual rounds of a shoe.
    """
    usual = rounds_in_shoe(plan)
    ledger = open_ledger(plan, luck_model, bet, usual)
    counts, outside, _ = play_rounds(plan, key, rounds, 0, luck_model, ledger)
    return counts, outside, ledger.sums, usual


def make_lanes(plan: Plan) -> Lanes:
    """Lanes at the beginning of the first blocks, of which there is one for each lane at least."""
    size = 52 * plan.numbers.decks
    first = 0 if size else KEPT
    return Lanes(
        cards=np.zeros((LANES, size or KEPT + BUFFER), np.uint8),
        read=np.full(LANES, first, np.int64),
        ready=np.full(LANES, first, np.int64),
        chunk=np.full(LANES, 0 if size else -1, np.int64),
        before=np.zeros(LANES, np.int64),
        log=np.zeros((LANES, LOG), np.uint8),
        row=np.zeros(LANES, np.int64),
        logged=np.zeros(LANES, np.int64),
        look=np.zeros(LANES, np.int64),
        limit=np.full(LANES, -1, np.int64),
        block=np.arange(LANES, dtype=np.int64),
        over=np.zeros(LANES, np.int64),
        next_block=np.array([LANES], np.int64),
        running=np.array([LANES], np.int64),
    )


def play_blocks(
    plan: Plan, folded: Fold, keys: Sequence[tuple[int, int]], rounds: Sequence[int], traced: bool = False
) -> tuple[Array, Array, list[Array]]:
    """Play `rounds[i]` rounds from the beginning of the stream `keys[i]`, for all i, by the fold of the plan.

    Returns: as `play_rounds`, the counts of all together; with `traced` the payoff code of every round, a list of
    arrays. Raises: EndlessSplitting.
    """
    none = [0] * max(LANES - len(keys), 0)  # blocks without a round, for lanes that have no other
    traces = np.zeros((len(keys) + len(none), max([*rounds, 0]) if traced else 0), np.int64)
    every_key = np.array([*keys, *[(0, 0) for _ in none]], np.uint64)
    blocks = Blocks(np.array([*rounds, *none], np.int64), every_key, traces)
    counts = make_counts(plan, sum(rounds), 1)
    classes = np.zeros((4, len(folded.ends)), np.int64)
    overflow = run_table(folded, plan, blocks, make_lanes(plan), make_seats(plan), counts, classes)
    if overflow == RAN_AWAY:
        raise EndlessSplitting(ENDLESS)
    often = classes.sum(axis=0)
    came = np.flatnonzero(often)
    codes, times = folded.ends[came, 0], often[came]
    tied = (codes + TIED // 2) >> 32
    place, width = codes - (tied << 32) + plan.numbers.width, plan.numbers.width
    fits = (place >= 0) & (place <= 2 * width) & (tied <= plan.numbers.ties)
    np.add.at(counts.dense[0], (tied[fits], place[fits]), times[fits])
    others = np.repeat(codes[~fits], times[~fits])
    outside = np.concatenate([counts.overflow[:overflow], np.stack([np.zeros_like(others), others], axis=1)])
    each = zip(traces, rounds, strict=False)
    return counts.dense, outside, [trace[:n] for trace, n in each] if traced else []
