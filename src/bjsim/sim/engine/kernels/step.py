"""Tables of one seat that wait at their decisions: plays one action at each of them (`stepped_tables.py`).

The compiled rules have a seat for each action: a player that takes it wherever it is legal, and else stands. An action
at a table is one turn of that seat in round-robin order, so that `play.py` alone states the flow of a round.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bjsim.sim.engine.jit import compiled
from bjsim.sim.engine.kernels.layout import DOUBLE, Array, CompiledRules, Seats, ShoeArrays
from bjsim.sim.engine.kernels.payoff import split_payoff
from bjsim.sim.engine.kernels.play import RAN_AWAY, clear, deal, ends_round, insure, play_dealer, play_turn
from bjsim.sim.engine.kernels.shoe import begin_shuffle
from bjsim.sim.game.actions import CODES

OVER, DECIDES, INSURES, ENDS = range(4)  # phases; ENDS: the round was over before anyone could decide
STANDS = 0  # the action that is always legal
ACTION_CODES = tuple(CODES.values())
INSURANCE_ACTION = len(ACTION_CODES)


class WaitingTables(NamedTuple):
    """The tables, N of them; int64 (N,) unless noted.

    Attributes:
        shoe: See `ShoeArrays`: cards, uint8 (N, n), key, uint64 (N, 2), read, ready, chunk and before.
        seat: See `Seats`; payoff is (N, O).
        phase: OVER, DECIDES, INSURES or ENDS.
        dealer: The dealer's state.
        shown: Number of the dealer's cards.
        column: The column.
        ended: Whether a dealer's natural has ended the round.
        need: Maximum of `CompiledRules.waits` over the finished hands.
        stake: Initial bets on the table; more or fewer than one where tied bets are replayed.
    """

    shoe: ShoeArrays
    seat: Seats
    phase: Array
    dealer: Array
    shown: Array
    column: Array
    ended: Array
    need: Array
    stake: Array


class Signs(NamedTuple):
    """What a table shows.

    Attributes:
        features: Features of a hand by its state, int64 (S, F).
        masks: Legal actions by whether the hand may be split, and its state, int8 (2, S, A).
        natural: The column to show for a dealer's natural that ended the round; -1 for that of the up card.
        most_hands: The greatest number of hands to show.
        unit: Numerator and denominator of the payoff quantum, as a share of an initial bet.
    """

    features: Array
    masks: Array
    natural: int
    most_hands: int
    unit: tuple[int, int]


class Outputs(NamedTuple):
    """What a step returns, for each of N tables.

    Attributes:
        observation: Features, column and number of hands, int64 (N, F + 2).
        mask: Legal actions, int8 (N, A).
        reward: Profit in initial bets, float64 (N,).
        ended: Whether an episode ended, bool (N,).
        illegal: Whether the action was not legal, bool (N,).
        final: The last observation of an episode that ended, int64 (N, F + 2).
    """

    observation: Array
    mask: Array
    reward: Array
    ended: Array
    illegal: Array
    final: Array


@compiled(_nrt=False, forceinline=True)
def choose_action(rules: Any, action: Any) -> Any:
    """The compiled rules with the seat that takes this action as the only one."""
    return CompiledRules(rules.add, rules.act[action : action + 1], *rules[2:])


@compiled(_nrt=False, forceinline=True)
def make_shoe(tables: Any, i: Any) -> Any:
    """The shoe of table i."""
    all_shoes = tables.shoe
    return ShoeArrays(
        all_shoes.cards[i], all_shoes.key[i], all_shoes.read[i : i + 1], all_shoes.ready[i : i + 1],
        all_shoes.chunk[i : i + 1], all_shoes.before[i : i + 1], *all_shoes[6:],
    )  # fmt: skip


@compiled(_nrt=False, forceinline=True)
def make_seat(tables: Any, i: Any) -> Any:
    """The seat of table i."""
    seat = tables.seat
    return Seats(
        seat.hand[i : i + 1], seat.split_hand[i : i + 1], seat.pending[i : i + 1], seat.held[i : i + 1],
        seat.acting[i : i + 1], seat.payoff[i : i + 1],
    )  # fmt: skip


@compiled(_nrt=False, forceinline=True)
def may_split(rules: Any, tables: Any, i: Any) -> Any:
    """Whether the limit of hands lets the hand of table i be split, if it is a pair."""
    return 1 if tables.seat.held[i] < rules.hand_limit[tables.seat.hand[i]] else 0


@compiled(_nrt=False, forceinline=True)
def find_phase(rules: Any, tables: Any, i: Any) -> Any:
    """The phase of a dealt hand of table i, apart from insurance."""
    column = tables.column[i]
    asked = not tables.ended[i] or rules.ended_column[column] >= 0
    choice = rules.act[STANDS, may_split(rules, tables, i), tables.seat.hand[i], column]
    return DECIDES if asked and choice else ENDS


@compiled(_nrt=False, forceinline=True)
def begin(rules: Any, tables: Any, i: Any) -> None:
    """Deal a round at table i."""
    shoe, seat = make_shoe(tables, i), make_seat(tables, i)
    if shoe.size > 0 and shoe.read[0] >= rules.numbers.cut:
        begin_shuffle(shoe)
    clear(seat)
    dealer, shown, column, _ = deal(rules, shoe, seat, None, None)
    tables.dealer[i], tables.shown[i], tables.column[i], tables.need[i] = dealer, shown, column, 0
    tables.ended[i] = ends_round(rules, dealer)
    tables.stake[i] = tables.stake[i] or 1
    tables.phase[i] = INSURES if column == rules.numbers.ace else find_phase(rules, tables, i)


@compiled(_nrt=False, forceinline=True)
def act(rules: Any, tables: Any, i: Any, action: Any) -> Any:
    """Play an action at table i. Returns: whether the hands are over, and then `need`; or RAN_AWAY."""
    shoe, seat, chosen = make_shoe(tables, i), make_seat(tables, i), choose_action(rules, action)
    if tables.phase[i] == INSURES:
        tables.need[i] = insure(chosen, seat, None, None)
        tables.phase[i] = find_phase(rules, tables, i)
        if tables.phase[i] == DECIDES:
            return False
    column = tables.column[i]
    if tables.phase[i] == ENDS:
        column = np.int64(-1)
    elif tables.ended[i]:
        column = rules.ended_column[column]
    hand, last = seat.hand[0], seat.pending[0] == 0
    code = 0 if column < 0 else chosen.act[0, may_split(rules, tables, i), hand, column]
    tables.need[i] = play_turn(chosen, shoe, seat, 0, column, np.int64(0), tables.need[i], None, None, None)
    if code == DOUBLE and last:  # the turn has not kept this hand's last card
        seat.hand[0] = rules.add[hand, shoe.cards[shoe.read[0] - 1]]
    return not seat.acting[0]


@compiled(_nrt=False, forceinline=True)
def pay(rules: Any, tables: Any, i: Any, unit: Any) -> Any:
    """Play the dealer's hand of table i, and pay the round; `stake` becomes what is replayed. Returns: the profit."""
    dealer, shoe = tables.dealer[i], make_shoe(tables, i)
    if not tables.ended[i]:
        dealer = play_dealer(rules, shoe, dealer, tables.shown[i], tables.need[i], None, None)
    code = tables.seat.payoff[i, rules.dealer_out[dealer]]
    units, tied = split_payoff(code)
    profit = tables.stake[i] * (units * unit[0] / unit[1])
    tables.stake[i] *= tied
    return profit


