"""One counting player by the round table, card by card, with the luck of every card: as `luck_lanes.py`, to the bit."""

from __future__ import annotations

from typing import Any

import numpy as np

from bjsim.sim.engine.jit import compiled
from bjsim.sim.engine.kernels.count_layout import ENDLESS_ROUND, TOO_FEW_CARDS
from bjsim.sim.engine.kernels.table_layout import ROW, SCALE

EXACT = {"reassoc", "contract"}  # sums of whole numbers do not depend on their order
ACE, TEN = 0, 9  # ranks


@compiled(_nrt=False, forceinline=True)
def card_at(w: Any, lane: Any, p: Any) -> Any:
    """The card of a lane at a position, which may be that of a later lane; or TOO_FEW_CARDS or ENDLESS_ROUND."""
    if p < w.cards.shape[1]:
        return np.int64(w.cards[lane, p])
    later, p = p // w.size, p % w.size
    if p >= w.cards.shape[1]:
        return np.int64(TOO_FEW_CARDS)
    return np.int64(ENDLESS_ROUND) if later > w.further else np.int64(w.cards[lane + later, p])


@compiled(_nrt=False)
def find_cell(w: Any, lane: Any, begin: Any, p: Any) -> Any:
    """The cell of the count by which a choice is made after p cards."""
    if w.counter.before_round:
        return np.int64(w.counter.cells[begin, w.running[lane, begin] - w.counter.lowest])
    shoe = (p - 1) // w.size
    seen = p - shoe * w.size
    running = np.int64(w.running[lane + shoe, seen])
    if w.hole >= 0 and (begin + w.hole) // w.size == shoe:
        running -= w.counter.tags[card_at(w, lane, begin + w.hole)]
        seen -= 1
    return np.int64(w.counter.cells[seen, running - w.counter.lowest])


@compiled(_nrt=False, fastmath=EXACT)
def weigh_card(w: Any, model: Any, row: Any, rank: Any, logged: Any) -> Any:
    """Luck of a card in a row; `logged` is whether split hands that were logged or end now are counted."""
    left, ranks, expected, mine = w.left[0], len(w.counts), 0.0, 0.0
    for r in range(ranks):
        place = w.luck.after[row, r]
        slope, value = -np.float64(w.luck.slopes[model, place, r]), w.luck.values[model, place]
        for q in range(ranks):
            slope += w.luck.slopes[model, place, q] * w.counts[q]
        if logged:
            hand, state = w.luck.hand[row, r], w.luck.outcome[model, place]
            for o in range(len(w.logged)):
                pay = (w.logged[o] + w.luck.pay[hand, o]) / SCALE
                value += pay * w.luck.chances[state, o]
                tilt = -np.float64(w.luck.tilts[state, o, r])
                for q in range(ranks):
                    tilt += w.luck.tilts[state, o, q] * w.counts[q]
                slope += pay * tilt
        after = value * (left - 1.0) + slope
        expected += after * w.counts[r]
        if r == rank:
            mine = after
    return (mine * left - expected) / (left * max(left - 1.0, 1.0)) / SCALE


@compiled(_nrt=False, fastmath=EXACT)
def value_after(w: Any, model: Any, row: Any, code: Any) -> Any:
    """The value after an action, split hands included."""
    place = w.luck.after[row, code]
    value, hand, state = w.luck.values[model, place], w.luck.hand[row, code], w.luck.outcome[model, place]
    for o in range(len(w.logged)):
        value += (w.logged[o] + w.luck.pay[hand, o]) / SCALE * w.luck.chances[state, o]
    return value


@compiled(_nrt=False)
def move_shadow(w: Any, h: Any, offset: Any) -> None:
    """Move a shadow, the row of the round if the hole card were h."""
    row = w.rows.entries[w.shadow[h] + offset] >> w.rows.bits
    w.shadow[h] = row if row else w.dead


