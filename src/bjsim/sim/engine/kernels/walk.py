"""The kernel that plays everything but one chart alone: any seats and spots, charts or a counter, with luck or without.

An argument that is None costs nothing: numba compiles the kernel for what it is given, and drops what a condition like
`luck is not None` excludes (not `is None`, which it does not evaluate).
"""

from typing import Any

import numpy as np

from bjsim.sim.engine.jit import compiled, inner
from bjsim.sim.engine.kernels.arrays import (
    ASKED,
    BITS,
    DEPTHS,
    FLAGS,
    FREE,
    FURTHER,
    INSURES,
    LEAVES,
    LEFT,
    LOGGED,
    OVER,
    PAIRS,
    PRODUCTS,
    PROFIT,
    ROUNDS,
    SCALE,
    SQUARES,
    STAKES,
    STRIDE,
    VALUE,
    WAITS,
)
from bjsim.sim.engine.kernels.layout import LEFT_TABLE
from bjsim.sim.engine.kernels.luck import (
    HIDDEN,
    add_gap,
    close_shoe,
    deal_card,
    fill_shoe,
    find_drift,
    judge,
    note_card,
    value_now,
)
from bjsim.sim.engine.kernels.plain import count_payoff, split_payoff
from bjsim.sim.engine.kernels.shoe import begin_shoe, card_at, draw
from bjsim.sim.engine.kernels.vectors import dot, remove_card

ACE = 0  # its rank
# Places in the working memory: the count, what it decides in this round, the hidden card and its shoe, the shoe whose
# sums are open, shoes begun, rounds played, and rows in `Counts.overflow`.
RUNNING, ACES, BUCKET, MODEL, CELL, HOLE, HOLE_SHOE, OPENED, PLAYED, DONE, OVERFLOW = range(11)
STATE = 11


@inner(forceinline=True)
def find_next(deal: Any, seats: Any, n: Any, drawn: Any, who: Any, free: Any) -> Any:
    """Who gets the next card: in the deal, a seat that acts, or else the dealer, whose number is that of the seats."""
    if drawn < deal.dealt[n]:
        return deal.opening[n, drawn]
    first = np.int64(0)
    if drawn > deal.dealt[n] and who < n:
        first = who
        if deal.robin and free:  # the next seat, unless the last has decided nothing
            first += 1
    for k in range(first, first + n):
        s = k if k < n else k - n
        if not seats.flags[s] & WAITS:
            return np.int64(s)
    return np.int64(len(seats.row))


@inner(forceinline=True)
def find_asked(deal: Any, seats: Any, n: Any, drawn: Any, who: Any, free: Any) -> Any:
    """The seat that is asked for an action, or the number of the seats: all insure before anyone plays."""
    if drawn == deal.dealt[n]:
        for s in range(n):
            if seats.flags[s] & INSURES:
                return np.int64(s)
    s = find_next(deal, seats, n, drawn, who, free)
    return s if s < n and seats.flags[s] & ASKED else np.int64(len(seats.row))


@inner()
def log_hand(moves: Any, seats: Any, luck: Any, track: Any, s: Any, hand: Any) -> None:
    """Log a split hand, which is paid by the dealer's outcome."""
    for o in range(seats.split.shape[1]):
        seats.split[s, o] += moves.hands[hand, o]
        if luck is not None:
            track.logged[s, o] += luck.pay[1 + hand, o]
    seats.splits[s] = 1


@inner(forceinline=True)
def follow(moves: Any, seats: Any, luck: Any, track: Any, model: Any, s: Any, code: Any) -> Any:
    """Follow the entry of a card or an action. Returns: whether the seat's round is over, or has left the table."""
    place = seats.row[s] + code
    entry = np.int64(moves.entries[place])
    seats.row[s], seats.flags[s] = entry >> BITS, entry & FLAGS
    if not entry & LOGGED:
        return False
    log = np.int64(moves.log[place])
    if log > len(moves.ends):
        log_hand(moves, seats, luck, track, s, log - len(moves.ends) - 1)
        return False
    if not entry & LEAVES:
        seats.row[s], outcome = -1, moves.ends[log - 1, 1]
        seats.code[s] = moves.ends[log - 1, 0]
        if seats.splits[s]:
            seats.code[s] += seats.split[s, outcome]
        if luck is not None:
            end = luck.values[model * luck.places + len(luck.after) + log - 1]
            track.end[s] = end + track.logged[s, outcome] if seats.splits[s] else end
    return True


