"""The luck of a counter's cards and of the hole card, and what insurance is expected to win: as in `luck_lanes.py`."""

from __future__ import annotations

from typing import Any

import numpy as np

from bjsim.sim.engine.jit import compiled
from bjsim.sim.engine.kernels.count_deck import ACE, card_at
from bjsim.sim.engine.kernels.count_layout import FLAGS
from bjsim.sim.engine.kernels.surprise import dot, weigh_cards
from bjsim.sim.engine.kernels.table_layout import ROW, SCALE

EXACT = {"reassoc", "contract"}  # sums of whole numbers do not depend on their order
TEN = 9  # its rank


@compiled(_nrt=False, fastmath=EXACT)
def weigh_slowly(luck: Any, model: Any, row: Any, rank: Any, split: Any) -> Any:
    """As `weigh_card`, in any row, and not yet divided."""
    left, expected, mine, outcomes = luck.left[0], 0.0, 0.0, len(luck.logged)
    for r in range(luck.ranks):
        place = model * luck.places + luck.after[row, r]
        value, slope = luck.values[place], dot(luck.slopes, place, luck.counts) - luck.slopes[place, r]
        if split:
            hand, state = luck.hand[row, r], luck.outcome[place] * outcomes
            for o in range(outcomes):
                pay = (luck.logged[o] + luck.pay[hand, o]) / SCALE
                value += pay * luck.chances[state + o]
                slope += pay * (dot(luck.tilts, state + o, luck.counts) - luck.tilts[state + o, r])
        after = value * (left - 1.0) + slope
        expected += after * luck.counts[r]
        if r == rank:
            mine = after
    return mine * left - expected


@compiled(_nrt=False, forceinline=True)
def weigh_card(luck: Any, model: Any, row: Any, rank: Any, split: Any) -> Any:
    """The luck of a card in a row; `split` is whether split hands that were logged or end now are counted."""
    left = luck.left[0]
    if split or row >= luck.frequent:
        found = weigh_slowly(luck, model, row, rank, split)
    else:
        own = model * luck.frequent + row
        found = weigh_cards(luck.paid[own], luck.own[own], luck.steep[own], luck.counts, left, rank)
    return found / (left * max(left - 1.0, 1.0)) / SCALE


@compiled(_nrt=False, forceinline=True, fastmath=EXACT)
def value_after(luck: Any, model: Any, row: Any, code: Any) -> Any:
    """The value after an action, split hands included."""
    place, hand = model * luck.places + luck.after[row, code], luck.hand[row, code]
    value, state = luck.values[place], luck.outcome[place] * len(luck.logged)
    for o in range(len(luck.logged)):
        value += (luck.logged[o] + luck.pay[hand, o]) / SCALE * luck.chances[state + o]
    return value


@compiled(_nrt=False, forceinline=True)
def move_shadow(rows: Any, shadow: Any, h: Any, offset: Any) -> None:
    """Move a shadow, the row of the round if the hole card were h."""
    row = np.int64(rows.entries[shadow[h] + offset] >> FLAGS)
    shadow[h] = row if row else rows.dead


@compiled(_nrt=False)
def move_shadows(deck: Any, rows: Any, shadow: Any, hole: Any, first: Any, last: Any) -> None:
    """Give the shadows of a round the cards first .. last - 1, each its own in place of the hole card."""
    for p in range(first, last):
        rank = min(card_at(deck, p), len(shadow) - 1)
        for h in range(len(shadow)):
            move_shadow(rows, shadow, h, h if p == hole else rank)


@compiled(_nrt=False, fastmath=EXACT)
def judge(rows: Any, luck: Any, shadow: Any, model: Any, chart: Any, hole: Any, same_shoe: Any) -> Any:
    """Luck of the hole card where the counter answers otherwise than the model's chart; shadows are moved."""
    usual, differs, shares, mean, mine = luck.chart[model], False, 0.0, 0.0, 0.0
    for h in range(len(shadow)):
        number = rows.question[shadow[h] // ROW]
        differs |= number > 0 and rows.answers[number - 1, chart] != rows.answers[number - 1, usual]
    differs &= same_shoe
    for h in range(len(shadow)):
        row, number, difference = shadow[h], rows.question[shadow[h] // ROW], 0.0
        if differs:
            if number:
                difference = value_after(luck, model, row // ROW, rows.answers[number - 1, chart])
                difference -= value_after(luck, model, row // ROW, rows.answers[number - 1, usual])
            share = luck.counts[h] + (h == hole) if row != rows.dead else 0.0
            shares += share
            mean += share * difference
            if h == hole:
                mine = difference
        if number:
            move_shadow(rows, shadow, h, rows.answers[number - 1, chart])
    return (mine - mean / shares) / SCALE if differs else 0.0


@compiled(_nrt=False)
def foresee(counter: Any, luck: Any, unseen: Any, running: Any, begin: Any) -> Any:
    """The expected profit of insurance before a round: over an ace and two more open cards."""
    left, total = luck.left[0], 0.0
    for value in range(len(unseen)):
        unseen[value] = luck.counts[value]
    for rank in range(len(unseen), luck.ranks):
        unseen[TEN] += luck.counts[rank]
    aces = unseen[ACE]
    unseen[ACE] -= 1.0
    row, columns = min(begin + 3, len(counter.cells) - 1), counter.cells.shape[1]
    for one in range(len(unseen)):
        for two in range(one, len(unseen)):
            twice = unseen[one] * (2.0 * unseen[two] if one < two else unseen[two] - 1.0)
            column = min(max(running + counter.tags[ACE] + counter.tags[one] + counter.tags[two], 0), columns - 1)
            cell = counter.cells[begin, running] if counter.before_round else counter.cells[row, column]
            if twice > 0 and counter.insures[cell]:
                tens = unseen[TEN] - (one == TEN) - (two == TEN)
                total += twice * (3.0 * tens - (left - 3.0))
    return total * aces / (2.0 * left * (left - 1.0) * (left - 2.0) * (left - 3.0)) if aces > 0 else 0.0
