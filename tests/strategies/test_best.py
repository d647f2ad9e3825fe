"""The best chart, exact returns and costs of cells in the game's own shoe, and runs that agree with them."""

from __future__ import annotations

import logging
import math
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pytest
from support.games import other_codes, random_chart

import bjsim
from bjsim.sim.game.presets import named_rules
from bjsim.strategies.charts.chart import Chart
from bjsim.strategies.comparison import Comparison
from bjsim.strategies.evaluation import compare
from bjsim.strategies.evaluation.compare import best_chart, evaluate_chart, in_its_shoe, solve
from bjsim.strategies.exact.solver import Solver
from bjsim.strategies.experiment import exact_return, exact_returns
from bjsim.strategies.players.catalogue import CATALOGUE, ExchangingChart, Kelly, find_player, fingerprint
from bjsim.strategies.results import ExactReturn
from bjsim.strategies.shoe.players import TwoCardPlayer
from bjsim.strategies.shoe.solver import ShoeSolver

ONE_DECK = named_rules("vegas-h17").replace(surrender=True, resplit_aces=True, decks=1)
BOOK = {  # what one-deck books print and the chart of the infinite shoe has not
    "Dh": {"8": "56", "9": "2", "A2": "45", "A3": "4", "A6": "2"},
    "P": {"44": "4", "66": "7", "77": "8"},
}


def infinite_chart(rules: bjsim.Rules) -> Chart:
    return Chart("infinite", rules, Solver(rules).chart.cells)


def book_chart() -> Chart:
    cells = {(row, c): code for code, rows in BOOK.items() for row, columns in rows.items() for c in columns}
    return Chart("book", ONE_DECK, {**Solver(ONE_DECK).chart.cells, **cells})


def changed(rules: bjsim.Rules, seed: int, share: float) -> Chart:
    """The best chart with other codes in a share of its cells."""
    chart = best_chart(rules)
    return Chart("changed", rules, {**chart.cells, **other_codes(chart.states, chart.cells, seed, share)})


def test_a_book_for_one_deck_beats_the_chart_of_the_infinite_shoe() -> None:
    """By +0.0136% to +0.0283% in 2e7 simulated hands (95%, luck-adjusted); the best chart beats both."""
    book, infinite = evaluate_chart(book_chart()), evaluate_chart(infinite_chart(ONE_DECK))
    assert 0.000136 < book.value - infinite.value < 0.000283
    assert book.best == infinite.best > book.value
    assert book.costs == pytest.approx(book.difference, abs=1e-12)
    wrong = {(cell.row, cell.column) for cell in book.cells}
    assert not wrong & {(row, c) for rows in BOOK.values() for row, columns in rows.items() for c in columns}
    optimal = find_player("optimal", ONE_DECK)
    assert isinstance(optimal, Chart) and ShoeSolver(ONE_DECK).value_of(optimal) == pytest.approx(book.best, abs=1e-13)


@pytest.mark.parametrize("decks", [1, 6])
@pytest.mark.parametrize("name", ["vegas-s17", "european", "neller-v3", "vegas-h17", "easy"])
def test_costs_add_up_in_finite_shoes(name: str, decks: int) -> None:
    """Also per settled bet; `alone` is the loss from changing one cell of the best chart."""
    rules = named_rules(name).replace(decks=decks, resplit_aces=True)
    splits_much = random_chart(rules, 2, 1)
    for chart in (random_chart(rules, 1), splits_much, changed(rules, 1, 0.03), changed(rules, 2, 0.2)):
        evaluation = evaluate_chart(chart)
        assert all(cell.alone >= -1e-13 for cell in evaluation.cells)
        assert len(evaluation.cells) > 3 and evaluation.difference > 1e-4
        assert evaluation.remainder == pytest.approx(0, abs=1e-12)
        assert evaluation.value == pytest.approx(ShoeSolver(rules).value_of(evaluation.chart), abs=1e-13)
    cell = max(evaluation.cells, key=lambda cell: cell.alone)
    one = Chart("one", rules, {**evaluation.best_chart.cells, (cell.row, cell.column): cell.chart})
    assert evaluation.best - ShoeSolver(rules).value_of(one) == pytest.approx(cell.alone, abs=1e-12)
    assert evaluate_chart(evaluation.best_chart).cells == ()


