"""Values of states and their slopes, against the exact solver and against finite differences."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.games import FIXED, charts, random_chart, rules

from bjsim.sim.engine.compiled_rules import compile_rules
from bjsim.sim.engine.state_values import StateValues, draw_probabilities, value_of_game
from bjsim.sim.game.presets import PRESETS, named_rules
from bjsim.sim.game.rules import Rules
from bjsim.strategies.exact.reach import find_endless_split
from bjsim.strategies.exact.solver import Solver


def values(game, chart, probabilities=None, tie_value=0.0):
    compiled = compile_rules(game, [chart.policy])
    return StateValues(
        compiled,
        0,
        draw_probabilities(game, compiled) if probabilities is None else probabilities,
        tie_value,
        float(game.unit),
    )


@pytest.mark.parametrize("name", PRESETS)
def test_a_round_has_the_solvers_value(name):
    game = named_rules(name)
    for chart in (Solver(game).chart, random_chart(game, 5)):
        if find_endless_split(chart):
            continue
        value = value_of_game(game, compile_rules(game, [chart.policy]), 0)
        assert value == pytest.approx(float(Solver(game).ev(chart.policy).value), abs=1e-12)
        assert values(game, chart, tie_value=value).start[0] == pytest.approx(value, abs=1e-12)


@settings(FIXED, max_examples=30)
@given(st.data())
def test_random_games_have_the_solvers_values(data):
    game = data.draw(rules())
    chart = data.draw(charts(game))
    ev = Solver(game).ev(chart.policy)
    if find_endless_split(chart) or abs(ev.net) > 1e3:
        return
    start = values(game, chart).start
    assert start[0] == pytest.approx(float(ev.net), rel=1e-9, abs=1e-12)
    probabilities = draw_probabilities(game, compile_rules(game, [chart.policy]))
    assert start[1:] @ probabilities == pytest.approx(0, abs=1e-9 * (1 + abs(start[1:]).max()))


@pytest.mark.parametrize("name", ["easy", "blackjack-p", "european", "atlantic-city"])
def test_the_slope_in_tens_is_the_solvers(name):
    """A tilt toward tens gives a game with another probability of tens, which the solver can evaluate."""
    game, h = named_rules(name).replace(decks="inf", cut=1), Fraction(1, 10**5)
    chart = Solver(game).chart
    up, down = (
        Solver(game.replace(ten_probability=game.ten_probability + s * h)).ev(chart.policy).net for s in (1, -1)
    )
    slope = (up - down) / (2 * float(h)) * float(1 - game.ten_probability)
    assert values(game, chart).start[10] == pytest.approx(slope, abs=1e-6)


@pytest.mark.parametrize("name", ["easy", "neller-v2", "vegas-s17"])
def test_slopes_are_derivatives_in_every_state(name):
    game = named_rules(name)
    chart = random_chart(game, 11, 1)
    whole = values(game, chart)
    h = 1e-5
    for q in (0, 4, len(whole.card_probabilities) - 1):
        tilt = h * (np.eye(len(whole.card_probabilities))[q] - whole.card_probabilities)
        up, down = (values(game, chart, whole.card_probabilities + s * tilt) for s in (1, -1))
        for now, more, less in ((whole.hands, up.hands, down.hands), (whole.finished, up.finished, down.finished)):
            assert np.allclose(now[..., 1 + q], (more[..., 0] - less[..., 0]) / (2 * h), atol=1e-6)


def test_hands_that_multiply_without_end_have_the_value_0_here():
    game = Rules(max_hands="inf", ten_probability="3/5")
    chart = random_chart(game, 1, 1)
    cells = {place: "P" if place[0] == "TT" else code for place, code in chart.cells.items()}
    assert np.isfinite(values(game, type(chart)("tens", game, cells)).hands).all()
