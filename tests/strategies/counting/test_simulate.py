"""Counting runs: null tests, exact expectations of the depth control, insurance, and whole runs."""

from __future__ import annotations

import math
import os
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import product
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
from support.counters import play_shoes, simulate_count
from support.games import slow

from bjsim.errors import InputError
from bjsim.sim.engine.counts import add_up
from bjsim.sim.engine.kernels.arrays import DEPTHS, PRODUCTS, PROFIT, SCALE, STAKES, VALUE, CountTally
from bjsim.sim.engine.rounds import play_counter
from bjsim.sim.game.presets import named_rules
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.shoe import stream_key
from bjsim.sim.running.driver import Driver
from bjsim.strategies.charts.chart import PAIR, Chart, make_chart, parse_row
from bjsim.strategies.counting.count_files import load_count_run, save_count_run
from bjsim.strategies.counting.count_run import CountRun, _group
from bjsim.strategies.counting.departures import Departures
from bjsim.strategies.counting.ramp import Ramp, spots_at
from bjsim.strategies.counting.returns import ramp_returns
from bjsim.strategies.counting.simulate import block_shoes
from bjsim.strategies.counting.system import ROUNDINGS, STEPS, CountingSystem, find_system
from bjsim.strategies.counting.tables import (
    STEP,
    CountingGame,
    decision_counts,
    number_plays,
    ready_table,
    running_range,
)
from bjsim.strategies.counting.typical import depth_distribution
from bjsim.strategies.exact.solver import Solver
from bjsim.strategies.experiment import make_experiment, make_results

SIX = named_rules("vegas-s17")
ONE = SIX.replace(decks=1, cut="3/5", max_hands=2)  # few splits, so that a table is soon made
SPANISH = named_rules("spanish-21")
HILO = find_system("hilo")


@cache
def chart(rules: Rules) -> Chart:
    return Solver(rules).chart


@cache
def game(
    rules: Rules = SIX, plays: str = "i18", system: str = "hilo", spots: str = "1", adjusted: bool = True
) -> CountingGame:
    departures = Departures.parse(plays, chart(rules))
    return CountingGame(rules, find_system(system), departures, None, Ramp.parse(spots).spots, adjusted)


def run(
    rules: Rules = SIX, plays: str = "i18", rounds: int = 200_000, system: str = "hilo", spots: str = "1"
) -> CountRun:
    return kept_run(rules, plays, rounds, system, spots)


@cache
def kept_run(rules: Rules, plays: str, rounds: int, system: str, spots: str) -> CountRun:
    made = game(rules, plays, system, spots)
    return simulate_count(made.rules, made.system, made.departures, rounds, seed=5, spots=made.spots)


def units(ramp: str, counts: np.ndarray) -> np.ndarray:
    return np.array(Ramp.parse(ramp).units(counts))


# --- null tests


def test_a_side_count_of_aces_changes_bets_alone() -> None:
    """Every round is that of the same system without one, insurance included; half of the counts for bets differ."""
    plays = "16vT S>=0, 12v3 S>=2, insurance I>=3"
    made = [ready_table(game(ONE, plays, system, adjusted=False)) for system in ("hiopt2", "hiopt2-aces")]
    plain, side = (play_shoes(ready.table, stream_key(1, 0, 3), 500, 3000)[1] for ready in made)
    assert (plain[:, 1:] == side[:, 1:]).all()
    differ = plain[:, 0] + made[0].first != side[:, 0] + made[1].first
    assert 0.4 < differ.mean() < 0.8


@pytest.mark.parametrize("pays", ["3/2", "6/5"])
def test_a_flat_bettor_has_the_deviation_of_the_chart(pays: str) -> None:
    """Within 2% of the exact one, five standard errors, whatever the unit of payoffs; and bets as much money."""
    rules = SIX.replace(blackjack_pays=pays)
    found = simulate_count(rules, HILO, Departures(chart(rules)), 40_000, 1, adjusted=False)
    flat = ramp_returns(found.returns, np.ones(len(found.counts)))
    assert flat.sd == pytest.approx(Solver(rules.replace(decks="inf")).sd_of(chart(rules)), rel=0.02)
    assert 1.11 < found.returns.shares @ found.wagered < 1.15  # a tenth of the hands is doubled, some are split


