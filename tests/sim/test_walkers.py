"""The walkers of the round table: arrays and kernels pay every round as the readable round does."""

from __future__ import annotations

import gc
import math
import os
import random
import subprocess
import sys
import weakref
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.engines import SEED, Game
from support.games import MANY, charts, random_chart, rules, slow, splits_everything

from bjsim.request import play
from bjsim.sim.engine.array_cards import Segments
from bjsim.sim.engine.compiled_rules import compile_rules
from bjsim.sim.engine.kernels.arrays import WalkedTable
from bjsim.sim.engine.kernels.deal import LANES
from bjsim.sim.engine.pack import for_kernel, pack_moves, pack_plain
from bjsim.sim.engine.play import THRESHOLDS, Threshold, Walkers, play_blocks
from bjsim.sim.engine.round_table import LEFT, LeftTable, RoundTable
from bjsim.sim.engine.rounds import play_plain, play_seats
from bjsim.sim.game.presets import named_rules
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.shoe import stream_key
from bjsim.sim.running import compiled_table
from bjsim.sim.running.compiled_table import AdjustedTable, CompiledTable
from bjsim.sim.running.table import ReadableTable, Span
from bjsim.strategies.charts.chart import Chart, make_chart
from bjsim.strategies.exact.solver import Solver
from bjsim.strategies.experiment import make_table

LENGTHS = [700, 0, 1, 1500, 33, 64]  # of blocks: more than there are lanes, and all different


def best(game: Rules) -> Chart:
    return Solver(game.replace(decks="inf", seats=1)).chart


@pytest.mark.parametrize("name", MANY)
@pytest.mark.parametrize("decks", ["1", "inf", *map(slow, "268")])
def test_every_preset_is_paid_the_same(name: str, decks: str) -> None:
    """One and two decks are dealt to the last card, so that some rounds begin in one shoe and end in the next."""
    game = named_rules(name).replace(seats=1, decks=decks)
    game = game.replace(cut=1) if decks in ("1", "2") else game
    assert not Game(game, [best(game)]).wrong(LENGTHS)


@pytest.mark.parametrize("name", ["vegas-h17", "european", slow("double-exposure")])
@pytest.mark.parametrize(("decks", "seats"), [("1", 4), ("6", 7), ("inf", 3)])
@pytest.mark.parametrize("turns", ["in-turn", slow("round-robin")])
def test_several_seats_are_paid_the_same(name: str, decks: str, seats: int, turns: str) -> None:
    """Every seat's payoff and the number of cards of every round, and the counts of several blocks."""
    game = named_rules(name).replace(decks=decks, seats=seats, turns=turns)
    other = make_chart("below 15", game, lambda row, column: "H" if row.isdigit() and int(row) < 15 else "S")
    assert not Game(game, [(best(game), other)[seat % 2] for seat in range(seats)]).wrong([200, 0, 1, 330])


@pytest.mark.slow
def test_random_games_are_paid_the_same() -> None:
    """Random rules and charts of random codes, which also take insurance."""
    seen: Counter[str] = Counter()

    @settings(max_examples=12)
    @given(st.data())
    def check(data: st.DataObject) -> None:
        game = data.draw(rules(max_hands=data.draw(st.integers(2, 4))))
        two = [data.draw(charts(game)), data.draw(charts(game))]
        seated = [two[seat % 2] for seat in range(game.seats)]
        assert not Game(game, seated).wrong([120, 30])
        seen["finite"] += not game.infinite
        seen["replayed"] += game.ties == "replay"
        seen["several seats"] += game.seats > 1
        seen["round-robin"] += game.seats > 1 and game.turns == "round-robin"
        seen["insured"] += game.insurance and any(chart.insurance == "I" for chart in seated)

    check()
    assert min(seen[what] for what in ("finite", "replayed", "several seats", "round-robin", "insured")) >= 1


@pytest.mark.parametrize("fields", [{}, {"seats": 3}, {"decks": "inf"}, {"deal": "pdp", "peek": False, "seats": 2}])
def test_insurance_is_paid_the_same(fields: dict[str, object]) -> None:
    game = named_rules("vegas-h17").replace(insurance=True, **fields)
    insured = random_chart(game, 2)
    assert insured.insurance == "I"
    assert not Game(game, [insured] * game.seats).wrong([900, 40])


