"""The compiled round: numba code that plays a plan (`plan.py`) on the cards of a stream (`shoe.py`).

Plan arrays go in, payoff counts come out. numba's disk cache does not notice edits elsewhere, so all that the
kernel calls is in this file and everything else is passed in. Import this module only where rounds are played:
importing numba takes a third of a second.

`play` is one function on purpose: split up, it hands its dozen arrays around at each call, which was measured to be 10
to 50 times slower. `_nrt=False` (no allocation, no reference counts) is for the same reason; `play_rounds` allocates.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from bjsim.errors import EndlessSplitting
from bjsim.sim.engine.jit import compiled
from bjsim.sim.engine.luck_model import WIDE, LuckModel, filled_up
from bjsim.sim.engine.plan import NO_LIMIT, Numbers, Plan
from bjsim.sim.engine.round_table import Fold
from bjsim.sim.game.random_stream import stream_key

Array = np.ndarray[Any, Any]

TIED = 1 << 32  # as in `plan.py`; numba's cache would not notice a change there
# positions in `Plan.numbers`
PEEK, NATURAL, MAX_HANDS, SURRENDERED, ROUND_ROBIN, DECKS, CUT, NORMAL_TENS, WIDTH, TIES = range(10)
STAND, HIT, DOUBLE, SPLIT, SURRENDER = 1, 2, 3, 4, 5  # codes in `Plan.act`; 0: the hand stands by itself
# of a shoe: cards read, cards ready, number of the filling, all cards dealt; of a lane also: where its row begins, the
# length of its log, the length to look at it and the card to look at its shoe, its block and the rounds played of it
READ, READY, CHUNK, DEALT, ROW, LOGGED, LOOK, LIMIT, BLOCK, OVER = range(10)
LANE = 10
HAND, HALF, WAITING, COUNT, ACTING = range(5)  # of a seat: states of hand and half-hands, halves waiting, hands held
OPENING, WAIT, SKIPPED, STOP = range(4)  # positions in `Fold.numbers`
STARTED, MOST, USUAL, LATER, FINITE, PLAYED = range(6)  # of `Ledger.rounds`
PROFIT, BETS = range(2)  # of `Ledger.unit`
RAN_AWAY = -1
NOTES = 256  # draws noted before their luck is counted, at the latest; the log has room for one draw more
PILOT_TABLE = 2**32  # number of a table that nobody plays at
RUNAWAY = 1_000_000  # hands of one seat in one round at which endless splitting is given up
_RAN_AWAY = f"a seat held {RUNAWAY:,} hands in one round, and no more are played: its splits end very late, or never"
BUFFER = 1024  # cards of an infinite shoe made at a time
KEPT = 32  # places before them, for earlier ones
AHEAD = 28  # cards of a shoe of whole decks shuffled at a time: a multiple of four
LANES = 4  # blocks played side by side; more would not fit in the processor's registers
STRIDE = 16  # cards that every lane walks before anything is looked at
LOG = 4096  # bytes of a lane's log


def _high_and_low(context: Any, one: Any, other: Any) -> Any:
    """The high and the low 64 bits of the product of two 64-bit words."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        wide = ir.IntType(128)
        product = builder.mul(*(builder.zext(argument, wide) for argument in arguments))
        halves = [builder.trunc(half, ir.IntType(64)) for half in (builder.lshr(product, wide(64)), product)]
        return context.make_tuple(builder, signature.return_type, halves)

    pair: Any = types.UniTuple(types.uint64, 2)  # type: ignore[no-untyped-call]
    return pair(types.uint64, types.uint64), code


high_and_low: Any = intrinsic(_high_and_low)


@compiled(inline="always")
def word(start: Any, gamma: Any, i: Any) -> Any:
    """Word number i of the stream."""
    z = start + np.uint64(i) * gamma
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@compiled(inline="always")
def half_word(start: Any, gamma: Any, i: Any) -> Any:
    """32-bit half number i of the stream, the low half of a word before its high half."""
    return (word(start, gamma, i >> 1) >> np.uint64(32 * (i & 1))) & np.uint64(0xFFFFFFFF)


