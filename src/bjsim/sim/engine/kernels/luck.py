"""Luck in the kernel. The luck of a card is V, the value of a round after it, less E, its expectation before.

Summed over a round that is V at the end - V at the start - the sum of E - V before each card. For a card that others
draw E is V, as values are linear in the composition; so only own cards and the dealer's need a look. `Track.expected`
is what is subtracted from the value of the end.
"""

from typing import Any

import numpy as np

from bjsim.sim.engine.jit import inner
from bjsim.sim.engine.kernels.arrays import BITS, SCALE, STEP, STRIDE
from bjsim.sim.engine.kernels.shoe import card_at
from bjsim.sim.engine.kernels.vectors import dot, pairs, remove_card

HIDDEN = -1  # in place of the rank of the hole card
NOTED = 16  # cards that are noted for a seat before its shadows must follow
DEAD = STRIDE  # the place of the row of rounds that have left: that of a shadow whose round would be over


@inner()
def value_now(luck: Any, track: Any, seats: Any, model: Any, s: Any) -> Any:
    """V of a seat: of its row, with split hands that were logged, or of its end."""
    if seats.row[s] < 0:
        return track.end[s]
    place, outcomes = model * luck.places + seats.row[s] // STRIDE, luck.pay.shape[1]
    value, slope = luck.values[place], dot(luck.slopes, place, track.counts)
    if seats.splits[s]:
        state = luck.outcome[place] * outcomes
        for o in range(outcomes):
            pay = track.logged[s, o] / SCALE
            value += pay * luck.chances[luck.outcome[place], o]
            slope += pay * dot(luck.tilts, state + o, track.counts)
    return value + slope / track.left[0]


@inner()
def find_gap(luck: Any, track: Any, seats: Any, model: Any, s: Any) -> Any:
    """E - V of a seat whose row has no form, or one that is not enough."""
    left, expected, outcomes, row = track.left[0], 0.0, luck.pay.shape[1], seats.row[s] // STRIDE
    if left == 1.0:
        return 0.0
    for r in range(luck.ranks):
        place = model * luck.places + luck.after[row, r]
        value, slope = luck.values[place], dot(luck.slopes, place, track.counts) - luck.slopes[place, r]
        hand, state = luck.hand[row, r], luck.outcome[place]
        for o in range(outcomes):
            pay = (track.logged[s, o] + luck.pay[hand, o]) / SCALE
            if pay != 0.0:
                value += pay * luck.chances[state, o]
                tilt = state * outcomes + o
                slope += pay * (dot(luck.tilts, tilt, track.counts) - luck.tilts[tilt, r])
        expected += (value * (left - 1.0) + slope) * track.counts[r]
    return expected / (left * (left - 1.0)) - value_now(luck, track, seats, model, s)


@inner(forceinline=True)
def add_gap(luck: Any, track: Any, seats: Any, model: Any, s: Any) -> None:
    """Add E - V before a card that a seat, or the dealer, draws."""
    row, left = seats.row[s] // STRIDE, track.left[0]
    if seats.splits[s] + luck.slow[row] > 1:
        track.expected[s] += find_gap(luck, track, seats, model, s)
    else:
        found = pairs(luck.form, model * luck.frequent + row, track.counts)
        track.expected[s] += found / (left * max(left - 1.0, 1.0))


@inner()
def value_after(luck: Any, track: Any, model: Any, s: Any, row: Any, code: Any) -> Any:
    """The value after an action in a row, with what it logs, without slopes."""
    place, hand = model * luck.places + luck.after[row, code], luck.hand[row, code]
    value = luck.values[place]
    for o in range(luck.pay.shape[1]):
        value += (track.logged[s, o] + luck.pay[hand, o]) / SCALE * luck.chances[luck.outcome[place], o]
    return value


@inner(forceinline=True)
def move_shadow(moves: Any, shadow: Any, h: Any, code: Any) -> None:
    row = np.int64(moves.entries[shadow[h] + code] >> BITS)
    shadow[h] = row if row else DEAD


@inner(forceinline=True)
def note_card(moves: Any, luck: Any, track: Any, s: Any, rank: Any) -> None:
    """Note a card, or HIDDEN, for the shadows; they follow once something is asked, which in most rounds nothing is."""
    track.noted[s, track.unread[s]] = rank
    track.unread[s] += 1
    if track.unread[s] == track.noted.shape[1]:
        catch_up(moves, luck, track, s)


