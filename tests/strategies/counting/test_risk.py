"""Risk: published figures, exact identities, simulation, and the delta method against resampling."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from bjsim.arrays import Floats
from bjsim.errors import InputError
from bjsim.strategies.counting.ramp import (
    ahead_probability,
    bank_for_ruin,
    bank_quantile,
    bankroll_fan,
    certainty_equivalent,
    desirability_index,
    n0,
    ruin_probability,
    score,
    trip_ruin_probability,
)
from bjsim.strategies.counting.returns import CountReturns, Terms, best_ramp, find_figures, kelly_ramp, ramp_returns

COUNTS = np.arange(-2, 7)
SHARES = np.array([0.17, 0.18, 0.25, 0.16, 0.1, 0.06, 0.04, 0.025, 0.015])
EV: Floats = np.asarray(0.005 * (COUNTS - 1.0), np.float64)
VAR: Floats = np.asarray(1.3 + 0.01 * COUNTS, np.float64)


def table(error: Floats | None = None) -> CountReturns:
    """A table like that of a shoe game: half a per cent for each true count."""
    return CountReturns(np.array(COUNTS, float), SHARES, EV, VAR, np.full(9, 0.48), error)


def small(*columns: list[float]) -> CountReturns:
    """A table of these columns: counts, shares, ev, var, cov."""
    return CountReturns(*map(np.array, columns))


def test_worked_figures_of_one_simulation() -> None:
    """BJW's sample run: EV .0046626 and SD 2.908 make DI 1.603, SCORE 2.57, N0 389,000."""
    ev, sd = 0.0046626, 2.908
    assert desirability_index(ev, sd) == pytest.approx(1.603, abs=5e-4)
    assert score(ev, sd) == pytest.approx(2.57, abs=5e-3)
    assert n0(ev, sd) == pytest.approx(388_985, rel=5e-5)
    assert score(ev, sd) * n0(ev, sd) == pytest.approx(1e6)


FULL_KELLY = 3.0**2 / 0.01  # the bank for an EV of .01 and an SD of 3


def test_ruin() -> None:
    """Full Kelly e^-2 = 13.5335%, half Kelly e^-4 = 1.832%; Hall's game 9.72%."""
    bank = FULL_KELLY
    assert ruin_probability(0.01, 3.0, bank) == math.exp(-2)
    assert ruin_probability(0.01, 3.0, 2 * bank) == pytest.approx(math.exp(-4), rel=1e-14)
    variance = 3.88681 - 0.0151**2
    assert ruin_probability(0.0151, math.sqrt(variance), 300) == pytest.approx(0.0972, abs=5e-5)
    assert ruin_probability(-0.01, 1, 100) == 1
    assert ruin_probability(0.01, 1, 50) == pytest.approx(math.sqrt(ruin_probability(0.01, 1, 100)))


def test_the_bank_for_a_risk_of_ruin_is_its_inverse() -> None:
    """e^-2 needs the full Kelly bank; 1% needs ln(100) / 2 = 2.303 of them."""
    kelly = FULL_KELLY
    assert bank_for_ruin(0.01, 3.0, math.exp(-2)) == pytest.approx(kelly)
    assert bank_for_ruin(0.01, 3.0, 0.01) == pytest.approx(2.302585 * kelly)
    assert ruin_probability(0.01, 3.0, bank_for_ruin(0.01, 3.0, 0.2)) == pytest.approx(0.2, rel=1e-12)
    assert math.isinf(bank_for_ruin(-0.01, 3.0, 0.01))


def test_after_n0_84_per_cent_are_ahead() -> None:
    assert ahead_probability(0.01, 3.0, n0(0.01, 3.0)) == pytest.approx(0.8413447)
    assert ahead_probability(-0.01, 3.0, 90_000) == pytest.approx(1 - 0.8413447)
    ramp = ramp_returns(table(), np.maximum(2 * (COUNTS - 1.0), 1))
    figures = {one.key: one for one in find_figures(ramp, Terms(rounds_per_hour=80, trip_hours=1))}
    hours = n0(ramp.ev, ramp.sd) / 80
    assert figures["n0_hours"].value == pytest.approx(hours)
    after = {one.key: one for one in find_figures(ramp, Terms(rounds_per_hour=80, trip_hours=hours))}
    assert after["trip_ahead"].value == pytest.approx(0.8413447)
    assert figures["trip_ror"].text == "< 0.0001%"