@pytest.mark.parametrize("rules", [SIX, pytest.param(SPANISH, marks=pytest.mark.slow)], ids=str)
@pytest.mark.slow
def test_a_flat_bettor_without_index_plays_earns_what_the_chart_does(rules: Rules) -> None:
    """Two independent estimates, 4 standard errors: wrong by chance in 6 of 100,000."""
    counted = ramp_returns(run(rules, "none").returns, np.ones(len(run(rules, "none").counts)))
    experiment = make_experiment(rules, [chart(rules)], 200_000, 77, adjust_luck=True)
    (result,) = make_results(experiment, [chart(rules)], Driver(experiment).run())
    assert counted.error is not None and result.adjusted is not None
    se = math.hypot(math.sqrt(counted.error[0, 0]), result.adjusted.se)
    assert abs(counted.ev - result.adjusted.mean) < 4 * se < 2e-4
    assert abs(counted.sd - result.tally.sd) < 0.02


@pytest.mark.slow
def test_a_constant_ramp_changes_nothing() -> None:
    found = run()
    one, three = (ramp_returns(found.returns, np.full(len(found.counts), bet)) for bet in (1.0, 3.0))
    assert three.ev == pytest.approx(3 * one.ev, rel=1e-12) and three.sd == pytest.approx(3 * one.sd, rel=1e-12)
    rounds, profit, squares = found.sums.raw[:, :3].sum(axis=0)
    raw_sd = math.sqrt(squares / rounds - (profit / rounds) ** 2) * float(found.game.rules.unit)
    assert one.sd == pytest.approx(raw_sd, rel=1e-3)


@pytest.mark.parametrize(
    ("rules", "plays"),
    [
        (SIX, "i18"),
        (SPANISH, "13v5 S>=2, 11vT D>=0, insurance I>=7"),
        pytest.param(ONE.replace(max_hands=4), "i18", marks=pytest.mark.slow),
        pytest.param(SIX.replace(surrender="late"), "i18+fab4", marks=pytest.mark.slow),
        (SIX.replace(surrender="early", decks=2, max_hands=2), "i18+fab4"),
        pytest.param(ONE.replace(deal="pdp", peek=False), "insurance I>=0, 16vT S>=0", marks=pytest.mark.slow),
        (named_rules("european").replace(no_hole_loses="busted-plus-one", max_hands=3), "TTv6 P>=2, 16vT S>=0"),
    ],
)
def test_raw_and_adjusted_profits_agree_by_count(rules: Rules, plays: str) -> None:
    check_raw_and_adjusted(run(rules, plays))


def raw_ev(found: CountRun) -> np.ndarray:
    """Mean profit of a unit by count as it was, not luck-adjusted."""
    bets = found._groups @ (found.sums.raw[:, 0] * found._bucket_spots)
    return found._groups @ found.sums.raw[:, 1] / bets * float(found.game.rules.unit)


def check_raw_and_adjusted(found: CountRun) -> None:
    """The sum of squared deviations over the counts, in standard errors: each is below 4.5 (7 of a million)."""
    raw_se = np.sqrt(found.returns.var / (found.returns.shares * found.rounds))
    deviations = (raw_ev(found) - found.returns.ev) / raw_se
    assert np.abs(deviations).max() < 4.5
    assert (deviations**2).sum() < 3 * len(deviations)


