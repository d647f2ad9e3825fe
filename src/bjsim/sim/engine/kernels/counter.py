"""The count of the cards seen, and the current chart (numba)."""

from __future__ import annotations

from typing import Any

import numpy as np

from bjsim.sim.engine.jit import compiled
from bjsim.sim.engine.kernels.layout import SPLIT, SURRENDER
from bjsim.sim.engine.kernels.luck import split_depth

TEN = 9  # the first ten-valued rank


@compiled(_nrt=False, forceinline=True)
def follow_shoe(counter: Any, shoe: Any) -> None:
    """Restart the count if the shoe was shuffled."""
    state = counter.state[0]
    if state.chunk != shoe.chunk[0]:
        state.chunk = shoe.chunk[0]
        state.running = counter.initial
        state.seen = state.read = 0
        state.hole = -1
        for q in range(len(counter.full)):
            counter.unseen[q] = counter.full[q]


@compiled(_nrt=False, forceinline=True)
def turn_over(counter: Any, card: Any) -> None:
    """Count a card."""
    counter.state[0].running += counter.tags[card]
    counter.state[0].seen += 1
    counter.unseen[min(card, TEN)] -= 1.0


@compiled(_nrt=False, forceinline=True)
def count_cards(counter: Any, shoe: Any) -> Any:
    """Count the cards turned over since the last call. Returns: the cell of the count."""
    follow_shoe(counter, shoe)
    state = counter.state[0]
    for i in range(state.read, shoe.read[0]):
        if i != state.hole:
            turn_over(counter, shoe.cards[i])
    state.read = shoe.read[0]
    return counter.cells[state.seen, state.running - counter.lowest]


@compiled(_nrt=False, forceinline=True)
def bet_bucket(counter: Any, seen: Any, running: Any, aces: Any) -> Any:
    """The bucket of the count for bets, with this many cards seen and aces unseen."""
    return np.int64(counter.buckets[seen, running + counter.side_aces * np.int64(aces) - counter.lowest_bet])


@compiled(_nrt=False, forceinline=True)
def hide_hole_card(counter: Any, shoe: Any, hands: Any) -> None:
    """Note where the hole card is, right after the deal. A card of the shoe before this one is not counted any more."""
    follow_shoe(counter, shoe)
    if counter.after >= 0:
        counter.state[0].hole = max(shoe.read[0] - 1 - counter.after * hands, -1)


@compiled(_nrt=False, forceinline=True)
def show_hole_card(counter: Any, shoe: Any) -> None:
    """Count the hole card, which is shown at the end of the round at the latest."""
    count_cards(counter, shoe)
    state = counter.state[0]
    if state.hole >= 0:
        turn_over(counter, shoe.cards[state.hole])
        state.hole = -1


@compiled(_nrt=False, forceinline=True)
def chart_in_force(counter: Any, shoe: Any, seat: Any) -> Any:
    """The chart by which a seat decides now, as an index into `CompiledRules.act`."""
    if seat < counter.seat:
        return counter.other
    if counter.before_round:
        return counter.chart[counter.state[0].cell]
    return counter.chart[count_cards(counter, shoe)]


@compiled(_nrt=False)
def action_value(counter: Any, seats: Any, seat: Any, hand: Any, context: Any, code: Any, model: Any) -> Any:
    """Value of an action with a hand against a known dealer's hand."""
    row = counter.row[hand]
    if code != SPLIT:
        return counter.actions[model, row, context, code]
    held, waiting = split_depth(seats, seat, counter.splits.shape[3])
    return counter.splits[model, row, context, held - 1, waiting]


@compiled(_nrt=False)
def judge_choice(
    counter: Any, shoe: Any, seats: Any, seat: Any, hand: Any, column: Any, code: Any, usual: Any, luck_model: Any,
    ledger: Any,
) -> None:  # fmt: skip
    """Take out the luck of the hole card where another action is taken than by the chart of the luck model.

    The luck model knows the hole card, given which two actions of about the same value differ much. The difference less
    its expectation over the hole cards that are possible for those who see the open cards has mean 0.
    """
    count_cards(counter, shoe)
    if counter.state[0].hole < 0:
        return
    here, mean, weight = 0.0, 0.0, 0.0
    for q in range(len(counter.unseen)):
        context = luck_model.context_add[counter.context[column], q]
        taken = action_value(counter, seats, seat, hand, context, code, luck_model.chart[seat])
        difference = taken - action_value(counter, seats, seat, hand, context, usual, luck_model.chart[seat])
        if min(shoe.cards[counter.state[0].hole], TEN) == q:
            here = difference
        if not counter.ends[context]:
            mean += counter.unseen[q] * difference
            weight += counter.unseen[q]
    ledger.profit[seat] -= here - mean / weight


@compiled(_nrt=False, forceinline=True)
def is_early_surrender(compiled: Any, column: Any, one: Any, other: Any) -> Any:
    """Whether a choice between two actions is made before the dealer peeks, when a natural is still possible."""
    if column >= len(compiled.ended_column):
        return True
    return compiled.ended_column[column] >= 0 and (one == SURRENDER or other == SURRENDER)


@compiled(_nrt=False, forceinline=True)
def choose(
    compiled: Any, counter: Any, shoe: Any, seats: Any, s: Any, free: Any, column: Any, luck_model: Any, ledger: Any
) -> Any:
    """The code of the action that a seat takes at the present count. free: whether it may split."""
    if column < 0:
        return np.int64(0)
    hand = seats.hand[s]
    code = compiled.act[chart_in_force(counter, shoe, s), free, hand, column]
    if luck_model is not None and s >= counter.seat:
        model = luck_model.chart[s]
        usual = compiled.act[counter.model_chart[model], free, hand, column]
        if free and seats.held[s] > 1 and counter.resplits[model, hand]:
            usual = SPLIT
        if usual != code and not is_early_surrender(compiled, column, code, usual):
            judge_choice(counter, shoe, seats, s, hand, column, code, usual, luck_model, ledger)
    return code
