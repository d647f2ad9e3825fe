"""The rounds of one seat as an automaton: what is undecided in a round, and what a card makes of it.

Whatever is undecided fits in one 64-bit word. `rows.py` follows it over all cards that can come.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bjsim.sim.engine.jit import compiled
from bjsim.sim.engine.kernels.layout import DOUBLE, HIT, SPLIT, SURRENDER

DEAL, DRAW, DEALER = range(3)  # what the next card is for
ENDS, LEAVES = -1, -2  # what a card may lead to instead of something undecided


class Undecided(NamedTuple):
    """What is undecided in a round; each field is a whole number.

    what: the next card is dealt, drawn by the hand, or drawn by the dealer. step: cards dealt; or whether the hand that
    draws is doubled. hand: its state; while the dealer draws, the worth of a hand that was never split, as a row of
    the payoff vectors. half, waiting, count: of split hands, as in `Seats`. need: what the hands that are over
    wait for. dealer, column, shown: the dealer's state, the column so far, his cards (two for two or more).
    """

    what: Any
    step: Any
    hand: Any
    half: Any
    waiting: Any
    count: Any
    need: Any
    dealer: Any
    column: Any
    shown: Any


@compiled(_nrt=False, forceinline=True)
def pack(it: Any) -> Any:
    """Something undecided as one word; `fold.py` refuses plans for which the fields are too narrow."""
    word = np.int64(it.what) | it.shown << 2 | it.need << 4 | it.step << 6 | it.count << 9 | it.waiting << 14
    return word | it.dealer << 19 | it.column << 27 | it.hand << 35 | it.half << 49


@compiled(_nrt=False, forceinline=True)
def unpack(word: Any) -> Any:
    """The inverse of `pack`."""
    return Undecided(
        word & 3, word >> 6 & 7, word >> 35 & 16383, word >> 49, word >> 14 & 31, word >> 9 & 31, word >> 4 & 3,
        word >> 19 & 255, word >> 27 & 255, word >> 2 & 3,
    )  # fmt: skip


@compiled(_nrt=False, forceinline=True)
def settle(plan: Any, logs: Any, it: Any, vector: Any) -> Any:
    """No hand is left to play; the last one is worth `vector`, by the dealer's outcome: he draws, or the round ends."""
    split = it.count > 1
    if (it.need > 0 and it.shown < 2) or (it.need == 2 and not plan.dealer_done[it.dealer]):
        byte = logs.hand_over[vector] if split else 0
        ev = 0 if split else vector
        return byte, pack(Undecided(DEALER, 0, ev, 0, 0, min(it.count, 2), it.need, it.dealer, 0, min(it.shown, 2)))
    outcome = plan.dealer_out[it.dealer]
    return (logs.end_split if split else logs.end)[vector, outcome], np.int64(ENDS)


@compiled(_nrt=False, forceinline=True)
def end_hand(plan: Any, logs: Any, it: Any, result: Any, doubled: Any) -> Any:
    """The hand is over with this result: a waiting half takes its place, or it was the last."""
    vector = logs.vector[result, doubled]
    need = max(it.need, plan.waits[result])
    if it.waiting:
        return logs.hand_over[vector], pack(
            Undecided(DRAW, 0, it.half, it.half, it.waiting - 1, it.count, need, it.dealer, it.column, it.shown)
        )
    return settle(plan, logs, Undecided(DRAW, 0, 0, 0, 0, it.count, need, it.dealer, it.column, it.shown), vector)


@compiled(_nrt=False, forceinline=True)
def decide(plan: Any, logs: Any, it: Any, ended: Any) -> Any:
    """The hand has its card: what the chart makes of it, unless the dealer's natural has ended the round."""
    limit = plan.numbers.max_hands
    code = 0 if it.step or ended else plan.act[0, 1 if it.count < limit else 0, it.hand, it.column]
    if code == SPLIT:
        if logs.splits_leave:
            return 0, np.int64(LEAVES)
        half = plan.half[it.hand]
        return 0, pack(
            Undecided(DRAW, 0, half, half, it.waiting + 1, it.count + 1, it.need, it.dealer, it.column, it.shown)
        )
    if code in (HIT, DOUBLE):
        half, count = (it.half, it.count) if it.waiting else (0, min(it.count, 2))  # it will not split again
        return 0, pack(
            Undecided(
                DRAW, int(code == DOUBLE), it.hand, half, it.waiting, count, it.need, it.dealer, it.column, it.shown
            )
        )
    return end_hand(plan, logs, it, plan.numbers.surrendered if code == SURRENDER else plan.result[it.hand], it.step)


@compiled(_nrt=False, forceinline=True)
def follow(plan: Any, logs: Any, it: Any, rank: Any) -> Any:
    """The card of this rank comes. Returns: the byte that is logged, and what it leads to."""
    hand, dealer, column, shown, step, ended = it.hand, it.dealer, it.column, it.shown, it.step, False
    if it.what == DEALER or (it.what == DEAL and plan.deal[step]):
        dealer = plan.dealer_add[dealer, rank]
        if it.what == DEAL:
            column += plan.column[shown, dealer]
        shown += 1
    else:
        hand = plan.add[hand, rank]
    if it.what == DEALER:
        return settle(plan, logs, Undecided(DEALER, 0, hand, 0, 0, it.count, it.need, dealer, 0, shown), hand)
    if it.what == DEAL:
        if step + 1 < len(plan.deal):
            return 0, pack(Undecided(DEAL, step + 1, hand, 0, 0, 1, 0, dealer, column, shown))
        step, ended = 0, plan.numbers.peek and plan.dealer_out[dealer] == plan.numbers.natural_outcome
    drawn = Undecided(DRAW, step, hand, it.half, it.waiting, it.count, it.need, dealer, column, shown)
    return decide(plan, logs, drawn, ended)