def test_the_bankroll_of_a_share_of_the_players() -> None:
    """In a fair game, by reflection: Phi(0) + Phi(-2) of the players are below where they began, at two deviations."""
    assert bank_quantile(0.0, 1.0, 10.0, 25, 0.5 + 0.0000316712) == pytest.approx(10, abs=1e-5)  # Phi(-4)
    assert bank_quantile(0.0, 1.0, 10.0, 100, 0.5 + 0.0227501) == pytest.approx(10, abs=1e-5)  # Phi(-2)
    lost = trip_ruin_probability(0.001, 1.0, 10.0, 400)
    assert bank_quantile(0.001, 1.0, 10.0, 400, lost - 1e-9) == 0
    assert 0 < bank_quantile(0.001, 1.0, 10.0, 400, lost + 1e-3) < 2
    fan = bankroll_fan(0.02, 5.0, 3000, 100)
    assert fan.hours[-1] == 1000 and fan.n0_hours == pytest.approx(625) and fan.ruin == pytest.approx(math.exp(-4.8))
    low, middle, high = (line[-1] for line in fan.quantiles)
    spread = 5 * math.sqrt(1e5)
    assert middle == pytest.approx(5000, rel=0.01) and high == pytest.approx(5000 + 1.645 * spread, rel=0.01)
    assert low < 5000 - 1.645 * spread * 0.99 and fan.lost[-1] < fan.ruin
    assert bankroll_fan(0.01, 5.0, 3000, 100).hours[-1] == 3250  # 1.25 times 2,500 hours, rounded up


def test_the_bankrolls_of_many_players() -> None:
    """Walks of 2,000 players with steps of a tenth of a unit, within four standard errors; at both quantiles."""
    rng, steps = np.random.default_rng(4), 2_000
    walks = 6 + np.cumsum(rng.normal(0.002, 0.1, (2_000, steps)), axis=1)
    ends = np.where((walks <= 0).any(axis=1), 0.0, walks[:, -1])
    for share in (0.2, 0.5, 0.9):
        below = (ends <= bank_quantile(0.002, 0.1, 6.0, steps, share)).mean()
        assert abs(below - share) < 4 * math.sqrt(share * (1 - share) / 2_000)


def test_certainty_equivalent_is_half_the_profit_at_full_kelly() -> None:
    assert certainty_equivalent(0.01, 3.0, FULL_KELLY) == pytest.approx(0.005, rel=1e-14)


@pytest.mark.parametrize("ev", [0.02, 0.0, -0.05])
def test_trip_ruin_is_that_of_a_simulated_walk(ev: float) -> None:
    """Steps of 0.1 standard deviations, 20,000 walks: within 4 standard errors plus the overshoot of a step."""
    generator, bank, rounds, parts = np.random.default_rng(5), 12.0, 100, 16
    level, lowest = np.zeros(20_000), np.zeros(20_000)
    for _ in range(rounds * parts):
        level += ev / parts + generator.standard_normal(20_000) / math.sqrt(parts)
        np.minimum(lowest, level, out=lowest)
    simulated = float((lowest <= -bank + 0.5826 / math.sqrt(parts)).mean())  # continuity correction of a random walk
    exact = trip_ruin_probability(ev, 1.0, bank, rounds)
    error = math.sqrt(exact * (1 - exact) / 20_000)
    assert abs(simulated - exact) < 4 * error
    assert abs(simulated - trip_ruin_probability(ev, 1.0, 0.9 * bank, rounds)) > 4 * error  # a wrong one is caught


def test_a_trip_lasts_its_hours() -> None:
    assert Terms(rounds_per_hour=80, trip_hours=5).trip == 400


def test_trip_ruin_tends_to_ruin_and_never_overflows() -> None:
    assert trip_ruin_probability(0.01, 1.1, 200, 1e9) == pytest.approx(ruin_probability(0.01, 1.1, 200))
    assert trip_ruin_probability(-1.0, 0.01, 1e6, 10) == 0
    assert trip_ruin_probability(-1.0, 0.01, 1e3, 1e6) == 1
    assert trip_ruin_probability(1e-3, 10.0, 1e5, 10) == 0


def test_a_ramp_by_hand() -> None:
    """Two counts: e = .8 x 1 x -.01 + .2 x 5 x .02 = .012; squares .8 (1 + .0001) + .2 (25 x 1.2 + .01)."""
    two = small([0, 1], [0.8, 0.2], [-0.01, 0.02], [1.0, 1.2], [0.4, 0.5])
    returns = ramp_returns(two, [1, 5])
    assert returns.ev == pytest.approx(0.012)
    assert returns.sd**2 == pytest.approx(0.8 * 1.0001 + 0.2 * (30 + 0.01) - 0.012**2)
    assert (returns.bet, returns.played) == (pytest.approx(1.8), pytest.approx(1.0))
    both = ramp_returns(two, [0, 5], [1, 2])
    assert (both.played, both.bet, both.ev) == (pytest.approx(0.2), pytest.approx(2), pytest.approx(0.04))
    assert both.sd**2 == pytest.approx(0.2 * (25 * (2 * 1.2 + 2 * 0.5) + 0.2**2) - 0.04**2)


