"""Exact means and standard deviations against millions of rounds of the compiled round."""

from __future__ import annotations

import math
from collections import defaultdict
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.engines import play_rounds
from support.games import ONE_HAND, charts, rules

from bjsim.sim.engine.compiled_rules import compile_rules
from bjsim.sim.engine.kernels.layout import TIED
from bjsim.sim.game.presets import named_rules
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.shoe import stream_key
from bjsim.strategies.charts.chart import Chart
from bjsim.strategies.exact.payoffs import round_payoffs
from bjsim.strategies.exact.solver import Solver
from bjsim.strategies.exact.values import Moments, round_nodes
from bjsim.strategies.players.catalogue import CATALOGUE

BLOCK = 1_000_000


def payoffs(game: Rules, chart: Chart, rounds: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Profit in initial bets, stake tied, and the count of each pair of them."""
    compiled = compile_rules(game, [chart.policy])
    counts: Any = 0
    rare: list[int] = []
    for block in range(-(-rounds // BLOCK)):
        size = min(BLOCK, rounds - block * BLOCK)
        some, outside, _ = play_rounds(compiled, stream_key(seed, 0, block), size)
        counts = counts + some[0]
        rare += outside[:, 1].tolist()
    tied, place = np.nonzero(counts)
    times = counts[tied, place]
    units = place - counts.shape[1] // 2
    far_tied = np.array([(code + TIED // 2) // TIED for code in rare], int)
    far_units = np.array(rare, int) - far_tied * TIED
    net = np.concatenate([units, far_units]) * float(game.unit)
    return net, np.concatenate([tied, far_tied]), np.concatenate([times, np.ones(len(rare), int)])


def z_scores(solver: Solver, chart: Chart, rounds: int, seed: int) -> tuple[float, float]:
    """How many standard errors the mean and the variance of simulated rounds lie from the exact ones.

    Both of x = net + V tied, with V the exact value where ties are replayed: its mean is V, and its standard deviation
    is (1 - mean tied) times the exact one. The error of the variance comes from the fourth moment of the sample.
    """
    ev = solver.ev(chart.policy)
    net, tied, times = payoffs(solver.rules, chart, rounds, seed)
    assert times.sum() == rounds
    value = ev.value if solver.rules.ties == "replay" else 0.0
    x = net + value * tied
    sd = solver.sd_of(chart) * (1 - ev.tied)
    mean = float(ev.net + value * ev.tied)
    off = (times @ x / rounds - mean) / (sd / math.sqrt(rounds))
    squares = (x - mean) ** 2
    variance = times @ squares / rounds
    error = math.sqrt((times @ squares**2 / rounds - variance**2) / rounds)
    return off, (variance - sd * sd) / error  # type: ignore[return-value]


OPTIONS = [
    ("blackjack-p", {"hit_soft_17": True}),
    ("blackjack-p", {"split_tens_blackjack": False, "ten_probability": "0.45"}),
    ("blackjack-p", {"ten_probability": "0.05"}),
    ("cardshark", {"raises": False}),
    ("cardshark", {"dealer_stands_on": 18}),
    ("cardshark", {"stand_on_21": False}),
    ("neller", {"naturals": "both", "peek": True}),
    ("neller", {"naturals": "both"}),
    ("neller", {"naturals": "none"}),
    ("neller", {"ties": "push"}),
    ("neller-v1", {"bonuses": "at-once"}),
    ("neller-v1", {"ties": "push", "naturals": "both", "peek": True}),
    ("neller-v2", {"ties": "push", "naturals": "none"}),
    ("neller-v2", {"naturals": "both", "peek": True}),
    ("neller-v3", {"naturals": "both"}),
    ("vegas-s17", {"max_hands": "inf"}),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "changes"), [*((name, {}) for name in ONE_HAND), *OPTIONS])
def test_the_optimal_chart_has_the_solvers_value(name: str, changes: dict[str, object]) -> None:
    """|z| under 4 for mean and variance of 1e7 rounds; error rate 0.006% each."""
    solver = Solver(named_rules(name).replace(**changes, decks="inf", seats=1))
    assert max(map(abs, z_scores(solver, solver.chart, 10_000_000, seed=20_240))) < 4


@pytest.mark.slow
@pytest.mark.parametrize("strategy", CATALOGUE)
@pytest.mark.parametrize("name", ["easy", "blackjack-p", "neller-v1", "neller-v2"])
def test_named_strategies_have_the_solvers_values(name: str, strategy: str) -> None:
    """|z| under 4.5 for mean and variance at 1e7 rounds; error rate 0.0007% each."""
    solver = Solver(named_rules(name))
    assert max(map(abs, z_scores(solver, CATALOGUE[strategy].chart(solver.rules), 10_000_000, seed=1))) < 4.5


@pytest.mark.slow
@settings(max_examples=15)
@given(st.data())
def test_random_charts_in_random_games_have_the_solvers_values(data: st.DataObject) -> None:
    """The exact recursion against the compiled round, over all fields of the rules; |z| under 5 for mean and variance,
    error rate 0.00006% each. Tens are kept below 35% where splits are endless, for the variance to settle."""
    game = data.draw(rules(decks=math.inf, seats=1))
    if game.max_hands == math.inf and game.ten_probability > Fraction(35, 100):
        game = game.replace(ten_probability="35/100")
    solver, chart = Solver(game), data.draw(charts(game))
    if abs(solver.sd_of(chart)) < 0.02:  # surrenders nearly always: too few other rounds
        return
    assert max(map(abs, z_scores(solver, chart, 200_000, data.draw(st.integers(0, 2**32))))) < 5


@pytest.mark.parametrize(
    "wrong",
    [
        {"blackjack_pays": "7/5"},
        {"max_hands": 2},
        {"ties": "lose"},
    ],
)
def test_a_wrong_distribution_is_rejected(wrong: dict[str, object]) -> None:
    """Negative control: the same test with a value for rules that differ in one field. Four million rounds."""
    right = named_rules("vegas-s17").replace(decks="inf", ten_probability="2/5")
    chart = Solver(right).chart
    net, _, times = payoffs(right, chart, 4_000_000, seed=9)
    other = Solver(right.replace(**wrong))
    mean = times @ net / times.sum()
    assert abs(mean - other.ev(Chart("same", other.rules, chart.cells).policy).value) > 4 * 1.15 / 2000
    assert abs(mean - Solver(right).value) < 4 * 1.15 / 2000


def test_a_standard_deviation_by_hand() -> None:
    """Surrender everything: a round pays 1.5, -0.5 or, at a dealer's natural, -1 or 0."""
    game = named_rules("easy")
    solver = Solver(game)
    chart = Chart("gives up", game, dict.fromkeys(solver.chart.cells, "Rs"))
    natural = 2 * (1 / 13) * (4 / 13)
    probabilities = {
        1.5: natural * (1 - natural),
        0.0: natural * natural,
        -1.0: (1 - natural) * natural,
        -0.5: (1 - natural) ** 2,
    }
    mean = sum(x * p for x, p in probabilities.items())
    assert solver.ev(chart.policy).value == pytest.approx(mean, abs=1e-14)
    assert solver.sd_of(chart) == pytest.approx(
        math.sqrt(sum((x - mean) ** 2 * p for x, p in probabilities.items())), abs=1e-13
    )


@pytest.mark.parametrize("insurance", "IS")
def test_hands_that_are_insured_and_surrendered_early_by_hand(insurance: str) -> None:
    """Surrender everything before the dealer looks, insured or not: insurance pays 1 where a natural is found."""
    game = named_rules("vegas-s17").replace(decks="inf", surrender="early")
    solver = Solver(game)
    chart = Chart("gives up", game, dict.fromkeys(solver.chart.cells, "Rs"), insurance=insurance)
    ace, ten, won, lost = 1 / 13, 4 / 13, 1.0 * (insurance == "I"), -0.5 * (insurance == "I")
    natural = 2 * ace * ten
    found: dict[float, float] = defaultdict(float)
    for chance, hole, insured in ((ace, ten, True), (ten, ace, False), (1 - ace - ten, 0, False)):
        for dealer, p in ((True, hole), (False, 1 - hole)):
            paid = insured * (won if dealer else lost)
            found[paid + (0.0 if dealer else 1.5)] += chance * p * natural
            found[paid - 0.5] += chance * p * (1 - natural)
    mean = sum(x * p for x, p in found.items())
    assert float(solver.ev(chart.policy).value) == pytest.approx(mean, abs=1e-14)
    assert solver.sd_of(chart) == pytest.approx(
        math.sqrt(sum((x - mean) ** 2 * p for x, p in found.items())), abs=1e-13
    )
    assert {float(x): p for x, p in round_payoffs(solver, chart).items() if p > 1e-15} == pytest.approx(
        {x: p for x, p in found.items() if p}, abs=1e-14
    )


def test_the_spread_of_endless_splits_of_tens_is_infinite() -> None:
    game = named_rules("blackjack-p").replace(ten_probability="1/2")
    solver = Solver(game)
    assert solver.sd == math.inf


def test_the_spread_of_endless_splits_is_that_of_many() -> None:
    """Eight hands are enough in all but some millionths of the rounds."""
    game = named_rules("vegas-s17").replace(decks="inf", resplit_aces=True)
    many, endless = (Solver(game.replace(max_hands=hands)) for hands in (8, "inf"))
    assert (endless.value, endless.sd) == pytest.approx((many.value, many.sd), abs=1e-5)
    assert many.sd - Solver(game.replace(max_hands=4)).sd > 5e-4


def two_spots(game: Rules, chart: Chart) -> tuple[float, float]:
    """Variance of a spot and covariance of two, which are independent given the upcard and the dealer's outcome."""
    solver = Solver(game)
    mean = square = product = 0.0
    for column in solver.cases:
        outcomes = float(column.probability) * np.array([float(p) for p in column.probabilities.values()])
        nodes = round_nodes(column, game, chart.policy)
        first, second = Moments(solver.states, column, chart.policy, 0).together(nodes)
        mean, square, product = mean + outcomes @ first, square + outcomes @ second, product + outcomes @ first**2
    return square - mean**2, product - mean**2


def test_surrender_lowers_variance_and_covariance_as_published() -> None:
    """[WoO], six decks, dealer hits soft 17, no double after split: by .03629 and .01247.

    The infinite shoe's best chart hits a 16 against a ten that cannot surrender. In six decks standing is better, as
    such hands have three cards or more; the covariance is then higher by .006.
    """
    game = named_rules("vegas-h17").replace(decks="inf", double_after_split=False)
    late = game.replace(surrender="late")
    chart = Solver(late).chart
    assert chart.cells["16", "T"] == "Rh"
    variance, covariance = np.array(two_spots(game, Solver(game).chart)) - two_spots(late, chart)
    assert variance == pytest.approx(0.03629, abs=1e-4) and covariance == pytest.approx(0.01247, abs=1e-4)
    stands = Chart("stands", late, {**chart.cells, ("16", "T"): "Rs"})
    assert two_spots(late, stands)[1] - two_spots(late, chart)[1] == pytest.approx(0.006, abs=5e-4)
