"""What must hold in every finite shoe, with hardly a published figure: `test_agreement` has those."""

from __future__ import annotations

import itertools
import math
from functools import lru_cache

import numpy as np
import pytest
from support.games import MANY, ONE_HAND, random_chart, slow, splits_everything

from bjsim.errors import InputError
from bjsim.sim.game.presets import named_rules
from bjsim.sim.game.rules import Rules
from bjsim.strategies.charts.chart import Chart
from bjsim.strategies.evaluation.compare import evaluate_chart
from bjsim.strategies.exact.solver import Solver
from bjsim.strategies.players.catalogue import CATALOGUE
from bjsim.strategies.shoe.charts import ColumnCharts
from bjsim.strategies.shoe.solver import STRATEGIES, ShoeSolver
from bjsim.strategies.shoe.splits import split_weights

ROUNDING = 1e-11


@lru_cache(maxsize=4)
def shoe_of(name: str, decks: int = 1) -> ShoeSolver:
    return ShoeSolver(named_rules(name).replace(decks=decks))


@pytest.mark.slow
@pytest.mark.parametrize("name", ONE_HAND)
@pytest.mark.parametrize("decks", (1, 2, 8))
def test_a_strategy_with_more_information_has_a_higher_value(name: str, decks: int) -> None:
    """But `cdz-` plays free split hands as if no further pair card were gone, which a chart may do better."""
    solver = ShoeSolver(named_rules(name).replace(decks=decks))
    values = {strategy: solver.value_of(strategy) for strategy in STRATEGIES}
    for less, more in itertools.pairwise(STRATEGIES):
        if (less, more) == ("td-2c", "cdz-") and solver.rules.free_splits != "none":
            less = "td"
        assert values[less] <= values[more] + ROUNDING


def single_cells(charts: ColumnCharts) -> tuple[float, float]:
    """The best chart's value in a column, and the most that a single other cell can make of it."""
    chosen, plays = charts.chosen, charts.best_plays
    most = -math.inf
    for row, option in chosen.items():
        for other in charts.options.rows[row]:
            if other != option:
                most = max(most, charts.value(charts.plays(charts.acts(chosen | {row: other}))))
    return charts.value(plays), most


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "decks"),
    dict.fromkeys(
        [*zip(ONE_HAND, itertools.cycle([1, 2, 6, 8]), strict=False), ("vegas-h17", 1), ("easy", 1), ("neller-v2", 1)]
    ),
)
def test_no_single_cell_improves_the_best_chart(name: str, decks: int) -> None:
    """Every cell and every code in it."""
    solver = ShoeSolver(named_rules(name).replace(decks=decks))
    for charts in solver.column_charts():
        value, most = single_cells(charts)
        assert most <= value + 2e-13, charts.column


@pytest.mark.parametrize("name", ["vegas-s17", "neller-v2"])
def test_the_gain_of_a_cell_is_what_changing_it_brings(name: str) -> None:
    """From a chart that is far from the best: the predicted gain is exact, not of first order only."""
    solver = ShoeSolver(named_rules(name).replace(decks=1, surrender=True))
    charts = {charts.column: charts for charts in solver.column_charts()}["6"]
    rng = np.random.default_rng(1)
    chosen = {row: int(rng.choice(options)) for row, options in charts.options.rows.items()}
    plays = charts.plays(charts.acts(chosen))
    better, _ = charts.improvements(chosen, plays)
    assert len(better) > 10
    for row, (option, gain) in better.items():
        changed = charts.value(charts.plays(charts.acts(chosen | {row: option})))
        assert changed - charts.value(plays) == pytest.approx(gain, abs=1e-14)


@pytest.mark.parametrize("name", MANY)
def test_the_best_chart_has_the_solvers_value(name: str) -> None:
    """The same value by looking every decision up in the chart; and the infinite chart is no better here."""
    rules = named_rules(name).replace(decks=2)
    solver = ShoeSolver(rules)
    assert solver.value_of(solver.chart) == pytest.approx(solver.value, abs=1e-13)
    infinite = Solver(rules.replace(decks="inf")).chart
    assert set(solver.chart.cells) == set(infinite.cells)
    assert solver.value_of(Chart("infinite", rules, infinite.cells)) <= solver.value + 1e-13


@pytest.mark.parametrize("name", MANY)
def test_many_decks_tend_to_the_infinite_shoe(name: str) -> None:
    """Extrapolated from 1,000 and 2,000 decks; the rest is of second order."""
    rules = named_rules(name).replace(decks="inf")  # also for the suits of three sevens
    infinite = Solver(rules.replace(decks="inf"))
    ranks = "A23456789JQK" if rules.deck == "spanish" else "A23456789TJQK"
    one, two = (ShoeSolver(rules, dict.fromkeys(ranks, 4 * decks)) for decks in (1000, 2000))
    for strategy in ("td", "cdz-"):
        assert 2 * two.value_of(strategy) - one.value_of(strategy) == pytest.approx(float(infinite.value), abs=2e-7)
    chart = random_chart(rules, 1, 1)
    cells = chart.cells | {("TT", column): "S" for column in infinite.columns}  # type: ignore[operator]
    chart = Chart("random", rules.replace(decks="inf"), cells)
    ev = float(infinite.ev(chart.policy).value)
    assert 2 * two.value_of(chart) - one.value_of(chart) == pytest.approx(ev, abs=2e-6)


