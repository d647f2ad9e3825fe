"""The counting round: one player counts cards, and every round is tallied by the count before it (numba).

The counter plays one or more spots, by the count before the round. The other players act first, whose cards are seen.

Play does not depend on the bet, so that one run serves every bet ramp. Profits are luck-adjusted as in the compiled
round; the sums over shoes of all products serve intervals and the depth control (`docs/explanation/counting.md`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bjsim.sim.engine.jit import compiled
from bjsim.sim.engine.kernels.count_insurance import foresee_insurance, insure, judge_insurance
from bjsim.sim.engine.kernels.count_layout import DEPTHS, INSURANCE, PRODUCTS, PROFIT, ROUNDS, SQUARES, VALUE
from bjsim.sim.engine.kernels.counter import TEN, bet_bucket, count_cards, hide_hole_card, show_hole_card
from bjsim.sim.engine.kernels.layout import LuckModel, Seats
from bjsim.sim.engine.kernels.luck import count_luck, fresh_shoe
from bjsim.sim.engine.kernels.payoff import split_payoff
from bjsim.sim.engine.kernels.play import RAN_AWAY, clear, deal, ends_round, play_dealer, play_seats
from bjsim.sim.engine.kernels.shoe import begin_shuffle, shuffle

LONG = 16  # cards for each hand that a round hardly ever draws before the dealer's second card


@compiled(_nrt=False)
def tally_depths(compiled: Any, shoe: Any, counter: Any, control: Any, tally: Any) -> None:
    """Add the controls of a shoe, which depend on the order of its cards alone: value and number of its depths."""
    now, buckets, cut = tally.now, len(counter.model), compiled.numbers.cut
    running = counter.initial
    for n in range(cut):
        if n % control.step == 0:
            b = bet_bucket(counter, n, running, control.left[0])
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
        if luck_model is not None:
            fresh_shoe(luck_model, ledger, np.int64(0))
    stop = min((compiled.numbers.cut + 3) // 4 * 4, shoe.size)
    if shoe.ready[0] < stop:
        shuffle(shoe, stop)
    if luck_model is not None:
        tally_depths(compiled, shoe, counter, control, tally)


@compiled(_nrt=False)
def close_shoe(tally: Any) -> None:
    """Add the quantities of a shoe and their products to the sums of a half of the sample: of every other shoe."""
    used, half = 0, (tally.shoes[0] + tally.shoes[1]) & 1
    for i in range(len(tally.now)):
        if tally.now[i] != 0.0:
            tally.used[used] = i
            used += 1
    tally.shoes[half] += 1
    sums, products = tally.sums[half], tally.products[half]
    for m in range(used):
        i = tally.used[m]
        value, row = tally.now[i], products[i]
        sums[i] += value
        for n in range(m + 1):
            j = tally.used[n]
            row[j] += value * tally.now[j]
    for m in range(used):
        tally.now[tally.used[m]] = 0.0


@compiled(_nrt=False, forceinline=True)
def start_round(counter: Any, shoe: Any, luck_model: Any, ledger: Any) -> Any:
    """Begin a round. Returns: the bucket of its count."""
    state = counter.state[0]
    state.cell = count_cards(counter, shoe)
    bucket = bet_bucket(counter, state.seen, state.running, counter.unseen[0])
    if luck_model is not None:
        for s in range(counter.seat, counter.seat + counter.spots[bucket]):
            luck_model.chart[s] = counter.model[bucket]
        for s in range(len(ledger.different)):
            for i in range(ledger.different[s]):
                ledger.finished[s, ledger.kinds[s, i]] = 0
            ledger.different[s] = 0
            ledger.profit[s] = 0.0
    return bucket


@compiled(_nrt=False, forceinline=True)
def deal_in(seats: Any, luck_model: Any, hands: Any) -> Any:
    """The first seats of the table, and their luck model: helpers go by the lengths of `hand` and `chart`."""
    some = Seats(seats.hand[:hands], *seats[1:])
    if luck_model is None:
        return some, None
    theirs = LuckModel(
        luck_model.ev,
        luck_model.slopes,
        luck_model.own,
        luck_model.chart[:hands],
        luck_model.dealt,
        luck_model.hit,
        luck_model.double,
        luck_model.split,
        luck_model.dealer,
        luck_model.context_add,
        luck_model.start,
        luck_model.value,
        luck_model.full,
    )
    return some, theirs


@compiled(_nrt=False, forceinline=True)
def tally_round(counter: Any, ledger: Any, tally: Any, bucket: Any, won: Any, expected: Any) -> None:
    """Tally a round, of which `tally.paid` has the payoff codes. ledger: None, or the luck of the counter's seats."""
    now, buckets, spots, raw = tally.now, len(counter.model), counter.spots[bucket], tally.raw[bucket]
    half = np.int64(round(0.5 / tally.quantum))
    total = squares = stakes = np.int64(0)
    adjusted = 0.0
    for spot in range(spots):
        units, bets = split_payoff(tally.paid[spot])
        profit = units * tally.times + won * half
        total += profit
        squares += profit * profit
        stakes += bets * 2 * half
        adjusted += units * tally.bet + (0.0 if ledger is None else ledger.profit[counter.seat + spot])
    share, products = 1.0 / spots, total * total - squares
    raw[0] += 1
    raw[1] += total
    raw[2] += squares
    raw[3] += stakes + (spots * half if won else 0)
    raw[4] += won != 0
    raw[5] += won
    raw[6] += products
    now[ROUNDS * buckets + bucket] += 1.0
    now[PROFIT * buckets + bucket] += adjusted * share + expected
    now[SQUARES * buckets + bucket] += squares * share
    if spots > 1:
        now[PRODUCTS * buckets + bucket] += products / (spots * (spots - 1))
    now[INSURANCE * buckets + bucket] += expected