def test_everything_that_asks_for_the_best_chart_gets_the_same() -> None:
    rules = named_rules("cardshark")
    cells = ShoeSolver(rules).chart.cells
    assert cells != Solver(rules).chart.cells
    solver = bjsim.solve(rules)
    optimal = find_player("optimal", rules)
    assert isinstance(optimal, Chart)
    for chart in (optimal, best_chart(rules), Kelly(rules).chart, solver.chart, evaluate_chart(optimal).best_chart):
        assert chart.cells == cells and chart.rules == rules
    assert best_chart(rules.replace(decks="inf")).cells == Solver(rules).chart.cells


def test_a_game_is_solved_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fields that do not matter to the chart do not make another game; the chart has the rules it is asked for."""
    rules = named_rules("downtown").replace(decks=3)
    best_chart(rules)
    monkeypatch.setattr(compare, "ShoeSolver", None)
    for changes in ({"seats": 5}, {"cut": "1/4"}, {"name": "mine"}, {"chips": 1000}):
        other = rules.replace(**changes)
        assert best_chart(other).rules is other


def test_a_shoe_that_is_not_solved_is_named_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(rules: bjsim.Rules) -> None:
        raise bjsim.InputError("TT is split without end")

    monkeypatch.setattr(compare, "ShoeSolver", refuse)
    rules = named_rules("cardshark").replace(decks=5, name="five decks")
    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            assert best_chart(rules).cells == Solver(rules).chart.cells
    [record] = caplog.records
    assert "infinite shoe" in record.getMessage() and "TT is split" in record.getMessage()
    assert solve(rules).refusal and not solve(rules.replace(decks="inf")).refusal
    [result] = bjsim.play(rules.replace(seats=1), "optimal", 2_000)
    assert result.exact is None and result.no_exact == "TT is split without end"
    assert evaluate_chart(best_chart(rules)).solution.infinite
    compare._refusal.cache_clear()
    compare._best_chart.cache_clear()


FRESH = named_rules("european").replace(decks=1, cut=0)


def test_fresh_shoes_agree_with_the_exact_value() -> None:
    """Within 4 standard errors (a right value fails in 6 of 100,000 runs), with several seats.

    Negative control: the exact value of a chart with one other cell, which stands on 11 against 6, does not agree.
    """
    rules = FRESH.replace(seats=3, name="three seats")
    chart = best_chart(rules)
    other = Chart("other", rules, {**chart.cells, ("11", "6"): "S"})
    results = bjsim.play(rules, [chart, other, "lim17"], 30_000)
    for result in results:
        assert result.fresh and result.cut_card_effect is None
        assert result.verdict == "agrees with the exact value"
    for one, wrong in ((results[0], other), (results[1], chart)):
        luck, value = one.adjusted, in_its_shoe(rules).value_of(wrong)
        assert luck is not None and abs(luck.mean - value) > 4 * luck.se


def test_a_wrong_exact_value_disagrees(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bias of 0.3% is seen in the luck-adjusted mean, and not in the unadjusted one of as many rounds."""

    def biased(rules: bjsim.Rules, strategy: Chart | str, with_sd: bool) -> ExactReturn:
        right = exact_return(rules, strategy, with_sd)
        assert right.value is not None
        return right._replace(value=right.value + 0.003)

    monkeypatch.setattr("bjsim.strategies.experiment.exact_return", biased)
    for adjust, verdict in ((None, "disagrees"), (False, "agrees with the exact value")):
        [result] = bjsim.play(FRESH, "optimal", 30_000, adjust_luck=adjust)
        assert result.verdict == verdict


