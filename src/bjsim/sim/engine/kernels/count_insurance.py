"""Insurance of a counter: whether it is taken, and its expected profit (numba)."""

from __future__ import annotations

from typing import Any

import numpy as np

from bjsim.sim.engine.jit import compiled
from bjsim.sim.engine.kernels.counter import TEN, count_cards


@compiled(_nrt=False)
def expect_insurance(counter: Any) -> Any:
    """The expected profit of insurance before a round, in bets; exact, as nothing but three open cards decides.

    The cards are the dealer's ace and two of the seat; the hole card is a ten by its share of the unseen cards.
    """
    state, unseen = counter.state[0], counter.unseen
    if not counter.insurable[state.seen, state.running - counter.lowest]:
        return 0.0
    left = 0.0
    for q in range(len(unseen)):
        left += unseen[q]
    total = 0.0
    unseen[0] -= 1.0
    for one in range(len(unseen)):
        for two in range(one, len(unseen)):
            running = state.running + counter.tags[0] + counter.tags[one] + counter.tags[two]
            cell = state.cell if counter.before_round else counter.cells[state.seen + 3, running - counter.lowest]
            ways = unseen[one] * (unseen[two] if one < two else 0.5 * (unseen[two] - 1.0))
            if ways > 0.0 and counter.insures[cell]:
                tens = unseen[TEN] - (one == TEN) - (two == TEN)
                total += ways * (1.5 * tens / (left - 3.0) - 0.5)
    unseen[0] += 1.0
    return total * unseen[0] / left / (0.5 * (left - 1.0) * (left - 2.0))


@compiled(_nrt=False)
def insurance_value(counter: Any, aces: Any) -> Any:
    """The expected profit of insurance, in bets, given the unseen cards without this many aces."""
    left = -aces
    for q in range(len(counter.unseen)):
        left += counter.unseen[q]
    return 1.5 * counter.unseen[TEN] / left - 0.5


@compiled(_nrt=False)
def guess_insurance(counter: Any) -> Any:
    """The expected profit of insurance, in bets, if the next card is the dealer's ace and no other is seen."""
    state = counter.state[0]
    if counter.unseen[0] == 0.0:
        return 0.0
    running = state.running + counter.tags[0] - counter.lowest
    cell = state.cell if counter.before_round else counter.cells[state.seen + 1, running]
    return insurance_value(counter, 1.0) if counter.insures[cell] else 0.0


@compiled(_nrt=False)
def chance_of_ace(counter: Any) -> Any:
    """The probability that the dealer's open card is an ace, before a round."""
    left = 0.0
    for q in range(len(counter.unseen)):
        left += counter.unseen[q]
    return counter.unseen[0] / left


@compiled(_nrt=False, forceinline=True)
def foresee_insurance(counter: Any, hands: Any) -> Any:
    """The expected profit of insurance before a round of this many hands, in bets.

    Returns: the expected profit, and the guess on which it rests and that `judge_insurance` corrects; 0 if it is exact.
    """
    if hands == 1:
        return expect_insurance(counter), 0.0
    guess = guess_insurance(counter)
    return guess * chance_of_ace(counter), guess


@compiled(_nrt=False, forceinline=True)
def insure(counter: Any, shoe: Any, column: Any) -> Any:
    """Decide on insurance after the deal. Returns: its profit without a dealer's natural, in half bets on each spot."""
    cell = counter.state[0].cell if counter.before_round else count_cards(counter, shoe)
    return np.int64(-1 if column == counter.ace and counter.insures[cell] else 0)


@compiled(_nrt=False)
def judge_insurance(counter: Any, shoe: Any, column: Any, won: Any, guess: Any) -> Any:
    """What is known of insurance after the deal beyond the guess: the luck of the ace and of the hole card is out."""
    if column != counter.ace:
        return 0.0
    count_cards(counter, shoe)
    return (insurance_value(counter, 0.0) if won else 0.0) - guess
