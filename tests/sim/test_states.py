"""The rules in terms of states agree with those in terms of cards."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.games import rules

from bjsim.sim.game.cards import RANKS, TEN, Hand, count_points
from bjsim.sim.game.hand_states import (
    BUST,
    CHARLIE,
    DEALER_NATURAL,
    NATURAL,
    NOT_WAITING,
    SPLIT_ACES,
    SURRENDERED,
    WAITS_FOR_DEALER,
    WAITS_FOR_HOLE_CARD,
    DealerState,
    HandState,
    Result,
)
from bjsim.sim.game.presets import PRESETS, named_rules
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.states import States

RANK_LISTS = st.lists(st.integers(0, 12), min_size=1, max_size=8)


def make_hand(states: States, ranks: list[int]) -> HandState:
    state = HandState()
    for rank in ranks:
        state = states.add(state, rank)
    return state


@settings(max_examples=300)
@given(rules(), RANK_LISTS)
def test_a_state_knows_what_its_cards_count(game: Rules, ranks: list[int]) -> None:
    states = States(game)
    state, dealer = make_hand(states, ranks), DealerState()
    for rank in ranks:
        dealer = states.dealer_add(dealer, rank)
    points, soft = count_points(ranks)
    if points > 21:
        most = 23 if game.dealer_22_pushes else 22
        assert (state.points, states.result(state), dealer.points) == (22, BUST, min(points, most))
        return
    if isinstance(game.charlie, int) and len(ranks) >= game.charlie:
        assert states.result(state) == CHARLIE
        return
    assert (state.points, state.soft) == (dealer.points, dealer.soft) == (points, soft)
    assert states.is_natural(state) == (len(ranks) == 2 and points == 21 and game.naturals != "none")
    if len(ranks) == 2:
        same = ranks[0] == ranks[1] if game.split_by == "rank" else min(ranks[0], TEN) == min(ranks[1], TEN)
        assert ("P" in states.legal(state)) == (same and game.split_by != "never" and states.legal(state) != "")


@settings(max_examples=300)
@given(rules(), RANK_LISTS, st.randoms(use_true_random=False))
def test_a_state_forgets_the_order_of_its_cards(game: Rules, ranks: list[int], rng) -> None:
    states = States(game)
    if count_points(ranks)[0] <= 21:
        assert make_hand(states, ranks) == make_hand(states, rng.sample(ranks, len(ranks)))


@settings(max_examples=100)
@given(rules())
def test_the_distributions_of_the_deal_sum_to_one(game: Rules) -> None:
    states = States(game)
    assert sum(p for _, p in states.ranks) == 1
    assert sum(states.starts.values()) == 1
    natural = 2 * game.card_probabilities[0] * game.ten_probability
    assert sum(states.dealer_starts().values()) == 1 - (natural if game.peek else 0)


@settings(max_examples=100)
@given(rules())
def test_every_state_that_play_reaches_has_legal_moves_that_lead_to_such(game: Rules) -> None:
    states = States(game)
    reached = set(states.reachable())
    for state in reached:
        letters = states.legal(state)
        assert len(set(letters)) == len(letters) and set(letters) <= set("SHDPR")
        assert not letters or "S" in letters
        if "H" in letters:
            assert {states.add(state, rank) for rank, _ in states.ranks} <= reached
        if "P" in letters:
            half = states.split(state)
            assert (half.cards, half.split == SPLIT_ACES) == (1, state.rank == 0)
            assert {states.add(half, rank) for rank, _ in states.ranks} <= reached


def test_bonuses_count_five_and_six_cards_and_the_melds() -> None:
    """[Neller], variant 1: five cards double, six or more triple, 7-7-7 triple, 8-7-6 in any order double."""
    states = States(named_rules("neller-v1"))
    bonus = {
        "22": 1, "2223": 1, "22222": 2, "222234": 3, "222222A": 3, "777": 3, "678": 2, "768": 2, "876": 2, "687": 2,
        "778": 1, "7777": 1, "A78": 1, "2227A": 2, "AAAAAA": 3,
    }  # fmt: skip
    found = {}
    for cards in bonus:
        state = make_hand(states, [RANKS.index(card) for card in cards])
        found[cards] = states.bonus(state) if state.points <= 21 else 1
    assert found == bonus
    assert States(named_rules("neller")).bonus(make_hand(States(named_rules("neller")), [6, 6, 6])) == 1


@pytest.mark.parametrize(
    ("fields", "result", "stake", "dealer", "net", "tied"),
    [
        ({}, Result("stood", 20), 1, 19, 1, 0),
        ({}, Result("stood", 20), 2, 21, -2, 0),
        ({}, Result("stood", 12), 1, 0, 1, 0),
        ({}, Result("stood", 20), 2, 20, 0, 0),
        ({"ties": "lose"}, Result("stood", 20), 2, 20, -2, 0),
        ({"ties": "replay"}, Result("stood", 20), 2, 20, 0, 2),
        ({}, Result("stood", 21), 2, DEALER_NATURAL, -2, 0),
        ({"peek": False, "natural_beats_21": False}, Result("stood", 21), 2, DEALER_NATURAL, 0, 0),
        ({"peek": False, "natural_beats_21": False}, Result("stood", 20), 1, DEALER_NATURAL, -1, 0),
        ({}, NATURAL, 1, DEALER_NATURAL, 0, 0),
        ({"ties": "replay"}, NATURAL, 1, DEALER_NATURAL, 0, 1),
        ({"ties": "lose"}, NATURAL, 1, DEALER_NATURAL, -1, 0),
        ({"natural_beats_natural": True}, NATURAL, 1, DEALER_NATURAL, Fraction(3, 2), 0),
        ({"blackjack_pays": "6/5"}, NATURAL, 1, 21, Fraction(6, 5), 0),
        ({}, BUST, 2, 0, -2, 0),
        ({}, SURRENDERED, 1, 0, Fraction(-1, 2), 0),
        ({"bonuses": "win"}, Result("stood", 20, 3), 2, 19, 6, 0),
        ({"bonuses": "win"}, Result("stood", 20, 3), 2, 20, 0, 0),
        ({"bonuses": "win"}, Result("stood", 20, 3), 1, 21, -1, 0),
        ({"bonuses": "at-once"}, Result("stood", 20, 2), 1, 21, 2, 0),
        ({"bonuses": "at-once"}, Result("stood", 20, 2), 1, DEALER_NATURAL, 2, 0),
    ],
)
def test_what_a_finished_hand_is_paid(
    fields: dict[str, Any], result: Result, stake: int, dealer: int, net: Fraction, tied: int
) -> None:
    assert States(Rules(**fields)).settle(result, stake, dealer) == (net, tied)


@pytest.mark.parametrize(
    ("fields", "result", "waits"),
    [
        ({}, BUST, NOT_WAITING),
        ({}, SURRENDERED, NOT_WAITING),
        ({}, NATURAL, WAITS_FOR_HOLE_CARD),
        ({"peek": True}, NATURAL, NOT_WAITING),
        ({"natural_beats_natural": True}, NATURAL, NOT_WAITING),
        ({"naturals": "player"}, NATURAL, NOT_WAITING),
        ({}, Result("stood", 12), WAITS_FOR_DEALER),
        ({"bonuses": "win"}, Result("stood", 20, 3), WAITS_FOR_DEALER),
        ({"bonuses": "at-once"}, Result("stood", 20, 3), NOT_WAITING),
    ],
)
def test_which_dealer_cards_a_finished_hand_depends_on(fields: dict[str, Any], result: Result, waits: int) -> None:
    assert States(Rules(**fields)).waits(result) == waits


@pytest.mark.parametrize(
    ("stands_on", "hits_soft_17", "draws"),
    [
        (17, False, {16: (True, True), 17: (False, False), 18: (False, False)}),
        (17, True, {16: (True, True), 17: (False, True), 18: (False, False)}),
        (18, False, {16: (True, True), 17: (True, True), 18: (False, False)}),
        (18, True, {16: (True, True), 17: (True, True), 18: (False, False)}),
    ],
)
def test_when_the_dealer_draws(stands_on: int, hits_soft_17: bool, draws: dict[int, tuple[bool, bool]]) -> None:
    """{total: (draws on a hard one, draws on a soft one)}"""
    states = States(Rules(dealer_stands_on=stands_on, hit_soft_17=hits_soft_17))
    for points, (hard, soft) in draws.items():
        assert states.dealer_done(DealerState(points, False, 2)) is not hard
        assert states.dealer_done(DealerState(points, True, 2)) is not soft
    assert not states.dealer_done(DealerState(11, True, 1))


def test_the_codes_of_the_dealers_hands_are_those_of_seed_000() -> None:
    states = States(named_rules("easy"))
    assert states.columns == (*map(str, range(4, 21)), "AA", "A2", "A3", "A4", "A5", "A6")
    for one in RANKS:
        for other in RANKS:
            code = Hand(one, other, dealer=True).code()
            if code != "BJ":
                assert states.column(one + other) == code


def test_the_dealers_open_card_is_the_column_elsewhere() -> None:
    states = States(named_rules("neller"))
    assert states.columns == tuple("23456789TA")
    assert [states.column(card) for card in RANKS] == ["A", *"23456789", "T", "T", "T", "T"]


@pytest.mark.parametrize("name", PRESETS)
def test_rows_that_apply_to_a_hand(name: str) -> None:
    """The most specific first: a pair, then its total; never a pair if it may not be split."""
    states = States(named_rules(name))
    for state in states.reachable():
        if not states.legal(state):
            continue
        rows = states.rows_of(state)
        if state.doubled:
            total = f"A{state.points - 11}" if state.soft else str(state.points)
            assert rows == (f"{total}x{2**state.doubled}",)
            continue
        assert rows[-1] in (str(state.points), f"A{state.points - 11}", "AA")
        if "P" in states.legal(state):
            assert rows[0] == "AA" or rows[0][0] == rows[0][1]
            assert states.rows_of(state, may_split=False)[-1] == rows[-1]
        assert (rows[0][0] == "A") == state.soft
