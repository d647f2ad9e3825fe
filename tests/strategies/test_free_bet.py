"""Free bets: what the house pays for can win, and cannot lose. The figures are those of two independent programs."""

from __future__ import annotations

from fractions import Fraction

import pytest
from support.table import play_script

from bjsim.errors import InputError
from bjsim.sim.game.actions import Action, View
from bjsim.sim.game.presets import named_rules
from bjsim.sim.game.seats import is_free
from bjsim.strategies.evaluation.coach import Coach
from bjsim.strategies.exact.solver import Solver
from bjsim.strategies.shoe.solver import ShoeSolver

TODAY, OF_2012 = named_rules("free-bet"), named_rules("free-bet-2012")


@pytest.mark.parametrize(
    ("game", "changes", "percent"),
    [
        (OF_2012, {}, -0.620774),
        (OF_2012, {"resplit_aces": False}, -0.708826),
        (TODAY, {}, -0.993699),
        (TODAY, {"free_splits": "A2356789"}, -1.280143),
    ],
)
def test_the_value_in_an_infinite_shoe(game, changes, percent) -> None:
    solver = Solver(game.replace(decks="inf", **changes))
    assert 100 * solver.value == pytest.approx(percent, abs=5e-7)
    assert solver.value_of(solver.chart) == pytest.approx(solver.value, abs=1e-14)  # charts have rows for free hands


@pytest.mark.parametrize(("game", "percent", "published", "within"), [
    (OF_2012, -0.63048, -0.625, 0.006), (TODAY, -1.01434, -1.04, 0.026),
])  # fmt: skip
def test_the_value_in_six_decks(game, percent, published, within) -> None:
    """The published figures are below and above ours; both lie on our side of the infinite shoe's."""
    value = 100 * ShoeSolver(game).value_of("cdp1")
    assert value == pytest.approx(percent, abs=1e-4)
    assert value == pytest.approx(published, abs=within)


@pytest.mark.parametrize(
    ("cards", "answers", "net"),
    [
        ("6 T 5 9 T", "D", 2),  # 11 doubles free and gets 21: both bets win
        ("6 T 5 9 2", "D", -1),  # it loses: the house's bet takes nothing
        ("6 T 5 9 8", "D", 0),
        ("6 6 6 9 T T 7", "P, S, S", 0),  # a free split against 22, which pushes
        ("8 T 8 9 T T", "P, S, S", -1),  # 18 and 18 against 19: the first bet is lost
        ("8 T 8 8 T T", "P, S, S", 0),
        ("8 T 8 7 T T", "P, S, S", 2),
        ("8 T 8 9 T 3 2", "P, S, D", -1),  # the second hand is free, and doubles free on 11
        ("8 T 8 9 T 3 T", "P, S, D", 1),
        ("8 T 8 9 T 4 2", "P, S, D", -2),  # but pays to double 12
        ("8 T 8 9 8 3 T T T", "P, P, D, S, S", 2),  # again: 21 doubled free, two free 18s that lose
        ("T T T 9 8 8", "P, S, S", -2),  # tens are split at one's own cost
        ("7 T 3 9 T", "D", 2),
    ],
)  # fmt: skip
def test_what_a_round_pays(cards: str, answers: str, net: int) -> None:
    result, _ = play_script(TODAY, cards, [answers])
    assert result.net == (Fraction(net),)


def test_a_seat_sees_which_bet_is_the_houses() -> None:
    _, (player,) = play_script(TODAY, "8 T 8 9 8 3 T T", ["P, P, S, S, S"])
    assert [(view.hand, view.free) for view in player.views] == [
        ("88", False), ("88", False), ("83", False), ("8T", True), ("8T", True)
    ]  # fmt: skip
    assert is_free("P", player.views[0]) and is_free("D", player.views[2]) and not is_free("D", player.views[3])


@pytest.mark.parametrize("decks", ["inf", 6])
def test_the_coach_plays_a_free_hand_for_its_wins(decks: object) -> None:
    """A free 17 loses nothing by a bust: it hits against a nine, where a hand with a bet of its own stands."""
    coach = Coach(TODAY.replace(decks=decks))
    for free, best in ((False, "S"), (True, "H")):
        view = View(TODAY, 0, "89", "9", "9#89", 10, 100, "SH", True, 2, 0, free)
        judged = coach.judge(view, Action("S"))
        assert judged is not None
        assert judged.best == best
        assert judged.chart == best


def test_the_spread_of_split_hands_is_refused_in_a_finite_shoe() -> None:
    with pytest.raises(InputError, match="sd: not available for split hands with free bets"):
        _ = ShoeSolver(TODAY).sd
