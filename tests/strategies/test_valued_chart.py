"""Charts with the value of every action: values, margins, wrong cells, and the rows that are shown."""

import math

import pytest

from bjsim.sim.game.presets import named_rules
from bjsim.strategies.evaluation.compare import compare, evaluate_chart, in_its_shoe, solve
from bjsim.strategies.evaluation.valued_chart import ValuedCell, ValuedChart, point_at_cells
from bjsim.strategies.exact.solver import Solver
from bjsim.strategies.exact.tables import Tables
from bjsim.strategies.players.catalogue import find_player
from bjsim.strategies.shoe.solver import ShoeSolver

ACTIONS = {"stand": "S", "hit": "H", "double": "D", "split": "P"}


@pytest.mark.parametrize("name", ["easy", "blackjack-p", "neller"])
def test_values_are_those_of_the_tables(name):
    solver = Solver(named_rules(name))
    chart = ValuedChart.of_best(solver)
    for table, letter in ACTIONS.items():
        values = getattr(Tables(solver), table)()
        for (row, column), cell in chart.cells.items():
            if row in values.ylabels and letter in cell.ev:
                assert cell.ev[letter] == pytest.approx(values[row, column], abs=1e-12)


def test_values_in_a_shoe_are_those_of_single_hands():
    """Hands of one composition: a soft 13 is A,2, and 8,8 is a pair."""
    solver = ShoeSolver(named_rules("single-deck"))
    chart = ValuedChart.of_best(solver)
    for row, cards, column in (("88", "88", "T"), ("AA", "AA", "6"), ("22", "22", "7")):
        values = solver.hand_values(cards, column, "td")
        assert chart.cells[row, column].ev == pytest.approx(values, abs=1e-12)


def test_the_margin_is_that_of_the_two_best_actions():
    assert ValuedCell("H", {"S": -0.5, "H": -0.25, "D": -1.0}).margin == 0.25
    assert math.isnan(ValuedCell("S", {"S": 1.0}).margin)
    assert ValuedCell("P", {"P": math.inf, "H": 1.0}).margin == math.inf
    assert math.isnan(ValuedCell("P", {"P": math.inf, "H": math.inf}).margin)
    chart = ValuedChart.of_best(solve(named_rules("neller")))
    row, column, cell = chart.closest(1)[0]
    assert cell.margin == min(one.margin for one in chart.cells.values() if not math.isnan(one.margin))
    assert (row, column) == ("16", "T")


@pytest.mark.parametrize(("surrender", "says"), [("late", False), ("early", True), ("early-ten", True)])
def test_a_page_says_what_the_values_of_cells_include(surrender, says):
    rules = named_rules("vegas-s17").replace(surrender=surrender)
    assert ("what a surrender saves" in point_at_cells(ShoeSolver(rules)).lines[0]) == says


@pytest.mark.parametrize(("decks", "says"), [(2, True), ("inf", False)])
def test_a_finite_shoe_is_solved_as_if_the_dealer_looked(decks, says):
    """Where a natural takes the original bet; the values of cells say so."""
    rules = named_rules("vegas-s17").replace(decks=decks, peek=False, no_hole_loses="original")
    for surrender in ("none", "late"):  # which is early as solved
        text = point_at_cells(in_its_shoe(rules.replace(surrender=surrender))).lines[0]
        assert ("given that the dealer has no natural" in text) == says
        assert ("what a surrender saves" in text) == (says and surrender == "late")


def test_a_game_that_is_solved_in_an_infinite_shoe_includes_the_natural() -> None:
    """A hand of six cards wins before it counts, so that the shoe is not solved as if the dealer looked."""
    solution = solve(named_rules("european").replace(obo=True, charlie=6))
    assert solution.refusal and "followed by best play." in point_at_cells(solution).lines[0]
    assert "the best chart" in point_at_cells(ShoeSolver(named_rules("european"))).lines[0]


def test_wrong_cells_have_the_best_code_and_their_cost():
    evaluation = evaluate_chart(find_player("hoyle", named_rules("blackjack-p")))
    wrong = {(cell.row, cell.column): (cell.best, cell.cost) for cell in evaluation.cells}
    chart = ValuedChart.of_codes(evaluation.solution, evaluation.codes, wrong)
    marked = {key: cell for key, cell in chart.cells.items() if cell.other}
    assert marked.keys() == {(cell.row, cell.column) for cell in evaluation.cells} and marked
    assert sum(cell.cost for cell in marked.values()) == pytest.approx(evaluation.difference)
    for cell in marked.values():
        assert max(cell.ev, key=cell.ev.__getitem__) == cell.other[0] != cell.code[0]


def test_changed_cells_have_the_first_code():
    game = named_rules("blackjack-p")
    first, other = compare([game, game.replace(double_after_split=not game.double_after_split)])
    before = {(change.row, change.column): change.before for change in other.changes}
    chart = ValuedChart.of_best(solve(other.rules)).with_others(before)
    best = ValuedChart.of_best(solve(first.rules))
    assert before and {key: cell.other for key, cell in chart.cells.items() if cell.other} == before
    assert all(best.cells[key].code == code != chart.cells[key].code for key, code in before.items())


def test_sections_are_in_the_order_of_books():
    chart = ValuedChart.of_best(solve(named_rules("blackjack-p")))
    assert list(chart.sections) == ["hard", "soft", "pairs"]
    assert chart.sections["hard"] == tuple(map(str, range(4, 21)))
    assert chart.sections["pairs"][0] == "22" and chart.sections["pairs"][-1] == "AA"
    assert ValuedChart.of_best(solve(named_rules("neller"))).sections["soft"][0] == "AA"  # which it may not split


def test_rows_for_counted_cards_are_shown_where_they_differ():
    """In Neller's variant 1 a fifth card has a bonus, so that hands of four cards are played differently."""
    chart = ValuedChart.of_best(solve(named_rules("neller-v1")))
    shown = {row for rows in chart.sections.values() for row in rows}
    counted = {row for row, _ in chart.cells if "/" in row or ":" in row}
    assert counted & shown and counted - shown
    for row in counted - shown:
        total = row.partition("/")[0].partition(":")[0]
        codes = ["S" if total in ("21", "A10") else chart.cells[total, column].code for column in chart.columns]
        assert [chart.cells[row, column].code for column in chart.columns] == codes
