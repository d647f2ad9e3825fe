"""Index plays: the text format, the chart at each count, the published sets, and what a game makes of them."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bjsim.errors import InputError
from bjsim.sim.game.presets import named_rules
from bjsim.strategies.charts.chart import Chart
from bjsim.strategies.counting.departures import (
    Departures,
    departed_cells,
    find_departures,
    format_departures,
    parse_departures,
    playable,
)
from bjsim.strategies.evaluation.compare import best_chart
from bjsim.strategies.exact.solver import Solver
from bjsim.strategies.formats.plays import Departure

RULES = named_rules("vegas-s17")
NUMBERS = st.fractions(-99, 99, max_denominator=8)


@pytest.fixture(scope="module")
def base() -> Chart:
    """The best chart of vegas-s17 in an infinite shoe: 16 against a ten is hit, 12 against a 4 stands."""
    return Solver(RULES).chart


@pytest.fixture(scope="module")
def late(base: Chart) -> Chart:
    """The same with surrender: 16vT Rh."""
    return Solver(RULES.replace(surrender=True)).chart


def codes(departures: Departures, row: str, column: str, *counts: int) -> list[str]:
    return [departures.chart_at(count).cells[row, column] for count in counts]


def test_an_action_is_taken_if_and_only_if_the_count_says_so(base: Chart) -> None:
    plays = Departures.parse("16vT S>=0, 12v4 S>=0; 13v2 H<-1\nTTv5 P>=5 # tens\n 11vA D>=1, 9v2 d >= 1", base)
    assert codes(plays, "16", "T", -1, 0, 50) == ["H", "S", "S"]
    assert codes(plays, "12", "4", -1, 0) == ["H", "S"]  # the chart stands, so that below the index it is hit
    assert codes(plays, "13", "2", -2, -1) == ["H", "S"]
    assert codes(plays, "TT", "5", 4, 5) == ["S", "P"]
    assert codes(plays, "11", "A", 0, 1) == ["H", "Dh"]
    assert codes(plays, "9", "2", 0, 1) == ["H", "Dh"]
    assert plays.chart_at(0).cells["17", "2"] == "S"


def test_doubles_keep_what_the_chart_does_without_them(base: Chart) -> None:
    plays = Departures.parse("A8v6 D>=1, A7v3 D>=99, 11v6 S>=99", base)
    assert codes(plays, "A8", "6", 0, 1) == ["S", "Ds"]
    assert codes(plays, "A7", "3", 0) == ["S"]
    assert codes(plays, "11", "6", 0) == ["Dh"]


def test_surrender_lies_over_the_rest(late: Chart) -> None:
    plays = Departures.parse("15vT R>=0, 15vT S>=4, 16vT S>=0, 88vA R>=3, 14vT R>=3", late)
    assert codes(plays, "15", "T", -1, 0, 4) == ["H", "Rh", "Rs"]
    assert codes(plays, "16", "T", -1, 0) == ["Rh", "Rs"]
    assert codes(plays, "88", "A", 2, 3) == ["P", "Rp"]
    assert codes(plays, "14", "T", 2, 3) == ["H", "Rh"]


def test_a_pair_that_is_not_split_is_played_as_its_total(base: Chart) -> None:
    plays = Departures.parse("88vT P<5, 99v7 P>=3, AAvA P>=0", base)
    assert codes(plays, "88", "T", 4, 5) == ["P", base.cells["16", "T"]]
    assert codes(plays, "99", "7", 2, 3) == ["S", "P"]
    assert codes(plays, "AA", "A", -1, 0) == ["H", "P"]


def test_counts_between_the_indices_are_exact_and_those_beyond_are_clipped(base: Chart) -> None:
    plays = Departures.parse("16vT S>=1.5", base)
    assert plays.span == (0, 3)
    assert plays.chart_at(Fraction(3, 2)) is plays.chart_at(1000)
    assert plays.chart_at(Fraction(149, 100)) is plays.chart_at(-1000) is base


def test_insurance() -> None:
    plays = Departures(Solver(RULES).chart, parse_departures("insurance I>=3"))
    assert [plays.insured_at(count) for count in (2, 3, 4)] == [False, True, True]
    assert parse_departures("Insurance >= 3") == parse_departures("insurance I≥+3") == plays.plays


def test_the_published_sets(late: Chart) -> None:
    assert [len(find_departures(name)) for name in ("i18", "fab4", "i18+fab4", "none", "")] == [18, 4, 22, 0, 0]
    plays = Departures.parse("I18 + Fab4", late)
    assert plays.insured_at(3)
    assert codes(plays, "15", "T", -1, 0, 4) == ["H", "Rh", "Rs"]
    assert codes(plays, "10", "A", 3, 4) == ["H", "Dh"]
    assert codes(plays, "13", "3", -3, -2) == ["H", "S"]
    assert plays.span == (-3, 6)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("16vT", "'16vT' needs one count; write a hand"),
        ("16vT X>=3", "'16vT X>=3' is not accepted; write a hand"),
        ("16vT S>=0\n12v3 S>>2", "line 2"),
        ("16vT S>=1/0", "must be from"),
        ("16vT S>=9999", "must be from"),
        ("27vT S>=0", "unknown hand 27; this game has"),
        ("16v11x S>=0", "unknown dealer's card"),
        ("16vT P>=0", "only pairs split"),
        ("16vT S>=0, 16vT S<5", "two conditions"),
        ("i19", "did you mean i18?"),
        ("missing.txt", "cannot read the index plays missing.txt"),
        ("11v6 R>=0", "cannot both double and surrender"),
        ("88v6 D>=0", "cannot both split and double"),
    ],
)
def test_errors_name_the_entry(base: Chart, text: str, message: str) -> None:
    with pytest.raises(InputError) as error:
        Departures.parse(text, base)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_a_file(base: Chart, tmp_path: Path) -> None:
    path = tmp_path / "mine.txt"
    path.write_text("# mine\n16vT S>=0\n\ninsurance I>=3  # always\n")
    assert format_departures(Departures.parse(str(path), base).plays) == "16vT S>=0\ninsurance I>=3\n"
    path.write_bytes(b"\xff")
    with pytest.raises(InputError, match="not valid UTF-8"):
        find_departures(path)


@given(
    st.lists(
        st.builds(
            Departure,
            row=st.sampled_from(["16", "TT", "A7", "AA", "9", "88"]),
            column=st.sampled_from(list("23456789TA")),
            action=st.sampled_from("SHDPR"),
            operator=st.sampled_from([">=", ">", "<", "<="]),
            count=NUMBERS,
        )
    )
)
def test_what_is_written_is_read(plays: list[Departure]) -> None:
    assert parse_departures(format_departures(plays)) == tuple(plays)


@given(st.text(alphabet="16vTASHDPRI<>=≥-+.,;#/ 0\ninsurance", max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        plays = find_departures(text)
    except InputError:
        return
    assert parse_departures(format_departures(plays)) == plays


@pytest.mark.parametrize("number", [-2, 0, 3, 5, 6, 8])
def test_a_pair_that_is_not_split_follows_the_index_plays_of_its_total(number: int) -> None:
    """By the index plays of the total, too."""
    chart = Solver(named_rules("vegas-s17")).chart
    cells = Departures.parse("16vT S>=0, 88vT P<6, 18v9 H<3, 99v9 P<2", chart).chart_at(number).cells
    for pair, total, column, splits in (("88", "16", "T", number < 6), ("99", "18", "9", number < 2)):
        assert cells[pair, column] == ("P" if splits else cells[total, column])


def test_a_pair_without_its_total_is_refused_in_words() -> None:
    with pytest.raises(InputError, match="has no cell for 16 against T"):
        Departures.parse("88vT P<0", Chart("x", named_rules("vegas-s17"), {("88", "T"): "P"}))


def test_what_a_game_allows() -> None:
    """Fab 4 needs surrender; a game that doubles on 10 and 11 alone has no doubles of 9."""
    plays = "i18+fab4"
    departures = Departures.parse(plays, Solver(RULES).chart)
    assert playable(departures) == 18
    without = Departures.parse(plays, Solver(RULES.replace(insurance=False)).chart)
    assert playable(without) == 17
    surrender = Departures.parse(plays, Solver(RULES.replace(surrender="late")).chart)
    assert playable(surrender) == 22
    doubles = Departures.parse("9v2 D>=1, 10vT D>=4", Solver(RULES.replace(double_on="10-11")).chart)
    assert playable(doubles) == 1


def test_cells_with_the_other_code_and_its_counts() -> None:
    """The chart hits 12 v 3 and 16 v T, and stands on 12 v 4: above some counts, and below 0, it does not."""
    chart = Solver(RULES.replace(surrender="late")).chart
    found = departed_cells(
        chart, parse_departures("12v3 S>=2, 12v4 S>=0, 15vT R>=0, 15vT S>=4, 13v4 S>-1, insurance I>=3")
    )
    assert found["12", "3"] == [("S", ">= 2")]
    assert found["12", "4"] == [("H", "< 0")]
    assert found["15", "T"] == [("H", "< 0"), ("Rs", ">= 4")]
    assert ("insurance", "") not in found and found["13", "4"] == [("H", "<= -1")]


def test_a_pair_is_shown_as_it_is_played_with_the_index_plays_of_its_total() -> None:
    chart = Solver(RULES).chart
    plays = Departures.parse("16vT S>=0, 88vT P<8", chart).plays
    assert departed_cells(chart, plays)["88", "T"] == [("S", ">= 8")]


def test_a_rescue_is_played_where_there_is_no_surrender() -> None:
    rules = named_rules("spanish-21").replace(surrender="none")
    for play, applies in (("16x2vT R>=0", 1), ("16vT R>=0", 0)):
        assert playable(Departures.parse(play, best_chart(rules))) == applies