def test_costs_per_settled_bet_add_up_where_ties_are_replayed() -> None:
    """Every tied bet is replayed, so a round settles less than one bet: 1 less the expected ties of its play."""
    rules = named_rules("neller").replace(decks=1, cut=0)
    evaluation = evaluate_chart(CATALOGUE["lim15"].chart(rules))
    solver, chart = ShoeSolver(rules), evaluation.chart
    tied = solver._ev(solver.shoe, solver.plays(chart), 1.0) - solver._ev(solver.shoe, solver.plays(chart), 0.0)
    assert 0.05 < tied < 0.15 and solver._settled_share(chart) == pytest.approx(1 - tied, abs=1e-12)
    assert evaluation.difference > 0.01
    assert evaluation.costs == pytest.approx(evaluation.difference, abs=1e-12)


@pytest.mark.parametrize("strategy", ["td", "td-2c", "cdz-", "cdp1"])
@pytest.mark.parametrize("name", ["european", slow("vegas-s17")])
def test_effects_of_removal_cancel(name: str, strategy: str) -> None:
    """The mean of a fixed strategy over all shoes with one unseen card less is that of the full shoe."""
    solver = shoe_of(name)
    effects = solver.removal(strategy)
    assert sum(effects[card] * (16 if card == "T" else 4) for card in effects) == pytest.approx(0, abs=1e-12)
    assert effects["5"] > 0.002 > -0.002 > effects["T"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ONE_HAND)
def test_the_sd_tends_to_that_of_the_infinite_shoe(name: str) -> None:
    rules = named_rules(name)
    infinite = Solver(rules.replace(decks="inf", max_hands=2))
    ranks = "A23456789JQK" if rules.deck == "spanish" else "A23456789TJQK"
    solver = ShoeSolver(rules.replace(max_hands=2), dict.fromkeys(ranks, 40_000))
    if rules.free_splits != "none":
        with pytest.raises(InputError, match="sd: not available for split hands with free bets in a finite shoe"):
            _ = solver.sd
        return
    assert solver.sd == pytest.approx(infinite.sd, abs=2e-4)


def test_values_by_upcard_add_up() -> None:
    for name in ("vegas-s17", "european"):
        solver = ShoeSolver(named_rules(name).replace(decks=6))
        for strategy in STRATEGIES:
            by = solver.by_upcard(strategy)
            mean = sum(by[card] * (4 if card == "T" else 1) for card in by) / 13
            assert mean == pytest.approx(solver.value_of(strategy), abs=1e-14)


def test_the_weights_of_a_split_count_its_hands() -> None:
    """If every hand has the value 1, the value of a split is its number of hands, here two to four."""
    whole, other = split_weights(2, 10, 4)
    ways = {2: 1.0, 3: 0.0, 4: 0.0}
    done = {2: 0.0, 3: 0.0, 4: 0.0}

    def deal(hands: int, pending: int, pairs: int, cards: int, p: float) -> None:
        if not pending or hands == 4:
            done[hands] += p
            return
        if pairs:
            deal(hands + 1, pending + 1, pairs - 1, cards - 1, p * pairs / cards)
        deal(hands, pending - 1, pairs, cards - 1, p * (cards - pairs) / cards)

    deal(2, 2, 2, 10, 1.0)
    for hands in ways:
        assert whole[hands - 2].sum() + other[hands - 2].sum() == pytest.approx(hands * done[hands], abs=1e-14)


def test_tens_of_one_rank_only() -> None:
    """Splitting by rank: a jack and a queen are played as 20, and the dealer's jack makes jacks fewer."""
    rules = named_rules("vegas-s17").replace(decks=1, split_by="rank")
    solver = ShoeSolver(rules)
    assert "P" in solver.hand_values("JJ", "6")
    assert "P" not in solver.hand_values("JQ", "6")
    assert solver.shoe.share(solver.shoe.starts.index((4,)), 9) == pytest.approx(3 / 15)
    assert solver.shoe.share(solver.shoe.starts.index((9,)), 9) == pytest.approx((3 * 4 * 3 + 3 * 2) / (15 * 14))