@pytest.mark.slow
def test_players_by_cards_have_exact_values() -> None:
    rules = FRESH.replace(max_hands=2)
    solver = ShoeSolver(rules)
    results = bjsim.play(rules, ["optimal-2c", "optimal-cd", "perfect"], 20)
    for result, strategy in zip(results, ("td-2c", "cdz-"), strict=False):
        assert result.exact == pytest.approx(solver.value_of(strategy), abs=1e-12)
        assert result.exact_sd == pytest.approx(solver.sd_of(strategy), abs=1e-12)
        assert result.verdict == "too few hands to judge"
    assert results[2].verdict == "no exact value: only charts have one"


@pytest.mark.parametrize("method", ["bet", "observe"])
@pytest.mark.parametrize("base", [Chart, ExchangingChart, TwoCardPlayer, Kelly])
def test_a_player_that_chooses_its_bets_has_no_exact_value(
    base: type, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That of its chart is for flat bets."""
    monkeypatch.setattr("bjsim.strategies.experiment.exact_return", lambda *asked: ExactReturn(0.5, None))
    kinds = (type("Mine", (base,), {name: lambda self, seen: 1}) for name in ("none", method))
    players: list[Any] = [object.__new__(kind) for kind in kinds]
    values = [one.value for one in exact_returns(SimpleNamespace(rules=FRESH, groups=[]), players)]  # type: ignore[arg-type]
    assert values == [None if base is Kelly else 0.5, None if base is Kelly or method == "bet" else 0.5]


def test_a_cut_card_costs_what_is_published() -> None:
    """Wizard of Odds: 0.113% at one deck. Rounds that share a shoe are not judged by the exact value."""
    [result] = bjsim.play(FRESH.replace(cut="3/4"), "optimal", 300_000)
    assert result.cut_card_effect is not None and result.z is None
    mean, (low, high) = result.cut_card_effect
    assert low < mean < high < 0 and low < -0.00113 < high and high - low < 0.0005
    assert result.verdict == "consistent with the luck-adjusted return"


@pytest.mark.parametrize("decks", ["inf", 1])
def test_a_copy_for_other_rules_keeps_what_is_computed(decks: object) -> None:
    """What took seconds for one table is not computed again for another cut."""
    rules = named_rules("blackjack-p").replace(decks=decks)
    solve(rules)
    other = solve(rules.replace(cut="1/2"))
    assert other.rules.cut == Fraction(1, 2) and "chart" in vars(other)


def test_charts_that_insure_or_attack_differ_in_their_digest() -> None:
    """By which a checkpoint is resumed with the same players."""
    chart = CATALOGUE["lim17"].chart(named_rules("vegas-s17"))
    others = [replace(chart, insurance="I"), replace(chart, attack="23")]
    assert len({fingerprint("lim17", each) for each in (chart, *others)}) == 3


def test_no_difference_is_taken_of_an_infinite_shoe_and_a_finite_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """`no_hole_loses = busted-plus-one` gains .1018% of the bet in european, and showed a loss of .0032%."""
    refused = FRESH.replace(no_hole_loses="busted-plus-one")
    values = {refused.replace(decks="inf"): (0.25, ""), refused: (0.25, "not solved"), FRESH: (0.125, "")}
    chart = CATALOGUE["mimic"].chart(FRESH)
    solved = {game: SimpleNamespace(chart=chart, value=one[0], sd=1.0, refusal=one[1]) for game, one in values.items()}
    monkeypatch.setattr(compare, "solve", solved.__getitem__)
    infinite, refused_alone = bjsim.compare(*values)[:2]
    assert infinite.difference == 0 and math.isnan(refused_alone.difference)
    assert bjsim.compare(refused, refused)[1].difference == 0
    found = Comparison(bjsim.compare(FRESH, refused), [None, None])
    assert found.to_json()["games"][1]["difference"] is None
    assert found._dots().series[0].texts == ["+12.5000%", "+25.0000%"]