@compiled(_nrt=False)
def trace_round(shoe: Any, counter: Any, tally: Any, bucket: Any, won: Any) -> None:
    """Note a round in the trace."""
    number = tally.rounds[0]
    tally.rounds[0] += 1
    if number < len(tally.trace):
        trace = tally.trace[number]
        trace[0], trace[2], trace[3] = bucket, won, shoe.before[0] + shoe.read[0]
        for spot in range(counter.spots[bucket]):
            trace[3 + spot if spot else 1] = split_payoff(tally.paid[spot])[0]


@compiled(nogil=True, _nrt=False)
def play_counting(
    compiled: Any,
    shoe: Any,
    shoes: Any,
    table: Any,
    counter: Any,
    model: Any,
    ledger: Any,
    control: Any,
    tally: Any,
) -> Any:
    """Play whole shoes at one table, at which one player counts, or each until the counter leaves.

    Args:
        compiled: The compiled rules, with a row of `act` for each chart; see `CompiledRules`.
        shoe: The cards, see `ShoeArrays`.
        shoes: The number of shoes.
        table: The hands of all seats, see `Seats`.
        counter: See `Counter`.
        model: See `LuckModel`; `chart` is set for every round. None: without luck adjustment and depth control.
        ledger: See `Ledger`; without drift.
        control: See `DepthControl`.
        tally: The sums to add to, see `CountTally`.

    Returns:
        RAN_AWAY if a seat exceeded the limit on hands, else 0.
    """
    insurable, hides = counter.ace >= 0, counter.after >= 0
    to_dealer = compiled.deal.sum()
    to_hand = len(compiled.deal) - to_dealer + (0 if hides else LONG)
    for _ in range(shoes):
        open_shoe(compiled, shoe, counter, model, ledger, control, tally)
        chunk = shoe.chunk[0]
        while shoe.chunk[0] == chunk and shoe.read[0] < compiled.numbers.cut:
            bucket = start_round(counter, shoe, model, ledger)
            if bucket <= counter.leave:  # the counter goes to a fresh shoe, and others play the rest of this one
                shoe.read[0] = compiled.numbers.cut
                break
            hands = counter.seat + counter.spots[bucket]
            seats, luck_model = deal_in(table, model, hands)
            clear(seats)
            guess = expected = 0.0
            needed = to_dealer + to_hand * hands  # cards of this shoe, until insurance is settled
            sure = model is not None and insurable and shoe.size - shoe.read[0] >= needed
            if sure:
                expected, guess = foresee_insurance(counter, hands)
            dealer, shown, column, context = deal(compiled, shoe, seats, luck_model, ledger)
            hide_hole_card(counter, shoe, hands)
            won = insure(counter, shoe, column) if insurable else np.int64(0)
            if sure and hands > 1:
                expected += judge_insurance(counter, shoe, column, won, guess)
            ended = ends_round(compiled, dealer)
            if ended:
                column = compiled.ended_column[column]
            need = play_seats(compiled, shoe, seats, column, context, luck_model, ledger, counter)
            if need == RAN_AWAY:
                return RAN_AWAY
            if won and not hides:
                need = max(need, np.int64(1))  # insurance waits for the dealer's second card
            if not ended:
                dealer = play_dealer(compiled, shoe, dealer, shown, need, luck_model, ledger)
            if model is not None:
                count_luck(luck_model, ledger)
            show_hole_card(counter, shoe)
            outcome = compiled.dealer_out[dealer]
            if won and outcome == compiled.numbers.natural_outcome:
                won = np.int64(2)
            if not sure:
                expected += 0.5 * won
            for spot in range(counter.spots[bucket]):
                tally.paid[spot] = seats.payoff[counter.seat + spot, outcome]
            tally_round(counter, ledger, tally, bucket, won, expected)
            trace_round(shoe, counter, tally, bucket, won)
        close_shoe(tally)
    return 0
