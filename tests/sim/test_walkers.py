"""The walkers of the round table: arrays and kernels pay every round as the readable round does."""

from __future__ import annotations

import random
import sys
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.games import FIXED, charts, random_chart, rules

from bjsim.sim.engine.array_play import LeftTable, play_blocks
from bjsim.sim.engine.array_walker import SeatRows, seat_rows
from bjsim.sim.engine.compiled_rules import compile_rules
from bjsim.sim.engine.kernels.run_table import LOG
from bjsim.sim.engine.packed_tables import pack_seats, pack_table
from bjsim.sim.engine.round_table import LEFT, RoundTable, make_round_tables
from bjsim.sim.engine.rounds import play_lanes, play_seats
from bjsim.sim.game.presets import PRESETS, named_rules
from bjsim.sim.game.random_stream import stream_key
from bjsim.sim.game.rules import Rules
from bjsim.sim.running.blocks import Span
from bjsim.sim.running.readable_table import ReadableTable
from bjsim.strategies.charts.chart import Chart, make_chart
from bjsim.strategies.exact.solver import Solver
from bjsim.strategies.experiment import make_table

LENGTHS = [700, 0, 1, 1500, 33, 64]  # of blocks: more than there are lanes, and all different
SEED = 5
MOST_STATES = 1 << 18
Traces = list[np.ndarray]


class Game:
    """A game with charts, its tables, and the payoffs of its rounds in the readable round."""

    def __init__(self, game: Rules, seated: list[Chart]) -> None:
        self.compiled = compile_rules(game, [chart.policy for chart in seated])
        self.readable = ReadableTable(game, seated)
        tables = make_round_tables(self.compiled, MOST_STATES)
        assert tables, "the table is too large"
        self.tables, self.chart = tables
        self.rows = seat_rows(self.tables, self.chart)

    def expected(self, lengths: list[int]) -> Traces:
        spans = [Span(block, rounds) for block, rounds in enumerate(lengths)]
        return [self.readable.play_traced(SEED, 0, span)[1] for span in spans]

    def by_arrays(self, lengths: list[int], rows: SeatRows | None) -> tuple[Traces, np.ndarray]:
        keys = [stream_key(SEED, 0, block) for block in range(len(lengths))]
        traced = play_blocks(self.compiled, rows or self.rows, keys, lengths, traced=True)
        untraced = play_blocks(self.compiled, rows or self.rows, keys, lengths)
        assert (traced.counts == untraced.counts).all()
        assert sorted(traced.outside.tolist()) == sorted(untraced.outside.tolist())
        return traced.traces, traced.counts

    def wrong(self, lengths: list[int], rows: SeatRows | None = None) -> str:
        """The walkers that pay a round differently."""
        expected = self.expected(lengths)
        traces, counts = self.by_arrays(lengths, rows)
        failed = ["arrays"] if any((a != b).any() for a, b in zip(expected, traces, strict=True)) else []
        keys = [stream_key(SEED, 0, block) for block in range(len(lengths))]
        if (seats := pack_seats(self.tables, self.chart)) and rows is None:
            by_block = [(seats, [key], [n], n) for key, n in zip(keys, lengths, strict=True)]
            one_by_one = [play_seats(self.compiled, *block)[2] for block in by_block]
            if any((a != b).any() for a, b in zip(expected, one_by_one, strict=True)):
                failed.append("seats")
            if (play_seats(self.compiled, seats, keys, lengths)[0] != counts).any():
                failed.append("counts of seats")
        if len(self.chart) == 1 and rows is None and (lookup := pack_table(self.compiled, self.tables[0])):
            others, _, lanes = play_lanes(self.compiled, lookup, keys, lengths, traced=True)
            if (others != counts).any() or any((a[:, 0] != b).any() for a, b in zip(expected, lanes, strict=True)):
                failed.append("lanes")
        return ", ".join(failed)


def best(game: Rules) -> Chart:
    return Solver(game.replace(decks="inf", seats=1)).chart


@pytest.mark.parametrize("name", PRESETS)
@pytest.mark.parametrize("decks", ["1", "6", "inf", *[pytest.param(decks, marks=pytest.mark.slow) for decks in "28"]])
def test_every_preset_is_paid_the_same(name: str, decks: str) -> None:
    """One and two decks are dealt to the last card, so that some rounds begin in one shoe and end in the next."""
    game = named_rules(name).replace(seats=1, decks=decks)
    game = game.replace(cut=1) if decks in ("1", "2") else game
    assert not Game(game, [best(game)]).wrong(LENGTHS)


@pytest.mark.parametrize("name", ["vegas-h17", "european", "double-exposure"])
@pytest.mark.parametrize(("decks", "seats"), [("1", 4), ("6", 7), ("inf", 3)])
@pytest.mark.parametrize("turns", ["in-turn", "round-robin"])
def test_several_seats_are_paid_the_same(name: str, decks: str, seats: int, turns: str) -> None:
    """Every seat's payoff and the number of cards of every round, and the counts of several blocks."""
    game = named_rules(name).replace(decks=decks, seats=seats, turns=turns)
    other = make_chart("below 15", game, lambda row, column: "H" if row.isdigit() and int(row) < 15 else "S")
    assert not Game(game, [(best(game), other)[seat % 2] for seat in range(seats)]).wrong([200, 0, 1, 330])


