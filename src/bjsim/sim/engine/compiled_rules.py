"""Compiled rules: rules and charts as small integer arrays, which the compiled round plays.

Everything here is computed from `states.py`; no rule is implemented again. A payoff code is one integer, so that the
payoffs of split hands add: the profit in units of `rules.unit`, plus TIED for each initial bet that is replayed.
"""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import chain

import numpy as np

from bjsim.arrays import Array
from bjsim.errors import InputError, RunFailed
from bjsim.sim.engine.kernels.layout import (
    ATTACK,
    DOUBLE,
    HIT,
    INSURE,
    NO_LIMIT,
    SPLIT,
    TIED,
    CompiledRules,
    Numbers,
)
from bjsim.sim.engine.round_table import distinct_rows, explore
from bjsim.sim.game.actions import ATTACK as ASKS_ATTACK
from bjsim.sim.game.actions import CODES, ENDINGS, INSURANCE
from bjsim.sim.game.cards import NORMAL_TENS, RANKS
from bjsim.sim.game.hand_states import (
    HALF,
    INSURED,
    ORIGINAL_BET,
    SPLIT_ACES,
    SURRENDERED,
    WHOLE,
    DealerState,
    HandState,
    Result,
)
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.shoe import rank_limits
from bjsim.sim.game.states import CardStates, States
from bjsim.sim.game.support import need

Policy = Callable[[HandState, str, str], str]
DOUBLING = -2  # the rank of a hand that has doubled and gets its card next, unlike one that has it and may choose
ENDLESS_WINDOW = 2048  # width of the dense table of payoffs, in units, if splits have no limit
MAX_COUNTERS = 1 << 26  # of payoffs, over all seats: half a gigabyte


def merge_states(labels: Array, after: Array) -> tuple[Array, Array]:
    """Merge the states that no sequence of inputs distinguishes by their labels (Moore's algorithm).

    `labels` and `after`, the state after each input, are int64 (S, n) and (S, m). Return one state of each
    class, ascending, (C,), and the class of each state, (S,), -1 if state 0, which is in class 0, does not
    lead to it.
    """
    states, number = explore(np.zeros(1, np.int64), after.__getitem__), np.full(len(after), -1, np.int64)
    after = np.searchsorted(states, after[states])
    (first, classes), count = distinct_rows(labels[states]), 0
    while len(first) > count:
        count = len(first)
        first, classes = distinct_rows(np.concatenate([classes[:, None], classes[after]], axis=1))
    order = np.argsort(first)
    number[states] = np.argsort(order)[classes]
    return states[first[order]], number


def payoff_code(net: Fraction, tied: Fraction | int, unit: Fraction) -> int:
    """Encode a payoff as one integer; see the module's docstring.

    `net` and `tied` (tied and replayed) are in initial bets, `unit` is the payoff quantum as a share of one.
    ValueError: not a whole number of units and of tied bets. RunFailed: too large for the code.
    """
    units = net / unit
    if units.denominator != 1 or Fraction(tied).denominator != 1:
        raise ValueError(f"a payoff of {net} bets, {tied} tied, is not a whole number of units of {unit}")
    if abs(units) >= TIED // 2:
        raise RunFailed(f"a payoff of {float(net):,.0f} initial bets is too large to count; play with fewer chips")
    return int(units) + int(tied) * TIED


