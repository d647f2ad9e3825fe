"""The learner on processes with known answers: accuracy, reproducibility, and no use of probabilities."""

from __future__ import annotations

import numpy as np
import pytest
from small_mdps import Gambler, ParsedTable, chain, policy_iteration

from bjsim.arrays import Ints
from bjsim.strategies.learning.kernel import learn_episodes
from bjsim.strategies.learning.learn import Learned, Schedule, learn, pooled, sampler, study
from bjsim.strategies.mdp.model import FiniteMDP, MDPError, build_mdp, mdp_from_dict
from bjsim.strategies.mdp.solve import regret, start_value

KNOWN = {
    # process, episodes, greatest regret allowed, greatest error of V at the start allowed with even draws
    "chain": (chain(0.95), 5_000, 1e-9, 0.05),
    "grid": (build_mdp(ParsedTable()), 100_000, 1e-3, 0.01),
    "gambler": (build_mdp(Gambler(goal=20)), 200_000, 1e-3, 0.001),
}
SCHEDULES = {
    "q": Schedule("q"),
    "q-independent": Schedule("q", draws="independent"),
    "mc": Schedule("mc"),
    "q-soft": Schedule("q", draws="independent", explore_start=0.2, explore_action=0.2),
}


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("name", KNOWN)
def test_it_learns_what_is_known(name: str, schedule: str) -> None:
    """Fixed seed. The regret is within the stated limit for every schedule, and so is V with even draws."""
    mdp, episodes, most_regret, most_error = KNOWN[name]
    best = policy_iteration(mdp)
    learned = learn(mdp, episodes, SCHEDULES[schedule], seed=3)
    assert regret(mdp, best, learned.policy) <= most_regret
    error = start_value(mdp, mdp.best(learned.q)) - start_value(mdp, best.values)
    if SCHEDULES[schedule].draws == "even":
        assert abs(error) <= most_error


@pytest.mark.parametrize("name", KNOWN)
def test_too_few_episodes_do_not_pass(name: str) -> None:
    """Negative control: after few episodes the same limits are not met."""
    mdp, _, most_regret, most_error = KNOWN[name]
    best = policy_iteration(mdp)
    learned = learn(mdp, 5, SCHEDULES["mc"], seed=3)
    error = start_value(mdp, mdp.best(learned.q)) - start_value(mdp, best.values)
    assert regret(mdp, best, learned.policy) > most_regret or abs(error) > most_error


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("workers", [1, 3])
def test_the_same_seed_learns_the_same_table(schedule: str, workers: int) -> None:
    mdp = KNOWN["grid"][0]
    one, again, other = (learn(mdp, 3000, SCHEDULES[schedule], seed, workers) for seed in (1, 1, 2))
    assert np.array_equal(one.q, again.q) and np.array_equal(one.visits, again.visits)
    assert one.value == again.value
    assert not np.array_equal(one.q, other.q)


@pytest.mark.parametrize("schedule", ["q", "mc"])
def test_workers_learn_the_same_thing(schedule: str) -> None:
    mdp, episodes, most_regret, _ = KNOWN["grid"]
    best = policy_iteration(mdp)
    assert regret(mdp, best, learn(mdp, episodes, SCHEDULES[schedule], seed=1, workers=4).policy) <= most_regret


@pytest.mark.parametrize("power", [0, 1, 3])
def test_pooling_two_workers_is_the_weighted_mean_of_all_targets(power: int) -> None:
    """One row, targets learned by step size (k+1) / (n+k) from a common table of two: against the definition."""
    rng = np.random.default_rng(1)

    def learned(q: float, seen: int, targets: list[float]) -> tuple[np.ndarray, np.ndarray]:
        for target in targets:
            seen += 1
            q += (target - q) * (power + 1) / (seen + power)
        return np.array([q]), np.array([seen])

    def weight(n: int) -> float:
        return float(np.prod([n + i for i in range(1, power)])) * n if power else 1.0

    before, *branches = ([*rng.normal(size=size)] for size in (2, 4, 3))
    q, visits = learned(0.0, 0, before)
    table, count = pooled(q, visits, [learned(q[0], 2, branch) for branch in branches], power)
    weighted = [(weight(i), x) for i, x in enumerate(before, 1)]
    weighted += [(weight(i), x) for branch in branches for i, x in enumerate(branch, 3)]
    assert count.tolist() == [9]
    assert table[0] == pytest.approx(sum(w * x for w, x in weighted) / sum(w for w, _ in weighted))


def coin(p: float) -> FiniteMDP:
    heads = [{"to": "end", "p": p, "reward": 1}, {"to": "end", "p": 1 - p}]
    return mdp_from_dict({"terminal": ["end"], "states": {"coin": {"toss": heads}}})


