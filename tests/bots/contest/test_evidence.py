"""E-values of pairs, effects, and the ranks of a contest whose results are drawn from matches that were played."""

from __future__ import annotations

import csv
import io
import itertools
import json
import math
from pathlib import Path

import numpy as np
import pytest
from support.command import bjsim

from bjsim.bots.contest.config import Contest
from bjsim.bots.contest.differences import Differences
from bjsim.bots.contest.entrants import gather
from bjsim.bots.contest.host import Host
from bjsim.bots.contest.standings import Standings
from bjsim.sim.game.presets import load_rules
from bjsim.sim.stats.student import anytime_t_half, e_value

LOOKS = [8, 10, 13, 17, 21, 25]


def differences(results: np.ndarray, planned: int = 25) -> Differences:
    bots = len(results)
    return Differences(results, np.zeros((bots, bots), bool), range(bots), planned, planned)  # type: ignore[arg-type]


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


@pytest.fixture(scope="module")
def standings(tmp_path_factory: pytest.TempPathFactory) -> tuple[Standings, Path]:
    """A contest of 40 matches in which lim20 is clearly worse than the others."""
    rules = load_rules("cardshark")
    folder = tmp_path_factory.mktemp("contest") / "c"
    words = ["koth", "play", "optimal", "hoyle", "lim20", "--matches", 40, "--seed", 3, "--out", folder]
    assert bjsim(*words).status == 0
    host = Host.resume(folder)
    host.close()
    assert host.contest.rules == rules
    return host.standings, folder


def test_no_pair_that_the_results_choose_has_an_e_value(standings: tuple[Standings, Path]) -> None:
    """Among ten equal bots some pair has e >= 20 in every third contest: it is evidence for a pair named before."""
    _, folder = standings
    assert "e_value" not in (folder / "standings.json").read_text() + (folder / "standings.csv").read_text()
    assert "e-value" not in bjsim("koth", "show", folder).out
    for page in (folder / "index.html", *(folder / "pages").glob("*.html")):
        text = page.read_text()
        assert text.count("e-value") == text.count('title="e-value') + text.count("named before"), (
            "only with its condition"
        )


def test_effects_are_in_json_csv_page_and_terminal(standings: tuple[Standings, Path]) -> None:
    found, folder = standings
    rows = json.loads((folder / "standings.json").read_text())
    leader, others = rows[0], rows[1:]
    assert leader["effect"] is None
    numbers = {name: number for number, name in enumerate(found.names)}
    for row in others:
        pair = found.difference(numbers[row["bot"]], numbers[leader["bot"]])
        assert row["effect"] == pytest.approx(pair.effect, abs=1e-6)
    worst = next(row for row in others if row["bot"] == "lim20")
    assert worst["effect"] < 0
    listed = list(csv.DictReader(io.StringIO((folder / "standings.csv").read_text())))
    assert float(next(row for row in listed if row["bot"] == "lim20")["effect"]) == worst["effect"]
    assert "sd of a hand" in next((folder / "pages").glob("lim20*.html")).read_text()
    assert ": the lead per hand is" in bjsim("koth", "show", folder).out


def test_the_effect_is_the_lead_per_hand_in_standard_deviations_of_a_hand(standings: tuple[Standings, Path]) -> None:
    """Computed again from the journal: chips, hands and the standard deviation of single hands, which it is near."""
    found, folder = standings
    nets: dict[int, list[int]] = {0: [], 2: []}
    for line in (folder / "journal.jsonl").read_text().splitlines():
        record = json.loads(line)
        for bot, net in zip(record.get("seats", ()), record.get("net", ()), strict=True):
            nets.setdefault(bot, []).append(net)
    pair = found.difference(0, 2)
    sd = math.sqrt((np.var(nets[0]) + np.var(nets[2])) / 2)
    hands = (len(nets[0]) + len(nets[2])) / 80
    assert pair.effect == pytest.approx(pair.mean / hands / sd, rel=0.4)


@pytest.mark.slow
def test_the_ranks_of_copies_and_charts_are_covered_together(tmp_path: Path) -> None:
    """1,000 contests of six copies of hoyle and six charts, whose matches are drawn from 600 that were played.

    The results of a match of the twelve are drawn together. Copies are exchanged at random within a match, so that they
    are equally good; the true ranks of the others are those of their means over all 600. At three looks, in at most 5%
    of contests is a true rank outside of its range: more than 70 of 1,000 with probability below 0.003. Negative
    control: ranges from intervals of half the width miss far more.
    """
    rules = load_rules("cardshark")
    names = [*(f"copy{n}=hoyle" for n in range(6)), "lim12", "lim14", "lim17", "lim20", "mimic", "optimal"]
    settings = Contest(rules, seed=11, matches=600, sessions=1, hands=5)
    host = Host.begin(tmp_path / "c", settings, gather(names, rules), 2)
    host.run()
    played = np.array([[*series] for series in host.standings._history])
    copies = played[:6].mean()
    means = np.array([copies] * 6 + [*played[6:].mean(axis=1)])
    first = [1 + int((means > mean + 1e-9).sum()) for mean in means]
    last = [int((means >= mean - 1e-9).sum()) for mean in means]
    chance, wrong, narrow, pairs = np.random.default_rng(1), 0, 0, list(itertools.combinations(range(6), 2))
    evidence = np.zeros((1000, len(pairs)))
    for contest in range(1000):
        drawn = played[:, chance.integers(600, size=40)]
        drawn[:6] = chance.permuted(drawn[:6], axis=0)
        found = [differences(drawn[:, :look], 40) for look in (10, 20, 40)]

        def misses(one: Differences) -> bool:
            ranges = one.rank_ranges(range(12))
            return any(low > a or high < b for (low, high), a, b in zip(ranges, first, last, strict=True))

        wrong += any(map(misses, found))
        evidence[contest] = [found[-1].e_value(*pair) for pair in pairs]
        found[-1].low = found[-1].low + (found[-1].mean - found[-1].low) * 0.5
        narrow += misses(found[-1])
    assert wrong <= 70
    assert narrow > 140
    of_contests = evidence.mean(axis=1)
    assert of_contests.mean() <= 1 + 3 * of_contests.std() / math.sqrt(1000)
