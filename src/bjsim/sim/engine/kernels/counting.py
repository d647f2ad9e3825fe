"""The counting round: one seat counts cards, and every round is tallied by the count before it (numba).

Play does not depend on the bet, so that one run serves every bet ramp. Profits are luck-adjusted as in the compiled
round; the sums over shoes of all products serve intervals and the depth control (`docs/explanation/counting.md`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bjsim.sim.engine.jit import compiled
from bjsim.sim.engine.kernels.count_layout import (
    DEPTHS,
    INSURANCE,
    PROFIT,
    ROUNDS,
    SQUARES,
    VALUE,
)
from bjsim.sim.engine.kernels.counter import TEN, count_cards, hide_hole_card, show_hole_card
from bjsim.sim.engine.kernels.layout import TIED
from bjsim.sim.engine.kernels.luck import count_luck, fresh_shoe
from bjsim.sim.engine.kernels.play import RAN_AWAY, clear, deal, play_dealer, play_seats
from bjsim.sim.engine.kernels.shoe import begin_shuffle, shuffle


@compiled(_nrt=False)
def tally_depths(compiled: Any, shoe: Any, counter: Any, control: Any, tally: Any) -> None:
    """Add the controls of a shoe, which depend on the order of its cards alone: value and number of its depths."""
    now, buckets, cut = tally.now, len(counter.model), compiled.numbers.cut
    running = counter.initial
    for n in range(cut):
        if n % control.step == 0:
            b = counter.bucket[counter.cells[n, running - counter.lowest]]
            value = 0.0
            for q in range(len(control.left)):
                value += control.slopes[b, q] * control.left[q]
            now[VALUE * buckets + b] += control.values[b] + value / (shoe.size - n)
            now[DEPTHS * buckets + b] += 1.0
        card = shoe.cards[n]
        control.left[min(card, TEN)] -= 1.0
        running += counter.tags[card]
    for q in range(len(control.left)):
        control.left[q] = control.full[q]


@compiled(_nrt=False)
def open_shoe(compiled: Any, shoe: Any, counter: Any, luck_model: Any, ledger: Any, control: Any, tally: Any) -> None:
    """Begin a shoe: the next shuffle, or the shoe that replaced one that ran out during a round."""
    if shoe.read[0] >= compiled.numbers.cut:
        begin_shuffle(shoe)
        fresh_shoe(luck_model, ledger, np.int64(0))
    stop = min((compiled.numbers.cut + 3) // 4 * 4, shoe.size)
    if shoe.ready[0] < stop:
        shuffle(shoe, stop)
    tally_depths(compiled, shoe, counter, control, tally)


@compiled(_nrt=False)
def close_shoe(tally: Any, half: Any) -> None:
    """Add the quantities of a shoe and their products to the sums of a half of the sample."""
    used = 0
    for i in range(len(tally.now)):
        if tally.now[i] != 0.0:
            tally.used[used] = i
            used += 1
    tally.shoes[half] += 1
    for m in range(used):
        i = tally.used[m]
        tally.sums[half, i] += tally.now[i]
        for n in range(m + 1):
            j = tally.used[n]
            tally.products[half, i, j] += tally.now[i] * tally.now[j]
    for m in range(used):
        tally.now[tally.used[m]] = 0.0


@compiled(_nrt=False, forceinline=True)
def start_round(counter: Any, shoe: Any, luck_model: Any, ledger: Any) -> Any:
    """Begin a round. Returns: the bucket of its count."""
    cell = count_cards(counter, shoe)
    counter.state[0].cell = cell
    bucket = counter.bucket[cell]
    luck_model.chart[counter.seat] = counter.model[bucket]
    for s in range(len(ledger.different)):
        for i in range(ledger.different[s]):
            ledger.finished[s, ledger.kinds[s, i]] = 0
        ledger.different[s] = 0
        ledger.profit[s] = 0.0
    return bucket


@compiled(_nrt=False)
def expect_insurance(counter: Any) -> Any:
    """The expected profit of insurance before a round, in bets; exact, as nothing but three open cards decides.

    The cards are the dealer's ace and two of the seat; the hole card is a ten by its share of the unseen cards.
    """
    state, unseen = counter.state[0], counter.unseen
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


@compiled(_nrt=False, forceinline=True)
def insure(counter: Any, shoe: Any, column: Any) -> Any:
    """Decide on insurance after the deal. Returns: its profit in half bets."""
    cell = counter.state[0].cell if counter.before_round else count_cards(counter, shoe)
    if column != counter.ace or not counter.insures[cell] or counter.state[0].hole < 0:
        return np.int64(0)
    return np.int64(2 if shoe.cards[counter.state[0].hole] >= TEN else -1)


@compiled(_nrt=False, forceinline=True)
def tally_round(
    seats: Any, counter: Any, ledger: Any, tally: Any, bucket: Any, outcome: Any, won: Any, expected: Any
) -> Any:
    """Tally a round. Returns: its payoff code."""
    now, buckets, seat, raw = tally.now, len(counter.model), counter.seat, tally.raw[bucket]
    code = seats.payoff[seat, outcome]
    tied = (code + TIED // 2) >> 32
    units = code - (tied << 32)
    half = np.int64(round(0.5 / tally.quantum))
    profit = units * tally.times + won * half
    stake = np.int64(0)
    for i in range(ledger.different[seat]):
        kind = ledger.kinds[seat, i]
        stake += ledger.finished[seat, kind] * (1 + (kind & 1)) * 2 * half
    raw[0] += 1
    raw[1] += profit
    raw[2] += profit * profit
    raw[3] += stake + (half if won else 0)
    raw[4] += won != 0
    raw[5] += won
    now[ROUNDS * buckets + bucket] += 1.0
    now[PROFIT * buckets + bucket] += units * ledger.bet + ledger.profit[seat] + expected
    now[SQUARES * buckets + bucket] += profit * profit
    now[INSURANCE * buckets + bucket] += expected
    return code


@compiled(nogil=True, _nrt=False)
def play_counting(
    compiled: Any,
    shoe: Any,
    shoes: Any,
    seats: Any,
    counter: Any,
    luck_model: Any,
    ledger: Any,
    control: Any,
    tally: Any,
) -> Any:
    """Play whole shoes at one table, in which one seat counts.

    Args:
        compiled: The compiled rules, with a row of `act` for each chart; see `CompiledRules`.
        shoe: The cards, see `ShoeArrays`.
        shoes: The number of shoes.
        seats: The hands, see `Seats`.
        counter: See `Counter`.
        luck_model: See `LuckModel`; `chart` is set for every round.
        ledger: See `Ledger`; without drift.
        control: See `DepthControl`.
        tally: The sums to add to, see `CountTally`.

    Returns:
        The number of rounds, or RAN_AWAY if a seat exceeded the limit on hands.
    """
    number = np.int64(0)
    for shoe_number in range(shoes):
        open_shoe(compiled, shoe, counter, luck_model, ledger, control, tally)
        chunk = shoe.chunk[0]
        while shoe.chunk[0] == chunk and shoe.read[0] < compiled.numbers.cut:
            bucket = start_round(counter, shoe, luck_model, ledger)
            clear(seats)
            insurable = counter.ace >= 0
            sure = insurable and shoe.size - shoe.read[0] >= len(compiled.deal)  # no other shoe begins during the deal
            expected = expect_insurance(counter) if sure else 0.0
            dealer, shown, column, context = deal(compiled, shoe, seats, luck_model, ledger)
            hide_hole_card(counter, shoe)
            won = insure(counter, shoe, column) if insurable else np.int64(0)
            if not sure:
                expected += 0.5 * won
            ended = compiled.numbers.peek and compiled.dealer_out[dealer] == compiled.numbers.natural_outcome
            if ended:
                column = compiled.ended_column[column]
            need = play_seats(compiled, shoe, seats, column, context, luck_model, ledger, counter)
            if need == RAN_AWAY:
                return RAN_AWAY
            if not ended:
                dealer = play_dealer(compiled, shoe, dealer, shown, need, luck_model, ledger)
            count_luck(luck_model, ledger)
            show_hole_card(counter, shoe)
            outcome = compiled.dealer_out[dealer]
            code = tally_round(seats, counter, ledger, tally, bucket, outcome, won, expected)
            if number < len(tally.trace):
                trace = tally.trace[number]
                trace[0], trace[1], trace[2], trace[3] = bucket, code, won, shoe.before[0] + shoe.read[0]
            number += 1
        close_shoe(tally, shoe_number & 1)
    return number