@compiled(_nrt=False, fastmath=EXACT)
def judge(w: Any, model: Any, usual: Any, chart: Any, hole: Any, same_shoe: Any) -> Any:
    """Luck of the hole card where the counter answers otherwise than the model's chart; shadows are moved."""
    differs, shares, mean, mine = False, 0.0, 0.0, 0.0
    for h in range(len(w.shadow)):
        number = w.question[w.shadow[h]]
        differs |= number > 0 and w.answers[number - 1, chart] != w.answers[number - 1, usual]
    for h in range(len(w.shadow)):
        row, number, difference = w.shadow[h], w.question[w.shadow[h]], 0.0
        if differs and same_shoe:
            if number:
                difference = value_after(w, model, row // ROW, w.answers[number - 1, chart])
                difference -= value_after(w, model, row // ROW, w.answers[number - 1, usual])
            share = w.counts[h] + (h == hole) if row != w.dead else 0.0
            shares += share
            mean += share * difference
            if h == hole:
                mine = difference
        if number:
            move_shadow(w, h, w.answers[number - 1, chart])
    return (mine - mean / shares) / SCALE if differs and same_shoe else 0.0


@compiled(_nrt=False)
def foresee(w: Any, lane: Any, begin: Any) -> Any:
    """The expected profit of insurance before a round: over an ace and two more open cards."""
    unseen, left, total, running = w.unseen, w.left[0], 0.0, w.running[lane, begin] - w.counter.lowest
    for value in range(len(unseen)):
        unseen[value] = w.counts[value]
    for rank in range(len(unseen), len(w.counts)):
        unseen[TEN] += w.counts[rank]
    aces = unseen[ACE]
    unseen[ACE] -= 1.0
    row, columns = min(begin + 3, len(w.counter.cells) - 1), w.counter.cells.shape[1]
    for one in range(len(unseen)):
        for two in range(one, len(unseen)):
            twice = unseen[one] * (2.0 * unseen[two] if one < two else unseen[two] - 1.0)
            column = min(max(running + w.counter.tags[ACE] + w.counter.tags[one] + w.counter.tags[two], 0), columns - 1)
            cell = w.counter.cells[begin, running] if w.counter.before_round else w.counter.cells[row, column]
            if twice > 0 and w.counter.insures[cell]:
                tens = unseen[TEN] - (one == TEN) - (two == TEN)
                total += twice * (3.0 * tens - (left - 3.0))
    return total * aces / (2.0 * left * (left - 1.0) * (left - 2.0) * (left - 3.0)) if aces > 0 else 0.0


@compiled(_nrt=False)
def note(w: Any, log: Any, out: Any, n: Any) -> Any:
    """Note the end of a hand or of the round. Returns: whether it is that of a split hand that others follow."""
    ends = len(w.rows.ends)
    if not log:
        return False
    if log <= ends:
        out.codes[n, 0] = w.rows.ends[log - 1, 0] + w.split[w.rows.ends[log - 1, 1]]
        return False
    for o in range(len(w.split)):
        w.split[o] += w.rows.hands[log - ends - 1, o]
        w.logged[o] += w.luck.pay[log - ends, o]
    return True


@compiled(_nrt=False)
def deal_card(w: Any, rank: Any) -> None:
    """Remove a card from the composition; after the last one a fresh shoe follows."""
    w.counts[rank] -= 1.0
    w.left[0] -= 1.0
    if w.left[0] == 0.0:
        fill_shoe(w)


@compiled(_nrt=False)
def fill_shoe(w: Any) -> None:
    w.left[0] = 0.0
    for q in range(len(w.luck.full)):
        w.counts[q] = w.luck.full[q]
        w.left[0] += w.luck.full[q]


@compiled(_nrt=False)
def play_round(w: Any, lane: Any, begin: Any, bucket: Any, out: Any, n: Any) -> Any:
    """Play a round. Returns: the cards of the lane up to its end; or TOO_FEW_CARDS or ENDLESS_ROUND."""
    model, luck, expected, split, insured = w.luck.model[bucket], 0.0, 0.0, False, False
    usual, ranks, mask, insurable = w.luck.chart[model], len(w.counts), (1 << w.rows.bits) - 1, w.counter.ace >= 0
    w.split[:], w.logged[:], w.shadow[:] = 0, 0.0, 0
    sure = insurable and w.adjusted and w.left[0] >= w.needed
    if sure and w.counter.insurable[begin, w.running[lane, begin] - w.counter.lowest]:
        expected = foresee(w, lane, begin)
    row, p = np.int64(0), begin
    while True:
        card = card_at(w, lane, p)
        if card < 0:
            return card
        if w.adjusted:
            rank = min(card, ranks - 1)
            surprise = weigh_card(w, model, row // ROW, rank, False)
            luck += surprise
            if split or w.luck.splits[row // ROW]:
                luck += weigh_card(w, model, row // ROW, rank, True) - surprise
            for h in range(ranks if w.hole >= 0 else 0):
                move_shadow(w, h, h if p == begin + w.hole else rank)
            deal_card(w, rank)
        entry = np.int64(w.rows.entries[row + card])
        p += 1
        row = entry >> w.rows.bits
        split |= note(w, entry & mask, out, n)
        if w.question[row]:
            chart = w.counter.chart[find_cell(w, lane, begin, p)]
            if w.adjusted and w.hole >= 0:
                hole = min(card_at(w, lane, begin + w.hole), ranks - 1)
                luck += judge(w, model, usual, chart, hole, (begin + w.hole) // w.size == (p - 1) // w.size)
            entry = np.int64(w.rows.entries[row + w.answers[w.question[row] - 1, chart]])
            row = entry >> w.rows.bits
            split |= note(w, entry & mask, out, n)
        if insurable and p - begin == w.dealt and card_at(w, lane, begin + w.open) == ACE:
            insured = w.counter.insures[find_cell(w, lane, begin, p)] > 0
        if row == 0:
            break
    won = 0
    if insured:
        won = 2 if card_at(w, lane, begin + w.hole) >= TEN else -1
    out.lane[n], out.begin[n], out.end[n], out.bucket[n], out.won[n] = lane, begin, p, bucket, won
    out.luck[n], out.expected[n] = luck, expected if sure else 0.5 * won
    return p


@compiled(nogil=True, _nrt=False)
def walk_shoes(w: Any, lanes: Any, ends: Any, out: Any) -> Any:
    """Walk lanes, int64 (n,), to their ends; return the number of rounds, or TOO_FEW_CARDS or ENDLESS_ROUND.

    `w` is a `CountWalk`. `ends` is the first card of each lane, replaced by the number of cards up to the end
    of its last round; `out` gets the rounds in the order of play, see `CountedRounds`, of one spot.
    """
    n = np.int64(0)
    for i in range(len(lanes)):
        lane, p = lanes[i], ends[i]
        if p >= w.cut:
            continue
        fill_shoe(w)
        for q in range(p if w.adjusted else 0):
            deal_card(w, min(np.int64(w.cards[lane, q]), len(w.counts) - 1))
        while p < w.cut:
            bucket = np.int64(w.bucket[lane, p])
            if bucket <= w.counter.leave:
                p = w.cut
                break
            p = play_round(w, lane, p, bucket, out, n)
            if p < 0:
                return p
            n += 1
        ends[i] = p
    return n


@compiled(nogil=True, _nrt=False)
def add_depths(w: Any, control: Any, left: Any, chosen: Any, sums: Any) -> None:
    """Add the value and the number of the depths of chosen shoes to `sums`, as `count_depths` does.

    `w` is a `CountWalk`, `control` a `DepthControl`; `left` is working memory: cards left by value, float64
    (10,); `chosen` is int64 (n,), `sums` float64 (n, 2, B).
    """
    for i in range(len(chosen)):
        for q in range(len(left)):
            left[q] = control.full[q]
        for n in range(0, w.cut, control.step):
            bucket, value = np.int64(w.bucket[chosen[i], n]), 0.0
            for q in range(len(left)):
                value += control.slopes[bucket, q] * left[q]
            sums[i, 0, bucket] += control.values[bucket] + value / (w.size - n)
            sums[i, 1, bucket] += 1.0
            for card in w.cards[chosen[i], n : n + control.step]:
                left[min(np.int64(card), len(left) - 1)] -= 1.0