@pytest.mark.parametrize(("seats", "spots"), [(4, "0:1 2:1x2 4:1x3"), pytest.param(1, "1x2", marks=pytest.mark.slow)])
@pytest.mark.slow
def test_the_returns_of_spots_are_those_of_their_rounds(seats: int, spots: str) -> None:
    """Expectation and variance of a ramp's profit, all spots together, against the rounds as they were played.

    Raw and adjusted profit by count as above. The standard deviation and the covariance of two spots are sums over the
    same rounds, apart from the controls.
    """
    made = game(SIX.replace(seats=seats, max_hands=2), "i18", spots=spots)
    found, ready = run(made.rules, "i18", 200_000, spots=spots), ready_table(made)
    raw_se = np.sqrt(found.returns.spot_var(found.spots) / found.spots / (found.returns.shares * found.rounds))
    deviations = (raw_ev(found) - found.returns.ev) / raw_se
    assert np.abs(deviations).max() < 4.5 and (deviations**2).sum() < 3 * len(deviations)
    blocks = [play_shoes(ready.table, stream_key(5, 0, block), 4000, found.rounds)[1] for block in range(3)]
    trace = np.concatenate(blocks)
    counts = trace[:, 0] + ready.first
    buckets = ready.first + np.arange(trace[:, 0].max() + 1)
    bets = units("1-8", buckets)[trace[:, 0]]
    profits = trace[:, 2:] * float(SIX.unit) * bets[:, None]
    spots_played = np.array([spots_at(made.spots, int(count)) for count in buckets])
    played = np.arange(profits.shape[1]) < spots_played[trace[:, 0], None]
    total = (profits * played).sum(axis=1)
    ramp = ramp_returns(found.returns, units("1-8", found.counts), found.spots)
    assert ramp.sd == pytest.approx(total.std(), rel=0.02)
    assert abs(total.mean() - ramp.ev) < 4 * total.std() / math.sqrt(len(total))
    at = int(np.flatnonzero(found.spots == 2)[found.returns.shares[found.spots == 2].argmax()])
    here = counts == found.counts[at]
    cov = float(np.cov(profits[here, 0] / bets[here], profits[here, 1] / bets[here])[0, 1])
    assert found.returns.cov is not None and found.returns.error is not None
    assert found.returns.cov[at] == pytest.approx(cov, abs=4 * 1.5 / math.sqrt(here.sum()))
    assert np.isnan(found.returns.cov[found.spots == 1]).all()
    assert found.returns.error.shape == (4 * len(found.counts),) * 2
    assert (found.wagered > 1.12).all() and (found.wagered < 1.3).all()
    assert found.variance_reduction(units("1-8", found.counts)) > 1500


@pytest.mark.slow
def test_two_spots_vary_together_as_published() -> None:
    """[WoO], six decks, dealer hits soft 17, double after split: 1.346 and .499.

    Of 500,000 rounds, standard errors .002 each; four of them.
    """
    found = run(SIX.replace(hit_soft_17=True), "none", 500_000, spots="1x2").returns
    assert found.cov is not None
    var, cov = found.shares @ found.var, found.shares @ found.cov
    assert var == pytest.approx(1.346, abs=0.008) and cov == pytest.approx(0.499, abs=0.008)


def test_counts_with_other_spots_are_not_merged() -> None:
    sizes = np.array([3, 40, 500, 900, 90, 60, 70, 5])
    kinds = np.array([1, 1, 1, 1, 2, 2, 3, 3])
    assert _group(sizes, 100, kinds).tolist() == [
        [1, 1, 1, 0, 0, 0, 0, 0], [0, 0, 0, 1, 0, 0, 0, 0], [0, 0, 0, 0, 1, 0, 0, 0], [0, 0, 0, 0, 0, 1, 1, 1],
    ]  # fmt: skip
    assert _group(sizes, 50, kinds).sum(axis=1).tolist() == [3, 1, 1, 1, 2]
    assert _group(sizes, 5000, kinds).tolist() == [[1] * 8]


def test_it_takes_thousands_of_times_fewer_rounds() -> None:
    """Asked for: 5,000 for a spread of 1 to 12; measured 8,800, and 27,000 for flat bets."""
    found = run()
    assert found.variance_reduction(units("1-12", found.counts)) > 6_500
    assert found.variance_reduction(np.ones(len(found.counts))) > 20_000
    ramp = ramp_returns(found.returns, units("1-12", found.counts))
    assert ramp.error is not None and 1.96 * math.sqrt(ramp.error[0, 0]) < 0.015 * ramp.ev
    assert 0.0085 < ramp.ev < 0.0091