@pytest.mark.parametrize("decks", ["6", "inf"])
def test_a_wrong_table_is_caught(decks: str) -> None:
    """Negative control: two swapped cards, a changed payoff, 1 in 10 of the last entries, and others' split hands."""
    name = "vegas-s17"
    game = Game(named_rules(name).replace(decks=decks), [best(named_rules(name))])
    moves = game.moves
    mixed, rare = moves.entries.copy(), moves.log.copy()
    mixed[[4, 9]] = mixed[[9, 4]]
    last = np.flatnonzero((rare > 0) & (rare < len(moves.ends)))
    rare[random.Random(1).sample(last.tolist(), len(last) // 10)] += 1
    ends, hands = moves.ends.copy(), moves.hands.copy()
    ends[:, 0] = ends[::-1, 0]
    hands[:, 1:] = hands[:, :-1]
    for wrong in (
        moves._replace(entries=mixed), moves._replace(log=rare), moves._replace(ends=ends), moves._replace(hands=hands),
    ):  # fmt: skip
        assert game.wrong([2000], wrong) == "arrays"
    assert not game.wrong([2000], moves)


@pytest.mark.parametrize("seats", [1, slow(3)])
@pytest.mark.parametrize(
    "fields",
    [
        {"max_hands": 2},
        {"max_hands": 4, "resplit_aces": True, "hit_split_aces": True, "ten_probability": "3/5"},
        {"max_hands": 5, "ten_probability": "9/10", "dealer_shows": "both", "peek": True},
        {"max_hands": 7, "ties": "replay", "deal": "pdp", "peek": False, "split_tens_blackjack": True},
        {"max_hands": 4, "decks": 2, "cut": 1, "split_by": "rank", "bonuses": "none", "naturals": "player", "peek": 0},
        {"max_hands": "inf", "ten_probability": "2/5"},
    ],
)
def test_splits_and_resplits_stay_in_the_table(fields: dict[str, object], seats: int) -> None:
    game = Rules(**fields, seats=seats)  # type: ignore[arg-type]
    assert not Game(game, [splits_everything(game)] * seats).wrong([700, 0, 1, 64])


def without_room(table: RoundTable) -> RoundTable:
    """The table in which rounds leave where they would log the end of a split hand."""
    splits = table.log > len(table.ends)
    return table._replace(after=np.where(splits, LEFT, table.after), log=np.where(splits, 0, table.log))


LEAVING = [
    {"decks": "inf"},
    {"decks": "inf", "ten_probability": "2/5", "max_hands": "inf", "split_aces_blackjack": True},
    {"decks": 6},
    {"decks": 2, "cut": "1/25", "ties": "replay"},
    {"decks": 1, "cut": 1},
]


@pytest.mark.parametrize(("seats", "turns"), [(1, "in-turn"), slow(3, "in-turn"), (3, "round-robin")])
@pytest.mark.parametrize("fields", LEAVING)
def test_rounds_that_leave_the_table_are_replayed(fields: dict[str, object], seats: int, turns: str) -> None:
    """A shoe that is dealt to its last card runs out in some of the rounds that are replayed."""
    rules = named_rules("vegas-s17").replace(**{"max_hands": 4, **fields}, seats=seats, turns=turns)
    game = Game(rules, [splits_everything(rules), best(rules), splits_everything(rules)][:seats], 1e-3)
    moves = pack_moves([without_room(table) for table in game.tables], game.chart)
    assert not game.wrong([140, 0, 1, 140, 33], moves)
    assert len(game.replayed) > 20


@pytest.mark.parametrize("seats", [1, 2])
@pytest.mark.parametrize("fields", [{"decks": "inf", "max_hands": "inf"}, {"decks": 1, "cut": 1, "max_hands": 9}])
def test_small_tables_pay_the_same(fields: dict[str, object], seats: int) -> None:
    """Tables with room for few split hands."""
    rules = named_rules("vegas-s17").replace(**fields, seats=seats)
    game = Game(rules, [splits_everything(rules)] * seats, unlikely=0.1)
    assert not game.wrong([400, 0, 1, 90], game.moves)
    assert len(game.replayed) > 10


@pytest.mark.parametrize("decks", ["1", "inf"])
def test_a_round_replayed_wrongly_is_caught(monkeypatch: pytest.MonkeyPatch, decks: str) -> None:
    """Negative control: a replayed round pays one unit more, or takes one more card."""
    rules = named_rules("vegas-s17").replace(decks=decks)
    game = Game(rules, [splits_everything(rules)])
    moves = pack_moves([without_room(game.tables[0])], game.chart)
    play_round = game.play_round
    for change in ((1, 0), (0, 1)):

        def wrong(upcoming: Iterator[int], change: tuple[int, int] = change) -> tuple[list[int], int]:
            (code,), cards = play_round(upcoming)
            return [code + change[0]], cards + change[1]

        monkeypatch.setattr(game, "play_round", wrong)
        assert game.wrong([300], moves) == "arrays"


def test_a_long_run_switches_to_the_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run to a given precision may be longer than expected. The payoffs stay the same."""
    rules = named_rules("easy")
    game = Game(rules, [random_chart(rules, 1)])
    keys = [stream_key(SEED, 0, block) for block in range(3)]
    by_kernel: list[object] = []

    def noted(*job: Any) -> Any:
        by_kernel.append(job[2])
        return play_plain(*job)

    monkeypatch.setitem(THRESHOLDS, "plain", Threshold(10**9, 1100))
    monkeypatch.setattr("bjsim.sim.engine.rounds.play_plain", noted)
    walkers = Walkers(game.compiled, game.play_round)
    for key in keys:
        expected = play_blocks(game.compiled, WalkedTable(game.moves, game.deal), game.play_round, [key], [500]).counts
        assert (walkers.play([key], [500]).counts == expected).all()
    assert by_kernel == [keys[2:]]


def test_a_kernel_that_pays_is_loaded_before_the_first_job(monkeypatch: pytest.MonkeyPatch) -> None:
    """It then plays short jobs, too; the payoffs stay the same."""
    rules = named_rules("easy")
    game = Game(rules, [random_chart(rules, 1)])
    key, by_kernel = stream_key(SEED, 0, 0), list[object]()

    def noted(*job: Any) -> Any:
        by_kernel.append(job[2])
        return play_plain(*job)

    monkeypatch.setattr("bjsim.sim.engine.play.is_ready", lambda kernel, rounds: rounds >= 1000)
    monkeypatch.setattr("bjsim.sim.engine.rounds.play_plain", noted)
    expected = play_blocks(game.compiled, WalkedTable(game.moves, game.deal), game.play_round, [key], [500]).counts
    for rounds, used in ((999, []), (1000, [[key]])):
        monkeypatch.setattr(compiled_table, "_walkers", {})
        table = CompiledTable(game.compiled, game.readable)
        table.prepare(rounds)
        assert (table.walkers.play([key], [500]).counts == expected).all()
        assert by_kernel == used


def test_rounds_longer_than_their_lanes_are_replayed(monkeypatch: pytest.MonkeyPatch) -> None:
    """In lanes of eight cards, some rounds need those of three lanes or more."""
    monkeypatch.setattr("bjsim.sim.engine.play.LEAST", 8)
    monkeypatch.setattr("bjsim.sim.engine.play.MOST", 8)
    rules = named_rules("vegas-s17").replace(decks="inf", seats=4)
    game = Game(rules, [splits_everything(rules)] * 4)
    assert not game.wrong([500, 0, 1, 90], game.moves)
    assert sum(cards > 16 for cards in game.replayed) > 10


def adjusted_return(game: Game, tables: list[RoundTable], monkeypatch: pytest.MonkeyPatch) -> tuple[float, float]:
    """The luck-adjusted return of the first seat by arrays, and its standard error."""
    monkeypatch.setattr("bjsim.sim.engine.play.make_round_tables", lambda compiled: (tables, game.chart))
    walkers = Walkers(game.compiled, game.play_round, game.readable.rules.unit)
    played = walkers.play([stream_key(SEED, 0, block) for block in range(2)], [4000] * 2)
    _, y, b, yy, *_ = np.sum(played.shoes, axis=0)[0]
    return walkers.values[0] + y / b, math.sqrt(yy) / b


@pytest.mark.parametrize("decks", [1, slow(6)])
def test_the_luck_of_rounds_that_leave_has_mean_0(monkeypatch: pytest.MonkeyPatch, decks: int) -> None:
    """Luck is counted up to the card with which they leave. Error rate 1e-5; then a wrong payoff as negative control.

    The wrong payoff, of one bet more in each round that leaves, changes the return by their share of all rounds.
    """
    rules = named_rules("vegas-s17").replace(decks=decks)
    game = Game(rules, [best(rules)])
    full, _ = adjusted_return(game, game.tables, monkeypatch)
    leaving = [without_room(game.tables[0])]
    value, se = adjusted_return(game, leaving, monkeypatch)
    assert len(game.replayed) > 100
    assert abs(value - full) < 4.5 * se < 0.04
    play_round, bet = game.play_round, int(1 / rules.unit)

    def wrong(upcoming: Iterator[int]) -> tuple[list[int], int]:
        (code,), cards = play_round(upcoming)
        return [code + 2 * bet], cards

    monkeypatch.setattr(game, "play_round", wrong)
    assert abs(adjusted_return(game, leaving, monkeypatch)[0] - full) > 4.5 * se


def test_rounds_that_leave_the_table_are_noticed_by_kernels() -> None:
    game = Game(named_rules("vegas-s17"), [best(named_rules("vegas-s17"))])
    table, keys = without_room(game.tables[0]), [stream_key(SEED, 0, 0)]
    layout = for_kernel(WalkedTable(pack_moves([table], game.chart), game.deal))
    assert layout
    with pytest.raises(LeftTable):
        play_plain(game.compiled, pack_plain(table), keys, [2000])
    with pytest.raises(LeftTable):
        play_seats(game.compiled, layout, keys, [2000])


@pytest.mark.parametrize("seats", [1, 2])
def test_kernels_leave_blocks_with_rounds_that_leave_to_arrays(monkeypatch: pytest.MonkeyPatch, seats: int) -> None:
    rules, spans = named_rules("vegas-s17").replace(seats=seats), [Span(0, 40), Span(1, 300), Span(2, 1)]
    seated = [best(rules)] * seats
    expected = ReadableTable(rules, seated).play(SEED, 0, spans)
    game = Game(rules, seated)
    leaves = [without_room(table) for table in game.tables], game.chart
    monkeypatch.setattr("bjsim.sim.engine.play.make_round_tables", lambda compiled: leaves)
    monkeypatch.setattr("bjsim.sim.engine.play.is_ready", lambda kernel, rounds: True)
    monkeypatch.setattr("bjsim.sim.running.compiled_table._walkers", {})
    table = make_table(rules, seated)
    assert table.play(SEED, 0, spans) == expected
    assert isinstance(table, CompiledTable)


def test_what_is_made_of_a_game_is_freed_with_it() -> None:
    """At once: the garbage collector counts objects, and these are few and large."""
    rules = named_rules("vegas-s17").replace(decks=1, max_hands=2)
    compiled = compile_rules(rules, [best(rules).policy])
    gc.collect()
    gc.disable()
    try:
        walkers = Walkers(compiled, ReadableTable(rules, [best(rules)]).play_round, rules.unit)
        walkers.play([(1, 2)], [100])
        left = weakref.ref(walkers)
        del walkers
        assert left() is None
    finally:
        gc.enable()


def test_a_short_block_is_not_dealt_as_far_as_a_long_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """The last block of a run, which is played beside a whole one."""
    rules = named_rules("vegas-s17")
    game, keys, dealt, cards = Game(rules, [best(rules)]), [(1, 2), (3, 4)], list[int](), Segments.cards

    def deal(self: Segments, of: Any, first: Any, count: int) -> Any:
        dealt.append(len(of) * count)
        return cards(self, of, first, count)

    monkeypatch.setattr(Segments, "cards", deal)
    layout = WalkedTable(game.moves, game.deal)
    alone = play_blocks(game.compiled, layout, game.play_round, keys[:1], [20_000]).counts
    shoes = sum(dealt)
    both = play_blocks(game.compiled, layout, game.play_round, keys, [20_000, 1]).counts
    assert both.sum() == alone.sum() + 1 and sum(dealt) < 2.1 * shoes


@pytest.mark.parametrize(("most", "kept"), [(10**9, 3), (0, 1)])
def test_processes_keep_walkers_up_to_a_number_of_rows(monkeypatch: pytest.MonkeyPatch, most: int, kept: int) -> None:
    games = [named_rules("easy").replace(decks=decks) for decks in (1, 2, 3)]
    monkeypatch.setattr(compiled_table, "_walkers", {})
    monkeypatch.setattr(compiled_table, "MOST_ROWS", most)
    for game in games:
        table = make_table(game, [best(game)], adjust_luck=True)
        assert isinstance(table, AdjustedTable) and table.walkers is table.walkers
    assert len(compiled_table._walkers) == kept
    assert isinstance(table, AdjustedTable)
    plain = CompiledTable(table.compiled, table.readable)  # without luck
    assert plain.walkers is not table.walkers and plain.walkers.kernel != table.walkers.kernel == "adjusted"


def test_tables_that_are_played_in_turn_keep_their_walkers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where they are more than a process keeps of games that are done."""
    rules = named_rules("easy").replace(seats=1)
    made: list[Walkers] = []
    monkeypatch.setattr(compiled_table, "_walkers", {})
    monkeypatch.setattr(compiled_table, "MOST_WALKERS", 2)
    monkeypatch.setattr(compiled_table, "MOST_ROWS", 0)

    def make(*arguments: Any) -> Walkers:
        made.append(Walkers(*arguments))
        return made[-1]

    monkeypatch.setattr(compiled_table, "Walkers", make)
    bots = ["lim13", "lim15", "lim17", "mimic"]
    assert len(play(rules, bots, hands=100_000)) == len(made) == len(compiled_table._walkers) == 4
    play(rules, bots[:1], hands=1000)
    play(rules, ["lim18"], hands=1000)
    assert len(made) == 5 and len(compiled_table._walkers) == 1


SOME = [[], [0], [4103], [1, 2, 3, 4, 5, 6, 7, 8, 9], [12288, 0, 0, 5, 4095]]


@pytest.mark.parametrize(
    ("decks", "lengths"),
    [
        *(("inf", lengths) for lengths in SOME),
        *((2, [37 * block % 230 for block in range(number)]) for number in (LANES - 1, LANES, LANES + 1)),
        slow(2, [37 * block % 230 for block in range(3 * LANES + 5)]),
    ],
)
def test_blocks_may_be_of_any_length_and_number(decks: object, lengths: list[int]) -> None:
    game = named_rules("easy").replace(decks=decks)
    assert not Game(game, [best(game)]).wrong(lengths)


@pytest.mark.parametrize(
    "fields",
    [
        {"cut": "1/25"},
        {"decks": 1, "cut": "1/25", "seats": 5},
        {"decks": 1, "cut": 1},
        {"decks": 1, "cut": "1/52"},
        {"decks": 2, "cut": "51/104"},
        {"decks": 5, "deck": "spanish", "cut": "1/2"},
        {"decks": 1, "cut": 1, "ties": "replay"},
    ],
)
def test_short_shoes_are_dealt_the_same(fields: dict[str, object]) -> None:
    """A chart that splits whatever it may has long rounds, of which many outlast the shoe."""
    game = named_rules("vegas-s17").replace(**{"max_hands": 3, **fields})
    assert not Game(game, [splits_everything(game)] * game.seats).wrong([500, 0, 1, 320])


def test_hands_that_come_to_the_same_are_one_row() -> None:
    """For a chart that always stands only totals matter, so the table has few rows."""
    game = named_rules("cardshark").replace(seats=1, decks="inf")
    stand = Game(game, [make_chart("stand", game, lambda row, column: "S")])
    other = Game(game, [random_chart(game, 1)])
    assert len(stand.tables[0].kind) < len(other.tables[0].kind) / 3
    assert len(np.unique(stand.tables[0].ends[:-1, 0])) == 2  # it wins or loses


def test_a_wrong_entry_of_the_plain_table_is_caught() -> None:
    """Negative control: two cards exchanged in one row."""
    game = Game(named_rules("vegas-s17"), [best(named_rules("vegas-s17"))])
    after = game.tables[0].after.copy()
    after[4, [4, 8]] = after[4, [8, 4]]
    wrong = pack_plain(game.tables[0]._replace(after=after))
    assert (game.plain([400], wrong)[0] != game.plain([400])[0]).any()


def test_a_table_of_many_rows_is_played_by_wider_entries() -> None:
    """Above 65,536 rows: rows that no round reaches do not count, so that the type is forced."""
    rules = named_rules("vegas-s17").replace(decks=1)
    game = Game(rules, [best(rules)])
    packed = pack_plain(game.tables[0])
    assert packed.entries.dtype == np.uint16
    wide = packed._replace(entries=packed.entries.astype(np.uint32))
    assert (game.plain([3000], wide)[0] == game.plain([3000], packed)[0]).all()


SCRIPT = """
import hashlib
from test_walkers import Game, best, named_rules
for decks in ("1", "6", "inf"):
    rules = named_rules("vegas-s17").replace(decks=decks)
    print(hashlib.sha256(Game(rules, [best(rules)]).plain([5000] * 40)[0].tobytes()).hexdigest())
"""


@pytest.mark.slow
@pytest.mark.parametrize(("name", "features"), [("haswell", "+avx2"), ("x86-64", "+sse2")])
def test_any_processor_plays_the_same(name: str, features: str, tmp_path: Path) -> None:
    """numba is told to compile for older processors, with shorter vectors."""
    if os.uname().machine != "x86_64":
        pytest.skip("the processors are of another kind")
    results = []
    for told in ({}, {"NUMBA_CPU_NAME": name, "NUMBA_CPU_FEATURES": features}):
        path = os.pathsep.join([os.path.dirname(__file__), os.path.dirname(os.path.dirname(__file__))])
        env = {**os.environ, **told, "NUMBA_CACHE_DIR": str(tmp_path / name / str(len(told))), "PYTHONPATH": path}
        done = subprocess.run([sys.executable, "-c", SCRIPT], env=env, capture_output=True, text=True, check=True)
        results.append(done.stdout)
    assert results[0] == results[1]
    assert len(results[0].split()) == 3