def compile_rules(rules: Rules, policies: Sequence[Policy], states: States | None = None) -> CompiledRules:
    """Compile rules and a policy for each seat, a function (state, column label, legal letters) -> letter.

    `states` are those that policies distinguish, by default `States(rules)`; hands that all policies of a
    `CardStates` play alike are merged. InputError: a chart lacks a cell, or a round can pay too many different
    amounts. ValueError: a letter is not legal, or a payoff is not a whole number of units.
    """
    need(rules, "compiled")
    states = states or States(rules)
    hands, moves = number_hands(states)
    act = np.stack([_actions(states, hands, policy) for policy in policies])
    if isinstance(states, CardStates):
        hands, moves, act = _merge(states, hands, moves, act)
    ended = [[states.result(hand) for hand in hands] for _ in range(1 + INSURE)]
    for letter, code in ENDINGS.items():
        ended[code] = [states.ends(hand, letter if letter in states.legal(hand) else "S") for hand in hands]
    insured, original = [INSURED] * (_insured_column(states) >= 0), [ORIGINAL_BET] * states.original_only
    results = sorted({*chain(*ended, insured, original)})
    dealers, dealer_add = _dealer_states(states)
    outcomes = states.dealer_outcomes
    stakes = [2**doubled for doubled in range(rules.max_doubles + 1)]
    ends = [[result, *[states.doubled(result)] * rules.max_doubles] for result in results]
    limits = rank_limits(rules.card_probabilities)
    settled = [[[states.settle(*end, o) for o in outcomes] for end in zip(row, stakes, strict=True)] for row in ends]
    return CompiledRules(
        **moves,
        doubled=np.array([hand.doubled for hand in hands], np.int64),
        act=act,
        hand_limit=np.array([_limit(rules, hand) for hand in hands], np.int64),
        ended=np.array([[results.index(end) for end in row] for row in ended], np.int64),
        pay=np.array([[[payoff_code(*paid, rules.unit) for paid in one] for one in row] for row in settled], np.int64),
        own=np.array([[_own_bet(result, stake) for stake in stakes] for result in results], np.int64),
        waits=np.array([[states.waits(end) for end in row] for row in ends], np.int64),
        covers=np.array([[states.covers(end) for end in row] for row in ends], np.bool_),
        dealer_add=dealer_add,
        dealer_done=np.array([states.dealer_done(dealer) for dealer in dealers], np.int64),
        dealer_out=np.array(
            [outcomes.index(states.dealer_outcome(d)) if states.dealer_done(d) else 0 for d in dealers], np.int64
        ),
        column=_columns(states, dealers),
        ended_column=_ended_columns(states),
        deal=np.array(["pd".index(card) for card in rules.deal], np.int64),
        numbers=_numbers(states, results, outcomes, len(policies)),
        above=np.array(limits if rules.infinite else rules.shoe_size - np.cumsum(rules.shoe_counts)[:-1], np.int64),
    )


def _own_bet(result: Result, stake: int) -> int:
    if result.end in (INSURED.end, ORIGINAL_BET.end):  # the latter is added to what hands pay, whose bets are counted
        return int(result == INSURED)
    return int(2 * stake * (1 if result.end == SURRENDERED.end else result.risk))


def _insured_column(states: States) -> int:
    """Index of the column that insurance is offered against, or -1."""
    return next(map(states.columns.index, states.columns_before_look("I")), -1)


def _numbers(states: States, results: list[Result], outcomes: tuple[int, ...], seats: int) -> Numbers:
    rules = states.rules
    best = max(Fraction(2**rules.max_doubles * max(result.bonus for result in results)), rules.blackjack_pays)
    best *= 1 + rules.attack
    hands, stake = rules.most_hands, 2**rules.max_doubles
    most = best * int(hands if hands < math.inf else 0) + (1 + rules.attack) * rules.insurance
    numbers = Numbers(
        ending_outcome=next((i for i, outcome in enumerate(outcomes) if states.ends_round(outcome)), -1),
        most_hands=int(min(hands, NO_LIMIT)),
        insured=results.index(INSURED) if INSURED in results else -1,
        original=results.index(ORIGINAL_BET) if ORIGINAL_BET in results else -1,
        ace=_insured_column(states),
        round_robin=int(rules.turns == "round-robin"),
        shoe_size=rules.shoe_size,
        cut=rules.cut_cards,
        normal_tens=int(rules.ten_probability == NORMAL_TENS),
        width=ENDLESS_WINDOW if hands == math.inf else math.ceil(most / rules.unit),
        ties=0 if rules.ties != "replay" else 64 if hands == math.inf else stake * int(hands),
    )
    if seats * (2 * numbers.width + 1) * (numbers.ties + 1) > MAX_COUNTERS:
        raise InputError(
            f"buy_in = {rules.buy_in}, blackjack_pays = {rules.blackjack_pays}, bonuses = {rules.bonuses}, max_hands = "
            f"{rules.max_hands}: a round pays up to {float(best * int(hands)):,.0f} bets in steps of {rules.unit}, "
            "which are too many amounts to count; use smaller numbers"
        )
    return numbers


def _limit(rules: Rules, hand: HandState) -> int:
    aces = hand.split == SPLIT_ACES or (hand.split == WHOLE and hand.rank == 0)
    return int(min(rules.hand_limit(aces=aces), NO_LIMIT))


def number_hands(states: States) -> tuple[list[HandState], dict[str, Array]]:
    """All reachable hand states, the empty hand first; and `add`, `split_to`, `double_to` and `covered`."""
    hands = [HandState()]
    known = {HandState(): 0}
    ranks = range(len(RANKS)) if states.rules.split_by == "rank" else [*range(10), 9, 9, 9]

    def number(hand: HandState) -> int:
        if hand not in known:
            known[hand] = len(hands)
            hands.append(hand)
        return known[hand]

    add, split_to, double_to, covered = [], [], [], []
    for hand in hands:  # which grows in the loop
        draws = hand.cards < 2 or hand.risk == HALF or hand.rank == DOUBLING or set("HD") & set(states.legal(hand))
        add.append([number(states.add(hand, rank)) if draws else 0 for rank in ranks])
        split_to.append(number(states.split(hand)) if hand.cards == 2 and "P" in states.legal(hand) else 0)
        doubled = (
            states.bare(states.doubling(hand))._replace(rank=DOUBLING)
            if states.plays_doubled
            else states.doubling(hand)
        )
        double_to.append(number(doubled if hand.cards >= 2 and "D" in states.legal(hand) else hand))
        covered.append(number(states.covered(hand) if hand.cards == 1 and hand.split != WHOLE else hand))
    moves = {"add": add, "split_to": split_to, "double_to": double_to, "covered": covered}
    return hands, {name: np.array(after, np.int64) for name, after in moves.items()}