def test_splits_that_the_luck_model_lacks_cost_no_precision() -> None:
    """Counts that share a luck model split tens against different cards.

    The model's values of split hands are those of splitting every pair again. If a pair is judged as if it were not,
    the factor is 1,900, and that of flat bets 26,000.
    """
    found = run(SIX, "TTv4 P>=6, TTv5 P>=5, TTv6 P>=4")
    assert found.variance_reduction(units("1-12", found.counts)) > 6_500
    assert found.variance_reduction(np.ones(len(found.counts))) > 33_000


def test_a_short_run_is_controlled_too() -> None:
    """A block of KO has 1,120 shoes. Without controls, the factor is some 400."""
    found = run(SIX, "none", 20_000, "ko")
    assert found.sums.shoes == 1120
    assert found.variance_reduction(np.ones(len(found.counts))) > 20_000


@pytest.mark.parametrize("shoes", [1, 5, 40])
def test_a_few_shoes_have_a_table_too(shoes: int) -> None:
    """Rows have enough rounds as they were played, and as they would have been in usual shoes."""
    found = run(SIX, "none", 20_000, "ko")
    for seed in range(5):
        sums, _ = play_shoes(ready_table(found.game).table, stream_key(seed, 0, 0), shoes)
        few = replace(found, sums=sums).returns
        assert few.shares.min() > 0 and few.var.min() > 0.3 and few.shares.sum() == pytest.approx(1)


def test_controls_are_taken_from_what_they_belong_to() -> None:
    """By definition, bucket by bucket, with two spots at some of them."""
    made = replace(game(ONE, "none"), spots=((Fraction(0), 1), (Fraction(2), 2)))
    table = ready_table(made).table
    tally, known = play_depths(made, 50), table.known
    assert known is not None
    sums, _ = add_up(table, tally._replace(now=tally.now.copy()), 50)
    buckets = len(tally.raw)
    value, depths = (tally.now[:, part].sum(axis=0) - 50 * known.expected[part - VALUE] for part in (VALUE, DEPTHS))
    two = table.count.spots > 1
    assert two.any() and not two.all() and (known.moments[1] > 0).tolist() == two.tolist()
    for quantity, excess in enumerate([depths, value, depths * known.moments[0], depths * known.moments[1]]):
        expected = tally.now[:, quantity].sum(axis=0) - known.rounds * excess
        assert sums.sums[quantity * buckets : (quantity + 1) * buckets] == pytest.approx(expected, abs=1e-6)
    assert len(sums.sums) == (PRODUCTS + 1) * buckets


# --- the depth control


@pytest.mark.parametrize("system", ["hilo", *(pytest.param(name, marks=pytest.mark.slow) for name in ("halves", "ko"))])
def test_the_depths_of_a_shoe_have_their_exact_expectations(system: str) -> None:
    """Means over 4,000 shoes and more; without an index play's help."""
    made = game(ONE, "none", system)
    check_depths(play_depths(made), expected(made))
    if system == "hilo":  # negative control: a cut one card deeper
        assert abs(expected(made)[1].sum() - expected(game(ONE.replace(cut="34/52"), "none"))[1].sum()) > 0.9


def test_the_depths_of_spanish_decks_have_their_exact_expectations() -> None:
    """Tens that are not alike either, as pairs are of equal rank: three ranks of four cards in a Spanish deck."""
    rules = SPANISH.replace(decks=2, split_by="rank", max_hands=2, max_ace_hands="none")
    made = CountingGame(rules, HILO, Departures.parse("none", chart(rules)))
    check_depths(play_depths(made), expected(made))


def play_depths(made: CountingGame, shoes: int = 0) -> CountTally:
    """By default those of a block."""
    return play_counter(ready_table(made).table, np.array(stream_key(8, 0, 0)), shoes or block_shoes(made.rules))


def expected(made: CountingGame) -> np.ndarray:
    known = ready_table(made).table.known
    assert known is not None
    return known.expected


