"""The compiled fold: numba code that follows a plan over all cards that can come and writes the rows of `fold.py`.

What is undecided in a round is one 64-bit word, and a hash table knows those already met. A row is finished before
those that lead to it, so that two that lead to the same are seen to be one. As in `kernel.py`, all that is called is
in this file and everything else is passed in.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bjsim.sim.engine.jit import compiled

Array = np.ndarray[Any, Any]

PEEK, NATURAL, MAX_HANDS, SURRENDERED, SPLITS_LEAVE = range(5)  # positions in `FoldPlan.numbers`
HIT, DOUBLE, SPLIT, SURRENDER = 2, 3, 4, 5  # codes in `Plan.act`
CARDS = 13
DEAL, DRAW, DEALER = range(3)  # what the next card is for
ENDS, LEAVES = -1, -2  # what a card may lead to instead of something undecided

TOO_LARGE = -1


class Undecided(NamedTuple):
    """What is undecided in a round; each field is a whole number.

    what: the next card is dealt, drawn by the hand, or drawn by the dealer. step: cards dealt; or whether the hand that
    draws is doubled. hand: its state; while the dealer draws, the worth of a hand that was never split, as a row of
    `FoldPlan.vectors`. half, waiting, count: of split hands, as in `kernel.play`. need: what the hands that are over
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


class FoldPlan(NamedTuple):
    """What the fold follows of a plan (`plan.py`), and the bytes it logs (`fold.py`).

    act (2, S, C): of the one seat. shows: `Plan.column`. numbers: see PEEK .. vector (R, 2): the row of `vectors`,
    what a hand is worth by the dealer's outcome, for a result at one and two bets; row 0 is nothing.
    The bytes, by such a row, and by the dealer's outcome: end (H, O) for a round without splits that ends, end_split
    (H, O) for one with splits, by the hand that ends it; hand_over (H,) for its other hands.
    """

    add: Array
    act: Array
    half: Array
    result: Array
    waits: Array
    dealer_add: Array
    dealer_done: Array
    dealer_out: Array
    shows: Array
    deal: Array
    numbers: Array
    vector: Array
    end: Array
    end_split: Array
    hand_over: Array


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
def settle(plan: Any, it: Any, vector: Any) -> Any:
    """No hand is left to play; the last one is worth `vector`, by the dealer's outcome: he draws, or the round ends."""
    split = it.count > 1
    if (it.need > 0 and it.shown < 2) or (it.need == 2 and not plan.dealer_done[it.dealer]):
        byte = plan.hand_over[vector] if split else 0
        ev = 0 if split else vector
        return byte, pack(Undecided(DEALER, 0, ev, 0, 0, min(it.count, 2), it.need, it.dealer, 0, min(it.shown, 2)))
    outcome = plan.dealer_out[it.dealer]
    return (plan.end_split if split else plan.end)[vector, outcome], np.int64(ENDS)


@compiled(_nrt=False, forceinline=True)
def end_hand(plan: Any, it: Any, result: Any, doubled: Any) -> Any:
    """The hand is over with this result: a waiting half takes its place, or it was the last."""
    vector = plan.vector[result, doubled]
    need = max(it.need, plan.waits[result])
    if it.waiting:
        return plan.hand_over[vector], pack(
            Undecided(DRAW, 0, it.half, it.half, it.waiting - 1, it.count, need, it.dealer, it.column, it.shown)
        )
    return settle(plan, Undecided(DRAW, 0, 0, 0, 0, it.count, need, it.dealer, it.column, it.shown), vector)


@compiled(_nrt=False, forceinline=True)
def decide(plan: Any, it: Any, ended: Any) -> Any:
    """The hand has its card: what the chart makes of it, unless the dealer's natural has ended the round."""
    limit = plan.numbers[MAX_HANDS]
    code = 0 if it.step or ended else plan.act[1 if it.count < limit else 0, it.hand, it.column]
    if code == SPLIT:
        if plan.numbers[SPLITS_LEAVE]:
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
    return end_hand(plan, it, plan.numbers[SURRENDERED] if code == SURRENDER else plan.result[it.hand], it.step)


