"""Tallies: merging in any order, and mean and deviation against the plain formulas."""

import json
import math
import statistics
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bjsim.sim.stats.tally import Tally

HALF = Fraction(1, 2)
payoffs = st.lists(st.tuples(st.integers(-8, 8), st.integers(0, 0)), min_size=1, max_size=50)
replayed = st.lists(st.tuples(st.integers(-8, 8), st.integers(0, 2)), max_size=50)


@given(st.lists(replayed, min_size=1, max_size=6), st.randoms())
def test_merging_in_any_order_gives_the_same_tally(parts, random):
    tallies = [Tally.of(HALF, part) for part in parts]
    merged = sum(tallies, start=Tally())
    random.shuffle(tallies)
    assert sum(tallies, start=Tally()) == merged
    assert merged == Tally.of(HALF, [p for part in parts for p in part])


@given(payoffs)
def test_mean_and_sd_are_those_of_the_values(values):
    tally = Tally.of(HALF, values)
    bets = [net / 2 for net, _ in values]
    assert tally.mean == pytest.approx(statistics.fmean(bets), abs=1e-12)
    assert tally.sd == pytest.approx(statistics.pstdev(bets), abs=1e-12)
    assert tally.se == pytest.approx(tally.sd / math.sqrt(len(values)))


def test_replayed_ties_settle_nothing():
    """10 won, 6 lost, 4 tied and replayed: 4 / 16 per settled bet."""
    tally = Tally(Fraction(1), {(1, 0): 10, (-1, 0): 6, (0, 1): 4})
    assert tally.exact_mean == Fraction(1, 4)
    # the delta method by hand: residuals net + V tied - V of 3/4, -5/4 and 0, over a settled share of 4/5
    variance = Fraction(10, 20) * Fraction(9, 16) + Fraction(6, 20) * Fraction(25, 16)
    assert tally.sd == pytest.approx(math.sqrt(variance) / 0.8)


def test_tallies_of_different_units_do_not_merge():
    with pytest.raises(ValueError, match="units of 1/2 and of 1"):
        Tally.of(HALF, [(1, 0)]) + Tally.of(Fraction(1), [(1, 0)])


@given(replayed)
def test_json_round_trip(values):
    tally = Tally.of(HALF, values)
    assert Tally.from_json(json.loads(json.dumps(tally.to_json()))) == tally


def test_payoffs_are_named_in_bets():
    assert Tally.of(HALF, [(-2, 0), (3, 0), (3, 0)]).payoffs == {"-1.0": 1, "1.5": 2}