@inner()
def catch_up(moves: Any, luck: Any, track: Any, s: Any) -> None:
    """Have the shadows follow the cards that were noted."""
    for k in range(track.unread[s]):
        for h in range(luck.ranks):
            move_shadow(moves, track.shadow[s], h, h if track.noted[s, k] == HIDDEN else track.noted[s, k])
    track.unread[s] = 0


@inner()
def judge(moves: Any, luck: Any, track: Any, model: Any, s: Any, chart: Any, hole: Any, known: Any) -> None:
    """Count the luck of the hidden card where the answer is not the model's; and answer in the shadows.

    The rows know the hole card, given which two actions of about the same value differ much. The difference between the
    two, less its expectation over the hole cards that are possible for those who see the open cards, is luck. `known`:
    whether the hole card is of this shoe, and not its last unseen card.
    """
    catch_up(moves, luck, track, s)
    usual, differs, shares, mean, mine, shadow = luck.chart[model], False, 0.0, 0.0, 0.0, track.shadow[s]
    for h in range(luck.ranks):
        number = moves.question[shadow[h] // STRIDE]
        differs |= number > 0 and moves.answers[number - 1, chart] != moves.answers[number - 1, usual]
    differs &= known
    for h in range(luck.ranks):
        row, difference = shadow[h], 0.0
        number = moves.question[row // STRIDE]
        if differs:
            if number > 0:
                difference = value_after(luck, track, model, s, row // STRIDE, moves.answers[number - 1, chart])
                difference -= value_after(luck, track, model, s, row // STRIDE, moves.answers[number - 1, usual])
            share = np.float64(track.counts[h] + (h == hole)) if row != DEAD else 0.0
            shares += share
            mean += share * difference
            if h == hole:
                mine = difference
        if number > 0:
            move_shadow(moves, shadow, h, moves.answers[number - 1, chart])
    if differs:
        track.expected[s] -= mine - mean / shares


@inner()
def fill_shoe(luck: Any, track: Any) -> None:
    track.left[0] = 0.0
    for q in range(luck.ranks):
        track.counts[q] = np.int16(luck.full[q])
        track.left[0] += luck.full[q]


@inner(forceinline=True)
def deal_card(luck: Any, track: Any, rank: Any) -> None:
    """Remove a card from the composition; after the last one a fresh shoe follows."""
    remove_card(track.counts, rank)
    track.left[0] -= 1.0
    if track.left[0] == 0.0:
        fill_shoe(luck, track)


@inner()
def close_shoe(track: Any, drift: Any, drifted: Any) -> None:
    """Add a shoe to the sums: rounds of a shoe depend on each other, shoes do not."""
    for s in range(len(drift.chart)):
        b = np.float64(track.bets[s])
        y = track.units[s] * drift.bet - b * drift.value[s] - (track.gone[s] + drifted[drift.chart[s]])
        track.sums[s, 0] += 1.0
        track.sums[s, 1] += y
        track.sums[s, 2] += b
        track.sums[s, 3] += y * y
        track.sums[s, 4] += y * b
        track.sums[s, 5] += b * b
        track.units[s] = track.bets[s] = 0
        track.gone[s] = 0.0


@inner()
def find_drift(luck: Any, track: Any, drift: Any, drifted: Any, shoe: Any, rounds: Any) -> None:
    """The drift of a shoe by chart, as `count_drift`; `rounds` are left before its first round."""
    depths = min(drift.depths, np.int64(rounds / drift.rounds_per_depth))
    for t in range(len(drift.slopes)):
        total = sum_drift(luck, track.product, shoe, drift.slopes[t], drift.curvature[t], depths)
        drifted[t] = (total - drift.expected[t, depths]) * (drift.rounds_per_depth / SCALE)


@inner()
def sum_drift(luck: Any, product: Any, shoe: Any, slopes: Any, curvature: Any, depths: Any) -> Any:
    """The drift of a shoe summed over depths: d.c / n + c'Cc / n^2 for the composition c of n cards."""
    total, linear, square, left, ranks = 0.0, 0.0, 0.0, np.float64(shoe.rules.size), luck.ranks
    product[:] = 0.0  # C c
    for q in range(ranks):
        linear += slopes[q] * luck.full[q]
        for r in range(len(product)):
            product[r] += curvature[q, r] * luck.full[q]
    for q in range(ranks):
        square += product[q] * luck.full[q]
    for i in range(depths * STEP):
        card = min(card_at(shoe, i), ranks - 1)
        linear -= slopes[card]
        square += curvature[card, card] - 2.0 * product[card]
        for r in range(len(product)):
            product[r] -= curvature[card, r]
        if (i + 1) % STEP == 0:
            left -= STEP
            total += linear / left + square / (left * left)
    return total
