"""Student's t, the interval of a mean that is valid at all times, and evidence against a mean of 0."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bjsim.sim.stats.student import anytime_t_half, e_value, t_half, t_tail

LOOKS = [8, 10, 13, 17, 21, 25]


@pytest.mark.parametrize(
    ("freedom", "t"), [(1, 12.7062), (2, 4.30265), (5, 2.57058), (24, 2.06390), (100, 1.98397), (5000, 1.96044)]
)
def test_student_t_matches_published_tables(freedom, t):
    assert t_half(freedom) == pytest.approx(t, abs=1e-4)
    assert freedom > 2000 or t_tail(t_half(freedom), freedom) == pytest.approx(0.05, abs=1e-9)


@pytest.mark.parametrize("alpha", [0.5, 0.05, 0.01, 0.025, 1e-4, 1e-6])
def test_student_t_for_many_degrees_of_freedom_is_that_of_its_finite_sum(alpha: float) -> None:
    halves = {freedom: t_half(freedom, alpha) for freedom in (*range(1990, 2011), 4000, 20_000)}
    assert [*halves.values()] == sorted(halves.values(), reverse=True)
    assert [t_tail(half, freedom) for freedom, half in halves.items()] == pytest.approx([alpha] * 23, rel=3e-4)


@pytest.mark.parametrize("alpha", [0.05, 1e-4])
@pytest.mark.parametrize("n", [200, 2000])
def test_the_anytime_interval_is_narrowest_where_it_should_be(n, alpha):
    """Those that are narrowest after 30% fewer or 40% more values are wider after n."""
    widths = [anytime_t_half(n, n - 1.0, optimal, alpha) for optimal in (n * 7 // 10, n, n * 14 // 10)]
    assert widths[1] == min(widths)


def test_an_e_value_is_the_likelihood_ratio_of_t() -> None:
    """By integration over the prior: the density of the mean and deviations under (delta, sigma), over that under 0,
    where sigma has the scale-invariant prior 1 / sigma. Four values, with prior sd 1 / c of delta."""
    values, optimal_n = np.array([0.3, 1.1, -0.2, 0.9]), 20
    n, mean, squares = 4, values.mean(), ((values - values.mean()) ** 2).sum()
    c2 = optimal_n / (-2 * math.log(0.05) + math.log(-2 * math.log(0.05) + 1))
    sigmas = np.exp(np.linspace(-12, 12, 4001))  # d log sigma
    deltas = np.linspace(-12, 12, 4001) / math.sqrt(c2)
    prior = np.exp(-c2 * deltas**2 / 2)
    prior /= prior.sum()

    def marginal(delta: float) -> float:
        exponent = -(squares + n * (mean - delta * sigmas) ** 2) / (2 * sigmas**2)
        return float((sigmas**-n * np.exp(exponent)).sum())

    ratio = sum(p * marginal(delta) for p, delta in zip(prior, deltas, strict=True)) / marginal(0.0)
    assert e_value(n, mean, squares, optimal_n) == pytest.approx(ratio, rel=1e-3)


def test_an_e_value_of_20_is_where_the_anytime_interval_of_95_percent_excludes_0() -> None:
    for n in (8, 25, 400):
        half = anytime_t_half(n, 3.0, 25)
        assert e_value(n, half, 3.0, 25) == pytest.approx(20)
    assert e_value(9, 0.0, 0.0, 25) == 1 and e_value(9, 1.0, 0.0, 25) == math.inf
    assert 0 < e_value(10**6, 5.0, 1e-9, 25) < math.inf


def test_the_mean_of_e_values_of_equal_bots_is_at_most_1_at_every_look_and_over_seasons() -> None:
    """The mean of 20,000 contests of two copies, and of products over two seasons; 3 standard errors are allowed.
    At most 5% ever reach 20. Negative control: the likelihood ratio at the estimate is far above 1."""
    values = np.random.default_rng(5).normal(size=(20_000, 2, 25))
    at_look, best, naive = {}, np.zeros((20_000, 2)), 0.0
    for look in LOOKS:
        part = values[:, :, :look]
        means, squares = part.mean(axis=2), part.var(axis=2) * look
        found = np.array(
            [[e_value(look, m, s, 25) for m, s in zip(*one, strict=True)] for one in zip(means, squares, strict=True)]
        )
        best, at_look[look] = np.maximum(best, found), found
        naive = float(np.mean((1 + look * means**2 / squares) ** (look / 2)))
    for found in at_look.values():
        for sample in (found[:, 0], found[:, 0] * found[:, 1]):
            assert sample.mean() <= 1 + 3 * sample.std() / math.sqrt(len(sample))
    assert (best >= 20).mean() <= 0.05
    assert naive > 1.5
