"""Luck: the value after each card minus its expectation before the card (see `luck_model.py`).

A round records its draws in the ledger. Their luck is computed later, many draws at a time, and subtracted from the
seats' profit.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bjsim.sim.engine.jit import compiled
from bjsim.sim.engine.kernels.layout import NOTES
from bjsim.sim.engine.kernels.surprise import remove_card, surprise


@compiled(_nrt=False)
def fresh_shoe(luck_model: Any, ledger: Any, rounds: Any) -> None:
    """Begin a full shoe, in which at most `rounds` rounds will start."""
    state = ledger.state[0]
    state.left = 0.0
    for q in range(len(luck_model.full)):
        ledger.counts[q] = luck_model.full[q]
        state.left += luck_model.full[q]
    if not ledger.finite:
        state.left = 1.0
    state.started = state.passed = 0
    state.next = state.left - ledger.step
    state.most = min(ledger.depths, np.int64(rounds / ledger.rounds_per_depth))


@compiled(_nrt=False, forceinline=True)
def drift(luck_model: Any, ledger: Any, depths: Any) -> None:
    """Subtract the drift of the present composition, weighted for this number of depths."""
    for s in range(len(luck_model.chart)):
        slope = 0.0
        for q in range(len(luck_model.full)):
            slope += luck_model.start[luck_model.chart[s], q] * ledger.counts[q]
        ledger.profit[s] -= depths * ledger.rounds_per_depth * slope / ledger.state[0].left


@compiled(_nrt=False)
def pass_depth(luck_model: Any, ledger: Any) -> None:
    """Take the drift at a depth, unless enough depths were passed."""
    state = ledger.state[0]
    state.next -= ledger.step
    if state.passed < state.most:
        state.passed += 1
        drift(luck_model, ledger, 1.0)


@compiled(_nrt=False, forceinline=True)
def start_round(luck_model: Any, ledger: Any, later: Any, shuffled: Any) -> None:
    """Begin a round, after which `later` more follow. shuffled: whether the shoe was shuffled before it."""
    if shuffled:
        put_away(luck_model, ledger, later + 1)
    ledger.state[0].later = later
    if ledger.state[0].started == 0 or not ledger.finite:
        close_shoe(ledger)
    ledger.state[0].started = 1
    for s in range(len(ledger.different)):
        for i in range(ledger.different[s]):
            ledger.finished[s, ledger.kinds[s, i]] = 0
        ledger.different[s] = 0


@compiled(_nrt=False)
def put_away(luck_model: Any, ledger: Any, rounds: Any) -> None:
    """End a shoe, whose last drift is that of all depths that it did not reach, and begin another."""
    lacking = ledger.state[0].most - ledger.state[0].passed
    if lacking > 0:
        drift(luck_model, ledger, np.float64(lacking))
    fresh_shoe(luck_model, ledger, rounds)


@compiled(_nrt=False)
def end_block(luck_model: Any, ledger: Any) -> None:
    """End a block of rounds."""
    put_away(luck_model, ledger, np.int64(0))
    close_shoe(ledger)


@compiled(_nrt=False, forceinline=True)
def close_shoe(ledger: Any) -> None:
    """Add the rounds of one shoe to the sums: rounds of a shoe depend on each other, shoes do not."""
    if ledger.state[0].played == 0:
        return
    ledger.state[0].played = 0
    for s in range(len(ledger.profit)):
        y, b = ledger.profit[s], ledger.bets[s]
        ledger.sums[s, 0] += 1
        ledger.sums[s, 1] += y
        ledger.sums[s, 2] += b
        ledger.sums[s, 3] += y * y
        ledger.sums[s, 4] += y * b
        ledger.sums[s, 5] += b * b
        ledger.profit[s] = ledger.bets[s] = 0.0


@compiled(_nrt=False, forceinline=True)
def note(ledger: Any, seat: Any, node: Any, times: Any, card: Any, last: Any) -> None:
    """Record a draw; see DRAW."""
    draw = ledger.draws[ledger.state[0].noted]
    draw.seat = seat
    draw.node = node
    draw.times = times
    draw.card = card
    draw.last = last
    ledger.state[0].noted += 1


@compiled(_nrt=False, forceinline=True)
def note_dealt(luck_model: Any, ledger: Any, context: Any, seats: Any, card: Any) -> None:
    """Record a card dealt to the dealer before the seats act."""
    for s in range(len(luck_model.chart)):
        node = luck_model.dealt[luck_model.chart[s], context, seats.hand[s]]
        note(ledger, s, node, 1, card, s == len(luck_model.chart) - 1)


@compiled(_nrt=False, forceinline=True)
def split_depth(seats: Any, s: Any, most: Any) -> Any:
    """The number of hands of a seat, at most `most`, and how many of these wait for their second card."""
    held = min(seats.held[s], most)
    return held, min(seats.pending[s], held - 1)


@compiled(_nrt=False, forceinline=True)
def note_split(luck_model: Any, ledger: Any, context: Any, seats: Any, s: Any, card: Any) -> None:
    """Record the second card of a split hand."""
    split = luck_model.split[luck_model.chart[s], context, seats.split_hand[s]]
    held, waiting = split_depth(seats, s, split.shape[0] + 1)
    note(ledger, s, split[held - 2, waiting], 1, card, 1)


@compiled(_nrt=False, forceinline=True)
def finish_hand(ledger: Any, s: Any, kind: Any) -> None:
    """Record a finished hand. kind: twice its result, plus 1 if doubled."""
    if ledger.finished[s, kind] == 0:
        ledger.kinds[s, ledger.different[s]] = kind
        ledger.different[s] += 1
    ledger.finished[s, kind] += 1


@compiled(_nrt=False, forceinline=True)
def note_dealer(luck_model: Any, ledger: Any, dealer: Any, card: Any) -> None:
    """Record one of the dealer's later cards, which counts for all finished hands."""
    for s in range(len(luck_model.chart)):
        for i in range(ledger.different[s]):
            kind = ledger.kinds[s, i]
            node = luck_model.dealer[luck_model.chart[s], dealer, kind >> 1, kind & 1]
            note(ledger, s, node, ledger.finished[s, kind], card, 0)
    note(ledger, 0, 0, 0, card, 1)


