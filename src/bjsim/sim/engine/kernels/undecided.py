"""The rounds of one seat as an automaton: the undecided states of a round, and the transition for each card.

An undecided state fits in one 64-bit word. `rows.py` follows the transitions over all possible cards.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bjsim.sim.engine.jit import compiled
from bjsim.sim.engine.kernels.layout import CHOICE, DOUBLE, HIT, SPLIT, SURRENDER
from bjsim.sim.engine.kernels.play import ends_round

DEAL, DRAW, DEALER, ASK = range(4)  # what the next card is for, or that the count decides which action is taken
ENDS, LEAVES = -1, -2  # what a card may lead to instead of an undecided state


class Undecided(NamedTuple):
    """An undecided state of a round; all fields are integers.

    Attributes:
        what: Purpose of the next card: DEAL, DRAW (by the hand) or DEALER; or ASK, where the code of an action takes
            the place of a card.
        step: Number of cards dealt, or whether the drawing hand is doubled.
        hand: State of the hand; while the dealer draws, the payoff vector of a hand that was never split.
        split_hand: See `Seats`.
        pending: See `Seats`.
        count: Number of the seat's hands.
        need: Maximum of `CompiledRules.waits` over the finished hands.
        dealer: The dealer's state.
        column: The column so far.
        shown: Number of the dealer's cards, at most two.
    """

    what: Any
    step: Any
    hand: Any
    split_hand: Any
    pending: Any
    count: Any
    need: Any
    dealer: Any
    column: Any
    shown: Any


@compiled(_nrt=False, forceinline=True)
def pack(state: Any) -> Any:
    """Pack a state into one word; `lookup_table.py` refuses compiled rules that exceed the fields."""
    word = (
        np.int64(state.what)
        | state.shown << 2
        | state.need << 4
        | state.step << 6
        | state.count << 9
        | state.pending << 14
    )
    return word | state.dealer << 19 | state.column << 27 | state.hand << 35 | state.split_hand << 49


@compiled(_nrt=False, forceinline=True)
def unpack(word: Any) -> Any:
    """Invert `pack`."""
    return Undecided(
        word & 3, word >> 6 & 7, word >> 35 & 16383, word >> 49, word >> 14 & 31, word >> 9 & 31, word >> 4 & 3,
        word >> 19 & 255, word >> 27 & 255, word >> 2 & 3,
    )  # fmt: skip


@compiled(_nrt=False, forceinline=True)
def settle(compiled: Any, logs: Any, state: Any, vector: Any) -> Any:
    """After the last hand, which has the payoff vector `vector`: the dealer draws, or the round ends."""
    split = state.count > 1
    if (state.need > 0 and state.shown < 2) or (state.need == 2 and not compiled.dealer_done[state.dealer]):
        byte = logs.hand_over[vector] if split else 0
        hand = 0 if split else vector
        return byte, pack(
            Undecided(DEALER, 0, hand, 0, 0, min(state.count, 2), state.need, state.dealer, 0, min(state.shown, 2))
        )
    outcome = compiled.dealer_out[state.dealer]
    return (logs.end_split if split else logs.end)[vector, outcome], np.int64(ENDS)


@compiled(_nrt=False, forceinline=True)
def end_hand(compiled: Any, logs: Any, state: Any, result: Any, doubled: Any) -> Any:
    """End the hand with this result: a pending split hand follows, or it was the last."""
    vector = logs.vector[result, doubled]
    need = max(state.need, compiled.waits[result])
    if state.pending:
        split_hand = compiled.pending[result, state.split_hand]
        return logs.hand_over[vector], pack(
            Undecided(
                DRAW,
                0,
                split_hand,
                split_hand,
                state.pending - 1,
                state.count,
                need,
                state.dealer,
                state.column,
                state.shown,
            )
        )
    return settle(
        compiled, logs, Undecided(DRAW, 0, 0, 0, 0, state.count, need, state.dealer, state.column, state.shown), vector
    )


@compiled(_nrt=False, forceinline=True)
def decide(compiled: Any, logs: Any, state: Any, ended: Any) -> Any:
    """Apply the chart's decision on a hand after a card; if the dealer's natural ended the round, only a surrender."""
    limit = compiled.hand_limit[state.hand]
    column = compiled.ended_column[state.column] if ended else state.column
    code = 0 if state.step or column < 0 else compiled.act[0, 1 if state.count < limit else 0, state.hand, column]
    if code >= CHOICE:
        asks = Undecided(
            ASK, 0, state.hand, state.split_hand, state.pending, state.count, state.need, state.dealer, column,
            state.shown,
        )  # fmt: skip
        return 0, pack(asks)
    return apply(compiled, logs, state, code)


@compiled(_nrt=False, forceinline=True)
def answer(compiled: Any, logs: Any, state: Any, code: Any) -> Any:
    """Apply the action that the current chart takes. A code of no action gives the number of the choice instead."""
    choice = compiled.act[0, 1 if state.count < compiled.hand_limit[state.hand] else 0, state.hand, state.column]
    if code > SURRENDER:
        return choice // CHOICE - 1, np.int64(ENDS)
    if choice >> code & 1:
        return apply(compiled, logs, state, code)
    return 0, np.int64(ENDS)  # no chart takes it


@compiled(_nrt=False, forceinline=True)
def apply(compiled: Any, logs: Any, state: Any, code: Any) -> Any:
    """Apply an action to a hand."""
    if code == SPLIT:
        if logs.splits_leave:
            return 0, np.int64(LEAVES)
        split_hand, byte, need = compiled.split_to[state.hand], np.int64(0), state.need
        if compiled.numbers.original >= 0 and state.count == 1:
            byte, need = logs.hand_over[logs.vector[compiled.numbers.original, 0]], max(need, np.int64(1))
        return byte, pack(
            Undecided(
                DRAW,
                0,
                split_hand,
                split_hand,
                state.pending + 1,
                state.count + 1,
                need,
                state.dealer,
                state.column,
                state.shown,
            )
        )
    if code in (HIT, DOUBLE):
        split_hand, count = (
            (state.split_hand, state.count) if state.pending else (0, min(state.count, 2))
        )  # it cannot split again
        return 0, pack(
            Undecided(
                DRAW,
                int(code == DOUBLE),
                state.hand,
                split_hand,
                state.pending,
                count,
                state.need,
                state.dealer,
                state.column,
                state.shown,
            )
        )
    return end_hand(
        compiled,
        logs,
        state,
        compiled.numbers.surrendered if code == SURRENDER else compiled.result[state.hand],
        state.step,
    )


@compiled(_nrt=False, forceinline=True)
def follow(compiled: Any, logs: Any, state: Any, rank: Any) -> Any:
    """Compute the transition for a card. Returns: the logged byte, and the next state, ENDS or LEAVES."""
    if state.what == ASK:
        return answer(compiled, logs, state, rank)
    hand, dealer, column, shown, step, ended = state.hand, state.dealer, state.column, state.shown, state.step, False
    if state.what == DEALER or (state.what == DEAL and compiled.deal[step]):
        dealer = compiled.dealer_add[dealer, rank]
        if state.what == DEAL:
            column += compiled.column[shown, dealer]
        shown += 1
    else:
        hand = compiled.add[hand, rank]
    if state.what == DEALER:
        return settle(compiled, logs, Undecided(DEALER, 0, hand, 0, 0, state.count, state.need, dealer, 0, shown), hand)
    if state.what == DEAL:
        offered = step + 1 == len(compiled.deal) and column == compiled.numbers.ace
        if offered and compiled.act[0, 1, hand, compiled.act.shape[3] - 1]:
            return 0, np.int64(LEAVES)  # insured
        if step + 1 < len(compiled.deal):
            return 0, pack(Undecided(DEAL, step + 1, hand, 0, 0, 1, 0, dealer, column, shown))
        step, ended = 0, ends_round(compiled, dealer)
    drawn = Undecided(DRAW, step, hand, state.split_hand, state.pending, state.count, state.need, dealer, column, shown)
    return decide(compiled, logs, drawn, ended)
