"""Every figure printed in the sources and the page on rules, as exact fractions where they are fractions."""

from __future__ import annotations

from fractions import Fraction

import pytest

from bjsim.sim.game.hand_states import DealerState, HandState
from bjsim.sim.game.presets import named_rules
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.states import States
from bjsim.strategies.charts.chart import parse_row
from bjsim.strategies.exact.solver import Solver
from bjsim.strategies.exact.tables import LabelledTable, Tables
from bjsim.strategies.exact.values import Dealer

F = Fraction
HARD = [str(n) for n in range(4, 21)]
SOFT = ["AA", *(f"A{n}" for n in range(2, 10))]
SPLIT = [*(f"{n}{n}" for n in range(2, 10)), "TT", "AA"]
DEALER = [*HARD, *SOFT[:6]]


@pytest.fixture(scope="module")
def easy() -> Solver:
    return Solver(named_rules("easy"), Fraction)


@pytest.fixture(scope="module")
def tables(easy: Solver) -> Tables:
    return Tables(easy)


# --- [Easy]: Easy Blackjack


def test_dealer_16(tables: Tables) -> None:
    assert tables.solution.dealer("16") == {0: F(8, 13), **{score: F(1, 13) for score in range(17, 22)}}


def test_dealer_15(tables: Tables) -> None:
    """[Easy]: 17 and 21 have the probability 1/13 + 1/13 1/13, a bust 7/13 + 1/13 8/13."""
    one = F(1, 13) + F(1, 13) * F(1, 13)
    expected = {0: F(7, 13) + F(1, 13) * F(8, 13), **{score: one for score in range(17, 22)}}
    assert tables.solution.dealer("15") == expected


def test_a_finished_dealer_has_one_outcome(tables: Tables) -> None:
    """[Easy]: "if the dealer starts with hard 17 there is only one entry: 17: 1.000". And soft 17 is hit."""
    for score in range(17, 21):
        assert tables.solution.dealer(str(score)) == {score: 1}
    assert tables.solution.dealer("A6")[17] < 1


def test_dealer_tables_sum_to_one(tables: Tables) -> None:
    assert list(tables.solution.shown) == DEALER
    for probabilities in map(tables.solution.dealer, DEALER):
        assert sum(probabilities.values()) == 1
        assert set(probabilities) <= {0, 17, 18, 19, 20, 21}


def test_printed_values_of_easy(tables: Tables) -> None:
    stand, hit, double = tables.stand(), tables.hit(), tables.double()
    assert stand["18", "16"] == F(6, 13)
    assert stand["19", "20"] == -1
    assert hit["20", "18"] == F(-11, 13)
    assert hit["19", "20"] == F(-10, 13), "the seed's -0.768 is a misprint, as its -1.538 shows"
    assert double["19", "20"] == F(-20, 13)
    assert stand["20", "18"] == 1


def test_what_the_source_leaves_open_about_hit_17_against_18(tables: Tables) -> None:
    """[Easy]: 21 wins 1/13, a bust loses 9/13; standing on 18 has the value 0, on 19 and 20 +1."""
    assert tables.hit()["17", "18"] == F(1, 13) * (0 + 1 + 1) + F(1, 13) - F(9, 13)


def test_surrender_is_best_on_19_against_20(easy: Solver, tables: Tables) -> None:
    assert tables.optimal()["19", "20"] == F(-1, 2)
    assert tables.strategy()["19", "20"] == "Rh"
    assert easy.chart.cells["19", "20"] == "Rh"


def test_21_is_stood_on_and_not_yet_won(tables: Tables) -> None:
    """Against 16 the dealer draws to 21 with one card in 13."""
    assert tables.stand()["21", "16"] == F(12, 13)


def test_labels_of_the_tables(tables: Tables) -> None:
    """The page on rules: rows y, columns x, in this order."""
    labels = {
        "initial": ([*DEALER, "BJ"], [*HARD[1:-1], *SPLIT, *SOFT[1:], "BJ"]),
        "stand": (DEALER, [*HARD, "21", *SOFT]),
        "hit": (DEALER, [*HARD, *SOFT]),
        "double": (DEALER, [*HARD, *SOFT]),
        "split": (DEALER, SPLIT),
        "optimal": (DEALER, [*HARD, *SPLIT, *SOFT[1:]]),
        "strategy": (DEALER, [*HARD, *SPLIT, *SOFT[1:]]),
    }
    for name, (columns, rows) in labels.items():
        table = getattr(tables, name)()
        assert (list(table.xlabels), list(table.ylabels)) == (columns, rows), name
        assert all(cell is not None for row in table.rows for cell in row), name
    for more in (1, 2):
        table = tables.resplit(more)
        assert (list(table.xlabels), list(table.ylabels)) == (DEALER, SPLIT[:-1])


def test_the_initial_table_is_the_distribution_of_two_hands(tables: Tables) -> None:
    initial = tables.initial()
    assert sum(cell for row in initial.rows for cell in row) == 100
    both = 100 * F(1, 13) ** 4
    assert initial["22", "4"] == both
    assert initial["BJ", "BJ"] == 100 * F(8, 169) ** 2
    assert initial["TT", "20"] == 100 * F(16, 169) * (F(16, 169) + F(2, 169)), "twenty is two tens, or ace and nine"
    assert initial["5", "AA"] == both * 2
    assert initial["11", "AA"] == both * 8


