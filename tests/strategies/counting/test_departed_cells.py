"""Index plays cell by cell: which ones a game allows, and what they make of its chart."""

from bjsim.sim.game.presets import named_rules
from bjsim.strategies.counting.departures import Departures, departed_cells, parse_departures, playable
from bjsim.strategies.evaluation.compare import best_chart
from bjsim.strategies.exact.solver import Solver

SIX = named_rules("vegas-s17")


def test_what_a_game_allows() -> None:
    """Fab 4 needs surrender; a game that doubles on 10 and 11 alone has no doubles of 9."""
    plays = "i18+fab4"
    departures = Departures.parse(plays, Solver(SIX).chart)
    assert playable(departures) == 18
    without = Departures.parse(plays, Solver(SIX.replace(insurance=False)).chart)
    assert playable(without) == 17
    surrender = Departures.parse(plays, Solver(SIX.replace(surrender="late")).chart)
    assert playable(surrender) == 22
    doubles = Departures.parse("9v2 D>=1, 10vT D>=4", Solver(SIX.replace(double_on="10-11")).chart)
    assert playable(doubles) == 1


def test_cells_with_the_other_code_and_its_counts() -> None:
    """The chart hits 12 v 3 and 16 v T, and stands on 12 v 4: above some counts, and below 0, it does not."""
    chart = Solver(SIX.replace(surrender="late")).chart
    found = departed_cells(
        chart, parse_departures("12v3 S>=2, 12v4 S>=0, 15vT R>=0, 15vT S>=4, 13v4 S>-1, insurance I>=3")
    )
    assert found["12", "3"] == [("S", ">= 2")]
    assert found["12", "4"] == [("H", "< 0")]
    assert found["15", "T"] == [("H", "< 0"), ("Rs", ">= 4")]
    assert ("insurance", "") not in found and found["13", "4"] == [("H", "<= -1")]


def test_a_pair_is_shown_as_it_is_played_with_the_index_plays_of_its_total() -> None:
    chart = Solver(named_rules("vegas-s17")).chart
    plays = Departures.parse("16vT S>=0, 88vT P<8", chart).plays
    assert departed_cells(chart, plays)["88", "T"] == [("S", ">= 8")]


def test_a_rescue_is_played_where_there_is_no_surrender() -> None:
    rules = named_rules("spanish-21").replace(surrender="none")
    for play, applies in (("16x2vT R>=0", 1), ("16vT R>=0", 0)):
        assert playable(Departures.parse(play, best_chart(rules))) == applies
