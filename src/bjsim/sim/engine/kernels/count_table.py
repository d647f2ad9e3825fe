"""One counting player by the round table, card by card, with the luck of every card: as `luck_lanes.py`, to the bit."""

from __future__ import annotations

from typing import Any

import numpy as np

from bjsim.sim.engine.jit import compiled
from bjsim.sim.engine.kernels.count_deck import (
    ACE,
    add_depths,
    card_at,
    deal_card,
    fill_shoe,
    find_buckets,
    next_shoe,
)
from bjsim.sim.engine.kernels.count_layout import (
    ASKED,
    FLAGS,
    INSURANCE,
    LEFT,
    LOGGED,
    PROFIT,
    ROUNDS,
    SPLITS,
    SQUARES,
)
from bjsim.sim.engine.kernels.count_surprise import TEN, foresee, judge, move_shadows, weigh_card
from bjsim.sim.engine.kernels.layout import TIED
from bjsim.sim.engine.kernels.table_layout import ROW


@compiled(_nrt=False)
def find_cell(deck: Any, counter: Any, hole: Any, begin: Any, p: Any) -> Any:
    """The cell of the count by which a choice is made after p cards; the card at `hole`, -1 if none, is not seen."""
    if counter.before_round:
        return np.int64(counter.cells[begin, deck.running[0, begin] - counter.lowest])
    shoe = (p - 1) // deck.size
    seen = p - shoe * deck.size
    running = np.int64(deck.running[shoe, seen])
    if hole >= 0 and hole // deck.size == shoe:
        running -= counter.tags[card_at(deck, hole)]
        seen -= 1
    return np.int64(counter.cells[seen, running - counter.lowest])


@compiled(_nrt=False)
def note(rows: Any, pay: Any, split: Any, logged: Any, log: Any) -> Any:
    """Note the end of a split hand that others follow, or find the payoff code of the round, which is over."""
    ends = len(rows.ends)
    if log <= ends:
        return rows.ends[log - 1, 0] + split[rows.ends[log - 1, 1]]
    for o in range(len(split)):
        split[o] += rows.hands[log - ends - 1, o]
        logged[o] += pay[log - ends, o]
    return np.int64(0)


@compiled(_nrt=False)
def tally(quanta: Any, bucket: Any, code: Any, won: Any, luck: Any, expected: Any, raw: Any, now: Any) -> None:
    """Add up a round as `CountTable` does; `quanta` are `times`, `half` and `bet` of the table."""
    times, half, bet = quanta
    bets = (code + TIED // 2) >> 32
    units = code - (bets << 32)
    profit = units * times + won * half
    raw[bucket, 0] += 1
    raw[bucket, 1] += profit
    raw[bucket, 2] += profit * profit
    raw[bucket, 3] += bets * 2 * half + half * (won != 0)
    raw[bucket, 4] += won != 0
    raw[bucket, 5] += won
    now[ROUNDS, bucket] += 1.0
    now[PROFIT, bucket] += units * bet - luck + expected
    now[SQUARES, bucket] += profit * profit
    now[INSURANCE, bucket] += expected


@compiled(_nrt=False, forceinline=True)
def play_round(w: Any, begin: Any, bucket: Any, raw: Any, now: Any) -> Any:
    """Play a round. Returns: the cards up to its end, or ENDLESS_ROUND."""
    deck, rows, counter = w.deck, w.rows, w.counter
    model, luck, expected, code, split, insured = w.luck.model[bucket], 0.0, 0.0, np.int64(0), False, False
    hides, insurable, hole = w.hole >= 0, counter.ace >= 0, begin + w.hole if w.hole >= 0 else -1
    sure = insurable and w.adjusted and w.luck.left[0] >= w.needed
    if sure:
        running = deck.running[0, begin] - counter.lowest
        if counter.insurable[begin, running]:
            expected = foresee(counter, w.luck, w.unseen, running, begin)
    row, p, shadows, entry = np.int64(0), begin, begin, np.uint32(0)
    while True:
        card = card_at(deck, p)
        if card < 0:
            return card
        if w.adjusted:
            rank = min(card, w.luck.ranks - 1)
            surprise = weigh_card(w.luck, model, row // ROW, rank, False)
            luck += surprise
            if split or entry & SPLITS:
                luck += weigh_card(w.luck, model, row // ROW, rank, True) - surprise
            deal_card(w.luck.full, w.luck.counts, w.luck.left, rank)
        place = row + card
        p += 1
        while True:  # a card, and the answers after it
            entry = rows.entries[place]
            row = np.int64(entry >> FLAGS)
            if entry & LOGGED:
                code = note(rows, w.luck.pay, w.split, w.luck.logged, np.int64(rows.log[place]))
                split |= row != 0
            if not entry & ASKED:
                break
            chart = counter.chart[find_cell(deck, counter, hole, begin, p)]
            if w.adjusted and hides:
                if shadows == begin:
                    w.shadow[:] = 0
                move_shadows(deck, rows, w.shadow, hole, shadows, p)
                shadows, rank = p, min(card_at(deck, hole), w.luck.ranks - 1)
                luck += judge(rows, w.luck, w.shadow, model, chart, rank, hole // deck.size == (p - 1) // deck.size)
            place = row + rows.answers[rows.question[row // ROW] - 1, chart]
        if insurable and p - begin == w.dealt and card_at(deck, begin + w.open) == ACE:
            insured = counter.insures[find_cell(deck, counter, hole, begin, p)] > 0
        if row == 0:
            break
    won = (2 if card_at(deck, hole) >= TEN else -1) if insured else 0
    tally(w.quanta, bucket, code, won, luck, expected if sure else 0.5 * won, raw, now)
    if split:
        w.split[:], w.luck.logged[:] = 0, 0.0
    return p


@compiled(nogil=True, _nrt=False)
def play_counter(w: Any, raw: Any, now: Any) -> Any:
    """Play the shoes of a stream from its beginning; return the number of them, or ENDLESS_ROUND.

    `w` is a `CountWalk`. `raw`, int64 (B, RAW), and the quantities of each shoe, `now`, float64 (shoes, PRODUCTS, B),
    are added to; see `CountTable`.
    """
    shoes, p = np.int64(0), np.int64(0)
    while shoes < len(now):
        if p < w.cut:  # else a round was longer than the shoe
            find_buckets(w.deck, w.counter, w.bucket)
            fill_shoe(w.luck.full, w.luck.counts, w.luck.left)
            for card in w.deck.cards[0, :p]:
                deal_card(w.luck.full, w.luck.counts, w.luck.left, min(np.int64(card), w.luck.ranks - 1))
            while p < w.cut:
                bucket = np.int64(w.bucket[p])
                if bucket <= w.counter.leave:
                    raw[bucket, LEFT] += 1
                    p = np.int64(w.cut)
                else:
                    p = play_round(w, p, bucket, raw, now[shoes])
                if p < 0:
                    return p
            if w.adjusted:
                add_depths(w.deck, w.control, w.bucket, w.unseen, now[shoes])
            shoes += 1
        next_shoe(w.deck)
        p = np.int64(max(p - w.deck.size, 0))
    return shoes