@pytest.mark.parametrize("games", [40, pytest.param(3000, marks=pytest.mark.slow)])
def test_random_games_are_paid_the_same(games: int) -> None:
    """Random rules and charts of random codes, which also take insurance."""
    seen: Counter[str] = Counter()

    @settings(FIXED, max_examples=games)
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
    assert min(seen[what] for what in ("finite", "replayed", "several seats", "round-robin")) >= games // 100
    assert seen["insured"] >= games // 100


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
    rows = game.rows
    mixed, rare = rows.entries.copy(), rows.entries.copy()
    mixed[[4, 9]] = mixed[[9, 4]]
    logged = rare & (1 << rows.bits) - 1
    last = np.flatnonzero((logged > 0) & (logged < len(rows.ends)))
    rare[random.Random(1).sample(last.tolist(), len(last) // 10)] += 1
    ends, hands = rows.ends.copy(), rows.hands.copy()
    ends[:, 0] = ends[::-1, 0]
    hands[:, 1:] = hands[:, :-1]
    for wrong in (
        rows._replace(entries=mixed), rows._replace(entries=rare), rows._replace(ends=ends), rows._replace(hands=hands),
    ):  # fmt: skip
        assert game.wrong([2000], wrong) == "arrays"
    assert not game.wrong([2000], rows)


def test_wrong_seats_are_caught() -> None:
    """Negative control: the seats have each other's charts."""
    rules = named_rules("vegas-s17").replace(seats=3)
    never = make_chart("below 15", rules, lambda row, column: "H" if row.isdigit() and int(row) < 15 else "S")
    game = Game(rules, [best(rules), never, best(rules)])
    assert game.wrong([2000], game.rows._replace(start=game.rows.start[[1, 0, 1]])) == "arrays"
    assert not game.wrong([2000], game.rows)


def splitter(game: Rules) -> Chart:
    """Splits every pair, and hits below 15."""

    def code(row: str, column: str) -> str:
        pair = row == "AA" or (len(row) == 2 and row[0] == row[1] and row != "11")
        return "P" if pair else "H" if row.isdigit() and int(row) < 15 else "S"

    return make_chart("splits", game, code)


@pytest.mark.parametrize("seats", [1, 3])
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
    assert not Game(game, [splitter(game)] * seats).wrong([700, 0, 1, 64])


def without_room(table: RoundTable) -> RoundTable:
    """The table in which rounds leave where they would log the end of a split hand."""
    splits = table.log > len(table.ends)
    return table._replace(after=np.where(splits, LEFT, table.after), log=np.where(splits, 0, table.log))


def test_rounds_that_leave_the_table_are_noticed_by_every_walker() -> None:
    game = Game(named_rules("vegas-s17"), [best(named_rules("vegas-s17"))])
    table, keys = without_room(game.tables[0]), [stream_key(SEED, 0, 0)]
    rows, seats = seat_rows([table], game.chart), pack_seats([table], game.chart)
    lookup = pack_table(game.compiled, table)
    assert lookup and seats
    for play in (
        lambda n: play_blocks(game.compiled, rows, keys, [n]),
        lambda n: play_lanes(game.compiled, lookup, keys, [n]),
        lambda n: play_seats(game.compiled, seats, keys, [n]),
    ):
        with pytest.raises(LeftTable):
            play(2000)


@pytest.mark.parametrize("numba", [True, False])
def test_blocks_with_rounds_that_leave_are_played_without_the_table(
    monkeypatch: pytest.MonkeyPatch, numba: bool
) -> None:
    rules = named_rules("vegas-s17")
    spans = [Span(0, 40), Span(1, 300), Span(2, 1)]
    expected = make_table(rules, [best(rules)]).play(SEED, 0, spans)
    game = Game(rules, [best(rules)])
    leaves = [without_room(game.tables[0])], game.chart
    monkeypatch.setattr("bjsim.sim.engine.walkers.make_round_tables", lambda compiled: leaves)
    monkeypatch.setattr("bjsim.sim.running.compiled_table._walkers", {})
    if not numba:
        monkeypatch.setitem(sys.modules, "bjsim.sim.engine.rounds", None)
    assert make_table(rules, [best(rules)]).play(SEED, 0, spans) == expected


@pytest.mark.parametrize("lengths", [[], [0], [LOG + 7], [1, 2, 3, 4, 5, 6, 7, 8, 9], [3 * LOG, 0, 0, 5, LOG - 1]])
def test_blocks_may_be_of_any_length_and_number(lengths: list[int]) -> None:
    game = Game(named_rules("easy"), [best(named_rules("easy"))])
    assert not game.wrong(lengths)


@pytest.mark.parametrize("fields", [{"cut": "1/25"}, {"decks": 1, "cut": "1/25", "seats": 5}, {"decks": 1, "cut": 1}])
def test_short_shoes_are_dealt_the_same(fields: dict[str, object]) -> None:
    game = named_rules("vegas-s17").replace(**fields)
    assert not Game(game, [best(game)] * game.seats).wrong([500])


def test_hands_that_come_to_the_same_are_one_row() -> None:
    """For a chart that always stands only totals matter, so the table has few rows."""
    game = named_rules("cardshark").replace(seats=1, decks="inf")
    stand = Game(game, [make_chart("stand", game, lambda row, column: "S")])
    other = Game(game, [random_chart(game, 1)])
    assert len(stand.tables[0].kind) < len(other.tables[0].kind) / 3
    assert len(np.unique(stand.tables[0].ends[:, 0])) == 2  # it wins or loses