def test_the_advantage_is_the_sum_over_all_encounters(easy: Solver, tables: Tables) -> None:
    """[Easy]: the sum of p_i p_j EV_ij over all starting hands; naturals are paid at once."""
    initial, optimal = tables.initial(), tables.optimal()
    total = F(0)
    for row in initial.ylabels:
        for column in initial.xlabels:
            if column == "BJ" or row == "BJ":
                ev = F(0) if row == column else F(3, 2) if row == "BJ" else F(-1)
            else:
                ev = optimal[row, column]
            total += initial[row, column] / 100 * ev
    assert tables.value == total == easy.value


def test_split_tables_are_those_of_the_seeds_scheme(tables: Tables) -> None:
    """split1, split2, split3: both cards at once, and as many resplits as the limit allows."""
    easy = tables.solver
    split = {3: tables.split(), 2: tables.resplit(2), 1: tables.resplit(1)}
    for rank, row in enumerate(SPLIT[:-1], 1):
        p = easy.rules.ten_probability if row == "TT" else F(1, 13)
        total = "20" if row == "TT" else str(2 * int(row[0]))
        for column, means in easy.best.items():
            base = base_of_split(easy, means)
            half = easy.states.split(HandState(int(total), False, 2, rank))
            others = sum(q * base(easy.states.add(half, other)) for other, q in easy.states.ranks if other != rank)
            other = others / (1 - p)
            pair = base(HandState(int(total), False, 2))
            split1 = 2 * (p * pair + (1 - p) * other)
            split2 = p * p * (split1 + pair) + 2 * p * (1 - p) * (split1 + other) + (1 - p) ** 2 * 2 * other
            split3 = p * p * 2 * split1 + 2 * p * (1 - p) * (split2 + other) + (1 - p) ** 2 * 2 * other
            assert [split[n][row, column] for n in (1, 2, 3)] == [split1, split2, split3], (row, column)


def base_of_split(easy: Solver, means):
    """[Easy]: the base table of split, the best of hit, double and stand."""

    def base(state: HandState) -> Fraction:
        if state.points == 21:
            return means.act(state, "S")
        return max(means.act(state, letter) for letter in "SHD")

    return base


def test_the_base_table_of_the_split(tables: Tables) -> None:
    """Stand, hit or double, on the rows of the stand table: "you can't split anymore"."""
    table = tables.base_split()
    assert (list(table.xlabels), list(table.ylabels)) == (DEALER, [*HARD, "21", *SOFT])
    for column, means in tables.solver.best.items():
        base = base_of_split(tables.solver, means)
        for row in table.ylabels:
            assert table[row, column] == base(parse_row(str(row)).hand), (row, column)
    assert table["19", "20"] == F(-10, 13)  # hit; a split hand may not surrender


def test_split_aces_get_one_card_each(tables: Tables) -> None:
    stand = tables.stand()
    rows = ["AA", *SOFT[1:], "21"]
    weights = [F(1, 13)] * 9 + [F(4, 13)]
    for column in DEALER:
        one_card = sum(p * stand[row, column] for p, row in zip(weights, rows, strict=True))
        assert tables.split()["AA", column] == 2 * one_card


# --- [Easy]: the Table class


def test_the_table_of_seed_000() -> None:
    table = LabelledTable(str, "abcd", range(1, 5))
    assert table[3, "b"] is None
    table[3, "b"] = "HI"
    assert table[3, "b"] == "HI"
    assert [row.count("HI") for row in table.rows] == [0, 0, 1, 0]
    empty = LabelledTable(str, "abcd", range(1, 5))
    assert table != empty
    del table[3, "b"]
    assert table[3, "b"] is None
    assert table == empty and table != "abcd"
    for place in ((0, "a"), (1, "e"), ("a", 1)):
        for use in (lambda t, i: t[i], lambda t, i: t.__setitem__(i, "x"), lambda t, i: t.__delitem__(i)):
            with pytest.raises(KeyError):
                use(table, place)
    for index in (3, "3b", (1,), (1, "a", "b")):
        with pytest.raises(TypeError):
            table[index]
    with pytest.raises(TypeError):
        table[1, "a"] = 5


# --- every dealer table of every game


@pytest.mark.parametrize("p", ["4/13", "1/100", "99/100"])
@pytest.mark.parametrize(("stands_on", "hit_soft_17"), [(17, False), (17, True), (18, False)])
@pytest.mark.parametrize("naturals", ["both", "none"])
def test_dealer_tables_sum_to_one_under_all_rules(p: str, stands_on: int, hit_soft_17: bool, naturals: str) -> None:
    states = States(Rules(ten_probability=p, dealer_stands_on=stands_on, hit_soft_17=hit_soft_17, naturals=naturals))  # type: ignore[arg-type]
    exact, rough = Dealer(states, Fraction), Dealer(states)
    for rank in range(10):
        up = states.dealer_add(DealerState(), rank)
        probabilities = exact.outcome_probabilities(up)
        assert sum(probabilities.values()) == 1
        assert set(probabilities) <= set(states.dealer_outcomes)
        assert rough.outcome_probabilities(up) == pytest.approx(
            {score: float(q) for score, q in probabilities.items()}, abs=1e-13
        )