def check_depths(tally: CountTally, expectations: np.ndarray) -> None:
    """4.5 standard errors for some 60 numbers, of buckets that at least 30 shoes reach: of fewer none is normal."""
    reached = (tally.now[:, DEPTHS] != 0).sum(axis=0)
    for quantity, expected in zip((VALUE, DEPTHS), expectations, strict=True):
        means = tally.now[:, quantity].mean(axis=0)
        errors = tally.now[:, quantity].std(axis=0) / len(tally.now) ** 0.5
        seen = (errors > 1e-12) & (reached >= 30)
        assert np.abs((means - expected)[seen] / errors[seen]).max() < 4.5
        assert np.abs(expected[reached == 0]).max(initial=0) < 1e-3


@pytest.mark.slow
def test_a_side_count_of_aces_has_its_expectations() -> None:
    """The luck of the cards is 0 on average at every count for bets, and the depths are those of that count."""
    found = run(ONE, "i18", 100_000, "omega2-aces")
    check_raw_and_adjusted(found)
    tally = play_depths(found.game)
    check_depths(tally, expected(found.game))
    plain = game(ONE, "i18", "omega2")  # negative control: the depths of the count of decisions
    limits = found.first, found.first + len(found.sums.raw) - 1
    wrong = expected(CountingGame(ONE, plain.system, plain.departures, limits))
    with pytest.raises(AssertionError):
        check_depths(tally, wrong)


def test_the_values_of_every_depth_have_their_exact_expectations() -> None:
    """40,000 shuffles of one deck, drawn by numpy; 4.5 standard errors at each of 16 depths and 5 counts."""
    rules, shoes = ONE, 40_000
    ready = ready_table(game(rules, "none"))
    count, slopes = ready.table.count, ready.table.control.slopes / SCALE
    exact, shares = depth_distribution(HILO.scaled(1), 1, rules.cut_cards).expected_controls(
        count.buckets, ready.table.control.values, slopes, STEP
    )
    decks = np.random.default_rng(4).permuted(np.tile(np.repeat(np.arange(13), 4), (shoes, 1)), axis=1)
    tags, wrong = count.tags, 0
    for row, depth in enumerate(range(0, rules.cut_cards, STEP)):
        dealt = np.stack([(np.minimum(decks[:, :depth], 9) == q).sum(axis=1) for q in range(10)], axis=1)
        running = tags[decks[:, :depth]].sum(axis=1)
        bucket = count.buckets[depth, running - count.lowest_bet]
        composition = (np.array([4] * 9 + [16]) - dealt) / (52 - depth)
        value = ready.table.control.values[bucket] + (composition * slopes[bucket]).sum(axis=1)
        for b in range(-ready.first - 2, -ready.first + 3):
            here = np.where(bucket == b, value, 0)
            error = here.std() / math.sqrt(shoes)
            assert abs(here.mean() - exact[row, b]) <= 4.5 * error + 1e-12
            assert abs((bucket == b).mean() - shares[row, b]) <= 4.5 * math.sqrt(shares[row, b] / shoes) + 1e-12
            wrong += abs(here.mean() - exact[row - 1, b]) > 4.5 * error + 1e-12
    assert wrong > 10  # negative control: the expectations of the depth before


def test_the_first_depths_by_enumeration() -> None:
    """After no, one and two cards of two decks, over all cards, in fractions."""
    scaled = find_system("halves").scaled(2)
    found = depth_distribution(scaled, 2, 3)
    lowest = running_range(scaled, 2)[0]
    full = [8] * 9 + [32]
    for depth in range(3):
        probability: dict[int, Fraction] = {}
        left: dict[tuple[int, int], Fraction] = {}
        for cards in product(range(10), repeat=depth):
            p, remaining = Fraction(1), full.copy()
            for card in cards:
                p *= Fraction(remaining[card], sum(remaining))
                remaining[card] -= 1
            running = sum(scaled.tags[card] for card in cards)
            probability[running] = probability.get(running, Fraction(0)) + p
            for q in range(10):
                left[q, running] = left.get((q, running), Fraction(0)) + p * remaining[q]
        for running, p in probability.items():
            assert found.probability[depth, running - lowest] == pytest.approx(float(p), rel=1e-12)
            for q in range(10):
                assert found.left[q, depth, running - lowest] == pytest.approx(float(left[q, running]), rel=1e-12)
        assert found.probability[depth].sum() == pytest.approx(1)