@inner()
def clear_splits(seats: Any, luck: Any, track: Any, s: Any) -> None:
    seats.splits[s] = 0
    for o in range(seats.split.shape[1]):
        seats.split[s, o] = 0
        if luck is not None:
            track.logged[s, o] = 0.0


@inner()
def add_depths(shoe: Any, counter: Any, control: Any, unseen: Any, now: Any) -> None:
    """Add the value and the number of the depths of a shoe, as `count_depths` does."""
    running, aces, cut = counter.initial, counter.aces, shoe.rules.cut
    for q in range(len(control.full)):
        unseen[q] = np.int16(control.full[q])
    for depth in range(0, cut, control.step):
        bucket = np.int64(counter.buckets[depth, running + counter.side_aces * aces - counter.lowest_bet])
        value = dot(control.slopes, bucket, unseen) / (SCALE * (shoe.rules.size - depth))
        now[VALUE, bucket] += control.values[bucket] + value
        now[DEPTHS, bucket] += 1.0
        for n in range(depth, min(depth + control.step, cut)):
            card = card_at(shoe, n)
            running += counter.tags[card]
            aces -= card == ACE
            remove_card(unseen, min(card, len(control.full) - 1))


@inner(forceinline=True)
def find_cell(shoe: Any, counter: Any, now: Any) -> Any:
    """The cell of the count by which a seat decides; the hidden card is not seen."""
    if counter.before_round:
        return now[CELL]
    seen, running = shoe.read[0], now[RUNNING]
    if now[HOLE] >= 0 and now[HOLE_SHOE] == shoe.number[0]:
        seen -= 1
        running -= counter.tags[now[HOLE]]
    return np.int64(counter.cells[seen, running - counter.lowest])


@inner(forceinline=True)
def add_counted(counter: Any, tally: Any, seats: Any, luck: Any, track: Any, n: Any, now: Any) -> None:
    """Add a round of the counter's spots to the sums of its bucket."""
    profit, stakes, squares, lucky = np.int64(0), np.int64(0), np.int64(0), 0.0
    for s in range(counter.seat, n):
        won, staked = split_payoff(seats.code[s])
        profit += won
        stakes += staked
        squares += won * won
        if luck is not None:
            lucky += (track.end[s] - track.expected[s]) / SCALE
    bucket, spots = now[BUCKET], n - counter.seat
    raw, means = tally.raw[bucket], tally.now[now[PLAYED] - 1]
    raw[ROUNDS] += 1
    raw[PROFIT] += profit
    raw[SQUARES] += squares
    raw[STAKES] += stakes
    raw[PAIRS] += profit * profit - squares
    means[ROUNDS, bucket] += 1.0
    means[PROFIT, bucket] += (profit * counter.bet - lucky) / spots
    means[SQUARES, bucket] += squares / spots
    means[PRODUCTS, bucket] += (profit * profit - squares) / max(spots * (spots - 1), 1)


@inner(inline="always")
def next_shoe(
    shoe: Any, rounds: Any, luck: Any, track: Any, drift: Any, drifted: Any, counter: Any, control: Any,
    tally: Any, now: Any,
) -> Any:  # fmt: skip
    """Before a round: shuffle after the cut card, and open the sums of a new shoe. Returns: whether a round follows."""
    if drift is not None and now[OPENED] >= 0 and shoe.number[0] != now[OPENED]:  # a round ran on into this shoe
        open_shoe(shoe, rounds, luck, track, drift, drifted, now)
    if shoe.read[0] >= shoe.rules.cut:
        begin_shoe(shoe)
        if luck is not None:
            fill_shoe(luck, track)
        if counter is not None:
            now[RUNNING], now[ACES] = counter.initial, counter.aces
    if shoe.number[0] != now[OPENED]:
        if drift is not None:
            open_shoe(shoe, rounds, luck, track, drift, drifted, now)
        if counter is not None:
            if now[PLAYED] == len(tally.now):
                return False
            if luck is not None:
                add_depths(shoe, counter, control, drifted, tally.now[now[PLAYED]])
        now[OPENED] = shoe.number[0]
        now[PLAYED] += 1
    return True