def _merge(
    states: States, hands: list[HandState], moves: dict[str, Array], act: Array
) -> tuple[list[HandState], dict[str, Array], Array]:
    """Merge hand states with the same future; the arguments are as returned."""
    results = {result: number for number, result in enumerate({states.result(hand) for hand in hands})}
    takes = {code: (act == code).any(axis=(0, 1, 3)) for code in (HIT, DOUBLE, SPLIT)}
    draws = takes[HIT] | np.array([hand.cards < 2 for hand in hands])
    draws[moves["double_to"][takes[DOUBLE]]] = True
    moves = moves | {
        "add": np.where(draws[:, None], moves["add"], 0),
        "split_to": np.where(takes[SPLIT], moves["split_to"], 0),
        "double_to": np.where(takes[DOUBLE], moves["double_to"], 0),
    }
    own = np.array([(results[states.result(hand)], hand.split, min(hand.cards, 2), hand.doubled) for hand in hands])
    labels = np.concatenate([own, act.transpose(2, 0, 1, 3).reshape(len(hands), -1)], axis=1)
    after = [move.reshape(len(hands), -1) for move in moves.values()]
    first, number = merge_states(labels, np.concatenate(after, axis=1))
    merged = {name: number[move[first]] for name, move in moves.items()}
    return [hands[state] for state in first], merged, np.ascontiguousarray(act[:, :, first])


def _dealer_states(states: States) -> tuple[list[DealerState], Array]:
    dealers, add = [DealerState()], []
    for dealer in dealers:  # which grows in the loop
        row = []
        for rank in range(len(RANKS)):
            after = states.dealer_add(dealer, rank) if not states.dealer_done(dealer) else dealer
            if after not in dealers:
                dealers.append(after)
            row.append(dealers.index(after))
        add.append(row)
    return dealers, np.array(add, np.int64)


def _columns(states: States, dealers: list[DealerState]) -> Array:
    """Column index by the dealer's state, for one and for two shown cards; 0 for hands that end the round."""
    columns = np.zeros((2, len(dealers)), np.int64)
    for i, dealer in enumerate(dealers):
        if label := states.shown(dealer):
            columns[dealer.cards - 1, i] = states.columns.index(label)
    return columns


def _ended_columns(states: States) -> Array:
    early, first = states.columns_before_look("R"), len(states.columns)
    return np.array([first + early.index(card) if card in early else -1 for card in states.columns], np.int64)


def _actions(states: States, hands: list[HandState], policy: Policy) -> Array:
    """Action codes, (2, S, C + E + 1): as in `CompiledRules.act`, for one seat."""
    act = np.zeros((2, len(hands), len(states.columns)), np.int64)
    for i, hand in enumerate(hands):
        for j, column in enumerate(states.columns) if hand.cards >= 2 else ():
            legal = states.against(column).legal(hand) if hand.rank != DOUBLING else ""
            for may_split in (0, 1):
                allowed = legal if may_split else legal.replace("P", "")
                if may_split and "P" not in legal:
                    act[1, i, j] = act[0, i, j]
                    continue
                if allowed in ("", "S"):
                    continue
                choice = policy(hand, column, allowed)
                if choice not in tuple(allowed):
                    raise ValueError(f"a strategy chose {choice} of {allowed} for {hand} against {column}")
                act[may_split, i, j] = CODES[choice]
    if states.rules.attack:
        attacked = [policy(HandState(), column, ASKS_ATTACK) == "A" for column in states.columns]
        act[:, 0] = np.where(attacked, ATTACK, 0)
    early = act[..., [states.columns.index(card) for card in states.columns_before_look("R")]]
    insured = np.zeros((2, len(hands), 1), np.int64)
    if (ace := _insured_column(states)) >= 0:
        dealt = {hand for hand in states.starts if policy(hand, states.columns[ace], INSURANCE) == "I"}
        insured[:, [hand in dealt for hand in hands]] = INSURE
    return np.concatenate([act, np.where(early == CODES["R"], early, 0), insured], axis=2)