# --- counts, insurance


@pytest.mark.parametrize("divisor", STEPS)
@pytest.mark.parametrize("rounding", ROUNDINGS)
def test_the_counts_are_those_of_the_system(divisor: str, rounding: str) -> None:
    rng = np.random.default_rng(2)
    for name, rounds in (("halves", "round"), ("ko", "up"), ("omega2", "down"), ("red7", "down")):
        system = find_system(name).replace(divisor=divisor, divisor_rounding=rounds, rounding=rounding)
        tops, bottoms = np.broadcast_arrays(*decision_counts(system.scaled(2), 2))
        low, high = running_range(system.scaled(2), 2)
        for _ in range(150):
            seen, running = int(rng.integers(0, 105)), int(rng.integers(low, high + 1))
            exact = system.count(Fraction(running, system.scale), 104 - seen, 2)
            assert Fraction(int(tops[seen, running - low]), int(bottoms[seen, running - low])) == exact


@pytest.mark.parametrize("divisor", STEPS)
def test_the_counts_for_bets_are_those_of_the_system(divisor: str) -> None:
    """Any tag of the ace, weights with other denominators than the tags, and unbalanced systems."""
    rng = np.random.default_rng(3)
    for name, weight in (("omega2-aces", 2), ("hiopt1", Fraction(7, 5)), ("halves", 1), ("ko", Fraction(1, 3))):
        system = find_system(name).replace(divisor=divisor, side_aces=weight)
        bets = system.scaled(2, for_bets=True)
        tops, bottoms = np.broadcast_arrays(*decision_counts(bets, 2))
        low, _ = running_range(bets, 2)
        for _ in range(150):
            cards = rng.binomial(np.array([8] * 9 + [32]), rng.random())
            aces, unseen = int(8 - cards[0]), int(104 - cards.sum())
            running = system.running_count(cards.tolist(), 2)
            column = int(system.scale * running) + bets.side_aces * aces - low
            exact = system.bet_count(running, aces, unseen, 2)
            assert Fraction(int(tops[104 - unseen, column]), int(bottoms[104 - unseen, column])) == exact


def test_the_count_for_bets_is_zero_on_average_at_every_depth() -> None:
    """A deck to its last card, also with fewer unseen cards than the least divisor."""
    bets = find_system("omega2-aces").replace(rounding="exact").scaled(1, for_bets=True)
    tops, bottoms = decision_counts(bets, 1)
    probability = depth_distribution(bets, 1, 52).probability
    assert (probability * (tops / bottoms)[:52]).sum(axis=1) == pytest.approx(np.zeros(52), abs=1e-9)


def test_the_play_at_each_count_is_that_of_the_index_plays() -> None:
    departures = Departures.parse("16vT S>=0, TTv5 P>=5, 14v3 H<-1.5, 13v5 H<=-3, insurance I>3.25", chart(SIX))
    for rounding in ("floor", "exact"):
        system = HILO.replace(rounding=rounding)
        table = ready_table(CountingGame(SIX, system, departures, (-10, 10), adjusted=False)).table.count
        number, plays = number_plays(departures, decision_counts(system.scaled(6), 6))
        assert table.lowest == table.lowest_bet and (table.cells == number).all()
        for seen in (10, 120, 233):
            for running in range(-30, 31):
                count = system.count(running, 312 - seen, 6)
                at = seen, running - table.lowest
                assert plays[table.cells[at]] == (departures.chart_at(count), departures.insured_at(count))
                assert table.buckets[at] == min(max(math.floor(count), -10), 10) + 10


def paid_by_insurance(rules: Rules, plays: str, shoes: int, spots: str = "1") -> tuple[np.ndarray, np.ndarray]:
    """What insurance adds to the profit of a spot in each shoe, as it was and luck-adjusted; which changes no play."""
    made = [ready_table(game(rules, each, spots=spots)) for each in (plays, "none")]
    key = np.array(stream_key(9, 0, 0), np.uint64)
    raw, adjusted = [], []
    for ready in made:
        table = ready.table
        adjusted.append(play_counter(table, key, shoes).now[:, PROFIT].sum(axis=1))
        plain = replace(table, layout=table.layout._replace(luck=None))
        raw.append(play_counter(plain, key, shoes).now[:, PROFIT].sum(axis=1))
    return raw[0] - raw[1], adjusted[0] - adjusted[1]


