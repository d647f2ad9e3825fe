"""Luck of cards by the rows of the round table, in the same whole numbers as `array_luck.py` (numba)."""

from __future__ import annotations

from typing import Any

import numpy as np

from bjsim.sim.engine.jit import compiled
from bjsim.sim.engine.kernels.payoff import split_payoff
from bjsim.sim.engine.kernels.shoe import shuffle
from bjsim.sim.engine.kernels.surprise import remove_card, weigh_cards
from bjsim.sim.engine.kernels.table_layout import SCALE, STEP


@compiled(_nrt=False)
def weigh_logged(luck: Any, s: Any, row: Any, card: Any) -> Any:
    """What split hands add to `weigh_cards` that were logged before: they are paid by the dealer's outcome."""
    left, expected, mine = luck.left[0], 0.0, 0.0
    ranks, slopes = luck.outcome_after.shape[1], luck.product
    for r in range(ranks):
        state, after = luck.outcome_after[row, r], 0.0
        slopes[:] = 0.0
        for o in range(luck.logged.shape[1]):
            pay = luck.logged[s, o]
            after += pay * luck.chances[state, o]
            for q in range(len(slopes)):
                slopes[q] += pay * luck.tilts[state, o, q]
        after *= left - 1.0
        for q in range(ranks):
            after += slopes[q] * luck.counts[q]
        after -= slopes[r]
        expected += after * luck.counts[r]
        if r == card:
            mine = after
    return mine * left - expected


@compiled(_nrt=False, forceinline=True)
def of_own_card(luck: Any, s: Any, row: Any, card: Any) -> Any:
    left = luck.left[0]
    surprise = weigh_cards(luck.paid[row], luck.own[row], luck.slopes[row], luck.counts, left, card)
    if luck.split[s]:
        surprise += weigh_logged(luck, s, row, card) / SCALE
    return surprise / (left * max(left - 1.0, 1.0)) / SCALE


@compiled(_nrt=False, forceinline=True)
def of_others_card(luck: Any, s: Any, row: Any, card: Any) -> Any:
    """Luck of a card that others draw: it changes the composition."""
    left, weighed, mine = luck.left[0], 0.0, 0.0
    for q in range(luck.outcome_after.shape[1]):
        slope = np.float64(luck.row_slopes[row, q])
        if luck.split[s]:
            logged = 0.0
            for o in range(luck.logged.shape[1]):
                logged += luck.logged[s, o] * luck.tilts[luck.outcome[row], o, q]
            slope += logged / SCALE
        weighed += slope * luck.counts[q]
        if q == card:
            mine = slope
    return (weighed - left * mine) / (left * max(left - 1.0, 1.0)) / SCALE


@compiled(_nrt=False, forceinline=True)
def deal_card(luck: Any, card: Any) -> None:
    """Remove a card from the composition; after the last one a fresh shoe follows."""
    remove_card(luck.counts, np.int64(card))
    luck.left[0] -= 1.0
    if luck.left[0] == 0.0:
        fill_shoe(luck)


@compiled(_nrt=False)
def fill_shoe(luck: Any) -> None:
    luck.left[0] = 0.0
    for q in range(luck.outcome_after.shape[1]):
        luck.counts[q] = luck.full[q]
        luck.left[0] += luck.full[q]


@compiled(_nrt=False, forceinline=True)
def log_hand(luck: Any, s: Any, hand: Any) -> None:
    for o in range(luck.logged.shape[1]):
        luck.logged[s, o] += luck.hands[luck.chart[s], 1 + hand, o]
    luck.split[s] = 1


@compiled(_nrt=False, forceinline=True)
def settle(luck: Any, s: Any, code: Any) -> None:
    units, tied = split_payoff(code)
    luck.units[s] += units
    luck.bets[s] += 1 - tied
    if luck.split[s]:
        luck.split[s] = 0
        for o in range(luck.logged.shape[1]):
            luck.logged[s, o] = 0.0


@compiled(_nrt=False)
def open_shoe(luck: Any, shoe: Any, rounds: Any) -> None:
    """Begin the sums of a shoe with its drift. rounds: those left before its first round."""
    depths = min(luck.depths, np.int64(rounds / luck.rounds_per_depth))
    if shoe.ready[0] < depths * STEP:
        shuffle(shoe, (depths * STEP + 3) // 4 * 4)
    for t in range(len(luck.drift)):
        drift = sum_drift(luck, shoe, luck.drift[t], luck.curvature[t], depths)
        luck.drifted[t] = (drift - luck.expected[t, depths]) * (luck.rounds_per_depth / SCALE)


@compiled(_nrt=False)
def sum_drift(luck: Any, shoe: Any, drift: Any, curvature: Any, depths: Any) -> Any:
    """The drift of a shoe summed over depths: d.c / n + c'Cc / n^2 for the composition c of n cards."""
    total = linear = square = 0.0
    product, left = luck.product, np.float64(shoe.size)  # C c
    product[:] = 0.0
    for q in range(len(drift)):
        linear += drift[q] * luck.full[q]
        for r in range(len(product)):
            product[r] += curvature[q, r] * luck.full[q]
    for q in range(len(drift)):
        square += product[q] * luck.full[q]
    for i in range(depths * STEP):
        card = min(np.int64(shoe.cards[i]), len(drift) - 1)
        linear -= drift[card]
        square += curvature[card, card] - 2.0 * product[card]
        for r in range(len(product)):
            product[r] -= curvature[card, r]
        if (i + 1) % STEP == 0:
            left -= STEP
            total += linear / left + square / (left * left)
    return total


@compiled(_nrt=False)
def close_shoe(luck: Any) -> None:
    """Add a shoe to the sums: rounds of a shoe depend on each other, shoes do not."""
    for s in range(len(luck.chart)):
        gone = luck.gone[s] + luck.drifted[luck.chart[s]]
        b = np.float64(luck.bets[s])
        y = luck.units[s] * luck.bet - b * luck.value[s] - gone
        luck.sums[s, 0] += 1.0
        luck.sums[s, 1] += y
        luck.sums[s, 2] += b
        luck.sums[s, 3] += y * y
        luck.sums[s, 4] += y * b
        luck.sums[s, 5] += b * b
        luck.units[s] = luck.bets[s] = 0
        luck.gone[s] = 0.0
