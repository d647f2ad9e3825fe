"""Counting by the round table: the same rounds and sums as those of the compiled rules, bit for bit."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.games import FIXED, charts, rules

from bjsim.errors import InputError
from bjsim.sim.engine.compiled_rules import compile_rules
from bjsim.sim.engine.counting import play_shoes, play_units
from bjsim.sim.engine.counting_table import CountingTable
from bjsim.sim.engine.kernels.layout import CHOICE, DOUBLE, HIT, STAND
from bjsim.sim.engine.packed_tables import make_count_lookup, merge_charts
from bjsim.sim.game.cards import NORMAL_TENS
from bjsim.sim.game.presets import named_rules
from bjsim.sim.game.random_stream import stream_key
from bjsim.sim.game.rules import Rules
from bjsim.strategies.charts.chart import Chart
from bjsim.strategies.charts.rows import PAIR, parse_row
from bjsim.strategies.counting.departures import INSURANCE, Departure, Departures
from bjsim.strategies.counting.indices import generate_departures
from bjsim.strategies.counting.ramp import Ramp
from bjsim.strategies.counting.simulate import simulate_count
from bjsim.strategies.counting.systems import find_system
from bjsim.strategies.counting.tables import CountingGame, ready_table
from bjsim.strategies.exact.solver import Solver

pytestmark = pytest.mark.xdist_group("counting")  # one worker compiles its kernel

SIX = named_rules("vegas-s17")
SYSTEMS = ("hilo", "ko", "hiopt2-aces")


def make_table(game: Rules, plays: str = "i18", system: str = "hilo") -> CountingTable:
    """A table at which rounds are not luck-adjusted, with the best chart."""
    departures = Departures.parse(plays, Solver(game.replace(decks="inf")).chart)
    return ready_table(CountingGame(game, find_system(system), departures, adjusted=False)).table


def differ(table: CountingTable, shoes: int = 40, seed: int = 3) -> bool:
    """Whether the round table's rounds, or any of its sums, are not those of the compiled rules."""
    (sums, trace), (others, plain) = (
        play_shoes(each, stream_key(seed, 0, 0), shoes, 10_000) for each in (table, table._replace(lookup=None))
    )
    if trace.shape != plain.shape or (trace != plain).any():
        return True
    return not all(np.array_equal(one, other) for one, other in zip(sums, others, strict=True))


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


@pytest.mark.parametrize(
    ("name", "decks"), [("vegas-h17", 8), ("atlantic-city", 2), ("european", 6), ("single-deck", 1)]
)
def test_the_round_table_plays_the_same_rounds(name: str, decks: int) -> None:
    table = make_table(named_rules(name).replace(decks=decks, seats=1))
    assert (table.lookup is None) == (name == "european")  # where insurance may wait for a card that no hand waits for
    assert not differ(table)


@pytest.mark.parametrize("games", [5, pytest.param(300, marks=pytest.mark.slow)])
def test_random_games_are_played_the_same_by_the_round_table(games: int) -> None:
    """Random rules and cuts, random charts with random index plays, three systems, counts before and during a round."""
    seen: Counter[str] = Counter()

    @settings(FIXED, max_examples=games)
    @given(st.data())
    def check(data: st.DataObject) -> None:
        fixed = {
            "decks": data.draw(st.integers(1, 8)),
            "deck": "standard",
            "ten_probability": NORMAL_TENS,
            "max_hands": data.draw(st.sampled_from([2, 3, 4])),
            "resplit_aces": False,
            "ties": data.draw(st.sampled_from(["push", "lose"])),
            "raises": False,
            "seats": 1,
        }
        game = data.draw(rules(**fixed))
        game = game.replace(insurance=False)
        departures = random_plays(data.draw(charts(game)), data.draw(st.integers(0, 2**32)))
        system = find_system(data.draw(st.sampled_from(SYSTEMS)))
        system = replace(system, timing=data.draw(st.sampled_from(["decision", "round"])))
        table = ready_table(CountingGame(game, system, departures, adjusted=False)).table
        assert not differ(table, 12)
        seen["table"] += table.lookup is not None
        seen["insured"] += bool(table.counter.ace >= 0 and table.lookup is not None)
        seen["choices"] += table.lookup is not None and len(table.lookup.answers) > 5

    check()
    assert min(seen["table"], seen["choices"]) > games // 5
    assert seen["insured"] > 0 or games < 100