@compiled(_nrt=False, forceinline=True)
def count_luck(luck_model: Any, ledger: Any) -> None:
    """Subtract the luck of the recorded draws from the seats' profit, and remove the cards from the shoe's counts."""
    state, counts = ledger.state[0], ledger.counts
    for i in range(state.noted):
        draw = ledger.draws[i]
        if state.left == 0.0:  # a shoe that runs out during a round is replaced by a fresh one
            put_away(luck_model, ledger, state.later)
        node, card = draw.node, min(draw.card, len(luck_model.full) - 1)
        if draw.times:
            ledger.profit[draw.seat] -= draw.times * surprise(
                luck_model.ev[node], luck_model.own[node], luck_model.slopes[node], counts, state.left, card
            )
        if draw.last and ledger.finite:
            remove_card(counts, card)
            state.left -= 1.0
            if state.left == state.next:
                pass_depth(luck_model, ledger)
    state.noted = 0


@compiled(_nrt=False)
def count_early(luck_model: Any, ledger: Any) -> None:
    """`count_luck` during a round, which is rare and therefore not inlined."""
    count_luck(luck_model, ledger)


@compiled(_nrt=False, forceinline=True)
def count_full(luck_model: Any, ledger: Any) -> None:
    """Compute the luck recorded so far if the array of draws is nearly full."""
    if ledger.state[0].noted > NOTES:
        count_early(luck_model, ledger)


@compiled(_nrt=False, forceinline=True)
def settle(luck_model: Any, ledger: Any, s: Any, units: Any, tied: Any) -> None:
    """Add a seat's profit above the value of its settled bets; a replayed bet has the value of the game."""
    value = luck_model.value[luck_model.chart[s]]
    ledger.profit[s] += units * ledger.bet - (1 - tied) * value
    ledger.bets[s] += 1 - tied
    ledger.state[0].played = 1
