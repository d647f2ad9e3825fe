"""Several seats by the lookup table: every seat walks the table of its chart over its own cards and the dealer's.

After the deal each seat is in the row that it would be in alone with the dealer. It draws its cards there, and waits in
a row in which the dealer draws; then each of the dealer's cards is a step for all seats that wait.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bjsim.sim.engine.jit import compiled
from bjsim.sim.engine.kernels.payoff import split_payoff
from bjsim.sim.engine.kernels.shoe import begin_shuffle, draw, shuffle
from bjsim.sim.engine.kernels.table_layout import OVER


@compiled(_nrt=False, forceinline=True)
def step(seats: Any, entry: Any, card: Any) -> Any:
    """The entry of a card in the row that an entry leads to."""
    return np.int64(seats.table[((entry & (OVER - 1)) >> 8) + card])


@compiled(_nrt=False, forceinline=True)
def deal(compiled: Any, shoe: Any, seats: Any) -> None:
    """Deal a round."""
    for s in range(len(seats.entry)):
        seats.entry[s] = seats.start[s]
    for to_dealer in compiled.deal:
        card = np.int64(0)
        if to_dealer:
            card = np.int64(draw(shoe))
        for s in range(len(seats.entry)):
            if not to_dealer:
                card = np.int64(draw(shoe))
            seats.entry[s] = step(seats, seats.entry[s], card)


@compiled(_nrt=False, forceinline=True)
def note_split(seats: Any, s: Any, entry: Any) -> None:
    """Note the byte of an entry if it is that of a split hand."""
    hand = ((entry & 255) >> 1) - len(seats.ends)
    if hand >= 0:
        seats.split[s, seats.splits[s]] = hand
        seats.splits[s] += 1


@compiled(_nrt=False, forceinline=True)
def act(shoe: Any, seats: Any) -> None:
    """Play the turns of all seats that draw cards.

    After a card, the bit ACTED (>> 31) is added to the position of the seat in play: the processor could not predict a
    branch at the end of a turn.
    """
    n, i = np.int64(0), np.int64(0)
    for s in range(len(seats.entry)):
        note_split(seats, s, seats.entry[s])  # of the bet that a dealer's natural takes, see `risk_original_bet`
        seats.acting[n] = s
        n += 1 - (seats.entry[s] >> 31)
    while i < n:
        s = seats.acting[i]
        entry = step(seats, seats.entry[s], np.int64(draw(shoe)))
        note_split(seats, s, entry)
        seats.entry[s] = entry
        i += entry >> 31


@compiled(_nrt=False, forceinline=True)
def draw_dealer(shoe: Any, seats: Any) -> None:
    """Draw the dealer's cards that the seats wait for."""
    over = np.int64(OVER)
    for s in range(len(seats.entry)):
        over &= seats.entry[s]
    while not over:
        card, over = np.int64(draw(shoe)), np.int64(OVER)
        for s in range(len(seats.entry)):
            entry = seats.entry[s]
            later = step(seats, entry, card)
            entry = entry if entry & OVER else later
            seats.entry[s] = entry
            over &= entry


@compiled(_nrt=False, forceinline=True)
def pay(compiled: Any, seats: Any, s: Any, counts: Any, classes: Any) -> Any:
    """Count a seat's payoff. Returns: its code."""
    end = (seats.entry[s] & 255) >> 1
    code = seats.ends[end, 0]
    if seats.splits[s] == 0:
        classes[s, end] += 1
        return code
    for k in range(seats.splits[s]):
        code += seats.hands[seats.split[s, k], seats.ends[end, 1]]
    seats.splits[s] = 0
    units, tied = split_payoff(code)
    counts.dense[s, tied, units + compiled.numbers.width] += 1
    return code


@compiled(nogil=True, _nrt=False)
def run_seats(compiled: Any, shoe: Any, rounds: Any, seats: Any, counts: Any, classes: Any) -> None:
    """Play rounds at one table.

    Args:
        compiled: The compiled rules, see `CompiledRules`.
        shoe: The cards, see `ShoeArrays`.
        rounds: The number of rounds.
        seats: See `TableSeats`.
        counts: The counts to add payoffs of rounds with splits to, and the trace, see `Counts`.
        classes: Frequencies of the ends of rounds without splits, int64 (seats, E).
    """
    cut = compiled.numbers.cut
    for number in range(rounds):
        if shoe.size > 0 and shoe.read[0] >= cut:
            begin_shuffle(shoe)
            shuffle(shoe, min((cut + 3) // 4 * 4, shoe.size))
        deal(compiled, shoe, seats)
        act(shoe, seats)
        draw_dealer(shoe, seats)
        for s in range(len(seats.entry)):
            code = pay(compiled, seats, s, counts, classes)
            if number < len(counts.trace):
                counts.trace[number, s] = code
        if number < len(counts.trace):
            counts.trace[number, len(seats.entry)] = shoe.before[0] + shoe.read[0]