@compiled(_nrt=False, forceinline=True)
def observe(rules: Any, signs: Any, tables: Any, i: Any, observation: Any) -> None:
    """Write the observation of table i."""
    hand, features = tables.seat.hand[i], signs.features.shape[1]
    for f in range(features):
        observation[i, f] = signs.features[hand, f]
    natural = tables.ended[i] and signs.natural >= 0
    observation[i, features] = signs.natural if natural else tables.column[i]
    held = min(tables.seat.held[i], signs.most_hands)
    observation[i, features + 1] = 0 if tables.phase[i] == INSURES else held


@compiled(_nrt=False, forceinline=True)
def write_mask(rules: Any, signs: Any, tables: Any, i: Any, mask: Any) -> None:
    """Write the legal actions of table i."""
    phase, hand, free = tables.phase[i], tables.seat.hand[i], may_split(rules, tables, i)
    for a in range(mask.shape[1]):
        mask[i, a] = signs.masks[free, hand, a] if phase == DECIDES else 0
    if phase in (INSURES, ENDS):
        mask[i, STANDS] = 1
    if phase == INSURES:
        mask[i, INSURANCE_ACTION] = 1


@compiled(_nrt=False, forceinline=True)
def is_legal(rules: Any, signs: Any, tables: Any, i: Any, action: Any) -> Any:
    """Whether an action is legal at table i."""
    phase = tables.phase[i]
    if phase == INSURES:
        return action in (STANDS, INSURANCE_ACTION)
    legal = signs.masks[may_split(rules, tables, i), tables.seat.hand[i], action]
    return action == STANDS or (phase == DECIDES and legal != 0)


@compiled(nogil=True, _nrt=False)
def step(rules: Any, signs: Any, tables: Any, actions: Any, same_step: Any, outputs: Any) -> Any:
    """Play one action at every table; at one whose episode is over, deal instead.

    Args:
        rules: The compiled rules, with a seat for each action.
        signs: See `Signs`.
        tables: See `WaitingTables`.
        actions: The actions, int64 (N,).
        same_step: Whether to deal the next round in the step that ends an episode.
        outputs: See `Outputs`.

    Returns:
        RAN_AWAY if a seat exceeded the limit on hands, else 0.
    """
    for i in range(len(actions)):
        outputs.reward[i], outputs.ended[i] = 0.0, False
        outputs.illegal[i] = tables.phase[i] != OVER and not is_legal(rules, signs, tables, i, actions[i])
        action = np.int64(STANDS) if outputs.illegal[i] else actions[i]
        while True:
            if tables.phase[i] != OVER:
                over = act(rules, tables, i, action)
                if tables.need[i] == RAN_AWAY:
                    return RAN_AWAY
                if not over:
                    break
                outputs.reward[i] += pay(rules, tables, i, signs.unit)
                if not tables.stake[i]:
                    outputs.ended[i], tables.phase[i] = True, OVER
                    observe(rules, signs, tables, i, outputs.final)
                    if not same_step:
                        break
            new = tables.phase[i] == OVER  # else the tied bets of this episode are replayed
            begin(rules, tables, i)
            if new or tables.phase[i] != ENDS:
                break
            action = np.int64(STANDS)
        if tables.phase[i] == OVER:
            for f in range(outputs.final.shape[1]):
                outputs.observation[i, f] = outputs.final[i, f]
        else:
            observe(rules, signs, tables, i, outputs.observation)
        write_mask(rules, signs, tables, i, outputs.mask)
    return 0