@inner()
def open_shoe(shoe: Any, rounds: Any, luck: Any, track: Any, drift: Any, drifted: Any, now: Any) -> None:
    """Close the sums of the shoe before, if there is one, and open those of this one."""
    if now[OPENED] >= 0:
        close_shoe(track, drift, drifted)
    find_drift(luck, track, drift, drifted, shoe, rounds - now[DONE])
    now[OPENED] = shoe.number[0]


@inner(forceinline=True)
def look_at_count(shoe: Any, luck: Any, counter: Any, now: Any) -> None:
    """Find what the count before a round decides."""
    seen, running = shoe.read[0], now[RUNNING]
    at = running + counter.side_aces * now[ACES] - counter.lowest_bet
    now[BUCKET] = counter.buckets[seen, at]
    now[CELL] = counter.cells[seen, running - counter.lowest]
    if luck is not None:
        now[MODEL] = luck.model[now[BUCKET]]


@inner(forceinline=True)
def see_card(shoe: Any, counter: Any, card: Any, now: Any) -> None:
    if shoe.read[0] == 1:
        now[RUNNING], now[ACES] = counter.initial, counter.aces
    now[RUNNING] += counter.tags[card]
    now[ACES] -= card == ACE


@inner(forceinline=True)
def begin_round(moves: Any, seats: Any, luck: Any, track: Any, counter: Any, n: Any, now: Any) -> None:
    for s in range(n):
        seats.row[s], seats.flags[s], seats.code[s] = moves.start[s], 0, 0
        if luck is not None:
            place = now[MODEL] * luck.places + moves.start[s] // STRIDE
            track.expected[s] = luck.values[place] + dot(luck.slopes, place, track.counts) / track.left[0]
            if counter is not None:
                track.unread[s], track.shadow[s] = 0, 0


@inner()
def weigh_last(seats: Any, luck: Any, track: Any, model: Any, first: Any, n: Any, sign: Any) -> None:
    """The last card of a shoe is certain, so it is no luck: subtract V before it (sign -1), and add V after it."""
    for s in range(first, n):
        if sign < 0:
            seats.mark[s] = seats.row[s] >= 0
        if seats.mark[s]:
            track.expected[s] += sign * value_now(luck, track, seats, model, s)


@inner(forceinline=True)
def give_card(
    moves: Any, deal: Any, seats: Any, luck: Any, track: Any, counter: Any, first: Any, n: Any, drawn: Any, who: Any,
    card: Any, now: Any,
) -> Any:  # fmt: skip
    """Give a card to a seat, or to all by the dealer. Returns: how many rounds it ends, or LEFT_TABLE."""
    over, rank, model = np.int64(0), card, now[MODEL]
    if luck is not None:
        rank = min(card, luck.ranks - 1)
    begin, end = (np.int64(0), n) if who == len(seats.row) else (who, who + 1)
    for s in range(begin, end):
        if seats.row[s] >= 0:
            if luck is not None and s >= first:
                add_gap(luck, track, seats, model, s)
                if counter is not None and deal.hole[n] >= 0:
                    note_card(moves, luck, track, s, HIDDEN if drawn == deal.hole[n] else rank)
            if follow(moves, seats, luck, track, model, s, card):
                if seats.row[s] >= 0:
                    return np.int64(LEFT_TABLE)
                over += 1
    if luck is not None:
        deal_card(luck, track, rank)
    return over