def test_draws_have_the_distribution_of_the_process() -> None:
    """Independent draws: within 4.5 standard errors (error rate 7e-6); even ones: within 20 / n."""
    n = 100_000
    for p in (0.5, 0.3, 4 / 13, 0.001):
        learned = learn(coin(p), n, Schedule("mc", power=0, value_share=0.5), seed=11)
        assert abs(learned.q[0] - p) < 4.5 * np.sqrt(p * (1 - p) / (n / 2))
        assert abs(learned.value - p) < 4.5 * np.sqrt(p * (1 - p) / (n / 2))
        assert learned.value_se == pytest.approx(np.sqrt(p * (1 - p) / (n / 2)), rel=0.3)
        even = learn(coin(p), n, Schedule("q", power=0, value_share=0.5), seed=11)
        assert abs(even.q[0] - p) < 20 / (n / 2)


def test_a_wrong_distribution_is_distinguished_from_the_right_one() -> None:
    """Negative control of the test above: an error of half a percent is detected."""
    n = 100_000
    learned = learn(coin(0.505), n, Schedule("mc", power=0, value_share=0.5), seed=11)
    assert abs(learned.q[0] - 0.49) > 4.5 * np.sqrt(0.25 / (n / 2))
    assert abs(learn(coin(0.505), n, Schedule("q", power=0), seed=11).q[0] - 0.5) > 20 / n


def test_the_interval_of_the_value_covers() -> None:
    """95% intervals of 200 runs cover the learned policy's value between 180 and 198 times (error rate 1e-3)."""
    mdp = coin(0.3)
    covered = 0
    for seed in range(200):
        low, high = learn(mdp, 2000, Schedule(rounds=1, value_share=0.5), seed=seed).value_ci95
        covered += low <= 0.3 <= high
    assert 180 <= covered <= 198


def test_an_update_never_sees_probabilities() -> None:
    """The kernel gets no probabilities; with a biased sampler it learns the biased coin, not the process."""
    fair = sampler(coin(0.5))
    assert {"probability", "expected_reward", "factor"}.isdisjoint(fair._fields)
    biased = fair._replace(keep=sampler(coin(0.9)).keep, other=sampler(coin(0.9)).other)
    q, visits = np.zeros(1), np.zeros(1, dtype=np.int64)
    learn_episodes(biased, 0, 0, 1.0, 0.0, 10, 10_000, np.array([5], dtype=np.uint64), np.zeros(0), q, visits)
    assert q[0] == pytest.approx(0.9, abs=0.02)


def test_progress_is_reported_and_all_episodes_are_counted() -> None:
    mdp = KNOWN["grid"][0]
    seen: dict[int, Ints] = {}
    learned = learn(mdp, 10_000, Schedule(rounds=10, value_share=0.2), on_round=seen.__setitem__)
    assert [*seen] == sorted(seen) and len(seen) == 10
    assert max(seen) == 8_000 and learned.value_episodes == 2_000
    assert np.array_equal(seen[8_000], learned.policy)
    assert isinstance(learned, Learned) and learned.cut_short == 0


def test_an_episode_that_does_not_end_is_cut() -> None:
    learned = learn(KNOWN["grid"][0], 2000, Schedule(longest=3))
    assert learned.cut_short > 0


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"draws": "odd"}, "draws='odd' is not accepted; use even or independent"),
        ({"explore_start": 1.5}, "explore_start=1.5 is not accepted; use a number from 0 to 1"),
        ({"power": -1}, "power=-1 is not accepted; use a whole number from 0"),
        ({"rounds": 0}, "rounds=0 is not accepted; use a whole number from 1"),
    ],
)
def test_a_schedule_that_makes_no_sense_is_refused(fields: dict[str, object], message: str) -> None:
    with pytest.raises(MDPError, match=message):
        Schedule(**fields)  # type: ignore[arg-type]


def test_weights_of_many_factors_are_those_of_few(monkeypatch: pytest.MonkeyPatch) -> None:
    """By gamma functions, where a discount factor near 1 makes a product of a hundred thousand."""
    chance = np.random.default_rng(1)
    q, visits = chance.random(40), chance.integers(0, 50, 40)
    tables = [(chance.random(40), visits + chance.integers(0, 9, 40)) for _ in range(3)]
    found = pooled(q, visits, tables, 7)
    monkeypatch.setattr("bjsim.strategies.learning.learn.MANY_FACTORS", 0)
    again = pooled(q, visits, tables, 7)
    assert (again[1] == found[1]).all() and (found[1] > visits).any()
    np.testing.assert_allclose(again[0], found[0], rtol=1e-10)


@pytest.mark.parametrize(("gamma", "said"), [(0.9, False), (0.999, True)])
def test_episodes_that_are_cut_before_the_rest_is_negligible_are_told(gamma: float, said: bool) -> None:
    again = {"gamma": gamma, "states": {"a": {"go": [{"to": "a", "reward": 0.01}]}}}
    assert ("were truncated" in str(study(mdp_from_dict(again), 100)._remarks())) is said
