"""Values of states and their slopes, against the exact solver and against finite differences."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.games import FIXED, charts, random_chart, rules

from bjsim.sim.engine.compiled_rules import compile_rules
from bjsim.sim.engine.state_values import CompiledAutomaton, StateValues, draw_probabilities, value_chart
from bjsim.sim.game.automaton import PendingHands
from bjsim.sim.game.presets import PRESETS, named_rules
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.states import States
from bjsim.sim.values.dealer_index import DealerIndex
from bjsim.strategies.exact.reach import find_endless_split
from bjsim.strategies.exact.solver import Solver
from bjsim.strategies.exact.values import Dealer


def compiled_chart(game, chart, probabilities=None):
    compiled = compile_rules(game, [chart.policy])
    if probabilities is None:
        probabilities = draw_probabilities(game, compiled)
    automaton = CompiledAutomaton(game, compiled, 0)
    return automaton, DealerIndex(automaton, probabilities)


def values(game, chart, probabilities=None, tie_value=0.0):
    return StateValues(*compiled_chart(game, chart, probabilities), tie_value)


@pytest.mark.parametrize("name", PRESETS)
def test_a_round_has_the_solvers_value(name):
    game = named_rules(name)
    for chart in (Solver(game).chart, random_chart(game, 5)):
        if find_endless_split(chart):
            continue
        value, valued = value_chart(*compiled_chart(game, chart))
        assert value == pytest.approx(float(Solver(game).ev(chart.policy).value), abs=1e-12)
        assert valued.start[0] == pytest.approx(value, abs=1e-12)


@settings(FIXED, max_examples=15)
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
    start, h, probabilities = whole.start, 1e-5, whole.dealers.probabilities
    for q in (0, 4, len(probabilities) - 1):
        tilt = h * (np.eye(len(probabilities))[q] - probabilities)
        up, down = (values(game, chart, probabilities + s * tilt) for s in (1, -1))
        parts = [(now, up.at(node), down.at(node)) for node, now in whole._values.items()]
        parts += [(start, up.start, down.start), tuple(one.dealers.outcomes for one in (whole, up, down))]
        for now, more, less in parts:
            assert np.allclose(now[..., 1 + q], (more[..., 0] - less[..., 0]) / (2 * h), atol=1e-6)


@pytest.mark.parametrize("name", PRESETS)
def test_the_dealers_hands_end_as_in_the_exact_solver(name):
    states = States(named_rules(name))
    exact = Dealer(states)
    index = DealerIndex(states, np.array([float(p) for _, p in states.ranks]))
    assert index.columns[0] == "" and {*index.columns[index.acting]} - {""} == {*states.columns}
    for hand, outcomes in zip(index.hands, index.outcomes[..., 0], strict=True):
        expected = exact.outcome_probabilities(hand)
        assert outcomes == pytest.approx([expected.get(outcome, 0) for outcome in states.dealer_outcomes], abs=1e-15)


def test_hands_that_multiply_without_end_have_the_value_0_here():
    game = Rules(max_hands="inf", ten_probability="3/5")
    chart = random_chart(game, 1, 1)
    cells = {place: "P" if place[0] == "TT" else code for place, code in chart.cells.items()}
    multiplying = values(game, type(chart)("tens", game, cells))
    assert np.isfinite(multiplying.start).all()
    pending = {node: ev for node, ev in multiplying._values.items() if isinstance(node, PendingHands)}
    assert any(node.hands == 1 and not ev.any() for node, ev in pending.items())