@inner(forceinline=True)
def answer(
    shoe: Any, moves: Any, seats: Any, luck: Any, track: Any, counter: Any, first: Any, s: Any, now: Any
) -> Any:  # fmt: skip
    """Answer what a seat is asked. Returns: whether its round is over, or has left the table."""
    chart, hole, model = np.int64(counter.other), now[HOLE], now[MODEL]
    if s >= first:
        chart = np.int64(counter.chart[find_cell(shoe, counter, now)])
    row, moves_value = seats.row[s] // STRIDE, False
    number = moves.question[row] - 1
    code = moves.answers[number, chart]
    if luck is not None and s >= first:
        # the model's own answer leaves the value as it is, but the pay of a split hand is rounded by itself
        moves_value = code != moves.answers[number, luck.chart[model]] or luck.hand[row, code] > 0
        if moves_value:
            track.expected[s] -= value_now(luck, track, seats, model, s)
        if hole >= 0:
            secret = min(hole, luck.ranks - 1)
            known = now[HOLE_SHOE] == shoe.number[0] and shoe.read[0] < shoe.rules.size
            judge(moves, luck, track, model, s, chart, secret, known)
    over = follow(moves, seats, luck, track, model, s, code)
    if luck is not None and moves_value:
        track.expected[s] += value_now(luck, track, seats, model, s)
    return over


@inner(forceinline=True)
def play_round(
    shoe: Any, moves: Any, deal: Any, seats: Any, luck: Any, track: Any, counter: Any, first: Any,
    n: Any, now: Any,
) -> Any:  # fmt: skip
    """Play a round of `n` seats. Returns: whether it has stayed in the table."""
    drawn, who, free, alive, begun, last = np.int64(0), np.int64(0), True, n, shoe.number[0], False
    now[HOLE] = -1
    while alive > 0 or drawn < deal.dealt[n]:
        who = find_next(deal, seats, n, drawn, who, free)
        card = np.int64(draw(shoe))
        if counter is not None:
            if shoe.number[0] - begun > FURTHER:
                return False
            see_card(shoe, counter, card, now)
            if drawn == deal.hole[n]:
                now[HOLE], now[HOLE_SHOE] = card, shoe.number[0]
        if luck is not None:
            last = shoe.read[0] == shoe.rules.size
            if last:
                weigh_last(seats, luck, track, now[MODEL], first, n, -1.0)
        over = give_card(moves, deal, seats, luck, track, counter, first, n, drawn, who, card, now)
        if over < 0:
            return False
        if luck is not None and last:  # before answers, which add what they change by themselves
            weigh_last(seats, luck, track, now[MODEL], first, n, 1.0)
        alive -= over
        drawn += 1
        if who < len(seats.row):
            free = (seats.flags[who] & FREE) > 0 or seats.row[who] < 0
        if counter is not None:
            while drawn >= deal.dealt[n]:
                s = find_asked(deal, seats, n, drawn, who, free)
                if s == len(seats.row):
                    break
                if answer(shoe, moves, seats, luck, track, counter, first, s, now):
                    if seats.row[s] >= 0:
                        return False
                    alive -= 1
                who, free = s, False
    return True


@inner(forceinline=True)
def step(moves: Any, seats: Any, s: Any, card: Any) -> Any:
    """Follow the entry of a card. Returns: the entry, whose place is noted as the seat's row."""
    place = (seats.flags[s] >> BITS) + card
    entry = np.int64(moves.entries[place])
    seats.row[s], seats.flags[s] = place, entry
    if entry & LOGGED and not entry & OVER:
        log_hand(moves, seats, None, None, s, np.int64(moves.log[place]) - len(moves.ends) - 1)
    return entry


@inner(forceinline=True)
def play_plain(shoe: Any, moves: Any, deal: Any, seats: Any) -> Any:
    """As `play_round`, without luck and counter, and with few branches, as a processor cannot foresee them."""
    n = len(seats.row)
    for s in range(n):
        seats.flags[s] = moves.start[s] << BITS
    for drawn in range(deal.dealt[n]):
        who, card = deal.opening[n, drawn], np.int64(draw(shoe))
        if who < n:
            step(moves, seats, who, card)
        else:
            for s in range(n):
                if not seats.flags[s] & OVER:
                    step(moves, seats, s, card)
    acting = np.int64(0)
    while acting < n:  # a seat that waits is passed without a card
        while acting < n and seats.flags[acting] & WAITS:
            acting += 1
        if acting < n:
            step(moves, seats, acting, np.int64(draw(shoe)))
    over = np.int64(OVER)
    for s in range(n):
        over &= seats.flags[s]
    while not over:
        card, over = np.int64(draw(shoe)), np.int64(OVER)
        for s in range(n):
            entry, place = seats.flags[s], seats.row[s]
            later = (entry >> BITS) + card
            following = np.int64(moves.entries[later])
            seats.row[s] = place if entry & OVER else later
            seats.flags[s] = entry = entry if entry & OVER else following
            over &= entry
    for s in range(n):
        if seats.flags[s] & LEAVES:
            return False
        end = np.int64(moves.log[seats.row[s]]) - 1
        seats.code[s] = moves.ends[end, 0]
        if seats.splits[s]:
            seats.code[s] += seats.split[s, moves.ends[end, 1]]
    return True


