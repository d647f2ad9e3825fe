"""The readable round and the compiled round deal the same cards and pay the same, round by round."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import seed as hypothesis_seed
from hypothesis import strategies as st
from numba import types
from support.engines import UNLIKELY, differences, play_rounds
from support.games import CODE_WEIGHTS, random_chart, rules, slow, splits_everything
from support.unusual import MORE, PLAIN, UNUSUAL

import bjsim
from bjsim.errors import EndlessSplitting
from bjsim.sim.engine.compiled_rules import compile_rules, payoff_code
from bjsim.sim.engine.counting import play_units
from bjsim.sim.engine.kernels import arrays, layout, plain, walk
from bjsim.sim.engine.kernels.layout import HIT, RUNAWAY, STAND, TIED, CompiledRules
from bjsim.sim.engine.pack import pack_plain
from bjsim.sim.engine.round_table import make_round_tables
from bjsim.sim.engine.rounds import play_plain
from bjsim.sim.engine.transitions import Transitions
from bjsim.sim.game.presets import named_rules
from bjsim.sim.game.rules import RULE_FIELDS, Rules
from bjsim.sim.game.shoe import stream_key
from bjsim.sim.running.compiled_table import AdjustedTable, CompiledTable
from bjsim.sim.running.table import ReadableTable, Span
from bjsim.strategies.charts.chart import Chart, make_chart
from bjsim.strategies.counting.departures import Departures
from bjsim.strategies.counting.system import find_system
from bjsim.strategies.counting.tables import CountingGame, ready_table
from bjsim.strategies.exact.solver import Solver


@pytest.mark.parametrize("games", [12, slow(100)])
def test_the_table_pays_what_the_readable_round_pays_in_random_games(games: int) -> None:
    """Random rules, and for each seat a chart of random codes; 100 rounds of each.

    A case is a set of rules, charts and cards. Hypothesis repeats parts of cases, so that fewer rules are different.
    """
    seen: Counter[str] = Counter()
    cases: set[tuple[Rules, tuple[int, ...], tuple[int, int, int]]] = set()

    @hypothesis_seed(4)  # with small games, and the same whatever is edited here
    @settings(max_examples=games + games // 4)
    @given(st.data())
    def check(data: st.DataObject) -> None:
        game = data.draw(rules())
        seeds = data.draw(st.lists(st.integers(0, 2**32), min_size=game.seats, max_size=game.seats))
        key = data.draw(st.tuples(st.integers(0, 2**64), st.integers(0, 999), st.integers(0, 2**40)))
        if len(cases) == games or (game, tuple(seeds), key) in cases:
            return
        seats = [random_chart(game, seed, seed % len(CODE_WEIGHTS)) for seed in seeds]
        cases.add((game, tuple(seeds), key))
        whole = games == 100 and len(cases) % 4 == 0 and game.most_hands <= 4  # of many hands tables take long to make
        assert differences(game, seats, key, rounds=100, seen=seen, unlikely=None if whole else UNLIKELY) == []

    check()
    assert len(cases) == games
    assert len({case[0] for case in cases}) >= games // 3
    if games < 100:  # too few for all events
        return
    everything = {  # but for insurance, which test_walkers.py sees, and many hands, which the long runs see
        "charlie", "natural", "21", "bust", "stood", "surrendered", *"SHDPR", "none", "replayed", "hidden", "shown",
        "shuffle", "2 hands", "shoe ran out", "-1/2", "-2", "3/2", "6/5",
    }  # fmt: skip
    rare = {sight: seen[sight] for sight in everything if seen[sight] < 5}
    assert not rare, f"hardly ever seen: {rare}"


@pytest.mark.slow
def test_a_doubled_hand_waits_though_its_bonus_would_not() -> None:
    """In Super Fun 21 without a rescue, a doubled 21 in five cards waits for the dealer, one in six cards does not."""
    game = named_rules("super-fun-21").replace(surrender_after_double=False)
    for seed in range(4):
        assert differences(game, [random_chart(game, seed, seed)], (5, 0, 0), rounds=3000) == []


def test_there_may_be_more_payoffs_than_hands() -> None:
    """With bets doubled before the deal and insured, and no splits or doubles."""
    fields = {"attack": True, "deal": "dppd", "insurance": True, "split_by": "never", "double_on": "never"}
    game = named_rules("vegas-s17").replace(decks="inf", bonuses="win", surrender="late", **fields)
    seats = [random_chart(game, 16, 4)]
    compiled = compile_rules(game, [seats[0].policy])
    assert len(Transitions(compiled).vectors.codes) > len(compiled.add)
    assert differences(game, seats, (5, 0, 0), rounds=300) == []


@pytest.mark.slow
def test_random_rules_have_every_value() -> None:
    """Those of other random games, and of fields with many values several."""
    played: set[tuple[str, object]] = set()

    @settings(max_examples=2000)
    @given(rules())
    def draw(game: Rules) -> None:
        played.update(game.to_dict().items())

    draw()
    assert {field for field, _ in played} >= set(RULE_FIELDS)
    fixed = {field for field in RULE_FIELDS if len({value for name, value in played if name == field}) < 2} - {
        "exchange"
    }
    assert not fixed, f"fields that never change: {fixed}"
    drawn = {(field, str(value)) for field, value in played}
    wanted = {(name, str(value)) for name, values in (*UNUSUAL.items(), *MORE.items()) for value in values}
    wanted |= {(name, str(PLAIN.to_dict()[name])) for name in UNUSUAL} | {("max_ace_hands", "inf")}
    never = {("free_splits", "A23456789T"), ("no_hole_loses", "original-and-busted")}
    assert {each for each in wanted - drawn if each[0] != "double_on"} == never  # that has many ranges
    kinds = Counter(field for field, _ in played)
    assert kinds["double_on"] >= 20 and kinds["ten_probability"] >= 6
    assert kinds["decks"] >= 5 and kinds["deal"] >= 6 and kinds["seats"] >= 5


def hits_to_21(game: Rules) -> Chart:
    """Draws as long as possible."""
    return make_chart("hits to 21", game, lambda row, column: "H")


@pytest.mark.parametrize(
    ("fields", "chart", "rounds"),
    [
        slow({"decks": 8, "max_hands": 16, "resplit_aces": True, "hit_split_aces": True}, splits_everything, 3000),
        slow({"decks": 1, "max_hands": 16, "resplit_aces": True, "seats": 7}, splits_everything, 700),
        ({"decks": 8, "max_hands": 2, "max_ace_hands": 8, "resplit_aces": True, "cut": "1/2"}, splits_everything, 3000),
        ({"decks": 6, "max_hands": "inf", "turns": "round-robin", "seats": 7}, splits_everything, 700),
        ({"max_hands": "inf", "ten_probability": "45/100", "ties": "replay"}, splits_everything, 3000),
        ({"max_hands": "inf", "ten_probability": "2/5", "seats": 7, "split_tens_blackjack": 1}, splits_everything, 500),
        ({"max_hands": 16, "ten_probability": "9/10", "dealer_shows": "both", "peek": True}, splits_everything, 1500),
        slow(
            {"max_hands": 8, "ten_probability": "1/100", "bonuses": "win", "resplit_aces": 1}, splits_everything, 4000
        ),
        ({"max_hands": "inf", "split_by": "rank", "ten_probability": "19/20", "ties": "lose"}, splits_everything, 2000),
        slow({"decks": 8, "max_hands": 8, "no_hole_loses": "original", "seats": 2}, splits_everything, 3000),
        ({"max_hands": 8, "no_hole_loses": "original", "charlie": 5, "deal": "pdp"}, splits_everything, 3000),
        slow({"decks": 8, "max_hands": 8, "no_hole_loses": "busted-plus-one", "seats": 2}, splits_everything, 3000),
        slow(
            {"max_hands": 8, "no_hole_loses": "busted-plus-one", "charlie": 5, "ties": "lose"}, splits_everything, 3000
        ),
        ({"decks": 1, "seats": 7, "stand_on_21": False, "naturals": "none"}, hits_to_21, 700),
        ({"decks": 1, "seats": 7, "stand_on_21": False, "turns": "round-robin", "bonuses": "at-once"}, hits_to_21, 700),
        ({"decks": 1, "seats": 7, "cut": "1/52", "deal": "ppd", "peek": False}, hits_to_21, 700),
    ],
)  # fmt: skip
def test_both_engines_pay_the_same_over_long_runs(
    fields: dict[str, Any], chart: Callable[[Rules], Chart], rounds: int
) -> None:
    """Many splits, shoes that run out during rounds, and a full table."""
    game = Rules(**fields)
    seen: Counter[str] = Counter()
    assert differences(game, [chart(game)] * game.seats, (2024, 3, 5), rounds, seen=seen) == []
    if chart is splits_everything and game.max_hands > 2:
        assert seen["5 hands"] >= 5
        assert seen["9 hands"] >= 5 or game.max_hands < 9
    if game.decks == 1 and game.cut == 1:
        assert seen["shoe ran out"] >= 100


def corrupt(compiled: CompiledRules, array: str, rng: random.Random) -> CompiledRules:
    """A copy of the compiled rules with one wrong cell (in a transition table, two swapped cells)."""
    cells = getattr(compiled, array).copy()
    if array in ("add", "dealer_add"):
        row, low, high = rng.randrange(len(cells)), *rng.sample(range(10), 2)
        cells[row, [low, high]] = cells[row, [high, low]]
    elif array == "act":
        place = rng.choice(np.argwhere(cells == HIT).tolist())
        cells[tuple(place)] = STAND
    elif array == "column":
        cells[0, rng.choice(np.flatnonzero(cells[0]).tolist())] -= 1
    else:
        cells[tuple(rng.choice(np.argwhere(cells).tolist()))] += 1
    return compiled._replace(**{array: cells})


@pytest.mark.parametrize("array", ["add", "act", "pay", "dealer_add", "column"])
def test_compiled_rules_with_one_wrong_cell_are_caught(array: str) -> None:
    """Negative control: at least one of six wrong cells must be detected, as few rounds do not reach all cells."""
    game = named_rules("vegas-s17").replace(decks="inf")
    chart = Solver(game).chart
    compiled = compile_rules(game, [chart.policy])
    rng = random.Random(1)
    assert any(differences(game, [chart], (1, 0, 0), 1000, corrupt(compiled, array, rng)) for _ in range(6))
    assert differences(game, [chart], (1, 0, 0), 1000, compiled) == []


def test_the_stream_decides_the_cards() -> None:
    """Negative control: with another seed, table or block the rounds differ."""
    game = named_rules("easy")
    compiled = compile_rules(game, [Solver(game).chart.policy])
    base = play_rounds(compiled, stream_key(1, 2, 3), 50, 50)[2]
    for key in ((2, 2, 3), (1, 3, 3), (1, 2, 4), (3, 2, 1)):
        assert (play_rounds(compiled, stream_key(*key), 50, 50)[2] != base).any()
    assert (play_rounds(compiled, stream_key(1, 2, 3), 900, 50)[2] == base).all()


def test_splits_without_end_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """If tens have a probability above 1/2 and are always split, the hands of a seat multiply without end."""
    game = Rules(max_hands="inf", ten_probability="9/10")  # type: ignore[arg-type]
    compiled = compile_rules(game, [splits_everything(game).policy])
    monkeypatch.setattr("bjsim.sim.game.round.RUNAWAY", 1000)  # to be reached in a second
    readable = ReadableTable(game, [splits_everything(game)])
    for table in (readable, CompiledTable(compiled, readable)):
        with pytest.raises(EndlessSplitting, match=f"{RUNAWAY:,} hands"):
            table.play(1, 0, [Span(0, 100)])


def test_the_readable_round_stops_above_the_limit_on_hands(monkeypatch: pytest.MonkeyPatch) -> None:
    game = Rules(max_hands="inf", decks=8)  # type: ignore[arg-type]
    table = ReadableTable(game, [splits_everything(game)])
    tens, nines = [9] * 10, [8] * 8  # two tens for the dealer; seven splits, then eight hands of 19
    monkeypatch.setattr("bjsim.sim.game.round.RUNAWAY", 8)
    assert table.play_round(iter(tens + nines)) == ([payoff_code(Fraction(-8), 0, game.unit)], 18)
    monkeypatch.setattr("bjsim.sim.game.round.RUNAWAY", 7)
    with pytest.raises(EndlessSplitting):
        table.play_round(iter(tens + nines))


def test_a_strategy_must_answer_what_is_allowed() -> None:
    game = named_rules("vegas-s17")
    for wrong in ("R", "X", ""):
        with pytest.raises(ValueError, match=f"a strategy chose {wrong} of"):
            compile_rules(game, [lambda state, column, legal, wrong=wrong: wrong])  # type: ignore[misc]


def test_payoffs_are_whole_units() -> None:
    game = Rules(blackjack_pays="6/5")  # type: ignore[arg-type]
    assert payoff_code(game.blackjack_pays, 0, game.unit) == 6
    assert payoff_code(-game.blackjack_pays, 2, game.unit) == 2 * TIED - 6
    with pytest.raises(ValueError, match="is not a whole number of units"):
        payoff_code(game.blackjack_pays, 0, game.unit * 4)


@pytest.mark.slow
def test_what_kernels_are_given_is_defined_among_them() -> None:
    """A class defined elsewhere could change without changing the stamp of numba's cache."""
    game = named_rules("vegas-s17").replace(seats=1)
    chart = random_chart(game, 1)
    compiled = compile_rules(game, [chart.policy])
    tables = make_round_tables(compiled)
    play_plain(compiled, pack_plain(tables[0][0]), [stream_key(1, 0, 0)], [10])
    AdjustedTable(compiled, ReadableTable(game, [chart])).prepare(math.inf)
    bare = game.replace(split_by="never")
    counted = CountingGame(bare, find_system("hilo"), Departures(Solver(bare).chart), adjusted=False)
    play_units(ready_table(counted).table, np.array([stream_key(1, 0, 0)], np.uint64), 2, 2, kernel=True)
    kernels = (plain.play_plain, walk.walk)
    given = [kind for kernel in kernels for signature in kernel.signatures for kind in signature]  # type: ignore[union-attr]
    classes = {kind.instance_class for kind in given if isinstance(kind, types.NamedTuple)}
    assert {"ShoeArrays", "PlainTable", "PlainWork", "Luck", "Counter"} <= {each.__name__ for each in classes}
    assert {each.__module__ for each in classes} == {layout.__name__, arrays.__name__}


@pytest.mark.parametrize("doubles", [slow(1), slow(2), 3])
@pytest.mark.parametrize("changes", [slow({}), {"seats": 2, "split_by": "never"}, slow({"max_hands": 2, "seats": 2})])
def test_all_bets_that_tie_are_counted(doubles: int, changes: dict[str, Any]) -> None:
    """Hands that were doubled twice tied more bets than there was room for, and kernels wrote outside of it."""
    rules = named_rules("easy").replace(ties="replay", max_doubles=doubles, **changes)
    chart = Solver(rules).chart
    compiled = compile_rules(rules, [chart.policy] * rules.seats)
    most = layout.payoff_parts(compiled.pay)[1].max()
    assert most == 2**doubles
    assert compiled.numbers.ties >= most * (rules.most_hands if rules.most_hands < math.inf else 1)
    [*results] = bjsim.play(rules, [chart] * rules.seats, hands=20_000, seed=1, workers=1)
    assert all(one.tally.rounds == 20_000 and one.verdict != "disagrees" for one in results)