@compiled(_nrt=False)
def fill(buffer: Any, start: Any, gamma: Any, chunk: Any, normal: Any, threshold: Any, other: Any) -> None:
    """Fill the buffer of an infinite shoe from KEPT on with its next BUFFER cards; `chunk` counts the calls from 0."""
    if normal:
        place = np.uint64(KEPT)
        for i in range(chunk * (BUFFER // 8), (chunk + 1) * (BUFFER // 8)):
            share = word(start, gamma, i) >> np.uint64(4)
            for _ in range(8):
                share *= np.uint64(13)
                buffer[place] = share >> np.uint64(60)
                share &= np.uint64((1 << 60) - 1)
                place += np.uint64(1)
    else:
        for i in range(BUFFER):
            bits = half_word(start, gamma, chunk * BUFFER + i)
            slot = bits & np.uint64(15)
            below = np.int64(bits >> np.uint64(4)) < threshold[slot]
            buffer[KEPT + i] = slot if below else other[slot]


@compiled(_nrt=False)
def shuffle(shoe: Any, start: Any, gamma: Any, number: Any, ready: Any, stop: Any, size: Any) -> None:
    """Fisher-Yates steps `ready` .. `stop` of shuffle `number` of a shoe of `size` cards; step 0 lays it out.

    A word serves four steps: the high half of its product with the cards left is the step's place, the low half goes
    on to the next. So `ready` and `stop` are multiples of four.
    """
    if ready == 0:
        for rank in range(13):
            shoe[rank * (size // 13) : (rank + 1) * (size // 13)] = rank
    i, left = np.uint64(ready), np.uint64(size - ready)
    for number_of_word in range(number * (size // 4) + ready // 4, number * (size // 4) + stop // 4):
        low = word(start, gamma, number_of_word)
        for _ in range(4):
            high, low = high_and_low(low, left)
            j = i + high
            shoe[i], shoe[j] = shoe[j], shoe[i]
            i += np.uint64(1)
            left -= np.uint64(1)


@compiled(_nrt=False)
def more(buffer: Any, at: Any, key: Any, numbers: Any, threshold: Any, other: Any) -> None:
    """Make the next cards ready in the buffer."""
    size = 52 * numbers[DECKS]
    if size == 0:
        at[CHUNK] += 1
        fill(buffer, key[0], key[1], at[CHUNK], numbers[NORMAL_TENS], threshold, other)
        at[READ], at[READY] = KEPT, KEPT + BUFFER
        return
    if at[READY] == size:
        at[CHUNK] += 1
        at[READ] = at[READY] = 0
    stop = min(at[READY] + AHEAD, size)
    shuffle(buffer, key[0], key[1], at[CHUNK], at[READY], stop, size)
    at[READY] = stop


@compiled(inline="always")
def draw(buffer: Any, at: Any, key: Any, numbers: Any, threshold: Any, other: Any) -> Any:
    """The rank index of the next card."""
    if at[READ] == at[READY]:
        more(buffer, at, key, numbers, threshold, other)
    at[READ] += 1
    at[DEALT] += 1
    return buffer[at[READ] - 1]


# --- luck: what the cards were worth, against what they could be expected to be (see `referee.py`)


@compiled(_nrt=False)
def fresh_shoe(luck_model: Any, ledger: Any, rounds: Any) -> None:
    """A full shoe from here on, in which `rounds` rounds at most will start."""
    ledger.left[0] = 0.0
    for q in range(len(luck_model.full)):
        ledger.counts[q] = luck_model.full[q]
        ledger.left[0] += luck_model.full[q]
    if not ledger.rounds[FINITE]:
        ledger.left[0] = 1.0
    ledger.rounds[STARTED] = 0
    ledger.rounds[MOST] = min(ledger.rounds[USUAL], rounds)


@compiled(_nrt=False)
def drift(luck_model: Any, ledger: Any, times: Any) -> None:
    """Take from every seat `times` times the first-order worth of the shoe's present composition."""
    for s in range(len(luck_model.chart)):
        slope = 0.0
        for q in range(len(luck_model.full)):
            slope += luck_model.start[luck_model.chart[s], q] * ledger.counts[q]
        ledger.unit[s, PROFIT] -= times * slope / max(ledger.left[0], 1.0)


@compiled(inline="always")
def start_round(luck_model: Any, ledger: Any, later: Any, shuffled: Any) -> None:
    """Begin a round, after which `later` more are played, from a shoe that is `shuffled` for it or not."""
    if shuffled:
        put_away(luck_model, ledger, later + 1)
    ledger.rounds[LATER] = later
    if ledger.rounds[STARTED] == 0 or not ledger.rounds[FINITE]:
        close_unit(ledger)
    ledger.rounds[STARTED] += 1
    if ledger.rounds[STARTED] <= ledger.rounds[MOST]:
        drift(luck_model, ledger, 1)
    for s in range(len(ledger.different)):
        for i in range(ledger.different[s]):
            ledger.finished[s, ledger.kinds[s, i]] = 0
        ledger.different[s] = 0


@compiled(_nrt=False)
def put_away(luck_model: Any, ledger: Any, rounds: Any) -> None:
    """End a shoe: the drift of the rounds it lacks to the usual number stays at its last value."""
    lacking = ledger.rounds[MOST] - ledger.rounds[STARTED]
    if lacking > 0:
        drift(luck_model, ledger, lacking)
    fresh_shoe(luck_model, ledger, rounds)


@compiled(_nrt=False)
def close_unit(ledger: Any) -> None:
    """Add up the rounds that started in one shoe: they depend on each other, shoes do not."""
    if ledger.rounds[PLAYED] == 0:
        return
    ledger.rounds[PLAYED] = 0
    for s in range(len(ledger.unit)):
        y, b = ledger.unit[s, PROFIT], ledger.unit[s, BETS]
        ledger.sums[s, 0] += 1
        ledger.sums[s, 1] += y
        ledger.sums[s, 2] += b
        ledger.sums[s, 3] += y * y
        ledger.sums[s, 4] += y * b
        ledger.sums[s, 5] += b * b
        ledger.unit[s, PROFIT] = ledger.unit[s, BETS] = 0.0


@compiled(inline="always")
def note(log: Any, noted: Any, seat: Any, node: Any, times: Any, card: Any, last: Any) -> Any:
    """Note that a card, drawn at a node, counts `times` times for a seat; `last`: and for no other hand."""
    log[noted, 0] = seat
    log[noted, 1] = node
    log[noted, 2] = times
    log[noted, 3] = card
    log[noted, 4] = last
    return noted + 1


@compiled(_nrt=False)
def note_dealt(chart: Any, dealt: Any, log: Any, noted: Any, context: Any, seat: Any, card: Any) -> Any:
    """Note a card dealt to the dealer before seats act."""
    for s in range(len(chart)):
        noted = note(log, noted, s, dealt[chart[s], context, seat[s, HAND]], 1, card, s == len(chart) - 1)
    return noted


@compiled(inline="always")
def split_node(split: Any, held: Any, waiting: Any) -> Any:
    """The node of a second card to a split half, of those for this chart, context and half."""
    deepest = min(held, split.shape[0] + 1)
    return split[deepest - 2, min(waiting, deepest - 1)]


@compiled(inline="always")
def finish_hand(finished: Any, kinds: Any, different: Any, s: Any, kind: Any) -> None:
    """Note a finished hand of this kind: its result, doubled or not."""
    if finished[s, kind] == 0:
        kinds[s, different[s]] = kind
        different[s] += 1
    finished[s, kind] += 1


@compiled(_nrt=False)
def note_dealer(
    chart: Any, nodes: Any, finished: Any, kinds: Any, different: Any, log: Any, noted: Any, dealer: Any, card: Any
) -> Any:
    """Note one of the dealer's later cards, which counts for all finished hands."""
    for s in range(len(chart)):
        for i in range(different[s]):
            kind = kinds[s, i]
            node = nodes[chart[s], dealer, kind >> 1, kind & 1]
            noted = note(log, noted, s, node, finished[s, kind], card, 0)
    return note(log, noted, 0, 0, 0, card, 1)


def _surprise(context: Any, ev: Any, own: Any, slopes: Any, counts: Any, left: Any, card: Any) -> Any:
    """How far the worth after the card is above the expected one; the card is still counted in the shoe.

    The worth after rank r is V_r + sum over q of g_r(q) c_q, with c the composition when r is gone. It is worked out
    for all ranks at once, in instructions for WIDE numbers, which numba does not find by itself.
    worth, own (WIDE,): V, and g_r(r). slopes (Q, WIDE), float32: g_r(q) at [q, r]. counts (WIDE,), left: of the shoe.
    """

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        double, whole = ir.DoubleType(), ir.IntType(32)
        wide, narrow = ir.VectorType(double, WIDE), ir.VectorType(ir.FloatType(), WIDE)
        quick = ("reassoc", "contract")  # in any order of summation
        ev, own, slopes, counts = (
            context.make_array(kind)(context, builder, array)
            for kind, array in zip(signature.args[:4], arguments[:4], strict=True)
        )
        left, card = arguments[4:]

        def load(address: Any, kind: Any = wide) -> Any:
            return builder.load(builder.bitcast(address, kind.as_pointer()), align=4)

        def repeat(number: Any) -> Any:
            one = builder.insert_element(wide(ir.Undefined), number, whole(0))
            return builder.shuffle_vector(one, one, ir.VectorType(whole, WIDE)([0] * WIDE))

        total = cgutils.alloca_once_value(builder, builder.fneg(load(own.data)))  # type: ignore[no-untyped-call]
        with cgutils.for_range(builder, builder.extract_value(slopes.shape, 0)) as loop:
            row = builder.gep(slopes.data, [builder.mul(loop.index, loop.index.type(WIDE))])
            count = repeat(builder.load(builder.gep(counts.data, [loop.index])))
            product = builder.fmul(builder.fpext(load(row, narrow), wide), count, quick)
            builder.store(builder.fadd(builder.load(total), product, quick), total)
        finite = builder.fcmp_ordered(">", left, double(1))  # an infinite shoe counts as 1 card: its law never changes
        share = builder.select(finite, builder.fdiv(double(1), builder.fsub(left, double(1))), double(0))
        after = builder.fadd(load(ev.data), builder.fmul(builder.load(total), repeat(share), quick), quick)
        add_up = cgutils.get_or_insert_function(  # type: ignore[no-untyped-call]
            builder.module, ir.FunctionType(double, [double, wide]), f"llvm.vector.reduce.fadd.v{WIDE}f64"
        )
        weighted = builder.fmul(after, load(counts.data), quick)
        expected = builder.fdiv(builder.call(add_up, [double(0), weighted], fastmath=quick), left)
        return builder.fsub(builder.extract_element(after, card), expected)

    return types.float64(ev, own, slopes, counts, left, card), code


surprise: Any = intrinsic(_surprise)


@compiled(inline="always")
def count_luck(luck_model: Any, ledger: Any, noted: Any) -> None:
    """Take the luck of the cards noted from the seats' profit, and count them out of the shoe."""
    log, counts, unit = ledger.log, ledger.counts, ledger.unit
    for i in range(noted):
        if ledger.left[0] == 0.0:  # a shoe that runs out in the middle of a round is followed by a fresh one
            put_away(luck_model, ledger, ledger.rounds[LATER])
        node, card = log[i, 1], min(log[i, 3], len(luck_model.full) - 1)
        if log[i, 2]:
            unit[log[i, 0], PROFIT] -= log[i, 2] * surprise(
                luck_model.ev[node], luck_model.own[node], luck_model.slopes[node], counts, ledger.left[0], card
            )
        if log[i, 4] and ledger.rounds[FINITE]:
            if ledger.left[0] > 1.0:  # the last one stays counted, for `drift`, with no card left
                counts[card] -= 1.0
            ledger.left[0] -= 1.0


@compiled(inline="always")
def settle(luck_model: Any, ledger: Any, s: Any, units: Any, tied: Any) -> None:
    """Count what a round paid a seat: profit above the value of the bets settled, a bet dealt again being worth it."""
    value = luck_model.value[luck_model.chart[s]]
    ledger.unit[s, PROFIT] += units * ledger.bet[0] - (1 - tied) * value
    ledger.unit[s, BETS] += 1 - tied
    ledger.rounds[PLAYED] = 1


@compiled(nogil=True, _nrt=False)
def play(
    add: Any, act: Any, half: Any, result: Any, pay: Any, waits: Any, dealer_add: Any, dealer_done: Any,
    dealer_out: Any, column: Any, deal: Any, numbers: Any, threshold: Any, other: Any,
    rounds: Any, key: Any, buffer: Any, at: Any, seat: Any, payoff: Any, counts: Any, trace: Any, outside: Any,
    luck_model: Any, ledger: Any,
) -> Any:  # fmt: skip
    """Play rounds at one table; see `play_rounds`, which makes the arrays. The first fourteen are the plan.

    key (2,): the stream. buffer, at: the shoe and where it stands. seat (seats, 5): see HAND ..;
    payoff (seats, O): what each seat's finished hands come to, by the dealer's outcome.
    referee, ledger: None, or what luck needs (`referee.py`, `Ledger`); numba leaves it out of the code for None.
    Returns: the number of rows written to `outside`, or RAN_AWAY.
    """
    seats, outcomes = payoff.shape
    size = 52 * numbers[DECKS]
    strays = 0
    for number in range(rounds):
        shuffled = size > 0 and at[READ] >= numbers[CUT]
        if shuffled:
            at[READ] = at[READY] = size
        if luck_model is not None:
            start_round(luck_model, ledger, rounds - number - 1, shuffled)
        for s in range(seats):
            seat[s, HAND] = seat[s, WAITING] = 0
            seat[s, COUNT] = seat[s, ACTING] = 1
            for o in range(outcomes):
                payoff[s, o] = 0

        dealer = shown = against = need = context = noted = 0
        for to_dealer in deal:
            if to_dealer:
                card = draw(buffer, at, key, numbers, threshold, other)
                if luck_model is not None:
                    noted = note_dealt(luck_model.chart, luck_model.dealt, ledger.log, noted, context, seat, card)
                    context = luck_model.context_add[context, card]
                dealer = dealer_add[dealer, card]
                against += column[shown, dealer]
                shown += 1
            else:
                for s in range(seats):
                    hand = seat[s, HAND]
                    card = draw(buffer, at, key, numbers, threshold, other)
                    if luck_model is not None:
                        node = luck_model.hit[luck_model.chart[s], context, hand]
                        noted = note(ledger.log, noted, s, node, 1, card, 1)
                    seat[s, HAND] = add[hand, card]
        ended = numbers[PEEK] and dealer_out[dealer] == numbers[NATURAL]

        acting = True
        while acting:
            acting = False
            for s in range(seats):
                moved = False
                while seat[s, ACTING]:
                    if luck_model is not None and noted > NOTES:
                        count_luck(luck_model, ledger, noted)
                        noted = 0
                    hand = seat[s, HAND]
                    free = 1 if seat[s, COUNT] < numbers[MAX_HANDS] else 0
                    code = 0 if ended else act[s, free, hand, against]
                    if code and moved and numbers[ROUND_ROBIN]:
                        acting = True  # its next decision is another turn's
                        break
                    moved = moved or code != 0
                    if code == HIT:
                        card = draw(buffer, at, key, numbers, threshold, other)
                        if luck_model is not None:
                            node = luck_model.hit[luck_model.chart[s], context, hand]
                            noted = note(ledger.log, noted, s, node, 1, card, 1)
                        seat[s, HAND] = add[hand, card]
                        continue
                    if code == SPLIT:
                        card = draw(buffer, at, key, numbers, threshold, other)
                        seat[s, HALF] = half[hand]
                        seat[s, HAND] = add[half[hand], card]
                        seat[s, WAITING] += 1
                        seat[s, COUNT] += 1
                        if seat[s, COUNT] > RUNAWAY:
                            return RAN_AWAY
                        if luck_model is not None:
                            split = luck_model.split[luck_model.chart[s], context, half[hand]]
                            node = split_node(split, seat[s, COUNT], seat[s, WAITING])
                            noted = note(ledger.log, noted, s, node, 1, card, 1)
                        continue
                    doubled = 0
                    if code == DOUBLE:
                        doubled = 1
                        card = draw(buffer, at, key, numbers, threshold, other)
                        if luck_model is not None:
                            node = luck_model.double[luck_model.chart[s], context, hand]
                            noted = note(ledger.log, noted, s, node, 1, card, 1)
                        hand = add[hand, card]
                    end = numbers[SURRENDERED] if code == SURRENDER else result[hand]
                    if luck_model is not None:
                        finish_hand(ledger.finished, ledger.kinds, ledger.different, s, 2 * end + doubled)
                    need = max(need, waits[end])
                    for o in range(outcomes):
                        payoff[s, o] += pay[end, doubled, o]
                    if seat[s, WAITING]:
                        seat[s, WAITING] -= 1
                        card = draw(buffer, at, key, numbers, threshold, other)
                        if luck_model is not None:
                            split = luck_model.split[luck_model.chart[s], context, seat[s, HALF]]
                            node = split_node(split, seat[s, COUNT], seat[s, WAITING])
                            noted = note(ledger.log, noted, s, node, 1, card, 1)
                        seat[s, HAND] = add[seat[s, HALF], card]
                    else:
                        seat[s, ACTING] = 0

        while need and not ended and (shown < 2 or (need == 2 and not dealer_done[dealer])):
            card = draw(buffer, at, key, numbers, threshold, other)
            if luck_model is not None:
                noted = note_dealer(
                    luck_model.chart, luck_model.dealer, ledger.finished, ledger.kinds, ledger.different, ledger.log, noted,
                    dealer, card,
                )  # fmt: skip
                if noted > NOTES:
                    count_luck(luck_model, ledger, noted)
                    noted = 0
            dealer = dealer_add[dealer, card]
            shown += 1
        if luck_model is not None:
            count_luck(luck_model, ledger, noted)

        for s in range(seats):
            code = payoff[s, dealer_out[dealer]]
            tied = (code + TIED // 2) >> 32
            place = code - (tied << 32) + numbers[WIDTH]
            if 0 <= place <= 2 * numbers[WIDTH] and tied <= numbers[TIES]:
                counts[s, tied, place] += 1
            else:
                outside[strays, 0] = s
                outside[strays, 1] = code
                strays += 1
            if luck_model is not None:
                settle(luck_model, ledger, s, code - (tied << 32), tied)
            if number < len(trace):
                trace[number, s] = code
        if number < len(trace):
            trace[number, seats] = at[DEALT]
    if luck_model is not None:
        close_unit(ledger)
    return strays


@compiled(inline="always")
def step(table: Any, cards: Any, place: Any, log: Any, row: Any, logged: Any) -> Any:
    """Give a lane its next card. Returns: where the row begins that it leads to, and the length of the log."""
    entry = np.uint64(table[row + np.uint64(cards[place])])
    log[logged] = entry
    return entry >> np.uint64(8), logged + (entry & np.uint64(1))


@compiled(_nrt=False)
def refill(buffer: Any, at: Any, key: Any, numbers: Any, threshold: Any, other: Any, kept: Any) -> None:
    """Add cards of an infinite shoe to those not read yet and the last `kept` that are."""
    unread = at[READY] - at[READ]
    for i in range(unread + kept):
        buffer[KEPT - unread - kept + i] = buffer[at[READ] - kept + i]
    at[CHUNK] += 1
    at[READ], at[READY] = KEPT - unread, KEPT + BUFFER
    fill(buffer, key[0], key[1], at[CHUNK], numbers[NORMAL_TENS], threshold, other)


@compiled(_nrt=False)
def read_log(
    log: Any, at: Any, rounds: Any, ends: Any, hands: Any, numbers: Any, classes: Any, counts: Any, trace: Any
) -> None:
    """Count the rounds in a lane's log, until it has `rounds`; what is logged of a round not over goes to the front.

    ends, hands: see `Fold`. classes (4, 128): how often each class of ends came to rounds without splits, in four parts
    as a counter waits for itself. counts (ties + 1, 2 width + 1): of rounds with splits. trace: the code of each round.
    """
    i, logged, played = 0, at[LOGGED], at[OVER]
    while i < logged and played < rounds:
        last = i
        while last < logged and log[last] > 2 * len(ends):
            last += 1
        if last == logged:
            break
        end = log[last] >> 1
        code = ends[end, 0]
        if last == i:
            classes[i & 3, end] += 1
        else:
            for k in range(i, last):
                code += hands[(log[k] >> 1) - len(ends), ends[end, 1]]
            tied = (code + TIED // 2) >> 32
            counts[tied, code - (tied << 32) + numbers[WIDTH]] += 1
        if played < len(trace):
            trace[played] = code
        played += 1
        i = last + 1
    for k in range(i, logged):
        log[k - i] = log[k]
    at[LOGGED], at[OVER] = logged - i, played


@compiled(nogil=True, _nrt=False)
def walk(
    table: Any, ends: Any, hands: Any, fold: Any, add: Any, act: Any, half: Any, result: Any, pay: Any, waits: Any,
    dealer_add: Any, dealer_done: Any, dealer_out: Any, column: Any, deal: Any, numbers: Any, threshold: Any,
    other: Any, rounds: Any, keys: Any, buffers: Any, at: Any, logs: Any, seat: Any, payoff: Any, classes: Any,
    counts: Any, traces: Any, trace: Any, outside: Any,
) -> Any:  # fmt: skip
    """Play `rounds[b]` rounds of every block b in four lanes, by its fold; `play_blocks` makes the arrays.

    A lane walks the table over the cards in its buffer and logs how hands and rounds end. What it does next depends
    only on its row and its next card, without a branch, so that the processor works on all lanes at once. A round that
    leaves the table, or that the shoe may be too short for, is played by `play`, from its first card. A lane whose
    block is over takes the next one; when there is none it walks on the spot.
    at (LANES, 12): see READ .. BLOCK. traces (blocks, n): the payoff codes of the first n rounds of each block.
    Returns: the number of rows written to `outside`, or RAN_AWAY.
    """
    size, stop, waiting = 52 * numbers[DECKS], fold[STOP], fold[WAIT]
    walking, following, strays = LANES, LANES, 0
    while True:
        for lane in range(LANES):
            here, log, block = at[lane], logs[lane], at[lane, BLOCK]
            if block == len(rounds):
                here[READ] = here[ROW] = here[LOGGED] = 0
            while block < len(rounds):
                by_plan = here[ROW] == waiting
                if by_plan:
                    while here[LOGGED] and log[here[LOGGED] - 1] == fold[SKIPPED]:
                        here[LOGGED] -= 1
                        here[READ] -= 1
                    here[READ] -= fold[OPENING]
                elif here[READ] > here[LIMIT]:
                    if size == 0:
                        refill(buffers[lane], here, keys[block], numbers, threshold, other, fold[OPENING])
                    elif here[READY] < stop:
                        to = (stop + 3) // 4 * 4
                        shuffle(buffers[lane], keys[block, 0], keys[block, 1], here[CHUNK], here[READY], to, size)
                        here[READY] = to
                    elif here[ROW] != 0 or here[READ] < stop:
                        if here[READ] == here[READY]:
                            more(buffers[lane], here, keys[block], numbers, threshold, other)
                        row, logged = step(
                            table, buffers[lane], here[READ], log, np.uint64(here[ROW]), np.uint64(here[LOGGED])
                        )
                        here[ROW], here[LOGGED] = row, logged
                        here[READ] += 1
                    elif here[READ] >= numbers[CUT]:
                        here[CHUNK] += 1
                        here[READ] = here[READY] = 0
                    else:
                        by_plan = True
                    here[LIMIT] = min(here[READY], stop) - STRIDE
                elif here[LOGGED] < here[LOOK]:
                    break
                if not by_plan and here[LOGGED] < here[LOOK]:
                    continue
                read_log(log, here, rounds[block], ends, hands, numbers, classes, counts[0], traces[block])
                if here[OVER] == rounds[block]:
                    block, following = following, min(following + 1, len(rounds))
                    here[READ] = here[READY] = KEPT if size == 0 else 0
                    here[CHUNK] = 0 if size else -1
                    here[ROW] = here[LOGGED] = here[OVER] = 0
                    here[LOOK], here[LIMIT], here[BLOCK] = 0, -1, block
                    walking -= block == len(rounds)
                    continue
                if by_plan:
                    new = play(
                        add, act, half, result, pay, waits, dealer_add, dealer_done, dealer_out, column, deal, numbers,
                        threshold, other, 1, keys[block], buffers[lane], here, seat, payoff, counts, trace,
                        outside[strays:], None, None,
                    )  # fmt: skip
                    if new == RAN_AWAY:
                        return RAN_AWAY
                    strays += new
                    if here[OVER] < traces.shape[1]:
                        traces[block, here[OVER]] = trace[0, 0]
                    here[OVER] += 1
                    here[ROW] = 0
                    here[LIMIT] = min(here[READY], stop) - STRIDE
                here[LOOK] = here[LOGGED] + min(LOG - 2 * STRIDE, rounds[block] - here[OVER])
        if walking == 0:
            return strays
        row0, logged0, place0 = np.uint64(at[0, ROW]), np.uint64(at[0, LOGGED]), np.uint64(at[0, READ])
        row1, logged1, place1 = np.uint64(at[1, ROW]), np.uint64(at[1, LOGGED]), np.uint64(at[1, READ])
        row2, logged2, place2 = np.uint64(at[2, ROW]), np.uint64(at[2, LOGGED]), np.uint64(at[2, READ])
        row3, logged3, place3 = np.uint64(at[3, ROW]), np.uint64(at[3, LOGGED]), np.uint64(at[3, READ])
        for k in range(np.uint64(STRIDE)):
            row0, logged0 = step(table, buffers[0], place0 + k, logs[0], row0, logged0)
            row1, logged1 = step(table, buffers[1], place1 + k, logs[1], row1, logged1)
            row2, logged2 = step(table, buffers[2], place2 + k, logs[2], row2, logged2)
            row3, logged3 = step(table, buffers[3], place3 + k, logs[3], row3, logged3)
        at[0, ROW], at[0, LOGGED] = row0, logged0
        at[1, ROW], at[1, LOGGED] = row1, logged1
        at[2, ROW], at[2, LOGGED] = row2, logged2
        at[3, ROW], at[3, LOGGED] = row3, logged3
        for lane in range(LANES):
            at[lane, READ] += STRIDE


class Ledger(NamedTuple):
    """What the compiled round notes about luck.

    counts (WIDE,): of the cards left, by rank; left (1,): their number. rounds (6,): STARTED in this shoe, MOST that
    are to start in it, the USUAL number, how many come LATER than this one, whether the shoe is FINITE, whether any was
    PLAYED since the last unit was closed. unit (seats, 2): luck-adjusted PROFIT above the value of the BETS settled, in
    the present shoe. sums (seats, 6): of such units, their number n, sums y, b, yy, yb, bb. bet (1,): share of an
    initial bet that payoffs count in. finished (seats, 2 R), kinds (seats, 2 R), different (seats,): finished hands of
    this round by result, doubled or not, and which of them there are. log: see `note`.
    """

    counts: Array
    left: Array
    rounds: Array
    unit: Array
    sums: Array
    bet: Array
    finished: Array
    kinds: Array
    different: Array
    log: Array


def open_ledger(plan: Plan, luck_model: LuckModel, bet: float, usual: int) -> Ledger:
    """A ledger for a plan whose payoffs count in shares `bet`, with `usual` rounds to a shoe."""
    seats, kinds = len(plan.act), 2 * len(plan.pay)
    finite = int(plan.numbers[DECKS] > 0)
    return Ledger(
        filled_up(luck_model.full), np.ones(1), np.array([0, 0, usual, 0, finite, 0], np.int64), np.zeros((seats, 2)),
        np.zeros((seats, 6)), np.array([bet]), np.zeros((seats, kinds), np.int64), np.zeros((seats, kinds), np.int64),
        np.zeros(seats, np.int64), np.zeros((NOTES + 2 + seats * (kinds + 1), 5), np.int64),
    )  # fmt: skip


def play_rounds(
    plan: Plan, key: tuple[int, int], rounds: int, traced: int = 0,
    luck_model: LuckModel | None = None, ledger: Ledger | None = None,
) -> tuple[Array, Array, Array]:  # fmt: skip
    """Play `rounds` rounds of a plan at one table, from the beginning of the stream with this key.

    With a referee the cards are the same, and the luck in them is noted in the ledger.

    Returns: counts (seats, ties + 1, 2 width + 1), how often each payoff came, by stake tied and units won; the payoffs
    that fall outside it, rows of (seat, code); trace (traced, seats + 1), for the first rounds each seat's payoff code
    and the number of cards dealt so far. All int64.
    Raises: EndlessSplitting.
    """
    numbers = Numbers(*plan.numbers.tolist())
    seats, outcomes = len(plan.act), plan.pay.shape[2]
    counts = np.zeros((seats, numbers.ties + 1, 2 * numbers.width + 1), np.int64)
    trace = np.zeros((traced, seats + 1), np.int64)
    outside = np.zeros((rounds * seats if numbers.max_hands == NO_LIMIT else 0, 2), np.int64)
    size = 52 * numbers.decks
    strays = play(
        *plan, rounds, np.array(key, np.uint64), np.zeros(size or KEPT + BUFFER, np.uint8),
        np.array([size, size, -1, 0], np.int64), np.zeros((seats, 5), np.int64),
        np.zeros((seats, outcomes), np.int64), counts, trace, outside, luck_model, ledger,
    )  # fmt: skip
    if strays == RAN_AWAY:
        raise EndlessSplitting(_RAN_AWAY)
    return counts, outside[:strays], trace


def rounds_in_shoe(plan: Plan) -> int:
    """The usual number of rounds that start in one shoe, found on a stream of its own; 1 for an infinite shoe."""
    if not plan.numbers[DECKS]:
        return 1
    pilot = 1 << 14
    cards = play_rounds(plan, stream_key(0, PILOT_TABLE, 0), pilot, pilot)[2][-1, -1] / pilot
    rounds = int(plan.numbers[CUT]) / float(cards) + 0.5  # it is cut after the round in which the cut comes
    return max(round(rounds), 1)


def play_adjusted(
    plan: Plan, luck_model: LuckModel, bet: float, key: tuple[int, int], rounds: int
) -> tuple[Array, Array, Array, int]:
    """Play rounds as `play_rounds` does, and tell the luck in them.

    Returns: counts and outside, as there; sums (seats, 6) over shoes, see `Ledger`; the usual rounds of a shoe.
    """
    usual = rounds_in_shoe(plan)
    ledger = open_ledger(plan, luck_model, bet, usual)
    counts, outside, _ = play_rounds(plan, key, rounds, 0, luck_model, ledger)
    return counts, outside, ledger.sums, usual


def play_blocks(
    plan: Plan, folded: Fold, keys: Sequence[tuple[int, int]], rounds: Sequence[int], traced: bool = False
) -> tuple[Array, Array, list[Array]]:
    """Play `rounds[i]` rounds from the beginning of the stream `keys[i]`, for all i, by the fold of the plan.

    Returns: as `play_rounds`, the counts of all together; with `traced` the payoff code of every round, a list of
    arrays. Raises: EndlessSplitting.
    """
    numbers = Numbers(*plan.numbers.tolist())
    size = 52 * numbers.decks
    none = [0] * max(LANES - len(keys), 0)  # blocks without a round, for lanes that have no other
    counts = np.zeros((1, numbers.ties + 1, 2 * numbers.width + 1), np.int64)
    classes = np.zeros((4, len(folded.ends)), np.int64)
    traces = np.zeros((len(keys) + len(none), max([*rounds, 0]) if traced else 0), np.int64)
    outside = np.zeros((sum(rounds) if numbers.max_hands == NO_LIMIT else 0, 2), np.int64)
    at = np.zeros((LANES, LANE), np.int64)
    at[:, BLOCK] = range(LANES)
    at[:, CHUNK] = 0 if size else -1
    at[:, [READ, READY]] = 0 if size else KEPT
    at[:, LIMIT] = -1
    strays = walk(
        *folded, *plan, np.array([*rounds, *none], np.int64), np.array([*keys, *[(0, 0) for _ in none]], np.uint64),
        np.zeros((LANES, size or KEPT + BUFFER), np.uint8), at, np.zeros((LANES, LOG), np.uint8),
        np.zeros((1, 5), np.int64), np.zeros((1, plan.pay.shape[2]), np.int64), classes, counts, traces,
        np.zeros((1, 2), np.int64), outside,
    )  # fmt: skip
    if strays == RAN_AWAY:
        raise EndlessSplitting(_RAN_AWAY)
    often = classes.sum(axis=0)
    came = np.flatnonzero(often)
    codes, times = folded.ends[came, 0], often[came]
    tied = (codes + TIED // 2) >> 32
    place = codes - (tied << 32) + numbers.width
    fits = (place >= 0) & (place <= 2 * numbers.width) & (tied <= numbers.ties)
    np.add.at(counts[0], (tied[fits], place[fits]), times[fits])
    others = np.repeat(codes[~fits], times[~fits])
    outside = np.concatenate([outside[:strays], np.stack([np.zeros_like(others), others], axis=1)])
    return counts, outside, [trace[:n] for trace, n in zip(traces, rounds, strict=False)] if traced else []