@inner(forceinline=True)
def add_plain(counts: Any, shoe: Any, seats: Any, track: Any, drift: Any, now: Any) -> None:
    """Count the payoffs of a round."""
    for s in range(len(seats.row)):
        code = seats.code[s]
        now[OVERFLOW] = count_payoff(counts, s, code, now[OVERFLOW])
        if now[DONE] < len(counts.trace):
            counts.trace[now[DONE], s] = code
        if drift is not None:
            units, tied = split_payoff(code)
            track.units[s] += units
            track.bets[s] += 1 - tied
            track.gone[s] += (track.end[s] - track.expected[s]) / SCALE
    if now[DONE] < len(counts.trace):
        counts.trace[now[DONE], len(seats.row)] = shoe.before[0] + shoe.read[0]


@compiled(nogil=True, _nrt=False)
def walk_plain(shoe: Any, moves: Any, deal: Any, seats: Any, rounds: Any, counts: Any, now: Any) -> Any:
    """As `walk`, for seats that play charts one after another, without luck."""
    now[:] = 0
    while now[DONE] < rounds:
        if shoe.read[0] >= shoe.rules.cut:
            begin_shoe(shoe)
        if not play_plain(shoe, moves, deal, seats):
            return np.int64(LEFT_TABLE)
        add_plain(counts, shoe, seats, None, None, now)
        for s in range(len(seats.row)):
            if seats.splits[s]:
                clear_splits(seats, None, None, s)
        now[DONE] += 1
    return now[OVERFLOW]


@compiled(nogil=True, _nrt=False)
def walk(
    shoe: Any, moves: Any, deal: Any, seats: Any, rounds: Any, counts: Any, luck: Any,
    track: Any, drift: Any, drifted: Any, counter: Any, control: Any, tally: Any, now: Any,
) -> Any:  # fmt: skip
    """Play `rounds` rounds of charts, or as many shoes of a counter as `tally` has room for.

    Returns: the rows in `counts.overflow`, or LEFT_TABLE. See `ShoeArrays` and `Counts`, and `arrays.py` for the rest;
    `luck` and `track` are None without luck, `counter`, `control` and `tally` without a counter, else `counts` and
    `drift`. Working memory is `drifted`, the drift by chart, or of a counter the cards left at a depth, int16 (WIDE,);
    and `now`, int64 (STATE,).
    """
    n, first = np.int64(len(moves.start)), np.int64(0)
    now[:] = 0
    now[OPENED] = -1
    while now[DONE] < rounds:
        if not next_shoe(shoe, rounds, luck, track, drift, drifted, counter, control, tally, now):
            break
        if counter is not None:
            look_at_count(shoe, luck, counter, now)
            if now[BUCKET] <= counter.leave:
                tally.raw[0, LEFT] += 1
                shoe.read[0] = shoe.rules.cut
                continue
            first, n = np.int64(counter.seat), np.int64(counter.seat + counter.spots[now[BUCKET]])
        begin_round(moves, seats, luck, track, counter, n, now)
        if not play_round(shoe, moves, deal, seats, luck, track, counter, first, n, now):
            return np.int64(LEFT_TABLE)
        if counts is not None:
            add_plain(counts, shoe, seats, track, drift, now)
        if counter is not None:
            add_counted(counter, tally, seats, luck, track, n, now)
        for s in range(n):
            if seats.splits[s]:
                clear_splits(seats, luck, track, s)
        now[DONE] += 1
    if drift is not None and now[OPENED] >= 0:
        close_shoe(track, drift, drifted)
    return now[OVERFLOW]