def test_two_spots_have_the_published_variance() -> None:
    """n var + n (n - 1) cov: 1.303 and .479 make 3.564 for two spots (Wizard of Odds)."""
    flat = small([0], [1], [0.0], [1.303], [0.479])
    assert ramp_returns(flat, 1, 2).sd ** 2 == pytest.approx(3.564)


def test_kelly_bets() -> None:
    bets = kelly_ramp(table(), 1000)
    assert bets == pytest.approx(np.where(EV > 0, 1000 * EV / VAR, 0))
    assert kelly_ramp(table(), 1000, 0.5) == pytest.approx(bets / 2)
    assert kelly_ramp(table(), 1000, spots=2) == pytest.approx(np.where(EV > 0, 1000 * EV / (VAR + 0.48), 0))
    assert set(kelly_ramp(table(), 1000, least=5, most=17, chip=5)) == {5, 10, 15}
    returns = ramp_returns(table(), bets)
    assert ruin_probability(returns.ev, returns.sd, 1000) == pytest.approx(math.exp(-2), rel=1e-3)


def test_no_other_ramp_of_the_same_limits_has_a_higher_score() -> None:
    """Neither a neighbour of the best ramp nor one of 500 random monotone ramps; its limits bind."""
    best = best_ramp(table(), 1, 12)
    returns = ramp_returns(table(), best)
    most = score(returns.ev, returns.sd)
    assert (best.min(), best.max()) == (1, 12)
    generator = np.random.default_rng(3)
    others = [np.sort(generator.uniform(1, 12, 9)) for _ in range(500)]
    others += [np.clip(best + sign * 0.05 * np.eye(9)[i], 1, 12) for i in range(9) for sign in (-1, 1)]
    for ramp in others:
        other = ramp_returns(table(), ramp)
        assert score(other.ev, other.sd) <= most * (1 + 1e-6)
    chips = best_ramp(table(), 0, 12, chip=5)
    assert set(chips) == {0, 5, 10}
    free = best_ramp(table(), 0, 12)  # at any scale it has this SCORE
    assert free == pytest.approx(np.maximum(EV / VAR, 0) * 12 / (EV / VAR).max(), rel=1e-3)


def test_intervals_are_those_of_resampling() -> None:
    """The delta method's errors against those of 4,000 tables drawn with the given errors, within 5%."""
    generator = np.random.default_rng(7)
    root = generator.standard_normal((27, 27)) * 2e-5
    root[:9] -= root[:9].mean(axis=0)  # shares add up to 1
    units = np.array([1, 1, 1, 1, 2, 4, 6, 8, 10])
    returns = ramp_returns(table(root @ root.T), units)
    drawn = []
    for _ in range(4000):
        shares, ev, var = (root @ generator.standard_normal(27)).reshape(3, 9)
        sample = ramp_returns(CountReturns(table().counts, SHARES + shares, EV + ev, VAR + var), units)
        drawn.append((score(sample.ev, sample.sd), ruin_probability(sample.ev, sample.sd, 800), sample.ev))
    sds = 1.959964 * np.std(drawn, axis=0)
    assert returns.half_width(score) == pytest.approx(sds[0], rel=0.05)
    assert returns.half_width(lambda ev, sd: ruin_probability(ev, sd, 800)) == pytest.approx(sds[1], rel=0.05)
    assert returns.half_width(lambda ev, sd: ev) == pytest.approx(sds[2], rel=0.05)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("ev", "known"), [(-3e-4, True), (-5e-5, False), (1e-7, False), (5e-5, False), (3e-4, True)])
def test_figures_that_losing_games_have_not_have_no_interval_near_break_even(ev: float, known: bool) -> None:
    """The interval of this EV is 0.0001 on both sides; at the kink of 0 the delta method would give 0, or no number."""
    error = np.diag([0.0, (1e-4 / 1.96) ** 2, 1e-8])
    ramp = ramp_returns(replace(small([0], [1], [ev], [1.3]), error=error), 1)
    figures = {one.key: one for one in find_figures(ramp, Terms())}
    for key in ("score", "n0", "n0_hours", "ror"):
        assert (figures[key].half is not None) == (known and math.isfinite(figures[key].value)), key
        assert known or "±" not in figures[key].text
    assert figures["di"].half and figures["ev_per_round"].half == pytest.approx(1e-4, rel=1e-4)


def test_errors() -> None:
    with pytest.raises(InputError, match="bankroll = 0"):
        Terms(bankroll=0)
    with pytest.raises(InputError, match=r"trip = 0\.0"):
        Terms(rounds_per_hour=0.1, trip_hours=5e-324)
    with pytest.raises(InputError, match="no multiple of 25"):
        kelly_ramp(table(), 1000, least=5, most=20, chip=25)
    with pytest.raises(InputError, match="favourable"):
        best_ramp(small([0], [1], [-0.1], [1.0]), 1, 12)
