"""Paired comparison of two seats that are dealt the same cards."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bjsim.sim.game.random_stream import Stream
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.shoe import DeckShoe
from bjsim.sim.stats.paired import CARDS, PairedTally, Rounds, batches

HALF = Fraction(1, 2)
EACH = 64  # rounds of a batch in these tests, of eight cards each


def make_rounds(net: np.ndarray, tied: np.ndarray | None = None) -> Rounds:
    dealt = (np.arange(len(net)) + 1) * (CARDS // EACH)
    return Rounds(net, np.zeros(len(net), np.int64) if tied is None else tied, dealt)


def pair(one: np.ndarray, other: np.ndarray) -> PairedTally:
    return PairedTally.of(HALF, make_rounds(one), make_rounds(other))


@given(st.lists(st.tuples(st.integers(-16, 16), st.integers(-16, 16)), min_size=1, max_size=2000))
def test_the_mean_is_the_difference_of_the_means(rounds: list[tuple[int, int]]) -> None:
    one, other = np.array(rounds).T
    assert math.isclose(pair(one, other).mean, (one.mean() - other.mean()) / 2, abs_tol=1e-12)


def test_the_deviation_is_that_of_the_batches() -> None:
    """Without tied bets it is the plain standard deviation of the batches' differences."""
    rng = np.random.default_rng(1)
    one, other = rng.integers(-2, 3, (2, 40 * EACH))
    each = ((one - other) / 2).reshape(40, EACH).mean(axis=1)
    assert math.isclose(pair(one, other).sd, each.std(), rel_tol=1e-9)


def test_tied_bets_are_not_settled() -> None:
    """The standard deviation is that of the ratio (delta method), checked by resampling."""
    rng = np.random.default_rng(2)
    rounds = 400 * EACH
    tied = rng.random((2, rounds)) < 0.1
    net = np.where(tied, 0, rng.choice([-2, 2], (2, rounds), p=[0.52, 0.48]))
    tally = PairedTally.of(HALF, make_rounds(net[0], tied[0].astype(int)), make_rounds(net[1], tied[1].astype(int)))
    means = net.sum(axis=1) / (~tied).sum(axis=1) / 2
    assert math.isclose(tally.mean, means[0] - means[1], abs_tol=1e-12)
    y, b = (a.reshape(2, 400, EACH).sum(axis=2) for a in (net / 2, ~tied))
    again = rng.integers(0, 400, (4000, 400))
    spread = (y[0][again].sum(1) / b[0][again].sum(1) - y[1][again].sum(1) / b[1][again].sum(1)).std()
    assert math.isclose(
        tally.se, spread, rel_tol=0.045
    )  # four standard errors of a deviation from 4000 resamples, 1.1%


def test_the_same_cards_make_differences_certain() -> None:
    """Seats with equal results but for 1% of the bets: the difference is far more precise than each return."""
    rng = np.random.default_rng(3)
    one = rng.choice([-2, 2], 1200 * EACH)
    other = np.where(rng.random(one.size) < 0.01, -2, one)
    tally = pair(one, other)
    apart = math.hypot(one.std(), other.std()) / 2 / math.sqrt(one.size)
    assert tally.se < apart / 5
    assert abs(tally.mean - 0.01) < 4 * tally.se


def test_coverage_where_rounds_drift_apart() -> None:
    """One seat's results follow the other's one round later, except for 5% of rounds; their returns are equal.

    Of 400 runs the 95% interval must miss 0 in 8 to 34, as in 99.9% of such tests. Negative control: with the round as
    the unit, which ignores that neighbours cancel, the interval is far too wide and never misses.
    """
    rng = np.random.default_rng(4)
    missed = missed_by_rounds = 0
    for _ in range(400):
        cards = rng.choice([-2, 2], 500 * EACH + 1)
        one, late = cards[1:], cards[:-1]
        other = np.where(rng.random(one.size) < 0.05, rng.choice([-2, 2], one.size), late)
        tally = pair(one, other)
        low, high = tally.ci95
        missed += not low <= 0 <= high
        missed_by_rounds += abs(tally.mean) > 1.96 * (one - other).std() / 2 / math.sqrt(one.size)
    assert 8 <= missed <= 34
    assert missed_by_rounds == 0


def test_the_last_batch_takes_the_rest() -> None:
    """A seat whose rounds take half the cards has half the batches; no round is lost."""
    one, other = np.ones(10 * EACH, np.int64), np.full(10 * EACH, 3)
    short = make_rounds(one)._replace(dealt=make_rounds(one).dealt // 2)
    tally = PairedTally.of(HALF, short, make_rounds(other))
    assert tally.batches == 5
    assert tally.sums == (640, 640, 1920, 640)


def test_batches_of_an_infinite_shoe_count_cards() -> None:
    dealt = np.array([5, CARDS - 1, CARDS + 4, CARDS + 9, 2 * CARDS, 2 * CARDS + 5, 3 * CARDS + 1])
    # a round begins where the one before it ended
    assert batches(dealt, 0, 0).tolist() == [0, 3, 5]


def test_batches_of_whole_decks_are_shoes() -> None:
    """A shoe of 20 cards, cut after 12, is shuffled before a round that begins at or after the cut."""
    dealt = np.array([5, 11, 16, 21, 28, 33, 38])
    assert batches(dealt, 20, 12).tolist() == [0, 3, 5]


def test_an_empty_shoe_is_followed_by_another() -> None:
    """A shoe dealt to the last of 10 cards: the third round takes two cards from the next shoe."""
    dealt = np.array([4, 8, 12, 16, 20, 24])
    assert batches(dealt, 10, 10).tolist() == [0, 3, 5]


@pytest.mark.parametrize(("decks", "cut"), [(1, "1/2"), (1, 1), (2, "3/4"), (6, "3/4")])
def test_batches_are_those_of_a_real_shoe(decks: int, cut: object) -> None:
    """Rounds of 4 to 9 cards from a real shoe, which reports its shuffles; some shoes run out during a round."""
    rules = Rules(decks=decks, cut=cut)  # type: ignore[arg-type]
    shoe, rng = DeckShoe(rules, Stream(3)), np.random.default_rng(6)
    dealt, firsts, cards_before = [], [], None
    for number in range(2000):
        shoe.begin_round()
        if shoe._cards is not cards_before:
            firsts.append(number)
            cards_before = shoe._cards
        cards = int(rng.integers(4, 10))
        for _ in range(cards):
            shoe.draw()
        dealt.append(cards)
    assert batches(np.cumsum(dealt), shoe.size, shoe.cut).tolist() == firsts


def test_tallies_merge_in_any_order() -> None:
    rng = np.random.default_rng(5)
    parts = [pair(*rng.integers(-4, 5, (2, n))) for n in (1, EACH + 1, 4 * EACH, 5)]
    forwards = sum(parts, start=PairedTally())
    assert forwards == sum(reversed(parts), start=PairedTally())
    assert forwards.batches == 1 + 2 + 4 + 1
    assert PairedTally.from_json(forwards.to_json()) == forwards


def test_few_batches_give_no_interval() -> None:
    low, high = pair(np.ones(EACH * 99, np.int64), np.zeros(EACH * 99, np.int64)).ci95
    assert (low, high) == (-math.inf, math.inf)


def test_units_do_not_mix() -> None:
    none = np.zeros(3, np.int64)
    with pytest.raises(ValueError, match="units"):
        pair(none, none) + PairedTally.of(Fraction(1), make_rounds(none), make_rounds(none))
