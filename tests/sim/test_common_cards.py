"""Common random numbers: bots have the same results as alone, and their differences are more precise."""

from __future__ import annotations

import numpy as np
import pytest

from bjsim.sim.game.presets import named_rules
from bjsim.sim.game.rules import Rules
from bjsim.sim.running.blocks import Span
from bjsim.sim.running.driver import Driver
from bjsim.sim.running.executors import local
from bjsim.sim.running.readable_table import ReadableTable
from bjsim.sim.stats.tally import Tally
from bjsim.strategies.experiment import make_experiment, make_results, make_table
from bjsim.strategies.players.find import find_player
from bjsim.strategies.results import make_differences


def make_players(rules: Rules, *names: str) -> list:
    return [find_player(name, rules) for name in names]


@pytest.mark.parametrize("name", ["easy", "vegas-s17", "neller"])
@pytest.mark.slow_cases("vegas-s17")
def test_each_bot_wins_what_it_wins_alone(name: str) -> None:
    rules = named_rules(name)
    bots = make_players(rules, "optimal", "lim17")
    together = Driver(make_experiment(rules, bots, 5000, 7, common_cards=True)).run()
    for bot, tally in zip(bots, together.tallies, strict=True):
        alone = Driver(make_experiment(rules, [bot], 5000, 7)).run()
        assert (tally.counts, tally.luck) == (alone.tallies[0].counts, alone.tallies[0].luck)


@pytest.mark.parametrize("name", ["easy", "vegas-s17", "cardshark"])
def test_readable_and_compiled_tables_agree(name: str) -> None:
    """Payoffs and cards dealt, round by round; the shoe of cardshark often runs out."""
    rules = named_rules(name).replace(seats=1)
    [bot] = make_players(rules, "lim17")
    span = Span(3, 400)
    readable, trace = ReadableTable(rules, [bot]).play_traced(5, 2, span)
    compiled, other = make_table(rules, [bot]).play_traced(5, 2, span)
    assert (trace == other).all()
    assert readable == compiled
    assert np.diff(trace[:, -1]).min() >= 3


def test_the_difference_is_that_of_the_means_and_known_better() -> None:
    rules = named_rules("vegas-s17")
    bots = make_players(rules, "optimal", "hoyle", "lim17")
    experiment = make_experiment(rules, bots, 60_000, 1, common_cards=True)
    results = make_results(experiment, bots, Driver(experiment, local(2)).run())
    differences = make_differences(results)
    assert [(d.one.name, d.other.name) for d in differences] == [
        ("optimal", "hoyle"), ("optimal", "lim17"), ("hoyle", "lim17"),
    ]  # fmt: skip
    for difference in differences:
        raw = difference.one.tally.mean - difference.other.tally.mean
        assert difference.pair.mean == pytest.approx(raw, abs=1e-12)
        assert difference.pair.se < 0.9 * difference.apart
        assert difference.adjusted
        low, high = difference.adjusted.anytime95
        assert low < difference.adjusted.mean < high
        assert high - low < 0.1 * (difference.anytime95[1] - difference.anytime95[0])


def test_a_bot_against_itself_is_the_same_for_certain() -> None:
    rules = named_rules("easy")
    bots = make_players(rules, "lim17", "lim17")
    experiment = make_experiment(rules, bots, 30_000, 1, common_cards=True)
    [difference] = make_differences(make_results(experiment, bots, Driver(experiment).run()))
    assert (difference.pair.mean, difference.pair.se) == (0, 0)


def test_bots_with_cards_of_their_own_are_not_compared() -> None:
    rules = named_rules("easy")
    bots = make_players(rules, "optimal", "lim17")
    experiment = make_experiment(rules, bots, 2000, 1)
    assert make_differences(make_results(experiment, bots, Driver(experiment).run())) == []


def test_a_tally_with_pairs_is_read_back() -> None:
    rules = named_rules("easy")
    experiment = make_experiment(rules, make_players(rules, "optimal", "lim17"), 2000, 1, common_cards=True)
    for tally in Driver(experiment).run().tallies:
        assert Tally.from_json(tally.to_json()) == tally
