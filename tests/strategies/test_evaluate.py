"""Charts compared with the best one: costs that add up, wrong cells, games with replayed ties or splits."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.games import charts, few, other_codes, rules, slow

from bjsim.sim.game.automaton import Decision
from bjsim.sim.game.presets import PRESETS
from bjsim.strategies.charts.chart import Chart
from bjsim.strategies.evaluation.compare import evaluate_chart
from bjsim.strategies.exact.solver import Solver
from bjsim.strategies.exact.values import count_decisions, find_endless_split
from bjsim.strategies.players.catalogue import CATALOGUE

GAMES = tuple(PRESETS)


def best(name, **changes):
    """The best chart of a preset in an infinite shoe."""
    return Solver(PRESETS[name].rules.replace(decks="inf", **changes)).chart


def changed(chart, cells):
    return Chart("changed", chart.rules, {**chart.cells, **cells})


PLANTED = {
    "easy": {("16", "16"): "H", ("A6", "16"): "S", ("TT", "20"): "P"},
    "blackjack-p": {("12", "T"): "S", ("88", "6"): "H", ("11", "6"): "S"},
    "neller": {("12", "T"): "S", ("A7", "A"): "S", ("17", "9"): "H"},
    "neller-v1": {("12", "T"): "S", ("15/4", "2"): "S", ("14:77", "T"): "S"},
    "neller-v2": {("88", "T"): "S", ("AA", "T"): "H", ("16", "T"): "S"},
    "vegas-s17": {("99", "7"): "P", ("16", "T"): "S", ("A7", "2"): "Dh"},
    "european": {("11", "T"): "H", ("AA", "A"): "P", ("10", "9"): "H"},
}


@pytest.mark.parametrize("name", PLANTED)
def test_three_planted_cells_are_found_and_their_costs_add_up(name):
    good = best(name)
    cells = {cell: code for cell, code in PLANTED[name].items() if good.cells[cell] != code}
    bad = changed(good, cells)
    evaluation = evaluate_chart(bad)
    assert {(cell.row, cell.column): cell.chart for cell in evaluation.cells} == cells
    assert all(cell.best == good.cells[cell.row, cell.column] for cell in evaluation.cells)
    solver = Solver(good.rules)
    assert evaluation.best == solver.value and evaluation.value == solver.ev(bad.policy).value
    assert evaluation.costs == pytest.approx(evaluation.difference, rel=1e-9, abs=1e-15)
    assert abs(evaluation.second_order) < 0.1 * evaluation.difference
    assert list(evaluation.cells) == sorted(evaluation.cells, key=lambda cell: -cell.cost)


@pytest.mark.parametrize("games", [4, slow(24)])
def test_costs_add_up_to_the_whole_difference(games):
    """Exactly, for any chart: also with limited splits, endless splits, and replayed ties."""

    @settings(max_examples=games)
    @given(name=st.sampled_from(GAMES), seed=st.integers(0, 2**32), share=st.sampled_from([0.01, 0.1]))
    def check(name, seed, share):
        good = best(name)
        evaluation = evaluate_chart(changed(good, other_codes(good.states, good.cells, seed, share)))
        assert evaluation.remainder == pytest.approx(0, abs=1e-12)
        assert all(cell.cost > -1e-14 for cell in evaluation.cells)

    check()


@pytest.mark.parametrize("games", [1, slow(6)])
def test_costs_add_up_in_any_game(games):
    """The remainder comes from limits of charts, whose rows do not tell apart all hands that are best played apart.

    It may have either sign: with a charlie and three doubles, the costs add up to more than the chart loses.
    """

    @settings(max_examples=games)
    @given(data=st.data(), game=rules(decks="inf", ten_probability="4/13", raises=False, bonuses="none"))
    def check(data, game):
        evaluation = evaluate_chart(data.draw(charts(game)))
        split_hands_alone = game.double_cards == "any" and not game.double_after_split
        doubled_cards = game.charlie != "none" and game.double_cards == "any"
        limited = game.hit_split_aces or split_hands_alone or doubled_cards
        assert abs(evaluation.remainder) < (0.02 * evaluation.difference if limited else 1e-10)

    check()


@pytest.mark.parametrize("name", ["easy", "blackjack-p", "neller-v2"])
def test_alone_is_what_one_cell_costs_the_best_chart(name):
    good = best(name)
    solver = Solver(good.rules)
    evaluation = evaluate_chart(changed(good, other_codes(good.states, good.cells, 7, 0.03)))
    assert len(evaluation.cells) > 5
    for cell in evaluation.cells:
        one = changed(good, {(cell.row, cell.column): cell.chart})
        assert cell.alone == pytest.approx(float(solver.value - solver.ev(one.policy).value), abs=1e-13)
    assert evaluation.second_order == pytest.approx(
        evaluation.difference - sum(cell.alone for cell in evaluation.cells), abs=1e-13
    )


@pytest.mark.parametrize("name", few(GAMES))
def test_the_best_chart_has_no_wrong_cell(name):
    evaluation = evaluate_chart(CATALOGUE["optimal"].chart(PRESETS[name].rules))
    assert evaluation.cells == () and evaluation.difference == 0


def test_codes_that_play_the_same_are_not_wrong():
    """Without doubling Dh is H; after a hit a surrender is not legal."""
    good = best("neller")
    same = {cell: {"H": "Dh", "S": "Rs"}[code] for cell, code in good.cells.items()}
    assert evaluate_chart(changed(good, same)).cells == ()


def test_a_chart_without_particular_rows_is_judged_row_by_row():
    evaluation = evaluate_chart(CATALOGUE["hoyle"].chart(PRESETS["neller-v1"].rules))
    wrong = {(cell.row, cell.column): (cell.chart, cell.best) for cell in evaluation.cells}
    assert wrong["13/4", "2"] == ("S", "H") and ("13", "2") not in wrong
    assert evaluation.codes["13/4", "2"] == "S"


def test_a_cell_that_is_never_reached_costs_nothing():
    """A chart that always stands never holds three cards; the cost of such a cell alone is not 0."""
    good = best("neller-v1")
    chart = changed(good, {cell: "S" for cell in good.cells if cell[1] == "T"})
    cell = next(cell for cell in evaluate_chart(chart).cells if (cell.row, cell.column) == ("15/4", "T"))
    assert cell.cost == 0 and cell.alone > 0


def test_expected_visits():
    """A high limit of hands gives as many hands as no limit: 2 / (1 - 2 / 13) from a pair."""
    visits = {}
    for limit in ("16", "inf"):
        solver = Solver(PRESETS["blackjack-p"].rules.replace(max_hands=limit))
        chart = changed(solver.chart, {("88", "6"): "P"})
        visits[limit] = count_decisions(solver.states, solver.columns["6"], chart.policy)
    eighteen = next(d for d in visits["inf"] if d.state[:3] == (18, False, 2) and d.state.split)
    assert visits["16"][eighteen] == pytest.approx(visits["inf"][eighteen], rel=1e-9)
    pairs = 1 / 13**2
    assert visits["inf"][eighteen] == pytest.approx(pairs * 2 / (1 - 2 / 13) * 4 / 13)
    starts = [n for decision, n in visits["inf"].items() if decision.state.cards == 2 and not decision.state.split]
    assert sum(starts) == pytest.approx(1 - 2 * 4 / 13 / 13)  # all but naturals
    assert all(isinstance(decision, Decision) for decision in visits["inf"])


def test_an_infinite_best():
    rules = PRESETS["blackjack-p"].rules.replace(ten_probability="1/2")
    evaluation = evaluate_chart(CATALOGUE["hoyle"].chart(rules))
    assert evaluation.best == math.inf and math.isfinite(evaluation.value)
    assert evaluation.solution.infinite_because.startswith("the value is infinite: resplitting TT against 2")
    dearest = evaluation.cells[0]
    assert (dearest.row, dearest.chart, dearest.best, dearest.cost) == ("TT", "S", "P", math.inf)
    assert find_endless_split(evaluation.best_chart) == ("TT", "2") and find_endless_split(evaluation.chart) is None
    same = evaluate_chart(evaluation.best_chart)
    assert same.cells == () and same.difference == 0


def test_hoyle_at_neller():
    """Hoyle's strategy at neller, for the question of [Neller] whether the learned one matches it: six cells differ."""
    evaluation = evaluate_chart(CATALOGUE["hoyle"].chart(PRESETS["neller"].rules))
    found = {(cell.row, cell.column, cell.best) for cell in evaluation.cells}
    assert found == {*(("12", c, "S") for c in "456"), *(("A7", c, "H") for c in "9TA")}
    assert 100 * evaluation.value == pytest.approx(-4.583499, abs=1e-6)
    assert 100 * evaluation.best == pytest.approx(-4.485772, abs=1e-6)
