"""Leaving: a counter who leaves at a low count plays the first rounds of every shoe, and no others."""

import math
from fractions import Fraction

import numpy as np
import pytest
from support.counters import play_shoes, simulate_count

from bjsim.errors import InputError
from bjsim.sim.engine.kernels.arrays import LEFT
from bjsim.sim.game.presets import named_rules
from bjsim.sim.game.shoe import stream_key
from bjsim.strategies.counting.count_files import load_count_run, save_count_run
from bjsim.strategies.counting.count_run import CountRun
from bjsim.strategies.counting.departures import Departures
from bjsim.strategies.counting.ramp import Ramp
from bjsim.strategies.counting.request import CountRequest
from bjsim.strategies.counting.result import CountResult
from bjsim.strategies.counting.returns import ramp_returns
from bjsim.strategies.counting.system import find_system
from bjsim.strategies.counting.tables import CountingGame, ready_table
from bjsim.strategies.exact.solver import Solver

SIX = named_rules("vegas-s17").replace(max_hands=2)
HILO = find_system("hilo")
PLAYS = Departures.parse("i18", Solver(SIX).chart)


def test_the_rounds_of_a_shoe_end_where_the_counter_leaves():
    """The shoes are those of a counter who stays: the same bets, payoffs and insurance up to the count of -1."""
    shoes, key = 200, stream_key(3, 0, 5)
    whole, leaving = (
        ready_table(CountingGame(SIX, HILO, PLAYS, None, adjusted=False, span=(-9, 9), leave=leave))
        for leave in (None, -1)
    )
    trace = play_shoes(whole.table, key, shoes, 12_000)[1]
    kept, begun, left, gone = [], 0, False, 0
    for bucket, dealt, *paid in trace:
        left = left or bucket + whole.first <= -1
        if not left:
            kept.append([bucket + whole.first, *paid])
        if dealt - begun >= SIX.cut_cards:
            begun, left, gone = dealt, False, gone + left
    sums, found = play_shoes(leaving.table, key, shoes, 12_000)
    rounds = np.column_stack([found[:, 0] + leaving.first, found[:, 2:]])
    assert 1000 < len(kept) < len(trace) / 4
    assert rounds.tolist() == kept
    assert sums.raw[0, LEFT] == gone > 150


@pytest.mark.parametrize(("rounding", "said"), [("floor", "at -1 or below for"), ("exact", "below, rounded down, for")])
def test_the_count_to_leave_is_rounded_down_where_counts_are_not_whole(rounding, said):
    game = CountingGame(SIX, HILO.replace(rounding=rounding), PLAYS, leave=-1)
    assert said in CountRun(game, 0, None, 0, 1, 0.0).description


@pytest.mark.slow
def test_the_adjusted_return_is_that_of_the_rounds_as_they_were():
    """Within four standard errors; one who stays earns less by more than that."""

    def returns(rounds: float, adjusted: bool, leave: int | None = -1):
        run = simulate_count(SIX, HILO, PLAYS, rounds, seed=3, adjusted=adjusted, leave=leave)
        return ramp_returns(run.returns, np.array(Ramp.parse("1-12").units(run.counts))), run

    (adjusted, run), (plain, _), (stays, _) = returns(1e5, True), returns(1e6, False), returns(5e4, True, None)
    assert adjusted.error is not None and plain.error is not None
    error = np.sqrt(adjusted.error[0, 0] + plain.error[0, 0])
    assert abs(adjusted.ev - plain.ev) < 4 * error
    assert plain.ev - stays.ev > 4 * error
    assert run.labels[0] == "0" and run.labels[1] == "+1" and run.rounds_per_shoe < 10


def test_a_stored_run_keeps_where_it_leaves(tmp_path):
    run = simulate_count(SIX, HILO, PLAYS, 1000, leave=-2)
    save_count_run(run, tmp_path / "run.count")
    again = load_count_run(tmp_path / "run.count")
    assert again.game.leave == -2 and again.labels == run.labels and run.labels[0] == "-1"


@pytest.mark.parametrize("leave", [0, 5, -99])
def test_a_count_at_which_nobody_can_begin(leave):
    with pytest.raises(InputError, match=f"leave = {leave} is not accepted; use a count below that of a fresh shoe"):
        CountingGame(SIX, HILO, PLAYS, leave=leave)


def test_a_shoe_that_is_left_costs_minutes():
    run = simulate_count(SIX, HILO, PLAYS, 2e4, seed=3, leave=-1)
    found, free = (CountResult.of(run, CountRequest(SIX, leave=-1, leave_minutes=m)) for m in (5, 0))
    hours = run.rounds / 100 + int(run.sums.raw[:, LEFT].sum()) * 5 / 60
    assert found["ev_per_hour"].value == pytest.approx(found["ev_per_round"].value * run.rounds / hours)
    assert found.terms.rounds_per_hour == pytest.approx(run.rounds / hours) and free.terms.rounds_per_hour == 100
    assert free["score"].value == found["score"].value and "5 minutes each (leave_minutes)" in found.notes[0]
    assert not CountResult.of(simulate_count(SIX, HILO, PLAYS, 2e4), CountRequest(SIX)).notes
    with pytest.raises(InputError, match="leave_minutes=-1 is not accepted"):
        CountRequest(SIX, leave=-1, leave_minutes=-1)


@pytest.mark.parametrize("initial", ["0", "1/2", "7/4"])
def test_no_count_of_a_fresh_shoe_is_left(initial: str) -> None:
    """It is rounded down, as the count at which a player leaves."""
    system = find_system("hilo").replace(initial=initial, divisor="none")
    fresh = math.floor(Fraction(initial))
    rules = named_rules("vegas-s17")
    with pytest.raises(InputError, match=f"below that of a fresh shoe, {fresh}"):
        CountingGame(rules, system, Departures(Solver(rules).chart), leave=fresh)