@compiled(_nrt=False, forceinline=True)
def follow(plan: Any, it: Any, rank: Any) -> Any:
    """The card of this rank comes. Returns: the byte that is logged, and what it leads to."""
    hand, dealer, column, shown, step, ended = it.hand, it.dealer, it.column, it.shown, it.step, False
    if it.what == DEALER or (it.what == DEAL and plan.deal[step]):
        dealer = plan.dealer_add[dealer, rank]
        if it.what == DEAL:
            column += plan.shows[shown, dealer]
        shown += 1
    else:
        hand = plan.add[hand, rank]
    if it.what == DEALER:
        return settle(plan, Undecided(DEALER, 0, hand, 0, 0, it.count, it.need, dealer, 0, shown), hand)
    if it.what == DEAL:
        if step + 1 < len(plan.deal):
            return 0, pack(Undecided(DEAL, step + 1, hand, 0, 0, 1, 0, dealer, column, shown))
        step, ended = 0, plan.numbers[PEEK] and plan.dealer_out[dealer] == plan.numbers[NATURAL]
    drawn = Undecided(DRAW, step, hand, it.half, it.waiting, it.count, it.need, dealer, column, shown)
    return decide(plan, drawn, ended)


@compiled(_nrt=False, forceinline=True)
def place_of(words: Any, word: Any) -> Any:
    """Where the hash table has a word, or has room for it; empty places hold 0."""
    mask = np.uint64(len(words) - 1)
    place = (np.uint64(word) * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(20)) & mask
    while words[place] != 0 and words[place] != word:
        place = (place + np.uint64(1)) & mask
    return place


@compiled(_nrt=False, forceinline=True)
def number_of_row(table: Any, rows: Any, numbers: Any) -> Any:
    """The number of the row last written, or of an equal one before it; `numbers` is the hash table of rows."""
    hashed = np.uint64(0)
    for rank in range(CARDS):
        hashed = (hashed ^ np.uint64(table[rows, rank])) * np.uint64(0x9E3779B97F4A7C15)
        hashed ^= hashed >> np.uint64(29)
    mask = np.uint64(len(numbers) - 1)
    place = hashed & mask
    while numbers[place] >= 0:
        same = True
        for rank in range(CARDS):
            same = same and table[numbers[place], rank] == table[rows, rank]
        if same:
            return np.int64(numbers[place])
        place = (place + np.uint64(1)) & mask
    numbers[place] = rows
    return rows


@compiled(_nrt=False)
def fold_rows(
    plan: Any, different: Any, table: Any, words: Any, row_of: Any, numbers: Any, path: Any, places: Any, ranks: Any,
    entries: Any,
) -> Any:  # fmt: skip
    """Write the rows of all that the start of a round may lead to, from row 2 on; the start is the last of them.

    different: ranks from the last of these on are alike. table (n, 13), uint32: an entry is the number of the row that
    follows, 0 where the round ends and 1 where it leaves, shifted by 8, and the byte.
    words (2**k,), int64, zeros, and row_of, as long: the hash table of what is undecided. numbers (2**k,), int32, -1:
    that of the rows. path, places, ranks (m,), entries (m, 13): the undecided that lead to one another, their places
    in `words`, the next rank of each, and their rows so far.
    Returns: how many rows there are, or TOO_LARGE if the arrays are too small.
    """
    rows, depth, most = 2, 1, len(words) // 2
    path[0] = pack(Undecided(DEAL, 0, 0, 0, 0, 1, 0, 0, 0, 0))
    places[0] = place_of(words, path[0])
    words[places[0]] = path[0]
    met = 1
    while depth:
        top = depth - 1
        it = unpack(path[top])
        while depth == top + 1 and ranks[top] < different:
            rank = ranks[top]
            byte, word = follow(plan, it, rank)
            row = 1 if word == LEAVES else 0
            if word >= 0:
                place = place_of(words, word)
                if words[place] == 0:
                    if met == most or depth == len(path):
                        return TOO_LARGE
                    words[place] = path[depth] = word
                    places[depth], ranks[depth] = place, 0
                    met += 1
                    depth += 1
                    continue
                row = row_of[place]
            entries[top, rank] = np.uint32(row << 8 | byte)
            ranks[top] += 1
        if depth == top + 1:
            if rows == len(table):
                return TOO_LARGE
            for rank in range(CARDS):
                table[rows, rank] = entries[top, min(rank, different - 1)]
            number = number_of_row(table, rows, numbers)
            rows += number == rows
            row_of[places[top]] = number
            depth -= 1
    return rows


@compiled(_nrt=False)
def weigh(table: Any, weights: Any) -> None:
    """How often play comes to each row, from zeros, for each time that it comes to the last; every rank as likely."""
    weights[len(table) - 1] = 1.0
    for i in range(len(table) - 2):
        row = len(table) - 1 - i
        for rank in range(CARDS):
            weights[table[row, rank] >> 8] += weights[row] / CARDS