def test_insurance_before_the_first_round_is_exact() -> None:
    """Always insured in fresh shoes: the chance of an ace times 3/2 of the share of tens less 1/2, in every round.

    4 standard errors: 6 of 100,000. Luck adjustment leaves a hundredth of the error.
    """
    raw, adjusted = paid_by_insurance(SIX.replace(cut=0), "insurance I>=-50", 20_000)
    exact = float(Fraction(1, 13) * (Fraction(3, 2) * Fraction(96, 311) - Fraction(1, 2)))
    for won in (raw, adjusted):
        assert abs(won.mean() - exact) < 4 * won.std() / math.sqrt(len(won)) + 1e-12
    assert set(np.unique(raw)) == {-0.5, 0.0, 1.0}
    assert adjusted.std() < raw.std() / 100


@pytest.mark.parametrize(
    ("seats", "spots", "deal"), [(1, "1", "pdpd"), slow(3, "1x2", "pdpd"), slow(1, "1", "pdp"), (1, "1x2", "pdp")]
)
def test_insurance_by_count_is_raw_insurance_on_average(seats: int, spots: str, deal: str) -> None:
    """4 standard errors: 6 of 100,000. It is far above 0, so that a missing part would be seen.

    Without a hole card too, where the dealer's second card decides, after the seats have played.
    """
    rules = ONE.replace(cut="4/5", seats=seats, deal=deal, peek=deal == "pdpd")
    raw, adjusted = paid_by_insurance(rules, "insurance I>=3", 120_000, spots)
    error = raw.std() / math.sqrt(len(raw))
    assert abs(raw.mean() - adjusted.mean()) < 4 * error
    assert adjusted.mean() > 5 * error


def test_money_bet_counts_doubles_splits_and_insurance() -> None:
    """In fresh shoes, always insured: 1 + P(ace) / 2 and the doubles and splits of the chart. 4 standard errors."""
    rules = SIX.replace(cut=0)
    with_it, without = run(rules, "insurance I>=-50", 20_000), run(rules, "none", 20_000)
    assert len(with_it.counts) == 1
    aces = 2 * (with_it.wagered[0] - without.wagered[0])
    assert abs(aces - 1 / 13) < 4 * math.sqrt(12 / 169 / with_it.rounds)
    assert with_it.sums.raw[0, STAKES] > without.sums.raw[0, STAKES]
    assert 1.12 < without.wagered[0] < 1.15


@pytest.mark.parametrize(("doubled", "least", "most"), [("9 10 11", 1, 1), ("8 9 10 11", 1.01, 1.04)])
def test_money_bet_leaves_out_what_the_house_puts_up(doubled: str, least: float, most: float) -> None:
    """Splits and doubles of 9 to 11 are free in these rules, so only doubles of 8 are of the player's own money."""
    rules = named_rules("free-bet").replace(decks=2, max_hands=2, insurance=False)

    def code(row: str, column: str) -> str:
        if parse_row(row).kind == PAIR:
            return "S" if row == "TT" else "P"
        return "Dh" if row in doubled.split() else "H" if row in ("5", "6", "7") else "S"

    found = simulate_count(rules, HILO, Departures(make_chart("free", rules, code)), 5000, 1, adjusted=False)
    assert least <= found.sums.raw[:, STAKES].sum() / 2 / found.rounds <= most


# --- runs


def test_a_run_stops_when_it_is_precise_enough() -> None:
    made = game(ONE)
    seen: list[int] = []

    def enough(found: CountRun) -> bool:
        seen.append(found.rounds)
        return len(seen) == 2

    found = simulate_count(made.rules, made.system, made.departures, 1e12, seed=3, enough=enough)
    assert found.rounds == seen[-1] and len(seen) == 2


