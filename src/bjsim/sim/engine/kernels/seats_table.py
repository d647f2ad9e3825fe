"""Several seats by the round table: every seat walks the table of its chart over its own cards and the dealer's.

After the deal each seat is in the row that it would be in alone with the dealer. It draws its cards there, and waits in
a row where the dealer draws; then each of the dealer's cards is a step for all seats that wait.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bjsim.sim.engine.jit import compiled
from bjsim.sim.engine.kernels.payoff import count_payoff
from bjsim.sim.engine.kernels.shoe import begin_shuffle, draw, shuffle
from bjsim.sim.engine.kernels.table_layout import LEAVES, LEFT_TABLE, OVER


@compiled(_nrt=False, forceinline=True)
def step(seats: Any, entry: Any, card: Any) -> Any:
    """The entry of a card in the row that an entry leads to."""
    return np.int64(seats.table[((entry & (OVER - 1)) >> 8) + card])


@compiled(_nrt=False, forceinline=True)
def deal(compiled: Any, shoe: Any, seats: Any) -> None:
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
    """Note the payoffs of a split hand if an entry has its byte. A round may have any number of them."""
    hand = ((entry & 255) >> 1) - len(seats.ends)
    if 0 <= hand < len(seats.hands):
        for outcome in range(seats.hands.shape[1]):
            seats.split[s, outcome] += seats.hands[hand, outcome]
        seats.splits[s] = 1


@compiled(_nrt=False, forceinline=True)
def find_acting(seats: Any) -> Any:
    """List the seats that draw cards in this round. Returns: their number."""
    n = np.int64(0)
    for s in range(len(seats.entry)):
        note_split(seats, s, seats.entry[s])  # of the bet that a dealer's natural takes after splits
        seats.acting[n] = s
        n += 1 - (seats.entry[s] >> 31)
    return n


@compiled(_nrt=False, forceinline=True)
def act(shoe: Any, seats: Any, n: Any) -> None:
    """Play the turns of all seats that draw cards.

    After a card, the bit ACTED (>> 31) is added to the position of the seat in play: the processor could not predict a
    branch at the end of a turn.
    """
    i = np.int64(0)
    while i < n:
        s = seats.acting[i]
        entry = step(seats, seats.entry[s], np.int64(draw(shoe)))
        note_split(seats, s, entry)
        seats.entry[s] = entry
        i += entry >> 31


@compiled(_nrt=False, forceinline=True)
def act_in_turns(shoe: Any, seats: Any, n: Any) -> None:
    """Play one decision of each seat that draws cards, and again until none does."""
    while n:
        left = np.int64(0)
        for i in range(n):
            s, forced = seats.acting[i], True
            while forced and not seats.entry[s] >> 31:
                card, row = np.int64(draw(shoe)), (seats.entry[s] & (OVER - 1)) >> 8
                forced = seats.forced[row + card]
                seats.entry[s] = np.int64(seats.table[row + card])
                note_split(seats, s, seats.entry[s])
            seats.acting[left] = s
            left += 1 - (seats.entry[s] >> 31)
        n = left


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
def pay(compiled: Any, seats: Any, s: Any, counts: Any, classes: Any, overflow: Any) -> Any:
    """Count a seat's payoff. Returns: its code, and the number of rows in `counts.overflow`."""
    end = (seats.entry[s] & 255) >> 1
    code = seats.ends[end, 0]
    if seats.splits[s] == 0:
        classes[s, end] += 1
        return code, overflow
    code += seats.split[s, seats.ends[end, 1]]
    seats.split[s] = 0
    seats.splits[s] = 0
    return code, count_payoff(counts, s, code, compiled.numbers.width, overflow)


@compiled(nogil=True, _nrt=False)
def run_seats(compiled: Any, shoe: Any, rounds: Any, seats: Any, counts: Any, classes: Any, overflow: Any) -> Any:
    """Play rounds at one table; return `overflow`, the rows in `counts.overflow`, or LEFT_TABLE.

    `classes`, int64 (seats, E), are frequencies of the ends of rounds without splits; payoffs of the others
    and the trace go to `counts`. See `CompiledRules`, `ShoeArrays`, `TableSeats` and `Counts`.
    """
    cut = compiled.numbers.cut
    for number in range(rounds):
        if shoe.size > 0 and shoe.read[0] >= cut:
            begin_shuffle(shoe)
            shuffle(shoe, min((cut + 3) // 4 * 4, shoe.size))
        deal(compiled, shoe, seats)
        acting = find_acting(seats)
        if compiled.numbers.round_robin:
            act_in_turns(shoe, seats, acting)
        else:
            act(shoe, seats, acting)
        draw_dealer(shoe, seats)
        for s in range(len(seats.entry)):
            if seats.entry[s] & 255 == LEAVES:
                return np.int64(LEFT_TABLE)
            code, overflow = pay(compiled, seats, s, counts, classes, overflow)
            if number < len(counts.trace):
                counts.trace[number, s] = code
        if number < len(counts.trace):
            counts.trace[number, len(seats.entry)] = shoe.before[0] + shoe.read[0]
    return overflow
