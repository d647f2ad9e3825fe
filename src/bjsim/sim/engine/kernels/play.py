"""The compiled round: plays compiled rules (`compiled_rules.py`) with the cards of a shoe.

LLVM inlines the helpers (`forceinline`), because a call that passes a dozen arrays takes longer than its body: without
inlining the round takes nearly twice as long. Scalar arguments start as `np.int64`, because numba would compile another
version for a literal. `_nrt=False` (no allocation, no reference counts) also saves time; the caller of `play`
allocates. With `luck_model` None, numba leaves the luck out of the code, and with `ledger` None the finished hands.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bjsim.sim.engine.jit import compiled
from bjsim.sim.engine.kernels.layout import DOUBLE, HIT, RUNAWAY, SPLIT, SURRENDER
from bjsim.sim.engine.kernels.luck import (
    count_full,
    count_luck,
    end_block,
    finish_hand,
    note,
    note_dealer,
    note_dealt,
    note_split,
    settle,
    start_round,
)
from bjsim.sim.engine.kernels.payoff import count_payoff, split_payoff
from bjsim.sim.engine.kernels.shoe import begin_shuffle, draw

RAN_AWAY = -1


@compiled(_nrt=False, forceinline=True)
def clear(seats: Any) -> None:
    """Empty the hands for a new round."""
    for s in range(len(seats.hand)):
        seats.hand[s] = seats.pending[s] = 0
        seats.held[s] = seats.acting[s] = 1
        for o in range(seats.payoff.shape[1]):
            seats.payoff[s, o] = 0


@compiled(_nrt=False, forceinline=True)
def deal(compiled: Any, shoe: Any, seats: Any, luck_model: Any, ledger: Any) -> Any:
    """Deal. Returns: the dealer's state, the number of the dealer's cards, the chart's column, and the luck context."""
    dealer = shown = column = context = np.int64(0)
    for to_dealer in compiled.deal:
        if to_dealer:
            card = draw(shoe)
            if luck_model is not None:
                note_dealt(luck_model, ledger, context, seats, card)
                context = luck_model.context_add[context, card]
            dealer = compiled.dealer_add[dealer, card]
            column += compiled.column[shown, dealer]
            shown += 1
        else:
            for s in range(len(seats.hand)):
                card = draw(shoe)
                if luck_model is not None:
                    node = luck_model.hit[luck_model.chart[s], context, seats.hand[s]]
                    note(ledger, s, node, 1, card, 1)
                seats.hand[s] = compiled.add[seats.hand[s], card]
    return dealer, shown, column, context


@compiled(_nrt=False, forceinline=True)
def ends_round(compiled: Any, dealer: Any) -> Any:
    """Whether the dealer's hand, as dealt, ends the round before anyone acts."""
    return compiled.dealer_out[dealer] == compiled.numbers.ending_outcome


@compiled(_nrt=False, forceinline=True)
def second_card(compiled: Any, shoe: Any, seats: Any, s: Any, context: Any, luck_model: Any, ledger: Any) -> None:
    """Give a split hand its second card."""
    card = draw(shoe)
    if luck_model is not None:
        note_split(luck_model, ledger, context, seats, s, card)
    seats.hand[s] = compiled.add[seats.split_hand[s], card]


@compiled(_nrt=False, forceinline=True)
def risk_original_bet(compiled: Any, seats: Any, s: Any, luck_model: Any, ledger: Any) -> Any:
    """At a seat's first split, add what a dealer's natural takes. Returns: `CompiledRules.waits` of this bet."""
    end = compiled.numbers.original
    for o in range(seats.payoff.shape[1]):
        seats.payoff[s, o] += compiled.pay[end, 0, o]
    if ledger is not None:
        finish_hand(ledger, s, 2 * end)
    return compiled.waits[end]


@compiled(_nrt=False, forceinline=True)
def play_turn(
    compiled: Any, shoe: Any, seats: Any, s: Any, column: Any, context: Any, need: Any, luck_model: Any, ledger: Any
) -> Any:
    """Play a seat's turn: all its decisions, or one of them in round-robin order.

    column: -1 if the round has ended, and no hand may surrender early.

    Returns: the maximum of `CompiledRules.waits` over the finished hands, or RAN_AWAY.
    """
    moved = False
    while seats.acting[s]:
        if luck_model is not None:
            count_full(luck_model, ledger)
        hand = seats.hand[s]
        free = 1 if seats.held[s] < compiled.hand_limit[hand] else 0
        code = 0 if column < 0 else compiled.act[s, free, hand, column]
        if code and moved and compiled.numbers.round_robin:
            break  # the next decision belongs to another turn
        moved = moved or code != 0
        if code in (HIT, DOUBLE):
            card = draw(shoe)
            if luck_model is not None:
                nodes = luck_model.hit if code == HIT else luck_model.double
                note(ledger, s, nodes[luck_model.chart[s], context, hand], 1, card, 1)
            hand = compiled.add[hand, card]
        if code == HIT:
            seats.hand[s] = hand
            continue
        if code == SPLIT:
            seats.split_hand[s] = compiled.split_to[hand]
            seats.pending[s] += 1
            seats.held[s] += 1
            if compiled.numbers.original >= 0 and seats.held[s] == 2:
                need = max(need, risk_original_bet(compiled, seats, s, luck_model, ledger))
            if seats.held[s] > RUNAWAY:
                return RAN_AWAY
        else:
            doubled = 1 if code == DOUBLE else 0
            end = compiled.numbers.surrendered if code == SURRENDER else compiled.result[hand]
            if ledger is not None:
                finish_hand(ledger, s, 2 * end + doubled)
            need = max(need, compiled.waits[end])
            for o in range(seats.payoff.shape[1]):
                seats.payoff[s, o] += compiled.pay[end, doubled, o]
            if not seats.pending[s]:
                seats.acting[s] = 0
                break
            seats.pending[s] -= 1
            seats.split_hand[s] = compiled.pending[end, seats.split_hand[s]]
        second_card(compiled, shoe, seats, s, context, luck_model, ledger)
    return need