@pytest.mark.parametrize(
    ("rules", "shoe", "said"),
    [
        (Rules(), None, "decks = inf"),
        (named_rules("neller-v2"), {"A": 4, "T": 16, "5": 4}, "give T=, J=, Q= and K="),
        (Rules(decks=1), [4] * 13, "takes 10 counts"),
        (Rules(decks=1), {"X": 1}, "'X' is not a card"),
        (Rules(decks=1), {"A": -1}, "A=-1 is not accepted"),
        (Rules(decks=1), [4, 4, 0, 0, 0, 0, 0, 0, 0, 3], "may run out"),
    ],
)
def test_what_is_refused(rules: Rules, shoe: object, said: str) -> None:
    with pytest.raises(InputError, match=said.replace("(", r"\(")):
        ShoeSolver(rules, shoe).value_of()  # type: ignore[arg-type]


def test_endless_splits_of_tens_from_many_decks_are_refused() -> None:
    rules = named_rules("blackjack-p").replace(decks=2)
    solver = ShoeSolver(rules)
    cells = dict(solver.chart.cells) | {("TT", "6"): "P"}
    with pytest.raises(InputError, match="TT is split against 6"):
        solver.value_of(Chart("greedy", rules, cells))


def test_endless_splits_of_many_cards_are_refused() -> None:
    """Where four of ten cards are eights, a seventeenth hand adds to the value, as the sixteenth does."""
    shoe, game = [4, 4, 8, 8, 8, 8, 4, 40, 4, 16], named_rules("blackjack-p").replace(decks=1)
    chart = splits_everything(game)
    fifteen, sixteen = (ShoeSolver(game.replace(max_hands=hands), shoe).value_of(chart) for hands in (15, 16))
    assert abs(sixteen - fifteen) > 1e-6
    with pytest.raises(InputError, match=r"88 is split against . with max_hands = inf: .* set max_hands to 16 or less"):
        ShoeSolver(game, shoe).value_of(chart)
    aces = game.replace(max_hands=4, max_ace_hands="inf", resplit_aces=True)
    with pytest.raises(InputError, match=r"AA is split against . with max_ace_hands = inf: .* set max_ace_hands to 16"):
        ShoeSolver(aces, [40, 4, 8, 8, 8, 8, 4, 4, 4, 16]).value_of(splits_everything(aces))
    few = [20, 20, 20, 20, 20, 20, 20, 20, 20, 16]
    limited = ShoeSolver(game.replace(max_hands=16), few).value_of(chart)
    assert ShoeSolver(game, few).value_of(chart) == pytest.approx(limited, abs=1e-12)


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda solver: solver.value_of("best"), "unknown strategy 'best'; use td, td-2c"),
        (lambda solver: solver.hand_values("TT2", "5"), "TT2 is not a hand"),
        (lambda solver: solver.hand_values("T5", "55"), "'55' is not the dealer's upcard"),
        (lambda solver: solver.hand_values("16", "5"), "'16' is not accepted; write a character for each card"),
        (lambda solver: solver.hand_values("55", "x"), "'x' is not the dealer's upcard"),
        (lambda solver: solver.hand_values("2222", "2"), "cannot be dealt"),
        (lambda solver: solver.removal("cdp"), "cdp, whose decisions after a split"),
    ],
)
def test_what_cannot_be_asked(ask, said: str) -> None:
    with pytest.raises(InputError, match=said):
        ask(ShoeSolver(Rules(decks=1)))


@pytest.mark.parametrize("ties", ["push", "replay"])
def test_the_play_of_a_few_charts_is_kept(monkeypatch: pytest.MonkeyPatch, ties: str) -> None:
    """That of every chart that was ever evaluated stayed, with megabytes each."""
    monkeypatch.setattr("bjsim.strategies.shoe.solver.MOST_PLAYS", 3)
    solver = ShoeSolver(named_rules("easy").replace(decks=1, ties=ties), {"T": 4, "9": 2, "5": 2})
    values = [solver.value_of(CATALOGUE[f"lim{n}"].chart(solver.rules)) for n in (*range(12, 21), *range(12, 21))]
    assert values[:9] == values[9:] and len({*values}) > 4 and len(solver._plays) == (3 if ties == "push" else 0)
    assert max(map(len, (solver._analyses, {value for _, value in solver._columns}))) <= 3


@pytest.mark.slow
def test_cells_alone_leave_no_tie_values() -> None:
    rules = named_rules("easy").replace(ties="replay", decks=1)
    solver = ShoeSolver(rules, {"T": 8, "9": 4, "5": 4})
    chart = CATALOGUE["lim12"].chart(rules)
    solver.value_of(chart)
    assert len(solver.costs(chart)) > 50 and len(solver._analyses) < 20


def test_effects_of_removal() -> None:
    """Published for six decks, one split: they are those of the game with late surrender, to about .005."""
    published = dict(zip("A23456789T", (-94, 69, 82, 110, 141, 79, 41, -8, -40, -91), strict=True))
    rules = named_rules("vegas-s17").replace(decks=6, max_hands=2, surrender=True)
    found = ShoeSolver(rules).removal("cdz-")
    for card, effect in published.items():
        assert 100_000 * found[card] == pytest.approx(effect, abs=5.2)
