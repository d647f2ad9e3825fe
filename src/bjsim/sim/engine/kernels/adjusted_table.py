"""Several seats by the round table, card by card, with the luck of every card."""

from __future__ import annotations

from typing import Any

import numpy as np

from bjsim.sim.engine.jit import compiled
from bjsim.sim.engine.kernels.row_luck import (
    close_shoe,
    deal_card,
    fill_shoe,
    log_hand,
    of_others_card,
    of_own_card,
    open_shoe,
    settle,
)
from bjsim.sim.engine.kernels.seats_table import note_split, pay
from bjsim.sim.engine.kernels.shoe import begin_shuffle, draw, shuffle
from bjsim.sim.engine.kernels.table_layout import LEAVES, LEFT_TABLE, OVER, ROW


@compiled(_nrt=False, forceinline=True)
def find_next(compiled: Any, seats: Any, opening: Any, drawn: Any, who: Any, forced: Any) -> Any:
    """Who gets the next card: in the deal, a seat that acts, or else the dealer, whose number is that of the seats."""
    count = len(seats.entry)
    if drawn < len(opening):
        return opening[drawn]
    first = np.int64(0)
    if compiled.numbers.round_robin and drawn > len(opening):  # the next seat, unless the last has decided nothing
        first = who if forced and not seats.entry[who] >> 31 else who + 1
    for k in range(first, first + count):
        s = k if k < count else k - count
        if not seats.entry[s] >> 31:
            return np.int64(s)
    return np.int64(count)


@compiled(_nrt=False, forceinline=True)
def take_card(seats: Any, luck: Any, who: Any, card: Any) -> Any:
    """Give a card to a seat or the dealer.

    Return whether the round is over for all seats, and whether the seat decides nothing before its next card.
    """
    count, over, forced, rank = len(seats.entry), np.int64(OVER), False, min(card, luck.outcome_after.shape[1] - 1)
    for s in range(count):
        entry = seats.entry[s]
        if entry & OVER:
            continue
        place = (entry & (OVER - 1)) >> 8
        if who in (s, count):
            luck.gone[s] += of_own_card(luck, s, place // ROW, rank)
            forced = seats.forced[place + card]
            entry = np.int64(seats.table[place + card])
            seats.entry[s] = entry
        else:
            luck.gone[s] += of_others_card(luck, s, place // ROW, rank)
        over &= entry
    deal_card(luck, rank)
    for s in range(count):
        if who in (s, count):
            note_hand(seats, luck, s)
    return over, forced


@compiled(_nrt=False, forceinline=True)
def note_hand(seats: Any, luck: Any, s: Any) -> None:
    """Note the payoffs of a split hand if a seat's last entry has its byte."""
    hand = ((seats.entry[s] & 255) >> 1) - len(seats.ends)
    if 0 <= hand < len(seats.hands):
        note_split(seats, s, seats.entry[s])
        log_hand(luck, s, hand)


@compiled(_nrt=False)
def part_shoes(shoe: Any, rounds: Any, luck: Any) -> None:
    """Close the sums of a shoe, and open those of the present one."""
    if luck.chunk[0] >= 0:
        close_shoe(luck)
    luck.chunk[0] = shoe.chunk[0]
    open_shoe(luck, shoe, rounds)


@compiled(nogil=True, _nrt=False)
def run_adjusted(
    compiled: Any, shoe: Any, rounds: Any, seats: Any, counts: Any, classes: Any, overflow: Any, opening: Any, luck: Any
) -> Any:
    """Play rounds at one table with a finite shoe, and count luck (see `RowLuck`), else like `run_seats`.

    `opening` is who gets the cards of the deal: seats, and their number for the dealer, int64.
    """
    cut = compiled.numbers.cut
    for number in range(rounds):
        if luck.chunk[0] != shoe.chunk[0]:  # the last round ran on into this shoe
            part_shoes(shoe, rounds - number, luck)
        if shoe.read[0] >= cut:
            begin_shuffle(shoe)
            shuffle(shoe, min((cut + 3) // 4 * 4, shoe.size))
            fill_shoe(luck)
            part_shoes(shoe, rounds - number, luck)
        for s in range(len(seats.entry)):
            seats.entry[s] = seats.start[s]
        drawn, who, forced, over = 0, np.int64(0), False, np.int64(0)
        while not over:
            who = find_next(compiled, seats, opening, drawn, who, forced)
            over, forced = take_card(seats, luck, who, np.int64(draw(shoe)))
            drawn += 1
        for s in range(len(seats.entry)):
            if seats.entry[s] & 255 == LEAVES:
                return np.int64(LEFT_TABLE)
            code, overflow = pay(compiled, seats, s, counts, classes, overflow)
            settle(luck, s, code)
    close_shoe(luck)
    return overflow