@compiled(_nrt=False, forceinline=True)
def insure(compiled: Any, seats: Any, luck_model: Any, ledger: Any) -> Any:
    """Take the seats' insurance bets. Returns: `CompiledRules.waits` of an insurance bet if there is one, else 0."""
    need, end = np.int64(0), compiled.numbers.insured
    for s in range(len(seats.hand)):
        if compiled.act[s, 1, seats.hand[s], compiled.act.shape[3] - 1]:
            need = compiled.waits[end]
            for o in range(seats.payoff.shape[1]):
                seats.payoff[s, o] += compiled.pay[end, 0, o]
            if luck_model is not None:
                finish_hand(ledger, s, 2 * end)
    return need


@compiled(_nrt=False, forceinline=True)
def play_seats(compiled: Any, shoe: Any, seats: Any, column: Any, context: Any, luck_model: Any, ledger: Any) -> Any:
    """Play all seats' hands. Returns: as `play_turn`."""
    need, acting = np.int64(0), True
    while acting:
        acting = False
        for s in range(len(seats.hand)):
            need = play_turn(compiled, shoe, seats, s, column, context, need, luck_model, ledger)
            if need == RAN_AWAY:
                return need
            acting = acting or seats.acting[s] != 0
    return need


@compiled(_nrt=False, forceinline=True)
def play_dealer(compiled: Any, shoe: Any, dealer: Any, shown: Any, need: Any, luck_model: Any, ledger: Any) -> Any:
    """Draw the dealer's later cards, if a finished hand waits for them. Returns: the dealer's state."""
    while need and (shown < 2 or (need == 2 and not compiled.dealer_done[dealer])):
        card = draw(shoe)
        if luck_model is not None:
            note_dealer(luck_model, ledger, dealer, card)
            count_full(luck_model, ledger)
        dealer = compiled.dealer_add[dealer, card]
        shown += 1
    return dealer


@compiled(_nrt=False, forceinline=True)
def pay(
    compiled: Any, seats: Any, outcome: Any, counts: Any, number: Any, overflow: Any, luck_model: Any, ledger: Any
) -> Any:
    """Count the seats' payoffs of round `number`. Returns: the number of rows in `counts.overflow`."""
    for s in range(len(seats.hand)):
        code = seats.payoff[s, outcome]
        overflow = count_payoff(counts, s, code, compiled.numbers.width, overflow)
        if luck_model is not None:
            units, tied = split_payoff(code)
            settle(luck_model, ledger, s, units, tied)
        if number < len(counts.trace):
            counts.trace[number, s] = code
    return overflow


@compiled(nogil=True, _nrt=False)
def play(compiled: Any, shoe: Any, rounds: Any, seats: Any, counts: Any, luck_model: Any, ledger: Any) -> Any:
    """Play rounds at one table.

    Args:
        compiled: The compiled rules, see `CompiledRules`.
        shoe: The cards, see `ShoeArrays`.
        rounds: The number of rounds.
        seats: The hands, see `Seats`.
        counts: The counts to add to, see `Counts`.
        luck_model: See `LuckModel`; or None, without luck adjustment.
        ledger: See `Ledger`; or None.

    Returns:
        The number of rows written to `counts.overflow`, or RAN_AWAY if a seat exceeded the limit on hands.
    """
    overflow = np.int64(0)
    for number in range(rounds):
        shuffled = shoe.size > 0 and shoe.read[0] >= compiled.numbers.cut
        if shuffled:
            begin_shuffle(shoe)
        if luck_model is not None:
            start_round(luck_model, ledger, rounds - number - 1, shuffled)
        clear(seats)
        dealer, shown, column, context = deal(compiled, shoe, seats, luck_model, ledger)
        ended = ends_round(compiled, dealer)
        insured = np.int64(0)
        if column == compiled.numbers.ace:
            insured = insure(compiled, seats, luck_model, ledger)
        if ended:
            column = compiled.ended_column[column]
        need = play_seats(compiled, shoe, seats, column, context, luck_model, ledger)
        if need == RAN_AWAY:
            return RAN_AWAY
        if not ended:
            dealer = play_dealer(compiled, shoe, dealer, shown, max(need, insured), luck_model, ledger)
        if luck_model is not None:
            count_luck(luck_model, ledger)
        overflow = pay(compiled, seats, compiled.dealer_out[dealer], counts, number, overflow, luck_model, ledger)
        if number < len(counts.trace):
            counts.trace[number, len(seats.hand)] = shoe.before[0] + shoe.read[0]
    if luck_model is not None:
        end_block(luck_model, ledger)
    return overflow
