"""Counting by the round table: the same rounds as those of a counter in Python, bit for bit."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.counters import at_a_table, play_shoes
from support.games import charts, rules

from bjsim.errors import InputError
from bjsim.sim.engine.kernels.arrays import SeatRows
from bjsim.sim.engine.kernels.layout import CHOICE, DOUBLE, HIT, STAND
from bjsim.sim.engine.pack import merge_charts
from bjsim.sim.game.cards import NORMAL_TENS
from bjsim.sim.game.presets import named_rules
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.shoe import stream_key
from bjsim.strategies.charts.chart import PAIR, Chart, parse_row
from bjsim.strategies.counting.departures import Departures
from bjsim.strategies.counting.indices import generate_departures
from bjsim.strategies.counting.ramp import Ramp
from bjsim.strategies.counting.system import find_system
from bjsim.strategies.counting.tables import CountingGame, ready_table
from bjsim.strategies.exact.solver import Solver
from bjsim.strategies.formats.plays import INSURANCE, Departure

SIX = named_rules("vegas-s17")
SYSTEMS = ("hilo", "ko", "halves", "hiopt2-aces", "omega2-aces")
KEY = (3, 0, 0)


def make_game(game: Rules, plays: str = "i18", spots: str = "1") -> CountingGame:
    """A game in which rounds are not luck-adjusted, with the best chart."""
    departures = Departures.parse(plays, Solver(game).chart)
    return CountingGame(game, find_system("hilo"), departures, spots=Ramp.parse(spots).spots, adjusted=False)


def differ(game: CountingGame, rounds: int, moves: SeatRows | None = None) -> bool:
    """Whether the rounds of the round table, or of another one, are not those of the counter in Python."""
    table, first = ready_table(game)
    if moves:
        table = replace(table, layout=table.layout._replace(moves=moves))
    trace = play_shoes(table, stream_key(*KEY), rounds, rounds)[1][:rounds]
    expected = at_a_table(game, KEY, rounds)
    expected[:, 0] = np.clip(expected[:, 0] - first, 0, len(table.count.spots) - 1)  # the bucket
    played = np.arange(trace.shape[1] - 2) < expected[:, -1:]
    return bool((trace[:, :2] != expected[:, [0, -2]]).any() or ((trace[:, 2:] != expected[:, 1:-2]) & played).any())


def random_plays(chart: Chart, seed: int) -> Departures:
    """Index plays in an eighth of the cells that accept them, at counts that are common, and insurance."""
    rng = random.Random(seed)
    plays = [Departure(INSURANCE, "", "I", ">=", Fraction(rng.randint(-2, 1)))]
    for row, column in chart.cells:
        if rng.random() < 0.125:
            action = rng.choice("SHDR" + "P" * (parse_row(row).kind == PAIR))
            play = Departure(row, column, action, rng.choice(("<", ">=")), Fraction(rng.randint(-2, 2)))
            try:
                plays = list(Departures(chart, (*plays, play)).plays)
            except InputError:  # the cell cannot combine these actions
                continue
    return Departures(chart, tuple(plays))


@pytest.mark.parametrize("games", [3, pytest.param(100, marks=pytest.mark.slow)])
def test_random_games_are_played_as_by_a_counter_in_python(games: int) -> None:
    """Random rules, cuts, spots and players, random charts with random index plays, five systems, both timings."""
    seen: Counter[str] = Counter()

    @settings(max_examples=games)
    @given(st.data())
    def check(data: st.DataObject) -> None:
        fixed = {
            "decks": data.draw(st.integers(1, 8)),
            "deck": "standard",
            "ten_probability": NORMAL_TENS,
            "max_hands": data.draw(st.sampled_from([2, 3, 4])),
            "ties": data.draw(st.sampled_from(["push", "lose"])),
            "raises": False,
            "attack": False,  # which is not counted
            "seats": 1,
        }
        game = data.draw(rules(**fixed))
        departures = random_plays(data.draw(charts(game)), data.draw(st.integers(0, 2**32)))
        # the readable round keeps the answer to an early surrender for the first action, a counter decides when it acts
        alone = game.surrender.startswith("early")
        game = game.replace(seats=1 if alone else data.draw(st.integers(1, 4)))
        spots = Ramp.parse("1" if alone else data.draw(st.sampled_from(["1", "1", "1x2", "0:1x2 1:1"]))).spots
        timing = data.draw(st.sampled_from(["decision", "round"]))
        system = replace(find_system(data.draw(st.sampled_from(SYSTEMS))), timing=timing)
        made = CountingGame(game, system, departures, (-60, 60), spots, adjusted=False)
        assert not differ(made, 100)
        seen["insured"] += any(map(departures.insured_at, departures.span))
        seen["choices"] += len(ready_table(made).table.layout.moves.answers) > 5

    check()
    assert seen["choices"] > games // 5
    assert seen["insured"] > 0 or games < 100


@pytest.mark.parametrize(
    ("changes", "plays", "spots"),
    [
        ({}, "i18", "1"),
        ({"seats": 3}, "i18", "1x2"),
        ({"seats": 3, "surrender": "early"}, "none", "1x3"),  # the shoe runs out even during the deal
    ],
)
def test_a_round_in_which_the_shoe_runs_out_goes_on_in_the_next(
    changes: dict[str, object], plays: str, spots: str
) -> None:
    """One deck dealt to the last card: the later rounds of the next shoe begin where that round ends."""
    game = make_game(named_rules("single-deck").replace(cut=1, **changes), plays, spots)
    trace = play_shoes(ready_table(game).table, stream_key(*KEY), 400, 2500)[1]
    assert (trace[1:, 1] // 52 > trace[:-1, 1] // 52).sum() > 200  # rounds that end in another deck than the one before
    assert not differ(game, 2500)


def test_other_index_plays_are_noticed() -> None:
    """Negative control: with the answers of another index, or of none, rounds differ."""
    game = make_game(SIX, "16vT S>=0")
    moves = ready_table(game).table.layout.moves
    assert len(moves.answers) == 1
    for answers in (np.full_like(moves.answers, HIT), moves.answers[:, ::-1]):
        assert differ(game, 1500, moves._replace(answers=answers))
    assert not differ(
        game, 1500, ready_table(make_game(SIX, "16vT S>=1")).table.layout.moves
    )  # the counts are the counter's


@pytest.mark.slow
def test_all_generated_plays_fit_in_a_table() -> None:
    chart = Solver(SIX).chart
    departures = Departures(chart, generate_departures(SIX, find_system("hilo"), chart))
    game = CountingGame(SIX, find_system("hilo"), departures, adjusted=False)
    assert len(ready_table(game).table.layout.moves.answers) > 50
    assert not differ(game, 10_000)


def test_charts_are_merged_where_they_agree() -> None:
    act = np.zeros((3, 2, 4, 2), np.int64)
    act[:, 1, 2, 0] = HIT, HIT, STAND
    act[:, 0, 3, 1] = HIT, HIT, STAND
    act[:, 1, 3, 1] = DOUBLE, HIT, STAND
    act[:, 1, 1, 1] = STAND
    merged, answers = merge_charts(act)
    assert merged[0, 1, 1, 1] == STAND and merged[0, 0, 0, 0] == 0
    assert answers.tolist() == [[HIT, HIT, STAND], [DOUBLE, HIT, STAND]]
    assert merged[0, 1, 2, 0] == merged[0, 0, 3, 1] == CHOICE + (1 << HIT) + (1 << STAND)
    assert merged[0, 1, 3, 1] == 2 * CHOICE + (1 << HIT) + (1 << STAND) + (1 << DOUBLE)
