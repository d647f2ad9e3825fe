"""The player that raises: its stakes against brute force, its mean against an exact figure, and its errors."""

import math
from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from support.brute import Brute

from bjsim.errors import RunFailed
from bjsim.request import play
from bjsim.sim.game.actions import STAND, View, raise_by
from bjsim.sim.game.automaton import Finished
from bjsim.sim.game.cards import Hand
from bjsim.sim.game.events import Acted
from bjsim.sim.game.hand_states import HandState
from bjsim.sim.game.presets import named_rules
from bjsim.sim.game.round import Round
from bjsim.sim.game.shoe import ScriptedShoe, Stream, open_shoe
from bjsim.strategies.exact.solver import Solver
from bjsim.strategies.players.catalogue import Kelly, find_player

CARDSHARK = named_rules("cardshark")
ENDLESS = CARDSHARK.replace(decks="infinite", seats=1)
KELLY = Kelly(CARDSHARK)
SOLVER = Solver(CARDSHARK, Fraction)


def standing(player):
    """Every hand that the chart stands on: its result, and the column."""
    states = player.chart.states
    for column in states.columns:
        for state in states.reachable():
            if (legal := states.legal(state)) and player.chart.policy(state, column, legal) == "S":
                yield states.result(state), column


@pytest.mark.parametrize(
    "rules", [CARDSHARK, CARDSHARK.replace(ties="push"), CARDSHARK.replace(bonuses="win")], ids=str
)
def test_no_other_share_lets_the_chips_grow_faster(rules):
    """The expected logarithm of the chips after a stand, with its share and with others."""
    player, columns, raised = Kelly(rules), Solver(rules).columns, 0
    for result, column in set(standing(player)):
        probabilities = columns[column].probabilities
        profits = {outcome: float(player.chart.states.settle(result, 1, outcome)[0]) for outcome in probabilities}

        def growth(share, probabilities=probabilities, profits=profits):
            return sum(chance * math.log1p(share * profits[outcome]) for outcome, chance in probabilities.items())

        best = max(0.0, float(player.share(result, column)))
        raised += best > 0
        others = {0.0, max(0.0, best - 0.02), min(0.98, best + 0.02), 0.1, 0.3, 0.5, 0.7, 0.9} - {best}
        assert all(growth(share) < growth(best) for share in others)
    assert raised > 20


def test_worked_shares():
    """Even money, ties lost: the share is the probability of a win less that of a loss, the value of standing."""
    for column in SOLVER.columns:
        for points in (17, 18, 19, 20):
            result = SOLVER.states.result(HandState(points, False, 3))
            ev = SOLVER.best[column].at(Finished(result))
            assert KELLY.share(result, column) == ev
    twenty = SOLVER.states.result(HandState(20, False, 3))
    beaten = sum(p for end, p in Brute(Fraction(4, 13), 10).dealer.items() if end in (17, 18, 19, 22))  # 22: bust
    assert float(KELLY.share(twenty, "T")) == pytest.approx(1 - 2 * (1 - beaten), abs=1e-12)


def test_it_raises_once_and_then_stands():
    events = Round(CARDSHARK, ScriptedShoe("T 9 T 8 T", "shoe"), 1).play([KELLY]).events
    share = KELLY.share(SOLVER.states.result(HandState(20, False, 2)), "9")
    actions = [str(event.action) for event in events if isinstance(event, Acted)]
    assert actions == [f"B {int(share * 200) - 10}", "S"]


@given(
    hand=st.text("A23456789TJQK", min_size=2, max_size=5),
    shown=st.sampled_from("A23456789TJQK"),
    stake=st.integers(1, 10**6),
    chips=st.integers(0, 10**6),
)
def test_it_never_bets_what_it_has_not(hand, shown, stake, chips):
    assume(Hand(*hand).points < 21)
    view = View(CARDSHARK, 0, hand, shown, f"{shown}#{hand}", stake, chips, "SHB")
    action = KELLY.decide(view)
    if action.letter == "B":
        assert 0 < action.amount <= chips
        then = view._replace(stake=stake + action.amount, chips=chips - action.amount)
        assert KELLY.decide(then) == STAND


def exact_return(rules):
    """Its profit in a round of the infinite shoe, in initial bets, with its initial chips."""
    player, solver = Kelly(rules), Solver(rules)
    states, total = player.chart.states, 0.0
    for column in solver.columns.values():
        means = solver.best[column.label]

        def value(state, column=column, means=means):
            legal = states.legal(state)
            if not legal:
                return float(means.at(Finished(states.result(state))))
            letter = player.chart.policy(state, column.label, legal)
            if letter == "H":
                bare = states.bare(state)
                return sum(float(p) * value(states.add(bare, rank)) for rank, p in states.ranks)
            if letter == "S":
                result = states.result(state)
                stake = max(rules.buy_in, int(player.share(result, column.label) * rules.chips))
                return stake / rules.buy_in * float(means.at(Finished(result)))
            return float(means.act(state, letter))

        total += float(column.probability) * sum(float(p) * value(start) for start, p in states.starts.items())
    return total


def test_raises_earn_their_expected_value():
    """One test at |z| < 4.5, an error rate of 7e-6. Negative control: without the raises the figure differs."""
    shoe, player, n = open_shoe(ENDLESS, Stream(5)), Kelly(ENDLESS), 30_000
    won = [float(Round(ENDLESS, shoe, 1).play([player]).net[0]) for _ in range(n)]
    mean = sum(won) / n
    se = math.sqrt(sum((x - mean) ** 2 for x in won) / n / n)
    assert abs(mean - exact_return(ENDLESS)) < 4.5 * se
    assert abs(mean - float(Solver(ENDLESS).value)) > 10 * se


def test_it_is_found_by_its_name():
    player = find_player("kelly", CARDSHARK)
    view = View(CARDSHARK, 0, "TT", "6", "6#TT", 10, 190, "SHDB")
    assert player.decide(view) == raise_by(player.decide(view).amount) and player.decide(view).amount > 50
    assert player.decide(view._replace(legal="SHD")) == STAND


def test_winnings_too_large_to_be_counted_are_refused_and_not_counted_wrong():
    with pytest.raises(RunFailed, match="too large to count; play with fewer chips"):
        play(CARDSHARK.replace(chips=5 * 10**9), ["kelly"], hands=2000)