def test_a_shoe_that_runs_out_during_a_round_is_played_by_the_compiled_rules() -> None:
    """One deck dealt to the last card: the round goes on in the next shoe, whose later rounds begin there."""
    table = make_table(named_rules("single-deck").replace(cut=1))
    assert table.lookup is not None
    trace = play_shoes(table, stream_key(3, 0, 0), 400, 10_000)[1]
    assert (trace[1:, 3] // 52 > trace[:-1, 3] // 52).sum() > 300  # rounds that end in another deck than the one before
    assert not differ(table, 400)


def test_other_index_plays_are_noticed() -> None:
    """Negative control: with the answers of another index, or of none, rounds differ."""
    table = make_table(SIX, "16vT S>=0")
    assert table.lookup is not None and len(table.lookup.answers) == 1
    other = make_table(SIX, "16vT S>=1").lookup
    for answers in (np.full_like(table.lookup.answers, HIT), table.lookup.answers[:, ::-1]):
        assert differ(table._replace(lookup=table.lookup._replace(answers=np.ascontiguousarray(answers))))
    assert other is not None and not differ(table._replace(lookup=other))  # the counts are the counter's


def test_units_add_up_to_the_same_sums() -> None:
    """Shoes are played four at a time, and units have eight."""
    table = make_table(SIX)
    whole = play_shoes(table, stream_key(1, 0, 0), 21)[0]
    sums, units = play_units(table, stream_key(1, 0, 0), 21, 8)
    assert all(np.array_equal(one, other) for one, other in zip(sums, whole, strict=True))
    assert units.shoes.tolist() == [[4, 4], [4, 4], [3, 2]]
    assert units.sums.sum(axis=0) == pytest.approx(whole.sums)


def test_which_games_are_played_by_the_round_table() -> None:
    """One spot and no other players, splits with a limit, and no luck adjustment."""
    departures = Departures.parse("i18", Solver(SIX).chart)

    def lookup(game: Rules, spots: str = "1", adjusted: bool = False) -> object:
        plays = Departures(departures.base, departures.plays)
        counting = CountingGame(game, find_system("hilo"), plays, spots=Ramp.parse(spots).spots, adjusted=adjusted)
        return ready_table(counting).table.lookup

    assert lookup(SIX) is not None
    assert lookup(SIX, adjusted=True) is None
    assert lookup(SIX, spots="1x2") is None
    assert lookup(SIX.replace(seats=2)) is None
    assert lookup(SIX.replace(max_hands="inf")) is None


@pytest.mark.slow
def test_all_generated_plays_fit_in_a_table() -> None:
    chart = Solver(SIX).chart
    departures = Departures(chart, generate_departures(SIX, find_system("hilo"), chart))
    table = ready_table(CountingGame(SIX, find_system("hilo"), departures, adjusted=False)).table
    assert table.lookup is not None and len(table.lookup.answers) > 50
    assert not differ(table)


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


def test_too_many_choices_have_no_table() -> None:
    """Random charts agree nowhere."""
    compiled = compile_rules(SIX, [Solver(SIX).chart.policy])
    rng = np.random.default_rng(1)
    act = np.repeat(compiled.act, 9, axis=0)
    act[1:, :, :, :10] = np.where(act[1:, :, :, :10] > 0, rng.integers(STAND, DOUBLE, act[1:, :, :, :10].shape), 0)
    assert len(merge_charts(act)[1]) > 255
    assert make_count_lookup(compiled._replace(act=act)) is None


@pytest.mark.slow
def test_a_long_run_is_the_same_with_any_number_of_workers() -> None:
    departures = Departures.parse("i18", Solver(SIX).chart)
    one, two = (
        simulate_count(SIX, find_system("hilo"), departures, 1e6, seed=2, workers=workers, adjusted=False)
        for workers in (1, 2)
    )
    assert all(np.array_equal(a, b) for a, b in zip(one.sums, two.sums, strict=True))