def test_a_saved_run_is_restored_to_the_bit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found, path = run(ONE.replace(seats=2), "i18", 20_000, spots="0:1 1:1x2"), tmp_path / "run.count"
    save_count_run(found, path)
    again = load_count_run(path)
    assert again.game == found.game and again.seed == found.seed
    assert again.labels == found.labels and np.array_equal(again.returns.ev, found.returns.ev)
    assert found.returns.error is not None and again.returns.error is not None
    assert np.array_equal(again.returns.error, found.returns.error)
    for name, why in (("no/folder.count", "there is no folder"), ("x" * 300, "File name too long")):
        with pytest.raises(InputError, match=why):
            save_count_run(found, tmp_path / name)
    monkeypatch.setattr(os, "fsync", Mock(side_effect=OSError(28, "No space left on device")))
    with pytest.raises(InputError, match=r"^path: .*No space left on device"):
        save_count_run(found, path)
    monkeypatch.undo()
    assert load_count_run(path).rounds == found.rounds


def test_any_number_of_rounds_and_narrow_ranges_of_counts_make_a_table() -> None:
    made = game(ONE)
    for rounds, counts in ((1, None), (5000, (0, 0)), (5000, (-2, 3))):
        found = simulate_count(made.rules, made.system, made.departures, rounds, 1, counts=counts)
        assert found.returns.shares.sum() == pytest.approx(1)
        assert len(found.labels) == len(found.counts) == len(found.wagered)
    assert found.labels == ["≤ -1", "0", "+1", "+2", "≥ +3"]  # in one deck, -1 card is already a count below -1


def test_a_system_of_ones_own() -> None:
    """Aces against fives, counted by the running count from -3."""
    system = CountingSystem("own", (-1, 0, 0, 0, 1, 0, 0, 0, 0, 0), initial=-3, divisor="none")  # type: ignore[arg-type]
    found = simulate_count(ONE, system, Departures.parse("15vT S>=-1", chart(ONE)), 20_000)
    assert found.counts[0] <= -5 and found.counts[-1] >= -1


# --- without luck adjustment


@pytest.mark.parametrize("spots", ["1", pytest.param("0:1 2:1x2", marks=pytest.mark.slow)])
def test_without_luck_adjustment_the_rounds_are_the_same(spots, tmp_path):
    """Profits, insurance and stakes as in a luck-adjusted run, bit for bit; their errors are those of plain rounds."""
    adjusted, made = run(spots=spots), game(spots=spots)
    raw = simulate_count(made.rules, made.system, made.departures, 200_000, seed=5, spots=made.spots, adjusted=False)
    assert np.array_equal(raw.sums.raw, adjusted.sums.raw)
    assert np.allclose(raw.returns.ev, raw_ev(raw), atol=1e-12)
    errors = raw.returns.ev_half_widths() / 1.96
    assert abs((raw.returns.ev - adjusted.returns.ev) / errors).max() < 4
    assert abs((raw.returns.ev - adjusted.returns.ev) / errors).max() > 0.5  # not the same numbers
    assert 0.8 < raw.variance_reduction(units("1-12", raw.counts)) < 1.25
    save_count_run(raw, tmp_path / "raw.count")
    again = load_count_run(tmp_path / "raw.count")
    assert not again.game.adjusted
    assert np.array_equal(again.returns.ev_half_widths(), raw.returns.ev_half_widths())


@pytest.mark.parametrize("loses", ["original", "original-and-busted"])
def test_a_natural_that_takes_the_original_bet_alone_counts_no_further_bet(loses: str) -> None:
    """The money bet of one chart is the same whatever a natural takes."""
    stakes = []
    for each in ("all", loses):
        rules = named_rules("european").replace(decks=6, no_hole_loses=each)
        played = simulate_count(
            rules, find_system("hilo"), Departures(replace(Solver(SIX).chart, rules=rules)), 40_000, seed=5
        )
        stakes.append(played.sums.raw[:, STAKES].sum() / played.rounds)
    assert abs(stakes[0] / stakes[1] - 1) < 0.003  # a further bet in each split round is 2%
